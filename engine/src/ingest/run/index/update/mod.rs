//! Folders and files -> the .kb: what changed is read and written, the rest stays.

use std::path::PathBuf;
use std::time::Instant;

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::{Container, Transaction, watched};
use crate::ingest::changes::comparison::{Candidate, Change};
use crate::ingest::changes::indexed::Base;
use crate::ingest::clock::now_ms;
use crate::ingest::options::IndexOptions;
use crate::ingest::prepare::pipeline::{Input, Outcome};
use crate::ingest::prepare::preserved::Given;
use crate::ingest::report::Report;
use crate::ingest::run::index::plan::{
    ChangePlan, input, preparation, put_skipped, sides, touched_roots,
};
use crate::ingest::run::index::recorder::RunRecorder;
use crate::ingest::run::index::symbols::most_pending;
use crate::ingest::run::new_file::{PROGRAM, check_codec, check_model, new_meta};
use crate::ingest::run::session::{LockedFile, Session, is_older};
use crate::ingest::run::vector_index::due::is_due;
use crate::ingest::run::vector_index::recall::record_recall;
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::progress::{Reporter, Stage};
use crate::store::meta::{Meta, SealRecord};
use crate::store::skipped;

/// A recall that can be asked for.
const RECALLS: std::ops::RangeInclusive<f32> = 0.5..=1.0;

impl Session {
    /// See [`crate::KbWriter::index`]. `limit_bytes`: differences that are buffered in memory, usually
    /// [`BUFFER_LIMIT_BYTES`](crate::ingest::changes::survey::BUFFER_LIMIT_BYTES).
    pub(crate) fn index(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
        limit_bytes: usize,
    ) -> Result<Report> {
        let started = Instant::now();
        self.check_open()?;
        if options
            .min_recall
            .is_some_and(|share| share != 0.0 && !RECALLS.contains(&share))
        {
            return Err(Error::InvalidArgument {
                argument: "min_recall",
                reason: "is a share from 0.5 to 1, or 0 for none".to_owned(),
            });
        }
        if self.has_pending() {
            // Without the hook: a break would lose the changes that wait.
            self.commit(&Reporter::silent())?;
        }
        let is_new = !self.path.exists();
        let mut report = match Container::open(&self.path) {
            Ok(_) if self.starts_empty => self.rebuild(paths, options, reporter, limit_bytes),
            Ok(base) => match base.read(Catalog::load) {
                Ok(catalog) if options.rebuild || !can_continue(&catalog.meta) => {
                    self.rebuild(paths, options, reporter, limit_bytes)
                }
                Ok(catalog) => {
                    check_codec(&catalog.meta, options.vectors)?;
                    let report = self.update(&base, paths, options, reporter, limit_bytes);
                    self.with_recall(report?, options.min_recall, reporter)
                }
                // What cannot be read must not be replaced: it may hold what only it has.
                Err(error) => Err(error),
            },
            Err(Error::PathNotFound { .. }) => {
                self.check_creates()?;
                self.rebuild(paths, options, reporter, limit_bytes)
            }
            Err(Error::FormatUnsupported { .. }) if is_older(&self.path) => {
                self.rebuild(paths, options, reporter, limit_bytes)
            }
            Err(error) => Err(error),
        }?;
        if options.parse_pending && report.symbols_pending + report.parsed > 0 {
            if report.parsed == 0 && is_new {
                report.searchable_after = Some(started.elapsed());
            }
            self.parse_pending(paths, options, reporter, limit_bytes, &mut report)?;
        }
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Measures recall where [`is_due`] says so.
    fn with_recall(
        &mut self,
        mut report: Report,
        wanted: Option<f32>,
        reporter: &Reporter<'_>,
    ) -> Result<Report> {
        let is_due = Container::open(&self.path)?
            .read(|snapshot| Ok(is_due(&Catalog::load(snapshot)?, wanted)))?;
        if !is_due {
            return Ok(report);
        }
        self.lock()?;
        if let Some(LockedFile {
            writer,
            base: Some(base),
            ..
        }) = &mut self.open
        {
            report.missed_recall =
                reporter.wait_for(watched(|| record_recall(writer, base, wanted)))?;
        }
        Ok(report)
    }

    /// Changes the file in place.
    pub(super) fn update(
        &mut self,
        base: &Container,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
        limit_bytes: usize,
    ) -> Result<Report> {
        reporter.start(Stage::Walk)?;
        let mut plan = match ChangePlan::compute(base, paths, options, limit_bytes, reporter) {
            // Others write all the time: it is looked at again below, when they cannot.
            Err(Error::SnapshotExpired) => None,
            plan => Some(plan?),
        };
        if let Some(plan) = plan.take_if(|plan| plan.is_empty()) {
            return plan.dry_run(base, reporter);
        }
        if base.read(SealRecord::read)?.is_some() {
            // A sealed file knows neither where its folders are nor what was left out: only other
            // documents are worth its seal.
            let keeps_seal =
                |plan: &ChangePlan| !plan.changes_secrets() && plan.survey.pending_files == 0;
            if let Some(plan) = plan.take_if(|plan| keeps_seal(plan)) {
                let report = plan.dry_run(base, reporter)?;
                if !report.has_changes() {
                    return Ok(report);
                }
            }
        }
        self.lock()?;
        let Some(mut open) = self.open.take() else {
            return Err(Error::WriterFailed);
        };
        let Some(locked) = &open.base else {
            // The file went between two looks at it.
            return Err(Error::PathNotFound {
                path: self.path.clone(),
            });
        };
        // Another writer may have been faster; what it wrote is not undone.
        let identity = locked.read(|snapshot| Ok(snapshot.identity()))?;
        let plan = match plan.filter(|plan| plan.identity == identity) {
            Some(plan) => plan,
            None => ChangePlan::compute(locked, paths, options, limit_bytes, reporter)?,
        };
        check_model(&plan.catalog.meta)?;
        let report = apply(&mut open, plan, reporter)?;
        if report.symbols_pending > 0 {
            // Of what is merged now, the next pass would leave little.
            self.open = Some(open);
            return Ok(report);
        }
        let limit = if options.large_merges {
            Limit::none()
        } else {
            Limit::commit()
        };
        self.finish_commit(open, limit, reporter)?;
        Ok(report)
    }
}

/// Whether this program would write the same records and rows as the one that wrote the file.
fn can_continue(meta: &Meta) -> bool {
    // Documents that were not cut raise the cap of the file.
    let same = |fresh: Meta| {
        fresh.chunker.target_bytes == meta.chunker.target_bytes
            && fresh.chunker.cap_bytes <= meta.chunker.cap_bytes
    };
    check_model(meta).is_ok() && new_meta().is_ok_and(same)
}

/// Writes a plan into the file, as one commit.
fn apply(open: &mut LockedFile, plan: ChangePlan, reporter: &Reporter<'_>) -> Result<Report> {
    let LockedFile {
        writer,
        base: Some(container),
        catalogs,
    } = open
    else {
        return Err(Error::WriterFailed);
    };
    let base = Base {
        container,
        commit: plan.identity,
    };
    let ChangePlan {
        catalog,
        resolved,
        survey,
        at_ms,
        options,
        settings,
        new_settings,
        ..
    } = plan;
    let options = &options;
    let sides = sides(base, &catalog, &resolved, &settings);
    let mut recorder = RunRecorder::new(&survey, &resolved, reporter)?;
    let most_pending = most_pending(&survey, options);
    let mut changes = survey.into_changes(sides, options, reporter)?;
    let Catalog {
        mut meta,
        mut manifest,
        ..
    } = catalog;
    meta.roots = touched_roots(&resolved, at_ms);
    PROGRAM.clone_into(&mut meta.writer);
    manifest.next_root = resolved.next_root;
    let mut batch = Batch::new(meta, manifest, now_ms(), &new_settings);
    let mut transaction = writer.begin()?;
    let (mut pending_bytes, mut left) = (0, 0);
    let inputs = || loop {
        let change = changes.next_change()?;
        if let Some(Change::Read(candidate)) = &change
            && candidate.may_wait()
        {
            if pending_bytes >= most_pending {
                left += 1;
                continue;
            }
            pending_bytes += candidate.file.size_bytes;
        }
        return Ok(change.and_then(input));
    };
    preparation(options, true).in_order(reporter, inputs, |input, outcome| {
        recorder.done(&input, &outcome)?;
        match input {
            Input::File(candidate) => write(&mut batch, &mut transaction, &candidate, outcome),
            Input::Remove(_, id) => batch.remove(&mut transaction, id),
            Input::Forget(path) => skipped::remove(&mut transaction, &path),
            Input::Note(path, record) => skipped::put(&mut transaction, &path, &record),
            Input::Document(_) => Ok(()),
        }
    })?;
    recorder.left_pending(left);
    let tally = changes.finish()?;
    new_settings.write(&mut transaction)?;
    recorder.stage(Stage::Write)?;
    let base = Some((&*container, &*catalogs));
    let meta = reporter.wait_for(watched(|| batch.finish(&mut transaction, base)))?;
    reporter.check()?;
    reporter.wait_for(watched(|| transaction.commit()))?;
    Ok(recorder.report(tally, &meta))
}

/// Writes what became of one file.
fn write(
    batch: &mut Batch,
    transaction: &mut Transaction<'_>,
    candidate: &Candidate,
    outcome: Outcome,
) -> Result<()> {
    let file = &candidate.file;
    if candidate.skipped.is_some() && matches!(outcome, Outcome::Prepared(_)) {
        skipped::remove(transaction, &file.document_path)?;
    }
    match (outcome, candidate.stored) {
        (Outcome::Prepared(prepared), None) => {
            let given = Given::of_tags(prepared.stated_tags());
            batch.add(transaction, &prepared, given)
        }
        (Outcome::Prepared(prepared), Some(stored)) => {
            batch.replace(transaction, stored.id, &prepared, None)
        }
        (Outcome::Same, Some(stored)) => batch.touch(transaction, stored.id, file.modified_ms),
        (Outcome::Unread(skipped), None) => put_skipped(transaction, candidate, skipped, [0; 32]),
        // What cannot be read now stays as it was read last.
        (Outcome::Same | Outcome::Unchanged | Outcome::Unread(_) | Outcome::Removed, _) => Ok(()),
        (Outcome::Skipped(skipped, hash), stored) => {
            if let Some(stored) = stored {
                batch.remove(transaction, stored.id)?;
            }
            put_skipped(transaction, candidate, skipped, hash)
        }
    }
}

#[cfg(test)]
mod tests;
