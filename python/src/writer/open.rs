//! `kbfile.open` with a mode that writes.

use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kb_engine::{Error, Extraction, KbWriter};
use pyo3::prelude::*;

use crate::command::worker;
use crate::embedding::resolver;
use crate::error::{invalid, of_code, raised};
use crate::handle::Handle;
use crate::kb::{Kb, absolute};
use crate::writer::Writer;

/// How a mode opens a file.
type Open = fn(&PathBuf) -> Result<KbWriter, Error>;

/// Opens a file for writing; `kbfile.open` calls it.
#[pyfunction]
pub(crate) fn open_writer(
    path: &Bound<'_, PyAny>,
    mode: &str,
    lock_timeout: f64,
    extraction: &str,
    embedder: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<Writer>> {
    let py = path.py();
    let path = absolute(path)?;
    let Ok(lock_timeout) = Duration::try_from_secs_f64(lock_timeout) else {
        let message = "lock_timeout: seconds from 0 are allowed";
        return Err(invalid(py, message));
    };
    let extraction = match extraction {
        "worker" => worker(py).map_or(Extraction::Unset, Extraction::Worker),
        "in-process" => Extraction::InProcess,
        other => {
            let message = format!("extraction: {other:?} given; allowed are worker, in-process");
            return Err(invalid(py, &message));
        }
    };
    let (mode, open): (_, Open) = match mode {
        "w" => ("w", |path| KbWriter::create(path)),
        "a" => ("a", |path| KbWriter::open_or_create(path)),
        "x" => ("x", |path| KbWriter::open_or_create(path)),
        other => {
            let message = format!("mode: {other:?} given; allowed are r, w, a, x");
            return Err(invalid(py, &message));
        }
    };
    if mode == "x" && path.symlink_metadata().is_ok() {
        let message = format!("{} exists", path.display());
        let hint = "use mode \"a\" to change it, or \"w\" to replace it";
        return Err(of_code(py, "OUTPUT_EXISTS", &message, Some(hint)));
    }
    let writer = py.detach(|| open(&path).map(|writer| writer.extraction(extraction)));
    let writer = writer.map_err(|error| match error {
        Error::NotAKb { .. } => {
            let hint = "remove it first, or choose another path";
            of_code(py, error.code(), &error.to_string(), Some(hint))
        }
        error => raised(py, &error),
    })?;
    let models = embedder.map(resolver).transpose()?;
    let base = Kb {
        handle: Arc::new(Handle::open_later(path, models.clone())),
        mode,
    };
    let writer = Writer {
        models,
        embedder: embedder.map(|embedder| embedder.clone().unbind()),
        writer: Mutex::new(Some(writer)),
        process: process::id(),
        lock_timeout,
    };
    Py::new(py, PyClassInitializer::from(base).add_subclass(writer))
}
