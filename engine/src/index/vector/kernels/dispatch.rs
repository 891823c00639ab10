//! One form of all kernels, behind functions that check lengths.

use super::layout::{
    BLOCK_ROWS, Best, Estimate, GROUP_BYTES, GROUPS_AT_ONCE, LANES, Lanes, OneQuery,
};
use crate::index::vector::record::{CODEC_I4, CODEC_I8};

/// Rows of a codec against one query: one product a row.
type RowsKernel = unsafe fn(OneQuery<'_>, &[u8], &mut [i32]);

/// Rows of a codec against sixteen queries: sixteen products a row.
type LanesKernel = unsafe fn(&Lanes, &[u8], &mut [[i32; LANES]]);

/// One block of sign bits against tables: 64 sums, and a bit for each that reaches the threshold. As many bytes
/// from the pointer on are asked for meanwhile, wherever it leads.
type CodesKernel = unsafe fn(&[u8], &[u8], *const u8, u16, &mut [u16; BLOCK_ROWS]) -> u64;

/// 64 sums made estimates with the factors of their rows, and a bit for each that reaches the threshold.
type ScaleKernel =
    unsafe fn(&[u16; BLOCK_ROWS], &[u8; BLOCK_ROWS], Estimate, u16, &mut [u16; BLOCK_ROWS]) -> u64;

/// Products of rows with sixteen centroids of that number: the best so far of each row.
type BestKernel = unsafe fn(&[[i32; LANES]], &[i32; LANES], i32, &mut [Best]);

/// Prefetch distance in a scan of adjacent blocks, in bytes.
// Hardware prefetchers stop at the end of each page of 4,096 bytes, so the request has to reach the
// next page.
const AHEAD_BYTES: usize = 4096;

/// Rows whose products with sixteen centroids are computed before they are compared.
// 8 * 16 products are 512 bytes, which stay in the first-level cache; the AVX-512 kernel takes
// eight rows at a time.
const ROWS_AT_ONCE: usize = 8;

/// The kernels of one instruction set. `detect` hands them out after it checked the processor, and
/// only this file calls the functions, after it checked the lengths.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    /// Names the form where a test fails.
    #[cfg_attr(not(test), expect(dead_code, reason = "for tests"))]
    pub(super) name: &'static str,
    pub(super) i8_rows: RowsKernel,
    pub(super) i8_lanes: LanesKernel,
    pub(super) i4_rows: RowsKernel,
    pub(super) i4_lanes: LanesKernel,
    pub(super) codes: CodesKernel,
    pub(super) scale: ScaleKernel,
    pub(super) best: BestKernel,
}

impl Kernels {
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
        // SAFETY: `detect` checked the processor. The width is a multiple of 64 and
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

    /// Adds up the tables by the sign bits of 64 rows: `sums` gets one number for each row, and the
    /// result has a bit for each row whose sum is at least `threshold`. 0 when the block has
    /// another length than the tables.
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
        // The safety of the kernels depends on this check alone: lengths come from the file.
        if tables.len() != block.len() || !tables.len().is_multiple_of(GROUP_BYTES * GROUPS_AT_ONCE)
        {
            return 0;
        }
        let next = block.as_ptr().wrapping_add(AHEAD_BYTES);
        // SAFETY: whoever made this form checked the processor; tables and block are equally long,
        // a multiple of eight groups.
        unsafe { (self.codes)(tables, block, next, threshold, sums) }
    }

    /// As [`Kernels::code_sums`], with each sum turned into an estimate: `base` plus the sum less
    /// `bias`, times the factor of the row, shifted right by `shift`; clamped to 0..=65 535. `next` is a block that is
    /// read soon, and brought into the cache meanwhile.
    pub fn estimates(
        &self,
        tables: &[u8],
        [block, next]: [&[u8]; 2],
        factors: &[u8; BLOCK_ROWS],
        how: Estimate,
        threshold: u16,
        estimates: &mut [u16; BLOCK_ROWS],
    ) -> u64 {
        if tables.len() != block.len() || !tables.len().is_multiple_of(GROUP_BYTES * GROUPS_AT_ONCE)
        {
            return 0;
        }
        let mut sums = [0; BLOCK_ROWS];
        // SAFETY: as in `code_sums`; the arrays of the second have the lengths that it needs.
        unsafe {
            (self.codes)(tables, block, next.as_ptr(), 0, &mut sums);
            (self.scale)(&sums, factors, how, threshold, estimates)
        }
    }

    /// Compares rows of signed bytes with the sixteen centroids of `lanes`, whose squared lengths are
    /// `norms`, and notes in `best` where one of them is nearer than all before. `group` numbers the
    /// sixteen. Rows that are not there are left as they are.
    pub fn nearest(
        &self,
        lanes: &Lanes,
        norms: &[i32; LANES],
        group: i32,
        rows: &[u8],
        best: &mut [Best],
    ) {
        let width = lanes.width();
        let mut products = [[0; LANES]; ROWS_AT_ONCE];
        let pieces = rows.chunks((width * ROWS_AT_ONCE).max(1));
        for (rows, best) in pieces.zip(best.chunks_mut(ROWS_AT_ONCE)) {
            let count = self.products_of_lanes(CODEC_I8, lanes, rows, &mut products);
            let products = products.get(..count).unwrap_or_default();
            // SAFETY: whoever made this form checked the processor; slices of any length are fine.
            unsafe { (self.best)(products, norms, group, best) };
        }
    }
}

/// As many whole rows as both slices have; `None` for an impossible width.
fn fitting<'a, T>(
    width: usize,
    stride: usize,
    rows: &'a [u8],
    products: &'a mut [T],
) -> Option<(&'a [u8], &'a mut [T])> {
    // Kernels step through a row by 64 bytes without a remainder; another width would read beyond
    // it.
    if width == 0 || !width.is_multiple_of(64) {
        return None;
    }
    let count = (rows.len() / stride).min(products.len());
    Some((rows.get(..count * stride)?, products.get_mut(..count)?))
}
