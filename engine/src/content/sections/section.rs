//! A section of a document.

use kb_types::{Lines, Span, SymbolKind};

/// A heading and what lies under it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Its position among the sections: `2.1` is the first one directly under the second.
    pub number: String,
    /// Depth of the heading, from 1 (the outermost) to 6; symbols may be deeper.
    pub level: u8,
    /// Text of the heading, without markup; of a symbol its label: `fn parse`.
    pub title: String,
    /// Lines of the original from the heading to the last line under it; where the text has other
    /// lines than the original (HTML), as near as its headings tell.
    pub lines: Lines,
    /// Bytes of the stored text.
    pub span: Span,
    /// Number of the page, sheet or slide in which it begins; `None` in a document without them.
    pub part: Option<u32>,
    /// Of a program, what the symbol is whose section this is; `None` for other sections.
    pub kind: Option<SymbolKind>,
    /// The name of that symbol: `parse`.
    pub name: Option<String>,
}
