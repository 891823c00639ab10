//! Makes the changes that wait durable, then merges segments.

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::{ContainerWriter, watched};
use crate::ingest::clock::now_ms;
use crate::ingest::run::merge::merge_segments;
use crate::ingest::run::new_file::{PROGRAM, check_model, new_manifest, new_meta};
use crate::ingest::run::session::{LockedFile, PendingChange, Session};
use crate::ingest::run::vector_index::lists::{self, Columns};
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::meta::{Manifest, Settings};

impl Session {
    /// See [`crate::KbWriter::commit`].
    pub(crate) fn commit(&mut self, reporter: &Reporter<'_>) -> Result<()> {
        self.check_open()?;
        // Taken first, so that after an error they are gone, as documented: the writer cannot tell
        // which of them would fail again.
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() && self.path.exists() && !self.starts_empty {
            return Ok(());
        }
        self.lock()?;
        // Taken too: an error on the way drops it, which ends the transaction and frees the lock.
        let Some(mut open) = self.open.take() else {
            return Err(Error::WriterFailed);
        };
        let (meta, manifest, settings) = match open.base() {
            Some((base, catalogs)) => {
                // All records, so that nothing is added to what no reader could answer from.
                let catalog = base.read(|snapshot| catalogs.get(snapshot))?;
                check_model(&catalog.meta)?;
                let mut meta = catalog.meta.clone();
                PROGRAM.clone_into(&mut meta.writer);
                (meta, catalog.manifest.clone(), base.read(Settings::read)?)
            }
            None => (
                new_meta()?,
                self.next_manifest(&open.writer)?,
                Settings::default(),
            ),
        };
        let mut batch = Batch::new(meta, manifest, now_ms(), &settings);
        let mut progress = Progress {
            files_total: pending.len() as u64,
            ..Progress::new(Stage::Commit)
        };
        reporter.report(progress)?;
        let mut transaction = open.writer.begin()?;
        for change in pending.into_values() {
            match change {
                PendingChange::Add { prepared, given } => {
                    batch.add(&mut transaction, &prepared, given)?
                }
                PendingChange::Replace {
                    id,
                    prepared,
                    given,
                } => {
                    batch.replace(&mut transaction, id, &prepared, Some(given))?;
                }
                PendingChange::Edit {
                    id,
                    given,
                    metadata,
                } => batch.edit(&mut transaction, id, given, metadata)?,
                PendingChange::Remove { id } => batch.remove(&mut transaction, id)?,
            }
            progress.files_done += 1;
            reporter.report(progress)?;
        }
        let base = open.base.as_ref().map(|base| (base, &open.catalogs));
        reporter.wait_for(watched(|| batch.finish(&mut transaction, base)))?;
        // The last moment for a stop that leaves the file as it was.
        reporter.check()?;
        reporter.wait_for(watched(|| transaction.commit()))?;
        self.finish_commit(open, Limit::commit(), reporter)
    }

    /// The manifest of a new file: of one that takes the place of another, whose uuid it keeps, numbers go on,
    /// so that none ever means two things.
    pub(super) fn next_manifest(&self, writer: &ContainerWriter) -> Result<Manifest> {
        if !self.starts_empty {
            return Ok(new_manifest());
        }
        match writer.replaced()? {
            Some(replaced) => {
                let mut manifest = replaced.read(Catalog::load)?.manifest;
                manifest.segments.clear();
                Ok(manifest)
            }
            None => Ok(new_manifest()),
        }
    }

    /// Finishes a commit: a new file is renamed to its path, an existing one stays locked and its
    /// segments are merged within `limit`. A merge that fails or is stopped is no error.
    pub(super) fn finish_commit(
        &mut self,
        mut open: LockedFile,
        limit: Limit,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let LockedFile {
            writer,
            base,
            catalogs,
        } = &mut open;
        let Some(base) = base else {
            open.writer.finish()?;
            self.starts_empty = false;
            return Ok(());
        };
        // What was committed stays committed: a merge that fails or is stopped is left to the next
        // commit, and to a writer that opens the file again.
        let is_merged = !self.merges
            || merge_segments(writer, base, catalogs, limit, reporter)
                .and_then(|()| match limit == Limit::none() {
                    true => {
                        let wanted = (self.list_limits, Columns::All);
                        lists::build(writer, base, catalogs, wanted, reporter)
                    }
                    false => Ok(()),
                })
                .is_ok();
        self.open = is_merged.then_some(open);
        Ok(())
    }
}
