//! Products of one query, or of sixteen, with many rows in one call: a scalar reference, and the
//! fastest form that this processor has, chosen once.
//!
//! All forms use integers only and give the same numbers. Rows come from a file that may lie: any
//! byte is legal here, and a length that does not fit is a product of fewer rows, never a read
//! outside a slice.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod detect;
pub mod dispatch;
pub mod layout;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod prefetch;
mod scalar;
#[cfg(test)]
mod tests;

pub use detect::{all_kernels, kernels};
pub use dispatch::Kernels;
pub use layout::{
    BLOCK_ROWS, GROUP_BYTES, GROUP_DIMS, GROUPS_AT_ONCE, LANES, Lanes, OneQuery, TABLE_LIMIT,
};
