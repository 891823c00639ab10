//! The command line, the extraction worker and the MCP server, run by Python.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use kb_cli::Launcher;
use kb_engine::WorkerOptions;
use pyo3::prelude::*;

/// What a worker process of Python runs: this extension alone, without `site` and without the package, which it does not
/// need. The argument is the path of the extension.
const WORKER_CODE: &str = "\
import sys, importlib.machinery, importlib.util
name, path = '_kbfile', sys.argv[1]
loader = importlib.machinery.ExtensionFileLoader(name, path)
spec = importlib.util.spec_from_file_location(name, path, loader=loader)
module = importlib.util.module_from_spec(spec)
loader.exec_module(module)
module.run_extraction_worker()";

/// The processes that read documents of untrusted formats: this Python. `None` where it is not known which program that
/// is, as in one that embeds Python.
pub(crate) fn worker(py: Python<'_>) -> Option<WorkerOptions> {
    let executable: PathBuf = py
        .import("sys")
        .ok()?
        .getattr("executable")
        .ok()?
        .extract()
        .ok()?;
    let module = py.import("kbfile._kbfile").ok()?;
    let path: PathBuf = module.getattr("__file__").ok()?.extract().ok()?;
    if executable.as_os_str().is_empty() {
        return None;
    }
    let words = ["-I", "-S", "-c", WORKER_CODE].map(OsString::from);
    let arguments = words.into_iter().chain([path.into_os_string()]);
    Some(WorkerOptions::new(executable).arguments(arguments.collect()))
}

/// Runs one command line, without the program, and returns the status to end the process with: 0 found or done, 1
/// nothing found, out of date or different, 2 error. `launcher` is the command that starts this program again, as a
/// list of words.
#[pyfunction]
#[pyo3(signature = (arguments, launcher = None))]
pub(crate) fn run_command(
    py: Python<'_>,
    arguments: Vec<OsString>,
    launcher: Option<Vec<String>>,
) -> u8 {
    let launcher = Launcher {
        name: "kbfile",
        command: launcher,
        worker: worker(py),
    };
    let arguments = [vec![OsString::from("kbfile")], arguments].concat();
    py.detach(|| kb_cli::run_as(&arguments, launcher))
}

/// Makes this process an extraction worker, and ends it. Not for users: writers start such processes.
#[pyfunction]
pub(crate) fn run_extraction_worker(py: Python<'_>) {
    let code = py.detach(kb_engine::run_extraction_worker);
    // Without the clean-up of Python: the process has limited itself for good.
    std::process::exit(i32::from(code != ExitCode::SUCCESS));
}
