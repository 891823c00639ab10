//! `search_code`: passages of source code.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use kb_engine::{Class, Hit, Mode, Request, Response, Scope, Show};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{
    ContinuationToken, Exact, Full, IndexName, Limit10, SymbolTokens, globs, symbol_kinds, words,
};
use super::call::tool::Tool;
use super::call::{hits, resolve, stale};
use crate::indexes::{Index, WORKING_DIRECTORY};
use crate::limits::{DOCUMENT_LIMIT, LIST_LIMIT, QUERY_LIMIT, SYMBOL_LIMIT};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings};

/// What is searched: programs, and data, which any search includes.
const CLASSES: [Class; 2] = [Class::Code, Class::Data];

/// Percent of the budget that the engine gets beyond it. With more, names and lines make the structured form of many
/// answers too large, and each is searched for again: 57 of the 126 questions of the bench at 25, 19 at 16, none at 12.
const MORE_PERCENT: u32 = 12;

/// Lines of a function or class: more than the longest that is shown whole has.
const SYMBOL_LINES: u32 = 2000;

/// Stands between what holds something and that.
const HOLDS: &str = " > ";

pub(super) struct SearchCode;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchCodeParams {
    /// Natural language or identifiers.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
    index_name: Option<IndexName>,
    #[serde(default)]
    limit: Limit10,
    /// Comma-separated: python, typescript, hcl.
    #[schemars(length(max = LIST_LIMIT))]
    language: Option<String>,
    /// Globs: src/**, !tests/**.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    path: Option<String>,
    /// false: by vectors only.
    use_hybrid_search: Option<bool>,
    /// Comma-separated: function, class, method, interface, struct, enum, trait, module.
    #[schemars(length(max = LIST_LIMIT))]
    symbol_type: Option<String>,
    /// Glob: get*, *Handler.
    #[schemars(length(max = SYMBOL_LIMIT))]
    symbol_name: Option<String>,
    /// Lines before, without smart_context.
    #[schemars(range(min = 0, max = 200))]
    context_before: Option<u32>,
    /// Lines after, without smart_context.
    #[schemars(range(min = 0, max = 200))]
    context_after: Option<u32>,
    /// Show the whole function or class.
    #[serde(default)]
    smart_context: SmartContext,
    #[serde(default)]
    exact: Exact,
    #[serde(default)]
    full: Full,
    max_tokens: Option<SymbolTokens>,
    continuation_token: Option<ContinuationToken>,
}

/// Whether passages become whole symbols.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct SmartContext(bool);

impl Default for SmartContext {
    fn default() -> SmartContext {
        SmartContext(true)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchCodeResult<'a> {
    search_context: Option<SearchContext>,
    /// Best first.
    results: Vec<Passage<'a>>,
    staleness_warning: Option<StalenessWarning>,
    truncated: Option<bool>,
    continuation: Option<Continuation>,
    /// Words of the query that no document has; exact prevents it.
    corrections: Option<Vec<hits::Corrected<'a>>>,
    /// Identifiers that no document has.
    missing: Option<&'a [String]>,
    warnings: Option<Warnings>,
}

// What was searched, where the caller did not say it.
#[derive(Serialize, JsonSchema)]
struct SearchContext {
    /// Always search_context.
    r#type: SearchContextType,
    searching: String,
    index_name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchContextType {
    SearchContext,
}

#[derive(Serialize, JsonSchema)]
struct Passage<'a> {
    file_path: &'a str,
    start_line: u32,
    end_line: u32,
    /// 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    score: f64,
    content: Cow<'a, str>,
    language_id: Option<&'a str>,
    symbol_type: Option<&'static str>,
    symbol_name: Option<&'a str>,
    symbol_signature: Option<&'a str>,
    /// Kind of symbol, or section.
    block_type: Option<&'static str>,
    /// With what holds the symbol: class A > def b.
    hierarchy: Option<Cow<'a, str>>,
    context_before: Option<&'a str>,
    context_after: Option<&'a str>,
    /// Which side matched.
    match_type: Option<MatchType>,
    vector_score: Option<f64>,
    keyword_score: Option<f64>,
    /// changed or deleted: the file, since it was indexed.
    stale: Option<&'a str>,
    /// Further passages of the document, with the last of those shown first.
    more_in_document: Option<u32>,
    /// Other documents with this text.
    copies: Option<u32>,
    copy_paths: Option<&'a [String]>,
    /// With the first result of a file.
    uri: Option<String>,
    /// When several are searched.
    index_name: Option<&'a str>,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MatchType {
    Semantic,
    Keyword,
    Both,
}

impl MatchType {
    fn of(hit: &Hit) -> Option<MatchType> {
        let matches = |score: Option<f32>| score.is_some_and(|score| score > 0.0);
        match (matches(hit.vector_score), matches(hit.keyword_score)) {
            (true, true) => Some(MatchType::Both),
            (true, false) => Some(MatchType::Semantic),
            (false, true) => Some(MatchType::Keyword),
            (false, false) => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            MatchType::Semantic => "semantic",
            MatchType::Keyword => "keyword",
            MatchType::Both => "both",
        }
    }
}

/// Present when the index is older than 7 days.
#[derive(Serialize, JsonSchema)]
struct StalenessWarning {
    /// Always staleness_warning.
    r#type: StalenessWarningType,
    message: String,
    #[schemars(default)]
    age_days: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StalenessWarningType {
    StalenessWarning,
}

impl Tool for SearchCode {
    const NAME: &'static str = "search_code";
    const TITLE: &'static str = "Search code";
    const DESCRIPTION: &'static str = "Search source code. Operators: \"phrase\", +word, \
        -word, path:x; in sentences +\"phrase\", -\"phrase\".";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("glob", "path")];
    const JOINED_LISTS: &'static [JoinedList] = &[
        JoinedList::with_commas("language"),
        JoinedList::with_commas("path"),
        JoinedList::with_commas("symbol_type"),
    ];

    type Params = SearchCodeParams;
    type Output = SearchCodeResult<'static>;

    fn run(cx: &Context<'_>, params: &SearchCodeParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::of_directory(cx, params.index_name.as_deref())?;
        if !resolve::any_has(&indexes, &CLASSES)? {
            let (code, what) = ("CODE_INDEX_NOT_FOUND", "source code");
            return Err(hits::holds_none(cx, &indexes, code, what, "search_docs"));
        }
        let mut request = request(params)?;
        let max_tokens = SymbolTokens::of(params.max_tokens, params.limit.get());
        budget::fit_results(max_tokens, MORE_PERCENT, |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let response = hits::ask(cx, &indexes, &request)?;
            let made = respond(cx, params, &request, &indexes, &response)?;
            Ok(Attempt {
                can_shrink: hits::shrink(&mut request, &response),
                tokens: response.hits.tokens,
                response: made,
            })
        })
    }
}

fn request(params: &SearchCodeParams) -> Result<Request, ToolError> {
    let mut request = Request::new(&params.query);
    request.k = params.limit.get();
    request.exact = params.exact.get();
    request.mode = match params.use_hybrid_search {
        Some(false) => Mode::Semantic,
        _ => Mode::Hybrid,
    };
    request.scope = Scope::Chunks;
    request.filters.classes = CLASSES.to_vec();
    request.filters.languages = words(params.language.as_deref());
    request.filters.paths = globs(params.path.as_deref());
    let kinds = words(params.symbol_type.as_deref());
    request.filters.symbol_kinds = symbol_kinds("symbol_type", &kinds)?;
    let name = params.symbol_name.as_deref().and_then(non_empty);
    request.filters.symbol_names = name.map(str::to_owned).into_iter().collect();
    let has_lines = params.context_before.is_some() || params.context_after.is_some();
    request.smart_context = params.smart_context.0 && !has_lines;
    hits::show(&mut request, params.full.get());
    if request.smart_context || kinds_or_names(&request) {
        request.show = Show::lines(SYMBOL_LINES);
    }
    let before = params.context_before.unwrap_or(0);
    let after = params.context_after.unwrap_or(0);
    request.show = request.show.context_lines(before, after);
    if kinds_or_names(&request) {
        request.previews = request.previews.map(|(results, _)| (results, SYMBOL_LINES));
    }
    Ok(request)
}

/// Whether the results are symbols that it asks for.
fn kinds_or_names(request: &Request) -> bool {
    let filters = &request.filters;
    !filters.symbol_kinds.is_empty() || !filters.symbol_names.is_empty()
}

fn respond(
    cx: &Context<'_>,
    params: &SearchCodeParams,
    request: &Request,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Result<ToolResponse, ToolError> {
    let is_cut = response.hits.next.is_some() && response.hits.len() < request.k;
    let token = cx.token(response.hits.next.as_ref());
    let token = token.as_deref();
    let search_context = match params.index_name.as_deref() {
        Some(name) if name != WORKING_DIRECTORY => None,
        _ => Some(search_context(indexes)?),
    };
    let stale = staleness_warning(indexes);
    let warnings = hits::warnings(cx, indexes, response);
    let max_tokens = SymbolTokens::of(params.max_tokens, params.limit.get());
    let uri = |number| {
        let first = hits::first_of_document(&response.hits, number)?;
        hits::has_facts(max_tokens).then(|| hits::uri_of(indexes, first))
    };
    let mut text = Text::new();
    text.warnings(&warnings);
    if let Some(context) = &search_context {
        text.line(if context.searching == context.index_name {
            format!("Searching {}.", hits::names(indexes))
        } else {
            format!(
                "Searching {} (index {}).",
                context.searching, context.index_name
            )
        });
    }
    if let Some(stale) = &stale {
        text.line(format!("Age {:?} days: {}", stale.age_days, stale.message));
    }
    for (number, hit) in response.hits.iter().enumerate() {
        show(&mut text, indexes, number, hit, uri(number));
    }
    text.line(hits::count(response));
    let hits = response.hits.iter().enumerate();
    let passages = hits.map(|(number, hit)| passage(indexes, hit, uri(number)));
    let result = SearchCodeResult {
        search_context,
        results: passages.collect(),
        staleness_warning: stale,
        truncated: is_cut.then_some(true),
        continuation: token.map(|token| Continuation::of(Some(token))),
        corrections: hits::corrections(&response.corrections),
        missing: hits::missing(&response.missing),
        warnings: Warnings::of(warnings),
    };
    let text = text.continued(hits::lead(is_cut), token);
    Ok(ToolResponse::new(&result, text))
}

fn passage<'a>(indexes: &'a [Arc<Index>], hit: &'a Hit, uri: Option<String>) -> Passage<'a> {
    Passage {
        file_path: &hit.document,
        start_line: hit.lines.first,
        end_line: hit.lines.last,
        score: hits::score(hit.score),
        content: hit.shown_text(),
        language_id: non_empty(&hit.language),
        symbol_type: hit.symbol.as_ref().map(|symbol| symbol.kind.name()),
        symbol_name: hit.symbol.as_ref().map(|symbol| &*symbol.name),
        symbol_signature: signature(hit),
        block_type: block_type(hit),
        hierarchy: hierarchy(hit),
        context_before: non_empty(&hit.before),
        context_after: non_empty(&hit.after),
        match_type: MatchType::of(hit),
        vector_score: hit.vector_score.map(hits::score),
        keyword_score: hit.keyword_score.map(hits::score),
        stale: hit.source_state.stale(),
        more_in_document: (hit.more_in_document > 0).then_some(hit.more_in_document),
        copies: (hit.copies > 0).then_some(hit.copies),
        copy_paths: hits::copy_paths(hit),
        uri,
        index_name: hits::index_shown(indexes, hit),
    }
}

/// The signature of the symbol of a passage.
fn signature(hit: &Hit) -> Option<&str> {
    non_empty(&hit.symbol.as_ref()?.signature)
}

/// What a passage is, where it is known.
fn block_type(hit: &Hit) -> Option<&'static str> {
    match &hit.symbol {
        Some(symbol) => Some(symbol.kind.name()),
        None => (!hit.section.is_empty()).then_some("section"),
    }
}

/// What holds a passage, and its symbol.
fn hierarchy(hit: &Hit) -> Option<Cow<'_, str>> {
    match &hit.symbol {
        Some(symbol) => Some(Cow::Borrowed(&*symbol.hierarchy)),
        None if hit.section.is_empty() => None,
        None => Some(Cow::Owned(hit.section.join(HOLDS))),
    }
}

/// The same passage as text.
fn show(text: &mut Text, indexes: &[Arc<Index>], number: usize, hit: &Hit, uri: Option<String>) {
    hits::first_line(text, number, hit);
    let shown = |score: Option<f32>| score.map(|score| format!("{:?}", hits::score(score)));
    let shown = |score| shown(score).unwrap_or_default();
    let symbol = hit.symbol.as_ref().map_or_else(String::new, |symbol| {
        format!("{} {}", symbol.kind.name(), symbol.name)
    });
    let block = block_type(hit).filter(|_| hit.symbol.is_none());
    let match_type = MatchType::of(hit).map_or("", MatchType::as_str);
    text.facts(&[
        (
            "index",
            Some(&hits::index_shown(indexes, hit).unwrap_or_default()),
        ),
        ("language", Some(&hit.language)),
        ("lines", Some(&hits::lines_beside(hit))),
        ("symbol", Some(&symbol)),
        ("signature", Some(&signature(hit).unwrap_or_default())),
        ("block", Some(&block.unwrap_or_default())),
        ("in", Some(&hierarchy(hit).unwrap_or_default())),
        ("match", Some(&match_type)),
        ("vector", Some(&shown(hit.vector_score))),
        ("keyword", Some(&shown(hit.keyword_score))),
        ("", Some(&uri.unwrap_or_default())),
    ]);
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.shown_text());
    text.named_passage("After:", &hit.after);
}

/// The folder that the index was made from, if it is on this machine, else the names of the indexes.
fn search_context(indexes: &[Arc<Index>]) -> Result<SearchContext, ToolError> {
    let index_name = hits::name_list(indexes).join(", ");
    let root = match indexes {
        [index] => {
            let mut roots = index.kb().roots()?.into_iter();
            roots.find(|root| Path::new(&root.source).is_dir())
        }
        _ => None,
    };
    Ok(SearchContext {
        r#type: SearchContextType::SearchContext,
        searching: root.map_or_else(|| index_name.clone(), |root| root.source),
        index_name,
    })
}

/// About the oldest of the indexes, where one is old.
fn staleness_warning(indexes: &[Arc<Index>]) -> Option<StalenessWarning> {
    let ages = indexes
        .iter()
        .map(|index| (index.name(), index.staleness()));
    let old = ages.filter(|(_, stale)| stale.is_old());
    let (name, stale) = old.max_by(|a, b| a.1.age_days.total_cmp(&b.1.age_days))?;
    Some(StalenessWarning {
        r#type: StalenessWarningType::StalenessWarning,
        message: stale::out_of_date(name, &stale),
        age_days: (stale.age_days * 10.0).round() / 10.0,
    })
}

#[cfg(test)]
mod tests;
