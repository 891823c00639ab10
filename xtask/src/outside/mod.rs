//! Verbs that use programs and packages of others: clients of the protocol, a browser, a model.

pub(crate) mod browser;
pub(crate) mod mcp_clients;
pub(crate) mod models;
