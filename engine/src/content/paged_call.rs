//! What paged calls have in common: which arguments their cursors depend on, and what an item costs.

use kb_types::{CellRange, Lines, Span};

use crate::content::CommitView;
use crate::paging::CursorScope;

/// Bytes that the numbers and field names of a heading, chunk or page count as in a token budget.
pub(super) const ITEM_OVERHEAD_BYTES: u64 = 40;

/// A call that returns its result page by page, with all its arguments except the page. Names are
/// resolved: two names of one document make the same call.
#[derive(Debug)]
pub(super) enum PagedCall<'a> {
    /// Entries of a folder.
    List { folder: Option<&'a str> },
    /// Documents whose paths begin with `prefix`.
    Documents {
        prefix: &'a str,
        is_recursive: bool,
        /// The condition that they pass.
        condition: Option<&'a str>,
    },
    /// Skipped files whose paths begin with `prefix`.
    Skipped { prefix: &'a str },
    /// Chunks of a document, or those that touch a span of its text.
    Chunks { path: &'a str, span: Option<Span> },
    /// Text of a document, or some lines of it.
    Text {
        path: &'a str,
        lines: Option<Lines>,
        skip_bytes: u32,
    },
    /// Pages of a document; the ranges as the caller wrote them: `1-3,5`.
    Pages { path: &'a str, ranges: &'a str },
    /// Pages, sheets or slides of a document, without their texts.
    Parts { path: &'a str },
    /// Rows of a sheet, by its number from 1, but its header; the range as it was clipped.
    Sheet {
        path: &'a str,
        number: u32,
        header_row: Option<u32>,
        range: CellRange,
    },
    /// Slides of a document; the ranges as the caller wrote them.
    Slides { path: &'a str, ranges: &'a str },
    /// Sections of a document, or one of them, by its number, and those below it.
    Sections {
        path: &'a str,
        within: Option<&'a str>,
    },
    /// Text of one section of a document.
    Section { path: &'a str, span: Span },
}

impl PagedCall<'_> {
    /// What the cursors of this call are valid for.
    ///
    /// The patterns name every field, so that an argument added to a call is added here.
    pub(super) fn scope(&self, commit: CommitView<'_>) -> CursorScope {
        let range = |first: u32, last: u32| format!("{first}-{last}");
        let (call, path, rest) = match *self {
            PagedCall::List { folder } => ("list", folder.unwrap_or_default(), None),
            PagedCall::Documents {
                prefix,
                is_recursive,
                condition,
            } => {
                let depth = if is_recursive { "below" } else { "in" };
                let condition = condition.unwrap_or_default();
                ("documents", prefix, Some(format!("{depth}{condition}")))
            }
            PagedCall::Skipped { prefix } => ("skipped", prefix, None),
            PagedCall::Chunks { path, span } => {
                let span = span.map(|span| range(span.start, span.end));
                // These names are in the hash of a cursor only. A changed one makes earlier cursors
                // invalid, as it should where offsets came to mean something else.
                ("texts of chunks", path, Some(span.unwrap_or_default()))
            }
            PagedCall::Text {
                path,
                lines,
                skip_bytes,
            } => {
                let lines = lines.map(|lines| range(lines.first, lines.last));
                let lines = lines.unwrap_or_default();
                ("text", path, Some(format!("{lines}+{skip_bytes}")))
            }
            PagedCall::Pages { path, ranges } => ("texts of pages", path, Some(ranges.to_owned())),
            PagedCall::Parts { path } => ("parts", path, None),
            PagedCall::Sheet {
                path,
                number,
                header_row,
                range,
            } => {
                let header_row = header_row.unwrap_or(0);
                ("rows", path, Some(format!("{number} {header_row} {range}")))
            }
            PagedCall::Slides { path, ranges } => ("slides", path, Some(ranges.to_owned())),
            PagedCall::Sections { path, within } => ("sections", path, within.map(str::to_owned)),
            PagedCall::Section { path, span } => {
                ("section", path, Some(range(span.start, span.end)))
            }
        };
        let file = (commit.uuid, commit.catalog.manifest.generation);
        let arguments = [path].into_iter().chain(rest.as_deref());
        CursorScope::new(call, &[file], arguments)
    }
}
