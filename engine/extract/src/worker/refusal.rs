//! Why a file yields no document, wherever it was read.

use kb_types::error::Error;

use crate::skip_reason::SkipReason;

/// Why a file yields no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// The reason in words, without the name of the file.
    pub reason: String,
}

/// Kinds of reasons, with their numbers in an answer of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RefusalKind {
    /// The file is damaged, or of a format that is not read.
    Unreadable = 1,
    /// The file is encrypted.
    Encrypted = 2,
    /// The file needs more than one document may have: cells, memory, time.
    Limit = 3,
    /// The extractor panicked, or the worker crashed on this file or gave an answer that contradicts itself.
    Failed = 4,
    /// The worker was ended from outside, or had no CPU time: nothing is known of the file.
    Interrupted = 5,
    /// No worker is there for a format that needs one: nothing is known of the file.
    NoWorker = 6,
}

impl RefusalKind {
    const ALL: [RefusalKind; 6] = [
        RefusalKind::Unreadable,
        RefusalKind::Encrypted,
        RefusalKind::Limit,
        RefusalKind::Failed,
        RefusalKind::Interrupted,
        RefusalKind::NoWorker,
    ];

    /// The kind with that number, if a worker may say so: only its parent knows of the last two.
    pub(super) fn from_worker(number: u8) -> Option<RefusalKind> {
        let kind = RefusalKind::ALL.into_iter().find(|it| *it as u8 == number);
        kind.filter(|kind| !matches!(kind, RefusalKind::Interrupted | RefusalKind::NoWorker))
    }
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, reason: impl Into<String>) -> Refusal {
        let reason = reason.into();
        Refusal { kind, reason }
    }

    /// The error of a caller who gave this file, by name.
    pub fn into_error(self, path: &str) -> Error {
        let (path, reason) = (path.to_owned(), self.reason);
        match self.kind {
            RefusalKind::Unreadable => Error::InvalidArgument {
                argument: "document",
                reason: format!("{path:?}: {reason}"),
            },
            RefusalKind::Encrypted => Error::Encrypted { path, reason },
            RefusalKind::Limit => Error::ExtractionLimit { path, reason },
            RefusalKind::Failed | RefusalKind::Interrupted => {
                Error::ExtractionFailed { path, reason }
            }
            RefusalKind::NoWorker => Error::NoExtractionWorker { path, reason },
        }
    }
}

impl From<SkipReason> for Refusal {
    fn from(reason: SkipReason) -> Refusal {
        let kind = match reason {
            SkipReason::Encrypted(_) => RefusalKind::Encrypted,
            SkipReason::Limit { .. } => RefusalKind::Limit,
            _ => RefusalKind::Unreadable,
        };
        Refusal::new(kind, reason.to_string())
    }
}
