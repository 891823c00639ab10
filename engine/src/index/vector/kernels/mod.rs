//! Products of one query, or of sixteen, with many rows in one call: a scalar reference, and the
//! fastest form that this processor has, chosen once.
//!
//! All forms use integers only and give the same numbers. Rows come from a file that may lie: any
//! byte is legal here, and a length that does not fit is a product of fewer rows, never a read
//! outside a slice.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod scalar;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::index::vector::CODEC_I4;
use crate::index::vector::quantise::Query;

/// Queries that are compared with a row at the same time.
pub const LANES: usize = 16;

/// Rows of a block of sign codes.
pub const BLOCK_ROWS: usize = 64;

/// Dimensions that share one table of 16 sums.
pub const GROUP_DIMS: usize = 4;

/// Bytes of a group of dimensions in a block of codes: 64 rows, 4 bits each.
pub const GROUP_BYTES: usize = BLOCK_ROWS * GROUP_DIMS / 8;

/// Largest number in a table: four of them fit an unsigned byte.
pub const TABLE_LIMIT: u8 = 63;

/// Groups whose sums are widened together; blocks and tables have a multiple of that.
pub const GROUPS_AT_ONCE: usize = 8;

/// One query as all kernels read it.
#[derive(Debug, Clone, Copy)]
pub struct OneQuery<'q> {
    /// The bytes, -127..=127, a multiple of 64.
    pub row: &'q [i8],
    /// Their sum.
    pub sum: i32,
}

/// Up to sixteen queries of one width, four bytes of each side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// Bytes `4 * (16 * group + lane)` and the next three: dimensions `4 * group` and the next
    /// three of query `lane`. Lanes without a query are 0.
    packed: Vec<i8>,
    /// The sum of the bytes of each query.
    sums: [i32; LANES],
}

impl Lanes {
    /// Packs the first sixteen queries; all are as wide as the first.
    pub fn new(queries: &[Query]) -> Lanes {
        let width = queries.first().map_or(0, |query| query.row().len());
        let mut packed = vec![0; width * LANES];
        let mut sums = [0; LANES];
        for (lane, (query, sum)) in queries.iter().zip(&mut sums).enumerate() {
            *sum = query.sum();
            let groups = packed.chunks_exact_mut(GROUP_DIMS * LANES);
            for (group, bytes) in groups.zip(query.row().chunks_exact(GROUP_DIMS)) {
                let target = group.chunks_exact_mut(GROUP_DIMS).nth(lane);
                target
                    .unwrap_or_default()
                    .iter_mut()
                    .zip(bytes)
                    .for_each(|(target, byte)| *target = *byte);
            }
        }
        Lanes { packed, sums }
    }

    /// Bytes of one query.
    pub fn width(&self) -> usize {
        self.packed.len() / LANES
    }
}

/// Rows of a codec against one query: one product a row.
type RowsKernel = unsafe fn(OneQuery<'_>, &[u8], &mut [i32]);

/// Rows of a codec against sixteen queries: sixteen products a row.
type LanesKernel = unsafe fn(&Lanes, &[u8], &mut [[i32; LANES]]);

/// One block of codes against tables: 64 sums, and a bit for each that reaches the threshold.
type CodesKernel = unsafe fn(&[u8], &[u8], u16, &mut [u16; BLOCK_ROWS]) -> u64;

/// One form of all kernels. Only what checked the processor makes one, and only this file calls
/// the functions in it, after it checked the lengths.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    /// What `kb info` and benches call it.
    pub name: &'static str,
    i8_rows: RowsKernel,
    i8_lanes: LanesKernel,
    i4_rows: RowsKernel,
    i4_lanes: LanesKernel,
    codes: CodesKernel,
}

/// The fastest form for this processor.
pub fn kernels() -> &'static Kernels {
    static CHOSEN: LazyLock<Kernels> = LazyLock::new(|| {
        let fastest = Kernels::all().into_iter().next();
        fastest.unwrap_or(scalar::KERNELS)
    });
    &CHOSEN
}

impl Kernels {
    /// All forms that this processor can run, the fastest first, the reference last.
    pub fn all() -> Vec<Kernels> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni")
            {
                all.push(avx512::KERNELS);
            }
            if is_x86_feature_detected!("avx2") {
                all.push(avx2::KERNELS);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(neon::KERNELS);
        }
        all.push(scalar::KERNELS);
        all
    }

    /// The products of `query` with the rows of `codec` that lie back to back in `rows`, each
    /// `stride` bytes; returns how many there are: at most as many as `products` has room for.
    pub fn products(
        &self,
        codec: u8,
        query: OneQuery<'_>,
        rows: &[u8],
        products: &mut [i32],
    ) -> usize {
        let width = query.row.len();
        let (kernel, stride) = match codec {
            CODEC_I4 => (self.i4_rows, width / 2),
            _ => (self.i8_rows, width),
        };
        let Some((rows, products)) = fitting(width, stride, rows, products) else {
            return 0;
        };
        // SAFETY: whoever made this form checked the processor. The width is a multiple of 64 and
        // `rows` has `stride` bytes for each product.
        unsafe { kernel(query, rows, products) };
        products.len()
    }

    /// As [`Kernels::products`] for sixteen queries at once.
    pub fn products_of_lanes(
        &self,
        codec: u8,
        lanes: &Lanes,
        rows: &[u8],
        products: &mut [[i32; LANES]],
    ) -> usize {
        let width = lanes.width();
        let (kernel, stride) = match codec {
            CODEC_I4 => (self.i4_lanes, width / 2),
            _ => (self.i8_lanes, width),
        };
        let Some((rows, products)) = fitting(width, stride, rows, products) else {
            return 0;
        };
        // SAFETY: as in `products`; `Lanes::new` made sixteen rows of that width.
        unsafe { kernel(lanes, rows, products) };
        products.len()
    }

    /// Adds up what `tables` says of the codes of 64 rows: `sums` has one number a row, and the
    /// bits of the answer the rows whose sum is at least `threshold`. A block of another length
    /// than the tables want has no such row.
    ///
    /// `tables` has 32 bytes a group, its 16 numbers twice, none above [`TABLE_LIMIT`], and all
    /// groups together reach at most 65 535.
    pub fn code_sums(
        &self,
        tables: &[u8],
        block: &[u8],
        threshold: u16,
        sums: &mut [u16; BLOCK_ROWS],
    ) -> u64 {
        if tables.len() != block.len() || !tables.len().is_multiple_of(GROUP_BYTES * GROUPS_AT_ONCE)
        {
            return 0;
        }
        // SAFETY: whoever made this form checked the processor; tables and block are equally long,
        // a multiple of eight groups.
        unsafe { (self.codes)(tables, block, threshold, sums) }
    }
}

/// As many whole rows as there is room for; `None` for a width that no row has.
fn fitting<'a, T>(
    width: usize,
    stride: usize,
    rows: &'a [u8],
    products: &'a mut [T],
) -> Option<(&'a [u8], &'a mut [T])> {
    if width == 0 || !width.is_multiple_of(64) {
        return None;
    }
    let count = (rows.len() / stride).min(products.len());
    Some((rows.get(..count * stride)?, products.get_mut(..count)?))
}

/// Asks the processor to fetch the start of `bytes`. Nothing but time depends on it.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in bytes.chunks(64).take(4) {
            // SAFETY: a prefetch reads nothing that could be seen; SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
