//! Every verb that writes, on a file of every mode in a folder of every mode, as a user without rights:
//! it succeeds exactly where it may, and neither mode, owner, links nor the folder change beside. One exception:
//! a file of another user that is replaced becomes the runner's, because only root may give files away.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use super::{as_nobody, assert_sound, begin, ended};
use crate::support::Folder;

/// A user that owns nothing here, as a number.
const OTHER: u32 = 65533;

/// Who owns the file, seen from the one who runs `kb`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    Runner,
    Other,
}

/// By which name the file is meant.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Name {
    Plain,
    Link,
    HardLink,
}

/// One cell of the matrix.
#[derive(Debug, Clone, Copy)]
struct Cell {
    verb: &'static [&'static str],
    mode: u32,
    folder: u32,
    owner: Owner,
    name: Name,
}

/// What a verb needs: to read, to write in place, to put a new file in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Need {
    Read,
    Write,
    Replace,
}

const VERBS: [(&[&str], Need); 6] = [
    (
        &["search", "lamp", "-f", "file.kb", "--mode", "keyword"],
        Need::Read,
    ),
    (&["verify", "file.kb"], Need::Read),
    (
        &["tag", "lamp.txt", "-f", "file.kb", "--add", "seen"],
        Need::Write,
    ),
    (&["rm", "file.kb", "lamp.txt"], Need::Write),
    (&["seal", "file.kb"], Need::Replace),
    (
        &["index", "sources", "-o", "file.kb", "--rebuild"],
        Need::Replace,
    ),
];

impl Cell {
    /// Whether the verb must succeed.
    fn may(self, need: Need) -> bool {
        let bits = match self.owner {
            Owner::Runner => self.mode >> 6,
            Owner::Other => self.mode,
        };
        let (reads, writes) = (bits & 4 != 0, bits & 2 != 0);
        let makes = self.folder & 2 != 0;
        match need {
            Need::Read => reads,
            Need::Write => reads && writes,
            // Another name would keep the old content, and what is another's stays.
            Need::Replace => reads && writes && makes && self.name != Name::HardLink,
        }
    }
}

fn run(base: &[u8], cell: Cell, need: Need) {
    let folder = Folder::empty();
    let Some(mut kb) = as_nobody(&folder) else {
        return;
    };
    folder.write("sources/lamp.txt", "a lamp on the shore\n");
    let real = folder.write("place/real.kb", base);
    let named = folder.join("file.kb");
    match cell.name {
        Name::Plain => fs::rename(&real, &named).expect("renamed"),
        Name::Link => symlink(&real, &named).expect("a link"),
        Name::HardLink => fs::hard_link(&real, &named).expect("a link"),
    }
    let owner = match cell.owner {
        Owner::Runner => 65534,
        Owner::Other => OTHER,
    };
    chown(&named, Some(owner), Some(owner)).expect("an owner");
    let set = |path: &std::path::Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    };
    set(&named, cell.mode);
    set(&folder.join("place"), 0o755 | cell.folder);
    set(folder.path(), 0o755 | cell.folder);
    let before = fs::metadata(&named).expect("facts");
    kb.args(cell.verb);
    let told = ended(&folder, kb);
    let expected = if cell.may(need) { Some(0) } else { Some(2) };
    let is_search = need == Need::Read;
    assert_eq!(told.code, expected, "{cell:?} {need:?}: {told:#?}");
    let after = fs::metadata(&named).expect("facts");
    let facts = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid(), of.nlink());
    let is_taken_over = cell.owner == Owner::Other && need == Need::Replace && told.code == Some(0);
    if is_taken_over {
        // Only root may give a file away: what replaces the file of another is the runner's, and nobody may
        // do more with it than before.
        assert_eq!((after.uid(), after.gid()), (65534, 65534), "{cell:?}");
        assert_eq!(after.mode() & !before.mode(), 0, "{cell:?}");
    } else {
        assert_eq!(facts(&after), facts(&before), "{cell:?}: {told:#?}");
    }
    assert_eq!(
        fs::symlink_metadata(&named).expect("facts").is_symlink(),
        cell.name == Name::Link,
        "{cell:?}"
    );
    if told.code != Some(0) || is_search {
        assert!(
            fs::read(&named).expect("bytes") == base,
            "{cell:?}: it was written to"
        );
    }
    if told.code != Some(0) {
        assert!(told.stderr.starts_with("error"), "{cell:?}: {told:#?}");
    }
    assert_sound(&named);
    let mut names = folder.names();
    names.retain(|name| !["file.kb", "place", "sources"].contains(&name.as_str()));
    assert!(names.is_empty(), "{cell:?}: {names:?} is left");
    let left = fs::read_dir(folder.join("place"))
        .expect("a folder")
        .count();
    assert_eq!(
        left,
        usize::from(cell.name != Name::Plain),
        "{cell:?}: left in place/"
    );
}

#[test]
fn every_verb_does_what_the_modes_allow_and_changes_no_rights() {
    let _ = begin("permissions", 0);
    let folder = Folder::empty();
    folder.write("sources/lamp.txt", "a lamp on the shore\n");
    folder.kb("index sources -o base.kb").expect(0);
    let base = fs::read(folder.join("base.kb")).expect("bytes");
    let is_long = std::env::var_os("KB_TRIAL_ROUNDS").is_some();
    let mut cells = 0;
    for (verb, need) in VERBS {
        for mode in [0o600, 0o644, 0o400, 0o000, 0o666] {
            for folder in [0o777, 0o755] {
                for owner in [Owner::Runner, Owner::Other] {
                    for name in [Name::Plain, Name::Link, Name::HardLink] {
                        cells += 1;
                        // A process for each: a fifth of them in the short form.
                        if !is_long && cells % 5 != 0 {
                            continue;
                        }
                        run(
                            &base,
                            Cell {
                                verb,
                                mode,
                                folder,
                                owner,
                                name,
                            },
                            need,
                        );
                    }
                }
            }
        }
    }
}
