//! Many clients over HTTP, at `/mcp`.
//!
//! `listener` takes connections, `places` knows which of them may stay, `stall` ends those whose client
//! does not read, `gate` decides who comes in, `refusal` says why not, `body` how much they may send,
//! `origin` knows which pages and names are ours, `pages` what a browser has to hear, `rate` how often
//! somebody may ask, `pace` how much of that is begun at once, `sessions` bounds the conversations of older clients,
//! `unsent` counts answers until they are written. What the protocol says about a request is decided by rmcp.

mod body;
mod gate;
mod listener;
mod origin;
mod pace;
mod pages;
mod places;
mod rate;
mod refusal;
mod sessions;
mod stall;
mod unsent;

pub use listener::serve_http;
