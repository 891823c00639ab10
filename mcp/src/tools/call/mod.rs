//! Shared by all tools: the definition of a tool, how arguments become parameters, which files a call reads, and how
//! results stay within a token limit and are continued.

pub(super) mod arguments;
pub(super) mod budget;
pub(in crate::tools) mod coerce;
pub(super) mod context;
pub(super) mod cursor;
pub(super) mod hits;
pub(super) mod lines;
pub(super) mod params;
pub(super) mod part_location;
pub(super) mod ranges;
pub(super) mod resolve;
mod schema;
pub(super) mod stale;
pub(super) mod tool;
