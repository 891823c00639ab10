//! What a request keeps until it is done, wherever it waits meanwhile.

use std::any::Any;
use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// Something that is given back when the last copy of this is dropped. It travels with a request, so
/// that what the request takes is counted for as long as it is kept, and not only while its client
/// waits.
#[derive(Clone)]
pub(super) struct Held {
    _kept: Arc<dyn Any + Send + Sync>,
}

impl Held {
    pub(super) fn new(kept: impl Any + Send + Sync) -> Held {
        Held {
            _kept: Arc::new(kept),
        }
    }

    /// What came with a request: from its conversation, and from its HTTP request.
    pub(super) fn of(cx: &RequestContext<RoleServer>) -> [Option<Held>; 2] {
        let parts = cx.extensions.get::<Parts>();
        let of_http = parts.and_then(|parts| parts.extensions.get::<Held>());
        [cx.extensions.get::<Held>().cloned(), of_http.cloned()]
    }
}
