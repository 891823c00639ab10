//! What a walk finds.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use crate::ingest::report::Skipped;
use crate::ingest::source::open::{self, Links, OpenError, SourceFolder};

/// A file to index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Its document path: prefix and relative path with `/`, NFC.
    pub document_path: String,
    /// Bytes, as the folder listed them.
    pub size_bytes: u64,
    /// When it was changed, in milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// Number of its root.
    pub root: u32,
    pub(super) location: Location,
}

/// How a file is opened.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// Below the folder of a root, through no link.
    Below(Arc<SourceFolder>, PathBuf),
    /// By a name that was given, be it a link.
    Named(PathBuf),
}

impl PartialEq for Location {
    fn eq(&self, other: &Location) -> bool {
        self.path() == other.path()
    }
}

impl Eq for Location {}

impl Location {
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Location::Below(folder, relative) => folder.path().join(relative),
            Location::Named(path) => path.clone(),
        }
    }
}

impl SourceFile {
    /// Where it was found. To be shown: `SourceFile::open` opens it.
    pub(crate) fn disk_path(&self) -> PathBuf {
        self.location.path()
    }

    /// Opens it, if it is still a regular file, below its root and behind no link.
    pub(crate) fn open(&self) -> std::result::Result<File, OpenError> {
        match &self.location {
            Location::Below(folder, relative) => folder.open_file(relative),
            Location::Named(path) => open::open_regular(path, Links::Follow),
        }
    }
}

/// A file or folder of a root that is left out before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The document path that it would have.
    pub path: String,
    /// Why, in a few words.
    pub reason: String,
    /// Number of its root.
    pub root: u32,
    /// Bytes, as the folder listed them; 0 when unknown.
    pub size_bytes: u64,
    /// When it was changed, in milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
}

/// What a walk comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WalkItem {
    /// A file to index. Document paths of files ascend; none comes twice.
    File(SourceFile),
    /// A file or folder that is left out before it is read. Files under an ignore rule or a pattern of the root and
    /// `.kb` files are not reported. In no order.
    LeftOut(LeftOut),
    /// Another remark: about an ignore file, or a path that two files have.
    Skipped(Skipped),
    /// Document path of a file or folder that is there and could not be looked at: nothing is known
    /// of what lies at or below it. Comes before the files that follow it.
    Unread(String),
    /// A folder below a root that has nothing in it: its document path, and where it is. Comes before the files
    /// that follow it.
    Empty(String, PathBuf),
}

/// Why a file of that size is left out.
pub(super) fn size_limit_reason(size_bytes: u64, limit: u64) -> Option<String> {
    (size_bytes > limit).then(|| format!("larger than {limit} bytes"))
}
