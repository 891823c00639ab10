//! Files of roots that were left out, each with the reason: table `skipped`. One that was read is not read
//! again as long as it stays as it is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, MAX_KEY_BYTES, Snapshot};
use crate::store::tables;

const SKIPPED_VERSION: u8 = 1;

/// A file that was left out, or a folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct SkippedRecord {
    /// Number of its root.
    pub root: u32,
    /// Its size.
    pub size_bytes: u64,
    /// Its modification time, milliseconds since 1970.
    pub modified_ms: i64,
    /// Why it was left out, in a few words.
    pub reason: String,
    /// blake3 of its bytes; zeros when it was not read.
    pub hash: [u8; 32],
}

/// All of them, by path.
///
/// # Errors
/// As [`each_from`].
pub(crate) fn all(snapshot: &Snapshot<'_>) -> Result<BTreeMap<String, SkippedRecord>> {
    let mut found = BTreeMap::new();
    each_from(snapshot, "", |path, record| {
        found.insert(path.to_owned(), record);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Calls `visit` with path and record of each, in the order of path bytes, from the first path at or
/// after `from`.
///
/// # Errors
/// [`Error::Damaged`] when a record or path does not decode; what `visit` says.
pub(crate) fn each_from(
    snapshot: &Snapshot<'_>,
    from: &str,
    mut visit: impl FnMut(&str, SkippedRecord) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let Some(table) = snapshot.table(tables::SKIPPED)? else {
        return Ok(());
    };
    snapshot.range(&table, Key::Str(from), |key, value| {
        let path = std::str::from_utf8(key)
            .map_err(|_| Error::damaged("the path of a skipped file is not UTF-8"))?;
        let record = decode_record("a skipped file", SKIPPED_VERSION, value)?;
        visit(path, record)
    })
}

/// Notes a file that was left out. One whose path is no key is not noted, and read again each time.
#[cfg(feature = "ingest")]
pub fn put(transaction: &mut Transaction<'_>, path: &str, record: &SkippedRecord) -> Result<()> {
    if path.len() > MAX_KEY_BYTES {
        return Ok(());
    }
    let row = encode_record(SKIPPED_VERSION, record)?;
    transaction.put(tables::SKIPPED, Key::Str(path), &row)
}

/// Forgets a file.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, path: &str) -> Result<()> {
    transaction
        .remove(tables::SKIPPED, Key::Str(path))
        .map(|_| ())
}
