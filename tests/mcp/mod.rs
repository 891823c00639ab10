//! `kb mcp` through its two doors, with raw protocol clients of our own: every message is what a
//! host would put on the wire.

pub(crate) mod client;
mod contracts;
mod forms;
mod hostile_text;
pub(crate) mod http;
mod live;
mod office;
mod paging;
mod parts;
mod reach;
mod schema;
mod start;
pub(crate) mod stdio;
mod tools;
mod transport;
mod writing;
