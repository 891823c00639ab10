//! The handles: [`Kb`] reads and searches, [`KbWriter`] writes. The files list their methods.
//!
//! Everything a front offers is a method here; fronts translate words and formats, no more.

mod column_models;
mod difference;
mod documents;
mod open_file;
#[cfg(feature = "ingest")]
mod patches;
mod reader;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod reader_tests;
#[cfg(feature = "ingest")]
mod sources;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests;
mod texts;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod trigram_tests;
#[cfg(feature = "ingest")]
mod writer;

pub use column_models::{Embedded, ModelCoverage};
#[cfg(feature = "ingest")]
pub use patches::{apply_patch, make_patch};
#[cfg(feature = "regex")]
pub use reader::search_files_regex;
pub use reader::{FILES_LIMIT, Kb, search_files, search_files_symbols, search_files_with};
#[cfg(feature = "ingest")]
pub use sources::check_hits;
pub use texts::{LeftOut, LeftOutReason, NamedText, Texts, read_texts};
#[cfg(feature = "ingest")]
pub use writer::KbWriter;
