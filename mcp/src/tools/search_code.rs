//! `search_code`: passages of source code.

use std::path::Path;
use std::sync::Arc;

use kb_engine::{Class, Hit, Mode, Request, Response, Scope};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, hits, resolve};
use crate::indexes::Index;
use crate::response::{Object, Text, ToolError, ToolResponse, insert_warnings, object};

/// What answers: programs, and data, which any search finds.
const CLASSES: [Class; 2] = [Class::Code, Class::Data];

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let indexes = resolve::all(call, arguments)?;
    if !resolve::any_has(&indexes, &CLASSES)? {
        let sentence = format!("{} holds no source code", hits::names(&indexes));
        return Err(ToolError::new("CODE_INDEX_NOT_FOUND", sentence)
            .with_hint("Index some with index_codebase, or with `kb index` on the command line"));
    }
    let asked = request(arguments);
    budget::fit(arguments.max_tokens(), |budget| {
        let mut request = asked.clone();
        request.page = arguments.page(budget);
        request.page.client_state = None;
        let response = hits::ask(&indexes, &request)?;
        Ok(Attempt {
            can_shrink: response.hits.len() > 1,
            tokens: response.hits.tokens,
            answer: answer(arguments, &request, &indexes, &response)?,
        })
    })
}

fn request(arguments: &Arguments) -> Request {
    let mut request = Request::new(arguments.required_text("query"));
    // `-> T`, `std::x`: signs of a language, not of a query.
    request.plain = true;
    let number = |name| {
        arguments
            .integer(name)
            .and_then(|number| number.try_into().ok())
    };
    request.k = arguments
        .integer("limit")
        .and_then(|limit| limit.try_into().ok())
        .unwrap_or(10);
    request.mode = match arguments.flag("use_hybrid_search") {
        Some(false) => Mode::Semantic,
        _ => Mode::Hybrid,
    };
    request.scope = Scope::Chunks;
    request.context_lines = (
        number("context_before").unwrap_or(0),
        number("context_after").unwrap_or(0),
    );
    request.filters.classes = CLASSES.to_vec();
    let languages = arguments.text("language").unwrap_or_default().split(',');
    let languages = languages
        .map(str::trim)
        .filter(|language| !language.is_empty());
    request.filters.languages = languages.map(str::to_owned).collect();
    request
}

fn answer(
    arguments: &Arguments,
    request: &Request,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Result<ToolResponse, ToolError> {
    let is_cut = response.hits.next.is_some() && response.hits.len() < request.k;
    let results: Vec<Value> = response
        .hits
        .iter()
        .map(|hit| result(indexes, hit))
        .collect();
    let searched = match arguments.index_name() {
        Some(_) => None,
        None => Some(searched(indexes)?),
    };
    let stale = staleness(indexes);
    let warnings = hits::warnings(arguments, indexes, response);
    let mut structured = object(json!({
        "search_context": searched,
        "results": results,
        "staleness_warning": stale,
        "truncated": is_cut.then_some(true),
    }));
    insert_warnings(&mut structured, &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    if let Some(searched) = &searched {
        let of = |key: &str| {
            searched
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        text.line(format!(
            "Searching {} (index {}).",
            of("searching"),
            of("index_name")
        ));
    }
    if let Some(message) = stale.as_ref().and_then(|stale| stale.get("message")) {
        let age = stale.as_ref().and_then(|stale| stale.get("age_days"));
        let message = message.as_str().unwrap_or_default();
        text.line(format!(
            "Age {} days: {message}",
            age.unwrap_or(&Value::Null)
        ));
    }
    for (number, hit) in (1..).zip(&response.hits) {
        show(&mut text, indexes, number, hit);
    }
    text.line(format!("{} results.", response.hits.len()));
    if is_cut {
        text.line("Cut at max_tokens: call again with a higher max_tokens for the rest.");
    }
    let text = text.end();
    Ok(ToolResponse { structured, text })
}

fn result(indexes: &[Arc<Index>], hit: &Hit) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
        "file_path": hit.document,
        "start_line": hit.lines.first,
        "end_line": hit.lines.last,
        "score": hits::score(hit.score),
        "content": hit.text,
        "language_id": some(&hit.language),
        "context_before": some(&hit.before),
        "context_after": some(&hit.after),
        "match_type": match_type(hit),
        "vector_score": hit.vector_score.map(hits::score),
        "keyword_score": hit.keyword_score.map(hits::score),
        "uri": hits::uri_of(indexes, hit),
        "index_name": hits::index_of(indexes, hit),
    })
}

fn show(text: &mut Text, indexes: &[Arc<Index>], number: usize, hit: &Hit) {
    hits::first_line(text, number, hit);
    let shown = |part: Option<f32>| part.map(|part| format!("{:?}", hits::score(part)));
    let shown = |part| shown(part).unwrap_or_default();
    text.facts(&[
        ("index", Some(&hits::index_of(indexes, hit))),
        ("language", Some(&hit.language)),
        ("match", Some(&match_type(hit).unwrap_or_default())),
        ("vector", Some(&shown(hit.vector_score))),
        ("keyword", Some(&shown(hit.keyword_score))),
        ("", Some(&hits::uri_of(indexes, hit))),
    ]);
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.text);
    text.named_passage("After:", &hit.after);
}

/// Which side found it.
fn match_type(hit: &Hit) -> Option<&'static str> {
    let is_found = |score: Option<f32>| score.is_some_and(|score| score > 0.0);
    match (is_found(hit.vector_score), is_found(hit.keyword_score)) {
        (true, true) => Some("both"),
        (true, false) => Some("semantic"),
        (false, true) => Some("keyword"),
        (false, false) => None,
    }
}

/// Says what was searched where the caller did not: the folder that the index was made from, if it is
/// on this machine, else the name.
fn searched(indexes: &[Arc<Index>]) -> Result<Object, ToolError> {
    let names = hits::names(indexes);
    let root = match indexes {
        [index] => {
            let roots = index.kb().roots()?;
            let here = roots
                .into_iter()
                .find(|root| Path::new(&root.source).is_dir());
            here.map(|root| root.source)
        }
        _ => None,
    };
    Ok(object(json!({
        "type": "search_context",
        "searching": root.as_ref().unwrap_or(&names),
        "index_name": names,
    })))
}

/// The oldest index of those asked, where one is old.
fn staleness(indexes: &[Arc<Index>]) -> Option<Value> {
    let stale = indexes
        .iter()
        .filter_map(|index| Some((index.name(), index.staleness()?)));
    let old = stale.filter(|(_, stale)| stale.age_days > hits::OLD_DAYS);
    let (name, stale) = old.max_by(|a, b| a.1.age_days.total_cmp(&b.1.age_days))?;
    Some(json!({
        "type": "staleness_warning",
        "message": hits::out_of_date(name, stale),
        "age_days": (stale.age_days * 10.0).round() / 10.0,
    }))
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use serde_json::json;

    #[test]
    fn code_is_found_by_meaning_and_by_name() {
        let fixture = Fixture::guides();
        let given = json!({"query": "fn trim_sail(angle: f32) -> f32", "limit": 2});
        let answer = fixture.answer("search_code", given);
        let first = &answer.structured["results"][0];
        assert_eq!(first["file_path"], "src/rig.rs");
        assert_eq!(first["language_id"], "rust");
        assert_eq!(first["match_type"], "both");
        assert_eq!(answer.structured["search_context"]["index_name"], "guides");
        assert!(first["content"].as_str().unwrap().contains("trim_sail"));
        let named = fixture.answer(
            "search_code",
            json!({"query": "sail", "index_name": "guides"}),
        );
        assert!(named.structured.get("search_context").is_none());
    }

    #[test]
    fn prose_never_answers_and_languages_are_heeded() {
        let fixture = Fixture::guides();
        let paths = |given| {
            let answer = fixture.answer("search_code", given);
            let results = answer.structured["results"].as_array().unwrap().clone();
            let paths = results
                .iter()
                .map(|one| one["file_path"].as_str().unwrap().to_owned());
            paths.collect::<std::collections::BTreeSet<_>>()
        };
        let all = paths(json!({"query": "mending sails with wax"}));
        assert!(all.iter().all(|path| path.starts_with("src/")), "{all:?}");
        let rust = paths(json!({"query": "sails", "language": "rs"}));
        assert_eq!(rust.into_iter().collect::<Vec<_>>(), ["src/rig.rs"]);
        let both = paths(json!({"query": "sails", "language": ["rs", "python"]}));
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn signs_of_a_language_are_words() {
        let fixture = Fixture::guides();
        // As a query, this would leave out whatever has "angle".
        let answer = fixture.answer("search_code", json!({"query": "trim_sail -angle"}));
        assert_eq!(answer.structured["results"][0]["file_path"], "src/rig.rs");
    }

    #[test]
    fn meaning_alone_answers_when_asked_for() {
        let fixture = Fixture::guides();
        let given = json!({"query": "trim_sail", "use_hybrid_search": "false"});
        let answer = fixture.answer("search_code", given);
        let first = &answer.structured["results"][0];
        assert!(first.get("keyword_score").is_none());
        assert_eq!(first["match_type"], "semantic");
    }

    #[test]
    fn lines_around_are_given_when_asked_for() {
        let function = |n: u32| {
            let body = "    let total = values.iter().sum::<f32>();\n".repeat(6);
            format!("/// Number {n}.\npub fn item_{n}() -> f32 {{\n{body}    total\n}}\n\n")
        };
        let code: String = (0..60).map(function).collect();
        let code = code.replace("pub fn item_30(", "pub fn walrus(");
        let fixture = Fixture::new("code", &[("a.rs", &code)]);
        let first = |given| fixture.answer("search_code", given).structured["results"][0].clone();
        let plain = first(json!({"query": "walrus", "limit": 1}));
        assert!(plain.get("context_after").is_none() && plain.get("context_before").is_none());
        let given = json!({"query": "walrus", "limit": 1, "context_before": 2, "context_after": 3});
        let around = first(given);
        let lines = |key: &str| around[key].as_str().unwrap().lines().count();
        assert_eq!((lines("context_before"), lines("context_after")), (2, 3));
    }

    #[test]
    fn what_is_not_there_yet_is_ignored_with_a_word() {
        let fixture = Fixture::guides();
        let given = json!({"query": "hoist", "language": "python", "symbol_type": "function"});
        let answer = fixture.answer("search_code", given);
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("symbol_type ignored"), "{warning}");
    }

    #[test]
    fn an_index_without_code_is_told() {
        let fixture = Fixture::new("docs", &[("a.md", "# A\n\ntext")]);
        let error = fixture.error("search_code", json!({"query": "main"}));
        assert_eq!(error.code, "CODE_INDEX_NOT_FOUND");
    }
}
