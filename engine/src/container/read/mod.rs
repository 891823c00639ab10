//! Reading: a memory map, the B-tree in it, and snapshots of one commit. No lock is taken to read, and
//! nothing is written.
//!
//! redb only writes the file. Its handles take locks and keep a page cache on the heap: scanning 77 MB took 74 to 94 ms
//! and 77 MB of private memory through redb, and 18 to 28 ms and shared memory through the map. It does not verify
//! checksums when it reads: 144 of 5,000 corrupted files gave wrong data or a panic. A build that only reads has no redb
//! (docs/decisions/01-redb-writes.md).

pub(crate) mod btree_check;
pub(crate) mod btree_reader;
#[cfg(feature = "ingest")]
pub(crate) mod byte_lock;
pub(crate) mod commit;
pub(crate) mod container;
pub(crate) mod map;
pub(crate) mod mapped_bytes;
pub(crate) mod mapped_file;
pub(crate) mod page_cache;
pub(crate) mod segment_extents;
pub(crate) mod signature;
pub(crate) mod sizes;
pub(crate) mod snapshot;
mod verify;
