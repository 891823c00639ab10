//! Documents as a table: a column for each fact and each field.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema};
use kb_engine::{DocumentInfo, FieldValue};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrow::failed;
use crate::results::field_columns::{FieldColumn, field_columns};
use crate::time::datetime;

/// The columns that all tables of documents have, in their order.
const COLUMNS: [&str; 12] = [
    "path",
    "title",
    "type",
    "language",
    "class",
    "tags",
    "line_count",
    "size_bytes",
    "text_bytes",
    "modified",
    "added",
    "handle",
];

/// The columns of [`COLUMNS`] that may have no value.
const OPTIONAL: [&str; 2] = ["modified", "added"];

pub(super) struct DocumentTable {
    documents: Vec<DocumentInfo>,
    /// The fields of each document.
    fields: Vec<Vec<(String, Vec<FieldValue>)>>,
}

impl DocumentTable {
    pub(super) fn new(documents: Vec<DocumentInfo>) -> DocumentTable {
        let fields = documents.iter().map(DocumentInfo::fields).collect();
        DocumentTable { documents, fields }
    }

    fn field_columns(&self) -> Vec<FieldColumn<'_>> {
        let rows: Vec<_> = self.fields.iter().map(Vec::as_slice).collect();
        field_columns(&rows, &COLUMNS)
    }

    fn texts<'d>(&'d self, value: impl Fn(&'d DocumentInfo) -> &'d str) -> Vec<&'d str> {
        self.documents.iter().map(value).collect()
    }

    fn tags(&self) -> Vec<String> {
        let documents = self.documents.iter();
        documents.map(|it| it.tags.join(", ")).collect()
    }

    /// A list for each column.
    pub(super) fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let texts = |name: &str, values: Vec<&str>| columns.set_item(name, values);
        texts("path", self.texts(|it| &it.path))?;
        texts("title", self.texts(|it| &it.title))?;
        texts("type", self.texts(|it| &it.file_type))?;
        texts("language", self.texts(|it| &it.language))?;
        texts("class", self.texts(|it| it.class.name()))?;
        columns.set_item("tags", self.tags())?;
        let documents = &self.documents;
        let lines: Vec<u32> = documents.iter().map(|it| it.lines).collect();
        columns.set_item("line_count", lines)?;
        let sizes: Vec<u64> = documents.iter().map(|it| it.size_bytes).collect();
        columns.set_item("size_bytes", sizes)?;
        let sizes: Vec<u64> = documents.iter().map(|it| it.text_bytes).collect();
        columns.set_item("text_bytes", sizes)?;
        let times = |value: fn(&DocumentInfo) -> i64| {
            let times = documents.iter().map(|it| datetime(py, value(it)));
            PyList::new(py, times.collect::<PyResult<Vec<_>>>()?)
        };
        columns.set_item("modified", times(|it| it.modified_ms)?)?;
        columns.set_item("added", times(|it| it.added_ms)?)?;
        texts("handle", self.texts(|it| &it.handle))?;
        for column in self.field_columns() {
            columns.set_item(&column.name, column.objects(py)?)?;
        }
        Ok(columns)
    }

    /// The types of the columns of fields, as pandas names them.
    pub(super) fn types_of_fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for column in self.field_columns() {
            types.set_item(&column.name, column.dtype())?;
        }
        Ok(types)
    }

    pub(super) fn batch(&self) -> PyResult<RecordBatch> {
        let documents = &self.documents;
        let texts =
            |values: Vec<&str>| -> ArrayRef { Arc::new(StringArray::from_iter_values(values)) };
        let sizes = |value: fn(&DocumentInfo) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(documents.iter().map(value)))
        };
        let times = |value: fn(&DocumentInfo) -> i64| -> ArrayRef {
            let times = documents.iter().map(value);
            let times = times.map(|time| (time != 0).then_some(time));
            Arc::new(
                times
                    .collect::<TimestampMillisecondArray>()
                    .with_timezone("UTC"),
            )
        };
        let mut tags = StringBuilder::new();
        self.tags().iter().for_each(|it| tags.append_value(it));
        let lines = documents.iter().map(|it| it.lines);
        let facts: [ArrayRef; COLUMNS.len()] = [
            texts(self.texts(|it| &it.path)),
            texts(self.texts(|it| &it.title)),
            texts(self.texts(|it| &it.file_type)),
            texts(self.texts(|it| &it.language)),
            texts(self.texts(|it| it.class.name())),
            Arc::new(tags.finish()),
            Arc::new(UInt32Array::from_iter_values(lines)),
            sizes(|it| it.size_bytes),
            sizes(|it| it.text_bytes),
            times(|it| it.modified_ms),
            times(|it| it.added_ms),
            texts(self.texts(|it| &it.handle)),
        ];
        let field = |name: &str, column: &ArrayRef, is_optional| {
            Field::new(name, column.data_type().clone(), is_optional)
        };
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, column) in COLUMNS.iter().zip(facts) {
            fields.push(field(name, &column, OPTIONAL.contains(name)));
            arrays.push(column);
        }
        for stated in self.field_columns() {
            let column = stated.array();
            fields.push(field(&stated.name, &column, true));
            arrays.push(column);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| failed(&error))
    }
}
