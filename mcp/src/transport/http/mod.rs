//! Many clients over HTTP, at `/mcp`.
//!
//! `listener` accepts connections. Each request goes through `middleware`: `allow_list` checks its
//! host and origin, `cors` answers preflights, `auth` checks its token, `limits` and `body` bound what
//! it may take, `rejection` answers the requests that are refused. The rest is decided by rmcp, whose
//! sessions `session_manager` bounds, and at other paths by the `site`, if the server has one.

mod allow_list;
mod auth;
mod body;
mod cors;
mod limits;
mod listener;
mod middleware;
mod rejection;
mod session_manager;
mod site;

pub use listener::serve_http;
pub use site::{
    Busy, CallError, Files, MakeSite, OfflineSite, OpenFile, Refused, Site, SiteFuture, Upload,
};
