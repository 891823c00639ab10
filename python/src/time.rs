//! Times: milliseconds since 1970 in the engine, `datetime` in Python.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// `datetime.datetime.fromtimestamp` and `datetime.timezone.utc`.
static DATETIME: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

/// `datetime.timedelta`.
static TIMEDELTA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A time in UTC; `None` when it is not known, which is 0, or no year that Python has.
pub(crate) fn datetime(py: Python<'_>, ms: i64) -> PyResult<Option<Py<PyAny>>> {
    if ms == 0 {
        return Ok(None);
    }
    instant(py, ms)
}

/// A time in UTC; `None` for a year that Python does not have.
pub(crate) fn instant(py: Python<'_>, ms: i64) -> PyResult<Option<Py<PyAny>>> {
    let (from, utc) = DATETIME.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let from = module.getattr("datetime")?.getattr("fromtimestamp")?;
        let utc = module.getattr("timezone")?.getattr("utc")?;
        PyResult::Ok((from.unbind(), utc.unbind()))
    })?;
    // Milliseconds of any year that Python has are exact in f64.
    Ok(from.call1(py, (ms as f64 / 1000.0, utc)).ok())
}

/// A length of time.
pub(crate) fn timedelta(py: Python<'_>, time: Duration) -> PyResult<Py<PyAny>> {
    let timedelta = TIMEDELTA.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        module.getattr("timedelta").map(Bound::unbind)
    })?;
    timedelta.call1(py, (0, time.as_secs_f64()))
}

/// Milliseconds of what the argument `since` may be.
pub(crate) fn since_ms(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let module = value.py().import("kbfile._since")?;
    module.getattr("since_ms")?.call1((value,))?.extract()
}
