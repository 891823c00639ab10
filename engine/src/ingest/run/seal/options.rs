//! How to seal, and what sealing did.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::index::vector::Codec;

/// What sealing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealReport {
    /// The sealed file.
    pub path: PathBuf,
    /// 64 hexadecimal digits, the same for the same documents.
    pub content_root: String,
    /// Documents in it.
    pub documents: u64,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the sealed file.
    pub bytes_after: u64,
}

/// How to seal, beside where to.
#[derive(Debug, Clone, Default)]
pub struct SealOptions {
    /// How vectors are stored; `None`: as the file has them.
    pub vectors: Option<Codec>,
    /// Replace another .kb at the output. Its identity stays, its documents go.
    pub replace: bool,
    /// Set by the caller to stop: sealing ends with [`Error::Cancelled`] and leaves nothing behind.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl SealOptions {
    pub(super) fn check_cancel(&self) -> Result<()> {
        match &self.cancel {
            Some(cancel) if cancel.load(std::sync::atomic::Ordering::Relaxed) => {
                Err(Error::Cancelled)
            }
            _ => Ok(()),
        }
    }
}
