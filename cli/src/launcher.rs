//! How this program is started again: by itself, or by another program that it is a library of.

use std::sync::OnceLock;

use kb_engine::WorkerOptions;

/// How this program is started again.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The first words of its command line, the program as an absolute path or a name that any search path has.
    /// None: the executable of this process.
    pub command: Option<Vec<String>>,
    /// Which processes read documents of untrusted formats; none: such documents are left out with a reason.
    pub worker: Option<WorkerOptions>,
}

/// Of this process. There is one command line in a process.
static LAUNCHER: OnceLock<Launcher> = OnceLock::new();

impl Launcher {
    /// The executable of this process, also as its worker.
    pub fn this_executable() -> Launcher {
        #[cfg(feature = "testing")]
        let worker = crate::faults::worker();
        #[cfg(not(feature = "testing"))]
        let worker = WorkerOptions::this_program().ok();
        Launcher {
            command: None,
            worker,
        }
    }

    /// Makes it that of this process. The first one stays.
    pub(crate) fn install(self) {
        let _ = LAUNCHER.set(self);
    }
}

/// The first words of a command line that starts this program again; none: its executable.
pub(crate) fn command() -> Option<&'static [String]> {
    LAUNCHER.get()?.command.as_deref()
}
