//! Commit and branch of the git work tree around a folder, read from its files without running git.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::ingest::source::git_index::{self, IndexFault, MAX_INDEX_BYTES};
use crate::ingest::source::open::{Links, open_regular};

/// Bytes read of `HEAD`, `.git` files and loose references.
// These files hold one line. A larger one was not written by git.
const MAX_SMALL_FILE_BYTES: u64 = 4096;
/// Bytes read of `packed-refs`.
// Some 400,000 references of 80 bytes.
const MAX_PACKED_REFS_BYTES: u64 = 32 << 20;
/// Most symbolic references that are followed from one to the next.
// git's own limit (`SYMREF_MAXDEPTH`).
const MAX_REFERENCE_STEPS: usize = 5;

/// Where the work tree around a folder stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitState {
    /// Full hash of the commit that is checked out; `None` before the first commit, or when the
    /// repository keeps its references in a form that is not read.
    pub(crate) commit: Option<String>,
    /// Short name of the branch; `None` when a commit is checked out without one.
    pub(crate) branch: Option<String>,
}

/// State of the work tree that holds `folder`; `None` outside of one, or when its `HEAD` cannot be
/// read. Hostile or damaged repositories give `None` parts, never an error.
pub(crate) fn git_state(folder: &Path) -> Option<GitState> {
    let git_folder = find_git_folder(folder)?;
    let head = read_small(&git_folder.join("HEAD"))?;
    let head = head.trim();
    let Some(reference) = head.strip_prefix("ref:").map(str::trim) else {
        return Some(GitState {
            commit: Some(head.to_owned()).filter(|hash| is_hash(hash)),
            branch: None,
        });
    };
    if !is_safe_reference(reference) {
        return None;
    }
    // Repositories with another reference store leave this placeholder in `HEAD`.
    let branch = reference
        .strip_prefix("refs/heads/")
        .filter(|name| *name != ".invalid");
    Some(GitState {
        commit: resolve(&git_folder, reference),
        branch: branch.map(str::to_owned),
    })
}

/// Whether `folder` lies in a git work tree.
pub(crate) fn is_in_work_tree(folder: &Path) -> bool {
    find_git_folder(folder).is_some()
}

/// What git tracks below a folder, of what has a hidden name.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrackedHidden {
    /// Paths relative to the folder.
    pub(crate) paths: Vec<PathBuf>,
    /// Why it is not known.
    pub(crate) problem: Option<String>,
}

/// Hidden files below `folder` that are tracked by the work tree around it; `None` outside of one.
pub(crate) fn tracked_hidden(folder: &Path) -> Option<TrackedHidden> {
    let (top, git_folder) = find_work_tree(folder)?;
    let mut tracked = TrackedHidden::default();
    let Ok(file) = open_regular(&git_folder.join("index"), Links::Follow) else {
        // Nothing was ever added.
        return Some(tracked);
    };
    let mut bytes = Vec::new();
    let read = file.take(MAX_INDEX_BYTES + 1).read_to_end(&mut bytes);
    let fault = match read {
        Ok(_) if bytes.len() as u64 > MAX_INDEX_BYTES => "it is too large",
        Ok(_) => match git_index::hidden_paths(&bytes) {
            Ok(paths) => {
                let below = folder.strip_prefix(top).unwrap_or(Path::new(""));
                let paths = paths
                    .iter()
                    .filter_map(|path| path.strip_prefix(below).ok());
                tracked.paths = paths.map(Path::to_owned).collect();
                return Some(tracked);
            }
            Err(IndexFault::NotAnIndex) => "it is damaged",
            Err(IndexFault::Unknown) => "it has a form that is not known",
            Err(IndexFault::TooMany) => "it names too many hidden files",
        },
        Err(_) => "it cannot be read",
    };
    tracked.problem = Some(format!(
        "the index of git was not used, so hidden files are left out: {fault}"
    ));
    Some(tracked)
}

/// The folder of the repository around `folder` that all its work trees share, without links.
pub(crate) fn common_around(folder: &Path) -> Option<PathBuf> {
    let (top, _) = find_work_tree(folder)?;
    common_folder(top)?.canonicalize().ok()
}

/// Of a folder whose `.git` is a file: the folder that the work trees of its repository share, if another work tree
/// of it is there too. `None` for a submodule, which has a repository of its own, and for work trees of a bare
/// repository.
pub(crate) fn linked_to(folder: &Path) -> Option<PathBuf> {
    if !folder.join(".git").is_file() {
        return None;
    }
    let common = common_folder(folder)?.canonicalize().ok()?;
    // Only a work tree beside the repository has its index there.
    common.join("index").is_file().then_some(common)
}

/// The folder that holds `HEAD`: `.git` itself, or where a file of that name points (work trees,
/// submodules).
fn find_git_folder(folder: &Path) -> Option<PathBuf> {
    find_work_tree(folder).map(|(_, git_folder)| git_folder)
}

/// The top of the work tree around a folder, and the folder that holds its `HEAD`.
fn find_work_tree(folder: &Path) -> Option<(&Path, PathBuf)> {
    for ancestor in folder.ancestors() {
        let candidate = ancestor.join(".git");
        if candidate.join("HEAD").is_file() {
            return Some((ancestor, candidate));
        }
        if candidate.is_file() {
            let text = read_small(&candidate)?;
            let target = text.trim().strip_prefix("gitdir:")?.trim();
            return Some((ancestor, ancestor.join(target)));
        }
    }
    None
}

/// The folder that the work trees of a repository share, of the one whose top is `folder`: `.git`
/// itself, or what the file of that name leads to in two steps.
pub(crate) fn common_folder(folder: &Path) -> Option<PathBuf> {
    let candidate = folder.join(".git");
    if !candidate.is_file() {
        return Some(candidate);
    }
    let text = read_small(&candidate)?;
    let target = folder.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = read_small(&target.join("commondir"))?;
    Some(target.join(common.trim()))
}

fn resolve(git_folder: &Path, reference: &str) -> Option<String> {
    // Linked work trees keep their branches in the folder of the main one.
    let common = read_small(&git_folder.join("commondir"));
    let common = common.map_or_else(
        || git_folder.to_owned(),
        |name| git_folder.join(name.trim()),
    );
    let mut reference = reference.to_owned();
    for _ in 0..MAX_REFERENCE_STEPS {
        let loose = [git_folder, common.as_path()]
            .into_iter()
            .find_map(|folder| read_small(&folder.join(&reference)));
        let Some(loose) = loose else {
            return find_packed(&common.join("packed-refs"), &reference);
        };
        let loose = loose.trim();
        match loose.strip_prefix("ref:").map(str::trim) {
            Some(next) if is_safe_reference(next) => reference = next.to_owned(),
            Some(_) => return None,
            None => return Some(loose.to_owned()).filter(|hash| is_hash(hash)),
        }
    }
    None
}

fn find_packed(path: &Path, reference: &str) -> Option<String> {
    let packed = read_at_most(path, MAX_PACKED_REFS_BYTES)?;
    packed.lines().find_map(|line| {
        let (hash, name) = line.split_once(' ')?;
        (name == reference && is_hash(hash)).then(|| hash.to_owned())
    })
}

/// A reference names a file below the git folder and nothing else.
fn is_safe_reference(reference: &str) -> bool {
    let mut parts = Path::new(reference).components();
    reference.starts_with("refs/")
        && !reference.chars().any(char::is_control)
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// SHA-1 or SHA-256, in hexadecimal digits.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_small(path: &Path) -> Option<String> {
    read_at_most(path, MAX_SMALL_FILE_BYTES)
}

/// `None` for a file that is missing, special, larger or not UTF-8.
fn read_at_most(path: &Path, limit_bytes: u64) -> Option<String> {
    let mut text = String::new();
    // Git itself follows links here: parts of a repository may lie elsewhere.
    let file = open_regular(path, Links::Follow).ok()?;
    file.take(limit_bytes + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= limit_bytes).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/refs/heads/topic")).unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        fs::write(
            folder.path().join(".git/HEAD"),
            "ref: refs/heads/topic/one\n",
        )
        .unwrap();
        folder
    }

    fn state(commit: Option<&str>, branch: Option<&str>) -> Option<GitState> {
        Some(GitState {
            commit: commit.map(str::to_owned),
            branch: branch.map(str::to_owned),
        })
    }

    #[test]
    fn a_branch_is_read_from_its_loose_file_and_from_folders_below() {
        let folder = repository();
        fs::write(
            folder.path().join(".git/refs/heads/topic/one"),
            format!("{HASH}\n"),
        )
        .unwrap();
        let expected = state(Some(HASH), Some("topic/one"));
        assert_eq!(git_state(folder.path()), expected);
        assert_eq!(git_state(&folder.path().join("src/deep")), expected);
    }

    #[test]
    fn a_branch_is_read_from_packed_references() {
        let folder = repository();
        let packed = format!("# pack-refs with: peeled\n{HASH} refs/heads/topic/one\n^{HASH}\n");
        fs::write(folder.path().join(".git/packed-refs"), packed).unwrap();
        assert_eq!(
            git_state(folder.path()),
            state(Some(HASH), Some("topic/one"))
        );
    }

    #[test]
    fn a_detached_head_has_no_branch_and_an_unborn_branch_no_commit() {
        let folder = repository();
        assert_eq!(git_state(folder.path()), state(None, Some("topic/one")));
        fs::write(folder.path().join(".git/HEAD"), HASH).unwrap();
        assert_eq!(git_state(folder.path()), state(Some(HASH), None));
    }

    #[test]
    fn a_linked_work_tree_finds_its_branch_in_the_main_one() {
        let folder = repository();
        let linked = folder.path().join("linked");
        let private = folder.path().join(".git/worktrees/linked");
        fs::create_dir_all(&linked).unwrap();
        fs::create_dir_all(&private).unwrap();
        fs::write(linked.join(".git"), "gitdir: ../.git/worktrees/linked\n").unwrap();
        fs::write(private.join("HEAD"), "ref: refs/heads/topic/one\n").unwrap();
        fs::write(private.join("commondir"), "../..\n").unwrap();
        fs::write(folder.path().join(".git/refs/heads/topic/one"), HASH).unwrap();
        assert_eq!(git_state(&linked), state(Some(HASH), Some("topic/one")));
    }

    #[test]
    fn hostile_references_leave_the_repository_unread() {
        let folder = repository();
        fs::write(folder.path().join("secret"), HASH).unwrap();
        for head in [
            "ref: ../secret",
            "ref: refs/../../secret",
            "ref: /etc/passwd",
        ] {
            fs::write(folder.path().join(".git/HEAD"), head).unwrap();
            assert_eq!(git_state(folder.path()), None, "{head}");
        }
        fs::write(folder.path().join(".git/HEAD"), "nonsense").unwrap();
        assert_eq!(git_state(folder.path()), state(None, None));
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/loop").unwrap();
        fs::write(
            folder.path().join(".git/refs/heads/loop"),
            "ref: refs/heads/loop",
        )
        .unwrap();
        assert_eq!(git_state(folder.path()), state(None, Some("loop")));
    }
}
