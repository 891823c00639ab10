//! Carries requests to the tools: the only room that knows tokio, rmcp and hyper.
//!
//! `handler` speaks the protocol, `work` runs what it asks for on threads of their own, `line` and
//! `stdio` bring messages over a pair of pipes.

mod handler;
mod line;
mod server;
mod stdio;
mod work;

pub use stdio::serve_stdio;
