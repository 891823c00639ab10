//! One client on stdin and stdout.
//!
//! `serve` runs the server over a `stdio_transport`, whose messages come from `reader` and whose unread
//! responses are bounded by `outbox`.

mod outbox;
mod reader;
mod serve;
mod stdio_transport;

pub(super) use reader::{Line, read_line};
pub use serve::serve_stdio;
pub(super) use serve::streams;
