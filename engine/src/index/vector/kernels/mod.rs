//! Products of one query, or of sixteen, with many rows in one call: a scalar reference, and forms
//! for instruction sets, of which the fastest that the processor has is chosen once.
//!
//! All forms use integer arithmetic and give equal results. Rows come from an untrusted file: every
//! byte value is legal, and when lengths do not fit, fewer rows are computed; nothing is read
//! outside a slice.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod detect;
pub(crate) mod dispatch;
pub(crate) mod layout;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod prefetch;
mod scalar;
#[cfg(test)]
mod tests;

#[cfg(feature = "testing")]
pub use detect::kernels;
#[cfg(feature = "testing")]
pub use layout::{BLOCK_ROWS, LANES, Lanes};
