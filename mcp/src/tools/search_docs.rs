//! `search_docs`: passages of documentation and other prose.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kb_engine::{Class, Hit, Request, Response, Scope};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, hits, resolve};
use crate::indexes::Index;
use crate::response::{Text, ToolError, ToolResponse, insert_warnings, object};

/// What answers: prose, and data, which any search finds.
const CLASSES: [Class; 2] = [Class::Doc, Class::Data];

/// Spellings of the source whose defaults are others.
const OTHER_SPELLINGS: &[&str] = &["projectId", "project_id", "topK", "minScore"];

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let indexes = resolve::all(call, arguments)?;
    let asked = Asked::of(arguments);
    if !resolve::any_has(&indexes, &CLASSES)? {
        let names = hits::names(&indexes);
        let sentence = format!("{names} holds no documentation");
        return Err(ToolError::new("DOCS_INDEX_NOT_FOUND", sentence)
            .with_hint("Index some with index_codebase, or with `kb index` on the command line"));
    }
    let mut took = Duration::ZERO;
    budget::fit(arguments.max_tokens(), |budget| {
        let mut request = asked.request(arguments);
        request.page = arguments.page(budget);
        // There is no continuation here, so none needs a note.
        request.page.client_state = None;
        let started = Instant::now();
        let response = hits::ask(&indexes, &request)?;
        took += started.elapsed();
        let mut warnings = hits::warnings(arguments, &indexes, &response);
        if response.hits.is_empty() && asked.min_score > 0.0 {
            warnings.extend(below(&indexes, &request)?);
        }
        Ok(Attempt {
            can_shrink: response.hits.len() > 1,
            tokens: response.hits.tokens,
            answer: answer(&asked, &indexes, &response, &warnings, took),
        })
    })
}

/// How many passages are wanted, and how good.
struct Asked {
    top_k: usize,
    min_score: f32,
}

impl Asked {
    /// What the caller leaves out is as the source whose words are used has it.
    fn of(arguments: &Arguments) -> Asked {
        let is_other = arguments.is_spelled(OTHER_SPELLINGS);
        let top_k = match arguments.integer("top_k") {
            _ if is_other && !arguments.is_given("top_k") => 5,
            given => given.unwrap_or(10),
        };
        let min_score = match arguments.number("min_score") {
            _ if is_other && !arguments.is_given("min_score") => 0.5,
            given => given.unwrap_or(0.0),
        };
        Asked {
            top_k: usize::try_from(top_k).unwrap_or(10),
            min_score: min_score as f32,
        }
    }

    fn request(&self, arguments: &Arguments) -> Request {
        let mut request = Request::new(arguments.required_text("query"));
        request.k = self.top_k;
        request.min_score = self.min_score;
        request.scope = Scope::Chunks;
        request.filters.classes = CLASSES.to_vec();
        let folder = arguments.text("folder").map(str::to_owned);
        request.filters.folders = folder.into_iter().collect();
        request
    }
}

/// Says what the best score is, where all are below the one asked for.
fn below(indexes: &[Arc<Index>], request: &Request) -> Result<Option<String>, ToolError> {
    let mut any = request.clone();
    (any.min_score, any.k) = (0.0, 1);
    let best = hits::ask(indexes, &any)?
        .hits
        .first()
        .map(|hit| hits::score(hit.score));
    Ok(best.map(|best| {
        let least = hits::score(request.min_score);
        format!("no passage scores {least} or more; the best scores {best}: pass a lower min_score")
    }))
}

fn answer(
    asked: &Asked,
    indexes: &[Arc<Index>],
    response: &Response,
    warnings: &[String],
    took: Duration,
) -> ToolResponse {
    let is_cut = response.hits.next.is_some() && response.hits.len() < asked.top_k;
    let results: Vec<Value> = response
        .hits
        .iter()
        .map(|hit| result(indexes, hit))
        .collect();
    let mut structured = object(json!({
        "results": results,
        "totalResults": response.hits.len(),
        "searchTimeMs": (took.as_secs_f64() * 1e5).round() / 100.0,
        "truncated": is_cut.then_some(true),
    }));
    insert_warnings(&mut structured, warnings);
    let mut text = Text::new();
    text.warnings(warnings);
    for (number, hit) in (1..).zip(&response.hits) {
        hits::first_line(&mut text, number, hit);
        text.facts(&[
            ("index", Some(&hits::index_of(indexes, hit))),
            ("chunk", Some(&hit.chunk_index)),
            ("", Some(&hits::uri_of(indexes, hit))),
        ]);
        text.passage(&hit.text);
    }
    text.line(format!("{} results.", response.hits.len()));
    if is_cut {
        text.line("Cut at max_tokens: call again with a higher max_tokens for the rest.");
    }
    let text = text.end();
    ToolResponse { structured, text }
}

fn result(indexes: &[Arc<Index>], hit: &Hit) -> Value {
    json!({
        "path": hit.document,
        "text": hit.text,
        "score": hits::score(hit.score),
        "startLine": hit.lines.first,
        "endLine": hit.lines.last,
        "documentTitle": (!hit.title.is_empty()).then_some(&hit.title),
        "chunkIndex": hit.chunk_index,
        "document_id": hit.document,
        "uri": hits::uri_of(indexes, hit),
        "index_name": hits::index_of(indexes, hit),
    })
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use serde_json::json;

    #[test]
    fn passages_come_with_path_lines_and_score_best_first() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("search_docs", json!({"query": "how are sails mended"}));
        let results = answer.structured["results"].as_array().unwrap();
        assert_eq!(results[0]["path"], "guides/sails.md");
        assert_eq!(answer.structured["totalResults"], results.len());
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
    fn other_spellings_bring_their_defaults() {
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
            json!({"query": "a ship and its sails", "index_name": id}),
        );
        assert!(
            all.structured["totalResults"].as_u64().unwrap() > 5,
            "{}",
            all.text
        );
        let given = json!({"query": "a ship and its sails", "topK": 3, "minScore": 0});
        assert_eq!(
            fixture.answer("search_docs", given).structured["totalResults"],
            3
        );
        let given = json!({"query": "a ship and its sails", "minScore": 0});
        assert_eq!(
            fixture.answer("search_docs", given).structured["totalResults"],
            5
        );
        let error = fixture.error("search_docs", json!({"query": "a", "projectId": "none"}));
        assert_eq!(error.code, "INDEX_NOT_FOUND");
        assert!(
            error.text().contains("project not found"),
            "{}",
            error.text()
        );
    }

    #[test]
    fn ten_passages_are_a_whole_answer() {
        let names: Vec<String> = (0..12).map(|n| format!("{n}.md")).collect();
        let documents: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "sails")).collect();
        let fixture = Fixture::new("many", &documents);
        let answer = fixture.answer("search_docs", json!({"query": "sails"}));
        assert_eq!(answer.structured["totalResults"], 10);
        assert!(answer.structured.get("truncated").is_none());
    }

    #[test]
    fn an_index_without_documentation_is_told() {
        let fixture = Fixture::new("code", &[("a.rs", "fn main() {}")]);
        let error = fixture.error("search_docs", json!({"query": "main"}));
        assert_eq!(error.code, "DOCS_INDEX_NOT_FOUND");
    }

    #[test]
    fn a_cut_is_said() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("search_docs", json!({"query": "sails", "max_tokens": 100}));
        assert_eq!(answer.structured["truncated"], true);
        assert!(answer.text.ends_with("higher max_tokens for the rest."));
    }
}
