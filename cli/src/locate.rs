//! Finds the .kb file of a command that does not name one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kb_engine::{Kb, RootInfo};

use crate::failure::Failure;
use crate::output::format::shell_word;

/// Returns the .kb file for this process: `given`, else `KB_FILE`, else one in the current folder or above it.
pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder =
        std::env::current_dir().map_err(|error| Failure::io("find the current folder", &error))?;
    #[cfg(feature = "testing")]
    let ceiling = crate::faults::ceiling();
    #[cfg(not(feature = "testing"))]
    let ceiling: Option<PathBuf> = None;
    locate_from(
        given,
        std::env::var_os("KB_FILE"),
        &folder,
        ceiling.as_deref(),
    )
}

/// Checks a .kb file that was given as an argument of `command`: a folder is an error.
pub(crate) fn locate_argument(file: &Path, command: &str) -> Result<PathBuf, Failure> {
    refuse_folder(file, Path::new(""), "", command)
}

/// Looks in `folder` and in those above it, up to `ceiling`.
fn locate_from(
    given: Option<&Path>,
    variable: Option<OsString>,
    folder: &Path,
    ceiling: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let is_below = |above: &&Path| ceiling.is_none_or(|ceiling| above.starts_with(ceiling));
    let folders = || folder.ancestors().take_while(is_below);
    if let Some(file) = given {
        return refuse_folder(file, folder, "", "-f");
    }
    if let Some(file) = variable.filter(|value| !value.is_empty()) {
        return refuse_folder(Path::new(&file), folder, " (from KB_FILE)", "-f");
    }
    for above in folders() {
        let names = kb_names(above);
        match names.as_slice() {
            [] => {}
            // In the current folder the bare name is enough, and reads better.
            [name] if above == folder => return Ok(PathBuf::from(name)),
            [name] => return Ok(above.join(name)),
            [first, ..] => {
                let Some(name) = of_this_folder(above, &names, folder) else {
                    return Err(several(above, folder, &names, first));
                };
                let is_here = above == folder;
                return Ok(if is_here {
                    name.into()
                } else {
                    above.join(name)
                });
            }
        }
    }
    let looked: Vec<String> = folders().map(|above| above.display().to_string()).collect();
    Err(Failure::usage(
        format!(
            "no .kb file found: KB_FILE is not set, and there is none in {}",
            looked.join(", ")
        ),
        Some(
            "`kb index .` creates one from this folder; -f FILE.kb selects one elsewhere"
                .to_owned(),
        ),
    ))
}

/// One of several .kb files in a folder.
struct Candidate<'n> {
    name: &'n OsString,
    roots: Vec<RootInfo>,
    modified: SystemTime,
}

impl Candidate<'_> {
    /// Whether the file stores where its folders are; a sealed file stores only their names.
    fn has_places(&self) -> bool {
        let mut roots = self.roots.iter();
        roots.any(|root| Path::new(&root.source).is_absolute())
    }

    /// Whether the current folder, with links resolved, is in one of its folders.
    fn holds(&self, here: &Path) -> bool {
        let mut roots = self.roots.iter();
        roots.any(|root| {
            let source = Path::new(&root.source);
            if source.is_absolute() {
                return here.starts_with(source);
            }
            let mut above = here.ancestors();
            above.any(|above| {
                above
                    .file_name()
                    .is_some_and(|name| source == Path::new(name))
            })
        })
    }

    /// Whether its folders have the same names as those of another file: it may have been sealed from that file.
    fn is_copy_of(&self, other: &Candidate<'_>) -> bool {
        let name = |root: &RootInfo| {
            let source = Path::new(&root.source);
            let name = source.file_name().map(OsString::from);
            (name, root.prefix.clone())
        };
        let of_other: Vec<_> = other.roots.iter().map(name).collect();
        !self.has_places() && self.roots.iter().all(|root| of_other.contains(&name(root)))
    }
}

/// Most files of a folder that are opened to choose one.
const MAX_CANDIDATES: usize = 32;

/// The file among several that is meant in `folder`: one that holds it, the newest, those first that are not sealed; else
/// the only one that is no sealed copy of another. `None`: nobody knows.
fn of_this_folder<'n>(above: &Path, names: &'n [OsString], folder: &Path) -> Option<&'n OsString> {
    if names.len() > MAX_CANDIDATES {
        return None;
    }
    let here = folder.canonicalize().ok()?;
    let candidate = |name| {
        let path = above.join(name);
        let modified = std::fs::metadata(&path).and_then(|found| found.modified());
        Some(Candidate {
            name,
            roots: Kb::open(&path).and_then(|kb| kb.roots()).ok()?,
            modified: modified.unwrap_or(SystemTime::UNIX_EPOCH),
        })
    };
    let all: Vec<Candidate<'_>> = names.iter().filter_map(candidate).collect();
    let holding = all.iter().filter(|one| one.holds(&here));
    if let Some(best) = holding.max_by_key(|one| (one.has_places(), one.modified)) {
        return Some(best.name);
    }
    // A file that cannot be read may be the one.
    if all.len() < names.len() {
        return None;
    }
    let is_copy = |one: &&Candidate<'_>| {
        let mut others = all.iter().filter(|other| other.has_places());
        !one.roots.is_empty() && others.any(|other| one.is_copy_of(other))
    };
    let mut originals = all.iter().filter(|one| !is_copy(one));
    let first = originals.next()?;
    originals.next().is_none().then_some(first.name)
}

/// The .kb file that has the folder of a file as one of its folders, here or above, or beside the file or above it;
/// the newest of several.
pub(crate) fn holding(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok().filter(|file| file.is_file())?;
    let here = std::env::current_dir().ok()?;
    #[cfg(feature = "testing")]
    let ceiling = crate::faults::ceiling();
    #[cfg(not(feature = "testing"))]
    let ceiling: Option<PathBuf> = None;
    let is_below = |above: &&Path| {
        let ceiling = ceiling.as_ref();
        ceiling.is_none_or(|ceiling| above.starts_with(ceiling))
    };
    let folders = here.ancestors().chain(file.ancestors().skip(1));
    for above in folders.filter(is_below) {
        let names = kb_names(above);
        let holds = |name: &&OsString| {
            let roots = Kb::open(above.join(name)).and_then(|kb| kb.roots());
            let mut roots = roots.unwrap_or_default().into_iter();
            roots.any(|root| root.files.is_empty() && file.starts_with(&root.source))
        };
        let modified = |name: &&OsString| {
            let found = std::fs::metadata(above.join(name));
            found.and_then(|found| found.modified()).ok()
        };
        let holding = names.iter().take(MAX_CANDIDATES).filter(holds);
        if let Some(name) = holding.max_by_key(modified) {
            return Some(if above == here {
                PathBuf::from(name)
            } else {
                above.join(name)
            });
        }
    }
    None
}

fn several(above: &Path, folder: &Path, names: &[OsString], first: &OsString) -> Failure {
    let list: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let example = if above == folder {
        PathBuf::from(first)
    } else {
        above.join(first)
    };
    Failure::usage(
        format!(
            "several .kb files in {}: {}",
            above.display(),
            list.join(", ")
        ),
        Some(format!(
            "choose one with `-f {}`, or set KB_FILE",
            shell_word(&example)
        )),
    )
}

/// Returns the file, or an error if it is a folder. The hint offers a .kb file in this folder, after `command`.
fn refuse_folder(
    file: &Path,
    folder: &Path,
    origin: &str,
    command: &str,
) -> Result<PathBuf, Failure> {
    if !folder.join(file).is_dir() {
        return Ok(file.to_owned());
    }
    let hint = match kb_names(&folder.join(file)).first() {
        Some(name) => format!("`{command} {}`", shell_word(file.join(name))),
        None => "`kb index FOLDER` creates a .kb file from a folder".to_owned(),
    };
    Err(Failure::usage(
        format!("{}{origin} is a folder, not a .kb file", file.display()),
        Some(hint),
    ))
}

/// Returns the names of the .kb files in a folder, sorted; none if the folder cannot be read.
pub(crate) fn kb_names(folder: &Path) -> Vec<OsString> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<OsString> = entries
        .filter_map(Result::ok)
        .filter(|entry| {
            Path::new(&entry.file_name())
                .extension()
                .is_some_and(|end| end == "kb")
        })
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::failure::FailureReport;

    /// A folder `a/b/c` below a temporary one. Above it lies a file that no test may see, as it may
    /// on any machine.
    struct Tree {
        _temporary: tempfile::TempDir,
        top: PathBuf,
    }

    impl Tree {
        fn new() -> Tree {
            let temporary = tempfile::tempdir().unwrap();
            let top = temporary.path().join("top");
            fs::create_dir_all(top.join("a/b/c")).unwrap();
            fs::write(temporary.path().join("foreign.kb"), "").unwrap();
            Tree {
                _temporary: temporary,
                top,
            }
        }

        fn touch(&self, name: &str) {
            fs::write(self.top.join(name), "").unwrap();
        }

        fn locate(&self, folder: &str) -> Result<PathBuf, FailureReport> {
            let folder = self.top.join(folder);
            locate_from(None, None, &folder, Some(&self.top)).map_err(report)
        }
    }

    fn report(failure: Failure) -> FailureReport {
        match failure {
            Failure::Reported(report) => *report,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_nearest_folder_with_a_kb_file_wins() {
        let tree = Tree::new();
        tree.touch("far.kb");
        assert_eq!(tree.locate("a/b/c").unwrap(), tree.top.join("far.kb"));
        tree.touch("a/b/near.kb");
        assert_eq!(tree.locate("a/b/c").unwrap(), tree.top.join("a/b/near.kb"));
        assert_eq!(tree.locate("a/b").unwrap(), PathBuf::from("near.kb"));
    }

    #[test]
    fn several_files_are_listed_and_one_is_offered() {
        let tree = Tree::new();
        tree.touch("a/two.kb");
        tree.touch("a/one.kb");
        let told = tree.locate("a").unwrap_err();
        assert!(
            told.message.ends_with(": one.kb, two.kb"),
            "{}",
            told.message
        );
        assert!(told.hint.unwrap().contains("`-f one.kb`"));
    }

    #[test]
    fn folders_and_unfinished_files_do_not_count() {
        let tree = Tree::new();
        fs::create_dir(tree.top.join("a/b/folder.kb")).unwrap();
        tree.touch("a/b/.x.kb.tmp");
        tree.touch("a/b/.kb");
        tree.touch("a/real.kb");
        assert_eq!(tree.locate("a/b").unwrap(), tree.top.join("a/real.kb"));
    }

    #[test]
    fn none_anywhere_lists_the_folders_looked_at() {
        let tree = Tree::new();
        let told = tree.locate("a/b").unwrap_err();
        assert!(!told.message.contains("foreign"), "{}", told.message);
        for folder in ["a/b", "a", ""] {
            assert!(
                told.message
                    .contains(&tree.top.join(folder).display().to_string())
            );
        }
        assert!(told.hint.unwrap().contains("`kb index .`"));
    }

    #[test]
    fn flag_beats_variable_beats_folder() {
        let tree = Tree::new();
        tree.touch("a/here.kb");
        let folder = tree.top.join("a");
        let both = locate_from(
            Some(Path::new("flag.kb")),
            Some("variable.kb".into()),
            &folder,
            None,
        );
        assert_eq!(both.unwrap(), PathBuf::from("flag.kb"));
        let variable = locate_from(None, Some("variable.kb".into()), &folder, None);
        assert_eq!(variable.unwrap(), PathBuf::from("variable.kb"));
        assert_eq!(
            locate_from(None, Some("".into()), &folder, None).unwrap(),
            PathBuf::from("here.kb")
        );
    }

    #[test]
    fn a_folder_as_the_file_is_refused_with_what_it_holds() {
        let tree = Tree::new();
        tree.touch("a/notes.kb");
        let told = report(locate_from(Some(Path::new("a")), None, &tree.top, None).unwrap_err());
        assert_eq!(told.hint.as_deref(), Some("`-f a/notes.kb`"));
    }
}
