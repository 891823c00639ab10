//! Chooses the kernels that the processor can run.

use std::sync::LazyLock;

use super::dispatch::Kernels;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// The fastest kernels of this processor.
pub fn kernels() -> &'static Kernels {
    static CHOSEN: LazyLock<Kernels> = LazyLock::new(|| {
        let fastest = all_kernels().into_iter().next();
        fastest.unwrap_or(scalar::KERNELS)
    });
    &CHOSEN
}

/// All kernels that this processor can run, the fastest first, the reference last.
pub(crate) fn all_kernels() -> Vec<Kernels> {
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
