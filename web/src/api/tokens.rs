//! Access tokens, for programs.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use kb_json::Object;
use serde_json::{Value, json};

use super::call::object_of;
use super::names::{only, wrong};
use crate::answer::{Answer, Problem, answer, json as answer_json, respond};
use crate::site::{Shared, Visit};

type Site = State<Arc<Shared>>;

/// Runs `job`, which reads or writes the file of tokens, on a thread for that.
async fn managing(
    visit: Visit,
    job: impl FnOnce(&Visit) -> Result<Answer, Problem> + Send + 'static,
) -> Response {
    let (files, access) = (visit.site.files.clone(), visit.access.clone());
    let done = files.read(access.as_ref(), move |_, _| {
        only(&visit.parameters, &[])?;
        job(&visit)
    });
    let done = done.await.map_err(Problem::from).and_then(|done| done);
    respond(done.unwrap_or_else(|problem| problem.to_json()))
}

/// Lists the tokens: names, what they may, when they were made and last used; never their texts.
pub(super) async fn list(State(site): Site, request: Request<Body>) -> Response {
    managing(Visit::of(site, &request), |visit| {
        let (tokens, _) = visit.managed_tokens()?;
        let tokens = tokens.list()?.into_iter().map(|token| {
            json!({
                "name": token.name, "may_write": token.may_write, "created_ms": token.created_ms,
                "last_used_ms": token.last_used_ms,
            })
        });
        let listed = json!({"tokens": tokens.collect::<Vec<_>>()});
        Ok(answer(
            StatusCode::OK,
            "application/json",
            listed.to_string(),
        ))
    })
    .await
}

/// Creates one, and gives its text, this once.
pub(super) async fn create(State(site): Site, request: Request<Body>) -> Response {
    let visit = Visit::of(site, &request);
    let object = object_of(request).await;
    managing(visit, |visit| {
        let (tokens, _) = visit.managed_tokens()?;
        let mut object = object?;
        let name = match object.remove("name") {
            Some(Value::String(name)) => name,
            _ => return Err(wrong("name: a string was expected".to_owned())),
        };
        let may_write = match object.remove("may_write") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(may_write)) => may_write,
            Some(_) => return Err(wrong("may_write: true or false was expected".to_owned())),
        };
        if let Some(name) = object.keys().next() {
            let known = "known are name and may_write";
            return Err(wrong(format!("{name:?} is not known here; {known}")));
        }
        let token = tokens.create(&name, may_write)?;
        let created = json!({"name": name, "may_write": may_write, "token": token});
        Ok(answer(
            StatusCode::CREATED,
            "application/json",
            created.to_string(),
        ))
    })
    .await
}

/// Revokes the token of a name. Its sessions end within seconds.
pub(super) async fn revoke(
    State(site): Site,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    managing(Visit::of(site, &request), move |visit| {
        let (tokens, _) = visit.managed_tokens()?;
        tokens.revoke(&name)?;
        Ok(answer_json(Object::new().field("revoked", name)))
    })
    .await
}
