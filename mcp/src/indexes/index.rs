//! One open .kb.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use kb_engine::{Error, Kb, KbWriter, Result};

use super::freshness::{Freshness, Stale};
use super::jobs::Jobs;
use crate::response::ToolError;

/// How long a write waits for another writer before it is refused.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks whether it is our turn.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a write that may be cancelled waits for another program at a time.
const SLICE: Duration = Duration::from_millis(100);

/// Whether an error says that a file cannot be read, whatever is asked of it.
pub(crate) fn is_of_file(error: &Error) -> bool {
    matches!(
        error,
        Error::Io { .. }
            | Error::PathNotFound { .. }
            | Error::Damaged { .. }
            | Error::NotAKb { .. }
            | Error::FormatUnsupported { .. }
            | Error::Storage { .. }
    )
}

/// What `of` finds in each of these indexes. One of several that cannot be read is left out with a
/// warning that names it, as long as another can be.
pub(crate) fn each<T>(
    indexes: &[Arc<Index>],
    warnings: &mut Vec<String>,
    mut of: impl FnMut(&Index) -> Result<T>,
) -> std::result::Result<Vec<(Arc<Index>, T)>, ToolError> {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for index in indexes {
        match of(index) {
            Ok(one) => found.push((Arc::clone(index), one)),
            Err(error) if is_of_file(&error) => failed.push(index.failure(error)),
            Err(error) => return Err(error.into()),
        }
    }
    if found.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    warnings.extend(failed.iter().map(skipped));
    Ok(found)
}

/// The warning that an index was left out.
pub(crate) fn skipped(error: &ToolError) -> String {
    format!("left out: {}", error.text())
}

/// One open .kb.
#[derive(Debug)]
pub(crate) struct Index {
    name: String,
    path: PathBuf,
    kb: Kb,
    /// Held while this process writes.
    writing: Mutex<()>,
    freshness: Freshness,
    jobs: Arc<Jobs>,
}

impl Index {
    pub(super) fn open(name: &str, path: &Path) -> Result<Index> {
        Ok(Index {
            name: name.to_owned(),
            path: path.to_path_buf(),
            kb: Kb::open(path)?,
            writing: Mutex::new(()),
            freshness: Freshness::default(),
            jobs: Arc::default(),
        })
    }

    /// What clients call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn kb(&self) -> &Kb {
        &self.kb
    }

    /// What is under way.
    pub(crate) fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// An error of reading it; one that is about the file names the index.
    pub(crate) fn failure(&self, error: Error) -> ToolError {
        if !is_of_file(&error) {
            return error.into();
        }
        let mut error = match error {
            Error::PathNotFound { .. } => ToolError::new(
                "INDEX_NOT_FOUND",
                "its file was moved or removed, and no new one is made",
            )
            .with_hint(
                "Put it back where it was; a new one is made when the server is started again",
            ),
            other => other.into(),
        };
        error.sentence = format!("index {:?}: {}", self.name, error.sentence);
        error
    }

    /// Whether `name` is the UUID of the file, with or without dashes.
    pub(super) fn has_uuid(&self, name: &str) -> bool {
        let digits = name.bytes().filter(|byte| *byte != b'-');
        let digits: Vec<u8> = digits.map(|byte| byte.to_ascii_lowercase()).collect();
        self.kb
            .state()
            .is_ok_and(|state| digits == state.uuid.as_bytes())
    }

    /// Whether a folder that it was made from holds `folder`.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        let roots = self.kb.roots().unwrap_or_default();
        roots.iter().any(|root| folder.starts_with(&root.source))
    }

    /// Whether what it was made from has changed, or it is old; what is known without waiting.
    pub(crate) fn staleness(&self) -> Option<Stale> {
        self.freshness.check(&self.kb, &self.path)
    }

    /// Runs `work` with the writer of this file; `work` commits. Waits some seconds for other
    /// writers, and lets them have the file again at the end.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut KbWriter) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        self.write_once(&AtomicBool::new(false), work)
    }

    /// The same, where `work` does not begin once `cancel` is set, and heeds it itself. What was true
    /// before the call may not be any more when `work` begins.
    pub(crate) fn write_once<T, E: Into<ToolError>>(
        &self,
        cancel: &AtomicBool,
        work: impl FnOnce(&mut KbWriter) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, ToolError> {
        let _writing = self.turn(cancel)?;
        let mut writer = self.writer()?.lock_timeout(PATIENCE);
        work(&mut writer).map_err(Into::into)
    }

    /// The same for `work` that does not heed `cancel`: it begins only while that is not set. While
    /// other programs have the file it is begun again and again, so it must fail for that before it
    /// does anything.
    pub(crate) fn write_unless<T>(
        &self,
        cancel: &AtomicBool,
        mut work: impl FnMut(&mut KbWriter) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        let asked = Instant::now();
        let _writing = self.turn(cancel)?;
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled.into());
            }
            match work(&mut self.writer()?.lock_timeout(SLICE)) {
                Err(Error::IndexLocked { .. }) if asked.elapsed() < PATIENCE => {
                    thread::sleep(PAUSE)
                }
                result => return Ok(result?),
            }
        }
    }

    /// For the file that is served: one that is gone is not made again behind the back of whoever moved
    /// it.
    fn writer(&self) -> std::result::Result<KbWriter, ToolError> {
        KbWriter::open(&self.path).map_err(|error| self.failure(error))
    }

    /// Waits for the other writes of this process, as long as for those of others.
    fn turn(&self, cancel: &AtomicBool) -> std::result::Result<MutexGuard<'_, ()>, ToolError> {
        let asked = Instant::now();
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled.into());
            }
            match self.writing.try_lock() {
                Ok(turn) => return Ok(turn),
                // Nothing is kept under it that a panic could have left half done.
                Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
                Err(TryLockError::WouldBlock) if asked.elapsed() >= PATIENCE => {
                    let sentence = format!("{} is being written by this server", self.name);
                    return Err(ToolError::new("INDEX_LOCKED", sentence)
                        .with_hint("get_status tells when that is done; then try again"));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }
}
