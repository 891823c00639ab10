//! Folders and files -> the .kb: what changed is read and written, the rest stays.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::catalog::{Catalog, CatalogCache};
use crate::container::{Container, ContainerWriter, SlotIdentity, Snapshot, Transaction};
use crate::embed;
use crate::error::{Error, Result};
use crate::ingest::batch::Batch;
use crate::ingest::changes::{Candidate, Changes, Held};
use crate::ingest::merge_policy::Limit;
use crate::ingest::pipeline::{self, Outcome};
use crate::ingest::prepare::Preparer;
use crate::ingest::report::{IndexOptions, Progress, Report, Skipped, Stage};
use crate::ingest::root::{Root, Scope};
use crate::ingest::roots::{self, Asked, Known, Resolved};
use crate::ingest::walk::{self, WalkOptions, Walked, now_ms};
use crate::kb::carry;
use crate::kb::fresh::{check_codec, check_model, first_manifest, fresh_meta};
use crate::kb::merge::merge_segments;
use crate::kb::read::Kb;
use crate::kb::recall;
use crate::kb::samples;
use crate::kb::write::{KbWriter, Open, PROGRAM};
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
    /// [`Error::PathNotFound`]; [`Error::RootVanished`] when no file is left of what the .kb has
    /// documents of; [`Error::IndexLocked`]; [`Error::Cancelled`] when asked to stop before the commit:
    /// after it only merges stop;
    /// [`Error::Storage`], [`Error::Io`], the latter also when a file cannot be read whose document a
    /// rebuild would lose. The old state stands after every error.
    pub fn index(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        let started = Instant::now();
        if self.has_pending() {
            self.commit()?;
        }
        let mut report = match Container::open(&self.path) {
            Ok(base) => match base.read(Catalog::load) {
                Ok(catalog) if options.rebuild || !can_continue(&catalog.meta) => {
                    self.build(paths, options, progress)
                }
                Ok(catalog) => {
                    check_codec(&catalog.meta, options.vectors)?;
                    self.update(&base, paths, options, progress)
                }
                // What cannot be read must not be replaced: it may hold what only it has.
                Err(error) => Err(error),
            },
            Err(Error::PathNotFound { .. }) => self.build(paths, options, progress),
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
    ) -> Result<Report> {
        progress(Progress::at(Stage::Walk));
        let mut found = Found::look(base, paths, options)?;
        if found.is_nothing() {
            return found.would_be(options);
        }
        if base.read(SealRecord::read)?.is_some() {
            // A sealed file knows neither where its folders are nor what was left out: only other
            // documents are worth its seal.
            let report = found.would_be(options)?;
            if !report.has_changes() {
                return Ok(report);
            }
            found = Found::look(base, paths, options)?;
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
        if locked.read(|snapshot| Ok(snapshot.identity()))? != found.identity {
            found = Found::look(locked, paths, options)?;
        }
        check_model(&found.catalog.meta)?;
        let report = apply(&mut open, found, options, progress)?;
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

    /// Builds a new file, which takes the place of an old one.
    fn build(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        // A file that this writer has open would be locked against it.
        self.open = None;
        // Locks the file that will be replaced, so what is read of it below is what is replaced.
        let mut writer = ContainerWriter::create(&self.path, &self.opener())?;
        let mut meta = fresh_meta()?;
        let mut manifest = first_manifest();
        let mut before = None;
        match Container::open(&self.path) {
            Ok(existing) => {
                let mut preparer =
                    Preparer::new(embed::built_in(), embed::built_in().quantiser_range());
                existing.read(|snapshot| {
                    let catalog = Catalog::load(snapshot)?;
                    let resolved = resolve(snapshot, &catalog, paths, options)?;
                    let (documents, roots) = (&catalog.documents, &resolved.roots);
                    let held = Held::read(snapshot, documents, roots, false)?;
                    let carried = carry::others(snapshot, &catalog, roots, &mut preparer)?;
                    before = Some((resolved, held, carried));
                    meta.created_ms = catalog.meta.created_ms;
                    meta.embedder.codec = catalog.meta.embedder.codec;
                    // Numbers go on, so that none ever means two things.
                    manifest.clone_from(&catalog.manifest);
                    manifest.segments.clear();
                    Ok(())
                })?;
            }
            Err(Error::PathNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let (resolved, held, carried) = match before {
            Some((resolved, held, carried)) => (resolved, Some(held), carried),
            None => {
                let nothing = Known {
                    roots: &[],
                    next_root: 1,
                    first_parts: None,
                };
                let asked = Asked {
                    gone: false,
                    root: options.root.as_deref(),
                };
                let resolved = roots::resolve(paths, nothing, asked, &mut |_| Ok(Vec::new()))?;
                (resolved, None, Vec::new())
            }
        };
        if let Some(codec) = options.vectors {
            meta.embedder.codec = codec.number();
        }
        progress(Progress::at(Stage::Walk));
        let now = now_ms();
        let walked = walk_roots(&resolved, options)?;
        manifest.next_root = resolved.next_root;
        meta.roots = looked_at(&resolved, now);
        let (changes, mut kept) = match held {
            Some(held) => {
                held.refuse_vanished(&resolved.roots, &walked, options)?;
                Changes::anew(&held, walked)
            }
            None => (Changes::all(walked), HashMap::new()),
        };
        changes.refuse_unread()?;
        let mut run = Run::new(&changes, &resolved, progress);
        let mut batch = Batch::new(meta, manifest, now);
        let suffixes = carried.iter().map(|other| other.suffix().to_owned());
        let own = kept.values().map(|(_, kept)| kept.suffix.clone());
        batch.reserve(suffixes.chain(own).collect());
        let mut transaction = writer.begin()?;
        let mut carried = carried.iter().peekable();
        let (model, range) = (embed::built_in(), embed::built_in().quantiser_range());
        let candidates = &changes.candidates;
        let options = &IndexOptions {
            rebuild: true,
            ..options.clone()
        };
        pipeline::prepare_in_order(candidates, model, range, options, |candidate, outcome| {
            let path = candidate.file.document_path.as_str();
            while let Some(other) = carried.next_if(|other| other.path() < path) {
                other.write(&mut batch, &mut transaction)?;
            }
            if carried.peek().is_some_and(|other| other.path() == path) {
                let reason = "a document from elsewhere has this path".to_owned();
                let path = path.to_owned();
                let outcome = Outcome::Unread(Skipped { path, reason });
                run.done(candidate, &outcome);
                return Ok(());
            }
            run.done(candidate, &outcome);
            match (outcome, kept.remove(path)) {
                (Outcome::Prepared(prepared), Some((id, kept))) => {
                    batch.write(&mut transaction, id, &prepared, kept)
                }
                // Its document would be lost with the old file.
                (Outcome::Unread(skipped), Some(_)) => Err(unreadable(&skipped)),
                (outcome, _) => write(&mut batch, &mut transaction, candidate, outcome, false),
            }
        })?;
        for other in carried {
            other.write(&mut batch, &mut transaction)?;
        }
        options.check_cancel()?;
        if batch.meta().documents == 0 {
            return Ok(run.report(&changes, batch.meta()));
        }
        run.stage(Stage::Write);
        let meta = batch.finish(&mut transaction, None)?;
        transaction.commit()?;
        if options.large_merges
            && let Some(path) = writer.path().map(Path::to_path_buf)
        {
            // Nobody reads the new file yet, so a merge that is stopped stops the run.
            let base = Container::open(&path)?;
            let mut hear = |done, total| {
                (run.progress)(merging(done, total));
                options.check_cancel()
            };
            let catalogs = CatalogCache::default();
            merge_segments(&mut writer, &base, &catalogs, Limit::none(), &mut hear)?;
        }
        recall::certify(&mut writer)?;
        options.check_cancel()?;
        writer.finish()?;
        Ok(run.report(&changes, &meta))
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
        let found = Found::look(self.container(), paths, options)?;
        let mut report = found.would_be(options)?;
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
        let (identity, resolved) = self.container().read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let mut samples = |root: &RootRecord| samples::samples(snapshot, &catalog, root);
            let resolved = roots::assume(folders, &catalog.meta.roots, &mut samples)?;
            Ok((snapshot.identity(), resolved))
        })?;
        let found = Found::of(self.container(), identity, resolved, &options)?;
        found.changes.refuse_unread()?;
        let mut report = found.would_be_or(&options, |skipped| Err(unreadable(skipped)))?;
        report.elapsed = started.elapsed();
        Ok(report)
    }
}

/// How far a merge is.
fn merging(bytes_done: u64, bytes_total: u64) -> Progress {
    Progress {
        bytes_done,
        bytes_total,
        ..Progress::at(Stage::Merge)
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

/// The roots asked for, on disk and in one commit.
struct Found {
    identity: SlotIdentity,
    catalog: Catalog,
    resolved: Resolved,
    changes: Changes,
    /// When the disk was looked at.
    at_ms: i64,
}

impl Found {
    fn look(base: &Container, paths: &[PathBuf], options: &IndexOptions) -> Result<Found> {
        let (identity, resolved) = base.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let resolved = resolve(snapshot, &catalog, paths, options)?;
            Ok((snapshot.identity(), resolved))
        })?;
        Found::of(base, identity, resolved, options)
    }

    /// `identity`: the commit for which the roots were resolved. What another writer commits while
    /// the disk is walked makes a difference to it, and then all this counts for nothing.
    fn of(
        base: &Container,
        identity: SlotIdentity,
        resolved: Resolved,
        options: &IndexOptions,
    ) -> Result<Found> {
        let at_ms = now_ms();
        let walked = walk_roots(&resolved, options)?;
        let (catalog, held) = base.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let same_program = catalog.meta.writer == PROGRAM;
            let (documents, roots) = (&catalog.documents, &resolved.roots);
            let held = Held::read(snapshot, documents, roots, same_program)?;
            Ok((catalog, held))
        })?;
        let changes = Changes::find(held, &resolved.roots, walked, options)?;
        Ok(Found {
            identity,
            catalog,
            resolved,
            changes,
            at_ms,
        })
    }

    /// Whether neither documents nor what is known of the roots would change.
    fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.resolved.records == self.catalog.meta.roots
    }

    /// The report of an index run that stops before it writes.
    fn would_be(self, options: &IndexOptions) -> Result<Report> {
        self.would_be_or(options, |_| Ok(()))
    }

    /// The same; `unread` decides of documents whose files cannot be read.
    fn would_be_or(
        self,
        options: &IndexOptions,
        unread: impl Fn(&Skipped) -> Result<()>,
    ) -> Result<Report> {
        let mut nobody = |_: Progress| ();
        let mut run = Run::new(&self.changes, &self.resolved, &mut nobody);
        let (model, range) = (embed::built_in(), embed::built_in().quantiser_range());
        let candidates = &self.changes.candidates;
        pipeline::prepare_in_order(candidates, model, range, options, |candidate, outcome| {
            run.done(candidate, &outcome);
            match (&outcome, candidate.known) {
                (Outcome::Unread(skipped), Some(_)) => unread(skipped),
                _ => Ok(()),
            }
        })?;
        Ok(run.report(&self.changes, &self.catalog.meta))
    }
}

/// The roots that `paths` are of, in a file of that commit.
fn resolve(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    paths: &[PathBuf],
    options: &IndexOptions,
) -> Result<Resolved> {
    let first_parts = carry::first_parts(snapshot, catalog)?;
    let known = Known {
        roots: &catalog.meta.roots,
        next_root: catalog.manifest.next_root,
        first_parts: Some(&first_parts),
    };
    let asked = Asked {
        gone: options.prune,
        root: options.root.as_deref(),
    };
    roots::resolve(paths, known, asked, &mut |root| {
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
    check_model(meta).is_ok() && fresh_meta().is_ok_and(same)
}

fn walk_roots(resolved: &Resolved, options: &IndexOptions) -> Result<Walked> {
    let walk_options = WalkOptions {
        max_file_bytes: options.max_file_bytes,
        threads: options.threads,
        cancel: options.cancel.clone(),
    };
    let walked = walk::walk(&resolved.roots, &walk_options)?;
    options.check_cancel()?;
    Ok(walked)
}

/// The records of all roots, with the time at which some were looked at.
fn looked_at(resolved: &Resolved, at_ms: i64) -> Vec<RootRecord> {
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

/// Writes what was found into the file, as one commit.
fn apply(
    open: &mut Open,
    found: Found,
    options: &IndexOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let Found {
        catalog,
        resolved,
        changes,
        at_ms,
        ..
    } = found;
    let Catalog {
        mut meta,
        mut manifest,
        ..
    } = catalog;
    meta.roots = looked_at(&resolved, at_ms);
    PROGRAM.clone_into(&mut meta.writer);
    manifest.next_root = resolved.next_root;
    let mut run = Run::new(&changes, &resolved, progress);
    let mut batch = Batch::new(meta, manifest, now_ms());
    let mut transaction = open.writer.begin()?;
    let (model, range) = (embed::built_in(), embed::built_in().quantiser_range());
    let candidates = &changes.candidates;
    pipeline::prepare_in_order(candidates, model, range, options, |candidate, outcome| {
        run.done(candidate, &outcome);
        write(&mut batch, &mut transaction, candidate, outcome, true)
    })?;
    for (_, id) in &changes.removed {
        batch.remove(&mut transaction, *id)?;
    }
    for path in &changes.forgotten {
        skipped::remove(&mut transaction, path)?;
    }
    options.check_cancel()?;
    run.stage(Stage::Write);
    let base = open.base.as_ref().map(|base| (base, &open.catalogs));
    let meta = batch.finish(&mut transaction, base)?;
    transaction.commit()?;
    Ok(run.report(&changes, &meta))
}

/// Writes what became of one file; `in_place`: into the file that knows its document.
fn write(
    batch: &mut Batch,
    transaction: &mut Transaction<'_>,
    candidate: &Candidate,
    outcome: Outcome,
    in_place: bool,
) -> Result<()> {
    let file = &candidate.file;
    let known = candidate.known.filter(|_| in_place);
    if candidate.skipped.is_some() && matches!(outcome, Outcome::Prepared(_)) {
        skipped::remove(transaction, &file.document_path)?;
    }
    match (outcome, known) {
        (Outcome::Prepared(prepared), None) => batch.add(transaction, &prepared, Vec::new()),
        (Outcome::Prepared(prepared), Some(known)) => {
            batch.replace(transaction, known.id, &prepared, None)
        }
        (Outcome::Same, Some(known)) => batch.touch(transaction, known.id, file.modified_ms),
        // What cannot be read now stays as it was read last.
        (Outcome::Same, None) | (Outcome::Unread(_), _) => Ok(()),
        (Outcome::Skipped(skipped, hash), known) => {
            if let Some(known) = known {
                batch.remove(transaction, known.id)?;
            }
            let record = SkippedRecord {
                root: file.root,
                size_bytes: file.size_bytes,
                modified_ms: file.modified_ms,
                reason: skipped.reason,
                hash,
            };
            skipped::put(transaction, &file.document_path, &record)
        }
    }
}

/// Keeps count during an index run.
struct Run<'r> {
    progress: &'r mut dyn FnMut(Progress),
    now: Progress,
    report: Report,
}

impl<'r> Run<'r> {
    fn new(
        changes: &Changes,
        resolved: &Resolved,
        progress: &'r mut dyn FnMut(Progress),
    ) -> Run<'r> {
        let files = changes.candidates.iter();
        let now = Progress {
            files_total: files.len() as u64,
            bytes_total: files.map(|candidate| candidate.file.size_bytes).sum(),
            ..Progress::at(Stage::Index)
        };
        progress(now);
        Run {
            progress,
            now,
            report: Report {
                similar_roots: resolved.similar.clone(),
                ..Report::default()
            },
        }
    }

    fn done(&mut self, candidate: &Candidate, outcome: &Outcome) {
        let report = &mut self.report;
        let path = &candidate.file.document_path;
        match (outcome, candidate.known) {
            (Outcome::Prepared(prepared), known) => {
                report.source_bytes += prepared.source.size_bytes;
                match known {
                    Some(known) if known.hash == prepared.source.hash => report.unchanged += 1,
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
        }
        self.now.files_done += 1;
        self.now.bytes_done += candidate.file.size_bytes;
        (self.progress)(self.now);
    }

    fn stage(&mut self, stage: Stage) {
        self.now.stage = stage;
        (self.progress)(self.now);
    }

    fn report(self, changes: &Changes, meta: &Meta) -> Report {
        let mut report = self.report;
        report.documents = meta.documents;
        report.chunks = meta.chunks;
        report.text_bytes = meta.text_bytes;
        report.unchanged += changes.unchanged;
        report.skipped.extend_from_slice(&changes.skipped);
        report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let gone = changes.removed.iter().map(|(path, _)| path.clone());
        report.removed.extend(gone);
        report.removed.sort();
        report
    }
}

#[cfg(test)]
mod tests;
