//! Prefetching.

/// Prefetches the first four cache lines of `bytes`. Results do not depend on it.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // Four lines are 256 bytes: a row of the built-in model has three. Processors fetch the
        // lines behind by themselves.
        for line in bytes.chunks(64).take(4) {
            // SAFETY: a prefetch reads nothing that could be seen; SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
