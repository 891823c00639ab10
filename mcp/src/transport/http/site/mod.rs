//! What a server answers beside `/mcp`: pages for people and an API for programs, made by the caller from the open
//! files. Host, origin, token, rate, size and memory of a request are checked before the site sees it, as for `/mcp`.

mod changes;
mod files;
mod offline;
mod sign_ins;

use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};

pub use changes::Upload;
pub use files::{Busy, CallError, Files, OpenFile};
pub use offline::OfflineSite;
pub(super) use sign_ins::{SignIns, Visitor};

/// The answer of a site to one request.
pub type SiteFuture = Pin<Box<dyn Future<Output = Response<Bytes>> + Send>>;

/// Answers the requests for other paths than `/mcp`.
pub trait Site: Send + Sync {
    /// Answers a request whose body was read. Its extensions have the [`Access`](crate::tokens::Access) of its token,
    /// if it has one.
    fn respond(&self, request: Request<Bytes>) -> SiteFuture;

    /// The address of its first page below the host, with `/` at both ends.
    fn home(&self) -> &str;

    /// Whether a path is for everybody: signing in, style sheets. All others require a token where the server does.
    fn is_public(&self, path: &str) -> bool;

    /// The answer to a request that was refused before its body was read.
    fn refuse(&self, refused: &Refused<'_>) -> Response<Bytes>;
}

/// A request that was refused.
#[derive(Debug)]
pub struct Refused<'r> {
    /// What it asked for.
    pub uri: &'r Uri,
    /// Its method.
    pub method: &'r Method,
    /// Its headers.
    pub headers: &'r HeaderMap,
    /// The status of the answer: 401, 408, 413, 429, 503.
    pub status: StatusCode,
    /// What was wrong, for a person.
    pub message: &'r str,
}

/// Makes the site of a server from its open files.
pub type MakeSite<'m> = &'m dyn Fn(Files) -> Arc<dyn Site>;
