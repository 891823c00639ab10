//! How an index run is asked for, and what it tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// How an index run reads its sources.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// Larger files are skipped with a reason.
    pub max_file_bytes: u64,
    /// Set to true by another thread to stop; the file stays as it was.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for IndexOptions {
    fn default() -> IndexOptions {
        IndexOptions {
            threads: 0,
            max_file_bytes: 16 << 20,
            cancel: None,
        }
    }
}

impl IndexOptions {
    /// Stops a run that was asked to.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once `cancel` is set.
    pub fn check_cancel(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}

/// What an index run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Looking for files.
    Walk,
    /// Reading, cutting, embedding, storing.
    Index,
    /// Writing indexes and the commit.
    Write,
}

/// How far an index run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Files done.
    pub files_done: u64,
    /// Files in all; 0 while walking.
    pub files_total: u64,
    /// Bytes done.
    pub bytes_done: u64,
    /// Bytes in all; 0 while walking.
    pub bytes_total: u64,
}

impl Progress {
    /// The start of a stage, nothing counted yet.
    pub fn at(stage: Stage) -> Progress {
        Progress {
            stage,
            files_done: 0,
            files_total: 0,
            bytes_done: 0,
            bytes_total: 0,
        }
    }
}

/// A file that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Path as walked; bytes that are not UTF-8 escaped.
    pub path: String,
    /// Why, in a few words.
    pub reason: String,
}

/// What an index run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Documents in the file now.
    pub documents: u64,
    /// Chunks in the file now.
    pub chunks: u64,
    /// Bytes of the files read.
    pub source_bytes: u64,
    /// Bytes of stored text.
    pub text_bytes: u64,
    /// Files left out.
    pub skipped: Vec<Skipped>,
    /// How long it took.
    pub elapsed: Duration,
}
