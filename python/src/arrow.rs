//! Tables for other libraries: the Arrow C stream interface, as PyCapsule.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, StringBuilder, UInt32Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Int8Array, RecordBatch, RecordBatchIterator,
    StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use kb_engine::{MappedBytes, VectorBlock};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::results::field_columns::field_columns;
use crate::results::hit::Hit;

/// What the capsule of a stream is named.
const STREAM: &CStr = c"arrow_array_stream";

pub(crate) fn failed(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A capsule with the stream of these batches. Whoever takes it releases them.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyAny>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    Ok(PyCapsule::new_with_value(py, stream, STREAM)?.into_any())
}

/// The names of the columns that all tables of hits have, in their order.
pub(crate) const HIT_COLUMNS: [&str; 21] = [
    "document",
    "score",
    "title",
    "section",
    "text",
    "first_line",
    "last_line",
    "page",
    "sheet",
    "slide",
    "symbol",
    "keyword_score",
    "vector_score",
    "type",
    "language",
    "class",
    "modified",
    "size_bytes",
    "start_byte",
    "end_byte",
    "handle",
];

/// The columns of [`crate::results::hits::Hits::columns`].
pub(crate) fn hits_batch(hits: &[Arc<Hit>]) -> PyResult<RecordBatch> {
    fn texts<'h>(hits: &'h [Arc<Hit>], value: impl Fn(&'h Hit) -> &'h str) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            hits.iter().map(|hit| value(hit)),
        ))
    }
    fn optional_texts<'h>(
        hits: &'h [Arc<Hit>],
        value: impl Fn(&'h Hit) -> Option<&'h str>,
    ) -> ArrayRef {
        let mut builder = StringBuilder::new();
        hits.iter()
            .for_each(|hit| builder.append_option(value(hit)));
        Arc::new(builder.finish())
    }
    let numbers = |value: fn(&Hit) -> Option<u32>| -> ArrayRef {
        let mut builder = UInt32Builder::new();
        hits.iter()
            .for_each(|hit| builder.append_option(value(hit)));
        Arc::new(builder.finish())
    };
    let scores = |value: fn(&Hit) -> Option<f32>| -> ArrayRef {
        let mut builder = Float32Builder::new();
        hits.iter()
            .for_each(|hit| builder.append_option(value(hit)));
        Arc::new(builder.finish())
    };
    let sections = hits.iter().map(|hit| hit.section.join(" > "));
    let modified = hits
        .iter()
        .map(|hit| (hit.modified_ms != 0).then_some(hit.modified_ms));
    let modified = modified.collect::<TimestampMillisecondArray>();
    let columns: [ArrayRef; HIT_COLUMNS.len()] = [
        texts(hits, |hit| &hit.document),
        scores(|hit| Some(hit.score)),
        texts(hits, |hit| &hit.title),
        Arc::new(StringArray::from_iter_values(sections)),
        texts(hits, |hit| &hit.text),
        numbers(|hit| Some(hit.lines.0)),
        numbers(|hit| Some(hit.lines.1)),
        numbers(|hit| hit.page),
        optional_texts(hits, |hit| hit.sheet.as_deref()),
        numbers(|hit| hit.slide),
        optional_texts(hits, |hit| hit.symbol.as_ref().map(|it| &*it.name)),
        scores(|hit| hit.keyword_score),
        scores(|hit| hit.vector_score),
        texts(hits, |hit| &hit.file_type),
        texts(hits, |hit| &hit.language),
        texts(hits, |hit| &hit.class),
        Arc::new(modified.with_timezone("UTC")),
        Arc::new(UInt64Array::from_iter_values(
            hits.iter().map(|hit| hit.size_bytes),
        )),
        numbers(|hit| Some(hit.span.0)),
        numbers(|hit| Some(hit.span.1)),
        texts(hits, |hit| &hit.handle),
    ];
    let names = HIT_COLUMNS.map(str::to_owned).into_iter();
    let mut columns: Vec<(String, ArrayRef)> = names.zip(columns).collect();
    let rows: Vec<_> = hits.iter().map(|hit| hit.fields.as_slice()).collect();
    let of_documents = field_columns(&rows, &HIT_COLUMNS);
    columns.extend(of_documents.iter().map(|it| (it.name.clone(), it.array())));
    let fields: Vec<Field> = columns
        .iter()
        .enumerate()
        .map(|(position, (name, column))| {
            let is_optional = matches!(&**name, "page" | "sheet" | "slide" | "symbol" | "modified")
                || name.ends_with("_score")
                || position >= HIT_COLUMNS.len();
            Field::new(name, column.data_type().clone(), is_optional)
        })
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| failed(&error))
}

/// Bytes of a file as the owner of a buffer.
struct Kept(MappedBytes);

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// The schema of a stream of vectors: `document` and `chunk_index` name the chunk, `is_deleted` says that it is gone.
pub(crate) fn vectors_schema(dim: i32, is_quantised: bool) -> SchemaRef {
    let component = if is_quantised {
        DataType::Int8
    } else {
        DataType::Float32
    };
    let item = Arc::new(Field::new("item", component, false));
    Arc::new(Schema::new(vec![
        Field::new("document", DataType::Utf8, false),
        Field::new("chunk_index", DataType::UInt32, false),
        Field::new("is_deleted", DataType::Boolean, false),
        Field::new("scale", DataType::Float32, false),
        Field::new("vector", DataType::FixedSizeList(item, dim), false),
    ]))
}

/// The rows of one block. Signed bytes without padding are not copied; others become numbers.
pub(crate) fn vectors_batch(
    schema: &SchemaRef,
    block: &VectorBlock,
    rows: &[kb_engine::VectorRow],
    numbers: Option<Vec<f32>>,
    dim: i32,
) -> PyResult<RecordBatch> {
    let DataType::FixedSizeList(item, _) = schema.field(4).data_type() else {
        return Err(PyRuntimeError::new_err("the schema has no vectors"));
    };
    let values: ArrayRef = match numbers {
        Some(numbers) => Arc::new(Float32Array::from(numbers)),
        None => {
            let owned = bytes::Bytes::from_owner(Kept(block.bytes.clone()));
            let length = owned.len();
            let buffer = Buffer::from(owned);
            Arc::new(Int8Array::new(ScalarBuffer::new(buffer, 0, length), None))
        }
    };
    let vectors = FixedSizeListArray::try_new(Arc::clone(item), dim, values, None);
    let documents = rows.iter().map(|row| &row.document);
    let indexes = rows.iter().map(|row| row.chunk_index);
    let deleted: Vec<bool> = rows.iter().map(|row| row.is_deleted).collect();
    let scales = std::iter::repeat_n(block.scale, rows.len());
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(documents)),
        Arc::new(UInt32Array::from_iter_values(indexes)),
        Arc::new(arrow_array::BooleanArray::from(deleted)),
        Arc::new(Float32Array::from_iter_values(scales)),
        Arc::new(vectors.map_err(|error| failed(&error))?),
    ];
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(|error| failed(&error))
}
