//! Fault injection for tests, with the feature `testing` only; see also `kb_mcp::faults`.

use std::path::PathBuf;
use std::time::Duration;

use kb_engine::WorkerOptions;

/// Returns `KB_FAULT_CEILING`: no .kb file is searched above this folder, so that other files on the machine of a test are
/// not found.
pub(crate) fn ceiling() -> Option<PathBuf> {
    std::env::var_os("KB_FAULT_CEILING").map(PathBuf::from)
}

/// Returns `KB_FAULT_SOURCES_MS`: the time limit of the check for changed sources after a result.
pub(crate) fn sources_limit() -> Option<Duration> {
    let ms = std::env::var("KB_FAULT_SOURCES_MS").ok()?.parse().ok()?;
    Some(Duration::from_millis(ms))
}

/// Returns `KB_FAULT_SYMBOLS_LATER`: the bytes of programs from which on a first run parses them in a second pass.
pub(crate) fn symbols_later_bytes() -> Option<u64> {
    std::env::var("KB_FAULT_SYMBOLS_LATER").ok()?.parse().ok()
}

/// Returns worker options. `KB_FAULT_WORKER` sets the executable, `KB_FAULT_WORKER_MS` and `KB_FAULT_WORKER_CPU_MS` the
/// time limits.
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
