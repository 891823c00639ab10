//! [`Hits`]: the answer to one search, as a sequence, a table and data for other libraries.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kb_engine::Response;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrow::{HIT_COLUMNS, hits_batch, stream};
use crate::results::field_columns::{FieldColumn, field_columns};
use crate::results::hit::{Hit, restore_hit};
use crate::results::sequence::{indexed, iterator};
use crate::time::{datetime, timedelta};

/// The hits of one search, in the order of `sort`: a sequence of `Hit`.
///
/// `for hit in hits`, `hits[0]`, `len(hits)`, and as tables: `to_pandas()`, `to_polars()`, `to_arrow()`, or any library
/// that reads Arrow streams, as `polars.DataFrame(hits)`.
#[pyclass(module = "kbfile", frozen, sequence)]
#[derive(Debug)]
pub(crate) struct Hits {
    hits: Vec<Arc<Hit>>,
    /// The query that was asked.
    #[pyo3(get)]
    query: String,
    /// "relevant", or "nothing relevant": then the hits are only the nearest passages.
    #[pyo3(get)]
    relevance: String,
    /// The mode that was used: "keyword" for a hybrid search if the model of the file is missing.
    #[pyo3(get)]
    mode: String,
    /// Number of chunks that passed the filters.
    #[pyo3(get)]
    searched_chunks: u64,
    /// Words that were replaced: from, to, and where in the query, in characters.
    corrections: Vec<(String, String, usize, usize)>,
    /// Of each field of `facets`: its values with the number of documents that have each, most frequent first.
    #[pyo3(get)]
    facets: BTreeMap<String, Vec<(String, u64)>>,
    /// Identifiers of the query that no document has.
    #[pyo3(get)]
    missing: Vec<String>,
    /// Warnings about the result, one sentence each.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Pass it as `cursor` of the same search to get the next hits; None if there are none.
    #[pyo3(get)]
    cursor: Option<String>,
    explanation: Option<Vec<(String, f64)>>,
    /// How long the engine took.
    elapsed: Duration,
}

impl Hits {
    fn field_columns(&self) -> Vec<FieldColumn<'_>> {
        let rows: Vec<_> = self.hits.iter().map(|hit| hit.fields.as_slice()).collect();
        field_columns(&rows, &HIT_COLUMNS)
    }

    pub(crate) fn new(query: String, response: Response, elapsed: Duration) -> Hits {
        let explanation = response.explanation.as_ref().map(|it| {
            let facts = [
                ("vector_weight", f64::from(it.vector_weight)),
                ("code_share", f64::from(it.code_share)),
                ("model_words_known", it.model_words_known as f64),
                ("model_words", it.model_words as f64),
                ("chunks", it.chunks as f64),
                ("keyword_candidates", it.keyword_candidates as f64),
                ("vector_candidates", it.vector_candidates as f64),
            ];
            let facts = facts.map(|(name, value)| (name.to_owned(), value));
            let steps = it.steps.iter();
            let steps = steps.map(|step| (format!("{}_us", step.name), step.micros as f64));
            facts.into_iter().chain(steps).collect()
        });
        let characters = |end: usize| query.get(..end).map_or(0, |before| before.chars().count());
        let corrections = response.corrections.into_iter().map(|it| {
            let (start, end) = (characters(it.span.start), characters(it.span.end));
            (it.from, it.to, start, end)
        });
        Hits {
            corrections: corrections.collect(),
            facets: response
                .facets
                .into_iter()
                .map(|it| (it.field, it.values))
                .collect(),
            missing: response.missing,
            query,
            relevance: response.relevance.name().to_owned(),
            mode: response.mode.name().to_owned(),
            searched_chunks: response.searched_chunks,
            warnings: response.warnings,
            cursor: response.hits.next.map(|cursor| cursor.as_str().to_owned()),
            explanation,
            elapsed,
            hits: response
                .hits
                .items
                .into_iter()
                .map(|hit| Arc::new(Hit::from(hit)))
                .collect(),
        }
    }

    fn object<'py>(py: Python<'py>, hit: &Hit) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, hit.clone())?.into_any())
    }
}

#[pymethods]
impl Hits {
    fn __len__(&self) -> usize {
        self.hits.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        indexed(&self.hits, index, |hit| Hits::object(py, hit))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let objects = self.hits.iter().map(|hit| Hits::object(py, hit));
        iterator(py, objects.collect::<PyResult<_>>()?)
    }

    fn __repr__(&self) -> String {
        let count = self.hits.len();
        let best = self.hits.first().map_or(String::new(), |hit| {
            format!(", best={:?} score={:.3}", hit.address(), hit.score)
        });
        format!("Hits({:?}, {count} hits{best})", self.query)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Hits>().is_ok_and(|other| {
            let other = other.get();
            (&self.query, &self.hits, &self.cursor) == (&other.query, &other.hits, &other.cursor)
        })
    }

    /// Weights, counts and the microseconds of each step; None without explain=True.
    #[getter]
    fn explanation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(facts) = &self.explanation else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for (name, value) in facts {
            dict.set_item(name, value)?;
        }
        Ok(Some(dict))
    }

    /// Words of the query that no document has: "from", "to" (the word that was searched), and where "from" is in the
    /// query: "start" and "end" in characters. Empty with exact=True.
    #[getter]
    fn corrections<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let corrections = self.corrections.iter().map(|(from, to, start, end)| {
            let dict = PyDict::new(py);
            dict.set_item("from", from)?;
            dict.set_item("to", to)?;
            dict.set_item("start", start)?;
            dict.set_item("end", end)?;
            Ok(dict)
        });
        corrections.collect()
    }

    /// Time in the engine, without the overhead of Python.
    #[getter]
    fn elapsed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        timedelta(py, self.elapsed)
    }

    /// Each hit as a dict of its attributes.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.hits.iter().map(|hit| hit.to_dict(py)).collect()
    }

    /// The table of the hits: a list for each column, as `to_arrow()` has them. The fields of the documents come last, by
    /// their names in lower case; `meta.` stands before the name of another column.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hits = &self.hits;
        let columns = PyDict::new(py);
        fn column<'py, T: IntoPyObject<'py>>(
            py: Python<'py>,
            hits: &[Arc<Hit>],
            value: impl Fn(&Hit) -> T,
        ) -> PyResult<Bound<'py, PyList>> {
            PyList::new(py, hits.iter().map(|hit| value(hit)).collect::<Vec<T>>())
        }
        // Borrowed strings have the lifetime of the hits, which a closure cannot say.
        let texts = |value: fn(&Hit) -> &str| {
            let values: Vec<&str> = hits.iter().map(|hit| value(hit)).collect();
            PyList::new(py, values)
        };
        columns.set_item("document", texts(|hit| &hit.document)?)?;
        columns.set_item("score", column(py, hits, |hit| hit.score)?)?;
        columns.set_item("title", texts(|hit| &hit.title)?)?;
        columns.set_item("section", column(py, hits, |hit| hit.section.join(" > "))?)?;
        columns.set_item("text", texts(|hit| &hit.text)?)?;
        columns.set_item("first_line", column(py, hits, |hit| hit.lines.0)?)?;
        columns.set_item("last_line", column(py, hits, |hit| hit.lines.1)?)?;
        columns.set_item("page", column(py, hits, |hit| hit.page)?)?;
        columns.set_item("sheet", column(py, hits, |hit| hit.sheet.clone())?)?;
        columns.set_item("slide", column(py, hits, |hit| hit.slide)?)?;
        columns.set_item(
            "symbol",
            column(py, hits, |hit| {
                hit.symbol.as_ref().map(|it| it.name.clone())
            })?,
        )?;
        columns.set_item("keyword_score", column(py, hits, |hit| hit.keyword_score)?)?;
        columns.set_item("vector_score", column(py, hits, |hit| hit.vector_score)?)?;
        columns.set_item("type", texts(|hit| &hit.file_type)?)?;
        columns.set_item("language", texts(|hit| &hit.language)?)?;
        columns.set_item("class", texts(|hit| &hit.class)?)?;
        let modified = self.hits.iter().map(|hit| datetime(py, hit.modified_ms));
        let modified: Vec<_> = modified.collect::<PyResult<_>>()?;
        columns.set_item("modified", PyList::new(py, modified)?)?;
        columns.set_item("size_bytes", column(py, hits, |hit| hit.size_bytes)?)?;
        columns.set_item("start_byte", column(py, hits, |hit| hit.span.0)?)?;
        columns.set_item("end_byte", column(py, hits, |hit| hit.span.1)?)?;
        columns.set_item("handle", texts(|hit| &hit.handle)?)?;
        for column in self.field_columns() {
            columns.set_item(&column.name, column.objects(py)?)?;
        }
        Ok(columns)
    }

    /// The hits as a pandas.DataFrame, a row each, with the fields of their documents. Needs pandas.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let types = PyDict::new(py);
        for column in self.field_columns() {
            types.set_item(&column.name, column.dtype())?;
        }
        py.import("kbfile._tables")?
            .call_method1("to_pandas", (self.columns(py)?, types))
    }

    /// The hits as a polars.DataFrame, a row each, with the fields of their documents. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("kbfile._tables")?
            .call_method1("to_polars", (slf,))
    }

    /// The hits as a pyarrow.Table, a row each, with the fields of their documents. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("kbfile._tables")?
            .call_method1("to_arrow", (slf,))
    }

    /// The hits as an Arrow stream, for libraries that read one: the PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A schema that is asked for is a wish that need not be fulfilled.
        let _ = requested_schema;
        let batch = hits_batch(&self.hits)?;
        stream(py, batch.schema(), vec![batch])
    }

    /// The table that a notebook shows.
    fn _repr_html_<'py>(slf: &Bound<'py, Hits>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("kbfile._tables")?
            .call_method1("to_html", (slf,))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let restore = py.import("kbfile._kbfile")?.getattr("restore_hits")?;
        let state = PyDict::new(py);
        let hits = self.hits.iter().map(|hit| hit.state(py));
        state.set_item("hits", hits.collect::<PyResult<Vec<_>>>()?)?;
        state.set_item("query", &self.query)?;
        state.set_item("relevance", &self.relevance)?;
        state.set_item("mode", &self.mode)?;
        state.set_item("searched_chunks", self.searched_chunks)?;
        state.set_item("corrections", &self.corrections)?;
        state.set_item("facets", &self.facets)?;
        state.set_item("missing", &self.missing)?;
        state.set_item("warnings", &self.warnings)?;
        state.set_item("cursor", &self.cursor)?;
        state.set_item("explanation", &self.explanation)?;
        state.set_item("elapsed", self.elapsed.as_secs_f64())?;
        Ok((restore, (state,)))
    }
}

/// The hits of a pickle.
#[pyfunction]
pub(crate) fn restore_hits(state: &Bound<'_, PyDict>) -> PyResult<Hits> {
    let get = |name: &str| state.as_any().get_item(name);
    let mut hits = Vec::new();
    for hit in get("hits")?.try_iter()? {
        hits.push(Arc::new(restore_hit(hit?.cast::<PyDict>()?)?));
    }
    Ok(Hits {
        hits,
        query: get("query")?.extract()?,
        relevance: get("relevance")?.extract()?,
        mode: get("mode")?.extract()?,
        searched_chunks: get("searched_chunks")?.extract()?,
        corrections: get("corrections")?.extract()?,
        facets: get("facets")?.extract()?,
        missing: get("missing")?.extract()?,
        warnings: get("warnings")?.extract()?,
        cursor: get("cursor")?.extract()?,
        explanation: get("explanation")?.extract()?,
        elapsed: Duration::try_from_secs_f64(get("elapsed")?.extract()?).unwrap_or_default(),
    })
}
