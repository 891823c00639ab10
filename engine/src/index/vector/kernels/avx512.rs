//! Kernels for AVX-512 with VNNI: 512 bits at a time, four products summed by one instruction.

use std::arch::x86_64::*;

use super::dispatch::Kernels;
use super::layout::{
    BLOCK_ROWS, Best, Estimate, GROUP_BYTES, GROUPS_AT_ONCE, LANES, Lanes, OneQuery, scale_sums,
};
use crate::index::vector::quantise::I4_OFFSET;

/// For processors with AVX-512 F, BW and VNNI.
pub(super) const KERNELS: Kernels = Kernels {
    name: "avx512",
    i8_rows,
    i8_lanes,
    i4_rows,
    i4_lanes,
    codes,
    scale,
    best,
};

/// Bytes of a register.
const WIDE: usize = 64;

/// Loads 64 bytes.
///
/// # Safety
/// 64 bytes are readable at `bytes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn load(bytes: *const u8) -> __m512i {
    // SAFETY: promised by the caller; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.cast()) }
}

/// How many bytes ahead to prefetch. Hardware prefetchers stop at the end of each page of 4096 bytes:
/// on a busy machine a scan of 22 MB of rows took 2.5 ms, and 1.7 ms with prefetching.
const AHEAD_BYTES: usize = 4096;

/// How many bytes ahead of `rows` to prefetch: 0 for few rows, which were gathered and have no
/// successors.
fn ahead(rows: &[u8]) -> usize {
    // A call on gathered rows has up to sixteen of them, whose successors are not read.
    if rows.len() > AHEAD_BYTES {
        AHEAD_BYTES
    } else {
        0
    }
}

/// Asks for the line so many bytes after `bytes`, wherever that is: nothing is read that could be
/// seen.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn fetch(bytes: *const u8, ahead: usize) {
    _mm_prefetch::<_MM_HINT_T0>(bytes.wrapping_add(ahead).cast());
}

/// The total of each of four registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn totals(sums: [__m512i; 4]) -> [i32; 4] {
    let [a, b, c, d] = sums;
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    // In each quarter: one number of each of the four.
    let all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let half = _mm256_add_epi32(
        _mm512_castsi512_si256(all),
        _mm512_extracti64x4_epi64::<1>(all),
    );
    let four = _mm_add_epi32(
        _mm256_castsi256_si128(half),
        _mm256_extracti128_si256::<1>(half),
    );
    let mut totals = [0; 4];
    // SAFETY: four numbers are 16 bytes.
    unsafe { _mm_storeu_si128(totals.as_mut_ptr().cast(), four) };
    totals
}

// A row is the unsigned operand: its bytes plus 128. That adds 128 times the sum of the query to
// the product, which is known.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn i8_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    // One load of the query serves four rows, and `totals` adds four registers at once.
    const ROWS: usize = 4;
    let width = query.row.len();
    let offset = _mm512_set1_epi8(i8::MIN);
    let more = 128 * query.sum;
    let ahead = ahead(rows);
    let pieces = rows.chunks_exact(ROWS * width);
    let rest = pieces.remainder();
    let (whole, single) = products.as_chunks_mut::<ROWS>();
    for (bytes, these) in pieces.zip(whole) {
        let mut sums = [_mm512_setzero_si512(); ROWS];
        for at in (0..width).step_by(WIDE) {
            // SAFETY: the query has `width` bytes, a multiple of 64, and so has each of the rows.
            unsafe {
                let q = load(query.row.as_ptr().add(at).cast());
                for (row, sum) in sums.iter_mut().enumerate() {
                    let row = bytes.as_ptr().add(row * width + at);
                    fetch(row, ahead);
                    let row = _mm512_xor_si512(load(row), offset);
                    *sum = _mm512_dpbusd_epi32(*sum, row, q);
                }
            }
        }
        for (product, total) in these.iter_mut().zip(totals(sums)) {
            *product = total - more;
        }
    }
    for (row, product) in rest.chunks_exact(width).zip(single) {
        let mut sum = _mm512_setzero_si512();
        for at in (0..width).step_by(WIDE) {
            // SAFETY: as above.
            unsafe {
                let q = load(query.row.as_ptr().add(at).cast());
                let row = _mm512_xor_si512(load(row.as_ptr().add(at)), offset);
                sum = _mm512_dpbusd_epi32(sum, row, q);
            }
        }
        *product = _mm512_reduce_add_epi32(sum) - more;
    }
}

/// 64 nibbles of 32 bytes: the low ones, then the high ones.
///
/// # Safety
/// 32 bytes are readable at `bytes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn unpacked(bytes: *const u8) -> __m512i {
    // SAFETY: promised by the caller.
    let bytes = unsafe { _mm256_loadu_si256(bytes.cast()) };
    let twice = _mm512_broadcast_i64x4(bytes);
    let shifted = _mm512_mask_srli_epi16::<4>(twice, 0xffff_0000, twice);
    _mm512_and_si512(shifted, _mm512_set1_epi8(15))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn i4_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    // As in `i8_rows`.
    const ROWS: usize = 4;
    let width = query.row.len();
    let stride = width / 2;
    let more = I4_OFFSET * query.sum;
    let ahead = ahead(rows);
    let pieces = rows.chunks_exact(ROWS * stride);
    let rest = pieces.remainder();
    let (whole, single) = products.as_chunks_mut::<ROWS>();
    for (bytes, these) in pieces.zip(whole) {
        let mut sums = [_mm512_setzero_si512(); ROWS];
        for at in (0..width).step_by(WIDE) {
            // SAFETY: the query has `width` bytes, a multiple of 64, each of the rows half of it.
            unsafe {
                let q = load(query.row.as_ptr().add(at).cast());
                for (row, sum) in sums.iter_mut().enumerate() {
                    let row = bytes.as_ptr().add(row * stride + at / 2);
                    fetch(row, ahead);
                    *sum = _mm512_dpbusd_epi32(*sum, unpacked(row), q);
                }
            }
        }
        for (product, total) in these.iter_mut().zip(totals(sums)) {
            *product = 2 * total - more;
        }
    }
    for (row, product) in rest.chunks_exact(stride).zip(single) {
        let mut sum = _mm512_setzero_si512();
        for at in (0..width).step_by(WIDE) {
            // SAFETY: as above.
            unsafe {
                let q = load(query.row.as_ptr().add(at).cast());
                sum = _mm512_dpbusd_epi32(sum, unpacked(row.as_ptr().add(at / 2)), q);
            }
        }
        *product = 2 * _mm512_reduce_add_epi32(sum) - more;
    }
}

// Here the queries are the unsigned operand, so that four bytes of a row come from memory into all
// lanes within the instruction. That adds 128 times the sum of the row, which is taken first: it
// reads the rows line by line, where the products step through eight of them at once, four bytes
// each, and no processor guesses what they will read next.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn i8_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    // Eight independent sums hide the latency of the product instruction.
    const ROWS: usize = 8;
    let width = lanes.width();
    let (ones, offset) = (_mm512_set1_epi8(1), _mm512_set1_epi8(i8::MIN));
    let ahead = ahead(rows);
    let mut rows = rows;
    let mut products = products;
    while !products.is_empty() {
        let (these, after) = products.split_at_mut(ROWS.min(products.len()));
        let (bytes, rest) = rows.split_at(these.len() * width);
        // Rows that are not there repeat the last one; their sums are not stored. Not below 0: the
        // loop ends when there are no products left.
        let last = these.len() - 1;
        let starts: [usize; ROWS] = std::array::from_fn(|row| row.min(last) * width);
        let mut of_rows = [_mm512_setzero_si512(); ROWS];
        for at in (0..width).step_by(WIDE) {
            for (start, sum) in starts.iter().zip(&mut of_rows) {
                // SAFETY: a row has `width` bytes, a multiple of 64.
                let row = unsafe { bytes.as_ptr().add(start + at) };
                fetch(row, ahead);
                // SAFETY: as above.
                *sum = _mm512_dpbusd_epi32(*sum, ones, unsafe { load(row) });
            }
        }
        let [a, b, c, d, e, f, g, h] = of_rows;
        let of_rows = [totals([a, b, c, d]), totals([e, f, g, h])];
        let mut sums = [_mm512_setzero_si512(); ROWS];
        for group in 0..width / 4 {
            // SAFETY: 64 bytes of queries for each four bytes of a row; each start begins a row.
            unsafe {
                let q = load(lanes.packed.as_ptr().add(WIDE * group).cast());
                let q = _mm512_xor_si512(q, offset);
                for (start, sum) in starts.iter().zip(&mut sums) {
                    let four = bytes.as_ptr().add(start + 4 * group);
                    let four = _mm512_set1_epi32(four.cast::<i32>().read_unaligned());
                    *sum = _mm512_dpbusd_epi32(*sum, q, four);
                }
            }
        }
        for ((of_row, sum), product) in of_rows.as_flattened().iter().zip(sums).zip(these) {
            let more = _mm512_set1_epi32(128 * of_row);
            store(_mm512_sub_epi32(sum, more), product);
        }
        (rows, products) = (rest, after);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn i4_lanes(lanes: &Lanes, rows: &[u8], products: &mut [[i32; LANES]]) {
    const ROWS: usize = 4;
    let width = lanes.width();
    let stride = width / 2;
    // SAFETY: sixteen numbers are 64 bytes.
    let sums_of_queries = unsafe { load(lanes.sums.as_ptr().cast()) };
    let more = _mm512_mullo_epi32(sums_of_queries, _mm512_set1_epi32(I4_OFFSET));
    let ahead = ahead(rows);
    let mut rows = rows;
    let mut products = products;
    while !products.is_empty() {
        let (these, after) = products.split_at_mut(ROWS.min(products.len()));
        let (bytes, rest) = rows.split_at(these.len() * stride);
        let last = these.len() - 1;
        let starts: [usize; ROWS] = std::array::from_fn(|row| row.min(last) * stride);
        let mut sums = [_mm512_setzero_si512(); ROWS];
        for at in (0..stride).step_by(WIDE / 2) {
            let mut bytes_of = [[0u8; WIDE]; ROWS];
            for (start, target) in starts.iter().zip(&mut bytes_of) {
                // SAFETY: a row has `stride` bytes, a multiple of 32.
                unsafe {
                    let row = bytes.as_ptr().add(start + at);
                    fetch(row, ahead);
                    let row = unpacked(row);
                    _mm512_storeu_si512(target.as_mut_ptr().cast(), row);
                }
            }
            for group in 0..WIDE / 4 {
                // SAFETY: 64 bytes of queries for each four dimensions; this piece of the rows
                // begins at dimension `2 * at`.
                unsafe {
                    let q = load(lanes.packed.as_ptr().add(WIDE * (at / 2 + group)).cast());
                    for (row, sum) in bytes_of.iter().zip(&mut sums) {
                        let four = row.as_ptr().add(4 * group);
                        let four = _mm512_set1_epi32(four.cast::<i32>().read_unaligned());
                        *sum = _mm512_dpbusd_epi32(*sum, four, q);
                    }
                }
            }
        }
        for (sum, product) in sums.into_iter().zip(these) {
            store(_mm512_sub_epi32(_mm512_slli_epi32::<1>(sum), more), product);
        }
        (rows, products) = (rest, after);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn store(sums: __m512i, products: &mut [i32; LANES]) {
    // SAFETY: sixteen numbers are 64 bytes.
    unsafe { _mm512_storeu_si512(products.as_mut_ptr().cast(), sums) };
}

// A register has two groups: the even ones in its lower half, the odd ones in its upper.
#[expect(clippy::indexing_slicing, reason = "both halves of arrays of two")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn codes(
    tables: &[u8],
    block: &[u8],
    next: *const u8,
    threshold: u16,
    sums: &mut [u16; BLOCK_ROWS],
) -> u64 {
    let low = _mm512_set1_epi8(15);
    let zero = _mm512_setzero_si512();
    // Sums of 16 bits of rows 0..32 and 32..64: as they come, two rows in one number, and the
    // odd rows alone.
    let mut both = [zero; 2];
    let mut odd = [zero; 2];
    let eight_groups = GROUP_BYTES * GROUPS_AT_ONCE;
    for at in (0..block.len()).step_by(eight_groups) {
        let mut bytes = [zero; 2];
        for pair in (at..at + eight_groups).step_by(WIDE) {
            // SAFETY: block and tables are equally long, a multiple of eight groups of 32 bytes.
            let (codes, table) = unsafe {
                fetch(next, pair);
                (
                    load(block.as_ptr().add(pair)),
                    load(tables.as_ptr().add(pair)),
                )
            };
            let first = _mm512_and_si512(codes, low);
            let second = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), low);
            bytes[0] = _mm512_add_epi8(bytes[0], _mm512_shuffle_epi8(table, first));
            bytes[1] = _mm512_add_epi8(bytes[1], _mm512_shuffle_epi8(table, second));
        }
        for half in 0..2 {
            both[half] = _mm512_add_epi16(both[half], bytes[half]);
            odd[half] = _mm512_add_epi16(odd[half], _mm512_srli_epi16::<8>(bytes[half]));
        }
    }
    let least = _mm512_set1_epi16(threshold.cast_signed());
    let mut bits = 0;
    for half in 0..2 {
        let even = _mm512_sub_epi16(both[half], _mm512_slli_epi16::<8>(odd[half]));
        let even = halves_added(even);
        let odd = halves_added(odd[half]);
        let first = _mm256_unpacklo_epi16(even, odd);
        let second = _mm256_unpackhi_epi16(even, odd);
        let rows = _mm512_inserti64x4::<1>(
            _mm512_castsi256_si512(_mm256_permute2x128_si256::<0x20>(first, second)),
            _mm256_permute2x128_si256::<0x31>(first, second),
        );
        bits |= u64::from(_mm512_cmpge_epu16_mask(rows, least)) << (32 * half);
        // SAFETY: each half is 32 numbers, one register.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().add(32 * half).cast(), rows) };
    }
    bits
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn halves_added(numbers: __m512i) -> __m256i {
    _mm256_add_epi16(
        _mm512_castsi512_si256(numbers),
        _mm512_extracti64x4_epi64::<1>(numbers),
    )
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
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

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn best(products: &[[i32; LANES]], norms: &[i32; LANES], group: i32, best: &mut [Best]) {
    // SAFETY: sixteen numbers are one register.
    let norms = unsafe { load(norms.as_ptr().cast()) };
    let group = _mm512_set1_epi32(group);
    for (products, best) in products.iter().zip(best) {
        // SAFETY: as above, each of them.
        let (products, score, of) = unsafe {
            (
                load(products.as_ptr().cast()),
                load(best.score.as_ptr().cast()),
                load(best.group.as_ptr().cast()),
            )
        };
        let new = _mm512_sub_epi32(_mm512_slli_epi32::<1>(products), norms);
        let is_nearer = _mm512_cmpgt_epi32_mask(new, score);
        store(
            _mm512_mask_mov_epi32(score, is_nearer, new),
            &mut best.score,
        );
        store(_mm512_mask_mov_epi32(of, is_nearer, group), &mut best.group);
    }
}

/// A bit for each number that is at least `threshold`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn reached(numbers: &[u16; BLOCK_ROWS], threshold: u16) -> u64 {
    let least = _mm512_set1_epi16(threshold.cast_signed());
    let bits = |half: usize| {
        // SAFETY: each half is 32 numbers, one register.
        let rows = unsafe { load(numbers.as_ptr().add(32 * half).cast()) };
        u64::from(_mm512_cmpge_epu16_mask(rows, least))
    };
    bits(0) | bits(1) << 32
}
