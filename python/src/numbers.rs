//! Arrays and lists of Python as numbers.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{invalid, type_name};

/// One vector: an array `[dim]` or `[1, dim]`, or a list of numbers.
pub(crate) fn one_vector(vector: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let py = vector.py();
    let wrong = || {
        let message = format!(
            "vector takes an array or a list of numbers, not {}",
            type_name(vector)
        );
        PyTypeError::new_err(message)
    };
    if vector.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let Some(buffer) = numbers(vector)? else {
        // A list, where numpy is not installed.
        return vector.extract().map_err(|_| wrong());
    };
    match buffer.shape() {
        [_] | [1, _] => buffer.to_vec(py),
        shape => {
            let message = format!("vector: expected one vector, not an array of shape {shape:?}");
            Err(invalid(py, &message))
        }
    }
}

/// Memory with the numbers, in one piece: that of the object, or a copy by numpy. None where it takes numpy, which is not
/// installed.
pub(crate) fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Option<PyBuffer<f32>>> {
    if let Some(buffer) = in_place(object) {
        return Ok(Some(buffer));
    }
    let module = object.py().import("kbfile._tables")?;
    let array = module.call_method1("as_float32", (object,))?;
    if array.is_none() {
        return Ok(None);
    }
    PyBuffer::get(&array).map(Some)
}

/// Memory of float32 that can be read as it is.
pub(crate) fn in_place(object: &Bound<'_, PyAny>) -> Option<PyBuffer<f32>> {
    let buffer = PyBuffer::get(object).ok()?;
    buffer.is_c_contiguous().then_some(buffer)
}
