//! What one run of `bench main` finds.

use kb_engine::Sizes;

use crate::child::Measured;
use crate::corpus::Count;
use crate::latency::{ModeLatency, Summary};

/// One tree, indexed.
pub(crate) struct Indexed {
    pub(crate) name: &'static str,
    pub(crate) count: Count,
    pub(crate) run: Measured,
}

/// Everything that one run of the bench found.
pub(crate) struct Figures {
    /// First part from nothing, again with nothing changed, and all parts from nothing.
    pub(crate) indexed: Vec<Indexed>,
    pub(crate) sizes: Sizes,
    pub(crate) documents: u64,
    pub(crate) chunks: u64,
    pub(crate) process: Vec<ModeLatency>,
    /// The same process with nothing to do.
    pub(crate) process_floor: Summary,
    pub(crate) library: Vec<ModeLatency>,
    /// A keyword search without text.
    pub(crate) ranking: Summary,
    pub(crate) open_and_first: Summary,
    /// Private memory of a process that has answered all queries in all modes.
    pub(crate) private_bytes: u64,
    pub(crate) queries: usize,
}
