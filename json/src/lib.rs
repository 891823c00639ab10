//! The JSON forms of engine results, for every front that speaks JSON. `kb --json` prints these objects, one per line.
//!
//! There is one function for each kind of object: a hit, a document, a section, a report. Fields have a fixed order and
//! the names of `docs/glossary.md`. Times are milliseconds since 1970 and end in `_ms`. Lines count from 1. Bytes are
//! offsets in the text of a document. A field without a value is null or empty; it is omitted only if the function says
//! so.
//!
//! [`advice`] says what to do about an error, in the words of each front.
//!
//! The crate decides nothing: each front chooses what it shows, in which order and how much.
//!
//! ```
//! use kb_engine::Kb;
//!
//! # fn main() -> kb_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("notes.kb");
//! # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
//! # writer.add_bytes("tides.md", b"# Tides\n\nThe moon pulls the sea twice a day.")?;
//! # writer.commit()?;
//! let document = Kb::open(&path)?.document("tides.md")?;
//! let object = kb_json::document(&document).finish();
//! assert!(object.starts_with(r#"{"document":"tides.md","handle":"#));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! `ingest`: the objects of what writes files, `index_report` and others; enables `ingest` of the
//! engine. `regex`: `regex_match`; part of `ingest`.
#![deny(missing_docs)]

mod advice;
#[cfg(feature = "ingest")]
mod changes;
mod document;
mod error;
mod hit;
mod info;
mod numbers;
mod object;
mod outline;
mod paging;
mod parts;
#[cfg(feature = "regex")]
mod regex;
mod symbols;
mod text;
mod verify;

pub use advice::{Front, advice};
#[cfg(feature = "ingest")]
pub use changes::{
    ChangeKind, added, changed_documents, changed_sources, difference, import_report, index_report,
    merge_report, patch_report, reembed_report, removed, seal_report, symbols_pending,
    with_changes,
};
pub use document::{
    created, document, document_head, entry, field, field_values, field_with_values, folder,
    metadata, skipped_file, stated,
};
pub use error::error;
pub use hit::{best_score, explanation, hit, verdict};
pub use info::{info, vector_column};
pub use numbers::{bytes, count, score};
pub use object::Object;
pub use outline::{part, parts_total, section, sections_total};
pub use paging::{facets, paging, spelling, summary};
pub use parts::{page, part_address, sheet_row, slide};
#[cfg(feature = "regex")]
pub use regex::regex_match;
pub use symbols::symbol;
pub use text::{chunk, document_text, page_text};
pub use verify::verify_report;
