//! The second pass of a large first run: programs that are indexed as text are parsed and written again.
//!
//! The pass is a number of updates, each a commit that parses some of the programs that the file marks as
//! [pending](kb_types::syntax::pending). A run that is stopped between two of them leaves a file that the next run goes
//! on with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kb_types::error::{Error, Result};

use crate::container::{Container, watched};
use crate::ingest::changes::survey::Survey;
use crate::ingest::options::IndexOptions;
use crate::ingest::report::Report;
use crate::ingest::run::session::{LockedFile, Session};
use crate::ingest::run::vector_index::recall::record_recall;
use crate::progress::Reporter;

/// Most commits of a pass, if all are as large as the first.
// Each begins with a walk over all folders. A run that is stopped loses what it parsed since the last commit: at most
// an eighth of the pass, or what a checkpoint is worth.
const COMMITS: u64 = 8;

/// Bytes of pending programs from which on a commit takes no more of them.
pub(super) fn most_pending(survey: &Survey, options: &IndexOptions) -> u64 {
    (survey.pending_bytes / COMMITS).max(options.checkpoint_bytes)
}

impl Session {
    /// Parses the programs that `report` counts as pending, and does what is left to do of a file that is whole. Another
    /// writer may come first: then it returns, and they stay pending.
    ///
    /// # Errors
    /// As [`Session::index`].
    pub(super) fn parse_pending(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
        limit_bytes: usize,
        report: &mut Report,
    ) -> Result<()> {
        let pass = IndexOptions {
            rebuild: false,
            force_hash: false,
            vectors: None,
            min_recall: None,
            ..options.clone()
        };
        while report.symbols_pending > 0 {
            let base = Container::open(&self.path)?;
            let parsed = match self.update(&base, paths, &pass, reporter, limit_bytes) {
                Err(Error::IndexLocked { .. }) => return Ok(()),
                parsed => parsed?,
            };
            // Files that cannot be read now are tried again by the next run.
            let is_stuck = parsed.parsed == 0;
            add(report, parsed);
            if is_stuck {
                break;
            }
        }
        let Some(LockedFile {
            writer,
            base: Some(base),
            ..
        }) = &mut self.open
        else {
            return Ok(());
        };
        let wanted = options.min_recall;
        report.missed_recall =
            reporter.wait_for(watched(|| record_recall(writer, base, wanted)))?;
        reporter.check()?;
        // It makes the file anew, so nobody may have it open for writing.
        self.open = None;
        self.give_back_unused(reporter);
        Ok(())
    }
}

/// Adds to the report of a run what another pass of it did.
fn add(report: &mut Report, pass: Report) {
    let added: BTreeSet<&str> = report.added.iter().map(String::as_str).collect();
    // What changed since the first pass is new all the same.
    let updated = pass.updated.into_iter();
    let updated: Vec<String> = updated
        .filter(|path| !added.contains(path.as_str()))
        .collect();
    let removed: BTreeSet<String> = pass.removed.into_iter().collect();
    let count_before = report.added.len();
    report.added.retain(|path| !removed.contains(path));
    if report.added.len() == count_before {
        report.removed.extend(removed);
    }
    report.added.extend(pass.added);
    report.added.sort();
    report.updated.extend(updated);
    report.unparsed.extend(pass.unparsed);
    report.documents = pass.documents;
    report.chunks = pass.chunks;
    report.text_bytes = pass.text_bytes;
    report.skipped = pass.skipped;
    report.emptied_folders = pass.emptied_folders;
    report.parsed += pass.parsed;
    report.symbols_pending = pass.symbols_pending;
}

#[cfg(test)]
#[cfg(feature = "grammars")]
mod tests;
