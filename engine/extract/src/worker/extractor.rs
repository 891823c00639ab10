//! Files -> documents, for one thread: in its own process or by a worker.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_types::error;
use kb_types::{Document, SyntaxFallback};

use crate::extractor;
use crate::recognise::{Isolation, isolation_of};
use crate::skip_reason::SkipReason;
use crate::worker::extraction::{Extraction, WorkerOptions};
use crate::worker::process::{WorkerEnd, WorkerProcess};
use crate::worker::protocol::MAX_INPUT_BYTES;
use crate::worker::refusal::{Refusal, RefusalKind};

/// Documents after which a worker is replaced, whatever is left in its memory.
// A start takes 7 ms, which is nothing over 1,000 documents. Libraries that keep memory for each
// document start anew.
const MAX_DOCUMENTS: u32 = 1000;

/// Extracts documents one by one; keeps its worker between them.
#[derive(Debug)]
pub struct Extractor {
    extraction: Extraction,
    /// Ends a worker that is busy.
    stop: Arc<AtomicBool>,
    /// None before the first file that needs one.
    worker: Option<WorkerProcess>,
}

impl Extractor {
    /// Where `extraction` says. It starts nothing.
    pub fn new(extraction: Extraction) -> Extractor {
        Extractor::with_stop(extraction, Arc::default())
    }

    /// The same; once `stop` is set, a worker that is busy ends within a tenth of a second.
    pub fn with_stop(extraction: Extraction, stop: Arc<AtomicBool>) -> Extractor {
        Extractor {
            extraction,
            stop,
            worker: None,
        }
    }

    /// Where files are read.
    pub fn extraction(&self) -> &Extraction {
        &self.extraction
    }

    /// Whether a worker reads that file.
    pub fn asks_worker(&self, path: &str, bytes: &[u8]) -> bool {
        matches!(self.extraction, Extraction::Worker(_))
            && isolation_of(path, bytes) != Isolation::InProcess
    }

    /// The document of a file. A worker that dies on it is replaced; the file is tried once more where it may not
    /// be at fault: the worker had read other files before, or was killed by somebody else.
    ///
    /// # Errors
    /// Why there is none.
    pub fn extract(&mut self, path: &str, bytes: &[u8]) -> Result<Document, Refusal> {
        let isolation = isolation_of(path, bytes);
        let options = match (isolation, &self.extraction) {
            (Isolation::InProcess, _)
            | (_, Extraction::InProcess)
            | (Isolation::WorkerIfAny | Isolation::WorkerToParse, Extraction::Unset) => {
                return in_process(path, bytes);
            }
            (Isolation::Worker, Extraction::Unset) => {
                return Err(Refusal::new(
                    RefusalKind::NoWorker,
                    "files of this kind are read by a worker process, and this program named none",
                ));
            }
            (_, Extraction::Worker(options)) => options.clone(),
        };
        // Refused here: sending it would only make the worker refuse it.
        if bytes.len() > MAX_INPUT_BYTES {
            return Err(Refusal::from(SkipReason::Limit {
                what: "bytes of a file of this kind",
                limit: MAX_INPUT_BYTES as u64,
            }));
        }
        let first = self.ask(&options, path, bytes);
        let ended = match first {
            Err(Attempt::Ended(ended, was_used)) if may_be_innocent(&ended, was_used) => {
                self.ask(&options, path, bytes)
            }
            other => other,
        };
        match ended {
            Ok(result) => result,
            Err(Attempt::NotStarted(_)) if isolation != Isolation::Worker => {
                in_process(path, bytes)
            }
            // Its parser is at fault, not the text.
            Err(Attempt::Ended(ended, _))
                if isolation == Isolation::WorkerToParse
                    && !matches!(ended, WorkerEnd::Stopped) =>
            {
                let fallback = fallback_of(&ended);
                Ok(extractor::extract_without_syntax(path, bytes, fallback)?)
            }
            Err(Attempt::NotStarted(refusal)) => Err(refusal),
            Err(Attempt::Ended(ended, _)) => Err(refusal_of(ended)),
        }
    }

    /// As [`Extractor::extract`], but programs are read in this process and not parsed; those that would be are marked
    /// as [pending](kb_types::syntax::pending).
    ///
    /// # Errors
    /// As [`Extractor::extract`].
    pub fn extract_before_parsing(
        &mut self,
        path: &str,
        bytes: &[u8],
    ) -> Result<Document, Refusal> {
        match isolation_of(path, bytes) {
            // Without its parser a program is plain text, which is read in the process itself.
            Isolation::WorkerToParse => Ok(extractor::extract_before_parsing(path, bytes)?),
            _ => self.extract(path, bytes),
        }
    }

    fn ask(
        &mut self,
        options: &WorkerOptions,
        path: &str,
        bytes: &[u8],
    ) -> Result<Result<Document, Refusal>, Attempt> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => WorkerProcess::start(options, &self.stop).map_err(|error| {
                let executable = options.executable.display();
                let reason = format!("its worker process {executable} cannot be started: {error}");
                Attempt::NotStarted(Refusal::new(RefusalKind::NoWorker, reason))
            })?,
        };
        let was_used = worker.documents > 0;
        match worker.extract(path, bytes) {
            Ok(answer) => {
                let is_done = answer.is_last || worker.documents >= MAX_DOCUMENTS;
                // Dropping a worker closes its input, which ends it.
                self.worker = (!is_done).then_some(worker);
                Ok(answer.result)
            }
            Err(ended) => Err(Attempt::Ended(ended, was_used)),
        }
    }
}

impl Extraction {
    /// The document that the bytes of a file are; the ending of `path` decides where the bytes do not. Each call
    /// starts a worker of its own where one is needed: some milliseconds.
    ///
    /// # Errors
    /// [`kb_types::Error::InvalidArgument`] when no text can be taken from them; [`kb_types::Error::Encrypted`];
    /// [`kb_types::Error::ExtractionLimit`] and [`kb_types::Error::ExtractionFailed`] for a file that is too much for
    /// the extractor; [`kb_types::Error::NoExtractionWorker`].
    pub fn extract(&self, path: &str, bytes: &[u8]) -> error::Result<Document> {
        let document = Extractor::new(self.clone()).extract(path, bytes);
        document.map_err(|refusal| refusal.into_error(path))
    }
}

fn in_process(path: &str, bytes: &[u8]) -> Result<Document, Refusal> {
    Ok(extractor::extract(path, bytes)?)
}

/// How a file got no answer.
enum Attempt {
    NotStarted(Refusal),
    /// Why the worker ended, and whether it had read other files before.
    Ended(WorkerEnd, bool),
}

/// Whether the file may not be what ended the worker.
fn may_be_innocent(ended: &WorkerEnd, was_used: bool) -> bool {
    match ended {
        // Nothing that a file does sends SIGKILL, except by memory of the whole machine.
        WorkerEnd::Killed => true,
        // Memory that earlier files left behind may be the cause. A fresh worker has no such
        // excuse.
        WorkerEnd::Memory | WorkerEnd::Crashed(_) | WorkerEnd::Lied(_) => was_used,
        WorkerEnd::Time(_) | WorkerEnd::Starved(..) | WorkerEnd::Cpu(_) | WorkerEnd::Stopped => {
            false
        }
    }
}

/// Why a program is not parsed whose worker ended so, whatever it was: its text is read all the same.
fn fallback_of(ended: &WorkerEnd) -> SyntaxFallback {
    match ended {
        WorkerEnd::Time(_) | WorkerEnd::Starved(..) | WorkerEnd::Cpu(_) => SyntaxFallback::TooSlow,
        WorkerEnd::Memory
        | WorkerEnd::Killed
        | WorkerEnd::Crashed(_)
        | WorkerEnd::Lied(_)
        | WorkerEnd::Stopped => SyntaxFallback::Failed,
    }
}

fn refusal_of(ended: WorkerEnd) -> Refusal {
    use RefusalKind::{Failed, Interrupted, Limit};

    let (kind, reason) = match ended {
        WorkerEnd::Time(limit) => {
            let seconds = limit.as_secs_f64();
            (Limit, format!("reading it took more than {seconds} s"))
        }
        WorkerEnd::Starved(limit, cpu_time) => {
            let (seconds, cpu_time) = (limit.as_secs_f64(), cpu_time.as_secs_f64());
            let reason = format!(
                "reading it took more than {seconds} s, of which its worker process had {cpu_time:.1} s of CPU time: the machine was busy, or stopped it"
            );
            (Interrupted, reason)
        }
        WorkerEnd::Cpu(seconds) => (
            Limit,
            format!("reading it took more than {seconds} s of CPU time"),
        ),
        WorkerEnd::Memory => (
            Limit,
            "reading it took more memory than a worker may have".to_owned(),
        ),
        WorkerEnd::Killed => (
            Interrupted,
            "the worker process that read it was killed, twice".to_owned(),
        ),
        WorkerEnd::Crashed(how) => (
            Failed,
            format!("the worker process that read it ended ({how})"),
        ),
        WorkerEnd::Lied(how) => (
            Failed,
            format!("the worker process that read it gave a wrong answer: {how}"),
        ),
        WorkerEnd::Stopped => (Interrupted, "the run was stopped".to_owned()),
    };
    Refusal::new(kind, reason)
}
