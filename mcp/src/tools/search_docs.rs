//! `search_docs`: passages of documentation and other prose.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kb_engine::{Class, Hit, Request, Response, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::{JoinedList, OtherSystem};
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{
    ContinuationToken, Exact, Full, IndexName, Limit10, PassageTokens, globs,
};
use super::call::part_location::PartLocation;
use super::call::tool::Tool;
use super::call::{hits, resolve};
use crate::indexes::Index;
use crate::limits::{DOCUMENT_LIMIT, QUERY_LIMIT};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, wording};

/// What is searched: prose and office files, neither programs nor data.
const CLASSES: [Class; 1] = [Class::Doc];

/// Percent of the budget that the engine gets beyond it. With 25, 8 of the 126 questions of the bench are searched for
/// again because their answers are too large, with 20 none.
const MORE_PERCENT: u32 = 18;

pub(super) struct SearchDocs;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchDocsParams {
    /// A question, a topic or keywords.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
    #[serde(default)]
    top_k: Limit10,
    /// Drop results scoring lower.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1), extend("default" = 0))]
    min_score: f64,
    /// With all below it.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    folder: Option<String>,
    /// Globs: docs/**, !old/**.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    path: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    exact: Exact,
    #[serde(default)]
    full: Full,
    max_tokens: Option<PassageTokens>,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchDocsResult<'a> {
    /// Best first.
    results: Vec<Passage<'a>>,
    /// Results found, also those that are not shown.
    #[serde(rename = "totalResults")]
    total_results: u64,
    #[serde(rename = "searchTimeMs")]
    search_time_ms: f64,
    /// True when max_tokens cut the list.
    truncated: Option<bool>,
    continuation: Option<Continuation>,
    /// Words of the query that no document has; exact prevents it.
    corrections: Option<Vec<hits::Corrected<'a>>>,
    /// Identifiers that no document has.
    missing: Option<&'a [String]>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Passage<'a> {
    path: &'a str,
    text: Cow<'a, str>,
    /// 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    score: f64,
    /// 1-based.
    start_line: u32,
    /// Inclusive.
    end_line: u32,
    /// Read it with get_pages, get_sheet_data or get_slides.
    page: Option<u32>,
    sheet: Option<&'a str>,
    /// Rows of the sheet.
    start_row: Option<u32>,
    end_row: Option<u32>,
    slide: Option<u32>,
    document_title: Option<&'a str>,
    /// changed or deleted: the file, since it was indexed.
    stale: Option<&'a str>,
    /// Further passages of the document, with the last of those shown first.
    more_in_document: Option<u32>,
    /// Other documents with this text.
    copies: Option<u32>,
    copy_paths: Option<&'a [String]>,
    /// Section of the lines; pass it on as it is.
    section: Option<&'a str>,
    /// 0-based position of the passage in its document.
    #[schemars(default)]
    chunk_index: u32,
    /// With the first passage of a document.
    uri: Option<String>,
    /// When several are searched.
    #[serde(rename = "index_name")]
    index_name: Option<&'a str>,
}

impl Tool for SearchDocs {
    const NAME: &'static str = "search_docs";
    const TITLE: &'static str = "Search documentation";
    const DESCRIPTION: &'static str = "Search prose (README, guides, Markdown, text, HTML, PDF, office; no code \
        or data). For source code use search_code. Operators: \"phrase\", \
        +word, -word, path:x, title:x, tag:x; in sentences +\"phrase\", -\"phrase\".";
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("topK", "top_k"),
        ("limit", "top_k"),
        ("minScore", "min_score"),
        ("projectId", "index_name"),
        ("project_id", "index_name"),
        ("glob", "path"),
    ];
    const JOINED_LISTS: &'static [JoinedList] = &[JoinedList::with_commas("path")];
    const OTHER_SYSTEM: Option<OtherSystem> = Some(OtherSystem {
        spellings: &["projectId", "project_id", "topK", "minScore"],
        defaults: &[("top_k", 5.0), ("min_score", 0.5)],
    });

    type Params = SearchDocsParams;
    type Output = SearchDocsResult<'static>;

    fn run(cx: &Context<'_>, params: &SearchDocsParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        if !resolve::any_has(&indexes, &CLASSES)? {
            let (code, what) = ("DOCS_INDEX_NOT_FOUND", "documentation");
            return Err(hits::holds_none(cx, &indexes, code, what, "search_code"));
        }
        let mut request = request(params);
        let mut took = Duration::ZERO;
        let max_tokens = max_tokens(params);
        budget::fit_results(max_tokens, MORE_PERCENT, |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let started = Instant::now();
            let response = hits::ask(cx, &indexes, &request)?;
            took += started.elapsed();
            let warnings = hits::warnings(cx, &indexes, &response);
            let made = respond(cx, params, &request, &indexes, &response, warnings, took);
            Ok(Attempt {
                can_shrink: hits::shrink(&mut request, &response),
                tokens: response.hits.tokens,
                response: made,
            })
        })
    }
}

fn request(params: &SearchDocsParams) -> Request {
    let mut request = Request::new(&params.query);
    request.k = params.top_k.get();
    request.exact = params.exact.get();
    request.min_score = params.min_score as f32;
    request.scope = Scope::Chunks;
    request.filters.classes = CLASSES.to_vec();
    request.filters.folders = params.folder.clone().into_iter().collect();
    request.filters.paths = globs(params.path.as_deref());
    hits::show(&mut request, params.full.get());
    request
}

fn max_tokens(params: &SearchDocsParams) -> u32 {
    PassageTokens::of(params.max_tokens, params.full, params.top_k.get())
}

fn respond(
    cx: &Context<'_>,
    params: &SearchDocsParams,
    request: &Request,
    indexes: &[Arc<Index>],
    response: &Response,
    warnings: Vec<String>,
    took: Duration,
) -> ToolResponse {
    let is_cut = response.hits.next.is_some() && response.hits.len() < request.k;
    let token = cx.token(response.hits.next.as_ref());
    let token = token.as_deref();
    let max_tokens = max_tokens(params);
    let uri = |number| {
        let first = hits::first_of_document(&response.hits, number)?;
        hits::has_facts(max_tokens).then(|| hits::uri_of(indexes, first))
    };
    let has_facts = hits::has_facts(max_tokens);
    let mut text = Text::new();
    text.warnings(&warnings);
    for (number, hit) in response.hits.iter().enumerate() {
        hits::first_line(&mut text, number, hit);
        text.facts(&[
            (
                "index",
                Some(&hits::index_shown(indexes, hit).unwrap_or_default()),
            ),
            ("lines", Some(&hits::lines_beside(hit))),
            ("chunk", Some(&hit.chunk_index)),
            (
                "section",
                has_facts.then_some(&hit.section_name as &dyn Display),
            ),
            ("", Some(&uri(number).unwrap_or_default())),
        ]);
        text.passage(&hit.shown_text());
    }
    // S4-05
    let count = wording::count(response.hits.len() as u64, "result");
    text.line(format!("{count} of {}.", response.found));
    let hits = &response.hits;
    let passages = (0..hits.len()).filter_map(|number| {
        let passage = passage(indexes, hits, number, uri(number))?;
        Some(Passage {
            section: passage.section.filter(|_| has_facts),
            ..passage
        })
    });
    let result = SearchDocsResult {
        results: passages.collect(),
        total_results: response.found,
        search_time_ms: (took.as_secs_f64() * 1e5).round() / 100.0,
        truncated: is_cut.then_some(true),
        continuation: token.map(|token| Continuation::of(Some(token))),
        corrections: hits::corrections(&response.corrections),
        missing: hits::missing(&response.missing),
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.continued(hits::lead(is_cut), token))
}

fn passage<'a>(
    indexes: &'a [Arc<Index>],
    hits: &'a [Hit],
    number: usize,
    uri: Option<String>,
) -> Option<Passage<'a>> {
    let hit = hits.get(number)?;
    let location = PartLocation::of(hit.part.as_ref());
    Some(Passage {
        path: &hit.document,
        text: hit.shown_text(),
        score: hits::score(hit.score),
        start_line: hit.lines.first,
        end_line: hit.lines.last,
        page: location.page,
        sheet: location.sheet,
        start_row: location.start_row,
        end_row: location.end_row,
        slide: location.slide,
        document_title: non_empty(&hit.title),
        stale: hit.source_state.stale(),
        more_in_document: (hit.more_in_document > 0).then_some(hit.more_in_document),
        copies: (hit.copies > 0).then_some(hit.copies),
        copy_paths: hits::copy_paths(hit),
        section: non_empty(&hit.section_name),
        chunk_index: hit.chunk_index,
        uri,
        index_name: hits::index_shown(indexes, hit),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn a_passage_names_its_page_rows_or_slide() {
        let fixture = Fixture::harbour(&[]);
        let first = |query: &str| {
            let answer = fixture.answer("search_docs", json!({"query": query}));
            let passage = answer.structured["results"][0].clone();
            let mut located = json!({});
            for name in [
                "path", "page", "sheet", "startRow", "endRow", "slide", "text",
            ] {
                if let Some(value) = passage.get(name) {
                    located[name] = value.clone();
                }
            }
            (located, answer.text)
        };
        let (found, _) = first("anchorage over the cable");
        assert_eq!(
            (&found["path"], &found["page"]),
            (&json!("pilot-book.pdf"), &json!(4))
        );
        let (found, text) = first("Kittiwake dues");
        assert_eq!(
            (&found["path"], &found["sheet"]),
            (&json!("ledger.xlsx"), &json!("Dues"))
        );
        let rows = found["text"].as_str().unwrap();
        assert!(rows.contains("Kittiwake\t1 March\t$1234.50\n"), "{rows}");
        let (first_row, last_row) = (&found["startRow"], &found["endRow"]);
        let named = format!("1. ledger.xlsx [Dues] rows {first_row}-{last_row}  score ");
        assert!(text.contains(&named), "{text}");
        let (found, _) = first("it turns on mercury");
        assert_eq!(
            (&found["path"], &found["slide"]),
            (&json!("talk.pptx"), &json!(2))
        );
    }

    #[test]
    fn copies_are_one_result_with_their_paths() {
        let text = "# Tides\n\nThe moon pulls the sea twice a day, and the harbour master writes it down.\n";
        let fixture = Fixture::new("tides", &[("old/tides.md", text), ("tides.md", text)]);
        let query = json!({"query": "moon and sea"});
        for tool in ["search_docs", "search"] {
            let answer = fixture.answer(tool, query.clone());
            let text = answer.text;
            assert!(
                text.contains("  1 more copy: old/tides.md\n"),
                "{tool}: {text}"
            );
            assert!(!text.contains("\n2. "), "{tool}: {text}");
        }
        let answer = fixture.answer("search_docs", query);
        let result = &answer.structured["results"][0];
        assert_eq!(result["copies"], 1);
        assert_eq!(result["copyPaths"], json!(["old/tides.md"]));
    }

    #[test]
    fn passages_are_sorted_by_score() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("search_docs", json!({"query": "how are sails mended"}));
        let results = answer.structured["results"].as_array().unwrap();
        assert_eq!(results[0]["path"], "guides/sails.md");
        assert!(answer.structured["totalResults"].as_u64().unwrap() >= results.len() as u64);
        let scores: Vec<f64> = results
            .iter()
            .map(|one| one["score"].as_f64().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores.len() > 1);
        assert!(
            results
                .iter()
                .all(|one| !one["path"].as_str().unwrap().ends_with(".rs"))
        );
        let line = answer.text.lines().next().unwrap();
        let start = format!("1. guides/sails.md:{}-", results[0]["startLine"]);
        assert!(
            line.starts_with(&start) && line.ends_with("  Sails"),
            "{line}"
        );
    }

    #[test]
    fn the_min_score_of_another_system_loses_no_answer() {
        let fixture = Fixture::guides();
        for (query, path) in [
            ("how are sails mended", "guides/sails.md"),
            ("where are wet sails stored", "guides/sails.md"),
            ("joining two ropes", "guides/ropes.md"),
            ("what is hard bread made of", "guides/food/bread.md"),
            ("pole star", "guides/stars.md"),
            ("was there a storm on the voyage", "logs/voyage.txt"),
        ] {
            let first = |arguments| {
                let answer = fixture.answer("search_docs", arguments);
                answer.structured["results"][0].clone()
            };
            let found = first(json!({"query": query}));
            assert_eq!(found["path"], path, "{query}");
            assert_eq!(first(json!({"query": query, "topK": 5})), found);
            assert!(found["score"].as_f64().unwrap() >= 0.5, "{found:#}");
        }
    }

    #[test]
    fn aliases_of_another_system_bring_its_defaults() {
        let fixture = Fixture::guides();
        let id = fixture.index().kb().state().unwrap().uuid;
        let few = fixture.answer(
            "search_docs",
            json!({"query": "quarterly tax", "projectId": id}),
        );
        assert_eq!(few.structured["totalResults"], 0);
        assert!(few.text.contains("pass a lower min_score"), "{}", few.text);
        let all = fixture.answer(
            "search_docs",
            json!({"query": "a ship and its sails", "index_name": id, "top_k": 9}),
        );
        assert!(
            all.structured["totalResults"].as_u64().unwrap() > 5,
            "{}",
            all.text
        );
        let count = |given| {
            let answer = fixture.answer("search_docs", given);
            answer.structured["results"].as_array().unwrap().len()
        };
        let given = json!({"query": "a ship and its sails", "topK": 3, "minScore": 0});
        assert_eq!(count(given), 3);
        let given = json!({"query": "a ship and its sails", "minScore": 0});
        assert_eq!(count(given), 5);
        let error = fixture.error("search_docs", json!({"query": "a", "projectId": "none"}));
        assert_eq!(error.code, "INDEX_NOT_FOUND");
        assert!(
            error.text().contains("project not found"),
            "{}",
            error.text()
        );
    }

    #[test]
    fn ten_passages_are_not_truncated() {
        // S4-03, S4-05
        let names: Vec<String> = (0..12).map(|n| format!("{n}.md")).collect();
        let documents: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "sails")).collect();
        let fixture = Fixture::new("many", &documents);
        let answer = fixture.answer("search_docs", json!({"query": "sails"}));
        assert_eq!(answer.structured["results"].as_array().unwrap().len(), 10);
        assert_eq!(answer.structured["totalResults"], 12);
        assert!(answer.structured.get("truncated").is_none());
    }

    #[test]
    fn an_index_without_documentation_is_an_error() {
        let fixture = Fixture::new("code", &[("a.rs", "fn main() {}")]);
        let error = fixture.error("search_docs", json!({"query": "main"}));
        assert_eq!(error.code, "DOCS_INDEX_NOT_FOUND");
    }

    #[test]
    fn a_truncated_result_goes_on_with_its_token() {
        let fixture = Fixture::guides();
        let asked = json!({"query": "sails", "max_tokens": 100, "topK": 7, "minScore": 0.01});
        let first = fixture.answer("search_docs", asked);
        assert_eq!(first.structured["truncated"], true);
        let token = &first.structured["continuation"]["token"];
        assert!(first.text.ends_with(&format!(
            "Cut at max_tokens: call again with continuation_token {}",
            token.as_str().unwrap()
        )));
        let next = json!({"query": "sails", "continuation_token": token});
        let next = fixture.answer("search_docs", next);
        assert_ne!(next.structured["results"], first.structured["results"]);
        let other = json!({"query": "ropes", "continuation_token": token});
        let error = fixture.error("search_docs", other);
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN");
        let other = json!({"query": "sails", "continuation_token": token});
        let error = fixture.error("search", other);
        assert_eq!(error.code, "INVALID_CONTINUATION_TOKEN");
    }
}
