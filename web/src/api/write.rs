//! Changing files by programs.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use kb_json::Object;
use kb_mcp::Upload;
use serde_json::{Map, Value, json};

use super::call::{body_of, object_of};
use super::names::{UPLOAD, only, wrong};
use crate::answer::{Answer, Problem, answer, json as answer_json, respond};
use crate::changes::{Change, Form, media_type};
use crate::site::{Shared, Visit};

type Site = State<Arc<Shared>>;
type Named = Path<(String, String)>;

/// Stores a document: its bytes are the body.
pub(super) async fn put(
    State(site): Site,
    Path((file, document)): Named,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(site, &request);
    let media_type = media_type(content_type(&request));
    let bytes = body_of(request).await.to_vec();
    let stored = async {
        only(&visit.parameters, &[UPLOAD])?;
        let change = Change::of(&visit, &file)?;
        let upload = Upload {
            path: document,
            bytes,
            media_type,
            tags: visit.parameters.all("tag").map(str::to_owned).collect(),
        };
        change.store(upload).await
    };
    respond(match stored.await {
        Ok(stored) => created(Value::Object(stored)),
        Err(problem) => problem.to_json(),
    })
}

/// Stores the files of a form.
pub(super) async fn upload(
    State(site): Site,
    Path(file): Path<String>,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(site, &request);
    let kind = content_type(&request).unwrap_or_default().to_owned();
    let body = body_of(request).await;
    let stored = async {
        only(&visit.parameters, &[])?;
        let change = Change::of(&visit, &file)?;
        change.store_all(&Form::read(&kind, &body)?).await
    };
    respond(match stored.await {
        Ok(all) => {
            let documents = all.into_iter().map(|(path, stored)| match stored {
                Ok(stored) => Value::Object(stored),
                Err(problem) => json!({
                    "fileName": path, "status": "failed", "code": problem.code, "detail": problem.message,
                }),
            });
            created(json!({"documents": documents.collect::<Vec<_>>()}))
        }
        Err(problem) => problem.to_json(),
    })
}

/// Removes a document.
pub(super) async fn remove(
    State(site): Site,
    Path((file, document)): Named,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(site, &request);
    let removed = async {
        only(&visit.parameters, &[])?;
        Change::of(&visit, &file)?.remove(&document).await
    };
    respond(match removed.await {
        Ok(removed) => answer_json(Object::new().field("removed", removed)),
        Err(problem) => problem.to_json(),
    })
}

/// Changes the tags of a document: those to `add` and to `remove`.
pub(super) async fn tags(
    State(site): Site,
    Path((file, document)): Named,
    request: Request<Body>,
) -> Response {
    let visit = Visit::of(site, &request);
    let object = object_of(request).await;
    let changed = async {
        let mut object = object?;
        let add = texts(&mut object, "add")?;
        let remove = texts(&mut object, "remove")?;
        if let Some(name) = object.keys().next() {
            return Err(wrong(format!(
                "{name:?} is not known here; known are add and remove"
            )));
        }
        let change = Change::of(&visit, &file)?;
        change.tag(&document, add, remove).await
    };
    respond(match changed.await {
        Ok(tags) => answer_json(
            Object::new()
                .field("document", document)
                .field("tags", tags),
        ),
        Err(problem) => problem.to_json(),
    })
}

/// The texts in a list of an object.
fn texts(object: &mut Map<String, Value>, name: &str) -> Result<Vec<String>, Problem> {
    let wrong = || wrong(format!("{name}: a list of strings was expected"));
    let list = match object.remove(name) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong()),
    };
    let texts = list.into_iter().map(|text| match text {
        Value::String(text) => Ok(text),
        _ => Err(wrong()),
    });
    texts.collect()
}

fn content_type(request: &Request<Body>) -> Option<&str> {
    request.headers().get(CONTENT_TYPE)?.to_str().ok()
}

fn created(value: Value) -> Answer {
    answer(StatusCode::CREATED, "application/json", value.to_string())
}
