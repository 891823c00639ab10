//! `search`: documents or passages, by keywords, by meaning, or by title.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use kb_engine::{Cursor, Hit, Mode, Request, Response, Scope, Sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, Full, IndexName, Limit, MaxTokens};
use super::call::part_location::PartLocation;
use super::call::tool::Tool;
use super::call::{hits, resolve};
use crate::indexes::Index;
use crate::limits::{
    DOCUMENT_LIMIT, FILE_TYPE_LIMIT, NAME_LIMIT, QUERY_LIMIT, TAG_LIMIT, VECTOR_LIMIT,
};
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, time, wording};

/// With whole passages: characters of the text before and after each.
const CONTEXT_CHARS: usize = 100;

/// Lines of a whole passage: more than any has.
const WHOLE_LINES: u32 = 1000;

/// Where mode=title finds nothing.
const NO_TITLE: &str =
    "no path, title or tag has words of the query; mode=hybrid searches the texts";

pub(super) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchParams {
    /// Natural language or keywords; may be empty with a vector.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
    /// Of the model of a vector column; give it again with a continuation_token.
    #[schemars(length(max = VECTOR_LIMIT))]
    vector: Option<Vec<f32>>,
    /// Column of the vector, where not the default one.
    #[schemars(length(max = NAME_LIMIT))]
    vector_column: Option<String>,
    /// How to match.
    #[serde(default)]
    mode: ModeParam,
    /// documents: best passage per document. chunks: every passage.
    #[serde(default)]
    scope: ScopeParam,
    filters: Option<Filters>,
    #[serde(default)]
    limit: Limit,
    /// Order of the results.
    #[serde(default)]
    sort: SortParam,
    index_name: Option<IndexName>,
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
    Title,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeParam {
    #[default]
    Documents,
    Chunks,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortParam {
    #[default]
    Relevance,
    Recency,
}

/// Restrict the search.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
struct Filters {
    /// With all below it.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    folder: Option<String>,
    /// Such as pdf or md.
    #[serde(rename = "fileType")]
    #[schemars(length(max = FILE_TYPE_LIMIT))]
    file_type: Option<String>,
    /// One tag.
    #[schemars(length(max = TAG_LIMIT))]
    tag: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchResults<'a> {
    /// Best first.
    results: Vec<SearchResult<'a>>,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct SearchResult<'a> {
    document_id: &'a str,
    /// Stable handle, slug-suffix. It, title, uri, updated, approx_size and metadata: with the first result of a document.
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
    #[schemars(default)]
    location: Location<'a>,
    context: Option<Surroundings<'a>>,
    /// ISO 8601.
    updated: Option<String>,
    /// Bytes.
    approx_size: Option<u64>,
    metadata: Option<Metadata<'a>>,
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

#[derive(Serialize, JsonSchema)]
struct Surroundings<'a> {
    before: Option<&'a str>,
    after: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
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
    const DESCRIPTION: &'static str = "Search documents or passages of the knowledge base. \
        mode=hybrid (default) for questions, semantic for concepts, keyword for exact words, title to \
        find a document by slug, title or tags. Operators: \"phrase\", +word, -word, path:x, \
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
        ("filters.path", "filters.folder"),
        ("filters.tags", "filters.tag"),
    ];

    type Params = SearchParams;
    type Output = Envelope<SearchResults<'static>>;

    fn run(cx: &Context<'_>, params: &SearchParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        let mut request = request(params);
        budget::fit(params.max_tokens.get(), |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let response = hits::ask(cx, &indexes, &request);
            let response = response.map_err(|error| error.rename_argument(name_here))?;
            let made = respond(cx, params, &indexes, &response);
            Ok(Attempt {
                can_shrink: hits::shrink(&mut request, &response),
                tokens: response.hits.tokens,
                response: made,
            })
        })
    }
}

/// The filters are arguments of an object here.
fn name_here(argument: &'static str) -> &'static str {
    match argument {
        "folder" => "filters.folder",
        "fileType" => "filters.fileType",
        "tags" => "filters.tag",
        same => same,
    }
}

fn request(params: &SearchParams) -> Request {
    let mut request = Request::new(&params.query);
    request.k = params.limit.get();
    request.vector.clone_from(&params.vector);
    request.vector_column.clone_from(&params.vector_column);
    request.mode = match params.mode {
        ModeParam::Hybrid => Mode::Hybrid,
        ModeParam::Semantic => Mode::Semantic,
        ModeParam::Keyword => Mode::Keyword,
        ModeParam::Title => Mode::Title,
    };
    request.scope = match params.scope {
        ScopeParam::Documents => Scope::Documents,
        ScopeParam::Chunks => Scope::Chunks,
    };
    request.sort = match params.sort {
        SortParam::Relevance => Sort::Score,
        SortParam::Recency => Sort::Recency,
    };
    let filters = params.filters.clone().unwrap_or_default();
    request.filters.folders = filters.folder.into_iter().collect();
    request.filters.types = filters.file_type.into_iter().collect();
    request.filters.tags = filters.tag.into_iter().collect();
    hits::show(&mut request, params.full.get());
    if params.full.get() {
        request.max_lines = Some(WHOLE_LINES);
        request.context_chars = Some(CONTEXT_CHARS);
    }
    request
}

fn respond(
    cx: &Context<'_>,
    params: &SearchParams,
    indexes: &[Arc<Index>],
    response: &Response,
) -> ToolResponse {
    let mut warnings = hits::warnings(cx, indexes, response);
    // Titles say nothing about what the texts hold.
    if params.mode == ModeParam::Title && response.hits.is_empty() {
        for warning in &mut warnings {
            if warning.starts_with("NOTHING_RELEVANT") {
                NO_TITLE.clone_into(warning);
            }
        }
    }
    let has_facts = hits::has_facts(params.max_tokens.get());
    let mut text = Text::new();
    text.warnings(&warnings);
    for (number, hit) in response.hits.iter().enumerate() {
        show(&mut text, indexes, &response.hits, number, hit, has_facts);
    }
    if response.hits.is_empty() {
        text.line("No results.");
    }
    let page = ResultPage {
        tokens: response.hits.tokens,
        max_tokens: params.max_tokens.get().into(),
        token: response.hits.next.as_ref().map(Cursor::as_str),
        is_full: response.hits.len() >= params.limit.get(),
        is_continued: params.continuation_token.is_some(),
        complete: "SEARCH_COMPLETED",
        items: "results",
        ..ResultPage::default()
    };
    let hits = response.hits.iter().enumerate();
    let results = hits.map(|(number, hit)| result(indexes, &response.hits, number, hit, has_facts));
    let data = SearchResults {
        results: results.collect(),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, warnings);
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

fn result<'a>(
    indexes: &'a [Arc<Index>],
    hits: &'a [Hit],
    number: usize,
    hit: &'a Hit,
    has_facts: bool,
) -> SearchResult<'a> {
    let titled = hits::first_of_document(hits, number);
    let first = titled.filter(|_| has_facts);
    let has_lines = hit.lines.first > 0;
    let location = PartLocation::of(hit.part.as_ref());
    let (before, after) = (non_empty(&hit.before), non_empty(&hit.after));
    SearchResult {
        document_id: &hit.document,
        doc_handle: first.map(|hit| hit.handle.as_str()),
        title: titled.and_then(|hit| non_empty(&hit.title)),
        uri: first.map(|hit| hits::uri_of(indexes, hit)),
        index_name: hits::index_shown(indexes, hit),
        preview: hit.shown_text(),
        score: hits::score(hit.score),
        stale: hit.source_state.stale(),
        location: Location {
            document_type: hit.part.as_ref().map(|_| hit.file_type.as_str()),
            page: location.page,
            sheet: location.sheet,
            start_row: location.start_row,
            end_row: location.end_row,
            slide: location.slide,
            section: non_empty(&hit.section_name),
            start_line: has_lines.then_some(hit.lines.first),
            end_line: has_lines.then_some(hit.lines.last),
        },
        context: (before.is_some() || after.is_some()).then_some(Surroundings { before, after }),
        updated: first.and_then(updated),
        approx_size: first.map(|hit| hit.size_bytes),
        metadata: first.map(|hit| Metadata {
            document_type: &hit.file_type,
            total_pages: location.total_pages,
            tags: (!hit.tags.is_empty()).then_some(&hit.tags),
            author: author(hit),
        }),
    }
}

/// The same result as text.
fn show(
    text: &mut Text,
    indexes: &[Arc<Index>],
    hits: &[Hit],
    number: usize,
    hit: &Hit,
    has_facts: bool,
) {
    hits::first_line(text, hits, number, hit);
    let index = hits::index_shown(indexes, hit).unwrap_or_default();
    match hits::first_of_document(hits, number).filter(|_| has_facts) {
        Some(hit) => text.facts(&[
            ("handle", Some(&hit.handle)),
            ("index", Some(&index)),
            ("type", Some(&hit.file_type)),
            ("lines", Some(&hits::lines_beside(hit))),
            ("of", Some(&total_pages(hit))),
            ("updated", Some(&updated(hit).unwrap_or_default())),
            ("bytes", Some(&hit.size_bytes)),
            ("tags", Some(&hit.tags.join(" "))),
            ("author", Some(&author(hit).unwrap_or_default())),
            ("section", Some(&hit.section_name)),
            ("", Some(&hits::uri_of(indexes, hit))),
        ]),
        None => text.facts(&[
            ("index", Some(&index)),
            (
                "type",
                hit.part.as_ref().map(|_| &hit.file_type as &dyn Display),
            ),
            ("lines", Some(&hits::lines_beside(hit))),
            ("section", Some(&hit.section_name)),
        ]),
    };
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.shown_text());
    text.named_passage("After:", &hit.after);
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
