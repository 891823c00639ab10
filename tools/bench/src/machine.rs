//! Where and when figures were made.

use std::fs;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use kb_engine::calendar::UtcTime;
use xtask::repository;

/// One line: processor, cores, memory, kernel.
pub(crate) fn describe() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = after(&processors, "model name").unwrap_or("unknown processor");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes: u64 = after(&memory, "MemTotal")
        .and_then(|value| value.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let gigabytes = kilobytes as f64 * 1024.0 / 1e9;
    let (system, kernel) = (std::env::consts::OS, kernel.trim());
    format!("{model}, {cores} cores, {gigabytes:.0} GB memory, {system} {kernel}")
}

/// Load averages as the system writes them; empty where it does not tell.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = load.split_whitespace().take(3).collect();
    averages.join(", ")
}

fn after<'a>(text: &'a str, field: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(field))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

/// Short commit of this repository; `+` when files differ from it.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let output = command
            .args(arguments)
            .current_dir(repository::root())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let mark = if changed.is_some_and(|list| !list.is_empty()) {
        "+"
    } else {
        ""
    };
    format!("{commit}{mark}")
}

/// Today in UTC as `2026-01-31`.
pub(crate) fn today() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    UtcTime::from_unix_seconds(seconds).date.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_kernel_are_read() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(after(text, "model name"), Some("Some CPU @ 2 GHz"));
        assert_eq!(after(text, "MemTotal"), None);
    }
}
