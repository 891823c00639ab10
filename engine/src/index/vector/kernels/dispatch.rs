//! One form of all kernels, behind functions that check lengths.

use super::layout::{BLOCK_ROWS, GROUP_BYTES, GROUPS_AT_ONCE, LANES, Lanes, OneQuery};
use crate::index::vector::record::CODEC_I4;

/// Rows of a codec against one query: one product a row.
type RowsKernel = unsafe fn(OneQuery<'_>, &[u8], &mut [i32]);

/// Rows of a codec against sixteen queries: sixteen products a row.
type LanesKernel = unsafe fn(&Lanes, &[u8], &mut [[i32; LANES]]);

/// One block of sign bits against tables: 64 sums, and a bit for each that reaches the threshold.
type CodesKernel = unsafe fn(&[u8], &[u8], u16, &mut [u16; BLOCK_ROWS]) -> u64;

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
        if tables.len() != block.len() || !tables.len().is_multiple_of(GROUP_BYTES * GROUPS_AT_ONCE)
        {
            return 0;
        }
        // SAFETY: whoever made this form checked the processor; tables and block are equally long,
        // a multiple of eight groups.
        unsafe { (self.codes)(tables, block, threshold, sums) }
    }
}

/// As many whole rows as both slices have; `None` for an impossible width.
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
