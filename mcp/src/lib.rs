//! The MCP server over .kb files: the tools, resources and prompts that agents use, on stdio and
//! over HTTP.
//!
//! Imports point down. `transport`, the only module that uses tokio, rmcp and hyper, carries requests to `tools` and
//! `content`. These are plain functions: they read the open files in `indexes` and build results with `response`.
//! `definitions` publishes the definitions of the tools, `tokens` has the access tokens of HTTP clients, and `hosts` the
//! configuration of programs that start a server.
#![deny(missing_docs)]

mod content;
mod definitions;
#[cfg(feature = "testing")]
pub mod faults;
pub mod hosts;
mod indexes;
mod limits;
mod options;
mod response;
pub mod tokens;
mod tools;
mod transport;

pub use definitions::reference;
pub use options::{
    ConnectOptions, HttpOptions, Note, Opened, Options, StartError, Started, is_index_name,
};
pub use transport::{
    Busy, CallError, Files, MakeSite, OfflineSite, OpenFile, Refused, Site, SiteFuture, Upload,
    connect_stdio, serve_http, serve_stdio, was_interrupted,
};
