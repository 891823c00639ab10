//! `search`: documents or passages, by words, by meaning, or by title.

use std::sync::Arc;

use kb_engine::file_types;
use kb_engine::{Cursor, Hit, Mode, Request, Response, Scope, Sort};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, hits, resolve};
use crate::indexes::Index;
use crate::response::envelope::Part;
use crate::response::{Text, ToolError, ToolResponse, object, time};

/// Characters of a preview.
const PREVIEW: usize = 500;

/// Characters of what stands before and after it.
const AROUND: usize = 100;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let indexes = resolve::all(call, arguments)?;
    budget::fit(arguments.max_tokens(), |budget| {
        let response = hits::ask(&indexes, &request(arguments, budget))?;
        Ok(Attempt {
            can_shrink: response.hits.len() > 1,
            tokens: response.hits.tokens,
            answer: answer(arguments, &indexes, &response),
        })
    })
}

fn request(arguments: &Arguments, budget: u32) -> Request {
    let mut request = Request::new(arguments.required_text("query"));
    request.k = limit(arguments);
    let mode = arguments.text("mode").and_then(Mode::from_name);
    request.mode = mode.unwrap_or_default();
    let scope = arguments.text("scope").and_then(Scope::from_name);
    request.scope = scope.unwrap_or(Scope::Documents);
    request.sort = match arguments.text("sort") {
        Some("recency") => Sort::Recency,
        _ => Sort::Score,
    };
    let one = |name| {
        arguments
            .text(name)
            .map(str::to_owned)
            .into_iter()
            .collect()
    };
    request.filters.folders = one("filters.folder");
    request.filters.types = one("filters.fileType");
    request.filters.tags = one("filters.tag");
    request.max_text_chars = Some(PREVIEW);
    request.context_chars = Some(AROUND);
    request.page = arguments.page(budget);
    request
}

fn limit(arguments: &Arguments) -> usize {
    let limit = arguments.integer("limit").unwrap_or(10);
    usize::try_from(limit).unwrap_or(10)
}

fn answer(arguments: &Arguments, indexes: &[Arc<Index>], response: &Response) -> ToolResponse {
    let results: Vec<Value> = response
        .hits
        .iter()
        .map(|hit| result(indexes, hit))
        .collect();
    let part = Part {
        tokens: response.hits.tokens,
        max_tokens: arguments.max_tokens().into(),
        token: response.hits.next.as_ref().map(Cursor::as_str),
        is_full: response.hits.len() >= limit(arguments),
        is_continued: arguments.is_continued(),
        whole: "SEARCH_COMPLETED",
        items: "results",
        ..Part::default()
    };
    let warnings = hits::warnings(arguments, indexes, response);
    let structured = part.around(object(json!({"results": results})), &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    for (number, hit) in (1..).zip(&response.hits) {
        shown(&mut text, indexes, number, hit);
    }
    if response.hits.is_empty() {
        text.line("No results.");
    }
    let text = text.envelope(&structured);
    ToolResponse { structured, text }
}

fn result(indexes: &[Arc<Index>], hit: &Hit) -> Value {
    let kind = file_types::short(&hit.file_type);
    let has_lines = hit.lines.first > 0;
    json!({
        "document_id": hit.document,
        "doc_handle": hit.handle,
        "title": super::call::non_empty(&hit.title),
        "uri": hits::uri_of(indexes, hit),
        "index_name": hits::index_of(indexes, hit),
        "preview": hit.text,
        "score": hits::score(hit.score),
        "location": {
            "document_type": kind,
            "section": super::call::non_empty(&section(hit)),
            "start_line": has_lines.then_some(hit.lines.first),
            "end_line": has_lines.then_some(hit.lines.last),
        },
        "context": context(hit),
        "updated": updated(hit),
        "approx_size": hit.size_bytes,
        "metadata": {
            "document_type": kind,
            "tags": (!hit.tags.is_empty()).then_some(&hit.tags),
            "author": author(hit),
        },
    })
}

/// The same for a reader.
fn shown(text: &mut Text, indexes: &[Arc<Index>], number: usize, hit: &Hit) {
    hits::first_line(text, number, hit);
    text.facts(&[
        ("handle", Some(&hit.handle)),
        ("index", Some(&hits::index_of(indexes, hit))),
        ("type", Some(&file_types::short(&hit.file_type))),
        ("updated", Some(&updated(hit).unwrap_or_default())),
        ("bytes", Some(&hit.size_bytes)),
        ("tags", Some(&hit.tags.join(" "))),
        ("author", Some(&author(hit).unwrap_or_default())),
        ("section", Some(&section(hit))),
    ]);
    text.line(hits::uri_of(indexes, hit));
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.text);
    text.named_passage("After:", &hit.after);
}

fn section(hit: &Hit) -> String {
    hit.section.join(" > ")
}

fn author(hit: &Hit) -> Option<&str> {
    let stated = hit.metadata.iter().find(|(key, _)| key == "author");
    stated.map(|(_, author)| author.as_str())
}

fn updated(hit: &Hit) -> Option<String> {
    (hit.modified_ms != 0).then(|| time::rfc3339(hit.modified_ms))
}

fn context(hit: &Hit) -> Option<Value> {
    let is_there = !(hit.before.is_empty() && hit.after.is_empty());
    is_there.then(|| json!({"before": super::call::non_empty(&hit.before), "after": super::call::non_empty(&hit.after)}))
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use kb_engine::{KbWriter, SourceInfo, document_of};
    use serde_json::json;

    #[test]
    fn results_say_what_they_are_and_where() {
        let fixture = Fixture::guides();
        let answer = fixture.answer(
            "search",
            json!({"query": "how are sails mended", "max_tokens": 2000}),
        );
        let first = &answer.structured["data"]["results"][0];
        assert_eq!(first["document_id"], "guides/sails.md");
        assert_eq!(first["title"], "Sails");
        assert_eq!(first["uri"], "kb://guides/doc/guides/sails.md");
        assert_eq!(first["location"]["document_type"], "md");
        assert_eq!(first["location"]["section"], "Sails");
        assert!(first["preview"].as_str().unwrap().contains("wax"));
        assert_eq!(answer.structured["status"]["message"], "SEARCH_COMPLETED");
    }

    #[test]
    fn what_stands_around_and_who_wrote_it_is_told() {
        let line = "The mate counts every rope on the deck and writes it down.\n";
        let text = format!(
            "---\nauthor: Ada\n---\n# Log\n\n{}A walrus!\n\n{}",
            line.repeat(12),
            line.repeat(12)
        );
        let fixture = Fixture::new("log", &[("log.md", &text)]);
        let answer = fixture.answer("search", json!({"query": "walrus", "mode": "keyword"}));
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
    fn filters_modes_and_orders_are_heeded() {
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
        assert!(ids(json!({"query": "wax", "mode": "keyword", "scope": "chunks"})).len() == 1);
        assert_eq!(ids(json!({"query": "sails", "limit": 1})).len(), 1);
    }

    #[test]
    fn the_newest_come_first_when_asked_for() {
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
    fn what_nobody_speaks_of_is_said() {
        let fixture = Fixture::guides();
        let answer = fixture.answer(
            "search",
            json!({"query": "quarterly tax filing", "mode": "keyword"}),
        );
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(
            warning.starts_with("NOTHING_RELEVANT: nothing in guides seems"),
            "{warning}"
        );
        assert!(answer.text.contains(warning));
    }

    #[test]
    fn a_second_call_needs_only_the_query_and_the_token() {
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
    fn a_filter_is_called_by_its_name_here() {
        let fixture = Fixture::guides();
        let given = json!({"query": "sails", "filters": {"tag": "a,b"}});
        let error = fixture.error("search", given);
        assert!(
            error.sentence.starts_with("filters.tag: "),
            "{}",
            error.text()
        );
    }
}
