//! Lists of results as sequences of Python.

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};

use crate::error::type_name;

/// An item of a sequence, or a list of some, as Python indexes them.
pub(crate) fn indexed<'py, T>(
    items: &[T],
    index: &Bound<'py, PyAny>,
    object: impl Fn(&T) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = index.py();
    if let Ok(slice) = index.cast::<PySlice>() {
        let length = isize::try_from(items.len()).unwrap_or(isize::MAX);
        let range = slice.indices(length)?;
        let list = PyList::empty(py);
        let mut at = range.start;
        for _ in 0..range.slicelength {
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            list.append(item.map(&object).transpose()?)?;
            at = at.saturating_add(range.step);
        }
        return Ok(list.into_any());
    }
    // What has __index__ is an index, as for a list; one too large for any list is out of range.
    let number = index.call_method0("__index__").map_err(|_| {
        let name = type_name(index);
        PyTypeError::new_err(format!("indices must be integers or slices, not {name}"))
    })?;
    let number: Option<isize> = number.extract().ok();
    let length = items.len();
    let position = number.and_then(|number| {
        if number < 0 {
            length.checked_sub(number.unsigned_abs())
        } else {
            usize::try_from(number).ok()
        }
    });
    match position.and_then(|position| items.get(position)) {
        Some(item) => object(item),
        None => Err(PyIndexError::new_err("index out of range")),
    }
}

/// A list of objects as a tuple iterator, for `__iter__`.
pub(crate) fn iterator<'py>(
    py: Python<'py>,
    objects: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyTuple::new(py, objects)?.try_iter()?.into_any())
}
