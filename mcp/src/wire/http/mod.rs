//! Many clients over HTTP, at `/mcp`.
//!
//! `listener` takes connections, `gate` decides who comes in and how much they may send, `origin`
//! knows which pages and names are ours, `rate` how often somebody may ask, `sessions` bounds the
//! conversations of older clients. What the protocol says about a request is decided by rmcp.

mod gate;
mod listener;
mod origin;
mod rate;
mod sessions;

pub use listener::serve_http;
