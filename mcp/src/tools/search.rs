//! `search`: documents or passages, by keywords, by meaning, or by title.

use std::borrow::Cow;
use std::sync::Arc;

use kb_engine::{Cursor, Hit, Mode, Request, Response, Scope, Sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, Full, IndexName, Limit, MaxTokens};
use super::call::tool::Tool;
use super::call::{hits, resolve};
use crate::indexes::Index;
use crate::limits::{DOCUMENT_LIMIT, FILE_TYPE_LIMIT, QUERY_LIMIT, TAG_LIMIT};
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, time};

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
    /// Natural language or keywords.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
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
    /// Such as html or md.
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
            section: non_empty(&hit.section_name),
            start_line: has_lines.then_some(hit.lines.first),
            end_line: has_lines.then_some(hit.lines.last),
        },
        context: (before.is_some() || after.is_some()).then_some(Surroundings { before, after }),
        updated: first.and_then(updated),
        approx_size: first.map(|hit| hit.size_bytes),
        metadata: first.map(|hit| Metadata {
            document_type: &hit.file_type,
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
            ("updated", Some(&updated(hit).unwrap_or_default())),
            ("bytes", Some(&hit.size_bytes)),
            ("tags", Some(&hit.tags.join(" "))),
            ("author", Some(&author(hit).unwrap_or_default())),
            ("section", Some(&hit.section_name)),
            ("", Some(&hits::uri_of(indexes, hit))),
        ]),
        None => text.facts(&[
            ("index", Some(&index)),
            ("section", Some(&hit.section_name)),
        ]),
    };
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.shown_text());
    text.named_passage("After:", &hit.after);
}

fn author(hit: &Hit) -> Option<&str> {
    let stated = hit.metadata.iter().find(|(key, _)| key == "author");
    stated.map(|(_, author)| author.as_str())
}

fn updated(hit: &Hit) -> Option<String> {
    (hit.modified_ms != 0).then(|| time::rfc3339(hit.modified_ms))
}

#[cfg(test)]
mod tests {
    use kb_engine::{KbWriter, SourceInfo, document_of};
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn results_have_document_and_location() {
        let fixture = Fixture::guides();
        let answer = fixture.answer(
            "search",
            json!({"query": "how are sails mended", "max_tokens": 2000}),
        );
        let first = &answer.structured["data"]["results"][0];
        assert_eq!(first["document_id"], "guides/sails.md");
        assert_eq!(first["title"], "Sails");
        assert_eq!(first["uri"], "kb://guides/doc/guides/sails.md");
        assert_eq!(first["metadata"]["document_type"], "markdown");
        assert_eq!(first["location"]["section"], "Sails > Mending");
        assert!(first["preview"].as_str().unwrap().contains("wax"));
        assert_eq!(answer.structured["status"]["message"], "SEARCH_COMPLETED");
    }

    #[test]
    fn a_section_as_returned_reads_the_lines() {
        let text = "# A\n\n## Use\n\na walrus\n\n# B\n\n## Use\n\na walrus on ice\n";
        let fixture = Fixture::new("a", &[("a.md", text)]);
        for tool in ["search", "search_docs"] {
            let answer = fixture.answer(tool, json!({"query": "walrus ice"}));
            let whole = serde_json::Value::Object(answer.structured);
            let section = whole
                .pointer("/data/results/0/location/section")
                .or(whole.pointer("/results/0/section"));
            assert_eq!(section, Some(&json!("B > Use")), "{whole}");
            let given = json!({"document_id": "a.md", "section": section});
            let read = fixture.answer("get_document_data", given);
            let content = &read.structured["data"]["content"];
            assert_eq!(*content, "## Use\n\na walrus on ice\n");
        }
    }

    #[test]
    fn results_have_context_and_author() {
        let line = "The mate counts every rope on the deck and writes it down.\n";
        let text = format!(
            "---\nauthor: Ada\n---\n# Log\n\n{}A walrus!\n\n{}",
            line.repeat(90),
            line.repeat(90)
        );
        let fixture = Fixture::new("log", &[("log.md", &text)]);
        let answer = fixture.answer(
            "search",
            json!({"query": "walrus", "mode": "keyword", "full": true}),
        );
        let first = &answer.structured["data"]["results"][0];
        assert_eq!(first["metadata"]["author"], "Ada");
        assert!(first["preview"].as_str().unwrap().contains("A walrus!"));
        let context = &first["context"];
        assert!(
            context["before"].is_string() && context["after"].is_string(),
            "{first}"
        );
    }

    #[test]
    fn filters_modes_and_limits_apply() {
        let fixture = Fixture::guides();
        let ids = |given| {
            let answer = fixture.answer("search", given);
            let results = answer.structured["data"]["results"]
                .as_array()
                .unwrap()
                .clone();
            let ids = results
                .iter()
                .map(|one| one["document_id"].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>()
        };
        let in_logs = ids(json!({"query": "sails", "filters": {"folder": "logs"}}));
        assert_eq!(in_logs, ["logs/voyage.txt"]);
        assert_eq!(ids(json!({"query": "sails", "fileType": "txt"})), in_logs);
        assert_eq!(
            ids(json!({"query": "sails", "filters": {"tag": "deck"}})),
            ["guides/sails.md"]
        );
        assert_eq!(
            ids(json!({"query": "sails", "mode": "title"})),
            ["guides/sails.md"]
        );
        let untitled = json!({"query": "thread", "mode": "title"});
        let answer = fixture.answer("search", untitled);
        assert_eq!(answer.structured["warnings"], json!([super::NO_TITLE]));
        assert!(ids(json!({"query": "wax", "mode": "keyword", "scope": "chunks"})).len() == 1);
        assert_eq!(ids(json!({"query": "sails", "limit": 1})).len(), 1);
    }

    #[test]
    fn sort_recency_puts_the_newest_first() {
        let fixture = Fixture::new("ages", &[]);
        let add = |writer: &mut KbWriter| {
            for (path, text, modified_ms) in [
                ("old.md", "sails sails sails", 1_000_000),
                ("new.md", "one of many words about sails", 2_000_000),
            ] {
                let original = SourceInfo {
                    modified_ms,
                    ..SourceInfo::of(text.as_bytes())
                };
                writer.add_from(document_of(path, text.as_bytes())?, original, false)?;
            }
            writer.commit()
        };
        fixture.index().write(add).unwrap();
        let first = |sort: &str| {
            let answer = fixture.answer("search", json!({"query": "sails", "sort": sort}));
            answer.structured["data"]["results"][0].clone()
        };
        assert_eq!(first("relevance")["document_id"], "old.md");
        assert_eq!(first("recency")["document_id"], "new.md");
        assert_eq!(first("recency")["updated"], "1970-01-01T00:33:20Z");
    }

    #[test]
    fn an_off_topic_query_has_a_warning() {
        let fixture = Fixture::guides();
        let answer = fixture.answer(
            "search",
            json!({"query": "quarterly tax filing", "mode": "keyword"}),
        );
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(
            warning.starts_with("NOTHING_RELEVANT: guides contains nothing relevant"),
            "{warning}"
        );
        assert!(answer.text.contains(warning));
    }

    #[test]
    fn operators_are_alike_in_all_searches() {
        let fixture = Fixture::guides();
        for (tool, results) in [
            ("search", "/data/results"),
            ("search_docs", "/results"),
            ("search_code", "/results"),
        ] {
            let ask = |query: &str| {
                let answer = fixture.answer(tool, json!({"query": query}));
                let structured = serde_json::Value::Object(answer.structured);
                let found = structured.pointer(results).unwrap();
                let warnings = structured["warnings"].to_string();
                (found.as_array().unwrap().len(), warnings)
            };
            let (found, warnings) = ask("how to fix the error \"Lost sail of example.org\"");
            assert!(
                found > 0 && !warnings.contains("passes"),
                "{tool}: {warnings}"
            );
            let (found, warnings) = ask("sails \"lost in example.org\"");
            assert!(found > 0, "{tool}");
            assert!(
                warnings.contains("passes \\\"lost in example.org\\\", so"),
                "{warnings}"
            );
            let (found, warnings) = ask("-sails");
            assert!(
                found == 0 && warnings.contains("only says what to leave out"),
                "{warnings}"
            );
            assert!(!warnings.contains("NOTHING_RELEVANT"), "{tool}: {warnings}");
            let (found, warnings) = ask("sails +\"lost in example.org\"");
            assert!(
                found == 0 && warnings.contains("has +"),
                "{tool}: {warnings}"
            );
        }
    }

    #[test]
    fn a_token_continues_with_the_first_arguments() {
        let fixture = Fixture::guides();
        let given = json!({"query": "sails", "limit": 1, "scope": "chunks", "mode": "keyword"});
        let first = fixture.answer("search", given);
        let token = &first.structured["continuation"]["token"];
        // It ends because of limit, not of max_tokens.
        assert_eq!(first.structured["status"]["message"], "SEARCH_COMPLETED");
        let second = fixture.answer(
            "search",
            json!({"query": "sails", "continuation_token": token}),
        );
        let ids = |answer: &crate::response::ToolResponse| {
            answer.structured["data"]["results"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!((ids(&first), ids(&second)), (1, 1));
        assert_ne!(first.structured["data"], second.structured["data"]);
        assert!(first.text.ends_with(token.as_str().unwrap()));
        let other = fixture.error(
            "search",
            json!({"query": "ropes", "continuation_token": token}),
        );
        assert_eq!(other.code, "INVALID_CONTINUATION_TOKEN");
        fixture.add("new.md", "# New\n\nsails");
        let stale = fixture.error(
            "search",
            json!({"query": "sails", "continuation_token": token}),
        );
        assert_eq!(stale.code, "CONTINUATION_STALE");
    }

    #[test]
    fn an_error_names_the_filter() {
        let fixture = Fixture::guides();
        let given = json!({"query": "sails", "filters": {"tag": "a,b"}});
        let error = fixture.error("search", given);
        let text = error.text();
        assert!(
            text.starts_with("INVALID_ARGUMENT: filters.tag: "),
            "{text}"
        );
    }
}
