//! The three columns of a segment: how they are laid out, written, read, merged and checked.

pub(super) mod block;
pub(super) mod check;
pub(super) mod cursor;
pub(super) mod dictionary;
mod dictionary_iter;
pub(super) mod encoding;
pub(super) mod fieldnorms;
pub(super) mod list;
pub(super) mod merge;
mod postings_builder;
pub(super) mod reader;
mod serializer;
pub(super) mod skip_reader;
pub(super) mod writer;
