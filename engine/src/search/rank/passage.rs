//! What one hit stands for.

use std::ops::Range;

use kb_types::{DocumentId, Lines, Span};

use crate::search::rank::scored::Scored;

/// What one hit stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Passage {
    /// Its best chunk with its scores.
    pub(crate) best: Scored,
    /// Rows of the passage, in the segment of the best chunk; empty for a document without text.
    pub(crate) rows: Range<u32>,
    /// The document, where it is known; else the rows tell it.
    pub(crate) document: Option<DocumentId>,
    /// Number of candidates that it stands for.
    pub(crate) matches: u32,
    /// The symbol that it is, all of whose text is in the rows; with it, it is not the text of the rows.
    pub(crate) symbol: Option<SymbolPlace>,
    /// Passages of its document that were moved behind the first ones, of which it is the last.
    pub(crate) more_in_document: u32,
    /// Other documents that have its text, or nearly the same.
    pub(crate) copied_in: Vec<(usize, DocumentId)>,
    /// What the model said that ordered the first passages anew; `None` where it did not read it.
    pub(crate) reranked: Option<f32>,
}

/// Where a symbol lies that a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SymbolPlace {
    /// First byte of what is shown: of its comment, or of its definition.
    pub(crate) start: u32,
    /// Its definition.
    pub(crate) span: Span,
    /// Lines of the definition, from 1.
    pub(crate) lines: Lines,
    /// First byte of its name.
    pub(crate) name_start: u32,
}

impl Passage {
    pub(super) fn of_chunk(best: Scored) -> Passage {
        Passage {
            rows: best.address.row..best.address.row.saturating_add(1),
            best,
            document: None,
            matches: 1,
            symbol: None,
            more_in_document: 0,
            copied_in: Vec::new(),
            reranked: None,
        }
    }
}
