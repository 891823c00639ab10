//! Searching by programs: ranked, by pattern, symbols, names of documents.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use kb_engine::{
    Kb, RegexOutput, RegexRequest, Show, SymbolsRequest, search_files_regex, search_files_symbols,
    search_files_with,
};
use kb_json::Object;
use kb_mcp::OpenFile;
use serde_json::Value;

use super::call::{object_of, page, reading};
use super::names::{self, FILTERS, FIND, PAGE, REGEX, SEARCH, SYMBOLS, number, only, wrong};
use crate::answer::{Answer, Problem, json, respond};
use crate::asked::{chosen, flag, one, request as asked_request, unless};
use crate::finder::find;
use crate::fresh::Depends;
use crate::parameters::Parameters;
use crate::site::{Shared, Visit};

type Site = State<Arc<Shared>>;

/// Hits without `k`; and the same for symbols and matches of patterns.
const HITS: u32 = 10;
const LINES: u32 = 100;

/// Documents that are found by a part of their name.
const FOUND: usize = 50;

pub(super) async fn by_address(State(site): Site, request: Request<Body>) -> Response {
    reading(Visit::of(site, &request), Depends::OnSources, hits).await
}

/// The same names in an object: strings, numbers, booleans, and lists of them.
pub(super) async fn by_body(State(site): Site, request: Request<Body>) -> Response {
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
            reading(visit, Depends::OnSources, hits).await
        }
        Err(problem) => respond(problem.to_json()),
    }
}

fn with_value(parameters: Parameters, name: &str, value: &Value) -> Result<Parameters, Problem> {
    let plain = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(wrong(format!(
            "{name}: a string, a number or a boolean was expected, or a list of them"
        ))),
    };
    match value {
        Value::Array(values) if names::repeats(&[SEARCH, FILTERS], name) => {
            let mut values = values.iter();
            values.try_fold(parameters.without(name), |all, value| {
                Ok(all.and(name, &plain(value)?))
            })
        }
        value => Ok(parameters.with(name, &plain(value)?)),
    }
}

fn hits(visit: &Visit, cancel: &AtomicBool) -> Result<Answer, Problem> {
    let parameters = &visit.parameters;
    only(parameters, &[SEARCH, FILTERS, PAGE])?;
    let files = chosen(&visit.site, parameters)?;
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    let k = count(parameters, SEARCH, HITS)?;
    let mut request = asked_request(parameters)?.k(k).page(page(parameters)?);
    if let Some(score) = one(parameters, "min_score", |score| score.parse().ok())? {
        request = request.min_score(score);
    }
    if let Some(lines) = number(parameters, SEARCH, "lines")? {
        request = request.show(Show::lines(lines));
    }
    let response = search_files_with(&kbs, &request, &mut |_| unless(cancel))?;
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

pub(super) async fn regex(State(site): Site, request: Request<Body>) -> Response {
    reading(Visit::of(site, &request), Depends::OnFiles, matches).await
}

fn matches(visit: &Visit, cancel: &AtomicBool) -> Result<Answer, Problem> {
    let parameters = &visit.parameters;
    only(parameters, &[REGEX, FILTERS, PAGE])?;
    let pattern = parameters.first("pattern");
    let pattern = pattern.ok_or_else(|| wrong("pattern: it is missing".to_owned()))?;
    let output = one(parameters, "output", |output| match output {
        "lines" => Some(RegexOutput::Lines),
        "documents" => Some(RegexOutput::Documents),
        "counts" => Some(RegexOutput::Counts),
        _ => None,
    })?;
    let output = output.unwrap_or_default();
    let files = chosen(&visit.site, parameters)?;
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    let request = RegexRequest::new(pattern)
        .ignore_case(flag(parameters, "ignore_case")?)
        .whole_words(flag(parameters, "word")?)
        .literal(flag(parameters, "literal")?)
        .multi_line(flag(parameters, "multiline")?)
        .output(output)
        .k(count(parameters, REGEX, LINES)?)
        .filters(asked_request(parameters)?.filters)
        .page(page(parameters)?);
    let response = search_files_regex(&kbs, &request, &mut |_| unless(cancel))?;
    let found = &response.matches;
    let name = |number: usize| files.get(number).map(OpenFile::name);
    let matches = found
        .iter()
        .map(|found| kb_json::regex_match(found, name(found.file), output));
    let object = Object::new()
        .objects("matches", matches.collect())
        .join(kb_json::summary(None, Object::new(), &response.warnings));
    Ok(json(object.join(kb_json::paging(
        found.tokens,
        found.over_budget,
        found.next.as_ref(),
    ))))
}

pub(super) async fn symbols(State(site): Site, request: Request<Body>) -> Response {
    reading(Visit::of(site, &request), Depends::OnFiles, found_symbols).await
}

fn found_symbols(visit: &Visit, cancel: &AtomicBool) -> Result<Answer, Problem> {
    let parameters = &visit.parameters;
    only(parameters, &[SYMBOLS, FILTERS, PAGE])?;
    let files = chosen(&visit.site, parameters)?;
    let kbs: Vec<&Kb> = files.iter().map(OpenFile::kb).collect();
    let filters = asked_request(&parameters.clone().without("kind").without("symbol"))?.filters;
    let mut request = SymbolsRequest::new().filters(filters);
    request.k = count(parameters, SYMBOLS, LINES)?;
    request.page = page(parameters)?;
    request.kinds = asked_request(parameters)?.filters.symbol_kinds;
    if let Some(name) = parameters.first("name") {
        request = request.name(name);
    }
    let response = search_files_symbols(&kbs, &request, &mut |_| unless(cancel))?;
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

pub(super) async fn documents(State(site): Site, request: Request<Body>) -> Response {
    reading(
        Visit::of(site, &request),
        Depends::OnFiles,
        |visit, cancel| {
            only(&visit.parameters, &[FIND])?;
            let typed = visit.parameters.first("q").unwrap_or_default();
            let found = find(&visit.site, typed, FOUND, cancel)?;
            let found = found.iter().map(|(file, document)| {
                Object::new()
                    .field("file", &**file)
                    .field("document", &**document)
            });
            Ok(json(Object::new().objects("documents", found.collect())))
        },
    )
    .await
}

/// The `k` of a request.
fn count(parameters: &Parameters, group: names::Names, default: u32) -> Result<usize, Problem> {
    let k = number(parameters, group, "k")?.unwrap_or(default);
    Ok(usize::try_from(k).unwrap_or(usize::MAX))
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
