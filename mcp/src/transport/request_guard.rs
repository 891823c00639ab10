//! Keeps what a request takes, such as quota permits, until its work has ended.

use std::any::Any;
use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// Holds resources until the last clone is dropped. It travels in the extensions of a request and
/// then in its job, so that the resources stay counted when the client has disconnected.
#[derive(Clone)]
pub(super) struct RequestGuard {
    _resources: Arc<dyn Any + Send + Sync>,
}

impl RequestGuard {
    pub(super) fn new(resources: impl Any + Send + Sync) -> RequestGuard {
        RequestGuard {
            _resources: Arc::new(resources),
        }
    }

    /// The guards of a request: that of its session or pipe, and that of its HTTP request.
    pub(super) fn of_request(cx: &RequestContext<RoleServer>) -> [Option<RequestGuard>; 2] {
        let parts = cx.extensions.get::<Parts>();
        let from_http = parts.and_then(|parts| parts.extensions.get::<RequestGuard>());
        [
            cx.extensions.get::<RequestGuard>().cloned(),
            from_http.cloned(),
        ]
    }
}
