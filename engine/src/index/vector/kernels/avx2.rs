//! Kernels for AVX2: 256 bits at a time.

use std::arch::x86_64::*;

use super::dispatch::Kernels;
use super::layout::{
    BLOCK_ROWS, Best, Estimate, GROUP_BYTES, GROUPS_AT_ONCE, LANES, Lanes, OneQuery, scale_sums,
};
use crate::index::vector::quantise::I4_OFFSET;

/// For processors with AVX2.
pub(super) const KERNELS: Kernels = Kernels {
    name: "avx2",
    i8_rows,
    i8_lanes,
    i4_rows,
    i4_lanes,
    codes,
    scale,
    best,
};

/// Bytes of a register.
// Widths of rows are multiples of 64 (`stride`), so two registers at a time leave no remainder.
const WIDE: usize = 32;

/// Bytes of a line of a cache.
const LINE_BYTES: usize = 64;

/// Loads 32 bytes.
///
/// # Safety
/// 32 bytes are readable at `bytes`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(bytes: *const u8) -> __m256i {
    // SAFETY: promised by the caller; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}

/// Adds four products of signed bytes to each number. |row| is at most 128 and |query| 127: the
/// sum of two products fits 16 bits, so nothing saturates whatever the file says.
#[inline]
#[target_feature(enable = "avx2")]
fn add_signed(sum: __m256i, row: __m256i, query: __m256i) -> __m256i {
    add_unsigned(sum, _mm256_abs_epi8(row), _mm256_sign_epi8(query, row))
}

/// The same for bytes of a row from 0 to 128.
#[inline]
#[target_feature(enable = "avx2")]
fn add_unsigned(sum: __m256i, row: __m256i, query: __m256i) -> __m256i {
    // The instruction takes an unsigned and a signed operand: the sign of the row moves to the
    // query before.
    let pairs = _mm256_maddubs_epi16(row, query);
    _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// The sum of the eight numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn total(sum: __m256i) -> i32 {
    let four = _mm_add_epi32(
        _mm256_castsi256_si128(sum),
        _mm256_extracti128_si256::<1>(sum),
    );
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
    _mm_cvtsi128_si32(one)
}

#[target_feature(enable = "avx2")]
unsafe fn i8_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    let width = query.row.len();
    for (row, product) in rows.chunks_exact(width).zip(products) {
        // Two sums: each addition would otherwise wait for the one before.
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for at in (0..width).step_by(2 * WIDE) {
            // SAFETY: row and query have `width` bytes, a multiple of 64.
            unsafe {
                let (bytes, q) = (row.as_ptr().add(at), query.row.as_ptr().add(at).cast());
                even = add_signed(even, load(bytes), load(q));
                odd = add_signed(odd, load(bytes.add(WIDE)), load(q.add(WIDE)));
            }
        }
        *product = total(_mm256_add_epi32(even, odd));
    }
}

#[target_feature(enable = "avx2")]
unsafe fn i4_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    let stride = query.row.len() / 2;
    let low = _mm256_set1_epi8(15);
    for (row, product) in rows.chunks_exact(stride).zip(products) {
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for at in (0..stride).step_by(WIDE) {
            // SAFETY: the row has `stride` bytes, a multiple of 32, the query twice as many.
            unsafe {
                let bytes = load(row.as_ptr().add(at));
                let q = query.row.as_ptr().add(2 * at).cast::<u8>();
                let first = _mm256_and_si256(bytes, low);
                let second = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
                even = add_unsigned(even, first, load(q));
                odd = add_unsigned(odd, second, load(q.add(WIDE)));
            }
        }
        // A nibble `n` stands for `2 n - 15` half steps; the constant part is taken out of the
        // loop.
        *product = 2 * total(_mm256_add_epi32(even, odd)) - I4_OFFSET * query.sum;
    }
}

#[target_feature(enable = "avx2")]
unsafe fn i8_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    // Eight sums, two loads of the queries and one of a row fit the sixteen registers of AVX2.
    const ROWS: usize = 4;
    let width = lanes.width();
    let pieces = rows.chunks_exact(ROWS * width);
    let rest = pieces.remainder();
    let (whole, single) = products.as_chunks_mut::<ROWS>();
    for (bytes, these) in pieces.zip(whole) {
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for group in 0..width / 4 {
            // SAFETY: there are 64 bytes of queries for each group of four bytes of a row.
            let [first, second] = unsafe {
                let q = lanes.packed.as_ptr().add(64 * group).cast::<u8>();
                [load(q), load(q.add(WIDE))]
            };
            for (row, sums) in sums.iter_mut().enumerate() {
                // SAFETY: four rows of `width` bytes begin at `bytes`.
                let four = unsafe {
                    let four = bytes.as_ptr().add(row * width + 4 * group);
                    _mm256_set1_epi32(four.cast::<i32>().read_unaligned())
                };
                sums[0] = add_signed(sums[0], four, first);
                sums[1] = add_signed(sums[1], four, second);
            }
        }
        for (sums, products) in sums.into_iter().zip(these) {
            store(sums, products);
        }
    }
    // Too few rows to share the loads of the queries.
    for (row, product) in rest.chunks_exact(width).zip(single) {
        let mut sums = [_mm256_setzero_si256(); 2];
        for group in 0..width / 4 {
            // SAFETY: as above.
            unsafe {
                let q = lanes.packed.as_ptr().add(64 * group).cast::<u8>();
                let four = row.as_ptr().add(4 * group).cast::<i32>().read_unaligned();
                let four = _mm256_set1_epi32(four);
                sums[0] = add_signed(sums[0], four, load(q));
                sums[1] = add_signed(sums[1], four, load(q.add(WIDE)));
            }
        }
        store(sums, product);
    }
}

#[target_feature(enable = "avx2")]
unsafe fn i4_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    let width = lanes.width();
    let low = _mm256_set1_epi8(15);
    for (row, product) in rows.chunks_exact(width / 2).zip(products) {
        let mut sums = [_mm256_setzero_si256(); 2];
        for at in (0..width / 2).step_by(WIDE) {
            let mut unpacked = [0u8; 2 * WIDE];
            // SAFETY: the row has `width / 2` bytes, a multiple of 32.
            unsafe {
                let bytes = load(row.as_ptr().add(at));
                let second = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
                let target = unpacked.as_mut_ptr();
                _mm256_storeu_si256(target.cast(), _mm256_and_si256(bytes, low));
                _mm256_storeu_si256(target.add(WIDE).cast(), second);
            }
            for (group, four) in unpacked.as_chunks::<4>().0.iter().enumerate() {
                let four = _mm256_set1_epi32(i32::from_ne_bytes(*four));
                // SAFETY: 64 bytes of queries for each four dimensions; this piece of the row
                // begins at dimension `2 * at`.
                unsafe {
                    let q = lanes
                        .packed
                        .as_ptr()
                        .add(64 * (at / 2 + group))
                        .cast::<u8>();
                    sums[0] = add_unsigned(sums[0], four, load(q));
                    sums[1] = add_unsigned(sums[1], four, load(q.add(WIDE)));
                }
            }
        }
        store(sums, product);
        for (product, sum) in product.iter_mut().zip(&lanes.sums) {
            *product = 2 * *product - I4_OFFSET * sum;
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(sums: [__m256i; 2], products: &mut [i32; LANES]) {
    // SAFETY: sixteen numbers are two registers.
    unsafe {
        let target = products.as_mut_ptr();
        _mm256_storeu_si256(target.cast(), sums[0]);
        _mm256_storeu_si256(target.add(LANES / 2).cast(), sums[1]);
    }
}

#[expect(clippy::indexing_slicing, reason = "both halves of arrays of two")]
#[target_feature(enable = "avx2")]
unsafe fn codes(
    tables: &[u8],
    block: &[u8],
    next: *const u8,
    threshold: u16,
    sums: &mut [u16; BLOCK_ROWS],
) -> u64 {
    // Sixteen table entries of a byte are looked up by a shuffle, 32 at a time (Andre, Kermarrec
    // and Le Scouarnec 2015).
    let low = _mm256_set1_epi8(15);
    let zero = _mm256_setzero_si256();
    // Sums of 16 bits of rows 0..32 and 32..64: as they come, two rows in one number, and the
    // odd rows alone.
    let mut both = [zero; 2];
    let mut odd = [zero; 2];
    let four_groups = GROUP_BYTES * GROUPS_AT_ONCE / 2;
    for at in (0..block.len()).step_by(four_groups) {
        let mut bytes = [zero; 2];
        for line in (at..at + four_groups).step_by(LINE_BYTES) {
            _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(line).cast());
        }
        for group in (at..at + four_groups).step_by(GROUP_BYTES) {
            // SAFETY: block and tables are equally long, a multiple of four groups of 32 bytes.
            let (codes, table) = unsafe {
                (
                    load(block.as_ptr().add(group)),
                    load(tables.as_ptr().add(group)),
                )
            };
            let first = _mm256_and_si256(codes, low);
            let second = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), low);
            bytes[0] = _mm256_add_epi8(bytes[0], _mm256_shuffle_epi8(table, first));
            bytes[1] = _mm256_add_epi8(bytes[1], _mm256_shuffle_epi8(table, second));
        }
        for half in 0..2 {
            // Bytes are added as 16-bit numbers: the odd byte is the upper half, and is subtracted
            // at the end. Four groups of at most 63 each keep a byte below 256.
            both[half] = _mm256_add_epi16(both[half], bytes[half]);
            odd[half] = _mm256_add_epi16(odd[half], _mm256_srli_epi16::<8>(bytes[half]));
        }
    }
    let mut bits = 0;
    let least = _mm256_set1_epi16(threshold.cast_signed());
    for half in 0..2 {
        let even = _mm256_sub_epi16(both[half], _mm256_slli_epi16::<8>(odd[half]));
        let first = _mm256_unpacklo_epi16(even, odd[half]);
        let second = _mm256_unpackhi_epi16(even, odd[half]);
        let rows = [
            _mm256_permute2x128_si256::<0x20>(first, second),
            _mm256_permute2x128_si256::<0x31>(first, second),
        ];
        // AVX2 has no unsigned comparison: a number is at least `least` where the larger of both is
        // the number.
        let reached = rows.map(|rows| _mm256_cmpeq_epi16(_mm256_max_epu16(rows, least), rows));
        let packed = _mm256_packs_epi16(reached[0], reached[1]);
        // The pack works within halves of a register, so its quarters come out of order.
        let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        bits |= u64::from(_mm256_movemask_epi8(ordered).cast_unsigned()) << (32 * half);
        // SAFETY: each half is 32 numbers, two registers.
        unsafe {
            let target = sums.as_mut_ptr().add(32 * half);
            _mm256_storeu_si256(target.cast(), rows[0]);
            _mm256_storeu_si256(target.add(16).cast(), rows[1]);
        }
    }
    bits
}

#[target_feature(enable = "avx2")]
unsafe fn scale(
    sums: &[u16; BLOCK_ROWS],
    factors: &[u8; BLOCK_ROWS],
    how: Estimate,
    threshold: u16,
    estimates: &mut [u16; BLOCK_ROWS],
) -> u64 {
    scale_sums(sums, factors, how, estimates);
    reached(estimates, threshold)
}

#[target_feature(enable = "avx2")]
unsafe fn best(products: &[[i32; LANES]], norms: &[i32; LANES], group: i32, best: &mut [Best]) {
    let norms = halves(norms);
    let group = _mm256_set1_epi32(group);
    for (products, best) in products.iter().zip(best) {
        let (products, mut score, mut of) =
            (halves(products), halves(&best.score), halves(&best.group));
        let lanes = products.into_iter().zip(norms);
        for ((product, norm), (score, of)) in lanes.zip(score.iter_mut().zip(&mut of)) {
            let new = _mm256_sub_epi32(_mm256_slli_epi32::<1>(product), norm);
            let is_nearer = _mm256_cmpgt_epi32(new, *score);
            *score = _mm256_blendv_epi8(*score, new, is_nearer);
            *of = _mm256_blendv_epi8(*of, group, is_nearer);
        }
        store(score, &mut best.score);
        store(of, &mut best.group);
    }
}

/// Sixteen numbers in two registers.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(numbers: &[i32; LANES]) -> [__m256i; 2] {
    [0, LANES / 2].map(|at| {
        // SAFETY: each half is eight numbers, one register.
        unsafe { load(numbers.as_ptr().add(at).cast()) }
    })
}

/// A bit for each number that is at least `threshold`.
#[inline]
#[target_feature(enable = "avx2")]
fn reached(numbers: &[u16; BLOCK_ROWS], threshold: u16) -> u64 {
    let least = _mm256_set1_epi16(threshold.cast_signed());
    let bits = |half: usize| {
        let reached = [0, 16].map(|at| {
            // SAFETY: each half is 32 numbers, two registers.
            let rows = unsafe { load(numbers.as_ptr().add(32 * half + at).cast()) };
            _mm256_cmpeq_epi16(_mm256_max_epu16(rows, least), rows)
        });
        let packed = _mm256_packs_epi16(reached[0], reached[1]);
        let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        u64::from(_mm256_movemask_epi8(ordered).cast_unsigned())
    };
    bits(0) | bits(1) << 32
}
