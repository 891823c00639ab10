//! Fields of documents, from objects of Python and as such objects.

use kb_engine::FieldValue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString};

use crate::error::{invalid, type_name};
use crate::time::instant;

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

/// A value as an object of Python; a time of the year 0, which Python lacks, as a text.
pub(crate) fn object<'py>(py: Python<'py>, value: &FieldValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        FieldValue::Text(text) => text.into_pyobject(py)?.into_any(),
        FieldValue::Integer(number) => number.into_pyobject(py)?.into_any(),
        FieldValue::Float(number) => number.into_pyobject(py)?.into_any(),
        FieldValue::Boolean(is) => is.into_pyobject(py)?.to_owned().into_any(),
        FieldValue::Time(ms) => match instant(py, *ms)? {
            Some(time) => time.into_bound(py),
            None => value.to_string().into_pyobject(py)?.into_any(),
        },
        other => other.to_string().into_pyobject(py)?.into_any(),
    })
}

/// One value as itself, several as a list.
pub(crate) fn objects<'py>(py: Python<'py>, values: &[FieldValue]) -> PyResult<Bound<'py, PyAny>> {
    if let [value] = values {
        return object(py, value);
    }
    let objects = values.iter().map(|value| object(py, value));
    let objects: Vec<_> = objects.collect::<PyResult<_>>()?;
    Ok(PyList::new(py, objects)?.into_any())
}

/// Fields as a dict. Of names that come twice, the first one counts.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    fields: &[(String, Vec<FieldValue>)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in fields {
        if !dict.contains(name)? {
            dict.set_item(name, objects(py, values)?)?;
        }
    }
    Ok(dict)
}
