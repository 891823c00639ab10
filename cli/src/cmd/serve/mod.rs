//! Verbs that serve files, and their tokens.

pub(crate) mod mcp;
mod served;
pub(crate) mod token;
#[cfg(feature = "web")]
pub(crate) mod web;
