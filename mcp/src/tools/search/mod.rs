//! `search`: documents or passages, by keywords, by meaning, by pattern, or by title.

mod facets;
mod regex;

use std::borrow::Cow;
use std::sync::Arc;

use kb_engine::{
    Correction, Cursor, FacetCounts, Filters, Hit, Mode, Request, Response, Scope, Show, Sort,
    TextContext,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::facets::Facet;
use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{
    ContinuationToken, Exact, Full, IndexName, Limit, MaxTokens, globs, words,
};
use super::call::part_location::PartLocation;
use super::call::tool::Tool;
use super::call::{hits, resolve};
use crate::indexes::Index;
use crate::limits::{
    DOCUMENT_LIMIT, FILE_TYPE_LIMIT, NAME_LIMIT, QUERY_LIMIT, TAG_LIMIT, VECTOR_LIMIT,
};
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, time, wording};

/// Lines of a whole passage: more than any has.
const WHOLE_LINES: u32 = 1000;

/// Where mode=title finds nothing.
const NO_TITLE: &str = "no title, slug or tag has all words of the query; path:NAME finds files by name, \
    mode=hybrid searches the texts";

pub(super) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchParams {
    /// Natural language, keywords or a pattern; empty with a vector.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
    /// From the model of a vector column; repeat it with a continuation_token.
    #[schemars(length(max = VECTOR_LIMIT))]
    vector: Option<Vec<f32>>,
    /// If not the default column.
    #[schemars(length(max = NAME_LIMIT))]
    vector_column: Option<String>,
    /// How to match.
    #[serde(default)]
    mode: ModeParam,
    /// documents: best passage per document. chunks: every passage.
    #[serde(default)]
    scope: ScopeParam,
    filters: Option<FiltersParam>,
    #[serde(default)]
    limit: Limit,
    /// relevance, recency, or a field (-year: descending).
    #[schemars(length(max = DOCUMENT_LIMIT))]
    sort: Option<String>,
    /// Field: best result per value.
    #[schemars(length(max = NAME_LIMIT))]
    group_by: Option<String>,
    /// Fields, comma-separated: count values.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    facets: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    exact: Exact,
    /// Whole passages, uri, author, tags.
    #[serde(default)]
    full: Full,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ModeParam {
    #[default]
    Hybrid,
    Semantic,
    Keyword,
    Regex,
    Title,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeParam {
    #[default]
    Documents,
    Chunks,
}

/// Restrict.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
struct FiltersParam {
    /// With all below it.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    folder: Option<String>,
    /// Globs: src/**, !tests/**.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    path: Option<String>,
    /// Such as pdf or md.
    #[serde(rename = "fileType")]
    #[schemars(length(max = FILE_TYPE_LIMIT))]
    file_type: Option<String>,
    /// One tag.
    #[schemars(length(max = TAG_LIMIT))]
    tag: Option<String>,
    /// status=draft.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    field: Option<String>,
    /// year > 2015 and not draft.
    #[serde(rename = "where")]
    #[schemars(length(max = DOCUMENT_LIMIT))]
    where_: Option<String>,
    /// Linked document.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    links_to: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchResults<'a> {
    /// Best first.
    results: Vec<SearchResult<'a>>,
    /// Words of the query that no document has; exact prevents it.
    corrections: Option<Vec<hits::Corrected<'a>>>,
    /// Identifiers that no document has.
    missing: Option<&'a [String]>,
    facets: Option<Vec<Facet<'a>>>,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct SearchResult<'a> {
    document_id: &'a str,
    /// Stable handle, slug-suffix. It, updated, approx_size and what full adds: with the first result of a document.
    doc_handle: Option<&'a str>,
    title: Option<&'a str>,
    uri: Option<String>,
    /// When several are searched.
    index_name: Option<&'a str>,
    preview: Cow<'a, str>,
    /// 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    score: f64,
    /// changed or deleted: the file, since it was indexed.
    stale: Option<&'a str>,
    /// Further passages of the document, with the last of those shown first.
    more_in_document: Option<u32>,
    /// Other documents with this text.
    copies: Option<u32>,
    copy_paths: Option<&'a [String]>,
    #[schemars(default)]
    location: Location<'a>,
    #[schemars(default)]
    context: Surroundings<'a>,
    /// ISO 8601.
    updated: Option<String>,
    /// Bytes.
    approx_size: Option<u64>,
    #[schemars(default)]
    metadata: Metadata<'a>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Location<'a> {
    /// File type, where there is a page, sheet or slide: read it with get_pages, get_sheet_data or get_slides.
    document_type: Option<&'a str>,
    page: Option<u32>,
    sheet: Option<&'a str>,
    /// Rows of the sheet.
    start_row: Option<u32>,
    end_row: Option<u32>,
    slide: Option<u32>,
    section: Option<&'a str>,
    start_line: Option<u32>,
    end_line: Option<u32>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Surroundings<'a> {
    #[schemars(default)]
    before: &'a str,
    #[schemars(default)]
    after: &'a str,
}

#[derive(Default, Serialize, JsonSchema)]
struct Metadata<'a> {
    #[schemars(default)]
    document_type: &'a str,
    total_pages: Option<u32>,
    tags: Option<&'a [String]>,
    author: Option<&'a str>,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search documents";
    const DESCRIPTION: &'static str = "Search documents or passages. \
        mode=hybrid (default) for questions, semantic for concepts, keyword for exact words, regex for \
        patterns, title for slugs, titles and tags. Operators: \"phrase\", +word, -word, path:x, \
        title:x, tag:x; in sentences +\"phrase\", -\"phrase\".";
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("project", "index_name"),
        ("projectId", "index_name"),
        ("project_id", "index_name"),
        ("folder", "filters.folder"),
        ("fileType", "filters.fileType"),
        ("file_type", "filters.fileType"),
        ("tag", "filters.tag"),
        ("tags", "filters.tag"),
        ("filters.type", "filters.fileType"),
        ("filters.file_type", "filters.fileType"),
        ("path", "filters.path"),
        ("filters.tags", "filters.tag"),
        ("field", "filters.field"),
        ("where", "filters.where"),
        ("links_to", "filters.links_to"),
        ("filters.linksTo", "filters.links_to"),
    ];
    const JOINED_LISTS: &'static [JoinedList] = &[
        JoinedList::with_commas("filters.path"),
        JoinedList::with_commas("facets"),
    ];

    type Params = SearchParams;
    type Output = Envelope<SearchResults<'static>>;

    fn run(cx: &Context<'_>, params: &SearchParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        if params.mode == ModeParam::Regex {
            return budget::fit(params.max_tokens.get(), |budget| {
                let found = find_pattern(cx, params, &indexes, budget);
                let found = found.map_err(|error| error.rename_argument(name_here))?;
                Ok(Attempt {
                    can_shrink: found.hits.len() > 1,
                    tokens: found.tokens,
                    response: respond(cx, params, &indexes, &found),
                })
            });
        }
        let mut request = request(params);
        budget::fit(params.max_tokens.get(), |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let response = hits::ask(cx, &indexes, &request);
            let response = response.map_err(|error| error.rename_argument(name_here))?;
            let can_shrink = hits::shrink(&mut request, &response);
            let found = Found {
                warnings: warnings(cx, params, &indexes, &response),
                tokens: response.hits.tokens,
                next: response.hits.next,
                corrections: response.corrections,
                missing: response.missing,
                facets: response.facets,
                is_out_of_time: false,
                hits: response.hits.items,
            };
            Ok(Attempt {
                can_shrink,
                tokens: found.tokens,
                response: respond(cx, params, &indexes, &found),
            })
        })
    }
}

/// Which facts about documents the results have.
#[derive(Clone, Copy)]
struct Shown {
    /// Handle, date and size.
    has_facts: bool,
    /// Address, author and tags too, which few ask for.
    is_full: bool,
}

/// What a search of any mode finds.
struct Found {
    hits: Vec<Hit>,
    corrections: Vec<Correction>,
    /// Identifiers that no document has.
    missing: Vec<String>,
    facets: Vec<FacetCounts>,
    tokens: u64,
    /// Where it goes on.
    next: Option<Cursor>,
    is_out_of_time: bool,
    warnings: Vec<String>,
}

/// With mode=regex.
fn find_pattern(
    cx: &Context<'_>,
    params: &SearchParams,
    indexes: &[Arc<Index>],
    budget: u32,
) -> Result<Found, ToolError> {
    let by_document = matches!(params.scope, ScopeParam::Documents);
    let mut request = regex::request(&params.query, by_document, params.limit.get());
    request.filters = filters(params);
    request.page = cx.page(budget, params.continuation_token.as_deref());
    let found = regex::find(cx, indexes, &request)?;
    let mut warnings = cx.warnings.clone();
    warnings.extend(found.warnings);
    let is_sorted = !matches!(params.sort.as_deref(), None | Some("relevance"));
    let counts_fields = params.group_by.is_some() || params.facets.is_some();
    if params.vector.is_some() || is_sorted || counts_fields {
        warnings.push(
            "vector, sort, group_by and facets are ignored in this mode: matches are sorted by path"
                .to_owned(),
        );
    }
    Ok(Found {
        hits: found.hits,
        tokens: found.tokens,
        next: found.next,
        corrections: Vec::new(),
        missing: Vec::new(),
        facets: Vec::new(),
        is_out_of_time: !found.is_complete,
        warnings,
    })
}

/// The filters are arguments of an object here.
fn name_here(argument: &'static str) -> &'static str {
    match argument {
        "folder" => "filters.folder",
        "path" => "filters.path",
        "fileType" => "filters.fileType",
        "tags" => "filters.tag",
        "field" => "filters.field",
        "where" => "filters.where",
        "links_to" => "filters.links_to",
        "pattern" => "query",
        same => same,
    }
}

fn request(params: &SearchParams) -> Request {
    let mut request = Request::new(&params.query);
    request.k = params.limit.get();
    request.exact = params.exact.get();
    request.vector.clone_from(&params.vector);
    request.vector_column.clone_from(&params.vector_column);
    request.mode = match params.mode {
        ModeParam::Hybrid | ModeParam::Regex => Mode::Hybrid,
        ModeParam::Semantic => Mode::Semantic,
        ModeParam::Keyword => Mode::Keyword,
        ModeParam::Title => Mode::Title,
    };
    request.scope = match params.scope {
        ScopeParam::Documents => Scope::Documents,
        ScopeParam::Chunks => Scope::Chunks,
    };
    request.sort = match params.sort.as_deref() {
        None | Some("relevance") => Sort::Score,
        Some(name) => Sort::from_name(name).unwrap_or_default(),
    };
    request.group_by = params
        .group_by
        .as_deref()
        .and_then(non_empty)
        .map(str::to_owned);
    request.facets = words(params.facets.as_deref());
    request.filters = filters(params);
    hits::show(&mut request, params.full.get());
    let lines = if params.full.get() {
        WHOLE_LINES
    } else {
        hits::SHOWN_LINES
    };
    request.show = Show::Lines(lines, TextContext::Chars(regex::CONTEXT_CHARS));
    request
}

fn filters(params: &SearchParams) -> Filters {
    let given = params.filters.clone().unwrap_or_default();
    let mut filters = Filters::new()
        .folders(given.folder)
        .paths(globs(given.path.as_deref()))
        .types(given.file_type)
        .tags(given.tag)
        .fields(given.field)
        .links_to(given.links_to);
    filters.where_ = given.where_;
    filters
}

fn warnings(
    cx: &Context<'_>,
    params: &SearchParams,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Vec<String> {
    let mut warnings = hits::warnings(cx, indexes, response);
    // Titles say nothing about what the texts hold.
    if params.mode == ModeParam::Title && response.hits.is_empty() {
        for warning in &mut warnings {
            if warning.starts_with("NOTHING_RELEVANT") {
                NO_TITLE.clone_into(warning);
            }
        }
    }
    warnings
}

fn respond(
    cx: &Context<'_>,
    params: &SearchParams,
    indexes: &[Arc<Index>],
    found: &Found,
) -> ToolResponse {
    let shown = Shown {
        has_facts: hits::has_facts(params.max_tokens.get()),
        is_full: params.full.get(),
    };
    let mut text = Text::new();
    text.warnings(&found.warnings);
    for (number, hit) in found.hits.iter().enumerate() {
        show(&mut text, indexes, &found.hits, number, hit, shown);
    }
    if found.hits.is_empty() {
        text.line("No results.");
    }
    facets::show(&mut text, &found.facets);
    let token = cx.token(found.next.as_ref());
    let page = ResultPage {
        tokens: found.tokens,
        max_tokens: params.max_tokens.get().into(),
        token: token.as_deref(),
        is_out_of_time: found.is_out_of_time,
        is_full: found.hits.len() >= params.limit.get(),
        is_continued: params.continuation_token.is_some(),
        complete: "SEARCH_COMPLETED",
        items: "results",
        ..ResultPage::default()
    };
    let hits = found.hits.iter().enumerate();
    let results = hits.map(|(number, hit)| result(indexes, &found.hits, number, hit, shown));
    let data = SearchResults {
        results: results.collect(),
        corrections: hits::corrections(&found.corrections),
        missing: hits::missing(&found.missing),
        facets: Facet::all(&found.facets),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, found.warnings.clone());
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

fn result<'a>(
    indexes: &'a [Arc<Index>],
    hits: &'a [Hit],
    number: usize,
    hit: &'a Hit,
    shown: Shown,
) -> SearchResult<'a> {
    let first = hits::first_of_document(hits, number).filter(|_| shown.has_facts);
    let detailed = first.filter(|_| shown.is_full);
    let has_lines = hit.lines.first > 0;
    let location = PartLocation::of(hit.part.as_ref());
    SearchResult {
        document_id: &hit.document,
        doc_handle: first.map(|hit| hit.handle.as_str()),
        title: non_empty(&hit.title),
        uri: detailed.map(|hit| hits::uri_of(indexes, hit)),
        index_name: hits::index_shown(indexes, hit),
        preview: hit.shown_text(),
        score: hits::score(hit.score),
        stale: hit.source_state.stale(),
        more_in_document: (hit.more_in_document > 0).then_some(hit.more_in_document),
        copies: (hit.copies > 0).then_some(hit.copies),
        copy_paths: hits::copy_paths(hit),
        location: Location {
            document_type: hit.part.as_ref().map(|_| hit.file_type.as_str()),
            page: location.page,
            sheet: location.sheet,
            start_row: location.start_row,
            end_row: location.end_row,
            slide: location.slide,
            section: section(hit),
            start_line: has_lines.then_some(hit.lines.first),
            end_line: has_lines.then_some(hit.lines.last),
        },
        context: Surroundings {
            before: &hit.before,
            after: &hit.after,
        },
        updated: first.and_then(updated),
        approx_size: first.map(|hit| hit.size_bytes),
        metadata: Metadata {
            document_type: &hit.file_type,
            total_pages: location.total_pages,
            tags: detailed
                .filter(|hit| !hit.tags.is_empty())
                .map(|hit| &*hit.tags),
            author: detailed.and_then(author),
        },
    }
}

/// The same result as text.
fn show(
    text: &mut Text,
    indexes: &[Arc<Index>],
    hits: &[Hit],
    number: usize,
    hit: &Hit,
    shown: Shown,
) {
    hits::first_line(text, number, hit);
    let index = hits::index_shown(indexes, hit).unwrap_or_default();
    let first = hits::first_of_document(hits, number).filter(|_| shown.has_facts);
    let detailed = first.filter(|_| shown.is_full);
    let of_first = |fact: fn(&Hit) -> String| first.map_or_else(String::new, fact);
    let of_detailed = |fact: fn(&Hit) -> String| detailed.map_or_else(String::new, fact);
    let uri = detailed.map_or_else(String::new, |hit| hits::uri_of(indexes, hit));
    text.facts(&[
        ("handle", Some(&of_first(|hit| hit.handle.clone()))),
        ("index", Some(&index)),
        ("type", Some(&hit.file_type)),
        ("lines", Some(&hits::lines_beside(hit))),
        ("of", Some(&total_pages(hit))),
        (
            "updated",
            Some(&of_first(|hit| updated(hit).unwrap_or_default())),
        ),
        ("bytes", Some(&of_first(|hit| hit.size_bytes.to_string()))),
        ("tags", Some(&of_detailed(|hit| hit.tags.join(" ")))),
        (
            "author",
            Some(&of_detailed(|hit| {
                author(hit).unwrap_or_default().to_owned()
            })),
        ),
        ("section", Some(&section(hit).unwrap_or_default())),
        ("", Some(&uri)),
    ]);
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.shown_text());
    text.named_passage("After:", &hit.after);
}

/// The section of a passage, where it says more than its sheet.
fn section(hit: &Hit) -> Option<&str> {
    let sheet = PartLocation::of(hit.part.as_ref()).sheet;
    non_empty(&hit.section_name).filter(|section| sheet != Some(section))
}

/// `94 pages` of the document of a hit.
fn total_pages(hit: &Hit) -> String {
    let total = PartLocation::of(hit.part.as_ref()).total_pages;
    total.map_or_else(String::new, |total| wording::count(total.into(), "page"))
}

fn author(hit: &Hit) -> Option<&str> {
    let stated = hit.metadata.iter().find(|(key, _)| key == "author");
    stated.map(|(_, author)| author.as_str())
}

fn updated(hit: &Hit) -> Option<String> {
    (hit.modified_ms != 0).then(|| time::rfc3339(hit.modified_ms))
}

#[cfg(test)]
mod tests;
