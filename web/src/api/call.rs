//! What the handlers of this room have in common.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};

use crate::answer::{Answer, Problem, respond};
use crate::site::Visit;

/// Runs `job` on a thread for reading, and answers with its object or its problem.
pub(super) async fn reading(
    visit: Visit,
    job: impl FnOnce(&Visit) -> Result<Answer, Problem> + Send + 'static,
) -> Response {
    let (files, access) = (visit.site.files.clone(), visit.access.clone());
    let done = files.read(access.as_ref(), move |_, _| job(&visit)).await;
    let answer = done.map_err(Problem::from).and_then(|answer| answer);
    respond(answer.unwrap_or_else(|problem| problem.to_json()))
}

/// The object in the body of a request.
pub(super) async fn object_of(request: Request<Body>) -> Result<Map<String, Value>, Problem> {
    let body = request.into_body().collect().await;
    let bytes = body.map(|body| body.to_bytes()).unwrap_or_default();
    let parsed: Result<Value, _> = serde_json::from_slice(&bytes);
    let wrong =
        |message: String| Problem::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message);
    match parsed {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("the body is not an object".to_owned())),
        Err(error) => Err(wrong(format!("the body is not JSON: {error}"))),
    }
}
