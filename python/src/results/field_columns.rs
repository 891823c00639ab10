//! The fields of hits and documents as columns of tables: one type for each column, if its values have one.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray, TimestampMillisecondArray};
use kb_engine::FieldValue;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::fields;

/// The first millisecond of the year 1. Python has no year 0.
const YEAR_1_MS: i64 = -62_135_596_800_000;

/// A column of the values that rows have under one name.
pub(crate) struct FieldColumn<'h> {
    /// The name in lower case; `meta.` stands before that of another column.
    pub(crate) name: String,
    /// The values of each row.
    rows: Vec<&'h [FieldValue]>,
}

/// The fields of each row.
type Fields<'h> = &'h [(String, Vec<FieldValue>)];

/// The fields of rows, by name. `others` are the columns that a table has beside them.
pub(crate) fn field_columns<'h>(of_rows: &[Fields<'h>], others: &[&str]) -> Vec<FieldColumn<'h>> {
    let mut columns: BTreeMap<String, Vec<&'h [FieldValue]>> = BTreeMap::new();
    for (row, fields) in of_rows.iter().enumerate() {
        for (name, values) in *fields {
            let rows = columns.entry(name.trim().to_lowercase()).or_default();
            rows.resize(of_rows.len(), &[]);
            // Of names that differ in letter case, the first one counts.
            if let Some(cell) = rows.get_mut(row).filter(|cell| cell.is_empty()) {
                *cell = values;
            }
        }
    }
    let columns = columns.into_iter().filter(|(name, _)| !name.is_empty());
    let columns = columns.map(|(name, rows)| {
        let is_taken = others.contains(&&*name) || name.starts_with("meta.");
        let name = if is_taken {
            format!("meta.{name}")
        } else {
            name
        };
        FieldColumn { name, rows }
    });
    columns.collect()
}

/// What all values of a column are.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    Float,
    Boolean,
    Time,
    /// Texts, and values of several types.
    Text,
}

impl FieldColumn<'_> {
    fn kind(&self) -> Kind {
        let mut kind = None;
        for value in self.rows.iter().copied().flatten() {
            let of = match value {
                FieldValue::Integer(_) => Kind::Integer,
                FieldValue::Float(_) => Kind::Float,
                FieldValue::Boolean(_) => Kind::Boolean,
                FieldValue::Time(_) => Kind::Time,
                _ => Kind::Text,
            };
            kind = match (kind, of) {
                (None, of) => Some(of),
                (Some(Kind::Integer), Kind::Float) | (Some(Kind::Float), Kind::Integer) => {
                    Some(Kind::Float)
                }
                (Some(kind), of) if kind == of => Some(kind),
                _ => Some(Kind::Text),
            };
        }
        kind.unwrap_or(Kind::Text)
    }

    fn has_lists(&self) -> bool {
        self.rows.iter().any(|values| values.len() > 1)
    }

    /// The name of the data type in pandas; "object" for lists and for values of several types.
    pub(crate) fn dtype(&self) -> &'static str {
        let mut values = self.rows.iter().copied().flatten();
        match self.kind() {
            _ if self.has_lists() => "object",
            Kind::Integer => "Int64",
            Kind::Float => "Float64",
            Kind::Boolean => "boolean",
            Kind::Time if values.all(|value| time(value) >= Some(YEAR_1_MS)) => "time",
            Kind::Text if values.all(|value| matches!(value, FieldValue::Text(_))) => "string",
            Kind::Text | Kind::Time => "object",
        }
    }

    /// A Python object for each row; None if it has no such field.
    pub(crate) fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let objects = self.rows.iter().map(|values| match values {
            [] => Ok(py.None().into_bound(py)),
            values => fields::objects(py, values),
        });
        PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
    }

    /// The column as an array of Arrow. Values of several types are texts.
    pub(crate) fn array(&self) -> ArrayRef {
        let kind = self.kind();
        if self.has_lists() {
            return self.lists(kind);
        }
        let rows = self.rows.iter().map(|values| values.first());
        match kind {
            Kind::Integer => Arc::new(rows.map(|it| it.and_then(integer)).collect::<Int64Array>()),
            Kind::Float => Arc::new(rows.map(|it| it.and_then(float)).collect::<Float64Array>()),
            Kind::Boolean => {
                let rows = rows.map(|it| it.and_then(boolean));
                Arc::new(rows.collect::<arrow_array::BooleanArray>())
            }
            Kind::Time => {
                let times = rows.map(|it| it.and_then(time));
                let times = times.collect::<TimestampMillisecondArray>();
                Arc::new(times.with_timezone("UTC"))
            }
            Kind::Text => Arc::new(rows.map(|it| it.map(text)).collect::<StringArray>()),
        }
    }

    fn lists(&self, kind: Kind) -> ArrayRef {
        macro_rules! of {
            ($builder:expr, $value:expr) => {{
                let mut lists = ListBuilder::new($builder);
                for values in &self.rows {
                    for value in *values {
                        lists.values().append_option($value(value));
                    }
                    lists.append(!values.is_empty());
                }
                Arc::new(lists.finish())
            }};
        }
        match kind {
            Kind::Integer => of!(Int64Builder::new(), integer),
            Kind::Float => of!(Float64Builder::new(), float),
            Kind::Boolean => of!(BooleanBuilder::new(), boolean),
            Kind::Time => of!(
                TimestampMillisecondBuilder::new().with_timezone("UTC"),
                time
            ),
            Kind::Text => of!(StringBuilder::new(), |value| Some(text(value))),
        }
    }
}

fn integer(value: &FieldValue) -> Option<i64> {
    match value {
        FieldValue::Integer(number) => Some(*number),
        _ => None,
    }
}

fn float(value: &FieldValue) -> Option<f64> {
    match value {
        FieldValue::Float(number) => Some(*number),
        FieldValue::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

fn boolean(value: &FieldValue) -> Option<bool> {
    match value {
        FieldValue::Boolean(is) => Some(*is),
        _ => None,
    }
}

fn time(value: &FieldValue) -> Option<i64> {
    match value {
        FieldValue::Time(ms) => Some(*ms),
        _ => None,
    }
}

fn text(value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) => text.clone(),
        other => other.to_string(),
    }
}
