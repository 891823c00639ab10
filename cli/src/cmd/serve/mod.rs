//! Verbs about the server that other programs ask.

pub(crate) mod mcp;
pub(crate) mod token;
