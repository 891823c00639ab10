//! The writer of the engine behind the handle; it takes one call at a time.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use kb_engine::{
    Error, Extraction, FieldValue, Hook, ImportReport, IndexOptions, KbWriter, MergeOptions,
    MergeSource, NewVectors, Progress, SealOptions, SourceInfo, VectorCodec, VectorTarget,
    WorkerOptions, give_fields, secret_by_name, secret_in,
};

use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::base::str::kb_str;
use crate::writer::document::NewDocument;
use crate::writer::numbers::kb_report_view;
use crate::writer::options::{IndexTexts, kb_index_options, kb_seal_options, kb_writer_options};

/// A writer of the engine, used by one call at a time.
#[derive(Debug)]
pub(crate) struct Writer {
    /// None: only while it is dropped.
    writer: Mutex<Option<KbWriter>>,
    path: PathBuf,
    /// The process that opened it. A copy in a child must not touch the file.
    process: u32,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if process::id() != self.process
            && let Ok(writer) = self.writer.get_mut()
        {
            // Closing it would write what only the parent may.
            std::mem::forget(writer.take());
        }
    }
}

/// What an index run or sealing did.
#[derive(Debug)]
pub(crate) struct Report {
    /// Its numbers; the text is `root`.
    numbers: kb_report_view,
    root: String,
    json: String,
}

// SAFETY: the pointer in the numbers is to a text that never changes.
unsafe impl Send for Report {}
// SAFETY: as above.
unsafe impl Sync for Report {}

impl Report {
    pub(crate) fn view(&self) -> kb_report_view {
        kb_report_view {
            content_root: kb_str::of(&self.root),
            ..self.numbers
        }
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    fn of_run(path: &Path, report: &kb_engine::Report) -> Report {
        let count = |items: usize| items as u64;
        let numbers = kb_report_view {
            documents: report.documents,
            chunks: report.chunks,
            added: count(report.added.len()),
            updated: count(report.updated.len()),
            removed: count(report.removed.len()),
            unchanged: report.unchanged,
            skipped: count(report.skipped.len()),
            ..kb_report_view::EMPTY
        };
        let file_bytes = path.metadata().map_or(0, |found| found.len());
        let file = path.display().to_string();
        Report {
            numbers,
            root: String::new(),
            json: kb_json::index_report(&file, file_bytes, report, true).finish(),
        }
    }

    fn of_seal(report: &kb_engine::SealReport) -> Report {
        let numbers = kb_report_view {
            documents: report.documents,
            bytes_before: report.bytes_before,
            bytes_after: report.bytes_after,
            ..kb_report_view::EMPTY
        };
        Report {
            numbers,
            root: report.content_root.clone(),
            json: kb_json::seal_report(report).finish(),
        }
    }
}

/// The codec of a `kb_codec`.
fn codec(number: i32) -> Result<Option<VectorCodec>, Fault> {
    match number {
        0 => Ok(None),
        1 => Ok(Some(VectorCodec::I8)),
        2 => Ok(Some(VectorCodec::I4)),
        other => {
            let reason = format!("{other} given; allowed are 0 to 2");
            Err(Fault::argument("vectors", &reason))
        }
    }
}

/// 1, -1 and 0 as yes, no and nothing said.
fn choice(argument: &str, number: i32) -> Result<Option<bool>, Fault> {
    match number {
        0 => Ok(None),
        1 => Ok(Some(true)),
        -1 => Ok(Some(false)),
        other => {
            let reason = format!("{other} given; allowed are -1, 0 and 1");
            Err(Fault::argument(argument, &reason))
        }
    }
}

impl Writer {
    pub(crate) fn open(
        path: &Path,
        options: &kb_writer_options,
        worker: Option<PathBuf>,
    ) -> Result<Writer, Fault> {
        let extraction = match (worker, options.in_process) {
            (Some(_), in_process) if in_process != 0 => {
                return Err(Fault::argument("worker", "it excludes in_process"));
            }
            (Some(worker), _) => Extraction::Worker(WorkerOptions::new(worker)),
            (None, 0) => Extraction::Unset,
            (None, _) => Extraction::InProcess,
        };
        let writer = match options.mode {
            0 => KbWriter::open_or_create(path),
            1 => KbWriter::create(path),
            2 => KbWriter::open(path),
            other => {
                let reason = format!("{other} given; allowed are 0 to 2");
                return Err(Fault::argument("mode", &reason));
            }
        }?;
        let timeout = Duration::from_millis(options.lock_timeout_ms.into());
        let writer = writer.lock_timeout(timeout).extraction(extraction);
        Ok(Writer {
            writer: Mutex::new(Some(writer)),
            path: path.to_path_buf(),
            process: process::id(),
        })
    }

    /// Runs a call that no other call is beside.
    pub(crate) fn alone<T>(
        &self,
        call: impl FnOnce(&mut KbWriter) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut guard = self.lock()?;
        call(guard.as_mut().ok_or(Error::WriterFailed)?)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Option<KbWriter>>, Fault> {
        match self.writer.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(Fault::in_use("kb_writer")),
            // A call panicked in it.
            Err(TryLockError::Poisoned(_)) => Err(Error::WriterFailed.into()),
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.alone(|writer| Ok(writer.pending())).unwrap_or(0)
    }

    /// True: in the place of another document.
    pub(crate) fn add(&self, given: &NewDocument<'_>, listener: &Listener) -> Result<bool, Fault> {
        self.alone(|writer| add(writer, given, &mut |progress| listener.tell(progress)))
    }

    /// The path of what is removed.
    pub(crate) fn remove(&self, name: &str) -> Result<String, Fault> {
        self.alone(|writer| Ok(writer.remove(name)?))
    }

    /// The tags that it has then.
    pub(crate) fn tag(
        &self,
        name: &str,
        add: &[&str],
        remove: &[&str],
    ) -> Result<Vec<String>, Fault> {
        self.alone(|writer| Ok(writer.tag(name, add, remove)?))
    }

    /// The metadata that it has then.
    pub(crate) fn set_fields(
        &self,
        name: &str,
        fields: &[(String, Vec<FieldValue>)],
    ) -> Result<Vec<(String, String)>, Fault> {
        self.alone(|writer| Ok(writer.set_fields(name, fields)?))
    }

    pub(crate) fn commit(&self, listener: &Listener) -> Result<(), Fault> {
        let mut hook = |progress: &Progress| listener.tell(progress);
        self.alone(|writer| Ok(writer.commit_with(&mut hook)?))
    }

    pub(crate) fn rollback(&self) -> Result<(), Fault> {
        self.alone(|writer| {
            writer.abandon();
            Ok(())
        })
    }

    /// Imports vectors: all, or none.
    pub(crate) fn import_vectors(
        &self,
        column: &NewVectors,
        rows: Vec<(VectorTarget, Vec<f32>)>,
        listener: &Listener,
    ) -> Result<ImportReport, Fault> {
        let mut hook = |progress: &Progress| listener.tell(progress);
        let mut rows = rows.into_iter().map(Ok);
        self.alone(|writer| Ok(writer.import_vectors(column, &mut rows, &mut hook)?))
    }

    /// Takes the documents of other files. The report as JSON.
    pub(crate) fn merge(
        &self,
        sources: &[MergeSource],
        options: &MergeOptions,
        listener: &Listener,
    ) -> Result<String, Fault> {
        let mut hook = |progress: &Progress| listener.tell(progress);
        self.alone(|writer| {
            let report = writer.merge_from(sources, options, &mut hook)?;
            Ok(kb_json::merge_report(&self.path, &report).finish())
        })
    }

    pub(crate) fn index(
        &self,
        paths: &[PathBuf],
        given: &kb_index_options,
        texts: &IndexTexts<'_>,
        listener: &Listener,
    ) -> Result<Report, Fault> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let mut options = IndexOptions::new()
            .threads(usize::try_from(given.threads).unwrap_or(usize::MAX))
            .rebuild(given.rebuild != 0)
            .force_hash(given.force_hash != 0)
            .prune(given.prune != 0)
            .root(texts.root.map(str::to_owned))
            .vectors(codec(given.vectors)?)
            .hidden(choice("hidden", given.hidden)?)
            .follow(choice("follow", given.follow)?)
            .include(texts.include.as_deref().map(owned))
            .exclude(texts.exclude.as_deref().map(owned));
        if given.max_file_bytes > 0 {
            options = options.max_file_bytes(given.max_file_bytes);
        }
        options.include_secrets = choice("include_secrets", given.include_secrets)?;
        options.trigrams = choice("trigrams", given.trigrams)?;
        self.run(paths, options, &mut |progress| listener.tell(progress))
    }

    /// An index run with the extraction of this writer.
    pub(crate) fn run(
        &self,
        paths: &[PathBuf],
        mut options: IndexOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Report, Fault> {
        self.alone(|writer| {
            options.extraction = writer.extraction_now();
            let report = writer.index(paths, &options, hook)?;
            Ok(Report::of_run(&self.path, &report))
        })
    }

    pub(crate) fn seal(
        &self,
        output: Option<&Path>,
        given: &kb_seal_options,
        listener: &Listener,
    ) -> Result<Report, Fault> {
        let options = SealOptions::new()
            .replace(given.replace != 0)
            .vectors(codec(given.vectors)?);
        self.sealed(output, &options, &mut |progress| listener.tell(progress))
    }

    /// Commits what waits and seals.
    pub(crate) fn sealed(
        &self,
        output: Option<&Path>,
        options: &SealOptions,
        hook: &mut Hook<'_>,
    ) -> Result<Report, Fault> {
        self.alone(|writer| {
            // Merges end early when they are stopped, and the commit stands; sealing does not begin then.
            let mut is_stopped = false;
            writer.commit_with(&mut |progress| {
                let flow = hook(progress);
                is_stopped |= flow.is_break();
                flow
            })?;
            if is_stopped {
                return Err(Error::Cancelled.into());
            }
            Ok(Report::of_seal(&writer.seal(output, options, hook)?))
        })
    }
}

/// Adds a document; true: in the place of another.
pub(crate) fn add(
    writer: &mut KbWriter,
    given: &NewDocument<'_>,
    hook: &mut Hook<'_>,
) -> Result<bool, Fault> {
    // Before anything is changed.
    KbWriter::check_tags(&given.tags)?;
    let mut document = writer.read_document(given.path, given.data, hook)?;
    if let Some(title) = given.title {
        title.clone_into(&mut document.title);
    }
    for (key, value) in &given.metadata {
        let pair = ((*key).to_owned(), (*value).to_owned());
        document.metadata.push(pair);
    }
    give_fields(&mut document, &given.fields)?;
    if !given.include_secrets
        && let Some(secret) = secret_by_name(given.path).or_else(|| secret_in(&document))
    {
        let reason = format!("{:?} {secret}; include_secrets adds it anyway", given.path);
        return Err(Fault::argument("document", &reason));
    }
    let path = document.path.clone();
    let mut source = SourceInfo::of(given.data);
    if let Some(modified_ms) = given.modified_ms {
        source.modified_ms = modified_ms;
    }
    let names = given.metadata.iter().map(|(name, _)| *name);
    let fields = given.fields.iter().map(|(name, _)| name.as_str());
    let names: Vec<&str> = names.chain(fields).collect();
    let replaced = writer.add_given(document, source, &names, given.replace)?;
    if !given.tags.is_empty()
        && let Err(error) = writer.tag(&path, &given.tags, &[])
    {
        // A word that is no tag: nothing of a new document stays.
        if !replaced {
            writer.remove(&path)?;
        }
        return Err(error.into());
    }
    Ok(replaced)
}
