//! One file per verb: turns arguments into calls of the engine, and results into lines. `read` has the verbs that read a
//! file, `write` those that change one, `versions` those that compare two files, `serve` those that serve other programs.

pub(crate) mod completions;
mod freshness;
pub(crate) mod man;
pub(crate) mod models;
mod opened;
pub(crate) mod read;
mod remote;
pub(crate) mod serve;
pub(crate) mod versions;
pub(crate) mod write;
