//! What a listing is made of: folders to be listed, entries that count, remarks about the others, names.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::ingest::gitignore::Rules;
use crate::ingest::source::open::SourceFolder;
use crate::ingest::walk::globs::Globs;
use crate::ingest::walk::links::{Links, Target};
use crate::ingest::walk::selection::Selection;

/// What the folders of one root have in common.
#[derive(Debug)]
pub(super) struct Context {
    /// The folder of the root.
    pub(super) folder: Arc<SourceFolder>,
    /// Larger files are left out.
    pub(super) max_file_bytes: u64,
    /// Whether it lies in a work tree of git: then rules end at the top of each.
    pub(super) is_in_work_tree: bool,
    /// Whether hidden files and folders count that git does not track.
    pub(super) hidden: bool,
    /// Where links may lead; `None`: they are not followed.
    pub(super) links: Option<Links>,
    /// Which files count; `None`: all.
    pub(super) include: Option<Globs>,
    /// What does not count.
    pub(super) exclude: Option<Globs>,
    /// What the work trees of the repository around the root share.
    pub(super) repository: Option<PathBuf>,
    /// Parts that were asked for and that no file was found for yet, relative.
    pub(super) missing: Mutex<BTreeSet<PathBuf>>,
    /// Set when the walk shall stop.
    pub(super) stop: Arc<AtomicBool>,
    /// Set when the operation shall end.
    pub(super) cancel: Arc<AtomicBool>,
}

impl Context {
    pub(super) fn is_stopped(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        is_set(&self.stop) || is_set(&self.cancel)
    }
}

/// A folder on disk that is to be listed.
#[derive(Debug, Clone)]
pub(super) struct DiskFolder {
    /// Its path, relative to the root.
    pub(super) relative: PathBuf,
    /// What it is opened below: the folder of the root, or one that a link leads to.
    pub(super) base: Arc<SourceFolder>,
    /// Its path, relative to that.
    pub(super) below_base: PathBuf,
    /// Whether a link leads to it, or to a folder around it.
    pub(super) is_linked: bool,
    /// Whether it lies in a work tree of git.
    pub(super) is_in_git: bool,
    /// Of what has a hidden name, what git tracks.
    pub(super) tracked: Option<Arc<Selection>>,
    /// Whether only files that git tracks count: in a hidden folder.
    pub(super) only_tracked: bool,
    /// Whether it, or a folder around it, is one of those that were asked for.
    pub(super) is_included: bool,
    /// The same in bytes, from where the topmost rules stand, with `/` behind each name.
    pub(super) rules_path: Vec<u8>,
    /// Rules that apply around it.
    pub(super) rules: Rules,
    /// Which of it is looked at; `None`: all.
    pub(super) wanted: Option<Arc<Selection>>,
    /// What of it belongs to other roots.
    pub(super) foreign: Option<Arc<Selection>>,
}

/// A remark about a folder or an entry that is not a file to index. `path` is relative to its document path;
/// empty: the folder.
#[derive(Debug)]
pub(super) enum Note {
    /// It is left out.
    LeftOut {
        path: String,
        reason: String,
        size_bytes: u64,
        modified_ms: i64,
    },
    /// Something about it was not done, such as a rule of an ignore file.
    Skipped { path: String, reason: String },
    /// It is there and could not be looked at.
    Unread { path: String },
    /// The folder has nothing in it. `relative` is its path below the root.
    Empty { relative: PathBuf },
}

/// A file or folder that counts. 48 bytes, and its name.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) is_folder: bool,
    /// Where it leads, if it is a link that is followed.
    pub(super) link: Option<Box<Target>>,
    /// Which of the folders it is in.
    pub(super) folder: u32,
    /// Its name on disk.
    pub(super) name: Range<u32>,
    /// Its name in the document path.
    pub(super) document_name: Range<u32>,
    pub(super) size_bytes: u64,
    pub(super) modified_ms: i64,
}

pub(super) fn slice<'n>(names: &'n [u8], range: &Range<u32>) -> &'n [u8] {
    let range = range.start as usize..range.end as usize;
    names.get(range).unwrap_or_default()
}

#[cfg(unix)]
pub(super) fn disk_name(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).to_owned()
}

/// Names of Windows are kept in the encoding of `OsStr`, which is UTF-8 but for halves of surrogate
/// pairs; those are read as the character that stands for what is none.
#[cfg(not(unix))]
pub(super) fn disk_name(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Appends a name; `None` when there are 4 GiB of names.
pub(super) fn push(names: &mut Vec<u8>, name: &[u8]) -> Option<Range<u32>> {
    let start = u32::try_from(names.len()).ok()?;
    let end = start.checked_add(u32::try_from(name.len()).ok()?)?;
    names.extend_from_slice(name);
    Some(start..end)
}

/// Whether a folder is the top of a work tree, of git or of jj, which reads the ignore files of git.
pub(super) fn is_top(folder: &Path) -> bool {
    [".git", ".jj"]
        .iter()
        .any(|name| folder.join(name).exists())
}
