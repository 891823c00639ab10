//! What a commit holds, for reading: documents, their texts, chunks, pages and sections, folders, and
//! facts about the file. Searching is not here; nothing here writes.
//!
//! Every function reads one [`CommitView`]. [`Kb`](crate::Kb) retries it on a newer commit when the
//! one it reads is overwritten.

mod chunks;
mod commit_view;
mod diagnostics;
mod document;
mod fields;
mod folders;
mod info;
mod model;
mod number_ranges;
mod paged_call;
mod pages;
mod parts;
mod sections;
mod sizes;
#[cfg(test)]
#[cfg(feature = "ingest")]
pub(crate) mod tests;
mod text;
mod vectors;

pub use chunks::ChunkText;
pub(crate) use chunks::{chunk_spans, chunks};
pub(crate) use commit_view::CommitView;
pub use diagnostics::VectorPass;
pub(crate) use diagnostics::{read_vector_rows, sample_queries, scan_vector_rows};
pub use document::{DocumentInfo, LocatedDocument};
pub(crate) use document::{
    complete_path, document, document_at, documents_after, locate, matching,
};
pub use fields::FieldInfo;
pub(crate) use fields::fields;
pub use folders::{Entry, Folders, SkippedFile};
pub(crate) use folders::{documents, folders, list, skipped, skipped_reasons};
pub use info::{Info, Recall, RootInfo, State, UnquantisedRecall};
pub(crate) use info::{has_class, info, roots, state, symbols_pending};
pub(crate) use model::model_of;
pub use pages::{DocumentPage, DocumentPages};
pub(crate) use pages::{PageSelection, pages};
pub use parts::{DocumentParts, DocumentSlides, PartInfo, SheetData, SheetRow, SlideText};
pub(crate) use parts::{parts, sheet, slides};
pub use sections::{DocumentSections, Outline, Section};
pub(crate) use sections::{outline, section_text, sections};
pub use sizes::Sizes;
pub(crate) use sizes::sizes;
pub use text::{DocumentText, WHOLE_TEXT_LIMIT_BYTES};
pub(crate) use text::{head, text, text_paged};
pub use vectors::{ChunkPlace, ColumnRecall, VectorBlock, VectorColumn, VectorRow, Vectors};
pub(crate) use vectors::{
    chunks_in_order, live_rows, vector_columns, vector_rows, vectors, vectors_of,
};
