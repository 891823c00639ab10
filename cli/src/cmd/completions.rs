//! `kb completions`: a script that completes verbs and flags in a shell.

use crate::args::{self, CompletionsArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &CompletionsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::command(), "kb", &mut script);
    output.write(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Found)
}
