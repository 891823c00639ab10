//! Fields of documents, from objects of Python.

use kb_engine::FieldValue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString};

use crate::error::{invalid, type_name};

/// The fields of a dict, or another mapping.
pub(crate) fn fields(metadata: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<FieldValue>)>> {
    if metadata.is_none() {
        return Ok(Vec::new());
    }
    let wrong = |_| {
        let message = format!("metadata takes a dict, not {}", type_name(metadata));
        PyTypeError::new_err(message)
    };
    let items = metadata.call_method0("items").map_err(wrong)?;
    let mut fields = Vec::new();
    for item in items.try_iter()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        if !name.is_instance_of::<PyString>() {
            let message = format!("metadata: names are str, not {}", type_name(&name));
            return Err(PyTypeError::new_err(message));
        }
        let name: String = name.extract()?;
        let values = if value.is_none() {
            Vec::new()
        } else {
            match one(&name, &value)? {
                Some(value) => vec![value],
                None => several(&name, &value)?,
            }
        };
        fields.push((name, values));
    }
    Ok(fields)
}

fn several(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<FieldValue>> {
    let is_list = value.try_iter().is_ok() && !value.hasattr("items")?;
    if !is_list {
        return Err(wrong(name, value));
    }
    let mut values = Vec::new();
    for item in value.try_iter()? {
        let item = item?;
        values.push(one(name, &item)?.ok_or_else(|| wrong(name, &item))?);
    }
    Ok(values)
}

/// A single value; `None` for another object.
fn one(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<FieldValue>> {
    if value.is_instance_of::<PyString>() {
        return Ok(Some(FieldValue::Text(value.extract()?)));
    }
    // Before integers, of which Python has it as one.
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(FieldValue::Boolean(value.extract()?)));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Some(FieldValue::Float(value.extract()?)));
    }
    if value.hasattr("isoformat")? {
        let text: String = value.call_method0("isoformat")?.extract()?;
        return match FieldValue::of_json_text(&text) {
            time @ FieldValue::Time(_) => Ok(Some(time)),
            _ => Err(wrong(name, value)),
        };
    }
    if value.hasattr("__index__")? {
        return value
            .extract()
            .map(|number| Some(FieldValue::Integer(number)))
            .map_err(|_| {
                let message = format!("metadata: {name}: a number that 64 bits do not hold");
                invalid(value.py(), &message)
            });
    }
    Ok(None)
}

fn wrong(name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "metadata: {name} takes str, int, float, bool, date, datetime, or a list of them, not {}",
        type_name(value)
    ))
}
