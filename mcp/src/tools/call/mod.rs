//! What the tools share: what a tool is, how its arguments become parameters, which files it asks, and
//! how its results are kept within a budget and continued.

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
