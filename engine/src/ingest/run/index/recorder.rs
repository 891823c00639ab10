//! What an index run did so far: progress for whoever waits, and the report at its end.

use kb_types::error::Result;

use crate::ingest::changes::comparison::Candidate;
use crate::ingest::changes::survey::Survey;
use crate::ingest::changes::tally::Tally;
use crate::ingest::prepare::pipeline::{Input, Outcome};
use crate::ingest::report::{Report, Skipped, Unparsed};
use crate::ingest::roots::table::Resolved;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::meta::Meta;

/// Keeps count during an index run.
pub(super) struct RunRecorder<'r> {
    reporter: &'r Reporter<'r>,
    now: Progress,
    report: Report,
}

impl<'r> RunRecorder<'r> {
    pub(super) fn new(
        survey: &Survey,
        resolved: &Resolved,
        reporter: &'r Reporter<'r>,
    ) -> Result<RunRecorder<'r>> {
        let only_parses = survey.pending_files > 0 && survey.pending_files == survey.files;
        let stage = if only_parses {
            Stage::Symbols
        } else {
            Stage::Index
        };
        let now = Progress {
            files_total: survey.files,
            bytes_total: survey.bytes,
            ..Progress::new(stage)
        };
        reporter.report(now)?;
        Ok(RunRecorder {
            reporter,
            now,
            report: Report {
                similar_roots: resolved.similar.clone(),
                moved_roots: resolved.moved.clone(),
                ..Report::default()
            },
        })
    }

    /// Counts an input that is dealt with.
    ///
    /// # Errors
    /// As [`Reporter::report`].
    pub(super) fn done(&mut self, input: &Input, outcome: &Outcome) -> Result<()> {
        match input {
            Input::File(candidate) => return self.file(candidate, outcome),
            Input::Remove(path, _) => self.report.removed.push(path.clone()),
            Input::Forget(_) | Input::Note(..) | Input::Document(_) => {}
        }
        Ok(())
    }

    fn file(&mut self, candidate: &Candidate, outcome: &Outcome) -> Result<()> {
        let report = &mut self.report;
        let path = &candidate.file.document_path;
        match (outcome, candidate.stored) {
            (Outcome::Prepared(prepared), known) => {
                report.source_bytes += prepared.source.size_bytes;
                report.parsed += u64::from(candidate.is_pending);
                report.symbols_pending += u64::from(prepared.is_pending());
                let fallback = prepared.document.syntax.fallback;
                report.unparsed.extend(fallback.map(|reason| Unparsed {
                    path: path.clone(),
                    reason: reason.to_string(),
                }));
                match known {
                    Some(stored) if stored.hash == prepared.source.hash => report.unchanged += 1,
                    Some(_) => report.updated.push(path.clone()),
                    None => report.added.push(path.clone()),
                }
            }
            (Outcome::Unread(skipped), known) => {
                report.skipped.push(skipped.clone());
                report.unchanged += u64::from(known.is_some());
            }
            (Outcome::Same, _) => {
                report.source_bytes += candidate.file.size_bytes;
                report.unchanged += 1;
            }
            (Outcome::Skipped(skipped, _), known) => {
                report.skipped.push(skipped.clone());
                if known.is_some() {
                    report.removed.push(path.clone());
                }
            }
            (Outcome::Unchanged, _) => {
                match &candidate.skipped {
                    None => report.unchanged += 1,
                    Some(record) => {
                        let skipped = Skipped::new(path.as_str(), record.reason.as_str());
                        report.skipped.push(skipped);
                    }
                }
                // Not one of those that were to be read.
                return Ok(());
            }
            (Outcome::Removed, _) => {}
        }
        self.now.files_done += 1;
        self.now.bytes_done += candidate.file.size_bytes;
        self.reporter.report(self.now)
    }

    /// Counts programs that are left to be parsed later.
    pub(super) fn left_pending(&mut self, count: u64) {
        self.report.symbols_pending += count;
        self.report.unchanged += count;
    }

    /// Goes on to another stage with the counts so far.
    ///
    /// # Errors
    /// As [`Reporter::report`].
    pub(super) fn stage(&mut self, stage: Stage) -> Result<()> {
        self.now.stage = stage;
        self.reporter.report(self.now)
    }

    pub(super) fn report(self, tally: Tally, meta: &Meta) -> Report {
        let mut report = self.report;
        report.documents = meta.documents;
        report.chunks = meta.chunks;
        report.text_bytes = meta.text_bytes;
        report.unchanged += tally.unchanged;
        report.skipped.extend(tally.skipped);
        report.emptied_folders = tally.emptied;
        report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        report.removed.sort();
        report
    }
}
