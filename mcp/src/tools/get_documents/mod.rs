//! `get_documents`: several documents, or lines of them, at once.

use std::sync::Arc;

use kb_engine::{Error, Kb, LeftOut, LeftOutReason, Lines, NamedText, Texts, percent, read_texts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::Context;
use super::call::hits;
use super::call::lines::{first_number, line, source};
use super::call::params::IndexName;
use super::call::tool::Tool;
use super::call::{resolve, stale};
use crate::indexes::{Index, Selection};
use crate::limits::DOCUMENT_LIMIT;
use crate::response::envelope::TOKENS_LIMIT;
use crate::response::uri::{self, Part};
use crate::response::{Text, ToolError, ToolResponse, Warnings, cut, wording};

/// Most names in one call.
const NAMES_LIMIT: usize = 50;

/// Most documents that the names of one call stand for.
const DOCUMENTS_LIMIT: usize = 200;

/// Most names that a result says are left out; a warning counts the others.
const LEFT_OUT_LIMIT: usize = 20;

/// Bytes that these names may take for each token of the budget: of the 5 that each form has, 4 are for
/// the texts.
const LEFT_OUT_BYTES_PER_TOKEN: usize = 1;

/// Bytes of the larger form of such a name, besides the name and the reason.
const NOT_READ_FRAME_BYTES: usize = 45;

/// Most warnings about documents that changed since they were indexed; one where there is little room.
const STALE_LIMIT: usize = 3;

/// Characters of a name that is left out: as much as can be passed on again, of most.
const NAME_SHOWN: usize = 300;

/// Characters that make a name that no document has a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

pub(super) struct GetDocuments;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentsParams {
    /// Paths, handles, kb:// URIs or globs such as docs/*.md, each also with lines: path:A-B.
    #[schemars(length(max = NAMES_LIMIT))]
    documents: Vec<Name>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: BatchTokens,
}

/// 4 bytes each.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct BatchTokens(#[schemars(range(min = 1, max = TOKENS_LIMIT))] u32);

impl Default for BatchTokens {
    fn default() -> BatchTokens {
        BatchTokens(8000)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Name(#[schemars(length(max = DOCUMENT_LIMIT))] String);

#[derive(Serialize, JsonSchema)]
pub(super) struct Documents<'a> {
    /// In the order of the names.
    documents: Vec<Document<'a>>,
    /// Names without a text.
    left_out: Option<Vec<NotRead>>,
    token_count: u64,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    document_id: &'a str,
    #[schemars(default)]
    index_name: &'a str,
    // With `max_tokens` of 400 or more.
    uri: Option<String>,
    content: &'a str,
    /// Line of the original that content begins with; of HTML approximate.
    start_line: Option<u32>,
    end_line: Option<u32>,
    #[schemars(default)]
    total_lines: u32,
    /// Where content was cut: the name of the rest.
    rest: Option<&'a str>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct NotRead {
    document: String,
    /// OVER_BUDGET, or an error.
    reason: String,
    /// Tokens of the text, where it is larger than what was left of the budget.
    tokens: Option<u64>,
}

impl Tool for GetDocuments {
    const NAME: &'static str = "get_documents";
    const TITLE: &'static str = "Get several documents";
    const DESCRIPTION: &'static str = "Read several documents, or lines of them, in one call. left_out \
        names what does not fit into max_tokens or is not found.";

    type Params = GetDocumentsParams;
    type Output = Documents<'static>;

    fn run(cx: &Context<'_>, params: &GetDocumentsParams) -> Result<ToolResponse, ToolError> {
        if params.documents.is_empty() {
            return Err(
                ToolError::new("INVALID_ARGUMENT", "documents: the list is empty")
                    .with_fact("argument", "documents"),
            );
        }
        let targets = Targets::of(cx, params)?;
        let names: Vec<(&Kb, &str, Option<Lines>)> = targets
            .found
            .iter()
            .map(|target| {
                (
                    target.index.kb(),
                    target.selection.name.as_str(),
                    target.selection.lines,
                )
            })
            .collect();
        budget::fit(params.max_tokens.0, |budget| {
            let read = read_texts(&names, budget)?;
            let is_one = read.texts.len() == 1;
            Ok(Attempt {
                // Of a single text less may fit, and then it is cut.
                can_shrink: read.texts.len() > 1
                    || is_one && read.texts.iter().any(|one| one.text.text.len() > 1),
                tokens: read.tokens,
                response: respond(cx, &targets, read, params.max_tokens.0),
            })
        })
    }
}

/// A document that a call reads.
struct Target {
    index: Arc<Index>,
    selection: Selection,
}

/// What the names of a call stand for.
#[derive(Default)]
struct Targets {
    /// Each once, in the order of the names.
    found: Vec<Target>,
    /// Names that stand for nothing.
    missing: Vec<NotRead>,
    /// Documents of globs beyond [`DOCUMENTS_LIMIT`].
    more: u64,
}

impl Targets {
    fn of(cx: &Context<'_>, params: &GetDocumentsParams) -> Result<Targets, ToolError> {
        let index_name = params.index_name.as_deref();
        let mut targets = Targets::default();
        for Name(name) in &params.documents {
            match cx.indexes.document(index_name, name) {
                Ok(located) => targets.add(&located.index, located.selection()),
                Err(error) if error.code == "DOCUMENT_NOT_FOUND" && name.contains(GLOB) => {
                    let before = (targets.found.len(), targets.more);
                    let (of_address, glob) = glob_of(name);
                    let index_name = of_address.as_deref().or(index_name);
                    for index in resolve::all(cx, index_name)? {
                        let matching = index.kb().matching(&glob, DOCUMENTS_LIMIT);
                        let (paths, count) = match matching {
                            Err(error @ Error::InvalidArgument { .. }) => {
                                targets.missing.push(NotRead::failed(name, &error.into()));
                                break;
                            }
                            matching => matching.map_err(|error| index.failure(error))?,
                        };
                        targets.more += count - paths.len() as u64;
                        for name in paths {
                            let found = index.kb().locate(&name);
                            let found = found.map_err(|error| index.failure(error))?;
                            let path = &found.document.path;
                            let selected = Selection::new(path, found.lines, found.skip_bytes);
                            targets.add(&index, selected);
                        }
                    }
                    let is_known = targets
                        .missing
                        .iter()
                        .any(|one| one.document == cut(name, NAME_SHOWN));
                    if before == (targets.found.len(), targets.more) && !is_known {
                        targets.missing.push(NotRead {
                            document: cut(name, NAME_SHOWN).into_owned(),
                            reason: "NO_MATCH: no document matches this glob".to_owned(),
                            tokens: None,
                        });
                    }
                }
                // Nothing that another name could mend.
                Err(error) if error.code == "INDEX_NOT_FOUND" && index_name.is_some() => {
                    return Err(error);
                }
                Err(error) => targets.missing.push(NotRead::failed(name, &error)),
            }
        }
        Ok(targets)
    }

    fn add(&mut self, index: &Arc<Index>, selection: Selection) {
        let is_there =
            |target: &Target| target.selection == selection && Arc::ptr_eq(&target.index, index);
        if self.found.iter().any(is_there) {
            return;
        }
        if self.found.len() >= DOCUMENTS_LIMIT {
            self.more += 1;
            return;
        }
        self.found.push(Target {
            index: Arc::clone(index),
            selection,
        });
    }
}

/// The index and the glob over its paths that an address stands for, as `kb://notes/doc/*.md` or, without the
/// kind, `kb://notes/*.md`; any other name is the glob.
fn glob_of(name: &str) -> (Option<String>, String) {
    if let Some(uri) = uri::parse(name) {
        let glob = match uri.part {
            Part::Lines(first, last) => {
                format!("{}:{}", uri.path, Lines { first, last }.range_text())
            }
            _ => uri.path,
        };
        return (Some(uri.index), glob);
    }
    let address = name.strip_prefix("kb://").and_then(|it| it.split_once('/'));
    match address.and_then(|(index, glob)| Some((percent::decode(index)?, glob))) {
        Some((index, glob)) => (Some(index), glob.to_owned()),
        None => (None, name.to_owned()),
    }
}

impl NotRead {
    fn failed(name: &str, error: &ToolError) -> NotRead {
        NotRead {
            document: cut(name, NAME_SHOWN).into_owned(),
            reason: error.text(),
            tokens: None,
        }
    }
}

/// As many as there is room for in a small share of the budget, and how many others there are. Where a
/// reason is too long its code stands alone.
fn named(left_out: Vec<NotRead>, max_tokens: u32) -> (Vec<NotRead>, usize) {
    let count = left_out.len();
    let room = usize::try_from(max_tokens).unwrap_or(usize::MAX);
    let mut room = room.saturating_mul(LEFT_OUT_BYTES_PER_TOKEN);
    let mut named: Vec<NotRead> = Vec::new();
    for mut left in left_out {
        let takes = |left: &NotRead| left.document.len() + left.reason.len() + NOT_READ_FRAME_BYTES;
        if takes(&left) > room
            && let Some(end) = left.reason.find(':')
        {
            left.reason.truncate(end);
        }
        if takes(&left) > room || named.len() == LEFT_OUT_LIMIT {
            break;
        }
        room -= takes(&left);
        named.push(left);
    }
    let others = count - named.len();
    (named, others)
}

fn respond(cx: &Context<'_>, targets: &Targets, read: Texts, max_tokens: u32) -> ToolResponse {
    let has_facts = hits::has_facts(max_tokens);
    let mut warnings = cx.warnings.clone();
    let not_read = read.left_out.into_iter();
    let not_read = not_read.filter_map(|left| not_read_of(targets, left));
    let missing = targets.missing.iter().cloned();
    let (left_out, others) = named(missing.chain(not_read).collect(), max_tokens);
    let more = targets.more + others as u64;
    if more > 0 {
        warnings.push(format!(
            "{more} more documents were left out and are not listed here"
        ));
    }
    let stale = read.texts.iter().filter_map(|named| {
        let target = targets.found.get(named.position)?;
        stale::of_document(&target.index, &named.text.document)
    });
    warnings.extend(stale.take(if has_facts { STALE_LIMIT } else { 1 }));
    let documents: Vec<Document<'_>> = read
        .texts
        .iter()
        .filter_map(|named| document(targets, named, has_facts))
        .collect();
    let mut text = Text::new();
    text.warnings(&warnings);
    for (document, named) in documents.iter().zip(&read.texts) {
        let (info, lines) = (&named.text.document, named.text.lines);
        let uri = document.uri.as_deref().map(|uri| format!("  {uri}"));
        text.line(format!(
            "{} of {}  index {}{}",
            source(document.document_id, lines),
            wording::count(document.total_lines.into(), "line"),
            document.index_name,
            uri.unwrap_or_default()
        ));
        text.lines(document.content, first_number(info, lines));
        if let Some(rest) = &document.rest {
            text.line(format!("Cut; the rest is {rest}"));
        }
    }
    for left in &left_out {
        let tokens = left.tokens.map(|tokens| format!(" ({tokens} tokens)"));
        text.line(format!(
            "Left out: {}  {}{}",
            left.document,
            left.reason,
            tokens.unwrap_or_default()
        ));
    }
    let count = documents.len();
    let plural = if count == 1 { "" } else { "s" };
    text.line(format!("{count} document{plural}, {} tokens.", read.tokens));
    let result = Documents {
        documents,
        left_out: (!left_out.is_empty()).then_some(left_out),
        token_count: read.tokens,
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.end())
}

fn document<'a>(
    targets: &'a Targets,
    named: &'a NamedText,
    has_facts: bool,
) -> Option<Document<'a>> {
    let target = targets.found.get(named.position)?;
    let (info, lines) = (&named.text.document, named.text.lines);
    Some(Document {
        document_id: &info.path,
        index_name: target.index.name(),
        uri: has_facts.then(|| uri::of_document(target.index.name(), &info.path)),
        content: &named.text.text,
        start_line: line(lines.first),
        end_line: line(lines.last),
        total_lines: info.lines,
        rest: named.rest.as_deref(),
    })
}

fn not_read_of(targets: &Targets, left: LeftOut) -> Option<NotRead> {
    let target = targets.found.get(left.position)?;
    let document = cut(&target.selection.to_string(), NAME_SHOWN).into_owned();
    Some(match left.reason {
        LeftOutReason::OverBudget(tokens) => NotRead {
            document,
            reason: "OVER_BUDGET".to_owned(),
            tokens,
        },
        LeftOutReason::Failed(error) => NotRead {
            document,
            reason: target.index.failure(error).text(),
            tokens: None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
