//! Columns of vectors, and what an import did to one.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A vector column: at most one vector for each chunk, all by one model.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct VectorColumn {
    /// Name of the column; "built-in" for the vectors of the built-in model.
    name: String,
    /// Name of the model, as given at import; may be empty.
    model: String,
    /// Dimensions.
    dim: u32,
    /// How vectors are compared: "cosine", "dot" or "l2".
    metric: &'static str,
    /// How vectors are stored: "i8" or "i4".
    codec: &'static str,
    /// Chunks with a vector.
    rows: u64,
    /// Whether a search by vector uses this column by default.
    is_default: bool,
    /// Measured share of the 10 nearest vectors that searches find; None if not measured.
    recall: Option<f32>,
}

impl From<&kb_engine::VectorColumn> for VectorColumn {
    fn from(column: &kb_engine::VectorColumn) -> VectorColumn {
        VectorColumn {
            name: column.name.clone(),
            model: column.model.clone(),
            dim: column.dim,
            metric: column.metric.name(),
            codec: column.codec.name(),
            rows: column.rows,
            is_default: column.is_default,
            recall: column.recall.as_ref().map(|recall| recall.recall),
        }
    }
}

impl VectorColumn {
    /// As a dict, for `Kb.info`.
    pub(crate) fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", &self.name)?;
        dict.set_item("model", &self.model)?;
        dict.set_item("dim", self.dim)?;
        dict.set_item("metric", self.metric)?;
        dict.set_item("codec", self.codec)?;
        dict.set_item("rows", self.rows)?;
        dict.set_item("is_default", self.is_default)?;
        dict.set_item("recall", self.recall)?;
        Ok(dict)
    }
}

#[pymethods]
impl VectorColumn {
    fn __repr__(&self) -> String {
        let VectorColumn {
            name,
            dim,
            metric,
            codec,
            rows,
            ..
        } = self;
        let default = if self.is_default { ", default" } else { "" };
        format!("VectorColumn({name:?}, dim={dim}, {metric}, {codec}, rows={rows}{default})")
    }
}

/// What an import of vectors did.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct ImportReport {
    /// Vectors that were imported.
    rows: u64,
    /// Chunks of the file.
    chunks: u64,
    /// Dimensions of the column.
    dim: u32,
    /// Number of vectors that replaced another one.
    replaced: u64,
    /// Number of values that were beyond the scale of the column and were clamped.
    cut_numbers: u64,
    /// Share of the 10 nearest vectors that searches by the quantised vectors find; None for fewer than 200 vectors.
    recall: Option<f32>,
}

impl From<kb_engine::ImportReport> for ImportReport {
    fn from(report: kb_engine::ImportReport) -> ImportReport {
        ImportReport {
            rows: report.rows,
            chunks: report.chunks,
            dim: report.dim,
            replaced: report.replaced,
            cut_numbers: report.cut_numbers,
            recall: report.recall,
        }
    }
}

#[pymethods]
impl ImportReport {
    fn __repr__(&self) -> String {
        let recall = match self.recall {
            Some(recall) => format!("{recall:.3}"),
            None => "None".to_owned(),
        };
        format!(
            "ImportReport(rows={}, chunks={}, dim={}, replaced={}, cut_numbers={}, recall={recall})",
            self.rows, self.chunks, self.dim, self.replaced, self.cut_numbers
        )
    }
}

/// What a model embedded into a column of vectors.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct ReembedReport {
    /// Name of the column.
    column: String,
    /// The model.
    model: String,
    /// Chunks that were embedded.
    embedded: u64,
    /// Chunks whose text the model had embedded before, and did not again.
    cached: u64,
    /// Chunks of which the model knows no token.
    empty: u64,
    /// Chunks that still have no vector.
    left: u64,
    /// Chunks of the file.
    chunks: u64,
    /// Seconds spent in the model.
    model_seconds: f64,
}

impl From<kb_engine::ReembedReport> for ReembedReport {
    fn from(report: kb_engine::ReembedReport) -> ReembedReport {
        ReembedReport {
            column: report.column,
            model: report.model,
            embedded: report.embedded,
            cached: report.cached,
            empty: report.empty,
            left: report.left,
            chunks: report.chunks,
            model_seconds: report.model_time.as_secs_f64(),
        }
    }
}

#[pymethods]
impl ReembedReport {
    fn __repr__(&self) -> String {
        format!(
            "ReembedReport({:?}, model={:?}, embedded={}, left={}, chunks={})",
            self.column, self.model, self.embedded, self.left, self.chunks
        )
    }
}
