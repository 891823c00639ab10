//! The file that a run over folders makes: its name, and what to do when it cannot be written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kb_engine::{Error, FolderRelation, Kb, SimilarRoot};

use crate::args::TargetArguments;
use crate::failure::Failure;
use crate::locate::{holding, kb_names};
use crate::output::format::{plural, shell_word};

/// A verb that makes a file from folders, and its file.
pub(crate) struct Target<'a> {
    /// `kb index`
    verb: &'static str,
    paths: &'a [PathBuf],
    pub(crate) file: PathBuf,
    /// Whether it was there before this command.
    pub(crate) existed: bool,
    /// What it needs, where it is of another format than this program reads.
    pub(crate) other_format: Option<String>,
    /// Whether it was chosen because it has the folder of the one path.
    pub(crate) is_holder: bool,
}

impl<'a> Target<'a> {
    /// Where to write: as told, else named after the single folder.
    pub(crate) fn new(
        verb: &'static str,
        arguments: &'a TargetArguments,
    ) -> Result<Target<'a>, Failure> {
        let paths = arguments.paths.as_slice();
        let named = |name: &Path| Some(format!("`{}`", command(verb, paths, name)));
        let holder = match (&arguments.output, paths) {
            (None, [path]) => holding(path),
            _ => None,
        };
        let is_holder = holder.is_some();
        let file = match (&arguments.output, paths) {
            (Some(file), _) if file.is_dir() => {
                let inside = file.join(default_name(paths).unwrap_or("NAME.kb".into()));
                let message = format!("{} is a folder", file.display());
                return Err(Failure::usage(message, named(&inside)));
            }
            (Some(file), _) => file.clone(),
            (None, [path]) if !path.exists() => {
                let error = Error::PathNotFound { path: path.clone() };
                return Err(Failure::from_engine(error, verb, Path::new("")));
            }
            (None, [_]) => match holder.or_else(|| default_file(paths)) {
                Some(file) => file,
                None => {
                    let message = "this folder has no name to call the file by";
                    return Err(Failure::usage(message, named(Path::new("NAME.kb"))));
                }
            },
            (None, _) => {
                let message = "several paths need a name for the file";
                return Err(Failure::usage(message, named(Path::new("NAME.kb"))));
            }
        };
        let existed = file.exists();
        let other_format = match existed.then(|| Kb::open(&file)) {
            Some(Err(Error::FormatUnsupported { needs, .. })) => Some(needs),
            _ => None,
        };
        Ok(Target {
            verb,
            paths,
            existed,
            other_format,
            file,
            is_holder,
        })
    }

    /// What is said of a file that nobody named.
    pub(crate) fn holder_note(&self) -> Option<String> {
        let path = self.paths.first().filter(|_| self.is_holder)?;
        let (path, file) = (path.display(), self.file.display());
        Some(format!(
            "{path} belongs to {file}; -o NAME.kb makes a file of its own"
        ))
    }

    /// `is as it was`, or `was not written`.
    pub(crate) fn state(&self) -> &'static str {
        if self.existed {
            "is as it was"
        } else {
            "was not written"
        }
    }

    /// The same after a run that was stopped, with what to do: a long first run keeps what it committed.
    pub(crate) fn state_after_stop(&self) -> (String, Option<String>) {
        let begun = (!self.existed).then(|| Kb::open(&self.file).and_then(|kb| kb.info()));
        match begun {
            Some(Ok(info)) => (
                format!("has {} so far", plural(info.documents, "document")),
                Some("the same command goes on from there".to_owned()),
            ),
            _ => (self.state().to_owned(), None),
        }
    }

    /// An error of the engine with what to do about it.
    pub(crate) fn explain(&self, error: Error) -> Failure {
        let file = self.file.as_path();
        let to_another = || command(self.verb, self.paths, &unused_name(file));
        let to_this = || command("kb index", self.paths, file);
        let hint = match &error {
            Error::NotAKb { .. } if self.existed => format!("`{}`", to_another()),
            Error::FormatUnsupported { .. } if self.existed => {
                // An index run makes anew what it can.
                let refused = match self.verb {
                    "kb index" => to_another(),
                    _ => to_this(),
                };
                format!("a newer file needs a newer `kb`; `{refused}` makes an older one anew")
            }
            Error::NotReplaceable { .. } if self.other_format.is_some() => format!(
                "`{} --rebuild` makes it anew without them; `{}` leaves it as it is",
                to_this(),
                to_another()
            ),
            _ => {
                let hint =
                    writing_hint(&error, file, Some("-o")).or_else(|| self.gone_hint(&error));
                return Failure::from_engine(error, self.verb, file).and_hint(hint);
            }
        };
        Failure::from_engine(error, self.verb, file).with_hint(hint)
    }

    /// The same of a run that only says what would change.
    pub(crate) fn explain_check(&self, error: Error) -> Failure {
        match error {
            Error::FormatUnsupported { .. } if self.existed => {
                let command = command(self.verb, self.paths, &self.file);
                let hint = format!(
                    "a newer file needs a newer `kb`; `{command}` without --check makes an older one anew"
                );
                Failure::from_engine(error, self.verb, &self.file).with_hint(hint)
            }
            _ => self.explain(error),
        }
    }

    /// The file is gone while the verb is at work with it.
    pub(crate) fn lost(&self) -> Failure {
        let message = format!(
            "{} was moved or removed while it was followed; no new file was made",
            self.file.display()
        );
        let command = command(self.verb, self.paths, &self.file);
        let hint = format!("put it back and start again; without it `{command}` makes a new file");
        Failure::new("FILE_REPLACED", message, Some(hint))
    }

    /// The command that makes a folder the root whose name it has.
    pub(crate) fn root_hint(&self, similar: &SimilarRoot) -> String {
        let is_it = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| path == similar.folder);
        let folder = self.paths.iter().find(is_it).unwrap_or(&similar.folder);
        let command = command("kb index", std::slice::from_ref(folder), &self.file);
        let root = shell_word(&similar.root);
        format!(
            "if it is the same folder, `{command} --root {root}` says so and removes the new root again"
        )
    }

    /// A folder that the file was made from and that is gone as a whole.
    fn gone_hint(&self, error: &Error) -> Option<String> {
        let Error::PathNotFound { path } = error else {
            return None;
        };
        let gone = std::path::absolute(path).ok()?;
        let roots = Kb::open(&self.file).ok()?.info().ok()?.roots;
        roots
            .iter()
            .any(|root| gone.starts_with(&root.source))
            .then(|| {
                let command = command("kb index", self.paths, &self.file);
                format!("`{command} --prune` removes its documents")
            })
    }
}

/// What to do when the output cannot be written, which says nothing against the sources.
/// `flag` names another file, if the verb has one.
pub(crate) fn writing_hint(error: &Error, file: &Path, flag: Option<&str>) -> Option<String> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let target = absolute(file);
    match error {
        Error::PathNotFound { path } if file.parent() == Some(path) => Some(format!(
            "`mkdir -p {}` first, or name another file",
            shell_word(path)
        )),
        // The file itself, or the one that is built under another name beside it.
        Error::Io { path, .. }
            if absolute(path) == target || is_built_for(&target, &absolute(path)) =>
        {
            Some(match flag {
                Some(flag) => format!(
                    "{} cannot be written there; name a file elsewhere with {flag}",
                    file.display()
                ),
                None => format!(
                    "{} may be read and not written; change a copy of it",
                    file.display()
                ),
            })
        }
        Error::Storage { .. } => {
            flag.map(|flag| format!("or name a file on another disk with {flag}"))
        }
        Error::NotReplaceable { .. } => {
            flag.map(|flag| format!("or name a file that is not there yet with {flag}"))
        }
        _ => None,
    }
}

/// Whether `path` is where `target` is being built: `.notes.kb.tmp` for `notes.kb`, beside it.
pub(crate) fn is_built_for(target: &Path, path: &Path) -> bool {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let own = name(target);
    let stem = own.strip_suffix(".kb").unwrap_or(&own);
    path.parent() == target.parent() && name(path) == format!(".{stem}.kb.tmp")
}

/// The file named after the only path; where there is none, one that was made from it.
fn default_file(paths: &[PathBuf]) -> Option<PathBuf> {
    let named = default_name(paths).map(PathBuf::from)?;
    if named.exists() {
        return Some(named);
    }
    file_of(paths).or(Some(named))
}

/// The .kb of the current folder that was made from the only path, or from a folder around it: after a folder is
/// renamed its file has the old name. Of several the one that changed last, a file that is not sealed first.
fn file_of(paths: &[PathBuf]) -> Option<PathBuf> {
    let path = paths.first()?.canonicalize().ok()?;
    let folder = if path.is_dir() {
        path.as_path()
    } else {
        path.parent()?
    };
    let made_from = |name: OsString| {
        let kb = Kb::open(&name).ok()?;
        let relation = kb.relation_of(folder).ok()?;
        let info = kb.info().ok()?;
        matches!(relation, FolderRelation::Root | FolderRelation::InsideRoot)
            .then_some(((info.content_root.is_none(), info.updated_ms), name))
    };
    let files = kb_names(Path::new(".")).into_iter().filter_map(made_from);
    files.max().map(|(_, name)| PathBuf::from(name))
}

/// `<folder name>.kb`, or the name of a file with that ending.
fn default_name(paths: &[PathBuf]) -> Option<OsString> {
    let path = paths.first()?.canonicalize().ok()?;
    let mut name = if path.is_dir() {
        path.file_name()?.to_owned()
    } else {
        path.file_stem()?.to_owned()
    };
    name.push(".kb");
    Some(name)
}

/// The command with another output, to be offered.
fn command(verb: &str, paths: &[PathBuf], file: &Path) -> String {
    let paths: Vec<String> = paths.iter().map(shell_word).collect();
    format!("{verb} {} -o {}", paths.join(" "), shell_word(file))
}

/// `notes.kb` -> `notes-2.kb`, or the first number that is free.
fn unused_name(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    let numbered = |number: u32| {
        let mut name = stem.to_owned();
        name.push(format!("-{number}.kb"));
        file.with_file_name(name)
    };
    (2..100)
        .map(numbered)
        .find(|name| !name.exists())
        .unwrap_or_else(|| numbered(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offered_command_is_quoted_as_a_shell_needs_it() {
        let paths = [PathBuf::from("my docs"), PathBuf::from("src")];
        assert_eq!(
            command("kb index", &paths, Path::new("a.kb")),
            "kb index 'my docs' src -o a.kb"
        );
    }

    #[test]
    fn an_unused_name_is_numbered() {
        let name = unused_name(Path::new("/nowhere/notes.kb"));
        assert_eq!(name, Path::new("/nowhere/notes-2.kb"));
    }

    #[test]
    fn the_file_that_is_being_built_is_known_by_its_name() {
        let built = |target: &str, path: &str| is_built_for(Path::new(target), Path::new(path));
        assert!(built("/a/notes.kb", "/a/.notes.kb.tmp"));
        assert!(built("/a/thesis.txt", "/a/.thesis.txt.kb.tmp"));
        assert!(!built("/a/notes.kb", "/b/.notes.kb.tmp"));
        assert!(!built("/a/notes.kb", "/a/.other.kb.tmp"));
    }
}
