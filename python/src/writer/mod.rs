//! [`Writer`]: a file that is being written. [`open`] opens it, [`merge`] reads what a merge is given, [`embed`] fills
//! columns of vectors.

mod embed;
mod merge;
pub(crate) mod open;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use kb_engine::{
    Document, EmbedderResolver, Error, Hook, IndexOptions, KbWriter, SealOptions, SourceInfo,
    give_fields,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::call::{Listener, run, run_short};
use crate::embedding::{Asked, reembed_options, remote};
use crate::error::raised;
use crate::fields::fields;
use crate::handle::closed;
use crate::imported::{ImportOptions, Names, Rows, warn_of_loss};
use crate::kb::{Kb, absolute};
use crate::options::{codec, words};
use crate::results::columns::{ImportReport, ReembedReport};
use crate::results::report::{IndexReport, MergeReport, SealReport};
use crate::source::{Given, check_secrets, given};

/// How long a thread waits for another one, or for another writer, before it looks for signals.
const WAIT: Duration = Duration::from_millis(20);

/// An open .kb for writing: `kbfile.open(path, "w")`. It also searches and reads, as of its last commit.
///
/// Changes wait in memory until `commit`; readers see all of a commit or nothing. As a context manager it commits at
/// the end, or rolls back when the block raises. One writer at a time: another one raises LockedError after
/// `lock_timeout` seconds.
#[pyclass(module = "kbfile", frozen, extends = Kb)]
#[derive(Debug)]
pub(crate) struct Writer {
    /// None: closed.
    writer: Mutex<Option<KbWriter>>,
    /// The process that opened it. A copy in a child must not touch the file.
    process: u32,
    /// How long a change waits for another writer.
    lock_timeout: Duration,
    /// What embeds for columns that it made.
    models: Option<Arc<dyn EmbedderResolver>>,
    /// What `kbfile.open` got as `embedder`.
    embedder: Option<Py<PyAny>>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if process::id() != self.process {
            // Closing it would write what only the parent may.
            let writer = self
                .writer
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(writer.take());
        }
    }
}

impl Writer {
    /// The writer of the engine, when no other thread has it. Waits without the GIL, and lets signals in.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Option<KbWriter>>> {
        if process::id() != self.process {
            let process_id = self.process;
            return Err(raised(py, &Error::ForkedWriter { process_id }));
        }
        loop {
            match self.writer.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| std::thread::sleep(WAIT));
                    py.check_signals()?;
                }
            }
        }
    }

    /// Calls the engine, again while another writer has the file, for as long as this one may wait.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        listener: &Listener,
        mut work: impl FnMut(&mut KbWriter, &mut Hook<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let started = Instant::now();
        let mut guard = self.lock(py)?;
        let writer = guard.as_mut().ok_or_else(|| closed(py))?;
        loop {
            let result = run(py, listener, |hook| match work(writer, hook) {
                Err(Error::IndexLocked { .. }) if started.elapsed() < self.lock_timeout => Ok(None),
                result => result.map(Some),
            })?;
            if let Some(result) = result {
                return Ok(result);
            }
            py.detach(|| std::thread::sleep(WAIT));
            py.check_signals()?;
        }
    }

    /// Forgets what waits for a commit.
    fn roll_back(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.lock(py)?;
        if let Some(writer) = guard.as_mut() {
            py.detach(|| writer.abandon());
        }
        Ok(())
    }

    /// Lets the file go.
    fn release(&self, py: Python<'_>, kb: &Kb) -> PyResult<()> {
        let mut guard = self.lock(py)?;
        let writer = guard.take();
        drop(guard);
        py.detach(|| drop(writer));
        kb.handle.close();
        Ok(())
    }

    fn is_open(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.is_some())
    }
}

#[pymethods]
impl Writer {
    /// Number of documents that the next commit changes.
    #[getter]
    fn pending(&self, py: Python<'_>) -> PyResult<usize> {
        let guard = self.lock(py)?;
        Ok(guard.as_ref().map_or(0, KbWriter::pending))
    }

    /// Adds one document with the next commit, and returns its path. A str is the text itself, bytes are the content of a
    /// file, and a pathlib.Path is a file to read: an office document, a PDF file, source code, a text.
    ///
    /// The extension of `path` decides how the content is read. Without a path, a file gets its own name, and a text a name
    /// from its title or its hash. The default title of a text is its first heading, else its name. The title is searched
    /// and embedded with the text; pass `title=""` if the name is meaningless.
    ///
    /// `metadata` is a dict of fields for `where`: str, int, float, bool, date, datetime (UTC without a time zone), or a list
    /// of them. A field takes the place of one that the content states under the same name; None removes that.
    ///
    /// Raises ExistsError if the path exists and replace is False. Raises InvalidArgumentError for content with keys or
    /// credentials, unless include_secrets=True. Raises ExtractionError for a file that cannot be read.
    #[pyo3(signature = (source, *, path = None, title = None, tags = None, metadata = None, replace = false, include_secrets = false))]
    #[pyo3(
        text_signature = "(self, source, *, path=None, title=None, tags=(), metadata=None, replace=False, include_secrets=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "options, by keyword")]
    fn add(
        &self,
        source: &Bound<'_, PyAny>,
        path: Option<String>,
        title: Option<String>,
        tags: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
        replace: bool,
        include_secrets: bool,
    ) -> PyResult<String> {
        let py = source.py();
        let fields = metadata.map_or(Ok(Vec::new()), fields)?;
        let tags = tags.map_or(Ok(Vec::new()), |tags| words("tags", tags))?;
        let Given {
            name: read_as,
            content,
            modified_ms,
        } = given(source, path.as_deref(), title.as_deref())?;
        let path = path.unwrap_or_else(|| read_as.clone());
        let mut original = SourceInfo::of(&content);
        if let Some(modified_ms) = modified_ms {
            original.modified_ms = modified_ms;
        }
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let given_names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        let mut ready: Option<Document> = None;
        self.change(py, &Listener::none(), |writer, hook| {
            let document = match &ready {
                Some(document) => document,
                None => {
                    let mut document = writer.read_document(&read_as, &content, hook)?;
                    document.path.clone_from(&path);
                    if let Some(title) = &title {
                        document.title.clone_from(title);
                    }
                    give_fields(&mut document, &fields)?;
                    if !include_secrets {
                        check_secrets(&path, &document)?;
                    }
                    ready.insert(document)
                }
            };
            writer.add_given(document.clone(), original, &given_names, replace)?;
            if !tags.is_empty() {
                writer.tag(&path, &tags, &[])?;
            }
            Ok(())
        })?;
        Ok(path)
    }

    /// Adds one document for each row with the next commit, and returns their paths. `rows` are dicts, or a table of pandas,
    /// polars or pyarrow.
    ///
    /// The columns `text`, `path`, `title`, `tags` and `metadata` (a dict) mean what they mean in `add`; the arguments of
    /// these names give other names of columns. Every other column is a field for `where`. None, NaN and the like are
    /// left out. Raises ValueError with the number of the row, and what `add` raises; earlier rows stay for the commit.
    #[pyo3(signature = (rows, **options))]
    #[pyo3(
        text_signature = "(self, rows, *, text='text', path='path', title='title', tags='tags', metadata='metadata', replace=False, include_secrets=False)"
    )]
    fn add_many<'py>(
        slf: &Bound<'py, Self>,
        rows: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("kbfile._rows")?;
        module.getattr("add_many")?.call((slf, rows), options)
    }

    /// Indexes folders and files: reads what changed since the last run. The run commits by itself, together with
    /// pending changes. Readers see all of a run at once, and Ctrl-C leaves the file unchanged. Only the first run of a
    /// new file also commits after each 30 s or 64 MiB of text, and keeps these commits. If `kbfile.open` got an `embedder`, it
    /// embeds what was indexed after that; a service on another machine does so by `reembed` only.
    ///
    /// `progress` is True for a tqdm bar, or a function that is called with a `Progress`. `threads=0` uses all cores.
    /// Files larger than `max_file_bytes` are skipped. `rebuild` reads every file again and loses imported vectors
    /// (`lost_columns` of the report). `force_hash` compares contents even if size and time are unchanged. `prune`
    /// removes the documents of folders that have no files left. `root` names the root that the folder continues, for a
    /// folder that was moved. `vectors` sets how a new file or a rebuild stores vectors: "i8", or "i4" for half the
    /// size.
    ///
    /// The file stores each of the following choices. None keeps the stored choice; False, an empty list or 0 reverts it.
    /// `include` and `exclude` are patterns as in .gitignore, relative to each folder. Only files that match `include`, or are
    /// in a folder that matches, are read; files that match `exclude` are skipped. `hidden=True` also reads hidden files that
    /// git does not track. `follow=True` follows symbolic links. `include_secrets=True` also reads files that may hold keys or
    /// credentials. `trigrams=False` writes no trigram index, which makes `search_regex` fast; it applies to documents that are
    /// written from then on. `min_recall`, 0.5 to 1, is the required share of the 10 nearest chunks that a search by meaning
    /// finds.
    #[pyo3(signature = (*paths, progress = None, threads = 0, rebuild = false, force_hash = false, prune = false, root = None, include_secrets = None, trigrams = None, max_file_bytes = 16777216, vectors = None, min_recall = None, hidden = None, follow = None, include = None, exclude = None))]
    #[expect(clippy::too_many_arguments, reason = "options, by keyword")]
    fn index(
        &self,
        paths: &Bound<'_, PyTuple>,
        progress: Option<&Bound<'_, PyAny>>,
        threads: usize,
        rebuild: bool,
        force_hash: bool,
        prune: bool,
        root: Option<String>,
        include_secrets: Option<bool>,
        trigrams: Option<bool>,
        max_file_bytes: u64,
        vectors: Option<&Bound<'_, PyAny>>,
        min_recall: Option<f32>,
        hidden: Option<bool>,
        follow: Option<bool>,
        include: Option<&Bound<'_, PyAny>>,
        exclude: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<IndexReport> {
        let py = paths.py();
        if paths.is_empty() {
            return Err(PyTypeError::new_err("index() takes at least one path"));
        }
        let paths: Vec<PathBuf> = paths
            .iter()
            .map(|it| absolute(&it))
            .collect::<PyResult<_>>()?;
        let mut options = IndexOptions::new()
            .threads(threads)
            .rebuild(rebuild)
            .force_hash(force_hash)
            .prune(prune)
            .root(root)
            .vectors(codec("vectors", vectors)?)
            .hidden(hidden)
            .follow(follow)
            .include(include.map(|it| words("include", it)).transpose()?)
            .exclude(exclude.map(|it| words("exclude", it)).transpose()?);
        options.include_secrets = include_secrets;
        options.trigrams = trigrams;
        options.min_recall = min_recall;
        options.max_file_bytes = max_file_bytes;
        let listener = Listener::of(progress)?;
        let report = self.change(py, &listener, |writer, hook| {
            options.extraction = writer.extraction_now();
            writer.index(&paths, &options, hook)
        })?;
        let embedder = self.embedder.as_ref().map(|embedder| embedder.bind(py));
        if embedder.is_some_and(|embedder| remote(embedder).is_none()) && report.documents > 0 {
            self.reembed_columns(py, Asked::default(), &listener)?;
        }
        Ok(IndexReport::from(report))
    }

    /// Removes a document with the next commit, and returns its path.
    fn remove(&self, py: Python<'_>, name: String) -> PyResult<String> {
        self.change(py, &Listener::none(), |writer, _| writer.remove(&name))
    }

    /// Adds and removes tags of a document with the next commit. Returns its tags after that.
    #[pyo3(signature = (name, add = None, remove = None))]
    #[pyo3(text_signature = "(self, name, add=(), remove=())")]
    fn tag(
        &self,
        py: Python<'_>,
        name: String,
        add: Option<&Bound<'_, PyAny>>,
        remove: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let add = add.map_or(Ok(Vec::new()), |it| words("add", it))?;
        let remove = remove.map_or(Ok(Vec::new()), |it| words("remove", it))?;
        let add: Vec<&str> = add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
        let none = Listener::none();
        self.change(py, &none, |writer, _| writer.tag(&name, &add, &remove))
    }

    /// Sets fields of a document with the next commit, and returns its metadata after that. The text is not indexed again.
    ///
    /// `metadata` is a dict as in `add`. A field takes the place of one that the content states under the same name, and
    /// stays when the content changes; None removes a field. Other fields stay as they are.
    fn set_metadata(
        &self,
        py: Python<'_>,
        name: String,
        metadata: &Bound<'_, PyAny>,
    ) -> PyResult<BTreeMap<String, String>> {
        let (fields, none) = (fields(metadata)?, Listener::none());
        let pairs = self.change(py, &none, |writer, _| writer.set_fields(&name, &fields))?;
        Ok(pairs.into_iter().collect())
    }

    /// Imports vectors of any model into a new or existing column `name`. `vectors` is an array `[rows, dim]` of numpy or
    /// another library, or a list of lists; float32 is read without a copy. Pending changes are committed first. Then all
    /// vectors are committed at once, or none if a row is wrong.
    ///
    /// By default there is one row for each chunk of the file, ordered by document path and then by chunk. With `documents`,
    /// each row names its document, and its chunk by `chunks` (numbers), `spans` (bytes) or `lines`. A document of one chunk
    /// needs none of the three. Rows may then be fewer than chunks. A document that changes loses its imported vectors.
    ///
    /// The first import of a column sets its scale. `cut_numbers` of the report counts numbers beyond the scale. `recall` of
    /// the report shows the loss by quantisation; a low recall also gives a UserWarning.
    ///
    /// `metric` is "cosine", "dot" or "l2", `codec` "i8" or "i4". `default=True` makes this the default column of searches by
    /// vector. A chunk that already has a vector in the column is an error, unless replace=True.
    #[pyo3(signature = (name, vectors, documents = None, chunks = None, **options))]
    #[pyo3(
        text_signature = "(self, name, vectors, documents=None, chunks=None, *, spans=None, lines=None, model='', metric='cosine', codec='i8', default=False, replace=False, progress=None)"
    )]
    fn import_vectors(
        &self,
        name: String,
        vectors: &Bound<'_, PyAny>,
        documents: Option<&Bound<'_, PyAny>>,
        chunks: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<ImportReport> {
        let py = vectors.py();
        let ImportOptions {
            column,
            spans,
            lines,
            listener,
        } = ImportOptions::read(name, options)?;
        let names = Names {
            documents,
            chunks,
            spans: spans.as_ref(),
            lines: lines.as_ref(),
        };
        let rows = Rows::new(vectors, names)?;
        let failed = Mutex::new(None);
        let import = |writer: &mut KbWriter, hook: &mut Hook<'_>| {
            writer.import_vectors(&column, &mut rows.iter(&failed), hook)
        };
        let report = self.change(py, &listener, import);
        // What an object of Python raised, in place of the end that it was to the engine.
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(raised) => Err(raised),
            None => {
                let report = report?;
                warn_of_loss(py, &report)?;
                Ok(ImportReport::from(report))
            }
        }
    }

    /// Embeds the chunks that have no vector of a model yet, newest documents first, into a column, which is made if it is
    /// new. Searches then use the column beside the built-in model, if `kbfile.open` gets the same `embedder`.
    ///
    /// `embedder` is the name of a model ("minilm", "onnx:FOLDER"; `python -m kbfile models` lists them), a function of a
    /// list of texts that returns an array `[texts, dim]` or a list of lists, or an object of LangChain, LlamaIndex or
    /// Sentence Transformers. Without it, the columns that the file has are filled, by the model that `kbfile.open` got or
    /// those of this machine. `model` names a function or an object in the file, `name` names the column. With `folder`, only
    /// the documents below it are embedded.
    /// A file without such columns gets one of the model of `kbfile.open`. A service on another machine gets texts only with
    /// `send=True`; the error without it says how many.
    ///
    /// Vectors are committed every `commit_seconds`, and a later call goes on where this one stopped. With `max_seconds` it
    /// stops after that time. `left` of the report counts the chunks that have no vector. A column of another model raises
    /// InvalidArgumentError, unless replace=True.
    #[pyo3(signature = (embedder = None, **options))]
    #[pyo3(
        text_signature = "(self, embedder=None, *, name=None, model=None, folder=None, codec='i8', max_seconds=None, commit_seconds=20.0, replace=False, send=False, progress=None)"
    )]
    fn reembed(
        &self,
        py: Python<'_>,
        embedder: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<ReembedReport>> {
        let (asked, listener) = reembed_options(py, options)?;
        match embedder {
            Some(embedder) => self.reembed_by(embedder, asked, &listener),
            None => self.reembed_columns(py, asked, &listener),
        }
    }

    /// Removes a column of imported vectors, and commits pending changes. Returns the number of its vectors.
    fn remove_vectors(&self, py: Python<'_>, name: String) -> PyResult<u64> {
        let none = Listener::none();
        self.change(py, &none, |writer, _| writer.remove_vectors(&name))
    }

    /// Makes a column the default of searches by vector; "built-in" is a column too. Also commits pending changes.
    fn set_default_vectors(&self, py: Python<'_>, name: String) -> PyResult<()> {
        let none = Listener::none();
        self.change(py, &none, |writer, _| writer.set_default_vectors(&name))
    }

    /// Makes all pending changes durable and visible to readers in one step.
    #[pyo3(signature = (*, progress = None))]
    fn commit(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.change(py, &Listener::of(progress)?, |writer, hook| {
            writer.commit_with(hook)
        })
    }

    /// Discards all changes since the last commit, and releases the file to other writers.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_open(py)? {
            return Err(closed(py));
        }
        self.roll_back(py)
    }

    /// Takes the documents of other .kb files (one path or several) with all that was made of them, in one commit;
    /// nothing is read, embedded or parsed again. Also commits pending changes. `only`: globs of the paths to take;
    /// `folders=True` puts the documents of each file below a folder of its name. For a path with other content
    /// `on_conflict` decides: "refuse" raises, "keep-first" leaves the document that is there, "keep-last" and
    /// "keep-newest" may replace it, "both" puts the new one below a folder named after its file.
    #[pyo3(signature = (
        sources, *, on_conflict = "refuse", only = None, tags = None, folders = false, progress = None
    ))]
    fn merge_from(
        &self,
        sources: &Bound<'_, PyAny>,
        on_conflict: &str,
        only: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
        folders: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<MergeReport> {
        let (py, files) = (sources.py(), merge::sources(sources, folders)?);
        let options = merge::options(py, on_conflict, only, tags)?;
        let report = self.change(py, &Listener::of(progress)?, |writer, hook| {
            writer.merge_from(&files, &options, hook)
        })?;
        Ok(MergeReport::from(report))
    }

    /// Commits pending changes and writes the smallest form of the file, for shipping, to `output` or in place.
    /// `with_model=True` puts the models of its columns of vectors into it.
    #[pyo3(signature = (output = None, *, replace = false, vectors = None, with_model = false, progress = None))]
    fn seal(
        slf: &Bound<'_, Self>,
        output: Option<&Bound<'_, PyAny>>,
        replace: bool,
        vectors: Option<&Bound<'_, PyAny>>,
        with_model: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SealReport> {
        let (py, writer) = (slf.py(), slf.get());
        let output = output.map(absolute).transpose()?;
        let mut options = SealOptions::new()
            .replace(replace)
            .vectors(codec("vectors", vectors)?);
        let listener = Listener::of(progress)?;
        writer.change(py, &Listener::none(), |writer, hook| {
            writer.commit_with(hook)
        })?;
        if with_model {
            let kb = slf.as_super().get().handle.kb(py)?;
            options = options.models(run_short(py, || kb.pack_models())?);
        }
        let report = writer.change(py, &listener, |writer, hook| {
            writer.seal(output.as_deref(), &options, hook)
        })?;
        Ok(SealReport::from(report))
    }

    /// Commits what waits and closes the file. Closing twice is no error; `rollback()` before it discards.
    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let writer = slf.get();
        if !writer.is_open(py)? {
            return Ok(());
        }
        writer.commit(py, None)?;
        writer.release(py, slf.as_super().get())
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        if !slf.get().is_open(py)? {
            return Err(closed(py));
        }
        Ok(slf)
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        slf: &Bound<'_, Self>,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let _ = (exc_value, traceback);
        let py = slf.py();
        let writer = slf.get();
        if exc_type.is_none() {
            let closed = Writer::close(slf);
            if closed.is_err() {
                // What could not be committed is lost, and the file is free for others.
                writer.release(py, slf.as_super().get())?;
            }
            return closed;
        }
        writer.roll_back(py)?;
        writer.release(py, slf.as_super().get())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let base = slf.as_super().get();
        let shown = base.__repr__();
        let pending = slf.get().pending(py)?;
        Ok(format!(
            "Writer{}, mode={:?}, pending={pending})",
            shown.trim_start_matches("Kb").trim_end_matches(')'),
            base.mode
        ))
    }
}
