//! The routes of two systems that this one replaces. Each calls the tool of the MCP server that has the same contract,
//! and gives its result the form that the clients of those systems read.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};

use super::call::object_of;
use crate::answer::{Problem, answer, respond};
use crate::site::{Shared, Visit};

type Site = State<Arc<Shared>>;
type Object = Map<String, Value>;

/// Documents that `/mcp/search` gives without `limit`, and most of them.
const HANDLES: u64 = 5;
const HANDLES_LIMIT: u64 = 10;

/// Searches the documents of a project: `query`, `projectId`, `topK` (5), `minScore` (.5). `results` have `content`,
/// `documentTitle`, `chunkIndex` and `score`.
pub(super) async fn search_docs(State(site): Site, request: Request<Body>) -> Response {
    let visit = Visit::of(site, &request);
    let arguments = object_of(request).await.and_then(|object| {
        let object = only(object, &["query", "projectId", "topK", "minScore"])?;
        match object.contains_key("projectId") {
            true => Ok(object),
            false => Err(wrong("projectId: it is missing".to_owned())),
        }
    });
    call(
        visit,
        "search_docs",
        StatusCode::OK,
        arguments,
        |mut result| {
            for hit in list(&mut result, "results") {
                if let Some(text) = hit.remove("text") {
                    hit.insert("content".to_owned(), text);
                }
            }
            result.remove("continuation");
            Value::Object(result)
        },
    )
    .await
}

/// Stores a document of a project: `fileName`, `content`, `mimeType`.
pub(super) async fn upload_document(
    State(site): Site,
    Path(project): Path<String>,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(site, &request);
    let arguments = object_of(request).await.and_then(|object| {
        let mut object = only(object, &["fileName", "content", "mimeType", "projectId"])?;
        object.insert("projectId".to_owned(), project.into());
        Ok(object)
    });
    call(
        visit,
        "upload_document",
        StatusCode::CREATED,
        arguments,
        Value::Object,
    )
    .await
}

/// Finds documents by title, handle and tags: `query`, `limit` (5, at most 10), `sort`. A list of `doc_handle`,
/// `title`, `updated` and `approx_size`.
pub(super) async fn search(State(site): Site, request: Request<Body>) -> Response {
    let visit = Visit::of(site, &request);
    let arguments = object_of(request).await.and_then(|object| {
        let mut object = only(object, &["query", "limit", "sort"])?;
        let limit = match object.get("limit") {
            None | Some(Value::Null) => HANDLES,
            Some(limit) => {
                let limit = limit
                    .as_u64()
                    .filter(|limit| (1..=HANDLES_LIMIT).contains(limit));
                limit.ok_or_else(|| wrong(format!("limit: allowed are 1 to {HANDLES_LIMIT}")))?
            }
        };
        object.insert("limit".to_owned(), limit.into());
        object.insert("mode".to_owned(), "title".into());
        Ok(object)
    });
    call(visit, "search", StatusCode::OK, arguments, |mut result| {
        let mut data = match result.remove("data") {
            Some(Value::Object(data)) => data,
            _ => Object::new(),
        };
        let found = list(&mut data, "results").map(|hit| {
            let wanted = ["doc_handle", "title", "updated", "approx_size"];
            let pairs = wanted
                .iter()
                .map(|name| ((*name).to_owned(), hit.remove(*name).unwrap_or_default()));
            Value::Object(pairs.collect())
        });
        Value::Array(found.collect())
    })
    .await
}

/// The text of a document: `doc_handle`. `body`, `updated`, `full_size`, `is_truncated`.
pub(super) async fn get_document(State(site): Site, request: Request<Body>) -> Response {
    let visit = Visit::of(site, &request);
    let arguments = object_of(request)
        .await
        .and_then(|object| only(object, &["doc_handle"]));
    call(
        visit,
        "get_document",
        StatusCode::OK,
        arguments,
        Value::Object,
    )
    .await
}

/// The objects in a list of a result.
fn list<'r>(result: &'r mut Object, name: &str) -> impl Iterator<Item = &'r mut Object> {
    let list = result.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The same arguments, if all are known: a misspelt one would be ignored.
fn only(object: Object, known: &[&str]) -> Result<Object, Problem> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(wrong(format!(
            "{name:?} is not known here; known are {}",
            known.join(", ")
        ))),
        None => Ok(object),
    }
}

fn wrong(message: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message)
}

async fn call(
    visit: Visit,
    tool: &'static str,
    status: StatusCode,
    arguments: Result<Object, Problem>,
    form: impl FnOnce(Object) -> Value,
) -> Response {
    let called = match arguments {
        Ok(arguments) => {
            let called = visit.site.files.call(visit.access, tool, arguments).await;
            called.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    respond(match called {
        Ok(result) => answer(status, "application/json", form(result).to_string()),
        Err(problem) => problem.to_json(),
    })
}
