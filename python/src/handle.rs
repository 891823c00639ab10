//! The engine handle that several objects share. It is reopened in a child process.

use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use kb_engine::{EmbedderResolver, Kb};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{of_code, raised};

/// Where the bytes of a file are.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A path, absolute.
    Path(PathBuf),
    /// Memory.
    Bytes(Arc<[u8]>),
}

/// A file that objects of one Python handle share.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) source: Source,
    /// What embeds queries for columns that it made.
    models: Option<Arc<dyn EmbedderResolver>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The process that opened it, and what it opened. Locks inside of a copy that fork makes may be held for ever by
    /// threads that it did not copy, so a child opens the file again.
    opened: Option<(u32, Arc<Kb>)>,
    is_closed: bool,
}

impl Handle {
    /// Opens it now.
    pub(crate) fn open(
        py: Python<'_>,
        source: Source,
        models: Option<Arc<dyn EmbedderResolver>>,
    ) -> PyResult<Handle> {
        let opened = py.detach(|| open(&source, models.as_ref()));
        let opened = opened.map_err(|error| raised(py, &error))?;
        let state = State {
            opened: Some((process::id(), Arc::new(opened))),
            is_closed: false,
        };
        Ok(Handle {
            source,
            models,
            state: Mutex::new(state),
        })
    }

    /// Opens it when it is first read: of a writer, whose file may not be there yet.
    pub(crate) fn open_later(path: PathBuf, models: Option<Arc<dyn EmbedderResolver>>) -> Handle {
        Handle {
            source: Source::Path(path),
            models,
            state: Mutex::default(),
        }
    }

    /// The open file. The lock is never held while the GIL is waited for.
    pub(crate) fn kb(&self, py: Python<'_>) -> PyResult<Arc<Kb>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return Err(closed(py));
        }
        let process = process::id();
        if let Some((opener, kb)) = &state.opened
            && *opener == process
        {
            return Ok(Arc::clone(kb));
        }
        let opened = open(&self.source, self.models.as_ref());
        let kb = Arc::new(opened.map_err(|error| raised(py, &error))?);
        state.opened = Some((process, Arc::clone(&kb)));
        Ok(kb)
    }

    /// What `kbfile.open` opens it by again: its path, or its bytes.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.source {
            Source::Path(path) => Ok(path.into_pyobject(py)?.into_any()),
            Source::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }

    pub(crate) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State {
            opened: None,
            is_closed: true,
        };
    }

    pub(crate) fn is_closed(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed
    }
}

fn open(
    source: &Source,
    models: Option<&Arc<dyn EmbedderResolver>>,
) -> Result<Kb, kb_engine::Error> {
    let kb = match source {
        Source::Path(path) => Kb::open(path)?,
        Source::Bytes(bytes) => Kb::from_bytes(Arc::clone(bytes))?,
    };
    Ok(match models {
        Some(models) => kb.with_models(Arc::clone(models) as Arc<dyn EmbedderResolver>),
        None => kb,
    })
}

/// The exception of a handle that is closed.
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    of_code(
        py,
        "CLOSED",
        "this .kb is closed",
        Some("kbfile.open opens it again"),
    )
}
