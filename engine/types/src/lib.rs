//! Plain data of .kb files: documents with their headings, parts and symbols, ids, spans and lines; the
//! table of file types; rows of sheets as text; dates; and the errors of all crates of .kb.
//!
//! Nothing here reads or writes a file. `kb-extract` makes a [`Document`] of the bytes of a file,
//! `kb-engine` stores and searches it.

use std::fmt;

pub mod calendar;
mod cell_range;
pub mod cell_text;
mod edit_distance;
pub mod embedding;
pub mod error;
pub mod escape;
pub mod file_types;
#[cfg(all(unix, feature = "testing"))]
#[doc(hidden)]
pub mod growth;
pub mod link;
mod name_pattern;
pub mod part;
mod part_address;
pub mod percent;
pub mod role;
pub mod sections;
mod span;
pub mod syntax;

pub use cell_range::{CellRange, column_name, column_number};
pub use edit_distance::edit_distance;
pub use embedding::{
    EmbedError, EmbedderResolver, ModelCard, ModelFile, Pooling, Reranker, TextEmbedder,
};
pub use error::{Error, PatternFault, Result};
pub use name_pattern::NamePattern;
pub use part::{Page, PageSource, Part, PartContent, PartKind, Sheet, Slide};
pub use part_address::PartAddress;
pub use role::Role;
pub use span::line_ends;
pub use span::{Lines, Span};
pub use syntax::{Symbol, SymbolKind, Syntax, SyntaxCut, SyntaxFallback, Use};

/// Number of a document in one file. It is never reused; the stable name of a document is its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u32);

/// Number of a segment in one file. It is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

/// Name of the column of the vectors that the built-in model makes.
pub const BUILT_IN_VECTORS: &str = "built-in";

/// Most dimensions of a vector of a column that is imported.
// The widest common embeddings have 4,096. The format allows 8,192 (`DIM_LIMIT` of the vector
// index).
pub const VECTOR_DIM_LIMIT: u32 = 4096;

/// Address of a chunk: a row of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId {
    /// The segment that holds the chunk.
    pub segment: SegmentId,
    /// Row within the segment, from 0.
    pub row: u32,
}

/// Whether the original of a document is as it was when it was indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// Not compared, or not comparable: an upload, a sealed file, a folder that is not on this machine or
    /// does not answer.
    #[default]
    Unknown,
    /// Size and time, or the content, are those that were indexed.
    Unchanged,
    /// It has other content, or, above 16 MiB, the same size and another time.
    Changed,
    /// No regular file is there any more.
    Deleted,
}

impl SourceState {
    /// `changed` or `deleted` where the indexed text may be out of date; else `None`.
    pub fn stale(self) -> Option<&'static str> {
        match self {
            SourceState::Changed => Some("changed"),
            SourceState::Deleted => Some("deleted"),
            SourceState::Unknown | SourceState::Unchanged => None,
        }
    }
}

/// What a document contains, decided by its file type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// Program source.
    Code = 1,
    /// Prose.
    Doc = 2,
    /// Tables, configuration, anything else.
    Data = 3,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 3] = [Class::Code, Class::Doc, Class::Data];

    /// The name used in filters and output.
    pub fn name(self) -> &'static str {
        match self {
            Class::Code => "code",
            Class::Doc => "doc",
            Class::Data => "data",
        }
    }

    /// The class with that name.
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The class with that number in a file.
    pub fn from_number(number: u8) -> Option<Class> {
        Class::ALL.into_iter().find(|class| *class as u8 == number)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One heading of a document: a node of its outline, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Depth, from 1 (the outermost) to 6; that of symbols has no limit.
    pub level: u8,
    /// Text of the heading, without markup; the label of a symbol.
    pub title: String,
    /// First byte of the heading in the stored text.
    pub start: u32,
    /// Line of the heading in the original file, from 1.
    pub line: u32,
    /// Of a program: the symbol whose section it is. `None` for headings of texts.
    pub symbol: Option<HeadingSymbol>,
}

/// What the outline of a program says of a symbol beside its label. Other sections go on to the next heading of their
/// level or above; that of a symbol ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadingSymbol {
    /// What the symbol is.
    pub kind: SymbolKind,
    /// First byte behind it in the stored text.
    pub end: u32,
    /// Its last line in the original file.
    pub last_line: u32,
    /// Bytes of its name, with which its label ends.
    pub name_bytes: u32,
}

/// A file as text and structure: what extraction returns and the writer stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Path inside the .kb, its stable name: folders and file name separated by `/`, NFC.
    pub path: String,
    /// Title; the file name when the document names none.
    pub title: String,
    /// File type in lower case: `markdown`, `rust`, `html`, `text`.
    pub file_type: String,
    /// Programming or markup language, if the text is one: `rust`, `python`; empty for prose.
    pub language: String,
    /// Code, prose or data.
    pub class: Class,
    /// The stored text, UTF-8.
    pub text: String,
    /// Headings in reading order. Where `syntax` has symbols, they are stored instead.
    pub outline: Vec<Heading>,
    /// Original line of each line of `text`, if they differ; empty: line n of the text is line n of
    /// the original.
    pub line_numbers: Vec<u32>,
    /// Its pages, sheets or slides; none for a text that has no such parts.
    pub parts: Vec<Part>,
    /// Key and value pairs that the document states about itself: author, date.
    pub metadata: Vec<(String, String)>,
    /// The structure of a program. It decides where the text is cut; its symbols are stored.
    pub syntax: Syntax,
}

/// Where a chunk is: the unit of a document that is indexed and scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSpan {
    /// Bytes of the stored text.
    pub span: Span,
    /// Lines of the original file.
    pub lines: Lines,
}
