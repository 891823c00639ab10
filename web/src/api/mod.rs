//! The HTTP API: `/api/v1`, and the routes of the systems that this one replaces. `operations` is the table of all, and
//! `openapi` describes them.

mod call;
mod compatible;
pub(crate) mod fields;
pub(crate) mod names;
mod openapi;
pub(crate) mod operations;
mod parts;
mod read;
mod search;
mod tokens;
mod write;

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, delete, get, post, put};

use self::operations::OPERATIONS;
use crate::site::Shared;

/// The routes of this room.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    let routed = |operation: &operations::Operation| {
        handler(operation.id).map(|handler| (operation.route(), handler))
    };
    let mut router = Router::new();
    for (path, handler) in OPERATIONS.iter().filter_map(routed) {
        router = router.route(&path, handler);
    }
    router
}

/// What answers the operation of that name; a test sees that each has a handler.
fn handler(id: &str) -> Option<MethodRouter<Arc<Shared>>> {
    Some(match id {
        "search" => get(search::by_address),
        "searchByBody" => post(search::by_body),
        "regex" => get(search::regex),
        "symbols" => get(search::symbols),
        "find" => get(search::documents),
        "status" => get(read::status),
        "about" => get(read::about),
        "documents" => get(read::documents),
        "document" => get(read::document),
        "text" => get(read::text),
        "outline" => get(read::outline),
        "pages" => get(parts::pages),
        "sheet" => get(parts::sheet),
        "slides" => get(parts::slides),
        "openapi" => get(openapi::answer),
        "putDocument" => put(write::put),
        "removeDocument" => delete(write::remove),
        "upload" => post(write::upload),
        "tag" => put(write::tags),
        "tokens" => get(tokens::list),
        "createToken" => post(tokens::create),
        "revokeToken" => delete(tokens::revoke),
        "searchDocs" => post(compatible::search_docs),
        "uploadDocument" => post(compatible::upload_document),
        "searchHandles" => post(compatible::search),
        "getDocument" => post(compatible::get_document),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_handler() {
        for operation in OPERATIONS {
            assert!(handler(operation.id).is_some(), "{}", operation.id);
        }
        assert!(handler("").is_none());
    }
}
