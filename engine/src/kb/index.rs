//! Folders and files -> the .kb: what changed is read and written, the rest stays.

mod rebuild;
mod recorder;

use std::path::PathBuf;
use std::time::Instant;

use self::recorder::RunRecorder;
use crate::catalog::Catalog;
use crate::container::{Container, SlotIdentity, Snapshot, Transaction};
use crate::embed;
use crate::error::{Error, Result};
use crate::ingest::changes::comparison::{Candidate, Change, Sides, StoredDocument};
use crate::ingest::changes::indexed::Base;
use crate::ingest::changes::survey::{BUFFER_LIMIT_BYTES, Survey};
use crate::ingest::clock::now_ms;
use crate::ingest::options::IndexOptions;
use crate::ingest::prepare::pipeline::{Input, Outcome, Preparation};
use crate::ingest::report::{Report, Skipped};
use crate::ingest::roots::given_path::ResolveOptions;
use crate::ingest::roots::resolve::{self, StoredRoots};
use crate::ingest::roots::root::{Root, Scope};
use crate::ingest::roots::table::{IsPathPrefix, Resolved};
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::kb::new_file::{check_codec, check_model, new_meta};
use crate::kb::preserved;
use crate::kb::read::Kb;
use crate::kb::samples;
use crate::kb::write::{KbWriter, Open, PROGRAM};
use crate::progress::{Progress, Stage};
use crate::store::meta::{Meta, RootRecord, SealRecord};
use crate::store::skipped::{self, SkippedRecord};

impl KbWriter {
    /// Makes the .kb hold what the folders and files in `paths` hold now. Only what changed is read
    /// and written; documents whose files are gone are removed; what came from elsewhere, or was
    /// added by name, stays. One commit: readers see the old state or the new one. Changes that wait
    /// for a commit are committed first. `progress` hears how far it has come, on this thread.
    ///
    /// When nothing changed, nothing is written and no lock is taken. A new file that would hold no
    /// document is not made: the report says 0 documents.
    ///
    /// # Errors
    /// [`Error::PathNotFound`]; [`Error::PathNotAllowed`]; [`Error::RootVanished`] when no file is left
    /// of what the .kb has documents of; [`Error::IndexLocked`]; [`Error::Cancelled`] when asked to stop before the commit:
    /// after it only merges stop;
    /// [`Error::Storage`], [`Error::Io`], the latter also when a file cannot be read whose document a
    /// rebuild would lose. The old state stands after every error.
    pub fn index(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        self.index_buffered(paths, options, progress, BUFFER_LIMIT_BYTES)
    }

    /// The same, with another bound for the differences that are buffered in memory.
    fn index_buffered(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
        limit_bytes: usize,
    ) -> Result<Report> {
        let started = Instant::now();
        self.check_open()?;
        if self.has_pending() {
            self.commit()?;
        }
        let mut report = match Container::open(&self.path) {
            Ok(base) => match base.read(Catalog::load) {
                Ok(catalog) if options.rebuild || !can_continue(&catalog.meta) => {
                    self.rebuild(paths, options, progress, limit_bytes)
                }
                Ok(catalog) => {
                    check_codec(&catalog.meta, options.vectors)?;
                    self.update(&base, paths, options, progress, limit_bytes)
                }
                // What cannot be read must not be replaced: it may hold what only it has.
                Err(error) => Err(error),
            },
            Err(Error::PathNotFound { .. }) => {
                self.check_creates()?;
                self.rebuild(paths, options, progress, limit_bytes)
            }
            Err(error) => Err(error),
        }?;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Changes the file in place.
    fn update(
        &mut self,
        base: &Container,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
        limit_bytes: usize,
    ) -> Result<Report> {
        progress(Progress::new(Stage::Walk));
        let mut plan = match ChangePlan::compute(base, paths, options, limit_bytes) {
            // Others write all the time: it is looked at again below, when they cannot.
            Err(Error::SnapshotExpired) => None,
            plan => Some(plan?),
        };
        if let Some(plan) = plan.take_if(|plan| plan.is_empty()) {
            return plan.dry_run(base, options);
        }
        if base.read(SealRecord::read)?.is_some() {
            // A sealed file knows neither where its folders are nor what was left out: only other
            // documents are worth its seal.
            if let Some(plan) = plan.take() {
                let report = plan.dry_run(base, options)?;
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
            None => ChangePlan::compute(locked, paths, options, limit_bytes)?,
        };
        check_model(&plan.catalog.meta)?;
        let report = apply(&mut open, plan, options, progress)?;
        let limit = match options.large_merges {
            true => Limit::none(),
            false => Limit::commit(),
        };
        let mut hear = |done, total| {
            progress(merging(done, total));
            options.check_cancel()
        };
        self.committed(open, limit, &mut hear)?;
        Ok(report)
    }
}

impl Kb {
    /// What [`KbWriter::index`] with the same `paths` would change; nothing is written. Reads the
    /// files whose size or time changed, with `force_hash` all.
    ///
    /// # Errors
    /// As [`KbWriter::index`].
    pub fn check_sources(&self, paths: &[PathBuf], options: &IndexOptions) -> Result<Report> {
        let started = Instant::now();
        let mut report = retry_expired(|| {
            let plan = ChangePlan::compute(self.container(), paths, options, BUFFER_LIMIT_BYTES)?;
            plan.dry_run(self.container(), options)
        })?;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Whether the .kb holds what `folders` hold now, wherever they were when it was made: one folder
    /// for each root, told apart by their names. The content of every file is compared; nothing is
    /// written.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when a folder belongs to no root; [`Error::Io`] when a file that
    /// must be compared cannot be read; as [`Kb::check_sources`].
    pub fn compare_sources(&self, folders: &[PathBuf], options: &IndexOptions) -> Result<Report> {
        let started = Instant::now();
        let options = IndexOptions {
            force_hash: true,
            prune: true,
            ..options.clone()
        };
        let mut report = retry_expired(|| {
            let (identity, catalog, resolved) = self.container().read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                let mut samples = |root: &RootRecord| samples::samples(snapshot, &catalog, root);
                let is_path_prefix =
                    |part: &str| preserved::is_path_prefix(snapshot, &catalog, part);
                let stored = StoredRoots {
                    roots: &catalog.meta.roots,
                    next_root: catalog.manifest.next_root,
                    is_path_prefix: Some(&is_path_prefix),
                };
                let how = ResolveOptions {
                    within: options.within.as_deref(),
                    cancel: options.cancel.as_ref(),
                    ..ResolveOptions::default()
                };
                let resolved = resolve::relocate(folders, stored, how, &mut samples)?;
                Ok((snapshot.identity(), catalog, resolved))
            })?;
            let base = Base {
                container: self.container(),
                commit: identity,
            };
            let plan =
                ChangePlan::for_roots(base, catalog, resolved, &options, BUFFER_LIMIT_BYTES)?;
            plan.survey.tally.refuse_unread()?;
            plan.dry_run_with(self.container(), &options, |skipped| {
                Err(unreadable(skipped))
            })
        })?;
        report.elapsed = started.elapsed();
        Ok(report)
    }
}

/// How far a merge is.
fn merging(bytes_done: u64, bytes_total: u64) -> Progress {
    Progress {
        bytes_done,
        bytes_total,
        ..Progress::new(Stage::Merge)
    }
}

/// A document's file could not be read, and everything depends on it.
fn unreadable(skipped: &Skipped) -> Error {
    Error::Io {
        action: "index or compare",
        path: PathBuf::from(&skipped.path),
        source: std::io::Error::other(skipped.reason.clone()),
    }
}

/// Commits of others that may come while a comparison is under way before it is given up.
const MAX_ATTEMPTS: usize = 5;

/// Compares again while others commit: what is compared with two commits belongs to none.
fn retry_expired(mut compare: impl FnMut() -> Result<Report>) -> Result<Report> {
    for _ in 1..MAX_ATTEMPTS {
        match compare() {
            Err(Error::SnapshotExpired) => {}
            result => return result,
        }
    }
    compare()
}

/// The roots asked for, on disk and in one commit.
struct ChangePlan {
    identity: SlotIdentity,
    catalog: Catalog,
    resolved: Resolved,
    survey: Survey,
    /// When the disk was looked at.
    at_ms: i64,
}

impl ChangePlan {
    /// `limit_bytes`: see [`BUFFER_LIMIT_BYTES`].
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when another writer commits meanwhile.
    fn compute(
        base: &Container,
        paths: &[PathBuf],
        options: &IndexOptions,
        limit_bytes: usize,
    ) -> Result<ChangePlan> {
        let (commit, catalog, resolved) = base.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let resolved = resolve_roots(snapshot, &catalog, paths, options)?;
            Ok((snapshot.identity(), catalog, resolved))
        })?;
        let base = Base {
            container: base,
            commit,
        };
        ChangePlan::for_roots(base, catalog, resolved, options, limit_bytes)
    }

    fn for_roots(
        base: Base<'_>,
        catalog: Catalog,
        resolved: Resolved,
        options: &IndexOptions,
        limit_bytes: usize,
    ) -> Result<ChangePlan> {
        let at_ms = now_ms();
        let sides = sides(base, &catalog, &resolved);
        let survey = Survey::new(sides, options, limit_bytes)?;
        Ok(ChangePlan {
            identity: base.commit,
            catalog,
            resolved,
            survey,
            at_ms,
        })
    }

    /// Whether neither documents nor what is known of the roots would change.
    fn is_empty(&self) -> bool {
        self.survey.is_empty() && self.resolved.records == self.catalog.meta.roots
    }

    /// The report of an index run that stops before it writes. `base` is the file that was looked at.
    fn dry_run(self, base: &Container, options: &IndexOptions) -> Result<Report> {
        self.dry_run_with(base, options, |_| Ok(()))
    }

    /// The same; `unread` decides of documents whose files cannot be read.
    fn dry_run_with(
        self,
        base: &Container,
        options: &IndexOptions,
        unread: impl Fn(&Skipped) -> Result<()>,
    ) -> Result<Report> {
        let mut nobody = |_: Progress| ();
        let mut recorder = RunRecorder::new(&self.survey, &self.resolved, &mut nobody);
        let base = Base {
            container: base,
            commit: self.identity,
        };
        let sides = sides(base, &self.catalog, &self.resolved);
        let mut changes = self.survey.into_changes(sides, options)?;
        let inputs = || Ok(changes.next_change()?.and_then(input));
        preparation(options).in_order(inputs, |input, outcome| {
            recorder.done(&input, &outcome);
            match (&outcome, stored_of(&input)) {
                (Outcome::Unread(skipped), Some(_)) => unread(skipped),
                _ => Ok(()),
            }
        })?;
        Ok(recorder.report(changes.finish()?, &self.catalog.meta))
    }
}

/// What is compared for an update.
fn sides<'s>(base: Base<'s>, catalog: &Catalog, resolved: &'s Resolved) -> Sides<'s> {
    Sides {
        roots: &resolved.roots,
        base: Some(base),
        is_same_program: catalog.meta.writer == PROGRAM,
        is_rebuild: false,
    }
}

/// How files are prepared for a file of this program.
fn preparation(options: &IndexOptions) -> Preparation<'_> {
    Preparation {
        model: embed::built_in(),
        range: embed::built_in().quantiser_range(),
        options,
    }
}

/// A difference on its way. `None`: a document that is preserved needs to be read first.
fn input(change: Change) -> Option<Input> {
    match change {
        Change::Read(candidate) => Some(Input::File(candidate)),
        Change::Remove(path, id) => Some(Input::Remove(path, id)),
        Change::Forget(path) => Some(Input::Forget(path)),
        Change::Preserve(_) => None,
    }
}

fn stored_of(input: &Input) -> Option<StoredDocument> {
    match input {
        Input::File(candidate) => candidate.stored,
        _ => None,
    }
}

/// The roots that `paths` are of, in a file of that commit.
fn resolve_roots(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    paths: &[PathBuf],
    options: &IndexOptions,
) -> Result<Resolved> {
    let is_path_prefix: &IsPathPrefix<'_> =
        &|part: &str| preserved::is_path_prefix(snapshot, catalog, part);
    // A file that was cleared is as good as a new one: a folder that is indexed again gets the paths,
    // and with them the handles, that it had.
    let is_empty = catalog.meta.roots.is_empty() && catalog.meta.documents == 0;
    let stored = StoredRoots {
        roots: &catalog.meta.roots,
        next_root: catalog.manifest.next_root,
        is_path_prefix: (!is_empty).then_some(is_path_prefix),
    };
    let how = ResolveOptions {
        allow_missing: options.prune,
        root: options.root.as_deref(),
        within: options.within.as_deref(),
        cancel: options.cancel.as_ref(),
    };
    resolve::resolve(paths, stored, how, &mut |root| {
        samples::samples(snapshot, catalog, root)
    })
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

/// The records of all roots, with the time at which some were looked at.
fn touched_roots(resolved: &Resolved, at_ms: i64) -> Vec<RootRecord> {
    let records = resolved.records.iter().cloned();
    records
        .map(|mut record| {
            // A look at a part says nothing of the rest.
            let whole = |root: &Root| match &root.scope {
                Scope::Whole => true,
                Scope::Files(names) => names.len() == record.files.len(),
                Scope::Parts(_) | Scope::Superseded => false,
            };
            let mut roots = resolved.roots.iter();
            if roots.any(|root| root.id == record.id && whole(root)) {
                record.indexed_ms = at_ms;
            }
            record
        })
        .collect()
}

/// Writes a plan into the file, as one commit.
fn apply(
    open: &mut Open,
    plan: ChangePlan,
    options: &IndexOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let Open {
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
        ..
    } = plan;
    let sides = sides(base, &catalog, &resolved);
    let mut recorder = RunRecorder::new(&survey, &resolved, progress);
    let mut changes = survey.into_changes(sides, options)?;
    let Catalog {
        mut meta,
        mut manifest,
        ..
    } = catalog;
    meta.roots = touched_roots(&resolved, at_ms);
    PROGRAM.clone_into(&mut meta.writer);
    manifest.next_root = resolved.next_root;
    let mut batch = Batch::new(meta, manifest, now_ms());
    let mut transaction = writer.begin()?;
    let inputs = || Ok(changes.next_change()?.and_then(input));
    preparation(options).in_order(inputs, |input, outcome| {
        recorder.done(&input, &outcome);
        match input {
            Input::File(candidate) => write(&mut batch, &mut transaction, &candidate, outcome),
            Input::Remove(_, id) => batch.remove(&mut transaction, id),
            Input::Forget(path) => skipped::remove(&mut transaction, &path),
            Input::Document(_) => Ok(()),
        }
    })?;
    let tally = changes.finish()?;
    options.check_cancel()?;
    recorder.stage(Stage::Write);
    let meta = batch.finish(&mut transaction, Some((&*container, &*catalogs)))?;
    transaction.commit()?;
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
        (Outcome::Prepared(prepared), None) => batch.add(transaction, &prepared, Vec::new()),
        (Outcome::Prepared(prepared), Some(stored)) => {
            batch.replace(transaction, stored.id, &prepared, None)
        }
        (Outcome::Same, Some(stored)) => batch.touch(transaction, stored.id, file.modified_ms),
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

/// Remembers a file that is left out.
fn put_skipped(
    transaction: &mut Transaction<'_>,
    candidate: &Candidate,
    skipped: Skipped,
    hash: [u8; 32],
) -> Result<()> {
    let file = &candidate.file;
    let record = SkippedRecord {
        root: file.root,
        size_bytes: file.size_bytes,
        modified_ms: file.modified_ms,
        reason: skipped.reason,
        hash,
    };
    skipped::put(transaction, &file.document_path, &record)
}

#[cfg(test)]
mod tests;
