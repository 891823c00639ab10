//! The changes of one commit: keys and values, whole tables, extents.

use std::ops::RangeInclusive;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use redb::{ReadableTable, TableDefinition, WriteTransaction};

use crate::container::layout::column::{ColumnId, ColumnRecord, ExtentSink, MAX_ITEM_BYTES};
use crate::container::layout::extent::{extent_key, segment_table_name, value_len, write_extent};
use crate::container::layout::table::{Key, MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::container::write::open_writer::OpenWriter;
use crate::container::write::panic_guard::from_redb;

/// Values from this size on, in bytes, count as replaced bytes of their own.
// Such a value needs a page of 64 KiB or more. The backend does not count pages above 64 KiB; a
// page of exactly that size is counted twice, which ends retention a little early.
const LARGE_VALUE_BYTES: usize = 32 << 10;

/// The changes of one commit. Dropped, it leaves the file as it was.
pub struct Transaction<'w> {
    /// redb's side; `None` once committed.
    changes: Option<WriteTransaction>,
    /// Bytes of dropped extents and replaced large values.
    dropped_bytes: u64,
    /// Where it is committed.
    state: &'w mut OpenWriter,
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction")
            .field("dropped_bytes", &self.dropped_bytes)
            .finish_non_exhaustive()
    }
}

impl<'w> Transaction<'w> {
    pub(super) fn new(changes: WriteTransaction, state: &'w mut OpenWriter) -> Transaction<'w> {
        Transaction {
            changes: Some(changes),
            dropped_bytes: 0,
            state,
        }
    }
}

impl Transaction<'_> {
    /// Stores `value` under `key`, in the place of what was there. The first key of a table fixes the
    /// type of its keys.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`MAX_KEY_BYTES`] or [`MAX_VALUE_BYTES`]; [`Error::Storage`].
    pub fn put(&mut self, table: &str, key: Key<'_>, value: &[u8]) -> Result<()> {
        check_size(table, "key", key.len_bytes(), MAX_KEY_BYTES)?;
        check_size(table, "value", value.len(), MAX_VALUE_BYTES)?;
        if value.len() >= LARGE_VALUE_BYTES {
            // Counted when it is written: it takes the place of an older value of about its size.
            self.dropped_bytes += value.len() as u64;
        }
        self.run(|changes| match key {
            Key::U64(key) => insert::<u64>(changes, table, key, value),
            Key::Str(key) => insert::<&str>(changes, table, key, value),
            Key::Bytes(key) => insert::<&[u8]>(changes, table, key, value),
        })
    }

    /// The value under `key` as it would be after a commit now.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn get(&mut self, table: &str, key: Key<'_>) -> Result<Option<Vec<u8>>> {
        self.run(|changes| match key {
            Key::U64(key) => get::<u64>(changes, table, key),
            Key::Str(key) => get::<&str>(changes, table, key),
            Key::Bytes(key) => get::<&[u8]>(changes, table, key),
        })
    }

    /// Whether a text key begins with `prefix`, as it would be after a commit now.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn has_keys_below(&mut self, table: &str, prefix: &str) -> Result<bool> {
        self.run(|changes| {
            let definition = TableDefinition::<&str, &[u8]>::new(table);
            let table = changes.open_table(definition).map_err(from_redb)?;
            let mut keys = table.range(prefix..).map_err(from_redb)?;
            match keys.next() {
                Some(first) => {
                    let (key, _) = first.map_err(from_redb)?;
                    Ok(key.value().starts_with(prefix))
                }
                None => Ok(false),
            }
        })
    }

    /// Removes what is under `key`; false when there was nothing.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn remove(&mut self, table: &str, key: Key<'_>) -> Result<bool> {
        self.run(|changes| match key {
            Key::U64(key) => remove::<u64>(changes, table, key),
            Key::Str(key) => remove::<&str>(changes, table, key),
            Key::Bytes(key) => remove::<&[u8]>(changes, table, key),
        })
    }

    /// Removes all keys, which are bytes, from `first` up to, but not including, `end` (`None`: up to
    /// the last).
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn remove_range(&mut self, table: &str, first: &[u8], end: Option<&[u8]>) -> Result<()> {
        let definition = TableDefinition::<&[u8], &[u8]>::new(table);
        self.run(|changes| {
            let mut table = changes.open_table(definition).map_err(from_redb)?;
            let removed = match end {
                Some(end) => table.retain_in::<&[u8], _>(first..end, |_, _| false),
                None => table.retain_in::<&[u8], _>(first.., |_, _| false),
            };
            removed.map_err(from_redb)
        })
    }

    /// Removes all keys, which are numbers, of a range.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn remove_numbers(&mut self, table: &str, keys: RangeInclusive<u64>) -> Result<()> {
        let definition = TableDefinition::<u64, &[u8]>::new(table);
        self.run(|changes| {
            let mut table = changes.open_table(definition).map_err(from_redb)?;
            let removed = table.retain_in(keys, |_, _| false);
            removed.map_err(from_redb)
        })
    }

    /// Removes a whole table; false when there is none.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn delete_table(&mut self, table: &str) -> Result<bool> {
        if let Some(reader) = self.state.reader() {
            // Through our reader: redb does not tell how large a table is without walking it.
            self.dropped_bytes += reader.read(|snapshot| {
                let pages = match snapshot.table(table)? {
                    Some(found) => snapshot.extent_pages(&found)?,
                    None => Vec::new(),
                };
                Ok(pages.iter().map(|page| page.size_bytes()).sum::<u64>())
            })?;
        }
        let table = TableDefinition::<u64, &[u8]>::new(table);
        self.run(|changes| changes.delete_table(table).map_err(from_redb))
    }

    /// Removes the extents of a column of a segment.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Damaged`].
    pub fn remove_column(&mut self, segment: SegmentId, column: &ColumnRecord) -> Result<()> {
        let table = segment_table_name(segment);
        for (number, payload_len) in (0u32..).zip(&column.payload_lens) {
            self.dropped_bytes += value_len(*payload_len as usize).unwrap_or(0) as u64;
            let key = extent_key(ColumnId(column.column), number);
            self.remove(&table, Key::U64(key))?;
        }
        Ok(())
    }

    /// Makes the changes durable and visible, all at once, and returns the number of the commit.
    ///
    /// # Errors
    /// [`Error::Storage`] when it failed: nothing of it was kept, and the writer refuses more work;
    /// [`Error::WriterFailed`] when it had failed before; as [`crate::container::ContainerWriter::check`].
    pub fn commit(mut self) -> Result<u64> {
        self.state.check_cancel()?;
        self.state.guard().check_process()?;
        let changes = self.changes.take().ok_or(Error::WriterFailed)?;
        self.state.commit(changes, self.dropped_bytes)
    }

    /// Runs one call into redb and remembers a failure, so that what is half done is never committed.
    fn run<T>(&mut self, call: impl FnOnce(&WriteTransaction) -> Result<T>) -> Result<T> {
        self.state.check_cancel()?;
        self.state.guard().check_process()?;
        let changes = self.changes.as_ref().ok_or(Error::WriterFailed)?;
        let done = self.state.guard().call(|| call(changes));
        done.inspect_err(|_| self.state.fail())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // redb takes the changes back here.
        let changes = self.changes.take();
        if self.state.guard().check_process().is_err() {
            std::mem::forget(changes);
            return;
        }
        let dropped = self.state.guard().call(|| {
            drop(changes);
            Ok(())
        });
        if dropped.is_err() {
            self.state.fail();
        }
    }
}

impl ExtentSink for Transaction<'_> {
    fn put_extent(
        &mut self,
        segment: SegmentId,
        column: ColumnId,
        number: u32,
        first: u64,
        payload: &[u8],
    ) -> Result<()> {
        let value_len = value_len(payload.len()).ok_or_else(|| Error::TooLarge {
            what: format!("extent {number} of column {}", column.0),
            size: payload.len() as u64,
            limit: MAX_ITEM_BYTES as u64,
        })?;
        let name = segment_table_name(segment);
        let key = extent_key(column, number);
        self.run(|changes| {
            let definition = TableDefinition::<u64, &[u8]>::new(&name);
            let mut table = changes.open_table(definition).map_err(from_redb)?;
            // The header and payload are written straight into redb's page: no copy of 1 MiB for
            // each extent.
            let mut value = table.insert_reserve(key, value_len).map_err(from_redb)?;
            write_extent(value.as_mut(), segment, column, number, first, payload);
            Ok(())
        })
    }
}

fn insert<'k, K: redb::Key + 'static>(
    changes: &WriteTransaction,
    table: &str,
    key: K::SelfType<'k>,
    value: &[u8],
) -> Result<()> {
    let definition = TableDefinition::<K, &[u8]>::new(table);
    let mut table = changes.open_table(definition).map_err(from_redb)?;
    table.insert(key, value).map(|_| ()).map_err(from_redb)
}

fn get<'k, K: redb::Key + 'static>(
    changes: &WriteTransaction,
    table: &str,
    key: K::SelfType<'k>,
) -> Result<Option<Vec<u8>>> {
    let definition = TableDefinition::<K, &[u8]>::new(table);
    let table = changes.open_table(definition).map_err(from_redb)?;
    let found = table.get(key).map_err(from_redb)?;
    Ok(found.map(|value| value.value().to_vec()))
}

fn remove<'k, K: redb::Key + 'static>(
    changes: &WriteTransaction,
    table: &str,
    key: K::SelfType<'k>,
) -> Result<bool> {
    let definition = TableDefinition::<K, &[u8]>::new(table);
    let mut table = changes.open_table(definition).map_err(from_redb)?;
    let removed = table.remove(key).map_err(from_redb)?;
    Ok(removed.is_some())
}

fn check_size(table: &str, what: &str, size: usize, limit: usize) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: format!("a {what} of table {table:?}"),
        size: size as u64,
        limit: limit as u64,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::container::layout::column::{ColumnWriter, EXTENT_OVERHEAD, MAX_ORDER};
    use crate::container::read::container::Container;
    use crate::container::read::segment_extents::SegmentExtents;
    use crate::container::testing::fixture::{ITEMS, ROWS, build, identity, temp_path, value};
    use crate::container::write::writer::ContainerWriter;

    const SEGMENT: SegmentId = SegmentId(1);

    #[test]
    fn what_is_too_large_is_refused_without_harm() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| {
            let long = "k".repeat(MAX_KEY_BYTES + 1);
            let refused = transaction.put("names", Key::Str(&long), b"");
            assert!(matches!(refused, Err(Error::TooLarge { .. })));
            let refused = transaction.put("numbers", Key::U64(1), &vec![0; MAX_VALUE_BYTES + 1]);
            assert!(matches!(refused, Err(Error::TooLarge { .. })));
            let large = vec![0; 2 * MAX_ITEM_BYTES];
            let refused = transaction.put_extent(SegmentId(1), ColumnId(1), 0, 0, &large);
            assert!(matches!(refused, Err(Error::TooLarge { .. })));
            transaction.put("names", Key::Str(&long[1..]), b"longest key")?;
            transaction.put("numbers", Key::U64(1), &vec![6; MAX_VALUE_BYTES])
        });
        let container = Container::open(&path).unwrap();
        let found = value(&container, "numbers", Key::U64(1)).unwrap();
        assert!(found == vec![6; MAX_VALUE_BYTES]);
        let longest = "k".repeat(MAX_KEY_BYTES);
        let found = value(&container, "names", Key::Str(&longest));
        assert_eq!(found.as_deref(), Some(&b"longest key"[..]));
    }

    #[test]
    fn a_failed_writer_refuses_and_keeps_the_last_commit() {
        let (folder, path) = temp_path();
        let mut writer = ContainerWriter::create(&path, &identity()).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.put("numbers", Key::U64(1), b"").unwrap();
        // A key of another type than the table has is a failure of the caller that redb reports.
        assert!(transaction.put("numbers", Key::Str("1"), b"").is_err());
        assert!(matches!(transaction.commit(), Err(Error::WriterFailed)));
        assert!(matches!(writer.begin(), Err(Error::WriterFailed)));
        assert!(matches!(writer.finish(), Err(Error::WriterFailed)));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn columns_read_back_from_the_file_aligned_in_it() {
        let (_folder, path) = temp_path();
        let rows: Vec<Vec<u8>> = (0..30_000u32).map(|i| vec![(i % 253) as u8; 64]).collect();
        let name = segment_table_name(SEGMENT);
        let mut records = Vec::new();
        build(&path, |transaction| {
            let mut writer = ColumnWriter::rows(SEGMENT, ROWS, 64, MAX_ORDER);
            for row in &rows {
                writer.push(transaction, row)?;
            }
            records.push(writer.finish(transaction)?);
            let mut writer = ColumnWriter::items(SEGMENT, ITEMS, MAX_ORDER);
            writer.push(transaction, &vec![1; MAX_ITEM_BYTES])?;
            writer.push(transaction, &[2; 5])?;
            records.insert(0, writer.finish(transaction)?);
            Ok(())
        });
        let container = Container::open(&path).unwrap();
        let read = container.read(|snapshot| {
            let segment = SegmentExtents::locate(snapshot, &name, SEGMENT, &records)?;
            let column = segment.column(snapshot, ROWS).unwrap();
            let view = column.view();
            assert_eq!(view.rows(), 30_000);
            for (number, row) in rows.iter().enumerate() {
                assert_eq!(view.row(number as u64)?, row);
            }
            for number in 0..column.extents() {
                let address = view.extent(number)?.1.as_ptr().addr();
                assert_eq!(address % 4096, EXTENT_OVERHEAD);
            }
            let items = segment.column(snapshot, ITEMS).unwrap();
            assert_eq!(
                items.view().bytes(0, MAX_ITEM_BYTES)?,
                vec![1; MAX_ITEM_BYTES]
            );
            assert_eq!(items.view().bytes(MAX_ITEM_BYTES as u64, 5)?, [2; 5]);
            assert!(segment.column(snapshot, ColumnId(77)).is_none());
            assert!(items.view().extent(2).is_err());
            Ok(())
        });
        read.unwrap();
    }
}
