//! One commit that changes columns of vectors and nothing else; removing one, choosing the default.

use std::path::Path;

use kb_types::error::{Error, Result};
use kb_types::{BUILT_IN_VECTORS, SegmentId};

use crate::catalog::Catalog;
use crate::container::column::ColumnId;
use crate::container::{Snapshot, Transaction, watched};
use crate::ingest::clock::now_ms;
use crate::ingest::run::new_file::PROGRAM;
use crate::ingest::run::session::{LockedFile, Session};
use crate::progress::Reporter;
use crate::store::meta::SealRecord;
use crate::store::segments::SegmentRecord;
use crate::store::tables;
use crate::store::vector_columns::{BUILT_IN, VectorColumns};

/// What a change reads and writes.
pub(super) struct Change<'c, 't> {
    /// The last commit, which nobody else replaces meanwhile.
    pub(super) snapshot: &'c Snapshot<'c>,
    /// Its records.
    pub(super) catalog: &'c Catalog,
    /// Where the file is.
    pub(super) path: &'c Path,
    /// What is committed when all went well.
    pub(super) transaction: &'c mut Transaction<'t>,
}

impl Session {
    /// Commits what waits, then what `change` writes, if it says that it wrote something.
    pub(super) fn change_vectors<T>(
        &mut self,
        reporter: &Reporter<'_>,
        change: impl FnOnce(Change<'_, '_>) -> Result<(T, bool)>,
    ) -> Result<T> {
        self.check_open()?;
        if self.has_pending() {
            // Without the hook: a break would lose the changes that wait.
            self.commit(&Reporter::silent())?;
        } else if self.starts_empty || !self.path.exists() {
            // A file without documents has nothing to change, and is not made for it.
            let path = self.path.clone();
            return Err(Error::PathNotFound { path });
        }
        self.lock()?;
        let mut open = self.open.take().ok_or(Error::WriterFailed)?;
        let LockedFile {
            writer,
            base: Some(base),
            catalogs,
        } = &mut open
        else {
            return Err(Error::WriterFailed);
        };
        // The commits before have made the file longer.
        base.map_growth()?;
        let catalog = base.read(|snapshot| catalogs.get(snapshot))?;
        let mut transaction = writer.begin()?;
        let mut change = Some(change);
        let changed = base.read(|snapshot| {
            // Nobody else commits, so what is read stands and is read once.
            let change = change.take().ok_or(Error::SnapshotExpired)?;
            change(Change {
                snapshot,
                catalog: &catalog,
                path: &self.path,
                transaction: &mut transaction,
            })
        });
        let (result, has_changed) = changed?;
        if has_changed {
            let mut meta = catalog.meta.clone();
            PROGRAM.clone_into(&mut meta.writer);
            meta.updated_ms = now_ms();
            let mut manifest = catalog.manifest.clone();
            manifest.generation = manifest.generation.saturating_add(1);
            SealRecord::remove(&mut transaction)?;
            meta.write(&mut transaction)?;
            manifest.write(&mut transaction)?;
            reporter.check()?;
            reporter.wait_for(watched(|| transaction.commit()))?;
        } else {
            drop(transaction);
        }
        self.open = Some(open);
        Ok(result)
    }

    /// Commits what `write` puts into the cache of embedded texts. Documents and columns stay as they are, so that answers
    /// that readers have begun go on.
    pub(super) fn change_cache(
        &mut self,
        write: impl FnOnce(&mut Transaction<'_>) -> Result<()>,
    ) -> Result<()> {
        self.check_open()?;
        if !self.path.exists() {
            let path = self.path.clone();
            return Err(Error::PathNotFound { path });
        }
        self.lock()?;
        let mut open = self.open.take().ok_or(Error::WriterFailed)?;
        let mut transaction = open.writer.begin()?;
        SealRecord::remove(&mut transaction)?;
        write(&mut transaction)?;
        Reporter::silent().wait_for(watched(|| transaction.commit()))?;
        Ok(())
    }

    /// See [`crate::KbWriter::remove_vectors`].
    pub(crate) fn remove_vectors(&mut self, name: &str) -> Result<u64> {
        if name == BUILT_IN_VECTORS {
            return Err(Error::InvalidArgument {
                argument: "name",
                reason: "the vectors of the built-in model stay, because text is searched by them"
                    .to_owned(),
            });
        }
        self.change_vectors(&Reporter::silent(), |change| {
            let mut columns = change.catalog.vector_columns.clone();
            let number = number_of(&columns, name)?;
            let mut removed = 0;
            for segment in &change.catalog.segments {
                let mut more = segment.records.more_vectors.iter();
                let Some(index) = more.find(|index| index.number == number) else {
                    continue;
                };
                removed += index.live_rows(segment.deleted_rows());
                let mut record = segment.records.segment.clone();
                take_out(change.transaction, segment.id, &mut record, number)?;
                record.write(change.transaction, segment.id)?;
            }
            columns.list.retain(|column| column.number != number);
            if columns.default == number {
                columns.default = BUILT_IN;
            }
            VectorColumns::remove(change.transaction, number)?;
            columns.write(change.transaction)?;
            Ok((removed, true))
        })
    }

    /// See [`crate::KbWriter::set_default_vectors`].
    pub(crate) fn set_default_vectors(&mut self, name: &str) -> Result<()> {
        self.change_vectors(&Reporter::silent(), |change| {
            let mut columns = change.catalog.vector_columns.clone();
            let number = number_of(&columns, name)?;
            // A file that never had another column needs no table.
            let has_changed = columns.default != number;
            if has_changed {
                columns.default = number;
                columns.write(change.transaction)?;
            }
            Ok(((), has_changed))
        })
    }
}

/// Removes a column of vectors from a segment and its record, which the caller writes.
pub(super) fn take_out(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    record: &mut SegmentRecord,
    number: u16,
) -> Result<()> {
    let is_its = |column: u16| tables::vector_column_of(ColumnId(column)).0 == number;
    for column in record.columns.iter().filter(|it| is_its(it.column)) {
        transaction.remove_column(segment, column)?;
    }
    record.columns.retain(|column| !is_its(column.column));
    record.more_vectors.retain(|more| more.number != number);
    Ok(())
}

/// The number of the column of that name.
fn number_of(columns: &VectorColumns, name: &str) -> Result<u16> {
    if name == BUILT_IN_VECTORS {
        return Ok(BUILT_IN);
    }
    let column = columns.named(name).map(|column| column.number);
    column.ok_or_else(|| Error::InvalidArgument {
        argument: "name",
        reason: format!(
            "there is no column of vectors {name:?}; the file has {}",
            columns.names()
        ),
    })
}
