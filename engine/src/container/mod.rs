//! Room: bytes <-> one file. redb writes, our own B-tree reader reads.
//!
//! A .kb is a redb file (format 3) with a signature in its first page. [`ContainerWriter`] changes it
//! through redb, one transaction per commit; [`Container`] reads it through a reader of redb's
//! B-tree, over a memory map or bytes, without a lock and without write access. Bulk data lies in
//! page extents ([`SegmentExtents`]), cut by [`mod@column`]; small things are records ([`codec`])
//! under keys.
//!
//! This room knows tables, pages and extents. It does not know documents, words or vectors, and it
//! never answers readers through redb. Inside, imports point one way: `write` -> `read` -> `layout`.

mod layout;
mod read;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(feature = "ingest")]
mod write;

pub(crate) use layout::extent::segment_table_name;
#[cfg(feature = "testing")]
pub use layout::signature::{
    FEATURE_KEYWORD_STATISTICS, FEATURE_PAGE_EXTENTS, FEATURE_TEXT_BLOCKS,
};
pub use layout::signature::{FORMAT_VERSION, OLDEST_READABLE};
pub(crate) use layout::table::Table;
pub use layout::table::{Key, MAX_KEY_BYTES, MAX_VALUE_BYTES};
pub use layout::writer_record::WriterInfo;
pub(crate) use layout::{codec, column};
pub use read::container::Container;
pub use read::mapped_bytes::MappedBytes;
pub(crate) use read::segment_extents::{BoundColumn, SegmentExtents};
pub(crate) use read::snapshot::SlotIdentity;
pub use read::snapshot::Snapshot;
#[cfg(feature = "ingest")]
pub(crate) use write::disk::{sync_folder, watched};
#[cfg(feature = "ingest")]
pub use write::identity::WriterIdentity;
#[cfg(feature = "ingest")]
pub(crate) use write::new_file::replaceable::check_replaceable;
#[cfg(all(unix, feature = "ingest", any(test, feature = "testing")))]
pub(crate) use write::observer as faults;
#[cfg(feature = "ingest")]
pub(crate) use write::spool::Spool;
#[cfg(feature = "ingest")]
pub use write::transaction::Transaction;
#[cfg(feature = "ingest")]
pub use write::writer::ContainerWriter;
