//! One verb per file: its arguments become calls of the engine, the answers become lines. `read` asks a
//! file, `write` changes one, `serve` answers other programs.

pub(crate) mod completions;
mod freshness;
pub(crate) mod man;
mod opened;
pub(crate) mod read;
pub(crate) mod serve;
pub(crate) mod write;
