//! Carries requests to the tools: the only room that knows tokio, rmcp and hyper.
//!
//! `handler` speaks the protocol, `work` runs what it asks for on threads of their own, `line` and
//! `stdio` bring messages over a pair of pipes, `http` over the network.

mod handler;
mod http;
mod line;
mod server;
mod stdio;
mod work;

pub use http::serve_http;
pub use stdio::serve_stdio;
