//! Paths of files on a disk, as programs hold them, read as paths of documents: `/home/ada/notes/a.md`,
//! `file:///C:/notes/a%20b.md`, `docs\a.md`, `../a.md`.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kb_types::percent;
use unicode_normalization::UnicodeNormalization;

use crate::store::meta::RootRecord;

/// How long a request waits for the file system.
// A network share that is gone can block for a minute. The path is then compared as it is written.
const DISK_TIMEOUT: Duration = Duration::from_millis(100);

/// A path with `/` between its names, without `.`, `..` and empty names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiskPath {
    text: String,
    is_absolute: bool,
    /// Whether `..` was left at its beginning: it is no path below a root.
    leads_out: bool,
}

impl DiskPath {
    /// Reads a name; `None` for one that already has the form of a document path. Cost: linear.
    pub(super) fn of(name: &str) -> Option<DiskPath> {
        if !may_be(name) {
            return None;
        }
        let text = match file_uri_path(name) {
            Some(path) => percent::decode(&path).unwrap_or(path),
            None => name.to_owned(),
        };
        let text: String = text.nfc().collect();
        Some(DiskPath::of_text(&text))
    }

    fn of_text(text: &str) -> DiskPath {
        let text = with_slashes(text);
        // A URI has a slash before the drive: `/C:/notes`.
        let text = match text.strip_prefix('/') {
            Some(rest) if has_drive(rest) => rest,
            _ => &text,
        };
        let is_absolute = text.starts_with('/') || has_drive(text);
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." if is_absolute || names.last().is_some_and(|last| *last != "..") => {
                    names.pop();
                }
                name => names.push(name),
            }
        }
        let leads_out = !is_absolute && names.first() == Some(&"..");
        let joined = names.join("/");
        let text = if text.starts_with("//") {
            format!("//{joined}")
        } else if text.starts_with('/') {
            format!("/{joined}")
        } else {
            joined
        };
        DiskPath {
            text,
            is_absolute,
            leads_out,
        }
    }

    pub(super) fn is_absolute(&self) -> bool {
        self.is_absolute
    }

    /// The path that documents of these roots have, the deepest root first; of a path that is not absolute itself.
    /// Empty: the top.
    pub(super) fn places(&self, roots: &[RootRecord]) -> Vec<String> {
        if !self.is_absolute {
            return if self.leads_out {
                Vec::new()
            } else {
                vec![self.text.clone()]
            };
        }
        let mut places: Vec<(usize, String)> = Vec::new();
        for root in roots {
            let source = root_path(root);
            if let Some(below) = source.as_deref().and_then(|root| below(&self.text, root)) {
                let depth = source.map_or(0, |source| source.len());
                places.push((depth, joined(&root.prefix, below)));
            }
        }
        places.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        places.into_iter().map(|(_, place)| place).collect()
    }

    /// The path that this one leads to through links, or from the current folder; `None` where it is the same, where
    /// the disk does not answer in time, and for a share of another machine, which is never asked.
    pub(super) fn on_disk(&self) -> Option<DiskPath> {
        if self.text.starts_with("//") || self.text.len() > LONGEST_ASKED_BYTES {
            return None;
        }
        let path = if self.is_absolute {
            Path::new(&self.text).to_owned()
        } else {
            std::env::current_dir().ok()?.join(&self.text)
        };
        let (done, found) = mpsc::sync_channel(1);
        let ask = move || {
            // Nobody receives it after the limit.
            let _ = done.send(real_path(&path));
        };
        let thread = thread::Builder::new().name("kb-real-path".to_owned());
        thread.spawn(ask).ok()?;
        let real = found.recv_timeout(DISK_TIMEOUT).ok()??;
        let real = DiskPath::of_text(&real.nfc().collect::<String>());
        (real != *self).then_some(real)
    }

    /// Places below roots whose folders are known by name only, as in a sealed file: what follows that name in the
    /// path, the last time that it is there first.
    pub(super) fn places_by_name(&self, roots: &[RootRecord]) -> Vec<String> {
        let mut places = Vec::new();
        for root in roots.iter().filter(|root| !root.source.is_empty()) {
            let name = root.source.rsplit(['/', '\\']).next().unwrap_or_default();
            let names: Vec<&str> = self.text.split('/').collect();
            let at = names.iter().rposition(|other| *other == name);
            if let Some(rest) = at.and_then(|at| names.get(at + 1..)) {
                places.push(joined(&root.prefix, &rest.join("/")));
            }
        }
        places
    }

    /// The ends of the path, the longest first.
    pub(super) fn ends(&self) -> impl Iterator<Item = &str> {
        let whole = self.text.trim_start_matches('/');
        std::iter::successors(Some(whole), |end| Some(end.split_once('/')?.1))
    }
}

/// Whether the folder of any root may be on this machine.
pub(super) fn has_folder_here(roots: &[RootRecord]) -> bool {
    let here = |root: &RootRecord| {
        root_path(root).is_some_and(|path| !path.starts_with("//") && Path::new(&path).is_dir())
    };
    roots.iter().any(here)
}

/// Longest path that the disk is asked about: no system has longer ones.
const LONGEST_ASKED_BYTES: usize = 4096;

/// Whether a name can be anything but the path of a document as it is stored.
pub(super) fn may_be(name: &str) -> bool {
    let is_dotted = name.starts_with("./") || name.starts_with("../");
    is_dotted
        || name.starts_with('/')
        || name.contains('\\')
        || has_drive(name)
        || is_file_uri(name)
}

fn is_file_uri(name: &str) -> bool {
    let scheme = name.get(..FILE_SCHEME.len());
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(FILE_SCHEME))
}

const FILE_SCHEME: &str = "file:";

/// The path of a `file:` URI (RFC 8089), still percent-encoded; also of `file://C:/a`, which programs write.
pub(super) fn file_uri_path(name: &str) -> Option<String> {
    if !is_file_uri(name) {
        return None;
    }
    let rest = with_slashes(name.get(FILE_SCHEME.len()..)?);
    let Some(behind) = rest.strip_prefix("//") else {
        return Some(rest);
    };
    let (host, path) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
    Some(match host {
        "" | "localhost" | "127.0.0.1" => path.to_owned(),
        host if has_drive(&format!("{host}/")) => behind.to_owned(),
        host => format!("//{host}{path}"),
    })
}

/// `\\?\C:\notes` -> `C:/notes`.
fn with_slashes(text: &str) -> String {
    let text = text.strip_prefix(r"\\?\").unwrap_or(text);
    text.replace('\\', "/")
}

/// Whether a path begins with the letter of a drive.
fn has_drive(text: &str) -> bool {
    let mut bytes = text.bytes();
    let letter = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    letter && bytes.next() == Some(b':') && matches!(bytes.next(), Some(b'/' | b'\\'))
}

/// The folder of a root in the form of [`DiskPath`]; `None` where the file has only its name.
fn root_path(root: &RootRecord) -> Option<String> {
    let source = root.source.as_str();
    let is_windows = source.starts_with(r"\\") || has_drive(source);
    if !is_windows && !source.starts_with('/') {
        return None;
    }
    let source: String = source.nfc().collect();
    let source = if is_windows {
        with_slashes(&source)
    } else {
        source
    };
    Some(source.trim_end_matches('/').to_owned())
}

/// What of a path lies below a folder; the letters of a path with a drive in any case.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let start = path.get(..folder.len())?;
    let is_start = start == folder || has_drive(folder) && start.eq_ignore_ascii_case(folder);
    let rest = path.get(folder.len()..).filter(|_| is_start)?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

/// A root whose folder lies below another one: what `/home/**` has of it.
pub(super) fn root_below<'r>(folder: &str, roots: &'r [RootRecord]) -> Option<&'r RootRecord> {
    let folder = DiskPath::of_text(folder).text;
    let folder = folder.trim_end_matches('/');
    roots.iter().find(|root| {
        root_path(root).is_some_and(|path| path != folder && below(&path, folder).is_some())
    })
}

fn joined(prefix: &str, below: &str) -> String {
    match (prefix, below) {
        ("", below) => below.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, below) => format!("{prefix}/{below}"),
    }
}

/// The path without links; of what is not there, the nearest folder above it without links.
fn real_path(path: &Path) -> Option<String> {
    for above in path.ancestors() {
        let Ok(real) = above.canonicalize() else {
            continue;
        };
        let rest = path.strip_prefix(above).ok()?;
        let whole = if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        };
        return whole.to_str().map(str::to_owned);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(source: &str, prefix: &str) -> RootRecord {
        RootRecord {
            source: source.to_owned(),
            prefix: prefix.to_owned(),
            ..RootRecord::default()
        }
    }

    fn places(name: &str, roots: &[RootRecord]) -> Vec<String> {
        DiskPath::of(name).map_or_else(Vec::new, |path| path.places(roots))
    }

    #[test]
    fn paths_of_a_disk_are_read_in_every_spelling() {
        let roots = [root("/home/ada/notes", ""), root("/srv/code", "code")];
        for (name, place) in [
            ("/home/ada/notes/a/b.md", "a/b.md"),
            ("/home/ada/./x/../notes//a/b.md", "a/b.md"),
            ("/home/ada/notes", ""),
            ("/home/ada/notes/", ""),
            ("file:///home/ada/notes/a%20b.md", "a b.md"),
            ("FILE://localhost/home/ada/notes/a.md", "a.md"),
            ("file:/home/ada/notes/a.md", "a.md"),
            ("/srv/code/x.rs", "code/x.rs"),
            ("/srv/code", "code"),
            (r"a\b.md", "a/b.md"),
            (r".\a\b.md", "a/b.md"),
            ("./a/../c.md", "c.md"),
        ] {
            assert_eq!(places(name, &roots), [place], "{name}");
        }
        for name in [
            "/home/ada/notes2/a.md",
            "/home/ada",
            "../a.md",
            "/etc/passwd",
        ] {
            assert_eq!(places(name, &roots), [""; 0], "{name}");
        }
        for name in ["a.md", "a/b.md", "a-k3f9qa", "kb://notes/doc/a.md", "C:"] {
            assert_eq!(DiskPath::of(name), None, "{name}");
        }
    }

    #[test]
    fn drives_are_read_in_any_case() {
        let roots = [root(r"\\?\C:\Users\Ada\notes", "")];
        for name in [
            r"C:\Users\Ada\notes\a\b.md",
            "c:/users/ada/notes/a/b.md",
            "file:///C:/Users/Ada/notes/a/b.md",
            "file:///c%3A/Users/Ada/notes/a/b.md",
            "file://C:/Users/Ada/notes/a/b.md",
            r"file:///C:\Users\Ada\notes\a\b.md",
        ] {
            assert_eq!(places(name, &roots), ["a/b.md"], "{name}");
        }
        assert_eq!(places(r"D:\Users\Ada\notes\a.md", &roots), [""; 0]);
    }

    #[test]
    fn the_deepest_root_comes_first() {
        let roots = [root("/a", "all"), root("/a/b", "inner"), root("/", "disk")];
        let expected = ["inner/c.md", "all/b/c.md", "disk/a/b/c.md"];
        assert_eq!(places("/a/b/c.md", &roots), expected);
    }

    #[test]
    fn a_root_without_a_place_is_known_by_its_name() {
        let roots = [root("notes", ""), root("code", "code")];
        let by_name = |name: &str| DiskPath::of(name).unwrap().places_by_name(&roots);
        assert_eq!(by_name("/x/notes/y/notes/a.md"), ["a.md"]);
        assert_eq!(by_name(r"D:\code\a.rs"), ["code/a.rs"]);
        assert_eq!(by_name("/x/other/a.md"), [""; 0]);
        assert_eq!(places("/x/notes/a.md", &roots), [""; 0]);
        let path = DiskPath::of("/x/y/a.md").unwrap();
        assert_eq!(
            path.ends().collect::<Vec<_>>(),
            ["x/y/a.md", "y/a.md", "a.md"]
        );
    }

    #[test]
    fn hostile_paths_are_read_in_bounded_time() {
        let long = format!("/{}", "../x/".repeat(100_000));
        assert_eq!(DiskPath::of(&long).unwrap().text, "/x");
        assert_eq!(DiskPath::of(&long).unwrap().on_disk(), None);
        let share = DiskPath::of(r"\\evil\share\a.md").unwrap();
        assert_eq!(
            (share.text.as_str(), share.on_disk()),
            ("//evil/share/a.md", None)
        );
        assert_eq!(DiskPath::of("file:").unwrap().text, "");
        assert_eq!(DiskPath::of("/a\0b").unwrap().on_disk(), None);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_also_to_what_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let name = link.join("gone/a.md").display().to_string();
        let found = DiskPath::of(&name).unwrap().on_disk().unwrap();
        assert_eq!(found.text, real.join("gone/a.md").display().to_string());
    }
}
