//! `kb mcp` through its two doors, with raw protocol clients of our own: every message is what a
//! host would put on the wire.

mod client;
mod forms;
mod gate;
mod hostile_text;
mod http;
mod live;
mod load;
mod office;
mod paging;
mod schema;
mod start;
mod stdio;
mod tools;
mod wire;
mod writing;
