//! `kb index`: folders and files become one .kb.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_engine::{Error, IndexOptions, KbWriter, Report, Skipped};

use crate::args::IndexArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::human::{bytes, duration, plural, shell_word};
use crate::json::Object;
use crate::output::{Output, tell};
use crate::progress::Meter;

/// Names shown for each reason to leave files out, unless all are asked for.
const SHOWN_NAMES: usize = 3;

/// Second interrupt: the status of an error, as for any run that did not finish.
const INTERRUPTED_STATUS: i32 = 2;

pub(crate) fn run(arguments: &IndexArguments, output: &mut Output) -> Result<Exit, Failure> {
    let file = output_file(arguments)?;
    let existed = file.exists();
    let cancel = stop_on_interrupt()?;
    let meter = Meter::new(output.stderr_is_terminal() && !arguments.quiet);
    let result = write(arguments, &file, &cancel, &meter);
    meter.clear();
    let report = match result {
        Ok(report) => report,
        Err(Error::Cancelled) => {
            let state = if existed {
                "is as it was"
            } else {
                "was not written"
            };
            let message = format!("stopped; {} {state}", file.display());
            return Err(Failure::new(Error::Cancelled.code(), message, None));
        }
        Err(error) => return Err(explain(error, arguments, &file, existed)),
    };
    let sources: Vec<String> = arguments
        .paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if report.documents == 0 {
        output.note(&format!("nothing to index in {}", sources.join(", ")));
        for line in skipped_lines(&report.skipped, arguments.verbose) {
            output.note(&line);
        }
        let state = if existed {
            "is as it was"
        } else {
            "was not written"
        };
        output.note(&format!("{} {state}", file.display()));
        return Ok(Exit::Nothing);
    }
    let file_bytes = std::fs::metadata(&file)
        .map_err(|error| Failure::io(&format!("read {}", file.display()), &error))?
        .len();
    if arguments.json.json {
        output.json(report_object(&file, file_bytes, &report))?;
    } else if !arguments.quiet {
        show_report(&file, file_bytes, &report, arguments.verbose, output)?;
    }
    Ok(Exit::Found)
}

/// One run; a file appears or changes only when there is something to hold.
fn write(
    arguments: &IndexArguments,
    file: &Path,
    cancel: &Arc<AtomicBool>,
    meter: &Meter,
) -> kb_engine::Result<Report> {
    let options = IndexOptions {
        threads: arguments.threads,
        max_file_bytes: arguments.max_file_size,
        cancel: Some(Arc::clone(cancel)),
        ..IndexOptions::default()
    };
    let mut writer = KbWriter::open_or_create(file)?;
    let report = writer.index(&arguments.paths, &options, &mut |progress| {
        meter.show(progress)
    })?;
    Ok(report)
}

/// The first interrupt asks the run to stop, the second ends the process at once.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED_STATUS);
        }
        tell("\nstopping; interrupt again to leave at once");
    })
    .map_err(|error| Failure::new("IO", format!("cannot listen for interrupts: {error}"), None))?;
    Ok(cancel)
}

/// Where to write: as told, else named after the single folder.
fn output_file(arguments: &IndexArguments) -> Result<PathBuf, Failure> {
    if let Some(file) = &arguments.output {
        if file.is_dir() {
            let inside = file.join(default_name(&arguments.paths).unwrap_or("NAME.kb".into()));
            return Err(Failure::usage(
                format!("{} is a folder", file.display()),
                Some(format!("`{}`", command(&arguments.paths, &inside))),
            ));
        }
        return Ok(file.clone());
    }
    if let [path] = arguments.paths.as_slice() {
        if !path.exists() {
            return Err(Failure::from_engine(
                Error::PathNotFound { path: path.clone() },
                "kb index",
                Path::new(""),
            ));
        }
    } else {
        return Err(Failure::usage(
            "several paths need a name for the file",
            Some(format!(
                "`{}`",
                command(&arguments.paths, Path::new("NAME.kb"))
            )),
        ));
    }
    default_name(&arguments.paths)
        .map(PathBuf::from)
        .ok_or_else(|| {
            Failure::usage(
                "this folder has no name to call the file by",
                Some(format!(
                    "`{}`",
                    command(&arguments.paths, Path::new("NAME.kb"))
                )),
            )
        })
}

/// `<folder name>.kb`, or the name of a file with that ending.
fn default_name(paths: &[PathBuf]) -> Option<OsString> {
    let path = paths.first()?.canonicalize().ok()?;
    let mut name = match path.is_dir() {
        true => path.file_name()?.to_owned(),
        false => path.file_stem()?.to_owned(),
    };
    name.push(".kb");
    Some(name)
}

/// The command with another output, to be offered.
fn command(paths: &[PathBuf], file: &Path) -> String {
    let paths: Vec<String> = paths.iter().map(shell_word).collect();
    format!("kb index {} -o {}", paths.join(" "), shell_word(file))
}

fn explain(error: Error, arguments: &IndexArguments, file: &Path, existed: bool) -> Failure {
    let other = match &error {
        Error::NotAKb { .. } | Error::FormatUnsupported { .. } if existed => unused_name(file),
        _ => {
            let hint = writing_hint(&error, file);
            return Failure::from_engine(error, "kb index", file).or_hint(hint);
        }
    };
    let code = error.code();
    let message = format!("{}: {error}", file.display());
    Failure::new(
        code,
        message,
        Some(format!("`{}`", command(&arguments.paths, &other))),
    )
}

/// What to do when the output cannot be written, which says nothing against the sources.
fn writing_hint(error: &Error, file: &Path) -> Option<String> {
    let target = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match error {
        Error::PathNotFound { path } if file.parent() == Some(path) => Some(format!(
            "`mkdir -p {}` first, or name another file with -o",
            shell_word(path)
        )),
        // The file itself, or the one that is built under another name beside it.
        Error::Io { path, .. } if *path == target || is_built_for(&target, path) => Some(format!(
            "{} cannot be written there; name a file elsewhere with -o",
            file.display()
        )),
        Error::Storage { .. } => {
            Some("make room, or name a file on another disk with -o".to_owned())
        }
        _ => None,
    }
}

fn is_built_for(target: &Path, path: &Path) -> bool {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    path.parent() == target.parent() && name(path) == format!(".{}.tmp", name(target))
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

fn show_report(
    file: &Path,
    file_bytes: u64,
    report: &Report,
    verbose: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let style = output.stdout_style();
    let name = style.path(&output.name(&file.display().to_string()));
    output.line(&format!(
        "{name}  {}, {}, {}",
        plural(report.documents, "document"),
        plural(report.chunks, "chunk"),
        style.strong(&bytes(file_bytes)),
    ))?;
    let seconds = report.elapsed.as_secs_f64().max(1e-6);
    output.line(&format!(
        "  {} read in {} ({:.1} MB/s)",
        bytes(report.source_bytes),
        duration(report.elapsed),
        report.source_bytes as f64 / 1e6 / seconds,
    ))?;
    for line in skipped_lines(&report.skipped, verbose) {
        let shown = output.name(&line).into_owned();
        output.line(&shown)?;
    }
    Ok(())
}

/// Files that were left out, by reason, most first; all of them by name when `verbose`.
fn skipped_lines(skipped: &[Skipped], verbose: bool) -> Vec<String> {
    if skipped.is_empty() {
        return Vec::new();
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for file in skipped {
        match reasons
            .iter_mut()
            .find(|(reason, _)| *reason == file.reason)
        {
            Some((_, names)) => names.push(&file.path),
            None => reasons.push((&file.reason, vec![&file.path])),
        }
    }
    reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let mut lines = vec![format!(
        "  left out {}:",
        plural(skipped.len() as u64, "file")
    )];
    for (reason, names) in reasons {
        if verbose {
            lines.push(format!("    {reason}:"));
            lines.extend(names.iter().map(|name| format!("      {name}")));
            continue;
        }
        let shown: Vec<&str> = names.iter().take(SHOWN_NAMES).copied().collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more (-v lists them)"),
        };
        lines.push(format!(
            "    {} {reason}: {}{more}",
            names.len(),
            shown.join(", ")
        ));
    }
    lines
}

fn report_object(file: &Path, file_bytes: u64, report: &Report) -> Object {
    let skipped = report.skipped.iter().map(|skipped| {
        Object::new()
            .field("path", &*skipped.path)
            .field("reason", &*skipped.reason)
    });
    Object::new()
        .field("file", file.display().to_string())
        .field("documents", report.documents)
        .field("chunks", report.chunks)
        .field("source_bytes", report.source_bytes)
        .field("text_bytes", report.text_bytes)
        .field("file_bytes", file_bytes)
        .field("seconds", report.elapsed.as_secs_f64())
        .objects("skipped", skipped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(path: &str, reason: &str) -> Skipped {
        Skipped {
            path: path.to_owned(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn skipped_files_are_grouped_by_reason_and_always_named() {
        let mut list = vec![skipped("secret.txt", "cannot be read")];
        list.extend((0..5).map(|number| skipped(&format!("{number}.png"), "binary file")));
        assert_eq!(
            skipped_lines(&list, false),
            [
                "  left out 6 files:",
                "    5 binary file: 0.png, 1.png, 2.png and 2 more (-v lists them)",
                "    1 cannot be read: secret.txt",
            ]
        );
        let all = skipped_lines(&list, true);
        assert_eq!(all.iter().filter(|line| line.ends_with(".png")).count(), 5);
        assert!(skipped_lines(&[], true).is_empty());
    }

    #[test]
    fn the_offered_command_is_quoted_as_a_shell_needs_it() {
        let paths = [PathBuf::from("my docs"), PathBuf::from("src")];
        assert_eq!(
            command(&paths, Path::new("a.kb")),
            "kb index 'my docs' src -o a.kb"
        );
    }

    #[test]
    fn an_unused_name_is_numbered() {
        let name = unused_name(Path::new("/nowhere/notes.kb"));
        assert_eq!(name, Path::new("/nowhere/notes-2.kb"));
    }
}
