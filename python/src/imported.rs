//! The rows of an import: vectors from Python, with their chunks.

use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use kb_engine::{Error, Metric, NewVectors, VectorTarget};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

use crate::call::Listener;
use crate::error::{invalid, type_name};
use crate::numbers::{in_place, numbers};
use crate::options::{codec, named, unexpected, words};

/// Rows that are read between two looks at other threads.
const ROWS_AT_ONCE: usize = 1024;

/// A row for the engine.
type Row = Result<(VectorTarget, Vec<f32>), Error>;

/// What an import is given by keyword.
pub(crate) struct ImportOptions<'py> {
    pub(crate) column: NewVectors,
    pub(crate) spans: Option<Bound<'py, PyAny>>,
    pub(crate) lines: Option<Bound<'py, PyAny>>,
    pub(crate) listener: Listener,
}

impl<'py> ImportOptions<'py> {
    /// Those of a column of that name.
    pub(crate) fn read(
        name: String,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<ImportOptions<'py>> {
        let mut column = NewVectors::new(name);
        let (mut spans, mut lines, mut listener) = (None, None, Listener::none());
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                "spans" => spans = Some(value),
                "lines" => lines = Some(value),
                "model" => column.model = value.extract()?,
                "metric" => {
                    let names = Metric::ALL.map(Metric::name);
                    column.metric = named(&name, &value, Metric::from_name, &names)?;
                }
                "codec" => column.codec = codec("codec", Some(&value))?.unwrap_or(column.codec),
                "default" => column.make_default = value.extract()?,
                "replace" => column.replace = value.extract()?,
                "progress" => listener = Listener::of(Some(&value))?,
                _ => return Err(unexpected("import_vectors", &name)),
            }
        }
        Ok(ImportOptions {
            column,
            spans,
            lines,
            listener,
        })
    }
}

/// Vectors with the chunks that they belong to.
pub(crate) struct Rows {
    vectors: Py<PyAny>,
    /// All numbers, and how many a row has, where no rows can be taken out of the object: a memoryview.
    whole: Option<(Vec<f32>, usize)>,
    count: usize,
    chunks: Chunks,
}

/// Which chunk each row is of.
enum Chunks {
    /// All chunks in order.
    InOrder,
    /// Documents of one chunk.
    Documents(Vec<String>),
    /// Numbers of chunks.
    Numbers(Vec<String>, Vec<u32>),
    /// Spans of bytes.
    Spans(Vec<String>, Vec<(u32, u32)>),
    /// Lines.
    Lines(Vec<String>, Vec<(u32, u32)>),
}

/// How rows are named: `documents` and one of the others.
pub(crate) struct Names<'a, 'py> {
    pub(crate) documents: Option<&'a Bound<'py, PyAny>>,
    pub(crate) chunks: Option<&'a Bound<'py, PyAny>>,
    pub(crate) spans: Option<&'a Bound<'py, PyAny>>,
    pub(crate) lines: Option<&'a Bound<'py, PyAny>>,
}

impl Rows {
    pub(crate) fn new(vectors: &Bound<'_, PyAny>, names: Names<'_, '_>) -> PyResult<Rows> {
        let py = vectors.py();
        let count = vectors.len().map_err(|_| {
            let message = format!(
                "vectors takes an array [rows, dim] or a list of lists, not {}",
                type_name(vectors)
            );
            PyTypeError::new_err(message)
        })?;
        let whole = match in_place(vectors) {
            Some(buffer) if vectors.get_item(PySlice::new(py, 0, 0, 1)).is_err() => {
                match *buffer.shape() {
                    [_, dim] => Some((buffer.to_vec(py)?, dim)),
                    _ => None,
                }
            }
            _ => None,
        };
        let chunks = Chunks::of(py, names)?;
        for (name, given) in chunks.counts() {
            if given != count {
                let message = format!("{name}: {given} given, and {count} vectors");
                return Err(invalid(py, &message));
            }
        }
        Ok(Rows {
            vectors: vectors.clone().unbind(),
            whole,
            count,
            chunks,
        })
    }

    /// The rows for the engine. `failed` gets the exception that ends them.
    pub(crate) fn iter<'r>(&'r self, failed: &'r Mutex<Option<PyErr>>) -> RowIterator<'r> {
        RowIterator {
            rows: self,
            failed,
            next: 0,
            batch: Vec::new(),
            dim: 0,
            batch_first: 0,
        }
    }

    /// The numbers of some rows, and how many each has.
    fn read(&self, py: Python<'_>, first: usize, last: usize) -> PyResult<(Vec<f32>, usize)> {
        if let Some((whole, dim)) = &self.whole {
            let part = whole.get(first * dim..last * dim).unwrap_or_default();
            return Ok((part.to_vec(), *dim));
        }
        let (start, stop) = (first.cast_signed(), last.cast_signed());
        let part = self
            .vectors
            .bind(py)
            .get_item(PySlice::new(py, start, stop, 1))?;
        if let Some(part) = numbers(&part)? {
            let [rows, dim] = *part.shape() else {
                let message = format!(
                    "vectors: expected an array [rows, dim], not one of {} axes",
                    part.shape().len()
                );
                return Err(invalid(py, &message));
            };
            if rows != last - first {
                return Err(invalid(
                    py,
                    "vectors: their number changed during the import",
                ));
            }
            return Ok((part.to_vec(py)?, dim));
        }
        let part: Vec<Vec<f32>> = part.extract()?;
        let dim = part.first().map_or(0, Vec::len);
        if let Some(at) = part.iter().position(|vector| vector.len() != dim) {
            let message = format!(
                "vectors: row {} has {} numbers, row {first} has {dim}",
                first + at,
                part.get(at).map_or(0, Vec::len)
            );
            return Err(invalid(py, &message));
        }
        if part.len() != last - first {
            return Err(invalid(
                py,
                "vectors: their number changed during the import",
            ));
        }
        Ok((part.concat(), dim))
    }
}

impl Chunks {
    fn of(py: Python<'_>, names: Names<'_, '_>) -> PyResult<Chunks> {
        let given = |value: Option<&Bound<'_, PyAny>>| value.is_some_and(|value| !value.is_none());
        let ways = [given(names.chunks), given(names.spans), given(names.lines)];
        let ways = ways.into_iter().filter(|is_given| *is_given).count();
        let Some(documents) = names.documents.filter(|documents| !documents.is_none()) else {
            if ways > 0 {
                return Err(invalid(
                    py,
                    "documents: required with chunks, spans or lines",
                ));
            }
            return Ok(Chunks::InOrder);
        };
        if ways > 1 {
            return Err(invalid(
                py,
                "chunks: give only one of chunks, spans and lines",
            ));
        }
        let documents = words("documents", documents)?;
        Ok(match names {
            Names {
                chunks: Some(chunks),
                ..
            } if given(Some(chunks)) => Chunks::Numbers(documents, items(chunks)?),
            Names {
                spans: Some(spans), ..
            } if given(Some(spans)) => Chunks::Spans(documents, items(spans)?),
            Names {
                lines: Some(lines), ..
            } if given(Some(lines)) => Chunks::Lines(documents, items(lines)?),
            _ => Chunks::Documents(documents),
        })
    }

    /// How many of each there are.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        match self {
            Chunks::InOrder => Vec::new(),
            Chunks::Documents(documents) => vec![("documents", documents.len())],
            Chunks::Numbers(documents, chunks) => {
                vec![("documents", documents.len()), ("chunks", chunks.len())]
            }
            Chunks::Spans(documents, spans) => {
                vec![("documents", documents.len()), ("spans", spans.len())]
            }
            Chunks::Lines(documents, lines) => {
                vec![("documents", documents.len()), ("lines", lines.len())]
            }
        }
    }

    fn target(&self, row: usize) -> Option<VectorTarget> {
        let named = |documents: &[String]| documents.get(row).cloned();
        Some(match self {
            Chunks::InOrder => VectorTarget::Position(row as u64),
            Chunks::Documents(documents) => VectorTarget::Document(named(documents)?),
            Chunks::Numbers(documents, chunks) => VectorTarget::Chunk {
                document: named(documents)?,
                index: *chunks.get(row)?,
            },
            Chunks::Spans(documents, spans) => {
                let (start, end) = *spans.get(row)?;
                VectorTarget::Span {
                    document: named(documents)?,
                    start,
                    end,
                }
            }
            Chunks::Lines(documents, lines) => {
                let (first, last) = *lines.get(row)?;
                VectorTarget::Lines {
                    document: named(documents)?,
                    first,
                    last,
                }
            }
        })
    }
}

/// The values of any iterable.
fn items<'py, T>(values: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let mut found = Vec::new();
    for value in values.try_iter()? {
        found.push(value?.extract().map_err(Into::into)?);
    }
    Ok(found)
}

/// Rows in their order. Holds the GIL only while it reads some of them.
pub(crate) struct RowIterator<'r> {
    rows: &'r Rows,
    failed: &'r Mutex<Option<PyErr>>,
    next: usize,
    batch: Vec<f32>,
    dim: usize,
    /// The first row of the batch.
    batch_first: usize,
}

impl Iterator for RowIterator<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if self.next >= self.rows.count {
            return None;
        }
        let row = self.next;
        self.next += 1;
        if row == 0 || row - self.batch_first >= ROWS_AT_ONCE {
            let last = self.rows.count.min(row + ROWS_AT_ONCE);
            match Python::attach(|py| self.rows.read(py, row, last)) {
                Ok((batch, dim)) => (self.batch, self.dim, self.batch_first) = (batch, dim, row),
                Err(error) => {
                    let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                    *failed = Some(error);
                    return Some(Err(Error::Cancelled));
                }
            }
        }
        let start = (row - self.batch_first) * self.dim;
        let vector = self.batch.get(start..start + self.dim).unwrap_or_default();
        let target = self.rows.chunks.target(row)?;
        Some(Ok((target, vector.to_vec())))
    }
}

/// Warns where the stored numbers of an import find too few of the nearest vectors.
pub(crate) fn warn_of_loss(py: Python<'_>, report: &kb_engine::ImportReport) -> PyResult<()> {
    let low = kb_engine::ImportReport::LOW_RECALL;
    let Some(recall) = report.recall.filter(|recall| *recall < low) else {
        return Ok(());
    };
    let message = format!(
        "searches find only {:.0} % of the 10 nearest vectors: a few dimensions are much larger than the others. \
         Multiply all vectors and queries by one orthogonal matrix first, or do not use codec=\"i4\"",
        recall * 100.0
    );
    let message = CString::new(message)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}
