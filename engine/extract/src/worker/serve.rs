//! The worker: reads requests from stdin until there are none, and answers on stdout.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use kb_types::Document;

use crate::extractor;
#[cfg(unix)]
use crate::worker::limits;
use crate::worker::protection::WorkerProtection;
use crate::worker::protocol::{self, Request};
use crate::worker::refusal::{Refusal, RefusalKind};
use crate::worker::sandbox;

/// Panics that a worker tells of, and the bytes of each: together less than a pipe holds, because nobody reads its
/// stderr before it ends. Readers of PDF catch one for each page that they cannot read.
// A pipe of Linux holds 64 KiB. A worker that wrote more would wait for a reader that only reads
// when the worker has ended.
const MAX_TOLD_PANICS: u64 = 16;
const MAX_TOLD_BYTES: usize = 1 << 10;

/// Makes this process an extraction worker, until its stdin ends: see [`WorkerOptions::new`](crate::worker::extraction::WorkerOptions::new). It limits
/// itself for good, so nothing else can be done afterwards but to end with the status that this returns.
pub fn run_extraction_worker() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    tell_few_panics();
    let memory = Memory::open();
    #[cfg(unix)]
    let has_limits = limits::set();
    #[cfg(not(unix))]
    let has_limits = false;
    let protection = WorkerProtection {
        has_limits,
        has_sandbox: sandbox::enter(),
    };
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    protocol::write_hello(&mut output, protection)?;
    while let Some(request) = protocol::read_request(&mut input)? {
        #[cfg(unix)]
        limits::allow_cpu(request.cpu_seconds);
        let result = catch_unwind(AssertUnwindSafe(|| extract(&request)));
        let is_panic = result.is_err();
        let result = result.unwrap_or_else(|_| {
            let reason = "extraction failed inside; please report this file";
            Err(Refusal::new(RefusalKind::Failed, reason))
        });
        let is_last = is_panic || memory.has_grown();
        protocol::write_answer(&mut output, &result, is_last)?;
        if is_last {
            break;
        }
    }
    Ok(())
}

fn tell_few_panics() {
    let told = AtomicU64::new(0);
    panic::set_hook(Box::new(move |panic| {
        if told.fetch_add(1, Ordering::Relaxed) < MAX_TOLD_PANICS {
            let words = panic.to_string();
            let end = words.floor_char_boundary(MAX_TOLD_BYTES);
            let _ = writeln!(io::stderr(), "{}", words.get(..end).unwrap_or_default());
        }
    }));
}

fn extract(request: &Request) -> Result<Document, Refusal> {
    #[cfg(feature = "testing")]
    if let Some(result) = crate::worker::trial::extract(request) {
        return result;
    }
    Ok(extractor::extract(&request.path, &request.content)?)
}

/// What tells how much address space this process has: opened before files are out of reach. None where the
/// system has no such file: then only the number of documents says when a worker is replaced.
struct Memory {
    statm: Option<File>,
    page_bytes: u64,
}

impl Memory {
    fn open() -> Memory {
        let statm = cfg!(target_os = "linux").then(|| File::open("/proc/self/statm").ok());
        Memory {
            statm: statm.flatten(),
            // Asked now: it is found in a file, or by a call that the sandbox does not have.
            #[cfg(unix)]
            page_bytes: rustix::param::page_size() as u64,
            #[cfg(not(unix))]
            page_bytes: 0,
        }
    }

    /// Whether so much is left of earlier documents that the next one lacks it.
    #[cfg(target_os = "linux")]
    fn has_grown(&self) -> bool {
        use std::os::unix::fs::FileExt;

        let mut line = [0; 64];
        let Some(Ok(count)) = self.statm.as_ref().map(|file| file.read_at(&mut line, 0)) else {
            return false;
        };
        let line = line.get(..count).unwrap_or_default();
        let pages = line.split(|byte| *byte == b' ').next();
        let pages = pages.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        let bytes = pages.unwrap_or(0).saturating_mul(self.page_bytes);
        bytes > limits::MEMORY_LIMIT_BYTES / 2
    }

    #[cfg(not(target_os = "linux"))]
    fn has_grown(&self) -> bool {
        self.statm.is_some() && self.page_bytes == 0
    }
}
