//! [`Kb`]: a file that is open for reading.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use kb_engine::{
    Error, Filters, PageOptions, RegexRequest, SymbolRelation, SymbolsRequest, VerifyOptions,
    search_files_regex, search_files_symbols, search_files_with,
};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView};

use crate::call::{Listener, run, run_short};
use crate::documents::document::{Document, document_name};
use crate::documents::iterator::DocumentIterator;
use crate::embedding::resolver;
use crate::error::{invalid, raised};
use crate::handle::{Handle, Source};
use crate::options::{cursor, kinds, request, take_filter, unexpected, words};
use crate::results::columns::VectorColumn;
use crate::results::field_info::FieldInfo;
use crate::results::hits::Hits;
use crate::results::matches::Matches;
use crate::results::report::VerifyReport;
use crate::results::symbols::Symbols;
use crate::vectors::{Array, Vectors};

/// An open .kb for reading: `kbfile.open(path)`.
///
/// Each call reads the newest commit. Any number of threads may share it. After fork the child opens the file again by
/// itself, and a pickle opens it by its path.
#[pyclass(module = "kbfile", frozen, subclass)]
#[derive(Debug)]
pub(crate) struct Kb {
    pub(crate) handle: Arc<Handle>,
    pub(crate) mode: &'static str,
}

impl Kb {
    /// Another object of the same open file.
    pub(crate) fn of_handle(handle: &Arc<Handle>) -> Kb {
        Kb {
            handle: Arc::clone(handle),
            mode: "r",
        }
    }
}

/// Opens a file for reading; `kbfile.open` calls it.
#[pyfunction]
pub(crate) fn open_reader(
    source: &Bound<'_, PyAny>,
    embedder: Option<&Bound<'_, PyAny>>,
) -> PyResult<Kb> {
    let py = source.py();
    let is_bytes = source.is_instance_of::<PyBytes>()
        || source.is_instance_of::<PyByteArray>()
        || source.is_instance_of::<PyMemoryView>();
    let source = if is_bytes {
        let bytes = py.get_type::<PyBytes>().call1((source,))?;
        Source::Bytes(Arc::from(bytes.cast::<PyBytes>()?.as_bytes()))
    } else {
        Source::Path(absolute(source)?)
    };
    let models = embedder.map(resolver).transpose()?;
    let handle = Handle::open(py, source, models)?;
    Ok(Kb::of_handle(&Arc::new(handle)))
}

/// A path, absolute: a later change of the working directory does not change what it names.
pub(crate) fn absolute(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let py = path.py();
    let path: PathBuf = path.extract()?;
    if path.as_os_str().is_empty() {
        return Err(invalid(py, "the path is empty"));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(invalid(py, "the path has a NUL character in it"));
    }
    std::path::absolute(&path).map_err(PyErr::from)
}

/// Answers one request.
fn search(
    py: Python<'_>,
    files: &[Arc<kb_engine::Kb>],
    function: &str,
    query: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Hits> {
    let request = request(function, query, options)?;
    let files: Vec<&kb_engine::Kb> = files.iter().map(|kb| &**kb).collect();
    let (response, elapsed) = run(py, &Listener::none(), |hook| {
        let started = Instant::now();
        let response = search_files_with(&files, &request, hook)?;
        Ok((response, started.elapsed()))
    })?;
    Ok(Hits::new(request.query, response, elapsed))
}

/// Searches up to 64 files as if they were one; `Hit.file` is the position of the file of a hit. Term weights count
/// the chunks of all files, so scores are comparable. Keyword arguments are those of `Kb.search`.
#[pyfunction]
#[pyo3(signature = (files, query = None, **options))]
pub(crate) fn search_files(
    py: Python<'_>,
    files: Vec<Bound<'_, Kb>>,
    query: Option<String>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Hits> {
    let open = files.iter().map(|kb| kb.get().handle.kb(py));
    let open: Vec<Arc<kb_engine::Kb>> = open.collect::<PyResult<_>>()?;
    search(
        py,
        &open,
        "search_files",
        query.unwrap_or_default(),
        options,
    )
}

#[pymethods]
impl Kb {
    /// Path of the file; None if it was opened from bytes.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.handle.source {
            Source::Path(path) => Ok(Some(path.into_pyobject(py)?.into_any())),
            Source::Bytes(_) => Ok(None),
        }
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The mode that the file was opened with: "r", "w", "a" or "x".
    #[getter]
    fn mode(&self) -> &'static str {
        self.mode
    }

    /// Closes the file. Arrays and hits that were returned stay valid; everything else raises ClosedError. Closing twice is
    /// allowed.
    fn close(&self) {
        self.handle.close();
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().handle.kb(py)?;
        Ok(slf)
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        &self,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        let _ = (exc_type, exc_value, traceback);
        self.close();
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let kb = self.handle.kb(py)?;
        let state = run_short(py, || kb.state())?;
        Ok(usize::try_from(state.documents).unwrap_or(usize::MAX))
    }

    /// Always True, also for a file without documents.
    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__(&self) -> DocumentIterator {
        DocumentIterator::all(&self.handle)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = name.py();
        let kb = self.handle.kb(py)?;
        let Ok(name) = document_name(name) else {
            return Ok(false);
        };
        match py.detach(|| kb.document(&name)) {
            Ok(_) => Ok(true),
            Err(Error::DocumentNotFound { .. } | Error::AmbiguousDocument { .. }) => Ok(false),
            Err(error) => Err(raised(py, &error)),
        }
    }

    fn __getitem__(&self, name: &Bound<'_, PyAny>) -> PyResult<Document> {
        let text = document_name(name)?;
        Document::find(name.py(), &self.handle, &text)
    }

    /// Returns the best passages for a query. `mode` "hybrid" ranks by words and by meaning, "keyword" by words only,
    /// "semantic" by meaning only. "title" finds documents by their titles.
    ///
    /// The query is plain text with these operators, unless plain=True: "exact words", +word, -word, title:word,
    /// path:word and tag:word. A word that no document has is replaced by the word that it is spelled like, unless
    /// exact=True; `corrections` has both. Filters are `folder`, `path` (globs; "!docs/**" excludes), `type`, `language`,
    /// `class_`, `tag`, `symbol` (globs of names) and `kind` (of symbols). Each takes one str or several alternatives.
    /// `where` is a condition on fields: 'year > 2015 and author in ("Kim", "Lee") and not draft'.
    /// `sort` is "score", "recency", "path", or a field ("year"; "-year": greatest value first). `group_by` returns
    /// one hit for each value of a field. `facets`, names of fields, fills `facets` of the result. With these, only relevant
    /// hits count.
    /// `since` takes a datetime, a date, a timedelta, seconds since 1970, or a text such as "7d". `context` is the
    /// number of lines before and after each hit, `max_lines` the maximum lines of a hit. `max_tokens` limits all hits
    /// together (4 bytes per token). `cursor` continues an earlier result. `scope="documents"` returns one hit per
    /// document. `smart_context=True` extends a hit inside a symbol to the whole symbol, up to 16 KB. `join=False`
    /// keeps neighbouring chunks separate. `explain=True` fills `explanation`, `bonuses` and `terms`.
    /// `rerank` is a cross-encoder that reads the first `rerank_top` hits (1 to 100) together with the query and orders them
    /// anew: its name ("onnx:FOLDER"), a function of a query and a list of passages that returns a number for each, or an
    /// object with `predict` (Sentence Transformers) or `rerank` (fastembed). Scores stay as they are.
    ///
    /// `vector` searches a column of imported vectors: an array or a list from the model of the column. `vector_column` names
    /// the column; without it, the default column is searched. `query` is optional then, and is used for the keyword part of
    /// mode "hybrid". With `threads` of 2 or more, vectors and keywords are searched in parallel.
    ///
    /// Raises InvalidArgumentError for a blank query or a value out of range, DocumentNotFoundError for a folder that does
    /// not exist, CursorError, ModelError, DamagedError, and ReplacedError if commits overtook the search repeatedly.
    #[pyo3(
        signature = (query = None, **options),
        text_signature = "(self, query=None, *, vector=None, vector_column=None, k=10, mode='hybrid', scope='chunks', sort='score', group_by=None, facets=(), folder=None, path=None, type=None, language=None, class_=None, tag=None, field=None, where=None, links_to=None, since=None, symbol=None, kind=None, min_score=0.0, context=0, smart_context=False, max_lines=None, max_tokens=None, cursor=None, plain=False, exact=False, join=True, explain=False, rerank=None, rerank_top=20, threads=1)"
    )]
    fn search(
        &self,
        py: Python<'_>,
        query: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Hits> {
        let query = query.unwrap_or_default();
        search(py, &[self.handle.kb(py)?], "search", query, options)
    }

    /// As `search`, as a coroutine: `await kb.asearch("...")`. The search runs on a thread of asyncio's executor.
    #[pyo3(
        signature = (query = None, **options),
        text_signature = "(self, query=None, *, vector=None, vector_column=None, k=10, mode='hybrid', scope='chunks', sort='score', group_by=None, facets=(), folder=None, path=None, type=None, language=None, class_=None, tag=None, field=None, where=None, links_to=None, since=None, symbol=None, kind=None, min_score=0.0, context=0, smart_context=False, max_lines=None, max_tokens=None, cursor=None, plain=False, exact=False, join=True, explain=False, rerank=None, rerank_top=20, threads=1)"
    )]
    fn asearch<'py>(
        slf: &Bound<'py, Self>,
        query: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let to_thread = py.import("asyncio")?.getattr("to_thread")?;
        to_thread.call((slf.getattr("search")?, query), options)
    }

    /// Returns the hits of each query, all from one commit. Keyword arguments are those of `search`, without `cursor`.
    /// `threads` is the number of queries that run in parallel.
    #[pyo3(
        signature = (queries, **options),
        text_signature = "(self, queries, *, k=10, mode='hybrid', scope='chunks', sort='score', group_by=None, facets=(), folder=None, path=None, type=None, language=None, class_=None, tag=None, field=None, where=None, links_to=None, since=None, symbol=None, kind=None, min_score=0.0, context=0, smart_context=False, max_lines=None, max_tokens=None, plain=False, exact=False, join=True, explain=False, rerank=None, rerank_top=20, threads=1)"
    )]
    fn search_many(
        &self,
        queries: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Hits>> {
        let py = queries.py();
        let kb = self.handle.kb(py)?;
        if queries.is_instance_of::<pyo3::types::PyString>() {
            return Err(PyTypeError::new_err(
                "queries takes an iterable of str; use search() for one query",
            ));
        }
        let requests = words("queries", queries)?.into_iter();
        let requests = requests.map(|query| request("search_many", query, options));
        let mut requests: Vec<kb_engine::Request> = requests.collect::<PyResult<_>>()?;
        let started = Instant::now();
        // Queries side by side use what threads there are better than the parts of one.
        let threads = requests.first().map_or(1, |request| request.threads);
        for request in &mut requests {
            request.threads = 1;
        }
        let responses = run(py, &Listener::none(), |hook| {
            kb.search_many_with(&requests, threads, hook)
        })?;
        // Of one among them, on average: they are answered together.
        let count = u32::try_from(responses.len().max(1)).unwrap_or(u32::MAX);
        let each = started.elapsed() / count;
        let hits = requests.into_iter().zip(responses);
        Ok(hits
            .map(|(request, response)| Hits::new(request.query, response, each))
            .collect())
    }

    /// Returns the lines of stored text that match a regular expression, sorted by path and line.
    ///
    /// The syntax is that of ripgrep: Perl-like and Unicode-aware, without look-around and backreferences. The time is
    /// linear in the length of the text. Raises InvalidPatternError with the position of the error.
    #[pyo3(
        signature = (pattern, **options),
        text_signature = "(self, pattern, *, k=100, ignore_case=False, whole_words=False, literal=False, multi_line=False, document=None, folder=None, path=None, type=None, language=None, class_=None, tag=None, field=None, where=None, links_to=None, since=None, cursor=None)"
    )]
    fn search_regex(
        &self,
        py: Python<'_>,
        pattern: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Matches> {
        let kb = self.handle.kb(py)?;
        let mut request = RegexRequest::new(pattern);
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                "k" => request.k = value.extract()?,
                "ignore_case" => request.ignore_case = value.extract()?,
                "whole_words" => request.whole_words = value.extract()?,
                "literal" => request.literal = value.extract()?,
                "multi_line" => request.multi_line = value.extract()?,
                "document" => request.documents = words(&name, &value)?,
                "cursor" => request.page.cursor = cursor(&value)?,
                "symbol" | "kind" => return Err(unexpected("search_regex", &name)),
                _ if take_filter(&mut request.filters, &name, &value)? => {}
                _ => return Err(unexpected("search_regex", &name)),
            }
        }
        let response = run(py, &Listener::none(), |hook| {
            search_files_regex(&[&kb], &request, hook)
        })?;
        Ok(Matches::from(response))
    }

    /// Returns the symbols of source code, filtered by name (a glob; case is ignored), kind and use.
    ///
    /// `uses="parse"` finds symbols that use this name, with the lines. `used_by="main"` finds symbols that main uses. Both
    /// compare names, not types.
    #[pyo3(
        signature = (name = None, **options),
        text_signature = "(self, name=None, *, k=100, kind=None, uses=None, used_by=None, folder=None, path=None, type=None, language=None, tag=None, cursor=None)"
    )]
    fn symbols(
        &self,
        py: Python<'_>,
        name: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Symbols> {
        let kb = self.handle.kb(py)?;
        let mut request = SymbolsRequest::new();
        request.name = name;
        let mut filters = Filters::new();
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            let relation = match name.as_str() {
                "k" => {
                    request.k = value.extract()?;
                    continue;
                }
                "kind" => {
                    request.kinds = kinds(&value)?;
                    continue;
                }
                "cursor" => {
                    request.page.cursor = cursor(&value)?;
                    continue;
                }
                "uses" => value.extract::<Option<String>>()?.map(SymbolRelation::Uses),
                "used_by" => value
                    .extract::<Option<String>>()?
                    .map(SymbolRelation::UsedBy),
                "symbol" | "class_" | "since" => return Err(unexpected("symbols", &name)),
                _ if take_filter(&mut filters, &name, &value)? => continue,
                _ => return Err(unexpected("symbols", &name)),
            };
            if relation.is_some() && request.relation.is_some() {
                return Err(invalid(py, "uses: it cannot be combined with used_by"));
            }
            request.relation = relation.or(request.relation);
        }
        request.filters = filters;
        let response = run(py, &Listener::none(), |hook| {
            search_files_symbols(&[&kb], &request, hook)
        })?;
        Ok(Symbols::from(response))
    }

    /// Returns the documents in a folder and its subfolders, in the order of their paths; without a folder, all documents.
    /// With recursive=False, only those in the folder itself. `where` is a condition on fields, as in `search`.
    #[pyo3(signature = (folder = None, *, recursive = true, r#where = None))]
    fn documents(
        &self,
        py: Python<'_>,
        folder: Option<String>,
        recursive: bool,
        r#where: Option<String>,
    ) -> PyResult<DocumentIterator> {
        let kb = self.handle.kb(py)?;
        if folder.is_none() && recursive && r#where.is_none() {
            return Ok(DocumentIterator::all(&self.handle));
        }
        let page = PageOptions::default();
        let folder = folder.as_deref();
        let found = run_short(py, || match &r#where {
            Some(condition) => kb.documents_where(folder, recursive, condition, &page),
            None => kb.documents(folder, recursive, &page),
        })?;
        Ok(DocumentIterator::of(&self.handle, found.items, true))
    }

    /// Returns the fields that documents have, by name and type: what `where`, `sort`, `group_by` and `facets` take. The
    /// cost grows with the number of documents.
    fn fields(&self, py: Python<'_>) -> PyResult<Vec<FieldInfo>> {
        let kb = self.handle.kb(py)?;
        let fields = run_short(py, || kb.fields())?;
        Ok(fields.into_iter().map(FieldInfo::from).collect())
    }

    /// Embeds a query with the model of a column of vectors; without `column`, of the default column if that knows its
    /// model, else of the built-in one. Returns float32 `[1, dim]`. Raises ModelError if the model is missing.
    #[pyo3(signature = (text, *, column = None))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        text: String,
        column: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kb = self.handle.kb(py)?;
        let embedded = run_short(py, || kb.embed_for(column.as_deref(), &text))?;
        let vector = embedded.vector;
        let dim = vector.len();
        Array::new(vector, dim).view(py)
    }

    /// The stored vectors of the newest commit, without a copy.
    #[getter]
    fn vectors(&self, py: Python<'_>) -> PyResult<Vectors> {
        let kb = self.handle.kb(py)?;
        let vectors = run_short(py, || kb.vectors())?;
        Ok(Vectors::new(vectors, &self.handle))
    }

    /// Returns the stored vectors of a column. For a chunk without a vector, the row is zero and its entry in `ids()`
    /// is None.
    fn vectors_of(&self, py: Python<'_>, column: String) -> PyResult<Vectors> {
        let kb = self.handle.kb(py)?;
        let vectors = run_short(py, || kb.vectors_of(&column))?;
        Ok(Vectors::new(vectors, &self.handle))
    }

    /// Returns the vector columns: "built-in" first, then the imported ones.
    fn vector_columns(&self, py: Python<'_>) -> PyResult<Vec<VectorColumn>> {
        let kb = self.handle.kb(py)?;
        let columns = run_short(py, || kb.vector_columns())?;
        Ok(columns.iter().map(VectorColumn::from).collect())
    }

    /// Facts about the file as a dict: format, documents, chunks, model, roots, types, languages. The cost grows with the
    /// number of documents.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kb = self.handle.kb(py)?;
        let info = run_short(py, || kb.info())?;
        let dict = PyDict::new(py);
        dict.set_item("path", &info.path)?;
        dict.set_item("uuid", &info.uuid)?;
        dict.set_item("format", &info.format)?;
        dict.set_item("created_ms", info.created_ms)?;
        dict.set_item("updated_ms", info.updated_ms)?;
        dict.set_item("commit", info.commit)?;
        let roots = info.roots.iter().map(|root| {
            let dict = PyDict::new(py);
            dict.set_item("source", &root.source)?;
            dict.set_item("prefix", &root.prefix)?;
            dict.set_item("files", &root.files)?;
            dict.set_item("git_commit", &root.git_commit)?;
            dict.set_item("git_branch", &root.git_branch)?;
            Ok(dict)
        });
        dict.set_item("roots", roots.collect::<PyResult<Vec<_>>>()?)?;
        dict.set_item("documents", info.documents)?;
        dict.set_item("chunks", info.chunks)?;
        dict.set_item("deleted_chunks", info.deleted_chunks)?;
        dict.set_item("symbols_pending", info.symbols_pending)?;
        dict.set_item("segments", info.segments)?;
        dict.set_item("text_bytes", info.text_bytes)?;
        dict.set_item("file_bytes", info.file_bytes)?;
        dict.set_item("model", &info.model)?;
        dict.set_item("model_available", info.model_available)?;
        dict.set_item("dim", info.dim)?;
        dict.set_item("vectors", info.vectors.name())?;
        let columns = info.vector_columns.iter().map(VectorColumn::from);
        let columns = columns.map(|column| column.dict(py));
        dict.set_item("vector_columns", columns.collect::<PyResult<Vec<_>>>()?)?;
        dict.set_item("recall", info.recall.as_ref().map(|recall| recall.recall))?;
        dict.set_item("analyser", &info.analyser)?;
        dict.set_item("content_root", &info.content_root)?;
        let counts = |counts: &[(String, u64)]| {
            let dict = PyDict::new(py);
            for (name, count) in counts {
                dict.set_item(name, count)?;
            }
            PyResult::Ok(dict)
        };
        dict.set_item("types", counts(&info.types)?)?;
        dict.set_item("languages", counts(&info.languages)?)?;
        dict.set_item("classes", counts(&info.classes)?)?;
        Ok(dict)
    }

    /// Returns the bytes of each section of the file. They add up to the size of the file.
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kb = self.handle.kb(py)?;
        let sizes = run_short(py, || kb.sizes())?;
        let dict = PyDict::new(py);
        for (section, bytes) in &sizes.sections {
            dict.set_item(section, bytes)?;
        }
        Ok(dict)
    }

    /// Checks the checksums of all pages and extents. With deep=True, also compares every index entry with the text.
    /// Damage does not raise: the report is false then, and lists the problems.
    #[pyo3(signature = (*, deep = false, progress = None))]
    fn verify(
        &self,
        py: Python<'_>,
        deep: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<VerifyReport> {
        let kb = self.handle.kb(py)?;
        let options = VerifyOptions::new().deep(deep);
        let report = run(py, &Listener::of(progress)?, |hook| {
            kb.verify(&options, hook)
        })?;
        Ok(VerifyReport::from(report))
    }

    /// What only a writer has is refused with the way to get one.
    fn __getattr__(slf: &Bound<'_, Kb>, name: &str) -> PyResult<()> {
        let py = slf.py();
        let message = format!(
            "'{}' object has no attribute '{name}'",
            slf.get_type().fully_qualified_name()?
        );
        let error = PyAttributeError::new_err(message);
        // By these two Python looks for a similar name.
        error.value(py).setattr("name", name)?;
        error.value(py).setattr("obj", slf)?;
        let writer = py.import("kbfile._kbfile")?.getattr("Writer")?;
        if writer.hasattr(name)? {
            let hint = "hint: it is open for reading; kbfile.open(path, \"a\") changes it";
            error.value(py).call_method1("add_note", (hint,))?;
        }
        Err(error)
    }

    pub(crate) fn __repr__(&self) -> String {
        let place = match &self.handle.source {
            Source::Path(path) => format!("{:?}", path.display().to_string()),
            Source::Bytes(bytes) => format!("<{} bytes>", bytes.len()),
        };
        let closed = if self.handle.is_closed() {
            ", closed"
        } else {
            ""
        };
        format!("Kb({place}{closed})")
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        if self.mode != "r" {
            return Err(PyTypeError::new_err(
                "a writer cannot be pickled; pickle a reader of its file",
            ));
        }
        self.handle.kb(py)?;
        let open = py.import("kbfile")?.getattr("open")?;
        Ok((open, (self.handle.object(py)?,)))
    }
}
