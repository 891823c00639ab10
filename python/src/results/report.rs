//! Reports of long calls.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;

use crate::time::timedelta;

/// What an index run did.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone)]
pub(crate) struct IndexReport(kb_engine::Report);

impl From<kb_engine::Report> for IndexReport {
    fn from(report: kb_engine::Report) -> IndexReport {
        IndexReport(report)
    }
}

#[pymethods]
impl IndexReport {
    /// Documents in the file now.
    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents
    }

    /// Chunks in the file now.
    #[getter]
    fn chunks(&self) -> u64 {
        self.0.chunks
    }

    /// Paths of new documents.
    #[getter]
    fn added(&self) -> Vec<String> {
        self.0.added.clone()
    }

    /// Paths of documents whose content changed.
    #[getter]
    fn updated(&self) -> Vec<String> {
        self.0.updated.clone()
    }

    /// Paths of removed documents.
    #[getter]
    fn removed(&self) -> Vec<String> {
        self.0.removed.clone()
    }

    /// Number of unchanged documents.
    #[getter]
    fn unchanged(&self) -> u64 {
        self.0.unchanged
    }

    /// Files that were skipped, with the reason.
    #[getter]
    fn skipped(&self) -> Vec<(String, String)> {
        let skipped = self.0.skipped.iter();
        skipped
            .map(|it| (it.path.clone(), it.reason.clone()))
            .collect()
    }

    /// Source files that were split by lines instead of syntax, with the reason.
    #[getter]
    fn unparsed(&self) -> Vec<(String, String)> {
        let unparsed = self.0.unparsed.iter();
        unparsed
            .map(|it| (it.path.clone(), it.reason.clone()))
            .collect()
    }

    /// Source files that an earlier pass indexed as text and this run parsed.
    #[getter]
    fn parsed(&self) -> u64 {
        self.0.parsed
    }

    /// Source files that are indexed as text and that the next run parses.
    #[getter]
    fn symbols_pending(&self) -> u64 {
        self.0.symbols_pending
    }

    /// Columns of imported vectors that a rebuild removed.
    #[getter]
    fn lost_columns(&self) -> Vec<String> {
        self.0.lost_columns.clone()
    }

    /// The recall of searches if it is below `min_recall`; None if it is not, or if `min_recall` is not set.
    #[getter]
    fn missed_recall(&self) -> Option<f32> {
        self.0.missed_recall.map(|missed| missed.reached)
    }

    /// How long it took.
    #[getter]
    fn elapsed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        timedelta(py, self.0.elapsed)
    }

    fn __repr__(&self) -> String {
        let kb_engine::Report {
            documents,
            added,
            updated,
            removed,
            skipped,
            ..
        } = &self.0;
        format!(
            "IndexReport(documents={documents}, added={}, updated={}, removed={}, skipped={})",
            added.len(),
            updated.len(),
            removed.len(),
            skipped.len()
        )
    }
}

/// What sealing wrote.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct SealReport {
    /// Path of the sealed file.
    path: PathBuf,
    /// Hash of the content, 64 hexadecimal digits; equal for equal documents.
    content_root: String,
    /// Documents in it.
    documents: u64,
    /// Bytes of the file before.
    bytes_before: u64,
    /// Bytes of the sealed file.
    bytes_after: u64,
    /// The recall of searches if the file stores a `min_recall` that cannot be reached, else None.
    missed_recall: Option<f32>,
}

impl From<kb_engine::SealReport> for SealReport {
    fn from(report: kb_engine::SealReport) -> SealReport {
        SealReport {
            path: report.path,
            content_root: report.content_root,
            documents: report.documents,
            bytes_before: report.bytes_before,
            bytes_after: report.bytes_after,
            missed_recall: report.missed_recall.map(|missed| missed.reached),
        }
    }
}

#[pymethods]
impl SealReport {
    fn __repr__(&self) -> String {
        let SealReport {
            documents,
            bytes_before,
            bytes_after,
            ..
        } = self;
        let path = self.path.display().to_string();
        format!(
            "SealReport({path:?}, documents={documents}, bytes={bytes_before} -> {bytes_after})"
        )
    }
}

/// What a merge took of other files.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct MergeReport {
    /// Documents that came.
    added: u64,
    /// Documents that took the place of others.
    replaced: u64,
    /// Documents that were there already, alike in all.
    identical: u64,
    /// Documents that were left out, because the one of their path stays.
    left_out: u64,
    /// Folders that documents were put below whose path was taken.
    renamed_below: Vec<String>,
    /// Columns of vectors that were left out: the file has others of these names, or no room.
    left_columns: Vec<String>,
    /// Indexed folders of the other files that index runs of this one do not follow.
    left_roots: Vec<String>,
}

impl From<kb_engine::MergeReport> for MergeReport {
    fn from(report: kb_engine::MergeReport) -> MergeReport {
        MergeReport {
            added: report.added,
            replaced: report.replaced,
            identical: report.identical,
            left_out: report.left_out,
            renamed_below: report.renamed_below,
            left_columns: report.left_columns,
            left_roots: report.left_roots,
        }
    }
}

#[pymethods]
impl MergeReport {
    fn __repr__(&self) -> String {
        let MergeReport {
            added,
            replaced,
            identical,
            left_out,
            ..
        } = self;
        format!(
            "MergeReport(added={added}, replaced={replaced}, identical={identical}, left_out={left_out})"
        )
    }
}

/// What a check of a file found. True when nothing is wrong.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone)]
pub(crate) struct VerifyReport {
    /// What is wrong, one sentence each.
    #[pyo3(get)]
    problems: Vec<String>,
    /// Documents in the file.
    #[pyo3(get)]
    documents: u64,
    /// Chunks in the file.
    #[pyo3(get)]
    chunks: u64,
    /// Bytes that were compared with their checksums.
    #[pyo3(get)]
    bytes: u64,
    /// Whether index entries were compared with the text too.
    #[pyo3(get)]
    deep: bool,
    /// The hash of the content of a sealed file.
    #[pyo3(get)]
    content_root: Option<String>,
    elapsed: Duration,
}

impl From<kb_engine::VerifyReport> for VerifyReport {
    fn from(report: kb_engine::VerifyReport) -> VerifyReport {
        VerifyReport {
            problems: report.problems,
            documents: report.documents,
            chunks: report.chunks,
            bytes: report.bytes,
            deep: report.deep,
            content_root: report.content_root,
            elapsed: report.elapsed,
        }
    }
}

#[pymethods]
impl VerifyReport {
    /// How long it took.
    #[getter]
    fn elapsed(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        timedelta(py, self.elapsed)
    }

    fn __bool__(&self) -> bool {
        self.problems.is_empty()
    }

    fn __repr__(&self) -> String {
        let VerifyReport {
            problems,
            documents,
            deep,
            ..
        } = self;
        format!(
            "VerifyReport({} problems, documents={documents}, deep={})",
            problems.len(),
            if *deep { "True" } else { "False" }
        )
    }
}
