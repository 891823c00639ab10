//! `kb mcp`: other programs ask the files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_mcp::hosts::{Host, Launch, snippet};
use kb_mcp::{HttpOptions, Note, Opened, Options, StartError, is_index_name};

use crate::args::McpArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::{locate, locate_argument};
use crate::output::format::shell_word;
use crate::output::{Output, log};
use crate::watch::serve::follow;

pub(crate) fn run(arguments: &McpArguments, output: &mut Output) -> Result<Exit, Failure> {
    let options = options(arguments)?;
    if let Some(host) = arguments.print_config {
        return print_config(host, arguments, &options, output);
    }
    match &arguments.http {
        Some(address) => {
            let http = HttpOptions {
                address: address.clone(),
                allow_hosts: arguments.allow_host.clone(),
                allow_origins: arguments.allow_origin.clone(),
                tokens: arguments.tokens.clone(),
            };
            kb_mcp::serve_http(&options, &http).map_err(explain)?;
        }
        None => kb_mcp::serve_stdio(&options).map_err(explain)?,
    }
    Ok(Exit::Found)
}

fn options(arguments: &McpArguments) -> Result<Options, Failure> {
    let note: Note = Arc::new(log);
    let opened = arguments.watch.then(|| {
        let note = Arc::clone(&note);
        let allowed = allowed(&arguments.allow_root);
        let follow: Opened = Arc::new(move |name, file| follow(name, file, &allowed, &note));
        follow
    });
    Ok(Options {
        opened,
        files: files(arguments)?,
        allow_write: arguments.allow_write,
        allow_roots: arguments.allow_root.clone(),
        note,
    })
}

/// The folders that may be indexed, without symbolic links. One that is not there allows nothing, and is
/// an error when the server starts.
fn allowed(given: &[PathBuf]) -> Vec<PathBuf> {
    let here = [PathBuf::from(".")];
    let given = if given.is_empty() { &here } else { given };
    given
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .collect()
}

fn print_config(
    host: Host,
    arguments: &McpArguments,
    options: &Options,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let command = std::env::current_exe()
        .map_err(|error| Failure::io("find out where this program lies", &error))?;
    let launch = Launch {
        command: configured(&command)?,
        arguments: launch_arguments(arguments, options)?,
    };
    let snippet = snippet(host, &launch);
    output.write(&snippet.text)?;
    output.flush()?;
    output.hint(&format!("this belongs in {}", snippet.file));
    Ok(Exit::Found)
}

/// The command line that does the same from any folder.
fn launch_arguments(arguments: &McpArguments, options: &Options) -> Result<Vec<String>, Failure> {
    let mut words = vec!["mcp".to_owned()];
    for (name, path) in &options.files {
        words.push(format!("{name}={}", absolute(path)?));
    }
    if options.allow_write {
        words.push("--allow-write".to_owned());
        // The folder that is allowed without a word is the one this is run in.
        let here = [PathBuf::from(".")];
        let roots = match options.allow_roots.as_slice() {
            [] => &here,
            roots => roots,
        };
        for root in roots {
            let root = root.canonicalize();
            let root = root.map_err(|error| Failure::io("find an allowed folder", &error))?;
            words.push("--allow-root".to_owned());
            words.push(configured(&root)?);
        }
    }
    if arguments.watch {
        words.push("--watch".to_owned());
    }
    Ok(words)
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path);
    configured(&absolute.map_err(|error| Failure::io("find out the current folder", &error))?)
}

/// A path as a configuration can have it.
fn configured(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let message = format!(
            "{} is no text that a configuration can hold",
            path.display()
        );
        Failure::usage(message, None)
    })
}

/// Name and path of every file.
fn files(arguments: &McpArguments) -> Result<Vec<(String, PathBuf)>, Failure> {
    if arguments.files.is_empty() {
        let located = locate(None).map_err(|failure| {
            // The file has no flag here.
            failure.with_hint(
                "`kb mcp FILE.kb` serves that file; `kb index .` makes one from this folder"
                    .to_owned(),
            )
        })?;
        return Ok(vec![named(located.as_os_str())?]);
    }
    arguments.files.iter().map(|word| named(word)).collect()
}

/// Reads `NAME=FILE.kb` or `FILE.kb`, which is called by its file name without the ending.
fn named(word: &OsStr) -> Result<(String, PathBuf), Failure> {
    // A path may have the sign in it; `./` before it says that it is one.
    let parts = word.to_str().and_then(|text| text.split_once('='));
    if let Some((name, path)) = parts.filter(|(name, _)| !name.contains(['/', '\\'])) {
        if !is_index_name(name) {
            return Err(Failure::usage(
                format!("{name:?} cannot be the name of an index"),
                Some("give up to 64 characters, no slash, no comma".to_owned()),
            ));
        }
        return existing(name.to_owned(), PathBuf::from(path));
    }
    let path = PathBuf::from(word);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if !is_index_name(&stem) {
        return Err(Failure::usage(
            format!("{} needs a name that clients can use", path.display()),
            Some(format!("`kb mcp NAME={}`", shell_word(&path))),
        ));
    }
    existing(stem.into_owned(), path)
}

fn existing(name: String, path: PathBuf) -> Result<(String, PathBuf), Failure> {
    Ok((name, locate_argument(&path, "kb mcp")?))
}

/// Why the server does not start, with what would go right.
fn explain(error: StartError) -> Failure {
    match error {
        StartError::File { path, error } => Failure::from_engine(error, "kb mcp", &path),
        StartError::Usage { message, hint } => Failure::usage(message, hint),
        StartError::Io { action, error } => Failure::io(&action, &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_says_everything_that_was_said_here() {
        use clap::Parser;
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let root = folder.display().to_string();
        let line = ["kb", "mcp", "x=a/b.kb", "c.kb", "--watch", "--allow-write"];
        let line = line.into_iter().chain(["--allow-root", &root]);
        let parsed = crate::args::Arguments::try_parse_from(line).unwrap();
        let crate::args::Verb::Mcp(arguments) = parsed.verb else {
            panic!("another verb");
        };
        let options = options(&arguments).unwrap_or_else(|_| panic!("no options"));
        let words = launch_arguments(&arguments, &options).unwrap_or_default();
        let here = std::env::current_dir().unwrap();
        let file = |name: &str| here.join(name).display().to_string();
        let expected = [
            "mcp".to_owned(),
            format!("x={}", file("a/b.kb")),
            format!("c={}", file("c.kb")),
            "--allow-write".to_owned(),
            "--allow-root".to_owned(),
            root,
            "--watch".to_owned(),
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_file_is_called_by_its_name_or_as_it_is_said() {
        let named = |word: &str| named(OsStr::new(word)).map_err(|_| ());
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
