//! Reading: a memory map, the B-tree in it, and snapshots of one commit. No lock is taken to read, and
//! nothing is written.

pub(crate) mod btree_check;
pub(crate) mod btree_reader;
#[cfg(feature = "ingest")]
pub(crate) mod byte_lock;
pub(crate) mod commit;
pub(crate) mod container;
pub(crate) mod map;
pub(crate) mod mapped_bytes;
pub(crate) mod mapped_file;
pub(crate) mod segment_extents;
pub(crate) mod signature;
pub(crate) mod sizes;
pub(crate) mod snapshot;
mod verify;
