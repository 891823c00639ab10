//! Carries requests to the tools: the only room that uses tokio, rmcp and hyper.
//!
//! `stdio` serves one client over a pair of pipes, `http` many over the network. Both give every
//! client a `session`, which implements the methods of MCP and sends `results`; `bridge` connects the pipes of one
//! client to a server that runs elsewhere. `executor` runs what clients ask for on blocking threads, and `subscriptions` sends a notification for each commit that `commit_watcher`
//! sees.
//!
//! What a client may use is bounded before it is used: `message_shape` measures a message without
//! parsing it, `quota` divides memory and concurrency among tokens, `in_flight` tracks the ids of
//! requests, and a `request_guard` keeps what a request holds until its work has ended.

mod bridge;
mod client_info;
mod commit_watcher;
// Tools and prompts that the suite expects by name. They are tests, which this feature compiles in; no build that is
// shipped has it.
#[cfg(feature = "conformance")]
#[path = "../../tests/conformance/mod.rs"]
mod conformance;
mod executor;
mod http;
mod in_flight;
mod message_shape;
mod process;
mod quota;
mod request_guard;
mod results;
mod server;
mod session;
mod stdio;
mod subscriber;
mod subscriptions;
#[cfg(test)]
mod testing;

pub use bridge::connect_stdio;
pub use http::{
    Busy, CallError, Files, MakeSite, OfflineSite, OpenFile, Refused, Site, SiteFuture, Upload,
    serve_http,
};
pub use process::was_interrupted;
pub use stdio::serve_stdio;
