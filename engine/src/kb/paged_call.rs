//! Which arguments of a call its cursors depend on.

use crate::paging::CursorScope;
use crate::types::{Lines, Span};

/// A call that returns its result page by page, with all its arguments except the page. Names are
/// resolved: two names of one document make the same call.
#[derive(Debug)]
pub(super) enum PagedCall<'a> {
    /// Entries of a folder.
    List { folder: Option<&'a str> },
    /// Documents whose paths begin with `prefix`.
    Documents { prefix: &'a str, is_recursive: bool },
    /// Chunks of a document, or those that touch a span of its text.
    Chunks { path: &'a str, span: Option<Span> },
    /// Text of a document, or some lines of it.
    Text { path: &'a str, lines: Option<Lines> },
    /// Pages of a document: first and last of each range.
    Pages { path: &'a str, ranges: &'a str },
    /// Sections of a document.
    Sections { path: &'a str },
    /// Text of one section of a document.
    Section { path: &'a str, span: Span },
}

impl PagedCall<'_> {
    /// The scope of this call to a file of that identity, at that generation of its content.
    ///
    /// The patterns name every field, so an argument that is added must be added here.
    pub(super) fn scope(&self, uuid: [u8; 16], generation: u64) -> CursorScope {
        let range = |first: u32, last: u32| format!("{first}-{last}");
        let (call, path, rest) = match *self {
            PagedCall::List { folder } => ("list", folder.unwrap_or_default(), None),
            PagedCall::Documents {
                prefix,
                is_recursive,
            } => {
                let depth = if is_recursive { "below" } else { "in" };
                ("documents", prefix, Some(depth.to_owned()))
            }
            PagedCall::Chunks { path, span } => {
                let span = span.map(|span| range(span.start, span.end));
                ("chunks", path, Some(span.unwrap_or_default()))
            }
            PagedCall::Text { path, lines } => {
                let lines = lines.map(|lines| range(lines.first, lines.last));
                ("text", path, Some(lines.unwrap_or_default()))
            }
            PagedCall::Pages { path, ranges } => ("pages", path, Some(ranges.to_owned())),
            PagedCall::Sections { path } => ("sections", path, None),
            PagedCall::Section { path, span } => {
                ("section", path, Some(range(span.start, span.end)))
            }
        };
        let arguments = [path].into_iter().chain(rest.as_deref());
        CursorScope::new(call, &[(uuid, generation)], arguments)
    }
}
