//! Bytes: what stands where in a file. Nothing here reads or writes one.

pub(crate) mod codec;
pub(crate) mod column;
pub(crate) mod commit_slot;
pub(crate) mod extent;
pub(crate) mod node;
pub(crate) mod page;
pub(crate) mod signature;
pub(crate) mod table;
pub(crate) mod writer_record;
