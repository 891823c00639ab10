//! What the handlers of this room have in common.

use std::sync::atomic::AtomicBool;

use axum::body::{Body, Bytes};
use axum::http::Request;
use axum::response::Response;
use http_body_util::BodyExt as _;
use kb_engine::{Cursor, PageOptions};
use serde_json::{Map, Value};

use super::names::{self, TOKENS, wrong};
use crate::answer::{Answer, Problem, respond};
use crate::fresh::Depends;
use crate::parameters::Parameters;
use crate::site::Visit;

/// Runs `job` on a thread for reading, and answers with its object or its problem, unless the client has the object. The
/// flag of `job` is set when the client does not wait any more.
pub(super) async fn reading(
    visit: Visit,
    depends: Depends,
    job: impl FnOnce(&Visit, &AtomicBool) -> Result<Answer, Problem> + Send + 'static,
) -> Response {
    let (files, access) = (visit.site.files.clone(), visit.access.clone());
    let done = files.read(access.as_ref(), move |_, cancel| {
        visit.unless_known(depends, || job(&visit, cancel))
    });
    let done = done.await;
    let answer = done.map_err(Problem::from).and_then(|answer| answer);
    respond(answer.unwrap_or_else(|problem| problem.to_json()))
}

/// Token budget and cursor.
pub(super) fn page(parameters: &Parameters) -> Result<PageOptions, Problem> {
    let tokens = names::number(parameters, names::PAGE, "max_tokens")?;
    let mut page = PageOptions::default().max_tokens(tokens.unwrap_or(TOKENS).min(TOKENS));
    page.cursor = parameters.first("cursor").map(Cursor::from);
    Ok(page)
}

/// The body of a request, which is in memory.
pub(super) async fn body_of(request: Request<Body>) -> Bytes {
    let body = request.into_body().collect().await;
    body.map(|body| body.to_bytes()).unwrap_or_default()
}

/// The object in the body of a request.
pub(super) async fn object_of(request: Request<Body>) -> Result<Map<String, Value>, Problem> {
    let parsed: Result<Value, _> = serde_json::from_slice(&body_of(request).await);
    match parsed {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("the body is not an object".to_owned())),
        Err(error) => Err(wrong(format!("the body is not JSON: {error}"))),
    }
}
