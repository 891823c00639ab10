//! What confines a worker.

use std::sync::atomic::{AtomicU8, Ordering};

/// What the last worker of this process said of itself; [`NOTHING_SAID`] before the first one.
static LAST: AtomicU8 = AtomicU8::new(NOTHING_SAID);
const NOTHING_SAID: u8 = u8::MAX;

const LIMITS: u8 = 1;
const SANDBOX: u8 = 2;

/// What confines an extraction worker, beside the time limit that its parent holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerProtection {
    /// Limits of address space, CPU time, open files and written files.
    pub has_limits: bool,
    /// A filter of system calls: no files, no network, no other processes.
    pub has_sandbox: bool,
}

impl WorkerProtection {
    pub(super) fn to_byte(self) -> u8 {
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        bit(self.has_limits, LIMITS) | bit(self.has_sandbox, SANDBOX)
    }

    pub(super) fn from_byte(byte: u8) -> WorkerProtection {
        WorkerProtection {
            has_limits: byte & LIMITS != 0,
            has_sandbox: byte & SANDBOX != 0,
        }
    }

    pub(super) fn record(self) {
        LAST.store(self.to_byte(), Ordering::Relaxed);
    }
}

/// What confines the extraction worker that this process started last; `None` before the first one. A kernel
/// or container that refuses the filter leaves a worker with its limits, and extraction goes on.
pub fn worker_protection() -> Option<WorkerProtection> {
    let last = LAST.load(Ordering::Relaxed);
    (last != NOTHING_SAID).then(|| WorkerProtection::from_byte(last))
}
