//! [`FieldInfo`]: what a file knows about a field of its documents.

use pyo3::prelude::*;

use crate::fields;

/// The values of one type that documents have under one name.
#[pyclass(module = "kbfile", frozen)]
#[derive(Debug, Clone)]
pub(crate) struct FieldInfo {
    info: kb_engine::FieldInfo,
}

impl From<kb_engine::FieldInfo> for FieldInfo {
    fn from(info: kb_engine::FieldInfo) -> FieldInfo {
        FieldInfo { info }
    }
}

#[pymethods]
impl FieldInfo {
    /// Name of the field, in lower case.
    #[getter]
    fn name(&self) -> &str {
        &self.info.name
    }

    /// Type of the values: "text", "integer", "float", "boolean" or "time".
    #[getter(r#type)]
    fn kind(&self) -> &'static str {
        self.info.kind
    }

    /// Documents with such a value.
    #[getter]
    fn documents(&self) -> u64 {
        self.info.documents
    }

    /// Number of different values; at most 100,000 are counted.
    #[getter]
    fn distinct(&self) -> usize {
        self.info.values.len()
    }

    /// Whether there are more than 100,000 different values.
    #[getter]
    fn has_more_values(&self) -> bool {
        self.info.has_more_values
    }

    /// The least value of numbers and times; None for other types.
    #[getter]
    fn min<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.info.least.as_ref();
        value.map(|value| fields::object(py, value)).transpose()
    }

    /// The greatest value of numbers and times; None for other types.
    #[getter]
    fn max<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.info.greatest.as_ref();
        value.map(|value| fields::object(py, value)).transpose()
    }

    /// Returns the values with the number of documents that have each, most frequent first; at most `limit`. Texts are in
    /// lower case.
    #[pyo3(signature = (limit = None))]
    fn values<'py>(
        &self,
        py: Python<'py>,
        limit: Option<usize>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, u64)>> {
        let values = self.info.values.iter().take(limit.unwrap_or(usize::MAX));
        let values = values.map(|(value, documents)| {
            let value = kb_engine::FieldValue::of_text(value);
            Ok((fields::object(py, &value)?, *documents))
        });
        values.collect()
    }

    fn __repr__(&self) -> String {
        let kb_engine::FieldInfo {
            name,
            kind,
            documents,
            ..
        } = &self.info;
        let distinct = self.info.values.len();
        format!("FieldInfo({name:?}, {kind}, documents={documents}, distinct={distinct})")
    }
}
