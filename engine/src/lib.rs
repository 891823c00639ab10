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
//! Documents: 64 MiB of text each when extracted from a file, 4 GiB when given as [`Document`]; 2^32 in
//! all. Chunks: 2^24 in each segment. The bytes of a file are not stored, only its text, path, title,
//! outline, metadata, tags, times, size and hash.
//!
//! # Threads
//! A [`Kb`] is `Send` and `Sync`: any number of threads may share one by reference or in an `Arc`. A
//! [`KbWriter`] is `Send`; every change takes `&mut self`. [`Error`] is `Send` and `Sync`.
//!
//! # Features
//! `ingest` (default): read folders and files, and write. Without it the crate opens, searches, reads
//! and verifies files, writes none, and has no redb. `model` (default, and part of `ingest`): the built-in
//! embedding model, 5 MB. Without it files are searched by keywords alone, and the words of a question count
//! alike. `regex` (default, and part of `ingest`): search by regular expressions. `testing` is for the tests of this workspace and
//! promises nothing.
//!
//! # How it is built
//! Imports point down through private modules: `container` turns bytes into tables and extents;
//! `store`, `index` and `embed` stand on it and do not know each other; `catalog` holds the records of
//! one commit; `search` joins them for reading and `ingest` for writing; `kb` has the two handles.
#![deny(missing_docs)]
// With `testing` all that tests reach is public: what is `pub` beyond that should not be.
#![cfg_attr(feature = "testing", deny(unreachable_pub))]
#![cfg_attr(not(feature = "testing"), allow(unreachable_pub))]
#![cfg_attr(not(feature = "testing"), warn(unnameable_types))]
#![cfg_attr(feature = "testing", allow(rustdoc::private_intra_doc_links))]
// The writing halves of `store` and `index` stay in a build that only reads; the linker drops them.
#![cfg_attr(not(feature = "ingest"), allow(dead_code, unused_imports))]

mod bitset;
mod catalog;
mod check;
mod container;
mod content;
mod embed;
mod glob;
mod index;
#[cfg(feature = "ingest")]
mod ingest;
mod kb;
mod metric;
mod paging;
mod progress;
mod resolve;
mod search;
mod store;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;

pub use check::{ChangedDocument, Difference, DocumentChange, VerifyOptions, VerifyReport};
pub use container::{FORMAT_VERSION, MappedBytes, OLDEST_READABLE, WriterInfo};
pub use content::{
    ChunkPlace, ChunkText, ColumnRecall, DocumentInfo, DocumentPage, DocumentPages, DocumentParts,
    DocumentSections, DocumentSlides, DocumentText, Entry, FieldInfo, Folders, Info,
    LocatedDocument, Outline, PartInfo, Recall, RootInfo, Section, SheetData, SheetRow, Sizes,
    SkippedFile, SlideText, State, UnquantisedRecall, VectorBlock, VectorColumn, VectorPass,
    VectorRow, Vectors, WHOLE_TEXT_LIMIT_BYTES,
};
pub use embed::BUILT_IN_MODEL;
#[cfg(feature = "model")]
pub use embed::{TextRole, embed_texts};
pub use index::vector::{Codec as VectorCodec, Scan, ScanStats};
#[cfg(feature = "ingest")]
pub use ingest::changes::freshness::{ChangedSources, SourceChange};
#[cfg(feature = "ingest")]
pub use ingest::changes::source_check::SourceCheck;
#[cfg(feature = "ingest")]
pub use ingest::options::IndexOptions;
#[cfg(feature = "ingest")]
pub use ingest::report::{
    EmptiedFolder, FolderRelation, MissedRecall, MovedRoot, Report, SimilarRoot, Skipped, Unparsed,
};
#[cfg(feature = "ingest")]
pub use ingest::run::{
    AddOptions, Added, ColumnUpdate, ImportReport, MergeOptions, MergeReport, MergeSource,
    NewDocument, NewVectors, OnConflict, PackedModel, PatchOptions, PatchReport, ReembedOptions,
    ReembedReport, SealOptions, SealReport, SourceInfo, VectorTarget, WaitingTexts, document_of,
    wait_for_writer,
};
#[cfg(feature = "ingest")]
pub use kb::KbWriter;
#[cfg(feature = "regex")]
pub use kb::search_files_regex;
pub use kb::{
    Embedded, FILES_LIMIT, Kb, LeftOut, LeftOutReason, ModelCoverage, NamedText, Texts, read_texts,
    search_files, search_files_symbols, search_files_with,
};
#[cfg(feature = "ingest")]
pub use kb::{apply_patch, check_hits, make_patch};
#[cfg(feature = "ingest")]
pub use kb_extract::secrets::{Secret, secret_by_name, secret_in};
#[cfg(feature = "ingest")]
pub use kb_extract::worker::extraction::{Extraction, WORKER_ARGUMENT, WorkerOptions};
#[cfg(feature = "ingest")]
pub use kb_extract::worker::protection::{WorkerProtection, worker_protection};
#[cfg(feature = "ingest")]
pub use kb_extract::worker::serve::run_extraction_worker;
#[cfg(feature = "ingest")]
pub use kb_extract::{Sniffed, sniff};
pub use kb_types::{
    BUILT_IN_VECTORS, CellRange, ChunkId, ChunkSpan, Class, Document, DocumentId, Heading,
    HeadingSymbol, Lines, Page, PageSource, Part, PartAddress, PartContent, PartKind, SegmentId,
    Sheet, Slide, SourceState, Span, Symbol, SymbolKind, Syntax, SyntaxCut, SyntaxFallback, Use,
    VECTOR_DIM_LIMIT, column_name,
};
pub use kb_types::{
    EmbedError, EmbedderResolver, ModelCard, ModelFile, Pooling, Reranker, TextEmbedder,
};
pub use kb_types::{Error, PatternFault, Result};
pub use kb_types::{calendar, cell_text, escape, file_types, percent};
pub use metric::Metric;
pub use paging::{
    ANSWER_LIMIT_BYTES, Cursor, ListScope, PageOptions, Paged, TOKEN_BYTES, TOKENS_LIMIT,
};
pub use progress::{Hook, Progress, Stage};
pub use resolve::NameMatch;
pub use search::{
    Bonus, CONTEXT_LIMIT_CHARS, CONTEXT_LIMIT_LINES, Calibration, ContextLines, Correction,
    Explanation, FACETS_LIMIT, FacetCounts, Filters, FoundSymbol, Hit, HitSymbol, K_LIMIT,
    LINE_BYTES, Mode, QUERY_LIMIT_BYTES, RELEVANT_SCORE, RERANK_LIMIT, RERANK_TOP, Relevance,
    RelevanceSignals, Request, Rerank, Response, Scope, Show, Sort, Step, SymbolRelation,
    SymbolsRequest, SymbolsResponse, THREADS_LIMIT, TermScore, TermStatistics, TextContext,
    install_models, install_reranker, shown_score,
};
#[cfg(feature = "regex")]
pub use search::{
    PATTERN_LIMIT_BYTES, RegexMatch, RegexOutput, RegexRequest, RegexResponse, SHOWN_LINE_BYTES,
};
pub use store::fields::{FieldValue, give_fields};

/// What the section on threads promises holds in every build.
const _: () = {
    const fn is_send<T: Send>() {}
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Kb>();
    is_send_and_sync::<Error>();
    is_send_and_sync::<Request>();
    is_send_and_sync::<Response>();
    #[cfg(feature = "ingest")]
    is_send::<KbWriter>();
};

/// The Rust of the README is compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
