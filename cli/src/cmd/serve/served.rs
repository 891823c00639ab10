//! What the verbs that serve files have in common: which files, what clients may do, why a server does not start.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use kb_engine::install_reranker;
use kb_mcp::{Note, Opened, Options, StartError, is_index_name};

use crate::args::ServedArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::{locate, locate_argument};
use crate::models::reranker;
use crate::output::format::shell_word;
use crate::output::log;
use crate::watch::serve::follow;

/// What a server is started with; all tools under their own names.
pub(super) fn options(arguments: &ServedArguments, verb: &'static str) -> Result<Options, Failure> {
    let note: Note = Arc::new(log);
    if let Some(rerank) = reranker(&arguments.rerank)? {
        install_reranker(rerank).map_err(|error| Failure::usage(error.to_string(), None))?;
    }
    let opened = (arguments.allow_write && !arguments.no_watch).then(|| {
        let note = Arc::clone(&note);
        let allowed = allowed(&arguments.allow_root);
        let with_sealed = arguments.watch;
        let follow: Opened =
            Arc::new(move |name, file| follow(verb, name, file, &allowed, with_sealed, &note));
        follow
    });
    Ok(Options {
        command: verb,
        opened,
        files: files(&arguments.files, verb)?,
        allow_write: arguments.allow_write,
        allow_roots: arguments.allow_root.clone(),
        tools: None,
        tool_prefix: None,
        threads: arguments.threads,
        note,
    })
}

/// Returns the folders that may be indexed, with symbolic links resolved. A folder that does not exist allows nothing,
/// and is an error when the server starts.
fn allowed(given: &[PathBuf]) -> Vec<PathBuf> {
    let here = [PathBuf::from(".")];
    let given = if given.is_empty() { &here } else { given };
    given
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .collect()
}

/// How a server ended that did not fail.
pub(super) fn ended() -> Exit {
    if kb_mcp::was_interrupted() {
        Exit::Interrupted
    } else {
        Exit::Found
    }
}

/// Name and path of every file.
pub(super) fn files(given: &[OsString], verb: &str) -> Result<Vec<(String, PathBuf)>, Failure> {
    if given.is_empty() {
        let located = locate(None).map_err(|failure| {
            // The file has no flag here.
            failure.with_hint(format!(
                "`{verb} FILE.kb` serves this file; `kb index .` creates one from this folder"
            ))
        })?;
        return Ok(vec![named(located.as_os_str(), verb)?]);
    }
    given.iter().map(|word| named(word, verb)).collect()
}

/// Reads `NAME=FILE.kb` or `FILE.kb`, which is called by its file name without the ending.
fn named(word: &OsStr, verb: &str) -> Result<(String, PathBuf), Failure> {
    // A path may have the sign in it; `./` before it says that it is one.
    let parts = word.to_str().and_then(|text| text.split_once('='));
    if let Some((name, path)) = parts.filter(|(name, _)| !name.contains(['/', '\\'])) {
        if !is_index_name(name) {
            return Err(Failure::usage(
                format!("{name:?} cannot be the name of an index"),
                Some("a name has at most 64 characters, no slash and no comma".to_owned()),
            ));
        }
        return existing(name.to_owned(), PathBuf::from(path), verb);
    }
    let path = PathBuf::from(word);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if !is_index_name(&stem) {
        return Err(Failure::usage(
            format!("{} needs a name that clients can use", path.display()),
            Some(format!("`{verb} NAME={}`", shell_word(&path))),
        ));
    }
    existing(stem.into_owned(), path, verb)
}

fn existing(name: String, path: PathBuf, verb: &str) -> Result<(String, PathBuf), Failure> {
    Ok((name, locate_argument(&path, verb)?))
}

/// Turns an error at the start of the server into a failure with a hint.
pub(super) fn explain(error: StartError, verb: &str) -> Failure {
    match error {
        StartError::File { path, error } => Failure::from_engine(error, verb, &path),
        StartError::Usage { message, hint } => Failure::usage(message, hint),
        StartError::InvalidToken { message, hint } => Failure::new("INVALID_TOKEN", message, hint),
        StartError::NotConnected { message, hint } => Failure::new("NOT_CONNECTED", message, hint),
        StartError::Io { action, error } => Failure::io(&action, &error),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::PathBuf;

    #[test]
    fn a_file_is_called_by_its_name_or_as_it_is_said() {
        let named = |word: &str| super::named(OsStr::new(word), "kb mcp").map_err(|_| ());
        let pair = |name: &str, path: &str| Ok((name.to_owned(), PathBuf::from(path)));
        assert_eq!(
            named("a/team notes.kb"),
            pair("team notes", "a/team notes.kb")
        );
        assert_eq!(named("code=src.kb"), pair("code", "src.kb"));
        assert_eq!(named("code=a/b=c.kb"), pair("code", "a/b=c.kb"));
        assert_eq!(named("./a=b.kb"), Err(()));
        assert_eq!(named("x=./a=b.kb"), pair("x", "./a=b.kb"));
        for wrong in ["=a.kb", "a,b=c.kb", " =a.kb"] {
            assert_eq!(named(wrong), Err(()), "{wrong}");
        }
    }
}
