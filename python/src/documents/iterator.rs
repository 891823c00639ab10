//! [`DocumentIterator`]: the documents of a file one after another, or as a table.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kb_engine::DocumentInfo;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow::stream;
use crate::call::run_short;
use crate::documents::document::Document;
use crate::documents::table::DocumentTable;
use crate::handle::{Handle, Source};
use crate::results::table::shown;

/// Documents that an iteration reads at once.
const BATCH: usize = 256;

/// Documents of a file in the order of their paths, read some at a time.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug)]
pub(crate) struct DocumentIterator {
    handle: Arc<Handle>,
    state: Mutex<IteratorState>,
}

#[derive(Debug, Clone)]
struct IteratorState {
    ready: VecDeque<DocumentInfo>,
    /// The last path that was read; none: nothing was.
    after: Option<String>,
    /// Whether all were read.
    is_complete: bool,
}

impl DocumentIterator {
    /// All documents, also those that come while they are read.
    pub(crate) fn all(handle: &Arc<Handle>) -> DocumentIterator {
        DocumentIterator::of(handle, Vec::new(), false)
    }

    /// These documents, in this order.
    pub(crate) fn of(
        handle: &Arc<Handle>,
        documents: Vec<DocumentInfo>,
        is_complete: bool,
    ) -> DocumentIterator {
        DocumentIterator {
            handle: Arc::clone(handle),
            state: Mutex::new(IteratorState {
                ready: documents.into(),
                after: None,
                is_complete,
            }),
        }
    }

    /// The documents that are left, as a table.
    fn left(&self, py: Python<'_>) -> PyResult<DocumentTable> {
        let copy = self.copy(py)?;
        let mut documents = Vec::new();
        while let Some(info) = copy.get().next(py)? {
            documents.push(info);
        }
        Ok(DocumentTable::new(documents))
    }

    /// The next document.
    fn next(&self, py: Python<'_>) -> PyResult<Option<DocumentInfo>> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let after = {
            let mut state = lock();
            if let Some(info) = state.ready.pop_front() {
                return Ok(Some(info));
            }
            if state.is_complete {
                return Ok(None);
            }
            state.after.clone()
        };
        let kb = self.handle.kb(py)?;
        let read = run_short(py, || kb.documents_after(after.as_deref(), BATCH))?;
        let mut state = lock();
        state.is_complete = read.len() < BATCH;
        state.after = read.last().map(|info| info.path.clone()).or(after);
        state.ready.extend(read);
        Ok(state.ready.pop_front())
    }

    /// An iteration over what is left of this one.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, DocumentIterator>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = DocumentIterator {
            handle: Arc::clone(&self.handle),
            state: Mutex::new(state.clone()),
        };
        drop(state);
        Bound::new(py, copy)
    }
}

#[pymethods]
impl DocumentIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Document>> {
        let next = self.next(py)?;
        Ok(next.map(|info| Document::new(&self.handle, info)))
    }

    fn __repr__(&self) -> String {
        match &self.handle.source {
            Source::Path(path) => format!("DocumentIterator({:?})", path.display().to_string()),
            Source::Bytes(bytes) => format!("DocumentIterator(<{} bytes>)", bytes.len()),
        }
    }

    /// The table of the documents that are left: a list for each column, as `to_arrow()` has them. Their fields come last,
    /// by their names in lower case; `meta.` stands before the name of another column. The iteration stays where it is.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.left(py)?.columns(py)
    }

    /// The documents that are left, without their text, as a pandas.DataFrame, a row each, with their fields. Needs pandas.
    /// The iteration stays where it is.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let left = self.left(py)?;
        py.import("kbfile._tables")?.call_method1(
            "columns_to_pandas",
            (left.columns(py)?, left.types_of_fields(py)?),
        )
    }

    /// The documents that are left, without their text, as a polars.DataFrame, a row each, with their fields. Needs polars.
    /// The iteration stays where it is.
    fn to_polars<'py>(slf: &Bound<'py, DocumentIterator>) -> PyResult<Bound<'py, PyAny>> {
        let tables = slf.py().import("kbfile._tables")?;
        tables.call_method1("to_polars", (slf,))
    }

    /// The documents that are left, without their text, as a pyarrow.Table, a row each, with their fields. Needs pyarrow.
    /// The iteration stays where it is.
    fn to_arrow<'py>(slf: &Bound<'py, DocumentIterator>) -> PyResult<Bound<'py, PyAny>> {
        let tables = slf.py().import("kbfile._tables")?;
        tables.call_method1("to_arrow", (slf,))
    }

    /// The documents that are left as an Arrow stream, for libraries that read one: the PyCapsule interface. The iteration
    /// stays where it is.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A schema that is asked for is a wish that need not be fulfilled.
        let _ = requested_schema;
        let batch = self.left(py)?.batch()?;
        stream(py, batch.schema(), vec![batch])
    }

    /// The table that a notebook shows. The iteration stays where it is.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(&self.copy(py)?, "documents_to_html")
    }
}
