//! Replaces the file, or an output file, by its sealed form.

use std::path::Path;
use std::sync::Arc;

use kb_types::error::{Error, Result};
use kb_types::hex;

use crate::catalog::CatalogCache;
use crate::container::{Container, ContainerWriter, watched};
use crate::ingest::run::seal::options::{SealOptions, SealReport};
use crate::ingest::run::seal::writer::write;
use crate::ingest::run::session::{Session, is_one_place};
use crate::ingest::run::vector_index::lists::{self, Columns};
use crate::ingest::run::vector_index::recall;
use crate::progress::Reporter;
use crate::store::effort::EffortRecord;

impl Session {
    /// A new file that will be at `target`.
    fn beside(&self, target: &Path, may_replace: bool) -> Result<ContainerWriter> {
        let writer = ContainerWriter::create(target, &self.identity())?;
        // An empty file, as mktemp makes it, holds nothing to lose.
        if !may_replace && !matches!(writer.replaced(), Ok(None)) {
            let path = target.to_path_buf();
            return Err(Error::OutputExists { path });
        }
        Ok(writer)
    }

    /// See [`crate::KbWriter::seal`]. A segment gets at most `max_rows` chunks.
    pub(crate) fn seal(
        &mut self,
        output: Option<&Path>,
        options: &SealOptions,
        max_rows: u32,
        reporter: &Reporter<'_>,
    ) -> Result<SealReport> {
        self.check_open()?;
        if self.has_pending() {
            // Without the hook: a break would lose the changes that wait.
            self.commit(&Reporter::silent())?;
        }
        // A file that this writer has open would be locked against it.
        self.open = None;
        // The place of the file itself is no place beside it, however it is spelled.
        let output = output.filter(|output| !is_one_place(output, &self.path));
        let target = &*output.unwrap_or(&self.path).to_path_buf();
        let source = Container::open(&self.path)?;
        // Before anything is read: nobody changes what is about to be replaced.
        let mut writer = Some(self.beside(target, output.is_none() || options.replace)?);
        let source = match (output, &writer) {
            // What is locked is what is read; the path may lead to another file by now.
            (None, Some(writer)) => writer.replaced()?.ok_or_else(|| Error::PathNotFound {
                path: self.path.clone(),
            })?,
            _ => source,
        };
        let bytes_before = source.len_bytes();
        let _lease = source.lease();
        let mut is_first = true;
        let ((root, documents), missed_recall) =
            source.read_cancellable(Some(reporter.stop_flag()), |snapshot| {
                // Another file is written than the one that is read, and only its last attempt counts.
                let mut fresh = match writer.take() {
                    Some(first) if std::mem::take(&mut is_first) => first,
                    // What is locked does not change under the reader, and must not be let go.
                    _ if output.is_none() => return Err(Error::SnapshotExpired),
                    failed => {
                        drop(failed);
                        self.beside(target, options.replace)?
                    }
                };
                fresh.limit_access(&source)?;
                fresh.set_cancel(Some(Arc::clone(reporter.stop_flag())));
                let mut transaction = fresh.begin()?;
                let sealed = write(
                    &mut transaction,
                    snapshot,
                    options,
                    (max_rows, self.list_limits),
                    reporter,
                )?;
                reporter.wait_for(watched(|| transaction.commit()))?;
                let base = fresh.written()?;
                let catalogs = CatalogCache::default();
                let columns = (self.list_limits, Columns::All);
                lists::build(&mut fresh, &base, &catalogs, columns, reporter)?;
                let wanted = EffortRecord::read(snapshot)?.and_then(|record| record.wanted);
                let missed = reporter
                    .wait_for(watched(|| recall::record_recall(&mut fresh, &base, wanted)))?;
                writer = Some(fresh);
                Ok((sealed, missed))
            })?;
        reporter.check()?;
        writer.ok_or(Error::WriterFailed)?.finish()?;
        let sealed = Container::open(target)?;
        Ok(SealReport {
            path: target.to_path_buf(),
            content_root: hex(&root),
            documents,
            bytes_before,
            bytes_after: sealed.len_bytes(),
            missed_recall,
        })
    }
}

#[cfg(test)]
mod tests;
