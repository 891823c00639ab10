//! Verbs about an older and a newer file.

pub(crate) mod diff;
pub(crate) mod patch;

use std::path::Path;

use kb_engine::{Error, PatchReport};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, plural, shell_word};
use crate::target::writing_hint;

/// Shows what was written: a patch, or the file that was made of one.
fn show(
    report: &PatchReport,
    file: &Path,
    is_json: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if is_json {
        output.json(kb_json::patch_report(file, report))?;
        return Ok(Exit::Found);
    }
    let style = output.stdout_style();
    let name = style.path(&output.name(&file.display().to_string()));
    output.line(&format!(
        "{name}  {}: {} added, {} removed, {} changed",
        bytes(report.bytes),
        plural(report.added, "document"),
        report.removed,
        report.changed
    ))?;
    output.line(&format!("  content root  {}", report.content_root))?;
    Ok(Exit::Found)
}

/// Turns an error about an output into a failure with a hint.
fn explain(error: Error, verb: &str, output: &Path) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = format!("stopped; {} was not written", output.display());
            Failure::new(error.code(), message, None)
        }
        // The words of the engine are those of a .kb, and this may be a patch.
        Error::OutputExists { path } if path == output && !output.is_dir() => {
            let message = format!("{} is there already", output.display());
            let hint = format!(
                "name a new file, or replace {} with --force",
                shell_word(output)
            );
            Failure::new(error.code(), message, Some(hint))
        }
        Error::InvalidArgument { reason, .. } => Failure::new(error.code(), reason.clone(), None),
        _ => {
            let hint = writing_hint(&error, output, Some("-o"));
            Failure::from_engine(error, verb, output).and_hint(hint)
        }
    }
}
