//! What searches and long calls return: data of their own, which stays when the file is closed.

pub(crate) mod columns;
pub(crate) mod field_columns;
pub(crate) mod field_info;
pub(crate) mod hit;
pub(crate) mod hits;
pub(crate) mod matches;
mod ranges;
pub(crate) mod report;
pub(crate) mod sequence;
pub(crate) mod symbols;
pub(crate) mod table;
