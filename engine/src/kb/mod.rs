//! The handles: [`Kb`] reads and searches, [`KbWriter`] writes. Each is one file that lists its methods.
//!
//! Everything a front offers is a method here; fronts translate words and formats, no more.

mod open_file;
mod reader;
#[cfg(feature = "ingest")]
mod sources;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests;
#[cfg(feature = "ingest")]
mod writer;

pub use reader::{FILES_LIMIT, Kb, search_files, search_files_with};
#[cfg(feature = "ingest")]
pub use sources::check_hits;
#[cfg(feature = "ingest")]
pub use writer::KbWriter;
