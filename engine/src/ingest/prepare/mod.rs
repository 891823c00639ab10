//! Files and documents -> chunks, terms and vectors, on all cores.
//!
//! [`preparer`] does the work for one document, [`pipeline`] for all inputs of a run, in their order;
//! by the queue [`ordered`](super::ordered). [`limits`] refuses what no .kb can hold.

pub(crate) mod limits;
pub(crate) mod pipeline;
pub(crate) mod preparer;
pub(crate) mod preserved;
