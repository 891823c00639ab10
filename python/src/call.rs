//! A call of the engine: without the GIL, with signals and progress let in.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kb_engine::{Error, Hook, Stage};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::raised;

/// How often signals are asked for while a call runs: Ctrl-C is felt at once, and threads that hold the GIL are
/// hardly disturbed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Progress of a long call: its stage, and the files and bytes done, of a total that is 0 while it is unknown.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// What the call is doing: walk, index, symbols, write, merge, seal, verify, commit, import, search.
    stage: &'static str,
    /// Files or documents done in this stage.
    files_done: u64,
    /// Total number of files or documents; 0 while unknown.
    files_total: u64,
    /// Bytes done in this stage.
    bytes_done: u64,
    /// Total bytes; 0 while unknown.
    bytes_total: u64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!(
            "Progress(stage={:?}, files={}/{}, bytes={}/{})",
            self.stage, self.files_done, self.files_total, self.bytes_done, self.bytes_total
        )
    }
}

impl Progress {
    fn of(progress: &kb_engine::Progress) -> Progress {
        Progress {
            stage: match progress.stage {
                Stage::Walk => "walk",
                Stage::Index => "index",
                Stage::Symbols => "symbols",
                Stage::Lists => "vectors",
                Stage::Write => "write",
                Stage::Merge => "merge",
                Stage::Seal => "seal",
                Stage::Verify => "verify",
                Stage::Commit => "commit",
                Stage::Import => "import",
                Stage::Embed => "embed",
                _ => "search",
            },
            files_done: progress.files_done,
            files_total: progress.files_total,
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
        }
    }
}

/// Who listens to a long call.
pub(crate) struct Listener {
    callback: Option<Py<PyAny>>,
}

impl Listener {
    /// Nobody.
    pub(crate) fn none() -> Listener {
        Listener { callback: None }
    }

    /// `True`: a bar of tqdm; a callable: that; `None` and `False`: nobody.
    pub(crate) fn of(progress: Option<&Bound<'_, PyAny>>) -> PyResult<Listener> {
        let Some(progress) = progress.filter(|it| !it.is_none()) else {
            return Ok(Listener::none());
        };
        if let Ok(is_wanted) = progress.extract::<bool>() {
            if !is_wanted {
                return Ok(Listener::none());
            }
            let module = progress.py().import("kbfile._progress")?;
            let bar = module.getattr("Bar")?.call0()?;
            return Ok(Listener {
                callback: Some(bar.unbind()),
            });
        }
        if !progress.is_callable() {
            return Err(PyTypeError::new_err("progress takes a bool or a callable"));
        }
        Ok(Listener {
            callback: Some(progress.clone().unbind()),
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(callback) = &self.callback else {
            return Ok(());
        };
        match callback.bind(py).getattr_opt("close")? {
            Some(close) => close.call0().map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Runs `work` without the GIL. A signal handler that raises, as that of Ctrl-C does, or a callback that does, ends it,
/// and its exception is raised in place of [`Error::Cancelled`].
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    listener: &Listener,
    work: impl FnOnce(&mut Hook<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let mut exception = None;
    let mut asked = Instant::now();
    let mut stage = None;
    let callback = &listener.callback;
    let result = py.detach(|| {
        let mut hook = |progress: &kb_engine::Progress| {
            let is_new = stage != Some(progress.stage) && callback.is_some();
            if !is_new && asked.elapsed() < SIGNAL_INTERVAL {
                return ControlFlow::Continue(());
            }
            (asked, stage) = (Instant::now(), Some(progress.stage));
            let answered = Python::attach(|py| {
                py.check_signals()?;
                if let Some(callback) = callback {
                    callback.call1(py, (Progress::of(progress),))?;
                }
                Ok(())
            });
            match answered {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    exception = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        work(&mut hook)
    });
    let closed = listener.close(py);
    if let Some(exception) = exception {
        return Err(exception);
    }
    let result = result.map_err(|error| raised(py, &error))?;
    closed.map(|()| result)
}

/// As [`run`], for a call that takes no hook: one that is short.
pub(crate) fn run_short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(py, &error))
}
