//! Verbs about an older and a newer file.

pub(crate) mod diff;
pub(crate) mod patch;

use std::path::Path;

use kb_engine::Error;

use crate::failure::Failure;
use crate::output::format::shell_word;
use crate::target::writing_hint;

/// Turns an error about an output into a failure with a hint.
fn explain(error: Error, verb: &str, output: &Path) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = format!("stopped; {} was not written", output.display());
            Failure::new(error.code(), message, None)
        }
        Error::OutputExists { path } if path == output && !output.is_dir() => {
            let hint = format!(
                "name a new file, or replace {} with --force",
                shell_word(output)
            );
            Failure::from_engine(error, verb, output).with_hint(hint)
        }
        Error::InvalidArgument { reason, .. } => Failure::new(error.code(), reason.clone(), None),
        _ => {
            let hint = writing_hint(&error, output, Some("-o"));
            Failure::from_engine(error, verb, output).and_hint(hint)
        }
    }
}
