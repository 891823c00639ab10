//! Verbs that serve files, and their tokens.

pub(crate) mod mcp;
mod served;
#[cfg(feature = "web")]
pub(crate) mod site;
pub(crate) mod token;
#[cfg(feature = "web")]
pub(crate) mod web;
