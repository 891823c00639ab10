//! Plain facts that the handles give out.

use std::path::PathBuf;

use crate::error::Result;
use crate::index::vector::Codec;
use crate::paging::{Cursor, Paged};
use crate::store::documents::DocumentRecord;
use crate::store::handles;
use crate::store::meta::{RecallRecord, RootRecord};
use crate::types::{ChunkSpan, Class, Heading, Lines, Span};

/// What the .kb knows of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentInfo {
    /// Path inside the .kb.
    pub path: String,
    /// Title.
    pub title: String,
    /// Short name to pass on: words of the title, then a suffix that stays when the title changes.
    pub handle: String,
    /// Tags that people gave it, ascending.
    pub tags: Vec<String>,
    /// When it came into the file, milliseconds since 1970.
    pub added_ms: i64,
    /// File type.
    pub file_type: String,
    /// Language; empty for prose.
    pub language: String,
    /// Class.
    pub class: Class,
    /// Size of the original file in bytes.
    pub size_bytes: u64,
    /// Size of the stored text in bytes.
    pub text_bytes: u64,
    /// Lines of the original.
    pub lines: u32,
    /// Number of chunks.
    pub chunks: u32,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// blake3 of the original bytes.
    pub hash: [u8; 32],
    /// Key and value pairs that the document states about itself.
    pub metadata: Vec<(String, String)>,
    /// Another one whenever what is stored of the document is another: 16 hexadecimal digits.
    pub revision: String,
}

/// Text of a document or of some of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentText {
    /// The document.
    pub document: DocumentInfo,
    /// Lines of the original that `text` covers.
    pub lines: Lines,
    /// Whether the text has other lines than the original (HTML): `lines` are then those of the chunks
    /// it is made of.
    pub has_own_lines: bool,
    /// The text.
    pub text: String,
    /// Tokens of `text`, at 4 bytes each.
    pub tokens: u64,
    /// Whether a single character is larger than the budget.
    pub over_budget: bool,
    /// Continues the text when passed in [`PageOptions::cursor`](crate::PageOptions); `None`: it ends
    /// here.
    pub next: Option<Cursor>,
}

/// One chunk of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkText {
    /// Number in the document, from 0.
    pub index: u32,
    /// Its bytes and lines.
    pub at: ChunkSpan,
    /// Headings above it, outermost first.
    pub section: Vec<String>,
    /// Its text.
    pub text: String,
}

/// A page of a document: neighbouring chunks of about 800 tokens together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPage {
    /// Number in the document, from 1.
    pub number: u32,
    /// Its text; all pages together are the text of the document.
    pub text: String,
    /// Lines of the original that it covers.
    pub lines: Lines,
}

/// Pages of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPages {
    /// The document.
    pub document: DocumentInfo,
    /// The requested pages, in the order of the request.
    pub pages: Paged<DocumentPage>,
    /// How many pages the document has, at least 1.
    pub total: u32,
}

/// The folders of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Names of those at the top.
    pub top: Vec<String>,
    /// Paths with the number of documents at any depth below; each folder comes before those in it.
    pub paths: Vec<(String, u64)>,
    /// Whether some paths were left out, the deepest first.
    pub cut: bool,
}

/// The outline of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The document.
    pub document: DocumentInfo,
    /// Headings in reading order; empty when it has none.
    pub headings: Vec<Heading>,
}

/// A heading and what lies under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its place among the sections: `2.1` is the first one directly under the second.
    pub number: String,
    /// Depth of the heading, from 1 to 6.
    pub level: u8,
    /// The words of the heading.
    pub title: String,
    /// Lines of the original from the heading to the last line under it; where the text has other
    /// lines than the original (HTML), as near as its headings tell.
    pub lines: Lines,
    /// Bytes of the stored text.
    pub span: Span,
}

/// The sections of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSections {
    /// The document.
    pub document: DocumentInfo,
    /// In reading order; empty when it has no headings.
    pub sections: Paged<Section>,
}

/// One line of a folder listing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a listing holds documents; folders are few"
)]
pub enum Entry {
    /// A folder with what lies below it.
    Folder {
        /// Path without a trailing `/`.
        path: String,
        /// Documents below it, at any depth.
        documents: u64,
        /// Bytes of their originals.
        size_bytes: u64,
    },
    /// A document.
    Document(DocumentInfo),
}

/// A folder that was indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootInfo {
    /// Where it was on the machine that indexed it.
    pub source: String,
    /// First part of the document paths from it; empty when there is none.
    pub prefix: String,
    /// The files of that folder that were asked for; empty: the whole folder.
    pub files: Vec<String>,
    /// Git commit of that folder when it was indexed, if it lies in a work tree.
    pub git_commit: Option<String>,
    /// Git branch, likewise.
    pub git_branch: Option<String>,
}

/// How much vector search found of what looking at every chunk finds, measured when the file was
/// indexed anew or sealed.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// Questions drawn from the file.
    pub queries: u32,
    /// Nearest chunks wanted of each.
    pub k: u32,
    /// Chunks looked at in full for each.
    pub candidates: u32,
    /// Live chunks then.
    pub chunks: u64,
    /// Share of the nearest chunks that were found: 0 to 1.
    pub recall: f32,
}

/// Facts about an open .kb.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Where it was opened from; `None` for bytes in memory.
    pub path: Option<PathBuf>,
    /// Identity of the file: 32 hexadecimal digits.
    pub uuid: String,
    /// Format version: `major.minor`.
    pub format: String,
    /// When the file was made, milliseconds since 1970.
    pub created_ms: i64,
    /// When its content changed last.
    pub updated_ms: i64,
    /// Number of the commit that answers.
    pub commit: u64,
    /// Folders it was made from.
    pub roots: Vec<RootInfo>,
    /// Live documents.
    pub documents: u64,
    /// Live chunks.
    pub chunks: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of stored text.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Id of the embedding model.
    pub model: String,
    /// Dimensions of its vectors.
    pub dim: u32,
    /// How they are stored.
    pub vectors: Codec,
    /// Whether the file is so small that vector search looks at every chunk.
    pub is_exact: bool,
    /// What vector search finds; `None` where it was not measured.
    pub recall: Option<Recall>,
    /// Whether this program can reproduce that model.
    pub model_available: bool,
    /// Id of the analyser.
    pub analyser: String,
    /// Deleted chunks that a later merge or seal takes out of the file.
    pub deleted_chunks: u64,
    /// Content root of a sealed file: 64 hexadecimal digits, the same for the same documents.
    pub content_root: Option<String>,
    /// Documents by file type, most first.
    pub types: Vec<(String, u64)>,
    /// Documents by language, most first.
    pub languages: Vec<(String, u64)>,
    /// Documents by class, most first.
    pub classes: Vec<(String, u64)>,
}

/// Bytes of the file by section; the parts add up to the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of stored text before compression.
    pub text_bytes: u64,
    /// Section name and bytes, in a fixed order.
    pub sections: Vec<(String, u64)>,
}

impl DocumentInfo {
    /// What a record says.
    pub(crate) fn from_record(record: DocumentRecord) -> Result<DocumentInfo> {
        Ok(DocumentInfo {
            class: record.class()?,
            revision: record.revision(),
            handle: handles::handle(&record.title, &record.path, &record.suffix),
            tags: record.tags,
            added_ms: record.added_ms,
            path: record.path,
            title: record.title,
            file_type: record.file_type,
            language: record.language,
            size_bytes: record.size_bytes,
            text_bytes: u64::from(record.text_bytes),
            lines: record.lines,
            chunks: record.rows,
            modified_ms: record.modified_ms,
            hash: record.hash,
            metadata: record.metadata,
        })
    }
}

impl Recall {
    /// What a record says.
    pub(crate) fn from_record(record: &RecallRecord) -> Recall {
        Recall {
            queries: record.queries,
            k: record.k,
            candidates: record.candidates,
            chunks: record.rows,
            recall: record.recall,
        }
    }
}

impl RootInfo {
    /// What a record says.
    pub(crate) fn from_record(record: &RootRecord) -> RootInfo {
        RootInfo {
            source: record.source.clone(),
            prefix: record.prefix.clone(),
            files: record.files.clone(),
            git_commit: record.git_commit.clone(),
            git_branch: record.git_branch.clone(),
        }
    }
}
