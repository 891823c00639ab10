//! What a caller gets: matching lines or documents, and what was read to find them.

use std::ops::Range;

use kb_types::{Lines, PartAddress};

use crate::paging::Paged;

/// The answer to one [`RegexRequest`](crate::RegexRequest).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegexResponse {
    /// Matching lines, or documents, in the order of files, paths and lines.
    pub matches: Paged<RegexMatch>,
    /// Whether everything was searched that the cursor would not continue with; false when the search ended because
    /// of [`max_scan_bytes`](crate::RegexRequest::max_scan_bytes) or
    /// [`time_limit`](crate::RegexRequest::time_limit). There is a cursor then, even if there is no match. Also false
    /// where a line or document was left out that takes longer than the time limit; a warning names it.
    pub is_complete: bool,
    /// Bytes of text that were searched for this page.
    pub searched_bytes: u64,
    /// Bytes of text of all documents that pass the filters, an estimate by the shares of their chunks.
    pub text_bytes: u64,
    /// What the caller should know, one sentence each, without a full stop.
    pub warnings: Vec<String>,
}

/// A matching line, or a document with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegexMatch {
    /// Position of its file in the searched files; 0 where one file is searched.
    pub file: usize,
    /// Path of the document inside the .kb.
    pub document: String,
    /// Handle of the document.
    pub handle: String,
    /// File type of the document.
    pub file_type: String,
    /// The page, rows of a sheet, or slide that the line lies in; `None` in a document without them, and for a
    /// whole document.
    pub part: Option<PartAddress>,
    /// Lines of the original, from 1: first and last of what `text` was taken from; of a document whose text has
    /// other lines than its original (HTML), those that its passage was made of. Both 0 for a whole document.
    pub lines: Lines,
    /// Whether `lines` are those of the passage around the line.
    pub lines_are_of_passage: bool,
    /// The line without its end, or the part of it around the first match; with
    /// [`multi_line`](crate::RegexRequest::multi_line) several lines. Of a sheet what the cells show, with tabs
    /// between. Empty for a whole document.
    pub text: String,
    /// Whether `text` begins within a line.
    pub begins_within_line: bool,
    /// Whether `text` ends within a line.
    pub ends_within_line: bool,
    /// Byte ranges of `text` that match, ascending, without overlaps; at most 256. None for an empty match.
    pub ranges: Vec<Range<usize>>,
    /// How many lines match: 1, or as many as the document has; with
    /// [`RegexOutput::Documents`](crate::RegexOutput::Documents) 1, whatever follows.
    pub matching_lines: u64,
}

/// What the numbers and the names of the fields count in a token budget, in bytes.
const OVERHEAD_BYTES: u64 = 40;

impl RegexMatch {
    /// Bytes that it counts in a token budget: its text, path and handle, and 40.
    pub fn cost_bytes(&self) -> u64 {
        let part = self.part.as_ref().map_or(0, |part| part.name().len());
        let bytes = self.text.len() + self.document.len() + self.handle.len() + part;
        bytes as u64 + OVERHEAD_BYTES
    }
}
