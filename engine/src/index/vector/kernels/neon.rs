//! Kernels for NEON: 128 bits at a time.

use std::arch::aarch64::*;

use super::dispatch::Kernels;
use super::layout::{BLOCK_ROWS, GROUP_BYTES, GROUPS_AT_ONCE, OneQuery, reached};
use super::scalar;
use crate::index::vector::quantise::I4_OFFSET;

/// For processors with NEON. Sixteen queries go through the one-query form one by one.
pub(super) const KERNELS: Kernels = Kernels {
    name: "neon",
    i8_rows,
    i8_lanes: scalar::i8_lanes,
    i4_rows,
    i4_lanes: scalar::i4_lanes,
    codes,
    scale: scalar::scale,
    best: scalar::best,
};

/// Bytes of a register.
const WIDE: usize = 16;

/// Adds sixteen products of signed bytes: those of two bytes from -128 fit 16 bits, and the
/// sums of pairs are widened at once.
#[inline]
#[target_feature(enable = "neon")]
fn add(sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    let sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    vpadalq_s16(sum, vmull_high_s8(a, b))
}

#[target_feature(enable = "neon")]
unsafe fn i8_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    let width = query.row.len();
    for (row, product) in rows.chunks_exact(width).zip(products) {
        let (mut even, mut odd) = (vdupq_n_s32(0), vdupq_n_s32(0));
        for at in (0..width).step_by(2 * WIDE) {
            // SAFETY: row and query have `width` bytes, a multiple of 64.
            unsafe {
                let (bytes, q) = (
                    row.as_ptr().cast::<i8>().add(at),
                    query.row.as_ptr().add(at),
                );
                even = add(even, vld1q_s8(bytes), vld1q_s8(q));
                odd = add(odd, vld1q_s8(bytes.add(WIDE)), vld1q_s8(q.add(WIDE)));
            }
        }
        *product = vaddvq_s32(vaddq_s32(even, odd));
    }
}

#[target_feature(enable = "neon")]
unsafe fn i4_rows(query: OneQuery<'_>, rows: &[u8], products: &mut [i32]) {
    let stride = query.row.len() / 2;
    let low = vdupq_n_u8(15);
    for (row, product) in rows.chunks_exact(stride).zip(products) {
        let (mut even, mut odd) = (vdupq_n_s32(0), vdupq_n_s32(0));
        // 32 bytes are 64 dimensions: the low nibbles, then the high ones.
        for at in (0..stride).step_by(2 * WIDE) {
            for half in [0, WIDE] {
                // SAFETY: the row has `stride` bytes, a multiple of 32, the query twice as many.
                unsafe {
                    let bytes = vld1q_u8(row.as_ptr().add(at + half));
                    let q = query.row.as_ptr().add(2 * at + half);
                    let first = vreinterpretq_s8_u8(vandq_u8(bytes, low));
                    let second = vreinterpretq_s8_u8(vshrq_n_u8::<4>(bytes));
                    even = add(even, first, vld1q_s8(q));
                    odd = add(odd, second, vld1q_s8(q.add(2 * WIDE)));
                }
            }
        }
        *product = 2 * vaddvq_s32(vaddq_s32(even, odd)) - I4_OFFSET * query.sum;
    }
}

#[target_feature(enable = "neon")]
unsafe fn codes(
    tables: &[u8],
    block: &[u8],
    _next: *const u8,
    threshold: u16,
    sums: &mut [u16; BLOCK_ROWS],
) -> u64 {
    let low = vdupq_n_u8(15);
    // Sixteen rows in two registers each.
    let mut wide = [[vdupq_n_u16(0); 2]; 4];
    let four_groups = GROUP_BYTES * GROUPS_AT_ONCE / 2;
    for at in (0..block.len()).step_by(four_groups) {
        let mut bytes = [vdupq_n_u8(0); 4];
        for group in (at..at + four_groups).step_by(GROUP_BYTES) {
            // SAFETY: block and tables are equally long, a multiple of four groups of 32 bytes.
            let (table, codes) = unsafe {
                let codes = block.as_ptr().add(group);
                let codes = [vld1q_u8(codes), vld1q_u8(codes.add(WIDE))];
                (vld1q_u8(tables.as_ptr().add(group)), codes)
            };
            for (half, codes) in codes.into_iter().enumerate() {
                let (first, second) = (vandq_u8(codes, low), vshrq_n_u8::<4>(codes));
                bytes[half] = vaddq_u8(bytes[half], vqtbl1q_u8(table, first));
                bytes[half + 2] = vaddq_u8(bytes[half + 2], vqtbl1q_u8(table, second));
            }
        }
        for (wide, bytes) in wide.iter_mut().zip(bytes) {
            wide[0] = vaddw_u8(wide[0], vget_low_u8(bytes));
            wide[1] = vaddw_high_u8(wide[1], bytes);
        }
    }
    for (numbers, target) in wide.as_flattened().iter().zip(sums.chunks_exact_mut(8)) {
        // SAFETY: the target has eight numbers, one register.
        unsafe { vst1q_u16(target.as_mut_ptr(), *numbers) };
    }
    reached(sums, threshold)
}
