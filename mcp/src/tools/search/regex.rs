//! `search` with mode=regex: matching lines, or documents with one, in the shape of the other modes.

use std::sync::Arc;
use std::time::Duration;

use kb_engine::{
    Cursor, DocumentInfo, Hit, Lines, RegexMatch, RegexOutput, RegexRequest, RegexResponse,
};

use crate::indexes::{Index, look_at_sources};
use crate::response::ToolError;
use crate::tools::call::coerce::invalid;
use crate::tools::call::context::Context;
use crate::tools::search_regex;

/// Longest search of one call; what is left has a continuation token.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Bytes of a line that are shown, around its first match.
const LINE_BYTES: usize = 500;

/// Lines before and after a match that its context is taken from.
const CONTEXT_LINES: u32 = 3;

/// Characters of the text before and after each result.
pub(super) const CONTEXT_CHARS: usize = 100;

/// Matches as the hits of other modes are.
pub(super) struct Matches {
    pub(super) hits: Vec<Hit>,
    pub(super) tokens: u64,
    /// Where it goes on.
    pub(super) next: Option<Cursor>,
    pub(super) is_complete: bool,
    pub(super) warnings: Vec<String>,
}

/// A request for `k` lines, or documents, that match.
pub(super) fn request(pattern: &str, by_document: bool, k: usize) -> RegexRequest {
    RegexRequest::new(pattern)
        .k(k)
        .max_line_bytes(LINE_BYTES)
        .time_limit(TIME_LIMIT)
        .output(if by_document {
            RegexOutput::Documents
        } else {
            RegexOutput::Lines
        })
}

/// What matches; a document has its first match.
pub(super) fn find(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &RegexRequest,
) -> Result<Matches, ToolError> {
    if request.pattern.trim().is_empty() {
        return Err(invalid("query", "it is empty; give a regular expression"));
    }
    let response = search_regex::ask(cx, indexes, request).map_err(of_search)?;
    let mut hits = Vec::with_capacity(response.matches.len());
    for found in response.matches.iter() {
        let line = match request.output {
            RegexOutput::Documents => first_line(cx, indexes, request, found)?,
            _ => None,
        };
        hits.push(hit(indexes, line.as_ref().unwrap_or(found))?);
    }
    look_at_sources(indexes, &mut hits);
    Ok(Matches {
        hits,
        tokens: response.matches.tokens,
        next: response.matches.next,
        is_complete: response.is_complete,
        warnings: response.warnings,
    })
}

/// Arguments that an error advises are those of another tool.
fn of_search(mut error: ToolError) -> ToolError {
    if error.code == "INVALID_REGEX"
        && let Some(hint) = &mut error.hint
    {
        hint.push_str("; search_regex has these arguments");
        error.sentence = error.sentence.replacen("pattern", "query", 1);
    }
    error
}

fn first_line(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &RegexRequest,
    found: &RegexMatch,
) -> Result<Option<RegexMatch>, ToolError> {
    let Some(index) = indexes.get(found.file) else {
        return Ok(None);
    };
    let mut request = request.clone().output(RegexOutput::Lines).k(1);
    request.documents = vec![found.document.clone()];
    request.page = cx.page(u32::from(u16::MAX), None);
    let alone = [Arc::clone(index)];
    let response: RegexResponse = search_regex::ask(cx, &alone, &request)?;
    let line = response.matches.into_iter().next();
    Ok(line.map(|mut line| {
        line.file = found.file;
        line
    }))
}

/// A match as the hits of other modes are.
fn hit(indexes: &[Arc<Index>], found: &RegexMatch) -> Result<Hit, ToolError> {
    let mut hit = Hit::of_text(&*found.document, &*found.text);
    hit.file = found.file;
    hit.score = 1.0;
    hit.lines = found.lines;
    hit.part.clone_from(&found.part);
    hit.begins_within_line = found.begins_within_line;
    hit.ends_within_line = found.ends_within_line;
    let Some(index) = indexes.get(found.file) else {
        return Ok(hit);
    };
    let document = index.kb().document(&found.document);
    let document = document.map_err(|error| index.failure(error))?;
    if !found.lines_are_of_passage && found.lines.first > 0 {
        (hit.before, hit.after) = around(index, &document, found.lines)?;
    }
    hit.handle = document.handle;
    hit.title = document.title;
    hit.file_type = document.file_type;
    hit.language = document.language;
    hit.tags = document.tags;
    hit.metadata = document.metadata;
    hit.modified_ms = document.modified_ms;
    hit.size_bytes = document.size_bytes;
    Ok(hit)
}

/// Some characters before and after lines of a document.
fn around(
    index: &Index,
    document: &DocumentInfo,
    lines: Lines,
) -> Result<(String, String), ToolError> {
    let text = |first: u32, last: u32| {
        if first > last || first > document.lines {
            return Ok(String::new());
        }
        let read = index.kb().text(&document.path, Some(Lines { first, last }));
        read.map(|read| read.text)
            .map_err(|error| index.failure(error))
    };
    let first = lines.first.saturating_sub(CONTEXT_LINES).max(1);
    let before = text(first, lines.first.saturating_sub(1))?;
    let next = lines.last.saturating_add(1);
    let after = text(next, next.saturating_add(CONTEXT_LINES - 1))?;
    let start = before.char_indices().rev().nth(CONTEXT_CHARS - 1);
    let before = before.get(start.map_or(0, |(at, _)| at)..);
    let end = after.char_indices().nth(CONTEXT_CHARS);
    let after = after.get(..end.map_or(after.len(), |(at, _)| at));
    Ok((
        before.unwrap_or_default().to_owned(),
        after.unwrap_or_default().to_owned(),
    ))
}
