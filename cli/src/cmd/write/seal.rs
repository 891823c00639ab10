//! `kb seal`: writes the smallest, reproducible form of a file.

use std::path::Path;

use kb_engine::{Error, Kb, KbWriter, PackedModel, SealOptions, SealReport};

use crate::args::{SealArguments, VectorsArgument};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::Output;
use crate::output::format::{bytes, percent, shell_word};
use crate::output::missed_recall::missed_recall;
use crate::output::progress::Meter;
use crate::target::writing_hint;
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &SealArguments, output: &mut Output) -> Result<Exit, Failure> {
    let file = locate(arguments.file())?;
    // An output that is the file itself, however it is spelled, means sealing in place.
    let is_itself = |out: &&std::path::PathBuf| matches!((out.canonicalize(), file.canonicalize()), (Ok(out), Ok(file)) if out == file);
    let out = arguments.output.as_ref().filter(|out| !is_itself(out));
    let written = out.unwrap_or(&file);
    if written.is_dir() {
        let inside = written.join(file.file_name().unwrap_or_default());
        return Err(Failure::usage(
            format!("{} is a folder", written.display()),
            Some(format!("`-o {}`", shell_word(inside))),
        ));
    }
    let kb = Kb::open(&file).map_err(|error| Failure::from_engine(error, "kb seal", &file))?;
    let models = match arguments.with_model {
        true => packed(&kb, &file, output)?,
        false => Vec::new(),
    };
    drop(kb);
    let cancel = stop_on_interrupt()?;
    let options = SealOptions::new()
        .vectors(arguments.vectors.map(VectorsArgument::codec))
        .replace(arguments.force)
        .keep_cache(arguments.keep_cache)
        .models(models);
    let state = if written.exists() {
        "is unchanged"
    } else {
        "was not written"
    };
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let sealed = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&file)?.lock_timeout(wait);
            let out = out.map(|out| out.as_path());
            let report = writer.seal(out, &options, &mut |progress| {
                meter.show(progress);
                stop_if(&cancel)
            })?;
            Ok(report)
        },
    );
    meter.clear();
    let report = sealed.map_err(|error| explain(error, &file, written, state))?;
    show(&report, arguments, output)?;
    Ok(match &report.missed_recall {
        Some(missed) => {
            output.warning(&missed_recall(missed));
            Exit::Nothing
        }
        None => Exit::Found,
    })
}

/// The models that go into the file; says how large they are.
fn packed(kb: &Kb, file: &Path, output: &mut Output) -> Result<Vec<PackedModel>, Failure> {
    let models = kb.pack_models().map_err(|error| {
        let hint = "`kb reembed --embedder SPEC` notes where the model is now";
        Failure::from_engine(error, "kb seal", file).with_hint(hint.to_owned())
    })?;
    if models.is_empty() {
        let message = format!("--with-model: no model embedded {}", file.display());
        let hint = "the built-in model needs none; `kb reembed --embedder SPEC` adds vectors of another one";
        return Err(Failure::usage(message, Some(hint.to_owned())));
    }
    for model in &models {
        let name = output.name(&model.card.to_string()).into_owned();
        let size = bytes(model.bytes());
        output.note(&format!("{name} adds {size} to the file"));
    }
    Ok(models)
}

/// Turns an error into a failure with a hint. `state`: what happened to the output file.
fn explain(error: Error, file: &Path, written: &Path, state: &str) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = format!("stopped; {} {state}", written.display());
            Failure::new(error.code(), message, None)
        }
        // The damage is in the file that is read, not in the output.
        Error::Damaged { .. } | Error::SnapshotExpired => {
            Failure::from_engine(error, "kb seal", file)
        }
        Error::OutputExists { .. } => {
            let (file_word, written_word) = (shell_word(file), shell_word(written));
            let command = format!("kb seal {file_word} -o {written_word} --force");
            let hint = format!("`{command}` replaces it; or name a new file");
            Failure::from_engine(error, "kb seal", written).with_hint(hint)
        }
        Error::NotAKb { .. } => {
            let hint = "name a new file with -o".to_owned();
            Failure::from_engine(error, "kb seal", written).with_hint(hint)
        }
        _ => {
            let hint = writing_hint(&error, written, Some("-o"));
            Failure::from_engine(error, "kb seal", written).and_hint(hint)
        }
    }
}

fn show(
    report: &SealReport,
    arguments: &SealArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        return output.json(kb_json::seal_report(report));
    }
    let style = output.stdout_style();
    let name = style.path(&output.name(&report.path.display().to_string()));
    output.line(&format!(
        "{name}  {} -> {} ({})",
        bytes(report.bytes_before),
        style.strong(&bytes(report.bytes_after)),
        percent(report.bytes_after, report.bytes_before),
    ))?;
    output.line(&format!("  content root  {}", report.content_root))
}
