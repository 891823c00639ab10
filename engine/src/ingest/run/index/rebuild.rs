//! A file built from its sources: from nothing, or to replace an older one.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use kb_extract::tags;
use kb_types::DocumentId;
use kb_types::error::{Error, Result};

use crate::catalog::{Catalog, CatalogCache};
use crate::container::{Container, ContainerWriter, Snapshot, Transaction, watched};
use crate::ingest::changes::comparison::{Change, Sides};
use crate::ingest::changes::indexed::Base;
use crate::ingest::changes::survey::{Changes, Survey};
use crate::ingest::clock::now_ms;
use crate::ingest::options::IndexOptions;
use crate::ingest::prepare::pipeline::{Input, Outcome};
use crate::ingest::prepare::preserved::{Given, PreservedFields};
use crate::ingest::report::{MissedRecall, Report};
use crate::ingest::roots::given_path::ResolveOptions;
use crate::ingest::roots::resolve::{self, StoredRoots};
use crate::ingest::roots::table::Resolved;
use crate::ingest::run::index::older;
use crate::ingest::run::index::plan::{
    forget_secret_names, input, preparation, put_skipped, resolve_roots, select, settings_after,
    touched_roots, unreadable, with_settings,
};
use crate::ingest::run::index::recorder::RunRecorder;
use crate::ingest::run::merge::merge_segments;
use crate::ingest::run::new_file::new_meta;
use crate::ingest::run::preserved;
use crate::ingest::run::session::Session;
use crate::ingest::run::vector_index::lists::{self, Columns};
use crate::ingest::run::vector_index::recall;
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::progress::{Reporter, Stage};
use crate::store::embedding_cache;
use crate::store::meta::{Manifest, Meta, Settings};
use crate::store::skipped;
use crate::store::vector_columns::VectorColumns;

/// A new file is made smaller when more than one part in this number is unused.
// Copying reads and writes each page once, which is little beside parsing and embedding what it holds.
const UNUSED_PART: u64 = 8;

/// Unused bytes that are not worth it.
const MIN_UNUSED_BYTES: u64 = 1 << 20;

impl Session {
    /// Builds a new file, which takes the place of an old one.
    pub(super) fn rebuild(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
        limit_bytes: usize,
    ) -> Result<Report> {
        // A file that this writer has open would be locked against it.
        self.open = None;
        // Locks the file that will be replaced, so what is read of it below is what is replaced.
        let mut writer = ContainerWriter::create(&self.path, &self.identity())?;
        writer.set_cancel(Some(Arc::clone(reporter.stop_flag())));
        let before = match writer.remade()?.filter(|_| !self.starts_empty) {
            Some(existing) => {
                let is_older = existing.signature().is_older();
                let (identity, catalog) = existing.read(|snapshot| {
                    let catalog = if is_older {
                        Catalog::load_older(snapshot)
                    } else {
                        Catalog::load(snapshot)
                    };
                    Ok((snapshot.identity(), catalog?))
                })?;
                Some((existing, identity, catalog))
            }
            None => None,
        };
        let before = before.as_ref().map(|(container, commit, catalog)| Before {
            base: Base {
                container,
                commit: *commit,
            },
            catalog,
        });
        let paths = match &before {
            Some(before) if before.base.is_older() => {
                &older::paths(&before.catalog.meta.roots, paths)
            }
            _ => paths,
        };
        let (report, is_whole) =
            self.fill(&mut writer, before, paths, options, reporter, limit_bytes)?;
        if is_whole {
            writer.finish()?;
            self.starts_empty = false;
            // The pass that is to come uses it.
            if report.symbols_pending == 0 {
                self.give_back_unused(reporter);
            }
        }
        Ok(report)
    }

    /// Makes a file smaller of which much is unused: merges of a file that has readers write the new segment before the
    /// room of the old ones is free.
    pub(super) fn give_back_unused(&self, reporter: &Reporter<'_>) {
        let sizes = Container::open(&self.path)
            .and_then(|file| file.read(|snapshot| snapshot.file_bytes()));
        let is_due = sizes.is_ok_and(|sizes| {
            sizes.remainder_bytes > (sizes.file_bytes / UNUSED_PART).max(MIN_UNUSED_BYTES)
        });
        if is_due {
            // The file is whole. Without room for two, or beside another writer, it stays as long as it is.
            let identity = self.identity();
            let _ = reporter.wait_for(watched(|| ContainerWriter::compact(&self.path, &identity)));
        }
    }

    /// Writes a file that is begun. False where there is nothing to put into it, and it is not whole.
    fn fill(
        &self,
        writer: &mut ContainerWriter,
        before: Option<Before<'_>>,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
        limit_bytes: usize,
    ) -> Result<(Report, bool)> {
        let start = self.start(writer, before.as_ref(), paths, options, reporter)?;
        let (options, resolved, new_settings) = (&start.options, &start.resolved, &start.settings);
        reporter.start(Stage::Walk)?;
        let now = now_ms();
        let sides = Sides {
            roots: &resolved.roots,
            settings: &start.settings_before,
            base: before.as_ref().map(|before| before.base),
            is_same_program: false,
            is_rebuild: true,
        };
        let survey = Survey::new(sides, options, limit_bytes, reporter)?;
        survey.tally.refuse_unread()?;
        if before.as_ref().is_some_and(|before| before.base.is_older()) {
            let changes = survey.clone().into_changes(sides, options, reporter)?;
            older::check_losses(&self.path, changes, &start.lost_columns, options)?;
        }
        let (mut meta, mut manifest) = (start.meta, start.manifest);
        manifest.next_root = manifest.next_root.max(resolved.next_root);
        meta.roots = touched_roots(resolved, now);
        let is_new = before.is_none();
        let parses = !is_new || survey.program_bytes < options.symbols_later_bytes;
        let options = &options_of_pass(options, parses);
        let mut recorder = RunRecorder::new(&survey, resolved, reporter)?;
        let mut batch = Batch::new(meta, manifest, now, new_settings);
        let mut changes = survey.into_changes(sides, options, reporter)?;
        let kept = (before.as_ref(), start.columns.as_ref());
        let mut is_published = false;
        let (meta, base) = loop {
            let started = Instant::now();
            let bytes_before = batch.meta().text_bytes;
            let is_due = Cell::new(false);
            let mut transaction = writer.begin()?;
            let mut inputs = || next_input(&mut changes, before.as_ref());
            let until_due = || if is_due.get() { Ok(None) } else { inputs() };
            preparation(options, parses).in_order(reporter, until_due, |input, outcome| {
                recorder.done(&input, &outcome)?;
                let known = match &before {
                    Some(before) => before.preserved_fields(&input)?,
                    None => None,
                };
                write_outcome(
                    &mut transaction,
                    &mut batch,
                    before.as_ref(),
                    &input,
                    outcome,
                    known,
                )?;
                let bytes = batch.meta().text_bytes.saturating_sub(bytes_before);
                let is_long = started.elapsed() >= options.checkpoint_after;
                is_due.set(is_new && (is_long || bytes >= options.checkpoint_bytes));
                Ok(())
            })?;
            reporter.check()?;
            if !is_due.get() {
                let tally = changes.finish()?;
                tally.refuse_unread()?;
                let is_empty = batch.meta().documents == 0 && !is_published;
                if is_empty {
                    return Ok((recorder.report(tally, batch.meta()), false));
                }
                write_kept(&mut transaction, new_settings, kept)?;
                recorder.stage(Stage::Write)?;
                let meta = reporter.wait_for(watched(|| batch.finish(&mut transaction, None)))?;
                reporter.wait_for(watched(|| transaction.commit()))?;
                break ((meta, tally), writer.written()?);
            }
            new_settings.write(&mut transaction)?;
            reporter.wait_for(watched(|| batch.finish(&mut transaction, None)))?;
            reporter.wait_for(watched(|| transaction.commit()))?;
            let catalog = self.publish(writer, options, reporter)?;
            is_published = true;
            let Catalog { meta, manifest, .. } = catalog;
            batch = Batch::new(meta, manifest, now_ms(), new_settings);
        };
        let (meta, tally) = meta;
        let wanted = options.min_recall.or(start.recall_before);
        let missed_recall = if parses {
            self.complete(writer, &base, (options, wanted), is_published, reporter)?
        } else {
            None
        };
        let report = Report {
            model_before: start.model_before,
            lost_columns: start.lost_columns,
            missed_recall,
            ..recorder.report(tally, &meta)
        };
        Ok((report, true))
    }

    /// What the new file begins with.
    fn start(
        &self,
        writer: &ContainerWriter,
        before: Option<&Before<'_>>,
        paths: &[PathBuf],
        options: &IndexOptions,
        reporter: &Reporter<'_>,
    ) -> Result<Start> {
        let mut meta = new_meta()?;
        let mut manifest = self.next_manifest(writer)?;
        let mut resolved = match before {
            Some(Before { base, catalog }) => {
                meta.created_ms = catalog.meta.created_ms;
                meta.embedder.codec = catalog.meta.embedder.codec;
                // Numbers go on, so that none ever means two things.
                manifest.clone_from(&catalog.manifest);
                manifest.segments.clear();
                base.read(|snapshot| resolve_roots(snapshot, catalog, paths, options, reporter))?
            }
            None => resolve_first_roots(paths, options, reporter)?,
        };
        let model_before = before
            .map(|before| before.catalog.meta.embedder.id.clone())
            .filter(|id| *id != meta.embedder.id);
        let lost_columns = before.map_or_else(Vec::new, |before| {
            let columns = before.catalog.vector_columns.list.iter();
            let imported = columns.filter(|column| column.model.is_none());
            imported.map(|column| column.record.name.clone()).collect()
        });
        let columns = before.and_then(|before| before.catalog.vector_columns.without_rows());
        if let Some(codec) = options.vectors {
            meta.embedder.codec = codec.number();
        }
        let effort = before.and_then(|before| before.catalog.effort.as_ref());
        let recall_before = effort.and_then(|effort| effort.wanted);
        let settings_before = match before {
            Some(before) => before.base.read(Settings::read)?,
            None => Settings::default(),
        };
        let options = with_settings(options, &settings_before);
        select(&mut resolved, &options, &settings_before)?;
        let stored = before.map_or(&[][..], |before| &before.catalog.meta.roots);
        forget_secret_names(&mut resolved, stored, &options);
        Ok(Start {
            settings: settings_after(&settings_before, &options, &resolved),
            meta,
            manifest,
            resolved,
            options,
            settings_before,
            recall_before,
            model_before,
            lost_columns,
            columns,
        })
    }

    /// Lets readers see what is committed of the new file, and merges its segments. Returns what it holds then.
    fn publish(
        &self,
        writer: &mut ContainerWriter,
        options: &IndexOptions,
        reporter: &Reporter<'_>,
    ) -> Result<Catalog> {
        let committed = writer.written()?.read(Catalog::load)?;
        reporter.wait_for(watched(|| writer.publish(&self.path, &self.identity())))?;
        let catalog = writer.written()?.read(Catalog::load)?;
        // Between the rename and the lock on the new name another writer may have changed the
        // file. Its changes stay, and this run ends.
        if catalog.manifest != committed.manifest {
            return Err(Error::IndexLocked {
                holder: "another program, which has just changed it".to_owned(),
            });
        }
        if !options.large_merges {
            return Ok(catalog);
        }
        // Not all at the end: what a merge leaves behind takes what comes next.
        let base = writer.written()?;
        let catalogs = CatalogCache::default();
        merge_segments(writer, &base, &catalogs, Limit::none(), reporter)?;
        writer.written()?.read(Catalog::load)
    }

    /// Merges the segments of the new file and makes its inverted lists. Returns whether these miss the recall that
    /// is `wanted`.
    fn complete(
        &self,
        writer: &mut ContainerWriter,
        base: &Container,
        (options, wanted): (&IndexOptions, Option<f32>),
        is_published: bool,
        reporter: &Reporter<'_>,
    ) -> Result<Option<MissedRecall>> {
        if options.large_merges {
            // Where nobody reads the new file yet, a merge that is stopped stops the run.
            let catalogs = CatalogCache::default();
            let merged = merge_segments(writer, base, &catalogs, Limit::none(), reporter);
            if !is_published {
                merged?;
            }
            let columns = (self.list_limits, Columns::All);
            lists::build(writer, base, &catalogs, columns, reporter)?;
        }
        let missed = reporter.wait_for(watched(|| recall::record_recall(writer, base, wanted)))?;
        reporter.check()?;
        Ok(missed)
    }
}

/// The options of a run that makes a new file, and parses programs or leaves that to another pass.
fn options_of_pass(options: &IndexOptions, parses: bool) -> IndexOptions {
    IndexOptions {
        rebuild: true,
        // What a merge would write is replaced when the programs are parsed.
        large_merges: options.large_merges && parses,
        ..options.clone()
    }
}

/// What a new file begins with, and what the file before it had.
struct Start {
    meta: Meta,
    manifest: Manifest,
    resolved: Resolved,
    /// Those of this run, with what the file before it says.
    options: IndexOptions,
    settings: Settings,
    settings_before: Settings,
    /// The recall that the inverted lists of the file before it were asked for.
    recall_before: Option<f32>,
    /// The model of the file before it, where that is another one.
    model_before: Option<String>,
    /// Columns of imported vectors that the file before it had.
    lost_columns: Vec<String>,
    /// Columns whose model embeds the chunks again.
    columns: Option<VectorColumns>,
}

/// Writes what a new file has beside documents: columns that know their model, with the models and the vectors of texts
/// that the file before it keeps.
fn write_kept(
    transaction: &mut Transaction<'_>,
    settings: &Settings,
    (before, columns): (Option<&Before<'_>>, Option<&VectorColumns>),
) -> Result<()> {
    settings.write(transaction)?;
    let (Some(before), Some(columns)) = (before, columns) else {
        return Ok(());
    };
    before.read(|snapshot, _| {
        columns.write_with_models(transaction, snapshot)?;
        embedding_cache::copy(snapshot, transaction)
    })
}

/// The next input of a run; a document that stays is read from the file before.
fn next_input(changes: &mut Changes<'_>, before: Option<&Before<'_>>) -> Result<Option<Input>> {
    match changes.next_change()? {
        None => Ok(None),
        Some(Change::Preserve(document)) => {
            let before = before.ok_or(Error::WriterFailed)?;
            if before.base.is_older() {
                return Ok(Some(Input::Remove(document.path, document.id)));
            }
            let preserved = before
                .read(|snapshot, catalog| preserved::document(snapshot, catalog, document.id))?;
            Ok(Some(Input::Document(Box::new(preserved))))
        }
        Some(change) => Ok(input(change)),
    }
}

/// The roots of a file that is not there yet.
fn resolve_first_roots(
    paths: &[PathBuf],
    options: &IndexOptions,
    reporter: &Reporter<'_>,
) -> Result<Resolved> {
    let nothing = StoredRoots {
        roots: &[],
        next_root: 1,
        is_path_prefix: None,
    };
    let how = ResolveOptions {
        root: options.root.as_deref(),
        within: options.within.as_deref(),
        ..ResolveOptions::default()
    };
    resolve::resolve(paths, nothing, how, &mut |_| Ok(Vec::new()), reporter)
}

/// Writes what became of one input into the new file. `known` are id and fields of its document in
/// the old one.
fn write_outcome(
    transaction: &mut Transaction<'_>,
    batch: &mut Batch,
    before: Option<&Before<'_>>,
    input: &Input,
    outcome: Outcome,
    known: Option<(DocumentId, PreservedFields)>,
) -> Result<()> {
    match (outcome, known) {
        (Outcome::Prepared(prepared), Some((id, mut fields))) => {
            if let Input::File(_) = input {
                let tags = &mut fields.given.tags;
                *tags = tags::restated(tags, &[], &prepared.stated_tags());
            }
            batch.write(transaction, id, &prepared, fields)
        }
        (Outcome::Prepared(prepared), None) => {
            // Documents of the old file that are not yet in the new one keep their handles.
            let mut is_reserved = |suffix: &str| match before {
                Some(before) => before.has_suffix(suffix),
                None => Ok(false),
            };
            let given = Given::of_tags(prepared.stated_tags());
            batch.add_beside(transaction, &prepared, given, &mut is_reserved)
        }
        // Its document would be lost with the old file. An error, where an update only keeps the
        // document: here nothing of the old file is left to keep it in.
        (Outcome::Unread(skipped), Some(_)) => Err(unreadable(&skipped)),
        (Outcome::Skipped(skipped, hash), _) => match input {
            Input::File(candidate) => put_skipped(transaction, candidate, skipped, hash),
            _ => Ok(()),
        },
        (Outcome::Unread(skipped), None) => match input {
            Input::File(candidate) => put_skipped(transaction, candidate, skipped, [0; 32]),
            _ => Ok(()),
        },
        (Outcome::Removed, _) => match input {
            Input::Note(path, record) => skipped::put(transaction, path, record),
            _ => Ok(()),
        },
        (Outcome::Same | Outcome::Unchanged, _) => Ok(()),
    }
}

/// A file that is rebuilt, as it was.
struct Before<'b> {
    base: Base<'b>,
    catalog: &'b Catalog,
}

impl Before<'_> {
    fn read<T>(&self, mut request: impl FnMut(&Snapshot<'_>, &Catalog) -> Result<T>) -> Result<T> {
        self.base.read(|snapshot| request(snapshot, self.catalog))
    }

    /// Id and fields of the document that `input` replaces; `None` for a new one.
    fn preserved_fields(&self, input: &Input) -> Result<Option<(DocumentId, PreservedFields)>> {
        match input {
            Input::Document(preserved) => Ok(Some((preserved.id, preserved.fields.clone()))),
            Input::File(candidate) => match candidate.stored {
                Some(stored) => {
                    let fields = self.read(|snapshot, catalog| {
                        preserved::fields(snapshot, catalog, stored.id)
                    })?;
                    Ok(Some((stored.id, fields)))
                }
                None => Ok(None),
            },
            Input::Remove(..) | Input::Forget(_) | Input::Note(..) => Ok(None),
        }
    }

    /// Whether the handle of one of its documents ends so.
    fn has_suffix(&self, suffix: &str) -> Result<bool> {
        self.read(|snapshot, catalog| {
            let document = catalog.documents.by_suffix(snapshot, suffix)?;
            Ok(document.is_some())
        })
    }
}
