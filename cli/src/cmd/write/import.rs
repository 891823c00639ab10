//! `kb import vectors`: imports the vectors of another model as a column of the file.

use std::cell::RefCell;
use std::path::Path;

use kb_engine::{Error, ImportReport, Kb, KbWriter, NewVectors};

use super::import_documents;
use crate::args::{ImportAction, ImportArguments, ImportVectorsArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::Output;
use crate::output::format::{count, plural, shell_word};
use crate::output::progress::Meter;
use crate::target::writing_hint;
use crate::vector_file::{VectorFile, VectorFileError};
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &ImportArguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.action {
        ImportAction::Documents(arguments) => import_documents::run(arguments, output),
        ImportAction::Vectors(arguments) => import_vectors(arguments, output),
    }
}

fn import_vectors(
    arguments: &ImportVectorsArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let file = locate(Some(&arguments.file))?;
    let verb = format!("kb import vectors {}", shell_word(&file));
    let explain = |error| Failure::from_engine(error, &verb, &file);
    // A writer would create a missing file.
    let chunks = Kb::open(&file).and_then(|kb| Ok(kb.info()?.chunks));
    let chunks = chunks.map_err(explain)?;
    let name = column_name(arguments);
    let options = NewVectors::new(&*name)
        .model(&*arguments.model)
        .metric(arguments.metric)
        .codec(arguments.codec.codec())
        .replace(arguments.replace)
        .make_default(arguments.default);
    let source = VectorFile::open(&arguments.source, arguments.rows.as_deref(), chunks)?;
    let total = source.total.unwrap_or(0);
    // The engine returns the error of a row as its own; this one has the file and the row.
    let wrong: RefCell<Option<VectorFileError>> = RefCell::new(None);
    let mut rows = source.map(|row| {
        row.map_err(|error| {
            let reason = error.message.clone();
            wrong.replace(Some(error));
            let argument = "rows";
            Error::InvalidArgument { argument, reason }
        })
    });
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let imported = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&file)?.lock_timeout(wait);
            let report = writer.import_vectors(&options, &mut rows, &mut |progress| {
                let total = progress.files_total.max(total);
                meter.show_count("import", "vectors", progress.files_done, total);
                #[cfg(feature = "testing")]
                kb_mcp::faults::hold(progress, &cancel);
                stop_if(&cancel)
            })?;
            Ok(report)
        },
    );
    meter.clear();
    drop(rows);
    let report = imported.map_err(|error| match wrong.into_inner() {
        Some(wrong) => wrong.into(),
        None => explained(error, &verb, &file, &arguments.source),
    })?;
    show(&report, &name, arguments, output)?;
    Ok(Exit::Found)
}

/// Returns the given column name, else the name of the source without its extension.
fn column_name(arguments: &ImportVectorsArguments) -> String {
    match &arguments.name {
        Some(name) => name.clone(),
        None => {
            let stem = arguments.source.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        }
    }
}

fn explained(error: Error, verb: &str, file: &Path, source: &Path) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = format!("stopped; {} is unchanged", file.display());
            Failure::new(error.code(), message, None)
        }
        // The value of a flag is wrong.
        Error::InvalidArgument {
            argument: argument @ ("name" | "model" | "metric"),
            reason,
        } => {
            let message = format!("--{argument}: {reason}");
            let hint = format!("`kb vectors {}` lists the columns", shell_word(file));
            Failure::new(error.code(), message, Some(hint))
        }
        // The error is about rows of the source, which only this code knows.
        Error::InvalidArgument { argument, reason } => {
            let message = format!("{}: {reason}", source.display());
            let remedy = match *argument {
                "replace" => "--replace replaces the existing vectors".to_owned(),
                "chunks" => format!(
                    "`kb get -f {} '*' --format chunks --json` lists the chunks",
                    shell_word(file)
                ),
                _ => "correct the vector, or remove its row and name the chunks of the other rows"
                    .to_owned(),
            };
            let hint = format!("nothing was imported; {remedy}");
            Failure::new(error.code(), message, Some(hint))
        }
        _ => {
            let hint = writing_hint(&error, file, None);
            Failure::from_engine(error, verb, file).and_hint(hint)
        }
    }
}

fn show(
    report: &ImportReport,
    name: &str,
    arguments: &ImportVectorsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        return output.json(kb_json::import_report(name, report));
    }
    let shown = output.stdout_style().strong(&output.name(name));
    let replaced = match report.replaced {
        0 => String::new(),
        replaced => format!(", {} of them replace others", count(replaced)),
    };
    output.line(&format!(
        "{shown}  {} of {} dimensions for {}{replaced}",
        plural(report.rows, "vector"),
        report.dim,
        plural(report.chunks, "chunk"),
    ))?;
    let numbers = report.rows.saturating_mul(u64::from(report.dim));
    // One in 10 000 of a first import lies there by design, and as many of more vectors like them, by chance more.
    if report.cut_numbers > numbers / 1000 {
        output.warning(&format!(
            "{} of {} are beyond the scale of the column, which its first import set, and were clamped to it",
            count(report.cut_numbers),
            plural(numbers, "number"),
        ));
        output.hint("import these vectors into a new column: --name NAME");
    }
    if let Some(recall) = report
        .recall
        .filter(|recall| *recall < ImportReport::LOW_RECALL)
    {
        output.warning(&format!(
            "searches find only {:.0} % of the 10 nearest vectors: a few dimensions are much larger than the others, so the others are stored coarsely",
            recall * 100.0
        ));
        output.hint(
            "multiply all vectors and queries by one orthogonal matrix first (docs/formats.md#files-of-vectors), or do not use `--codec i4`",
        );
    }
    Ok(())
}
