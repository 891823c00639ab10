//! For tests of the workspace: see `kb_mcp::faults`. Only with the feature `testing`.

use std::path::PathBuf;
use std::time::Duration;

use kb_engine::WorkerOptions;

/// `KB_FAULT_CEILING`: the folder above which no .kb file is looked for, so that files that lie
/// around on the machine of a test do not answer.
pub(crate) fn ceiling() -> Option<PathBuf> {
    std::env::var_os("KB_FAULT_CEILING").map(PathBuf::from)
}

/// `KB_FAULT_SOURCES_MS`: how long changes of sources are looked for after an answer.
pub(crate) fn sources_limit() -> Option<Duration> {
    let ms = std::env::var("KB_FAULT_SOURCES_MS").ok()?.parse().ok()?;
    Some(Duration::from_millis(ms))
}

/// `KB_FAULT_WORKER`: the executable of extraction workers; `KB_FAULT_WORKER_MS` and `KB_FAULT_WORKER_CPU_MS`: their
/// limits of time.
pub(crate) fn worker() -> Option<WorkerOptions> {
    let limit = |variable| {
        let ms = std::env::var(variable).ok()?.parse().ok()?;
        Some(Duration::from_millis(ms))
    };
    let mut options = match std::env::var_os("KB_FAULT_WORKER") {
        Some(executable) => WorkerOptions::new(executable),
        None => WorkerOptions::this_program().ok()?,
    };
    if let Some(time) = limit("KB_FAULT_WORKER_MS") {
        options = options.time_limit(time);
    }
    if let Some(time) = limit("KB_FAULT_WORKER_CPU_MS") {
        options = options.cpu_limit(time);
    }
    Some(options)
}
