//! Results as tables of other libraries, which `kbfile._tables` makes.

use pyo3::prelude::*;

/// The table that the function `to` of `kbfile._tables` makes of what its function `columns` gives.
pub(crate) fn table<'py, T>(
    object: &Bound<'py, T>,
    columns: &str,
    to: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let tables = object.py().import("kbfile._tables")?;
    let columns = tables.call_method1(columns, (object.as_any(),))?;
    tables.call_method1(to, (columns,))
}

/// What the function `html` of `kbfile._tables` makes of an object.
pub(crate) fn shown<'py, T>(object: &Bound<'py, T>, html: &str) -> PyResult<Bound<'py, PyAny>> {
    let tables = object.py().import("kbfile._tables")?;
    tables.call_method1(html, (object.as_any(),))
}
