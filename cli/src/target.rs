//! The output file of `kb index` and `kb watch`: its name, and what to do if it cannot be written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kb_engine::{Error, FolderRelation, Kb, SimilarRoot};

use crate::args::TargetArguments;
use crate::failure::Failure;
use crate::locate::{holding, kb_names};
use crate::output::format::{count, plural, shell_word};

/// A verb that writes a .kb file from folders, and that file.
pub(crate) struct Target<'a> {
    /// `kb index`
    verb: &'static str,
    paths: &'a [PathBuf],
    pub(crate) file: PathBuf,
    /// Whether the file existed before this command.
    pub(crate) existed: bool,
    /// What it needs, where it is of another format than this program reads.
    pub(crate) other_format: Option<String>,
    /// Whether the file was chosen because the single path is inside one of its folders.
    pub(crate) is_holder: bool,
}

impl<'a> Target<'a> {
    /// Chooses the file: the given output, else one that has the path, else one named after the single path.
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
                    let message = "this folder has no name to derive the file name from";
                    return Err(Failure::usage(message, named(Path::new("NAME.kb"))));
                }
            },
            (None, _) => {
                let message = "several paths are given, but no name for the file";
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

    /// Returns the note about a file that was chosen without being named.
    pub(crate) fn holder_note(&self) -> Option<String> {
        let path = self.paths.first().filter(|_| self.is_holder)?;
        let (path, file) = (path.display(), self.file.display());
        Some(format!(
            "{path} is in a folder of {file}, which is updated; -o NAME.kb writes another file"
        ))
    }

    /// Returns the note about a file of an older format, which a run rebuilds.
    pub(crate) fn rebuilt_note(&self) -> Option<String> {
        let before = self.other_format.as_ref()?;
        Some(format!(
            "{} had {before} and was rebuilt",
            self.file.display()
        ))
    }

    /// Returns `is unchanged`, or `was not written`.
    pub(crate) fn state(&self) -> &'static str {
        if self.existed {
            "is unchanged"
        } else {
            "was not written"
        }
    }

    /// Returns the same after a run that was stopped, with a hint: a long first run keeps what it committed.
    pub(crate) fn state_after_stop(&self) -> (String, Option<String>) {
        let begun = (!self.existed).then(|| Kb::open(&self.file).and_then(|kb| kb.info()));
        match begun {
            Some(Ok(info)) => (
                match info.symbols_pending {
                    0 => format!("has {} so far", plural(info.documents, "document")),
                    pending => format!(
                        "has {} so far, symbols of {} are pending",
                        plural(info.documents, "document"),
                        count(pending)
                    ),
                },
                Some("run the same command again to continue".to_owned()),
            ),
            _ => (self.state().to_owned(), None),
        }
    }

    /// Turns an error of the engine into a failure with a hint.
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
                format!("a newer file needs a newer `kb`; `{refused}` rebuilds an older one")
            }
            Error::NotReplaceable { .. } if self.other_format.is_some() => format!(
                "`{} --rebuild` rebuilds it without them; `{}` leaves it as it is",
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
                    "a newer file needs a newer `kb`; `{command}` without --check rebuilds an older one"
                );
                Failure::from_engine(error, self.verb, &self.file).with_hint(hint)
            }
            _ => self.explain(error),
        }
    }

    /// Returns the failure when the file disappears while it is watched.
    pub(crate) fn lost(&self) -> Failure {
        let message = format!(
            "{} was moved or removed while it was watched; no new file was created",
            self.file.display()
        );
        let command = command(self.verb, self.paths, &self.file);
        let hint = format!(
            "put the file back and run the command again; or `{command}` creates a new file"
        );
        Failure::new("FILE_REPLACED", message, Some(hint))
    }

    /// Returns the hint with the command that makes a folder an existing root.
    pub(crate) fn root_hint(&self, similar: &SimilarRoot) -> String {
        let is_it = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| path == similar.folder);
        let folder = self.paths.iter().find(is_it).unwrap_or(&similar.folder);
        let command = command("kb index", std::slice::from_ref(folder), &self.file);
        let root = shell_word(&similar.root);
        format!(
            "if it is the same folder, run `{command} --root {root}`, which also removes the new root"
        )
    }

    /// Returns the hint for an indexed folder that no longer exists.
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

/// Returns what to do if the output cannot be written. `flag` is the flag of the verb that names another file, if there
/// is one.
pub(crate) fn writing_hint(error: &Error, file: &Path, flag: Option<&str>) -> Option<String> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let target = absolute(file);
    match error {
        Error::PathNotFound { path } if file.parent() == Some(path) => Some(format!(
            "run `mkdir -p {}` first, or name another file",
            shell_word(path)
        )),
        // The file itself, or the temporary file beside it.
        Error::Io { path, .. }
            if absolute(path) == target || is_built_for(&target, &absolute(path)) =>
        {
            Some(match flag {
                Some(flag) => format!(
                    "{} cannot be written there; name a file elsewhere with {flag}",
                    file.display()
                ),
                None => format!(
                    "{} can be read but not written; change a copy of it",
                    file.display()
                ),
            })
        }
        Error::Storage { .. } => {
            flag.map(|flag| format!("or name a file on another disk with {flag}"))
        }
        Error::NotReplaceable { .. } => flag.map(|flag| format!("or name a new file with {flag}")),
        _ => None,
    }
}

/// Whether `path` is the temporary file of `target`: `.notes.kb.tmp` beside `notes.kb`.
pub(crate) fn is_built_for(target: &Path, path: &Path) -> bool {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let own = name(target);
    let stem = own.strip_suffix(".kb").unwrap_or(&own);
    path.parent() == target.parent() && name(path) == format!(".{stem}.kb.tmp")
}

/// Returns the file named after the only path. If it does not exist, an existing file that was indexed from the path.
fn default_file(paths: &[PathBuf]) -> Option<PathBuf> {
    let named = default_name(paths).map(PathBuf::from)?;
    if named.exists() {
        return Some(named);
    }
    file_of(paths).or(Some(named))
}

/// Returns the .kb in the current folder that was indexed from the only path, or from a folder that contains it: after a
/// folder is renamed, its file has the old name. Among several, files that are not sealed come first, then the newest.
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

/// Returns `<folder name>.kb`, or the name of the single file with this extension.
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

/// Returns the command with another output, for a hint.
fn command(verb: &str, paths: &[PathBuf], file: &Path) -> String {
    let paths: Vec<String> = paths.iter().map(shell_word).collect();
    format!("{verb} {} -o {}", paths.join(" "), shell_word(file))
}

/// Returns an unused name: `notes-2.kb` for `notes.kb`, or with the first free number.
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
