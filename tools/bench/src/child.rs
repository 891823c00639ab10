//! A process measured from outside: wall time, peak memory, bytes written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Memory is read this often; the kernel keeps the peak itself, so only growth within the last
/// such moment of a process is missed.
const INTERVAL: Duration = Duration::from_millis(2);

/// What one process took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    pub(crate) elapsed: Duration,
    /// Peak resident memory in bytes, mapped files included; 0 where the system does not tell.
    pub(crate) peak_bytes: u64,
    /// Peak of the private part as sampled.
    pub(crate) peak_private_bytes: u64,
    /// Bytes handed to the system for writing, as last sampled.
    pub(crate) written_bytes: u64,
}

/// Runs the command to its end; its output is discarded, its errors are shown.
pub(crate) fn measured(command: &mut Command) -> Result<Measured> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let ended = AtomicBool::new(false);
    let (status, elapsed, seen) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&process, &ended));
        let status = child.wait();
        let elapsed = start.elapsed();
        ended.store(true, Ordering::Relaxed);
        (status, elapsed, watcher.join().unwrap_or_default())
    });
    let status = status?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(Measured { elapsed, ..seen })
}

/// Peaks of resident and private memory, and what was written, until the process has ended.
fn watch(process: &Path, ended: &AtomicBool) -> Measured {
    let mut seen = Measured::default();
    while !ended.load(Ordering::Relaxed) {
        if let Ok(status) = fs::read_to_string(process.join("status")) {
            seen.peak_bytes = seen.peak_bytes.max(field_bytes(&status, "VmHWM:"));
            let private = field_bytes(&status, "RssAnon:");
            seen.peak_private_bytes = seen.peak_private_bytes.max(private);
        }
        let io = fs::read_to_string(process.join("io")).unwrap_or_default();
        seen.written_bytes = seen.written_bytes.max(written_bytes(&io));
        thread::sleep(INTERVAL);
    }
    seen
}

/// What `/proc/<id>/io` says was handed to the system for writing.
pub(crate) fn written_bytes(io: &str) -> u64 {
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Private resident memory of this process; 0 where the system does not tell.
pub(crate) fn own_private_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    field_bytes(&status, "RssAnon:")
}

/// A field of `/proc/<id>/status` or `smaps_rollup`, which counts in kB of 1024 bytes.
pub(crate) fn field_bytes(status: &str, field: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|number| number.parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_bytes() {
        let status = "Name:\tkb\nVmHWM:\t    2048 kB\nRssAnon:\t 12 kB\n";
        assert_eq!(field_bytes(status, "VmHWM:"), 2 << 20);
        assert_eq!(field_bytes(status, "RssAnon:"), 12 << 10);
        assert_eq!(field_bytes(status, "VmSwap:"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn time_and_memory_of_a_process_are_measured() {
        let run = measured(Command::new("sleep").arg("0.05")).unwrap();
        assert!(run.elapsed >= Duration::from_millis(50));
        assert!(run.peak_bytes > 100_000, "{run:?}");
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_fails_is_an_error() {
        assert!(measured(&mut Command::new("false")).is_err());
        assert!(measured(&mut Command::new("/no/such/program")).is_err());
    }
}
