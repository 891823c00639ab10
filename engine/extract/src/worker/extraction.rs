//! What a host decides about extraction: in which process files are read.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// The argument with which `kb` is an extraction worker.
pub const WORKER_ARGUMENT: &str = "extract-worker";

/// Wall-clock time that a worker has for one document. More than its CPU time: other programs run as well.
// Twice the CPU time, because other programs run as well. A worker that used little CPU time is
// retried at the next run (docs/decisions/16-worker-process.md).
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// CPU time that a worker has for one document.
// Fifty times what the slowest of 4,220 real files took. CPU time and not wall time: a busy machine
// must not blame the file.
const CPU_LIMIT: Duration = Duration::from_secs(30);

/// Where the files of formats that need a worker are read.
static DEFAULT: OnceLock<Extraction> = OnceLock::new();

/// In which process files of untrusted formats are read: all but plain text, JSON and tables as text, which the
/// calling process reads. Texts with markup, as HTML, XML and Markdown, and programs that are parsed go to a worker
/// where there is one, and are read by the calling process otherwise.
///
/// ```no_run
/// use kb_extract::worker::extraction::{Extraction, WorkerOptions};
///
/// // Once, at the start of a program that has a `kb` at hand:
/// Extraction::Worker(WorkerOptions::new("/usr/bin/kb")).install_default();
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Extraction {
    /// In child processes that are confined and may die: for files of others. They are started when the first
    /// such file comes, one for each thread that meets one, and used for many files.
    Worker(WorkerOptions),
    /// In the calling process, which a hostile file can slow, fill with memory or abort. For hosts that cannot
    /// start processes, and for files that are trusted.
    InProcess,
    /// Nowhere: such a file is left out, with a reason that says so. What hosts get that said nothing.
    Unset,
}

impl Extraction {
    /// Makes this the default of the process: what [`Extraction::default`] gives, and with it
    /// `IndexOptions`, `KbWriter` and `document_of` of the engine. The first call decides; false:
    /// another one did.
    pub fn install_default(self) -> bool {
        DEFAULT.set(self).is_ok()
    }
}

impl Default for Extraction {
    fn default() -> Extraction {
        DEFAULT.get().cloned().unwrap_or(Extraction::Unset)
    }
}

/// How workers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerOptions {
    pub(super) executable: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) time_limit: Duration,
    pub(super) cpu_limit: Duration,
}

impl WorkerOptions {
    /// Workers that `executable` is: a `kb` of this version, or a program that calls
    /// [`run_extraction_worker`](crate::worker::serve::run_extraction_worker) when its first argument is `extract-worker`.
    pub fn new(executable: impl Into<PathBuf>) -> WorkerOptions {
        WorkerOptions {
            executable: executable.into(),
            arguments: vec![WORKER_ARGUMENT.into()],
            time_limit: TIME_LIMIT,
            cpu_limit: CPU_LIMIT,
        }
    }

    /// Workers that the executable of this process is. On Linux it is found also when its file was replaced or
    /// removed since. Its `main` must call [`run_extraction_worker`](crate::worker::serve::run_extraction_worker) before it does anything else when its
    /// first argument is `extract-worker`: what it does instead, each worker would do again.
    ///
    /// # Errors
    /// Those of [`std::env::current_exe`].
    pub fn this_program() -> io::Result<WorkerOptions> {
        // The link names the running file even after an update replaced it; a path would start the
        // new version.
        let running = Path::new("/proc/self/exe");
        if cfg!(target_os = "linux") && running.exists() {
            return Ok(WorkerOptions::new(running));
        }
        std::env::current_exe().map(WorkerOptions::new)
    }

    /// Sets the arguments with which the executable is a worker, in place of `extract-worker`.
    #[must_use]
    pub fn arguments(mut self, arguments: Vec<OsString>) -> WorkerOptions {
        self.arguments = arguments;
        self
    }

    /// Sets the wall-clock time that a worker has for one document; 60 s without it.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Duration) -> WorkerOptions {
        self.time_limit = time_limit;
        self
    }

    /// Sets the CPU time that a worker has for one document, in whole seconds; 30 s without it. A worker has up to
    /// a second more. Windows has no such limit.
    #[must_use]
    pub fn cpu_limit(mut self, cpu_limit: Duration) -> WorkerOptions {
        self.cpu_limit = cpu_limit;
        self
    }

    /// Seconds of CPU that a worker has for one document.
    pub(super) fn cpu_seconds(&self) -> u32 {
        u32::try_from(self.cpu_limit.as_secs().max(1)).unwrap_or(u32::MAX)
    }
}
