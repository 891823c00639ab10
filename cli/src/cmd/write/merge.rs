//! `kb merge`: joins files into one, or takes a part of one.

use std::path::Path;

use kb_engine::{Error, Kb, KbWriter, MergeOptions, MergeReport, MergeSource};

use crate::args::MergeArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{plural, shell_word};
use crate::output::progress::Meter;
use crate::target::writing_hint;
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &MergeArguments, output: &mut Output) -> Result<Exit, Failure> {
    let target = arguments.output.as_ref().or(arguments.into.as_ref());
    // clap asks for one of them.
    let Some(target) = target else {
        return Err(Failure::usage(
            "give -o OUT.kb or --into FILE.kb".to_owned(),
            None,
        ));
    };
    check_target(arguments, target)?;
    let sources = arguments.files.iter().map(|file| source(arguments, file));
    let sources = sources.collect::<Result<Vec<MergeSource>, Failure>>()?;
    let options = MergeOptions::new()
        .on_conflict(arguments.on_conflict)
        .only(arguments.only.clone())
        .tags(arguments.tag.clone());
    let state = match target.exists() {
        true => "is unchanged",
        false => "was not written",
    };
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let merged = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let writer = match arguments.into.is_some() {
                true => KbWriter::open(target)?,
                false => KbWriter::create(target)?,
            };
            writer
                .lock_timeout(wait)
                .merge_from(&sources, &options, &mut |progress| {
                    meter.show(progress);
                    stop_if(&cancel)
                })
        },
    );
    meter.clear();
    let report = merged.map_err(|error| explain(error, target, state))?;
    show(&report, target, arguments, output)?;
    Ok(Exit::Found)
}

/// Refuses an output that would be lost, before anything is read.
fn check_target(arguments: &MergeArguments, target: &Path) -> Result<(), Failure> {
    let name = shell_word(target);
    if target.is_dir() {
        let message = format!("{} is a folder", target.display());
        return Err(Failure::usage(message, Some("name a .kb file".to_owned())));
    }
    if arguments.into.is_some() || arguments.force || !target.exists() {
        return Ok(());
    }
    let error = Error::OutputExists {
        path: target.to_path_buf(),
    };
    let hint = format!("`--into {name}` adds to it, `--force` replaces it; or name a new file");
    Err(Failure::from_engine(error, "kb merge", target).with_hint(hint))
}

/// A file with the folder for its documents.
fn source(arguments: &MergeArguments, file: &Path) -> Result<MergeSource, Failure> {
    // What is wrong with it is said with its name, before anything is copied.
    Kb::open(file).map_err(|error| Failure::from_engine(error, "kb merge", file))?;
    let source = MergeSource::new(file);
    if !arguments.folders {
        return Ok(source);
    }
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some(stem) => Ok(source.folder(stem)),
        None => Err(Failure::usage(
            format!(
                "--folders: {} has no name that a path can have",
                file.display()
            ),
            Some("rename it, or merge without --folders".to_owned()),
        )),
    }
}

/// Turns an error into a failure with a hint. `state`: what happened to the target.
fn explain(error: Error, target: &Path, state: &str) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = format!("stopped; {} {state}", target.display());
            Failure::new(error.code(), message, None)
        }
        Error::InvalidArgument {
            argument: argument @ ("on_conflict" | "only" | "source"),
            reason,
        } => {
            let flag = match *argument {
                "on_conflict" => "--on-conflict: ",
                "only" => "--only: ",
                _ => "",
            };
            let message = format!("{flag}{reason}");
            let hint = match *argument {
                "on_conflict" => {
                    Some("`--folders` puts each file below a folder of its own".to_owned())
                }
                _ => None,
            };
            Failure::new(error.code(), message, hint)
        }
        // The files are read, and a new one is not there yet.
        Error::Damaged { what } => {
            let message = format!(
                "one of the files is damaged: {what}; {} {state}",
                target.display()
            );
            let hint = "`kb verify FILE.kb --deep` tells which".to_owned();
            Failure::new(error.code(), message, Some(hint))
        }
        _ => {
            let hint = writing_hint(&error, target, Some("-o"));
            Failure::from_engine(error, "kb merge", target).and_hint(hint)
        }
    }
}

fn show(
    report: &MergeReport,
    target: &Path,
    arguments: &MergeArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    for folder in &report.left_roots {
        let folder = output.name(folder).into_owned();
        output.note(&format!(
            "documents of {folder} came without their folder; `kb index` leaves them as they are"
        ));
    }
    for column in &report.left_columns {
        let column = output.name(column).into_owned();
        output.warning(&format!(
            "the vectors {column} of one file were left out: those of this name are of another model"
        ));
    }
    if arguments.json.json {
        return output.json(kb_json::merge_report(target, report));
    }
    let style = output.stdout_style();
    let name = style.path(&output.name(&target.display().to_string()));
    let mut parts = vec![format!("added {}", plural(report.added, "document"))];
    for (count, word) in [
        (report.replaced, "replaced"),
        (report.left_out, "left out"),
        (report.identical, "there already"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    output.line(&format!("{name}  {}", parts.join(", ")))?;
    for folder in &report.renamed_below {
        let folder = output.name(folder).into_owned();
        output.line(&format!("  documents of taken paths are below {folder}/"))?;
    }
    Ok(())
}
