//! One open .kb.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use kb_engine::{DocumentInfo, Error, Hit, Kb, KbWriter, Result, SourceState};

use super::freshness::{self, Freshness, Stale};
use super::jobs::Jobs;
use crate::response::{ToolError, time};

/// How long a write waits for another writer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one attempt waits for another program; between two of them a cancelled call is noticed.
const LOCK_STEP: Duration = Duration::from_millis(100);

/// How often a waiting write retries.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Whether an error is about the file as a whole, so that any other request would fail as well.
pub(super) fn is_of_file(error: &Error) -> bool {
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

/// Calls `read` for each index. Indexes that cannot be read are left out with a warning each, unless
/// none can be read.
pub(crate) fn each<T>(
    indexes: &[Arc<Index>],
    warnings: &mut Vec<String>,
    mut read: impl FnMut(&Index) -> Result<T>,
) -> std::result::Result<Vec<(Arc<Index>, T)>, ToolError> {
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    for index in indexes {
        match read(index) {
            Ok(result) => results.push((Arc::clone(index), result)),
            Err(error) if is_of_file(&error) => failed.push(index.failure(error)),
            Err(error) => return Err(error.into()),
        }
    }
    if results.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    warnings.extend(failed.iter().map(skipped));
    Ok(results)
}

/// Asks all indexes at once. Where one of several cannot be read, the others are asked without it, with a warning. Returns
/// the answer, and for each file that was asked the position of its index. `ask` gets the files, and whether it is one
/// that is asked only to see whether it can be read: then no continuation goes with the request.
pub(crate) fn together<T>(
    indexes: &[Arc<Index>],
    warnings: &mut Vec<String>,
    mut ask: impl FnMut(&[&Kb], bool) -> Result<T>,
) -> std::result::Result<(T, Vec<usize>), ToolError> {
    let files: Vec<&Kb> = indexes.iter().map(|index| index.kb()).collect();
    let error = match ask(&files, false) {
        Err(error) if is_of_file(&error) => error,
        answer => return Ok((answer?, (0..indexes.len()).collect())),
    };
    if let [index] = indexes {
        return Err(index.failure(error));
    }
    let (mut numbers, mut readable, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (number, index) in indexes.iter().enumerate() {
        match ask(&[index.kb()], true) {
            Err(error) if is_of_file(&error) => failed.push(index.failure(error)),
            _ => {
                numbers.push(number);
                readable.push(index.kb());
            }
        }
    }
    if readable.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    let answer = ask(&readable, false)?;
    warnings.extend(failed.iter().map(skipped));
    Ok((answer, numbers))
}

/// The warning that an index was left out.
fn skipped(error: &ToolError) -> String {
    format!("left out: {}", error.text())
}

/// Compares the files of all hits with what `indexes`, which were searched, have of them.
pub(crate) fn look_at_sources(indexes: &[Arc<Index>], hits: &mut [Hit]) {
    let may_look = indexes.iter().all(|index| index.freshness.may_look());
    let files: Vec<&Kb> = indexes.iter().map(|index| index.kb()).collect();
    if may_look && !freshness::look_at(&files, hits) {
        for index in indexes {
            index.freshness.look_failed();
        }
    }
}

/// One open .kb.
#[derive(Debug)]
pub(crate) struct Index {
    name: String,
    path: PathBuf,
    kb: Kb,
    /// Locked while this process writes.
    writing: Mutex<()>,
    freshness: Freshness,
    jobs: Arc<Jobs>,
    /// Whether other indexes are open, so that a path needs the name of this one beside it.
    is_one_of_several: AtomicBool,
}

impl Index {
    pub(super) fn open(name: &str, path: &Path) -> Result<Index> {
        let index = Index {
            name: name.to_owned(),
            path: path.to_path_buf(),
            kb: Kb::open(path)?,
            writing: Mutex::new(()),
            freshness: Freshness::default(),
            jobs: Arc::default(),
            is_one_of_several: AtomicBool::new(false),
        };
        index.freshness.start(path);
        Ok(index)
    }

    /// The name that clients use for it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn kb(&self) -> &Kb {
        &self.kb
    }

    /// Its uploads and index runs.
    pub(crate) fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Other indexes are open from now on.
    pub(super) fn set_one_of_several(&self) {
        self.is_one_of_several.store(true, Ordering::Relaxed);
    }

    /// An error of reading it, which names the index if it is about the file, or about a document where
    /// several indexes are open.
    pub(crate) fn failure(&self, error: Error) -> ToolError {
        if !is_of_file(&error) {
            let names_document = matches!(
                error,
                Error::SectionNotFound { .. }
                    | Error::AmbiguousSection { .. }
                    | Error::InvalidRange { .. }
                    | Error::InvalidPages { .. }
                    | Error::InvalidSlides { .. }
                    | Error::InvalidCells { .. }
                    | Error::SheetNotFound { .. }
                    | Error::UnsupportedDocumentType { .. }
                    | Error::FolderNotFound { .. }
            );
            let mut error = ToolError::from(error);
            if names_document && self.is_one_of_several.load(Ordering::Relaxed) {
                error
                    .sentence
                    .push_str(&format!(" (index_name {})", self.name));
            }
            return error;
        }
        let mut error = match error {
            Error::PathNotFound { .. } => ToolError::new(
                "INDEX_NOT_FOUND",
                "its file was moved or removed, and no new file is created",
            )
            .with_hint("Put the file back; or restart the server, which creates a new file"),
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

    /// Whether `folder` is one of its sources, or below one.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        let roots = self.kb.roots().unwrap_or_default();
        roots.iter().any(|root| folder.starts_with(&root.source))
    }

    /// How far it is behind its sources, as far as known. Only the first call waits for a comparison, for a
    /// fraction of a second.
    pub(crate) fn staleness(&self) -> Stale {
        self.freshness.check(&self.kb, &self.path)
    }

    /// The same for an answer that found nothing, which must not miss what was just written: waits for another
    /// comparison, for a second at most.
    pub(crate) fn staleness_of_none(&self) -> Stale {
        self.freshness.check_again(&self.kb, &self.path)
    }

    /// Whether the file of a document is as it was when it was indexed.
    pub(crate) fn source_state(&self, document: &DocumentInfo) -> SourceState {
        self.freshness.look(&self.kb, document)
    }

    /// As [`Index::write_within`], with the usual limit.
    #[cfg(test)]
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut KbWriter) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        self.write_within(LOCK_TIMEOUT, work)
    }

    /// Runs `work` with a writer of this file, which `work` commits. Waits up to `limit` for other writers.
    pub(crate) fn write_within<T>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut KbWriter) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        let started = Instant::now();
        let _writing = self.lock(&AtomicBool::new(false), limit)?;
        let left = limit.saturating_sub(started.elapsed());
        let mut writer = self.writer()?.lock_timeout(left);
        work(&mut writer).map_err(Into::into)
    }

    /// Another program that writes the file now, `kb 0.1.0` or `another program`, and since when. Its process
    /// and machine are not for clients.
    pub(crate) fn other_writer(&self) -> Option<(String, String)> {
        let writer = self.kb.writer().ok().flatten()?;
        if writer.process_id == std::process::id() {
            return None;
        }
        let name = match writer.program.as_str() {
            "" => "another program",
            name => name,
        };
        Some((name.to_owned(), time::rfc3339(writer.since_ms)))
    }

    /// As [`Index::write_within`], for work that checks `cancel` itself; it does not begin once that is set.
    /// Other writes may have come before, so `work` must not rely on what was read earlier.
    pub(crate) fn write_once<T, E: Into<ToolError>>(
        &self,
        cancel: &AtomicBool,
        work: impl FnOnce(&mut KbWriter) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, ToolError> {
        let _writing = self.lock(cancel, LOCK_TIMEOUT)?;
        let mut writer = self.writer()?.lock_timeout(LOCK_TIMEOUT);
        work(&mut writer).map_err(Into::into)
    }

    /// As [`Index::write_within`], for work that does not check `cancel`: it begins only while that is not set.
    /// It is retried while another program has the file locked, so it must take the lock before it does
    /// anything else.
    pub(crate) fn write_unless<T>(
        &self,
        cancel: &AtomicBool,
        mut work: impl FnMut(&mut KbWriter) -> Result<T>,
    ) -> std::result::Result<T, ToolError> {
        let started = Instant::now();
        let _writing = self.lock(cancel, LOCK_TIMEOUT)?;
        let stop_if_cancelled = || {
            if cancel.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        if stop_if_cancelled().is_break() {
            return Err(Error::Cancelled.into());
        }
        let attempt = |timeout| match self.writer() {
            Ok(writer) => work(&mut writer.lock_timeout(timeout)).map(Ok),
            Err(error) => Ok(Err(error)),
        };
        let left = LOCK_TIMEOUT.saturating_sub(started.elapsed());
        kb_engine::wait_for_writer(left, LOCK_STEP, &mut |_| stop_if_cancelled(), attempt)?
    }

    /// A writer of the file, which must exist: a file that was moved away is not created again.
    fn writer(&self) -> std::result::Result<KbWriter, ToolError> {
        KbWriter::open(&self.path).map_err(|error| self.failure(error))
    }

    /// Waits up to `limit` for the other writes of this process.
    fn lock(
        &self,
        cancel: &AtomicBool,
        limit: Duration,
    ) -> std::result::Result<MutexGuard<'_, ()>, ToolError> {
        let started = Instant::now();
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled.into());
            }
            match self.writing.try_lock() {
                Ok(lock) => return Ok(lock),
                // It guards no data that a panic could have left inconsistent.
                Err(TryLockError::Poisoned(lock)) => return Ok(lock.into_inner()),
                Err(TryLockError::WouldBlock) if started.elapsed() >= limit => {
                    let sentence = format!("{} is being written by this server", self.name);
                    return Err(ToolError::new("INDEX_LOCKED", sentence)
                        .with_hint("get_status shows when it is done; then try again"));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
            }
        }
    }
}
