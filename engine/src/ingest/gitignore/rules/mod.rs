//! The rules of one folder: its own ignore files and those above it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::ingest::gitignore::file;
use crate::ingest::gitignore::matcher::{Matcher, Verdict};
use crate::ingest::source::open::{self, Links, OpenError};

/// Names of ignore files, of most weight first.
pub(crate) const NAMES: [&str; 2] = [".kbignore", ".gitignore"];

/// The ignore file of a git work tree that is not part of it.
pub(crate) const EXCLUDE: &str = ".git/info/exclude";

/// Most folders with ignore files on the way to a file: each is asked of each file below it.
const MAX_FILES_ON_THE_WAY: usize = 64;

/// Most states of automata on the way to a file. A wildcard pattern has about one for each character,
/// so these are 2000 usual ones; a name of 50 bytes is matched against all in 0.1 milliseconds.
const MAX_STATES_ON_THE_WAY: usize = 32 << 10;

/// What applies in a folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    nearest: Option<Arc<Folder>>,
}

/// A folder with ignore files, or at the top of a work tree.
#[derive(Debug)]
struct Folder {
    /// One matcher for each kind, of most weight first: `.kbignore`, `.gitignore`, `info/exclude`.
    matchers: [Option<Matcher>; 3],
    /// Bytes of the path of this folder, with the `/` behind it.
    path_bytes: usize,
    /// The rules of git end here: another work tree is around this one, or none.
    is_top: bool,
    /// States that the files of this folder and those below may still take.
    states_left: usize,
    /// Folders that may still follow below.
    files_left: usize,
    above: Option<Arc<Folder>>,
}

/// What the ignore files of one folder hold.
#[derive(Debug, Default)]
pub(crate) struct IgnoreFiles {
    /// Bytes of each kind, of most weight first.
    pub(crate) bytes: [Option<Vec<u8>>; 3],
    /// Whether the rules of git that stand above do not count in this folder.
    pub(crate) is_top: bool,
}

impl Rules {
    /// The rules of a folder: those that apply around it, and its own files. `path` is the folder's,
    /// from where the topmost rules stand, with `/` between names and behind the last; empty there.
    /// Gives also what of the files is not applied, by kind.
    pub(crate) fn with(&self, path: &[u8], files: &IgnoreFiles) -> (Rules, Vec<(usize, String)>) {
        let mut problems = Vec::new();
        if !files.is_top && files.bytes.iter().all(Option::is_none) {
            return (self.clone(), problems);
        }
        let above = self.nearest.as_deref();
        let mut states_left = above.map_or(MAX_STATES_ON_THE_WAY, |above| above.states_left);
        let files_left = above.map_or(MAX_FILES_ON_THE_WAY, |above| above.files_left);
        let mut matchers = [None, None, None];
        for ((kind, bytes), matcher) in files.bytes.iter().enumerate().zip(&mut matchers) {
            let Some(bytes) = bytes else { continue };
            if files_left == 0 {
                let reason = format!(
                    "ignore file not applied: {MAX_FILES_ON_THE_WAY} folders above have others"
                );
                problems.push((kind, reason));
                continue;
            }
            let (read, reasons) = file::read(bytes, &mut states_left);
            *matcher = read;
            problems.extend(reasons.into_iter().map(|reason| (kind, reason)));
        }
        if !files.is_top && matchers.iter().all(Option::is_none) {
            return (self.clone(), problems);
        }
        let nearest = Folder {
            matchers,
            path_bytes: path.len(),
            is_top: files.is_top,
            states_left,
            files_left: files_left.saturating_sub(1),
            above: self.nearest.clone(),
        };
        let nearest = Some(Arc::new(nearest));
        (Rules { nearest }, problems)
    }

    /// Whether no file says anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.nearest.is_none()
    }

    /// What the files say of a path in their folder, from where the topmost rules stand, as in
    /// [`Rules::with`] but without a `/` at its end. `state` is room for the work.
    pub(crate) fn verdict(
        &self,
        path: &[u8],
        is_folder: bool,
        state: &mut Vec<u64>,
    ) -> Option<Verdict> {
        let mut found: [Option<Verdict>; 3] = [None; 3];
        let mut is_above_top = false;
        let mut next = self.nearest.as_deref();
        while let Some(folder) = next {
            let relative = path.get(folder.path_bytes..).unwrap_or_default();
            for ((kind, found), matcher) in found.iter_mut().enumerate().zip(&folder.matchers) {
                let counts = kind == 0 || !is_above_top;
                if let Some(matcher) = matcher
                    && counts
                    && found.is_none()
                {
                    *found = matcher.verdict(relative, is_folder, state);
                }
            }
            let [of_most_weight, ..] = found;
            if of_most_weight.is_some() {
                break;
            }
            is_above_top |= folder.is_top;
            next = folder.above.as_deref();
        }
        found.into_iter().flatten().next()
    }
}

/// Reads an ignore file: `None` where there is none, and why it is not applied.
///
/// # Errors
/// The reason that is reported.
pub(crate) fn read(opened: Result<File, OpenError>) -> Result<Option<Vec<u8>>, String> {
    let read = opened.and_then(|file| {
        let mut bytes = Vec::new();
        file.take(file::MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(OpenError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("ignore file not applied: {error}")),
    }
}

/// `.git/info/exclude` of a folder that has a `.git`.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_exclude(folder: &Path) -> Result<Option<Vec<u8>>, String> {
    match crate::ingest::source::git::common_folder(folder) {
        Some(git) => read(open::open_regular(&git.join("info/exclude"), Links::Refuse)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
