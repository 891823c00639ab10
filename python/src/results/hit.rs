//! [`Hit`]: one result, as data of its own: it stays when the file is closed, and can be pickled.

use std::ops::Range;

use kb_engine::{FieldValue, PartAddress};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fields;
use crate::results::ranges::in_characters;
use crate::results::symbols::Symbol;
use crate::time::datetime;

/// One result: a passage or a document, with its scores and where it is.
///
/// Lines, pages, rows and slides count from 1 and ranges hold their last one; `span` is a half-open range of bytes of
/// the stored text in UTF-8, `highlights` are half-open ranges of characters of `text`.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hit {
    /// Path of the document in the .kb.
    #[pyo3(get)]
    pub(crate) document: String,
    /// Handle of the document, which stays the same if the document is renamed.
    #[pyo3(get)]
    pub(crate) handle: String,
    /// Title of the document.
    #[pyo3(get)]
    pub(crate) title: String,
    /// The text of the passage.
    #[pyo3(get)]
    pub(crate) text: String,
    /// The lines before the passage, if `context` asks for them.
    #[pyo3(get)]
    pub(crate) before: String,
    /// The lines after the passage, if `context` asks for them.
    #[pyo3(get)]
    pub(crate) after: String,
    /// 0 to 1, comparable between requests and files: the probability that the hit answers.
    #[pyo3(get)]
    pub(crate) score: f32,
    /// The score that ranks the hits.
    #[pyo3(get)]
    pub(crate) fused_score: f32,
    /// Keyword score, 0 to 1; None if the mode has none.
    #[pyo3(get)]
    pub(crate) keyword_score: Option<f32>,
    /// Vector score, 0 to 1; None if the mode has none.
    #[pyo3(get)]
    pub(crate) vector_score: Option<f32>,
    /// Titles of the sections around it, outermost first.
    #[pyo3(get)]
    pub(crate) section: Vec<String>,
    /// Number of the innermost section, such as "2.1"; empty before the first heading.
    #[pyo3(get)]
    pub(crate) section_number: String,
    /// First and last line in the original file, from 1; (0, 0) for a document without text.
    #[pyo3(get)]
    pub(crate) lines: (u32, u32),
    /// Range of `text` in the stored text of the document: start and end in bytes, the end exclusive.
    #[pyo3(get)]
    pub(crate) span: (u32, u32),
    /// Number of the page, from 1; None in a document without pages.
    #[pyo3(get)]
    pub(crate) page: Option<u32>,
    /// Name of the sheet with the passage; empty for a table without a name, None if the document has no sheets.
    #[pyo3(get)]
    pub(crate) sheet: Option<String>,
    /// First and last row of the passage in its sheet, from 1.
    #[pyo3(get)]
    pub(crate) rows: Option<(u32, u32)>,
    /// Number of the slide, from 1; None in a document without slides.
    #[pyo3(get)]
    pub(crate) slide: Option<u32>,
    /// The function, class or other symbol that contains the hit; None if there is none.
    #[pyo3(get)]
    pub(crate) symbol: Option<Symbol>,
    /// File type of the document: "markdown", "rust".
    #[pyo3(get, name = "type")]
    pub(crate) file_type: String,
    /// Language of the document; empty for prose.
    #[pyo3(get)]
    pub(crate) language: String,
    /// "code", "doc" or "data".
    #[pyo3(get, name = "class_")]
    pub(crate) class: String,
    /// Tags of the document.
    #[pyo3(get)]
    pub(crate) tags: Vec<String>,
    /// When the original was modified, in milliseconds since 1970; 0 when unknown.
    pub(crate) modified_ms: i64,
    /// Size of the original file in bytes.
    #[pyo3(get)]
    pub(crate) size_bytes: u64,
    /// What the document states about itself.
    pub(crate) metadata: Vec<(String, String)>,
    /// The metadata with the types of its values.
    pub(crate) fields: Vec<(String, Vec<FieldValue>)>,
    /// Byte ranges of `text`.
    pub(crate) highlights: Vec<(usize, usize)>,
    /// Byte range of `text`.
    pub(crate) snippet: (usize, usize),
    /// Segment and row of the best chunk, valid for this commit of the file.
    #[pyo3(get)]
    pub(crate) chunk: (u32, u32),
    /// Number of that chunk in its document, from 0.
    #[pyo3(get)]
    pub(crate) chunk_index: u32,
    /// Number of chunks in the passage.
    #[pyo3(get)]
    pub(crate) chunks: u32,
    /// Number of candidate chunks that this hit represents.
    #[pyo3(get)]
    pub(crate) matches: u32,
    /// Passages of its document that were moved behind the first ten hits, said once for each document.
    #[pyo3(get)]
    pub(crate) more_in_document: u32,
    /// Number of other documents with the same text, or nearly the same, which are no hits.
    #[pyo3(get)]
    pub(crate) copies: u32,
    /// Paths of these documents.
    #[pyo3(get)]
    pub(crate) copy_paths: Vec<String>,
    /// Bonuses added to the fused score, by name; empty without explain=True.
    pub(crate) bonuses: Vec<(String, f32)>,
    /// The keyword score by term; empty without explain=True.
    pub(crate) terms: Vec<(String, f32)>,
    /// Position of its file among the searched files.
    #[pyo3(get)]
    pub(crate) file: usize,
}

impl From<kb_engine::Hit> for Hit {
    fn from(hit: kb_engine::Hit) -> Hit {
        let fields = hit.fields();
        let (mut page, mut sheet, mut rows, mut slide) = (None, None, None, None);
        match hit.part {
            Some(PartAddress::Page { number, .. }) => page = Some(number),
            Some(PartAddress::Sheet {
                name,
                first_row,
                last_row,
                ..
            }) => (sheet, rows) = (Some(name), Some((first_row, last_row))),
            Some(PartAddress::Slide { number, .. }) => slide = Some(number),
            _ => {}
        }
        let ends = |range: &Range<usize>| (range.start, range.end);
        let terms = hit.terms.into_iter().map(|it| (it.term, it.score));
        let bonuses = hit.bonuses.iter().map(|it| (it.name.to_owned(), it.score));
        Hit {
            fields,
            symbol: hit
                .symbol
                .map(|symbol| Symbol::of_hit(symbol, &hit.document, &hit.language)),
            bonuses: bonuses.collect(),
            terms: terms.collect(),
            highlights: hit.highlights.iter().map(ends).collect(),
            snippet: ends(&hit.snippet),
            page,
            sheet,
            rows,
            slide,
            document: hit.document,
            handle: hit.handle,
            title: hit.title,
            text: hit.text,
            before: hit.before,
            after: hit.after,
            score: hit.score,
            fused_score: hit.fused_score,
            keyword_score: hit.keyword_score,
            vector_score: hit.vector_score,
            section: hit.section,
            section_number: hit.section_number,
            lines: (hit.lines.first, hit.lines.last),
            span: (hit.span.start, hit.span.end),
            file_type: hit.file_type,
            language: hit.language,
            class: hit.class.name().to_owned(),
            tags: hit.tags,
            modified_ms: hit.modified_ms,
            size_bytes: hit.size_bytes,
            metadata: hit.metadata,
            chunk: (hit.chunk.segment.0, hit.chunk.row),
            chunk_index: hit.chunk_index,
            chunks: hit.chunks,
            matches: hit.matches,
            more_in_document: hit.more_in_document,
            copies: hit.copies,
            copy_paths: hit.copy_paths,
            file: hit.file,
        }
    }
}

fn dict<'py>(
    py: Python<'py>,
    pairs: &[(String, impl Clone + IntoPyObject<'py>)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in pairs {
        dict.set_item(key, value.clone())?;
    }
    Ok(dict)
}

#[pymethods]
impl Hit {
    /// When the original was modified, in UTC; None when unknown.
    #[getter]
    pub(crate) fn modified(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        datetime(py, self.modified_ms)
    }

    /// Metadata that the document states, such as author and date.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.metadata)
    }

    /// The metadata with typed values: str, int, float, bool, datetime in UTC, or a list of them. A text that the
    /// document states is one str, also if it lists several names.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        fields::dict(py, &self.fields)
    }

    /// Bonuses added to the fused score, by name; empty without explain=True.
    #[getter]
    fn bonuses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.bonuses)
    }

    /// The keyword score by term; empty without explain=True.
    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.terms)
    }

    /// Ranges of characters of `text` that match terms of the query: `text[a:b]`.
    #[getter]
    fn highlights(&self) -> Vec<(usize, usize)> {
        let ranges = self.highlights.iter();
        ranges
            .map(|range| in_characters(&self.text, *range))
            .collect()
    }

    /// The whole lines of `text`, up to four, with the most and rarest terms of the query.
    #[getter]
    pub(crate) fn snippet(&self) -> &str {
        let (start, end) = self.snippet;
        self.text.get(start..end).unwrap_or_default()
    }

    /// Document and lines as one name, for `kb[...]`, the command line and the MCP server: "docs/guide.md:10-20".
    #[getter]
    pub(crate) fn address(&self) -> String {
        match self.lines {
            (0, _) => self.document.clone(),
            (first, last) => format!("{}:{first}-{last}", self.document),
        }
    }

    /// All attributes by name.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("document", &self.document)?;
        dict.set_item("handle", &self.handle)?;
        dict.set_item("title", &self.title)?;
        dict.set_item("address", self.address())?;
        dict.set_item("text", &self.text)?;
        dict.set_item("before", &self.before)?;
        dict.set_item("after", &self.after)?;
        dict.set_item("snippet", self.snippet())?;
        dict.set_item("highlights", self.highlights())?;
        dict.set_item("score", self.score)?;
        dict.set_item("fused_score", self.fused_score)?;
        dict.set_item("keyword_score", self.keyword_score)?;
        dict.set_item("vector_score", self.vector_score)?;
        dict.set_item("section", &self.section)?;
        dict.set_item("section_number", &self.section_number)?;
        dict.set_item("lines", self.lines)?;
        dict.set_item("span", self.span)?;
        dict.set_item("page", self.page)?;
        dict.set_item("sheet", &self.sheet)?;
        dict.set_item("rows", self.rows)?;
        dict.set_item("slide", self.slide)?;
        dict.set_item("symbol", self.symbol.clone())?;
        dict.set_item("type", &self.file_type)?;
        dict.set_item("language", &self.language)?;
        dict.set_item("class_", &self.class)?;
        dict.set_item("tags", &self.tags)?;
        dict.set_item("modified", self.modified(py)?)?;
        dict.set_item("size_bytes", self.size_bytes)?;
        dict.set_item("metadata", self.metadata(py)?)?;
        dict.set_item("fields", self.fields(py)?)?;
        dict.set_item("chunk", self.chunk)?;
        dict.set_item("chunk_index", self.chunk_index)?;
        dict.set_item("chunks", self.chunks)?;
        dict.set_item("matches", self.matches)?;
        dict.set_item("more_in_document", self.more_in_document)?;
        dict.set_item("copies", self.copies)?;
        dict.set_item("copy_paths", &self.copy_paths)?;
        dict.set_item("bonuses", self.bonuses(py)?)?;
        dict.set_item("terms", self.terms(py)?)?;
        dict.set_item("file", self.file)?;
        Ok(dict)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Hit>().is_ok_and(|other| *self == *other.get())
    }

    fn __repr__(&self) -> String {
        format!("Hit({:?}, score={:.3})", self.address(), self.score)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let restore = py.import("kbfile._kbfile")?.getattr("restore_hit")?;
        Ok((restore, (self.state(py)?,)))
    }
}

impl Hit {
    /// What [`restore_hit`] makes the hit of again: its attributes, and what is stored in another form than shown.
    pub(crate) fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.to_dict(py)?;
        state.set_item("highlights", &self.highlights)?;
        state.set_item("snippet", self.snippet)?;
        state.set_item("modified", self.modified_ms)?;
        state.set_item("metadata", &self.metadata)?;
        state.set_item("bonuses", &self.bonuses)?;
        state.set_item("terms", &self.terms)?;
        Ok(state)
    }
}

/// The hit of a pickle.
#[pyfunction]
pub(crate) fn restore_hit(state: &Bound<'_, PyDict>) -> PyResult<Hit> {
    let get = |name: &str| state.as_any().get_item(name);
    let symbol = get("symbol")?;
    let symbol = if symbol.is_none() {
        None
    } else {
        Some(symbol.cast::<Symbol>()?.get().clone())
    };
    Ok(Hit {
        document: get("document")?.extract()?,
        handle: get("handle")?.extract()?,
        title: get("title")?.extract()?,
        text: get("text")?.extract()?,
        before: get("before")?.extract()?,
        after: get("after")?.extract()?,
        score: get("score")?.extract()?,
        fused_score: get("fused_score")?.extract()?,
        keyword_score: get("keyword_score")?.extract()?,
        vector_score: get("vector_score")?.extract()?,
        section: get("section")?.extract()?,
        section_number: get("section_number")?.extract()?,
        lines: get("lines")?.extract()?,
        span: get("span")?.extract()?,
        page: get("page")?.extract()?,
        sheet: get("sheet")?.extract()?,
        rows: get("rows")?.extract()?,
        slide: get("slide")?.extract()?,
        symbol,
        file_type: get("type")?.extract()?,
        language: get("language")?.extract()?,
        class: get("class_")?.extract()?,
        tags: get("tags")?.extract()?,
        modified_ms: get("modified")?.extract()?,
        size_bytes: get("size_bytes")?.extract()?,
        metadata: get("metadata")?.extract()?,
        fields: fields::fields(&get("fields")?)?,
        highlights: get("highlights")?.extract()?,
        snippet: get("snippet")?.extract()?,
        chunk: get("chunk")?.extract()?,
        chunk_index: get("chunk_index")?.extract()?,
        chunks: get("chunks")?.extract()?,
        matches: get("matches")?.extract()?,
        more_in_document: get("more_in_document")?.extract()?,
        copies: get("copies")?.extract()?,
        copy_paths: get("copy_paths")?.extract()?,
        bonuses: get("bonuses")?.extract()?,
        terms: get("terms")?.extract()?,
        file: get("file")?.extract()?,
    })
}
