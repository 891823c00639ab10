//! One file holds a knowledge base: the text of documents and code, their structure, a keyword
//! index and a vector index. It is searched by words, by meaning, or both, offline, with an
//! embedding model that is compiled in.
//!
//! [`KbWriter`] makes a .kb from folders, files or documents; [`Kb`] searches it and gives the text
//! back; [`Request`] and [`Response`] are what goes in and comes out.
//!
//! ```
//! use kb_engine::{Kb, KbWriter, Request};
//!
//! # fn main() -> kb_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("notes.kb");
//! let mut writer = KbWriter::open_or_create(&path)?;
//! writer.add_bytes("tides.md", b"# Tides\n\nThe moon pulls the sea twice a day.")?;
//! writer.add_bytes("bread.md", b"# Bread\n\nFlour, water, salt and patience.")?;
//! writer.commit()?;
//!
//! let kb = Kb::open(&path)?;
//! let response = kb.search(&Request::new("why does the sea rise"))?;
//! assert_eq!(response.hits[0].document, "tides.md");
//! assert_eq!(kb.text("bread.md", None)?.text, "# Bread\n\nFlour, water, salt and patience.");
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//! Documents: 4 GiB of text each and 2^32 in all. Chunks: 2^24 in each segment. Nothing of the
//! original but its text, outline, times, size and hash is stored.
//!
//! # Features
//! `ingest` (default): walk folders, read files, cut and write. Without it: a small reader and
//! searcher. `faults`: a double for the disk, for tests of crashes.
//!
//! # Rooms
//! Imports point down: [`types`], [`error`], [`calendar`], [`escape`], [`file_types`], [`percent`], [`progress`] know nothing of ours; [`container`] turns
//! bytes into tables and extents; [`store`], [`index`] and [`embed`] stand on it and do not know each
//! other; [`catalog`] holds the records of one commit, [`resolve`] finds a document by name and
//! [`paging`] splits a long answer; [`search`] joins them for reading and `ingest` for writing;
//! [`kb`] is what people hold.
#![deny(missing_docs)]

pub mod calendar;
pub mod catalog;
pub mod check;
pub mod container;
pub mod content;
pub mod embed;
pub mod error;
pub mod escape;
pub mod file_types;
pub mod index;
#[cfg(feature = "ingest")]
pub mod ingest;
pub mod kb;
pub mod paging;
pub mod percent;
pub mod progress;
pub mod resolve;
pub mod search;
pub mod store;
pub mod types;

pub use check::{VerifyOptions, VerifyReport};
pub use container::{FORMAT_VERSION, OLDEST_READABLE};
pub use content::{
    ChunkText, DocumentInfo, DocumentPage, DocumentPages, DocumentSections, DocumentText, Entry,
    Folders, Info, Outline, Recall, RootInfo, Section, Sizes, State, VectorPass,
    WHOLE_TEXT_LIMIT_BYTES,
};
pub use error::{Error, Result};
pub use index::vector::{Codec as VectorCodec, Scan, ScanStats};
#[cfg(feature = "ingest")]
pub use ingest::extract::{Sniffed, sniff};
#[cfg(feature = "ingest")]
pub use ingest::options::IndexOptions;
#[cfg(feature = "ingest")]
pub use ingest::report::{FolderRelation, Report, SimilarRoot, Skipped};
#[cfg(feature = "ingest")]
pub use ingest::run::{SealOptions, SealReport, SourceInfo, document_of, wait_for_writer};
#[cfg(feature = "ingest")]
pub use kb::KbWriter;
pub use kb::{FILES_LIMIT, Kb, search_files};
pub use paging::{
    ANSWER_LIMIT_BYTES, CLIENT_STATE_LIMIT_BYTES, Cursor, PageOptions, Paged, TOKENS_LIMIT,
};
pub use progress::{Hook, Progress, Stage};
pub use search::{
    CONTEXT_LIMIT_CHARS, CONTEXT_LIMIT_LINES, Explanation, Filters, Hit, K_LIMIT, Mode,
    QUERY_LIMIT_BYTES, Relevance, RelevanceSignals, Request, Response, Scope, Sort, Step,
    TermScore, TermStatistics,
};
pub use types::{ChunkId, ChunkSpan, Class, Document, DocumentId, Heading, Lines, SegmentId, Span};

/// The Rust of the README is compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
