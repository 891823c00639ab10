//! What a merge is given, and where it comes from.

use std::path::PathBuf;

use kb_engine::{MergeOptions, MergeSource, OnConflict};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{invalid, type_name};
use crate::kb::absolute;
use crate::options::words;

/// The files that documents are taken of; with `folders` each below a folder of its name.
pub(super) fn sources(given: &Bound<'_, PyAny>, folders: bool) -> PyResult<Vec<MergeSource>> {
    let py = given.py();
    let is_path = given.is_instance_of::<PyString>() || given.hasattr("__fspath__")?;
    let paths: Vec<PathBuf> = if is_path {
        vec![absolute(given)?]
    } else {
        let each = given.try_iter().map_err(|_| {
            let message = format!(
                "sources takes a path or an iterable of paths, not {}",
                type_name(given)
            );
            PyTypeError::new_err(message)
        })?;
        each.map(|path| absolute(&path?)).collect::<PyResult<_>>()?
    };
    let source = |path: PathBuf| {
        if !folders {
            return Ok(MergeSource::new(path));
        }
        match path.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) => Ok(MergeSource::new(&path).folder(stem)),
            None => {
                let message = format!(
                    "folders: {} has no name that a path can have",
                    path.display()
                );
                Err(invalid(py, &message))
            }
        }
    };
    paths.into_iter().map(source).collect()
}

/// What is taken, and what becomes of two documents of one path.
pub(super) fn options(
    py: Python<'_>,
    on_conflict: &str,
    only: Option<&Bound<'_, PyAny>>,
    tags: Option<&Bound<'_, PyAny>>,
) -> PyResult<MergeOptions> {
    let Some(decided) = OnConflict::of_name(on_conflict) else {
        let names = OnConflict::ALL.map(OnConflict::name).join(", ");
        let message = format!("on_conflict: {on_conflict:?} given; allowed are {names}");
        return Err(invalid(py, &message));
    };
    let list = |name, value: Option<&Bound<'_, PyAny>>| {
        value.map_or(Ok(Vec::new()), |value| words(name, value))
    };
    Ok(MergeOptions::new()
        .on_conflict(decided)
        .only(list("only", only)?)
        .tags(list("tags", tags)?))
}
