//! The filters of a request: [`metadata`] turns them into one bitmap of rows a segment, before any ranking.

pub(crate) mod evaluation;
pub(crate) mod expression;
pub(crate) mod facet;
mod field;
mod links;
pub(crate) mod metadata;
pub(crate) mod nothing_passes;
pub(crate) mod rows;
mod stored;
pub(crate) mod symbol_name;
pub(crate) mod symbols;
pub(crate) mod values;
