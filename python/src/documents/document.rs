//! [`Document`]: one document of a file. Its facts are read at once, its texts on demand.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use kb_engine::{DocumentInfo, Error, Lines, PageOptions, PartContent, PartKind, SymbolsRequest};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::call::run_short;
use crate::documents::page_text::{Page, Slide};
use crate::documents::sheet::Sheet;
use crate::error::invalid;
use crate::fields;
use crate::handle::Handle;
use crate::results::symbols::Symbol;
use crate::results::table::{shown, table};
use crate::time::datetime;

/// One document of a file. Facts are those of the moment when it was made; texts are read when they are asked for, from
/// the newest commit, and raise `DocumentNotFoundError` when the document is there no more.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone)]
pub(crate) struct Document {
    handle: Arc<Handle>,
    info: DocumentInfo,
}

impl Document {
    pub(crate) fn new(handle: &Arc<Handle>, info: DocumentInfo) -> Document {
        Document {
            handle: Arc::clone(handle),
            info,
        }
    }

    /// The document of that name: path, end of a path, handle or address.
    pub(crate) fn find(py: Python<'_>, handle: &Arc<Handle>, name: &str) -> PyResult<Document> {
        let kb = handle.kb(py)?;
        let info = run_short(py, || kb.document(name))?;
        Ok(Document::new(handle, info))
    }

    /// Asks the file about this document.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&kb_engine::Kb, &str) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let kb = self.handle.kb(py)?;
        run_short(py, || ask(&kb, &self.info.path))
    }
}

#[pymethods]
impl Document {
    /// Path in the .kb, such as `docs/guide.md`.
    #[getter]
    fn path(&self) -> &str {
        &self.info.path
    }

    /// A short name that stays the same if the document is renamed.
    #[getter]
    fn handle(&self) -> &str {
        &self.info.handle
    }

    /// Title: the first heading, a stated one, or the file name.
    #[getter]
    fn title(&self) -> &str {
        &self.info.title
    }

    /// File type: "markdown", "rust".
    #[getter(r#type)]
    fn file_type(&self) -> &str {
        &self.info.file_type
    }

    /// Language; empty for prose.
    #[getter]
    fn language(&self) -> &str {
        &self.info.language
    }

    /// "code", "doc" or "data".
    #[getter(class_)]
    fn class(&self) -> &'static str {
        self.info.class.name()
    }

    /// Tags, sorted.
    #[getter]
    fn tags(&self) -> Vec<String> {
        self.info.tags.clone()
    }

    /// Metadata that the document states, such as author and date.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, value) in &self.info.metadata {
            dict.set_item(key, value)?;
        }
        Ok(dict)
    }

    /// The metadata with typed values: str, int, float, bool, datetime in UTC, or a list of them. A text that the
    /// document states is one str, also if it lists several names.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        fields::dict(py, &self.info.fields())
    }

    /// When the original was modified, in UTC; None when unknown.
    #[getter]
    fn modified(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        datetime(py, self.info.modified_ms)
    }

    /// When the document was added, in UTC.
    #[getter]
    fn added(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        datetime(py, self.info.added_ms)
    }

    /// Size of the original in bytes.
    #[getter]
    fn size_bytes(&self) -> u64 {
        self.info.size_bytes
    }

    /// Size of the stored text in bytes of UTF-8.
    #[getter]
    fn text_bytes(&self) -> u64 {
        self.info.text_bytes
    }

    /// Number of lines.
    #[getter]
    fn line_count(&self) -> u32 {
        self.info.lines
    }

    /// BLAKE3 hash of the original, 64 hexadecimal digits.
    #[getter]
    fn hash(&self) -> String {
        let bytes = self.info.hash.iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// Changes whenever the content changes.
    #[getter]
    fn revision(&self) -> &str {
        &self.info.revision
    }

    /// The whole text, at most 256 MiB.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |kb, path| Ok(kb.text(path, None)?.text))
    }

    /// Returns lines `first` to `last` of the text, both included, from 1; without `last`, to the end.
    #[pyo3(signature = (first, last = None))]
    fn lines(&self, py: Python<'_>, first: u32, last: Option<u32>) -> PyResult<String> {
        let lines = Lines {
            first,
            last: last.unwrap_or(self.info.lines.max(first)),
        };
        self.ask(py, |kb, path| Ok(kb.text(path, Some(lines))?.text))
    }

    /// Headings, bookmarks or symbols in order, with their lines.
    #[getter]
    fn outline(&self, py: Python<'_>) -> PyResult<Vec<Section>> {
        let found = self.ask(py, |kb, path| kb.sections(path, &PageOptions::default()))?;
        Ok(found
            .sections
            .items
            .into_iter()
            .map(Section::from)
            .collect())
    }

    /// The text of a section, by number ("2.1"), title, or path of titles ("Guide > Install").
    fn section(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.ask(py, |kb, path| {
            Ok(kb.section_text(path, name, &PageOptions::default())?.text)
        })
    }

    /// Pages with their text; a document without pages is cut into pages of about 800 tokens.
    #[getter]
    fn pages(&self, py: Python<'_>) -> PyResult<Vec<Page>> {
        let found = self.ask(py, |kb, path| kb.pages(path, &[], &PageOptions::default()))?;
        Ok(found.pages.items.into_iter().map(Page::from).collect())
    }

    /// Slides with title, text and notes; empty for a document without slides.
    #[getter]
    fn slides(&self, py: Python<'_>) -> PyResult<Vec<Slide>> {
        if self.info.part_kind != Some(PartKind::Slide) {
            return Ok(Vec::new());
        }
        let found = self.ask(py, |kb, path| kb.slides(path, &[], &PageOptions::default()))?;
        Ok(found.slides.items.into_iter().map(Slide::from).collect())
    }

    /// Sheets, whose rows are read on demand; empty for a document without sheets.
    #[getter]
    fn sheets(&self, py: Python<'_>) -> PyResult<Vec<Sheet>> {
        if self.info.part_kind != Some(PartKind::Sheet) {
            return Ok(Vec::new());
        }
        let found = self.ask(py, |kb, path| kb.parts(path, &PageOptions::default()))?;
        let parts = found.parts.items.into_iter();
        let sheets = parts.filter_map(|part| match part.content {
            PartContent::Sheet(sheet) => Some(Sheet::new(
                &self.handle,
                &self.info.path,
                part.number,
                sheet,
            )),
            _ => None,
        });
        Ok(sheets.collect())
    }

    /// Symbols of source code, in order; empty for other documents.
    #[getter]
    fn symbols(&self, py: Python<'_>) -> PyResult<Vec<Symbol>> {
        let path = self.info.path.clone();
        let kb = self.handle.kb(py)?;
        // The path as a pattern that matches nothing else.
        let quoted: String = path
            .chars()
            .flat_map(|it| match it {
                '*' | '?' | '[' | ']' | '{' | '}' => vec!['[', it, ']'],
                it => vec![it],
            })
            .collect();
        // A first `!` would exclude.
        let escape = if path.starts_with('!') { "\\" } else { "" };
        let mut request = SymbolsRequest::new().k(kb_engine::K_LIMIT);
        request.filters.paths.push(format!("{escape}{quoted}"));
        let mut symbols = Vec::new();
        loop {
            let found = run_short(py, || kb.symbols(&request))?;
            let next = found.symbols.next;
            let items = found.symbols.items.into_iter();
            let own = items.filter(|symbol| symbol.document == path);
            symbols.extend(own.map(Symbol::from));
            match next {
                Some(cursor) => request.page.cursor = Some(cursor),
                None => return Ok(symbols),
            }
        }
    }

    /// The chunks, which are the unit of search, in order. Together they are the text.
    #[getter]
    fn chunks(&self, py: Python<'_>) -> PyResult<Vec<Chunk>> {
        let found = self.ask(py, |kb, path| {
            kb.chunks(path, None, &PageOptions::default())
        })?;
        Ok(found.items.into_iter().map(Chunk::from).collect())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Document>().is_ok_and(|other| {
            let other = &other.get().info;
            (&self.info.path, &self.info.revision) == (&other.path, &other.revision)
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.info.path, &self.info.revision).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let DocumentInfo { path, title, .. } = &self.info;
        format!("Document({path:?}, title={title:?})")
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Arguments<'py, '_>)> {
        let restore = py.import("kbfile._kbfile")?.getattr("restore_document")?;
        Ok((restore, (self.handle.object(py)?, &self.info.path)))
    }

    /// The chunks of the document as a pandas.DataFrame, a row each. Needs pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Document>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "chunk_columns", "columns_to_pandas")
    }

    /// The chunks of the document as a polars.DataFrame, a row each. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Document>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "chunk_columns", "columns_to_polars")
    }

    /// The chunks of the document as a pyarrow.Table, a row each. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Document>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "chunk_columns", "columns_to_arrow")
    }

    /// What a notebook shows: facts and outline.
    fn _repr_html_<'py>(slf: &Bound<'py, Document>) -> PyResult<Bound<'py, PyAny>> {
        shown(slf, "document_to_html")
    }
}

/// What [`restore_document`] is called with.
type Arguments<'py, 'd> = (Bound<'py, PyAny>, &'d str);

/// Restores a pickled document: opens `source` with `kbfile.open` and finds `name` in it.
#[pyfunction]
pub(crate) fn restore_document<'py>(
    source: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let open = source.py().import("kbfile")?.getattr("open")?;
    open.call1((source,))?.get_item(name)
}

/// A heading, bookmark or symbol of a document, with the text below it.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// Number, such as "2.1".
    number: String,
    /// Depth, from 1.
    level: u8,
    /// Title; for a symbol, its label, such as "fn main".
    title: String,
    /// First and last line, from 1.
    lines: (u32, u32),
    /// Range in the stored text: start and end in bytes, the end exclusive.
    span: (u32, u32),
    /// Number of the page, sheet or slide where it begins.
    part: Option<u32>,
    /// Kind of the symbol; None for a heading.
    kind: Option<&'static str>,
    /// Name of the symbol; None for a heading.
    name: Option<String>,
}

impl From<kb_engine::Section> for Section {
    fn from(section: kb_engine::Section) -> Section {
        Section {
            number: section.number,
            level: section.level,
            title: section.title,
            lines: (section.lines.first, section.lines.last),
            span: (section.span.start, section.span.end),
            part: section.part,
            kind: section.kind.map(|kind| kind.name()),
            name: section.name,
        }
    }
}

#[pymethods]
impl Section {
    fn __repr__(&self) -> String {
        format!(
            "Section({:?}, {:?}, lines={:?})",
            self.number, self.title, self.lines
        )
    }
}

/// The unit of search: a contiguous span of a document.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    /// Number in the document, from 0.
    index: u32,
    /// Its text.
    text: String,
    /// Titles of the sections around its beginning, outermost first.
    section: Vec<String>,
    /// First and last line, from 1.
    lines: (u32, u32),
    /// Range in the stored text: start and end in bytes, the end exclusive.
    span: (u32, u32),
}

impl From<kb_engine::ChunkText> for Chunk {
    fn from(chunk: kb_engine::ChunkText) -> Chunk {
        Chunk {
            index: chunk.index,
            text: chunk.text,
            section: chunk.section,
            lines: (chunk.at.lines.first, chunk.at.lines.last),
            span: (chunk.at.span.start, chunk.at.span.end),
        }
    }
}

#[pymethods]
impl Chunk {
    fn __repr__(&self) -> String {
        format!("Chunk({}, lines={:?})", self.index, self.lines)
    }
}

/// The name of a document, if it can be one.
pub(crate) fn document_name(name: &Bound<'_, PyAny>) -> PyResult<String> {
    if !name.is_instance_of::<PyString>() {
        let message = format!(
            "documents are named by str, not {}",
            crate::error::type_name(name)
        );
        return Err(pyo3::exceptions::PyTypeError::new_err(message));
    }
    let text: String = name.extract()?;
    if text.is_empty() {
        return Err(invalid(name.py(), "the name of a document is empty"));
    }
    Ok(text)
}
