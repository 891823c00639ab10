//! The HTTP API: `/api/v1`, and the routes of the systems that this one replaces.

mod call;
mod compatible;
mod read;
mod search;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::site::Shared;

/// The routes of this room.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route(
            "/api/v1/search",
            get(search::by_address).post(search::by_body),
        )
        .route("/api/v1/symbols", get(search::symbols))
        .route("/api/v1/status", get(read::status))
        .route("/api/v1/documents/{file}", get(read::documents))
        .route("/api/v1/document/{file}/{*document}", get(read::document))
        .route("/api/v1/text/{file}/{*document}", get(read::text))
        .route("/api/v1/outline/{file}/{*document}", get(read::outline))
        .route("/api/search/docs", post(compatible::search_docs))
        .route(
            "/api/projects/{project}/documents",
            post(compatible::upload_document),
        )
        .route("/mcp/search", post(compatible::search))
        .route("/mcp/get_document", post(compatible::get_document))
}
