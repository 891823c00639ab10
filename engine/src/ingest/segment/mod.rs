//! Prepared documents -> segments of the file.
//!
//! [`batch`] holds the changes of one commit and fills [`writer`]s; [`merge_writer`] makes one segment
//! from others; both leave the record of the segment to `columns`. [`merge_policy`] chooses what to
//! merge.

pub(crate) mod batch;
mod columns;
pub(crate) mod live_documents;
mod merge_fields;
pub(crate) mod merge_policy;
pub(crate) mod merge_writer;
pub(super) mod more_vectors;
pub(crate) mod writer;
