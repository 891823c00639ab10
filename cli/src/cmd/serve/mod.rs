//! Verbs about the MCP server.

pub(crate) mod mcp;
pub(crate) mod token;
