//! Errors of the engine as exceptions, with what to do about them.

use kb_engine::Error;
use kb_json::{Front, advice};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// `kbfile._errors._make`.
static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception of an error. The table of classes is in `kbfile/_errors.py`.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let (errno, filename) = match error {
        Error::PathNotFound { path } => (Some(libc_enoent()), Some(path.display().to_string())),
        Error::Io { path, source, .. } => (source.raw_os_error(), Some(path.display().to_string())),
        _ => (
            error.system_error().and_then(std::io::Error::raw_os_error),
            None,
        ),
    };
    make(
        py,
        error.code(),
        &error.to_string(),
        advice(error, Front::Python).as_deref(),
        errno,
        filename,
    )
}

/// An exception of this module alone.
pub(crate) fn of_code(py: Python<'_>, code: &str, message: &str, hint: Option<&str>) -> PyErr {
    make(py, code, message, hint, None, None)
}

/// An argument that the engine would not see.
pub(crate) fn invalid(py: Python<'_>, message: &str) -> PyErr {
    of_code(py, "INVALID_ARGUMENT", message, None)
}

/// The number of "no such file" on every system that this runs on.
fn libc_enoent() -> i32 {
    2
}

fn make(
    py: Python<'_>,
    code: &str,
    message: &str,
    hint: Option<&str>,
    errno: Option<i32>,
    filename: Option<String>,
) -> PyErr {
    let make = MAKE.get_or_try_init(py, || {
        let module = py.import("kbfile._errors")?;
        module.getattr("_make").map(Bound::unbind)
    });
    let made = make.and_then(|make| make.bind(py).call1((code, message, hint, errno, filename)));
    match made {
        Ok(exception)
            if exception
                .get_type()
                .is_subclass_of::<PyBase>()
                .unwrap_or(false) =>
        {
            PyErr::from_value(exception)
        }
        Ok(_) => PyRuntimeError::new_err(message.to_owned()),
        Err(error) => error,
    }
}

/// The base of all exceptions.
type PyBase = pyo3::exceptions::PyBaseException;

/// The class of an exception, for tests of arguments.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type();
    let name: PyResult<String> = Bound::<PyType>::qualname(&name).map(|name| name.to_string());
    name.unwrap_or_else(|_| "object".to_owned())
}
