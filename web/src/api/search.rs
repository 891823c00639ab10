//! Searching by programs.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use kb_engine::{
    Cursor, Kb, PageOptions, Show, SymbolsRequest, search_files, search_files_symbols,
};
use kb_json::Object;
use kb_mcp::OpenFile;
use serde_json::Value;

use super::call::{object_of, reading};
use crate::answer::{Answer, Problem, json, respond};
use crate::asked::{chosen, one, request as asked_request};
use crate::parameters::Parameters;
use crate::site::{Shared, Visit};

/// Hits without `k`, and most hits.
const HITS: usize = 10;
const HITS_LIMIT: usize = 200;

/// Filters, of which an address may have several values.
const NAMES_THAT_REPEAT: [&str; 13] = [
    "file", "path", "type", "lang", "tag", "folder", "field", "where", "facet", "links_to",
    "class", "kind", "symbol",
];

/// Those of every list.
const NAMES_OF_PAGES: [&str; 4] = ["k", "max_tokens", "cursor", "since"];

/// Most tokens of one answer.
const TOKENS: u32 = 100_000;

pub(super) async fn by_address(
    State(site): State<Arc<Shared>>,
    request: Request<Body>,
) -> Response {
    reading(Visit::of(site, &request), answer).await
}

/// The same names in an object: strings, numbers, booleans, and lists of them.
pub(super) async fn by_body(State(site): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let mut visit = Visit::of(site, &request);
    let read = object_of(request).await.and_then(|object| {
        let mut pairs = object.into_iter();
        pairs.try_fold(visit.parameters.clone(), |all, (name, value)| {
            with_value(all, &name, &value)
        })
    });
    match read {
        Ok(parameters) => {
            visit.parameters = parameters;
            reading(visit, answer).await
        }
        Err(problem) => respond(problem.to_json()),
    }
}

fn with_value(parameters: Parameters, name: &str, value: &Value) -> Result<Parameters, Problem> {
    let plain = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            format!("{name}: a string, a number or a boolean was expected, or a list of them"),
        )),
    };
    match value {
        Value::Array(values) if NAMES_THAT_REPEAT.contains(&name) => {
            let mut values = values.iter();
            values.try_fold(parameters.without(name), |all, value| {
                Ok(all.and(name, &plain(value)?))
            })
        }
        value => Ok(parameters.with(name, &plain(value)?)),
    }
}

/// Refuses a name that is not known: it would be a filter that does not filter.
fn only(parameters: &Parameters, known: &[&str]) -> Result<(), Problem> {
    let unknown = parameters.pairs().map(|(name, _)| name);
    let unknown = unknown.into_iter().find(|name| {
        !known.contains(name) && !NAMES_THAT_REPEAT.contains(name) && !NAMES_OF_PAGES.contains(name)
    });
    match unknown {
        None => Ok(()),
        Some(name) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            format!("{name:?} is not known here; docs/serve.md has the names"),
        )),
    }
}

fn answer(visit: &Visit) -> Result<Answer, Problem> {
    let parameters = &visit.parameters;
    only(
        parameters,
        &[
            "q",
            "mode",
            "sort",
            "exact",
            "explain",
            "min_score",
            "lines",
            "group_by",
        ],
    )?;
    let files = chosen(&visit.site, parameters)?;
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    let k = number(parameters, "k", HITS, HITS_LIMIT)?;
    let mut request = asked_request(parameters)?.k(k).page(page(parameters)?);
    if let Some(score) = one(parameters, "min_score", |score| score.parse().ok())? {
        request = request.min_score(score);
    }
    if let Some(lines) = one(parameters, "lines", |lines| lines.parse().ok())? {
        request = request.show(Show::lines(lines));
    }
    let response = search_files(&kbs, &request)?;
    let name = |number: usize| files.get(number).map(OpenFile::name);
    let hits = response
        .hits
        .iter()
        .map(|hit| kb_json::hit(hit, name(hit.file), &request));
    let mut object = Object::new()
        .objects("hits", hits.collect())
        .join(kb_json::summary(
            Some(response.relevance.name()),
            kb_json::spelling(&response),
            &response.warnings,
        ));
    object = object.join(kb_json::facets(&response));
    if let Some(explanation) = kb_json::explanation(&response) {
        object = object.join(explanation);
    }
    let hits = &response.hits;
    Ok(json(object.join(kb_json::paging(
        hits.tokens,
        hits.over_budget,
        hits.next.as_ref(),
    ))))
}

pub(super) async fn symbols(State(site): State<Arc<Shared>>, request: Request<Body>) -> Response {
    reading(Visit::of(site, &request), found_symbols).await
}

fn found_symbols(visit: &Visit) -> Result<Answer, Problem> {
    let parameters = &visit.parameters;
    let files = chosen(&visit.site, parameters)?;
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    only(parameters, &["name"])?;
    let filters = asked_request(&parameters.clone().without("kind").without("symbol"))?.filters;
    let mut request = SymbolsRequest::new().filters(filters);
    request.k = number(parameters, "k", 100, 1000)?;
    request.page = page(parameters)?;
    request.kinds = asked_request(parameters)?.filters.symbol_kinds;
    if let Some(name) = parameters.first("name") {
        request = request.name(name);
    }
    let response = search_files_symbols(&kbs, &request, &mut |_| ControlFlow::Continue(()))?;
    let found = &response.symbols;
    let name = |number: usize| files.get(number).map(OpenFile::name);
    let symbols = found
        .iter()
        .map(|symbol| kb_json::symbol(symbol, name(symbol.file)));
    let object = Object::new().objects("symbols", symbols.collect());
    Ok(json(object.join(kb_json::paging(
        found.tokens,
        found.over_budget,
        found.next.as_ref(),
    ))))
}

/// Token budget and cursor.
pub(super) fn page(parameters: &Parameters) -> Result<PageOptions, Problem> {
    let tokens = one(parameters, "max_tokens", |tokens| tokens.parse().ok())?;
    let mut page = PageOptions::default().max_tokens(tokens.unwrap_or(TOKENS).min(TOKENS));
    page.cursor = parameters.first("cursor").map(Cursor::from);
    Ok(page)
}

/// A number from 1 to `limit`.
fn number(
    parameters: &Parameters,
    name: &'static str,
    default: usize,
    limit: usize,
) -> Result<usize, Problem> {
    let Some(given) = parameters.first(name) else {
        return Ok(default);
    };
    let number = given
        .parse()
        .ok()
        .filter(|number| (1..=limit).contains(number));
    number.ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            format!("{name}: {given:?} given; allowed are 1 to {limit}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_says_what_an_address_says() {
        let body = serde_json::json!({"q": "x", "k": 3, "type": ["rust", "go"], "exact": true, "tag": null});
        let mut parameters = Parameters::default();
        for (name, value) in body.as_object().unwrap() {
            parameters = with_value(parameters, name, value).unwrap();
        }
        assert_eq!(parameters.first("q"), Some("x"));
        assert_eq!(parameters.first("k"), Some("3"));
        assert_eq!(parameters.all("type").collect::<Vec<_>>(), ["rust", "go"]);
        assert!(parameters.has("exact", "true"));
        for wrong in [serde_json::json!({"a": 1}), serde_json::json!([1])] {
            assert!(with_value(Parameters::default(), "q", &wrong).is_err());
        }
        assert_eq!(parameters.first("tag"), None);
    }
}
