//! Which files are indexed: folders and files as given, ignore rules, what is left out and why.
//!
//! Rules, the same as ripgrep's where nothing else is said:
//! - `.gitignore` and `.kbignore` are obeyed, also outside of a git work tree. Ignore files of
//!   folders above a root count only inside the same work tree. A user's global ignore file does
//!   not count: the same tree gives the same answer on every machine.
//! - Hidden files and folders (a leading dot, `.github` too) are left out, unless given by name.
//! - `.kb` files and unfinished ones are left out.
//! - Symbolic links are not followed, but for a path that is given itself; a linked file is
//!   reported. So no loop is possible and no file counts twice.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

use ignore::{WalkBuilder, WalkState};

use crate::error::{Error, Result};
use crate::ingest::git;
use crate::ingest::report::Skipped;
use crate::ingest::root::{Root, Scope};

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
pub struct WalkOptions<'a> {
    /// Larger files are left out.
    pub max_file_bytes: u64,
    /// Set to true by another thread to stop.
    pub cancel: Option<&'a AtomicBool>,
}

/// A file to index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where to read it.
    pub disk_path: PathBuf,
    /// Its document path: prefix and relative path with `/`, NFC.
    pub document_path: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed, in milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// Number of its root.
    pub root: u32,
}

/// What a walk found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// Files by document path, in the order of their bytes; no path twice.
    pub files: Vec<SourceFile>,
    /// What was left out with a reason, by path. Files under an ignore rule, hidden ones and `.kb`
    /// files are not listed.
    pub skipped: Vec<Skipped>,
    /// Document paths of files and folders that are there and could not be looked at: nothing is
    /// known of what lies at or below them.
    pub unread: Vec<String>,
}

/// Finds the files of all roots that are there. A file that two roots reach belongs to the older.
///
/// # Errors
/// [`Error::Io`] when a root is there and cannot be read, and [`Error::Cancelled`]; everything below
/// a root is reported and skipped instead.
pub fn walk(roots: &[Root], options: &WalkOptions<'_>) -> Result<Walked> {
    let mut walker = Walker {
        options,
        seen: HashSet::new(),
        files: Vec::new(),
        skipped: Vec::new(),
        unread: Vec::new(),
    };
    for root in roots {
        walker.add_root(root)?;
    }
    Ok(walker.finish())
}

struct Walker<'a> {
    options: &'a WalkOptions<'a>,
    /// Files of all roots so far.
    seen: HashSet<PathBuf>,
    files: Vec<SourceFile>,
    skipped: Vec<Skipped>,
    unread: Vec<String>,
}

impl Walker<'_> {
    fn add_root(&mut self, root: &Root) -> Result<()> {
        if root.scope == Scope::Superseded {
            return Ok(());
        }
        match fs::read_dir(&root.folder) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", &root.folder, error)),
        }
        if let Scope::Files(names) = &root.scope {
            for name in names {
                let path = root.folder.join(name);
                // A file given by name may be a link.
                match fs::metadata(&path) {
                    Ok(metadata) => self.add_file(root, path, &metadata),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => {
                        self.unread.push(document_path(root, &path));
                        self.skip(root, &path, format!("cannot be read: {error}"));
                    }
                }
            }
            return Ok(());
        }
        let in_work_tree = git::is_in_work_tree(&root.folder);
        let mut builder = WalkBuilder::new(&root.folder);
        builder
            .add_custom_ignore_filename(".kbignore")
            .ignore(false)
            .git_global(false)
            // The crate ends the search for ignore files at the top of a work tree only when it
            // asks for one. Without a work tree, a `.gitignore` far above must not count.
            .require_git(in_work_tree)
            .parents(in_work_tree)
            .follow_links(false)
            .filter_entry(filter(root));
        // Folders are read and files looked at on all cores; the order is made afterwards.
        let (sender, found) = mpsc::channel();
        let cancel = self.options.cancel;
        builder.build_parallel().run(|| {
            let sender = sender.clone();
            Box::new(move |entry| {
                if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    return WalkState::Quit;
                }
                let entry = entry.map(|entry| {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    let metadata = is_file.then(|| entry.metadata());
                    (entry, metadata)
                });
                // The other end lives as long as this walk.
                let _ = sender.send(entry);
                WalkState::Continue
            })
        });
        drop(sender);
        if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Error::Cancelled);
        }
        for entry in found {
            match entry {
                Ok((entry, _)) if entry.depth() == 0 => {}
                Ok((entry, metadata)) => self.add_entry(root, &entry, metadata),
                Err(error) => self.skip_error(root, &error),
            }
        }
        self.tell_of_missing_parts(root);
        Ok(())
    }

    /// Names the files that were asked for and that the rules of their folder leave out.
    fn tell_of_missing_parts(&mut self, root: &Root) {
        let Scope::Parts(parts) = &root.scope else {
            return;
        };
        for part in parts {
            let path = root.folder.join(part);
            let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
            if is_file && !self.seen.contains(&path) {
                let reason = "hidden, or left out by an ignore file of its folder";
                self.skip(root, &path, reason.to_owned());
            }
        }
    }

    fn add_entry(
        &mut self,
        root: &Root,
        entry: &ignore::DirEntry,
        metadata: Option<std::result::Result<Metadata, ignore::Error>>,
    ) {
        if let Some(error) = entry.error() {
            // A line of an ignore file that is no pattern: the other lines count.
            self.skip(root, entry.path(), format!("ignore file: {error}"));
        }
        match (metadata, entry.file_type()) {
            (Some(Ok(metadata)), _) => self.add_file(root, entry.path().to_owned(), &metadata),
            (Some(Err(error)), _) => self.skip_error(root, &error),
            (None, Some(kind)) if kind.is_symlink() => {
                self.skip(root, entry.path(), "symbolic link".to_owned());
            }
            (None, Some(kind)) if !kind.is_dir() => {
                self.skip(root, entry.path(), "not a regular file".to_owned());
            }
            (None, _) => {}
        }
    }

    fn add_file(&mut self, root: &Root, path: PathBuf, metadata: &Metadata) {
        if path.file_name().is_some_and(is_own_file) || self.seen.contains(&path) {
            return;
        }
        if !metadata.is_file() {
            return self.skip(root, &path, "not a regular file".to_owned());
        }
        let limit = self.options.max_file_bytes;
        if metadata.len() > limit {
            let reason = format!("{} bytes, more than the limit of {limit}", metadata.len());
            self.seen.insert(path.clone());
            return self.skip(root, &path, reason);
        }
        let modified = metadata.modified().ok();
        let modified_ms = modified.map_or(0, unix_ms);
        self.files.push(SourceFile {
            document_path: document_path(root, &path),
            size_bytes: metadata.len(),
            modified_ms,
            root: root.id,
            disk_path: path.clone(),
        });
        self.seen.insert(path);
    }

    fn skip(&mut self, root: &Root, path: &Path, reason: String) {
        self.skipped.push(Skipped {
            path: document_path(root, path),
            reason,
        });
    }

    fn skip_error(&mut self, root: &Root, error: &ignore::Error) {
        let path = path_of(error).map_or_else(|| root.folder.clone(), Path::to_owned);
        let is_gone = |source: &std::io::Error| source.kind() == std::io::ErrorKind::NotFound;
        if error.io_error().is_some_and(|source| !is_gone(source)) {
            self.unread.push(document_path(root, &path));
        }
        let reason = match error.io_error() {
            Some(source) => format!("cannot be read: {source}"),
            None => error.to_string(),
        };
        self.skip(root, &path, reason);
    }

    fn finish(mut self) -> Walked {
        // Bytes of the name on disk decide which of two equal paths stays: the same on each run.
        let key = |file: &SourceFile| (file.root, file.disk_path.clone());
        self.files.sort_by_cached_key(key);
        let mut by_path: BTreeMap<String, SourceFile> = BTreeMap::new();
        for file in self.files {
            if by_path.contains_key(&file.document_path) {
                self.skipped.push(Skipped {
                    path: file.document_path,
                    reason: "another file has the same path".to_owned(),
                });
            } else {
                by_path.insert(file.document_path.clone(), file);
            }
        }
        self.skipped
            .sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        self.skipped.dedup();
        Walked {
            files: by_path.into_values().collect(),
            skipped: self.skipped,
            unread: self.unread,
        }
    }
}

/// Which entries of a root are looked at: not our own files, nothing of other roots, and only what
/// leads to the parts that were asked for.
fn filter(root: &Root) -> impl Fn(&ignore::DirEntry) -> bool + Send + Sync + 'static {
    let foreign = root.foreign.clone();
    let parts: Option<Vec<PathBuf>> = match &root.scope {
        Scope::Parts(parts) => Some(parts.iter().map(|part| root.folder.join(part)).collect()),
        _ => None,
    };
    move |entry| {
        let path = entry.path();
        let wanted = parts.as_ref().is_none_or(|parts| {
            let mut parts = parts.iter();
            parts.any(|part| path.starts_with(part) || part.starts_with(path))
        });
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        wanted && (is_folder || !is_own_file(entry.file_name())) && !foreign.contains(path)
    }
}

/// A .kb, or one that is being written: `x.kb`, `.x.kb.tmp`.
fn is_own_file(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    (name.ends_with(b".kb") && name.len() > 3) || name.ends_with(b".kb.tmp")
}

/// The path that an error of the walk is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

/// The document path of a file below a root.
fn document_path(root: &Root, path: &Path) -> String {
    root.document_path(path.strip_prefix(&root.folder).unwrap_or(path))
}

/// Milliseconds since 1970; negative before.
fn unix_ms(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// The time now, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    unix_ms(SystemTime::now())
}

/// A name with its bytes that are not UTF-8 as `\xNN`. A backslash that would read as such an escape
/// is escaped itself, so that different names stay different.
pub fn escaped(name: &OsStr) -> String {
    let mut escaped = String::new();
    for piece in name.as_encoded_bytes().utf8_chunks() {
        let mut rest = piece.valid();
        while let Some(at) = rest.find("\\x") {
            let (before, after) = rest.split_at(at);
            escaped.push_str(before);
            let digits = after.as_bytes().get(2..4).unwrap_or_default();
            let looks_escaped = digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit);
            escaped.push_str(if looks_escaped { "\\x5C" } else { "\\" });
            rest = after.get(1..).unwrap_or_default();
        }
        escaped.push_str(rest);
        for byte in piece.invalid() {
            escaped.push_str(&format!("\\x{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::roots::{Asked, Known, resolve};

    const OPTIONS: WalkOptions<'static> = WalkOptions {
        max_file_bytes: 1000,
        cancel: None,
    };

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn roots(paths: &[PathBuf]) -> Vec<Root> {
        let known = Known {
            roots: &[],
            next_root: 1,
            first_parts: None,
        };
        let resolved = resolve(paths, known, Asked::default(), &mut |_| Ok(Vec::new()));
        resolved.unwrap().roots
    }

    fn walked(paths: &[PathBuf]) -> Walked {
        walk(&roots(paths), &OPTIONS).unwrap()
    }

    fn paths(walked: &Walked) -> Vec<&str> {
        walked
            .files
            .iter()
            .map(|file| file.document_path.as_str())
            .collect()
    }

    fn skipped(walked: &Walked) -> Vec<(&str, &str)> {
        let skipped = walked.skipped.iter();
        skipped
            .map(|skipped| (skipped.path.as_str(), skipped.reason.as_str()))
            .collect()
    }

    #[test]
    fn ignore_rules_hidden_files_and_own_files_leave_files_out() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for name in [
            "b.txt",
            "a/x.md",
            "a/ignored.log",
            "a/kept.log",
            "private/y",
            ".hidden",
            ".github/z",
            "k.kb",
            ".k.kb.tmp",
            "k.kb.tmp",
            "a.kbx",
            "folder.kb/inside",
            "big",
        ] {
            write(top, name, "text");
        }
        write(top, ".gitignore", "*.log\n");
        write(top, "a/.gitignore", "!kept.log\n");
        write(top, ".kbignore", "private/\n");
        write(top, "big", &"x".repeat(1001));
        let walked = walked(&[top.to_owned()]);
        assert_eq!(
            paths(&walked),
            ["a.kbx", "a/kept.log", "a/x.md", "b.txt", "folder.kb/inside"]
        );
        assert_eq!(
            skipped(&walked),
            [("big", "1001 bytes, more than the limit of 1000")]
        );
        let file = &walked.files[3];
        assert_eq!((file.size_bytes, file.root), (4, 1));
        assert!(file.modified_ms > 1_500_000_000_000);
    }

    #[test]
    fn ignore_files_above_a_root_count_only_in_the_same_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(top, ".gitignore", "*\n");
        write(top, "work/.gitignore", "*.log\n");
        write(top, "work/sub/a.log", "");
        write(top, "work/sub/a.txt", "");
        let sub = top.join("work/sub");
        assert_eq!(
            paths(&walked(std::slice::from_ref(&sub))),
            ["a.log", "a.txt"]
        );
        write(top, "work/.git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(paths(&walked(&[sub])), ["a.txt"]);
    }

    #[test]
    fn several_roots_get_different_prefixes_and_share_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(top, "one/docs/a", "");
        write(top, "two/docs/a", "");
        write(top, "two/b", "");
        let given = [
            top.join("one/docs"),
            top.join("two/docs"),
            top.join("two"),
            top.join("two/b"),
        ];
        assert_eq!(paths(&walked(&given)), ["docs-2/a", "docs/a", "two/b"]);
        // Asked for again in parts, the same files have the same paths.
        let parts = [top.join("two"), top.join("two/docs")];
        assert_eq!(paths(&walked(&parts)), ["b", "docs/a"]);
    }

    #[test]
    fn a_file_given_by_name_is_the_only_one_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(top, "x/.hidden", "");
        write(top, "x/other", "");
        assert_eq!(paths(&walked(&[top.join("x/.hidden")])), [".hidden"]);
        let both = [top.join("x/.hidden"), top.join("x")];
        assert_eq!(paths(&walked(&both)), ["other"]);
    }

    #[test]
    fn a_file_that_was_asked_for_and_is_left_out_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for name in [".hidden", "seen"] {
            write(top, name, "");
        }
        let given = [top.to_owned(), top.join(".hidden"), top.join("seen")];
        assert_eq!(paths(&walked(&given)), ["seen"]);
        let mut whole = roots(&given[..1]);
        let parts = [".hidden", "seen"].map(PathBuf::from);
        whole[0].scope = Scope::Parts(parts.into_iter().collect());
        let walked = walk(&whole, &OPTIONS).unwrap();
        assert_eq!(paths(&walked), ["seen"]);
        assert_eq!(skipped(&walked)[0].0, ".hidden");
    }

    #[test]
    fn a_walk_stops_on_request() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a", "");
        let cancel = AtomicBool::new(true);
        let options = WalkOptions {
            cancel: Some(&cancel),
            ..OPTIONS
        };
        let roots = roots(&[folder.path().to_owned()]);
        assert!(matches!(walk(&roots, &options), Err(Error::Cancelled)));
    }

    #[test]
    fn names_that_differ_only_in_normalisation_leave_one_and_a_word() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "e\u{301}.txt", "");
        write(folder.path(), "\u{e9}.txt", "");
        let walked = walked(&[folder.path().to_owned()]);
        // Some systems keep only one of the two on disk.
        assert_eq!(paths(&walked), ["\u{e9}.txt"]);
        let on_disk = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(walked.skipped.len(), on_disk - 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_special_files_and_odd_names_never_stop_a_walk() {
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(top, "real/a.txt", "");
        write(top, "real/\\xFFa", "");
        fs::write(top.join("real").join(OsStr::from_bytes(b"\xFFa")), "").unwrap();
        symlink(top.join("real"), top.join("real/loop")).unwrap();
        symlink("a.txt", top.join("real/link.txt")).unwrap();
        symlink("nowhere", top.join("real/broken")).unwrap();
        symlink("real", top.join("door")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(top.join("real/socket")).unwrap();
        write(top, "real/closed/b.txt", "");
        let closed = top.join("real/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let reads_everything = fs::read_dir(&closed).is_ok();
        let walked = walked(&[top.join("door")]);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let mut expected_paths = vec!["\\x5CxFFa", "\\xFFa", "a.txt"];
        let mut expected = vec![
            ("broken", "symbolic link"),
            ("link.txt", "symbolic link"),
            ("loop", "symbolic link"),
            ("socket", "not a regular file"),
        ];
        // The superuser reads closed folders too.
        match reads_everything {
            true => expected_paths.push("closed/b.txt"),
            false => expected.insert(
                1,
                ("closed", "cannot be read: Permission denied (os error 13)"),
            ),
        }
        assert_eq!(paths(&walked), expected_paths);
        assert_eq!(skipped(&walked), expected);
    }
}
