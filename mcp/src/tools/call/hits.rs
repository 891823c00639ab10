//! Shared by the search tools: searching several files as one, warnings, and the fields of a hit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use kb_engine::{
    Correction, Hit, Relevance, Request, Response, Show, search_files_with, shown_score,
};

use super::context::{Context, non_empty};
use super::stale;
use crate::indexes::{Index, look_at_sources, together};
use crate::response::{Text, ToolError, uri, wording};

/// Copies of a result that are named.
const NAMED_COPIES: usize = 10;

/// Most bytes of their paths together, as they are shown.
// A path or two; the least budget, 100 tokens, has 500 bytes for all of a result.
const NAMED_COPIES_BYTES: usize = 80;

/// Most lines of a result that are shown, unless the caller wants whole passages; the default budget has room
/// for about 20 of each of five.
pub(in crate::tools) const SHOWN_LINES: u32 = 40;

/// A text of so few bytes gets no shorter with a smaller budget.
const LEAST_TEXT_BYTES: usize = 60;

/// Results, and lines of each, where nothing is relevant.
const IRRELEVANT_RESULTS: usize = 3;
const IRRELEVANT_LINES: u32 = 3;

/// Sets what is shown of each result: whole passages, or the best lines of each chunk, because the lines of
/// neighbours that are joined would leave out what the others have; short previews where nothing is relevant.
pub(in crate::tools) fn show(request: &mut Request, full: bool) {
    request.join = full;
    request.show = Show::up_to_lines((!full).then_some(SHOWN_LINES));
    request.previews = Some((IRRELEVANT_RESULTS, IRRELEVANT_LINES));
}

/// Whether a smaller budget gives less: fewer results, or of the only one fewer lines, which `request` then asks
/// for in place of a whole passage and what is around it.
pub(in crate::tools) fn shrink(request: &mut Request, response: &Response) -> bool {
    let [only] = response.hits.items.as_slice() else {
        return response.hits.len() > 1;
    };
    let has_context = !only.before.is_empty() || !only.after.is_empty();
    request.show = match request.show {
        Show::Lines(lines, _) => Show::lines(lines),
        _ => Show::lines(SHOWN_LINES),
    };
    has_context || only.text.len() > LEAST_TEXT_BYTES
}

/// The facts about a document that only the first of its hits has; `None` for the others.
pub(in crate::tools) fn first_of_document(hits: &[Hit], number: usize) -> Option<&Hit> {
    let hit = hits.get(number)?;
    let is_same = |other: &Hit| other.file == hit.file && other.document == hit.document;
    let before = hits.get(..number).unwrap_or_default();
    (!before.iter().any(is_same)).then_some(hit)
}

/// Searches the files as if they were one, until the call is cancelled. Of several, those that cannot
/// be read are left out with a warning. The files of all hits are looked at: whether they are stale.
pub(in crate::tools) fn ask(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &Request,
) -> Result<Response, ToolError> {
    let mut response = ask_stored(cx, indexes, request)?;
    look_at_sources(indexes, &mut response.hits.items);
    Ok(response)
}

fn ask_stored(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &Request,
) -> Result<Response, ToolError> {
    let request = &request.clone().threads(cx.indexes.threads());
    let mut alone = request.clone();
    alone.page.cursor = None;
    let mut warnings = Vec::new();
    let (mut response, numbers) = together(indexes, &mut warnings, |files, is_alone| {
        let request = if is_alone { &alone } else { request };
        search_files_with(files, request, &mut cx.hook())
    })?;
    for hit in &mut response.hits.items {
        hit.file = numbers.get(hit.file).copied().unwrap_or(hit.file);
    }
    response.warnings.extend(warnings);
    Ok(response)
}

/// Smaller budgets have room for text or for the facts about documents.
const FACTS_LEAST_TOKENS: u32 = 400;

/// Whether a result within that budget has the facts about its documents, except their titles.
pub(in crate::tools) fn has_facts(max_tokens: u32) -> bool {
    max_tokens >= FACTS_LEAST_TOKENS
}

/// Name of the index that a hit comes from, where several are searched.
pub(in crate::tools) fn index_shown<'i>(indexes: &'i [Arc<Index>], hit: &Hit) -> Option<&'i str> {
    let name = index_of(indexes, hit);
    (indexes.len() > 1).then_some(name).and_then(non_empty)
}

/// Name of the index that a hit comes from.
pub(in crate::tools) fn index_of<'i>(indexes: &'i [Arc<Index>], hit: &Hit) -> &'i str {
    indexes.get(hit.file).map_or("", |index| index.name())
}

/// Address of the document of a hit.
pub(in crate::tools) fn uri_of(indexes: &[Arc<Index>], hit: &Hit) -> String {
    uri::of_document(index_of(indexes, hit), &hit.document)
}

/// A word of the query that was replaced.
#[derive(Serialize, JsonSchema)]
pub(in crate::tools) struct Corrected<'a> {
    from: &'a str,
    /// What was searched.
    to: &'a str,
}

/// The words that were replaced; `None` without any.
pub(in crate::tools) fn corrections(corrections: &[Correction]) -> Option<Vec<Corrected<'_>>> {
    let corrections = corrections.iter().map(|it| Corrected {
        from: &it.from,
        to: &it.to,
    });
    (corrections.len() > 0).then(|| corrections.collect())
}

/// The identifiers that no document has; `None` without any.
pub(in crate::tools) fn missing(missing: &[String]) -> Option<&[String]> {
    (!missing.is_empty()).then_some(missing)
}

/// A score as it is shown: four digits after the point, in both forms.
pub(in crate::tools) fn score(score: f32) -> f64 {
    shown_score(score.clamp(0.0, 1.0), 4)
}

/// The warnings of a search: about ignored arguments, from the engine, whether the files contain
/// anything relevant, and whether they are out of date.
pub(in crate::tools) fn warnings(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Vec<String> {
    let mut warnings = cx.warnings.clone();
    warnings.extend(response.warnings.iter().cloned());
    // Where nothing was searched, another warning says why.
    if response.relevance == Relevance::NothingRelevant && response.searched_chunks > 0 {
        let they_contain = subject(indexes, "contain");
        let nothing = format!("NOTHING_RELEVANT: {they_contain} nothing relevant to the query");
        warnings.push(if response.hits.is_empty() {
            format!("{nothing}.")
        } else {
            format!("{nothing}; these are the nearest passages.")
        });
    }
    let is_none = response.hits.is_empty() || response.relevance == Relevance::NothingRelevant;
    warnings.extend(stale::warnings(indexes, response, is_none));
    warnings
}

/// Indexes and their verb, given as for several: `a holds`, `a and b hold`.
fn subject(indexes: &[Arc<Index>], verb: &str) -> String {
    let ending = if indexes.len() == 1 { "s" } else { "" };
    format!("{} {verb}{ending}", names(indexes))
}

/// Their names, as in a sentence.
pub(in crate::tools) fn names(indexes: &[Arc<Index>]) -> String {
    wording::all_of(&name_list(indexes))
}

/// Their names.
pub(in crate::tools) fn name_list(indexes: &[Arc<Index>]) -> Vec<&str> {
    indexes.iter().map(|index| index.name()).collect()
}

/// The error for indexes that hold nothing of what a tool searches.
pub(in crate::tools) fn holds_none(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    code: &'static str,
    what: &str,
    other_tool: &str,
) -> ToolError {
    let sentence = format!("{} no {what}", subject(indexes, "contain"));
    let hint = if cx.indexes.allow_write() && cx.may_write {
        "Index some with index_codebase, or `kb index FOLDER` on the command line".to_owned()
    } else {
        format!(
            "{other_tool} searches the existing documents; the operator of this server can index more with `kb index FOLDER`"
        )
    };
    ToolError::new(code, sentence).with_hint(hint)
}

/// How many results there are, in a sentence.
pub(in crate::tools) fn count(response: &Response) -> String {
    let results = wording::count(response.hits.len() as u64, "result");
    format!("{results}.")
}

/// What leads to the continuation token of a list; `is_cut`: whether it ends because of `max_tokens`.
pub(in crate::tools) fn lead(is_cut: bool) -> &'static str {
    if is_cut {
        "Cut at max_tokens"
    } else {
        "There is more"
    }
}

/// The lines of a result whose first line has its page, sheet or slide instead.
pub(in crate::tools) fn lines_beside(hit: &Hit) -> String {
    match (&hit.part, hit.lines.first) {
        (None, _) | (_, 0) => String::new(),
        (Some(_), first) => format!("{first}-{}", hit.lines.last),
    }
}

/// The copies of a result that it names: no more than help to choose one, and none that takes the place of the result in a
/// small budget.
pub(in crate::tools) fn copy_paths(hit: &Hit) -> Option<&[String]> {
    let mut bytes = 0;
    let fits = |path: &&String| {
        bytes += path.escape_debug().map(char::len_utf8).sum::<usize>();
        bytes <= NAMED_COPIES_BYTES
    };
    let named = hit.copy_paths.iter().take(NAMED_COPIES);
    let named = named.take_while(fits).count();
    (hit.copies > 0).then_some(hit.copy_paths.get(..named).unwrap_or_default())
}

/// The first line of a result: `1. path:3-9  score 0.87  Title`, of a document with parts
/// `1. report.pdf p. 4  score 0.87  Title`.
pub(in crate::tools) fn first_line(text: &mut Text, number: usize, hit: &Hit) {
    let title = match hit.title.as_str() {
        "" => String::new(),
        title => format!("  {title}"),
    };
    let number = number + 1;
    // A document without text has no lines.
    let lines = match (&hit.part, hit.lines.first) {
        (Some(part), _) => format!(" {part}"),
        (None, 0) => String::new(),
        (None, first) => format!(":{first}-{}", hit.lines.last),
    };
    let score = score(hit.score);
    let path = &hit.document;
    let stale = match hit.source_state.stale() {
        None => String::new(),
        Some(state) => format!("  STALE: {state} after it was indexed"),
    };
    let more = match hit.more_in_document {
        0 => String::new(),
        more => format!("  {more} more in this document"),
    };
    let named = copy_paths(hit).map_or(0, <[String]>::len);
    let copies = match hit.copies_note(named) {
        None => String::new(),
        Some(copies) => format!("  {copies}"),
    };
    text.line(format!(
        "{number}. {path}{lines}  score {score:?}{title}{stale}{more}{copies}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn searches_use_as_many_threads_as_the_server_may() {
        let fixture = Fixture::guides();
        let cancel = Arc::default();
        let request = Request::new("mending sails").explain(true);
        let ask_with = |threads| {
            let indexes = fixture.with_threads(threads);
            let files = indexes.list().to_vec();
            let response = ask(&Context::for_test(&indexes, &cancel), &files, &request).unwrap();
            let steps = response.explanation.unwrap().steps;
            let at_once = steps.iter().any(|step| step.name == "keyword and vector");
            let hits = response.hits.iter();
            (at_once, hits.map(|hit| hit.document.clone()).collect())
        };
        let (at_once, one): (bool, Vec<String>) = ask_with(1);
        assert!(!at_once && !one.is_empty());
        assert_eq!(ask_with(2), (true, one));
    }

    #[test]
    fn scores_are_shown_with_four_digits() {
        assert_eq!(score(0.92), 0.92);
        assert_eq!(score(0.123_456), 0.1234, "what is shown passes min_score");
        assert_eq!(score(1.000_001), 1.0);
        assert_eq!(score(-0.1), 0.0);
    }
}
