//! The `kb` command as a library, so that the Python package can ship the same command.
//!
//! This crate translates a command line into calls of the engine, and results into lines. It decides nothing about
//! documents or ranking. `cmd` has one file per verb, `args` defines every flag, and `output` is the only module that
//! prints.

mod args;
mod cmd;
mod document_rows;
mod exit;
mod failure;
#[cfg(feature = "testing")]
mod faults;
mod git_history;
mod launcher;
mod locate;
mod models;
mod output;
mod sending;
mod target;
mod vector_file;
mod watch;
mod writer_wait;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use kb_engine::escape::escape_line;
use kb_engine::{Error, Extraction, WORKER_ARGUMENT};

use crate::args::{Arguments, SearchMode, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launcher::with_name;
use crate::output::Output;

pub use crate::launcher::Launcher;

/// Runs one command line, program name first, and returns the exit status: 0 found or done, 1 nothing found, out of date
/// or different, 2 error, 130 interrupted.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if is_worker(&arguments) {
        return kb_engine::run_extraction_worker();
    }
    ExitCode::from(run_as(&arguments, Launcher::this_executable()))
}

/// As [`run`], for a program that has this command as a library. `launcher` says how to start that program again. Returns
/// the exit status as a number.
pub fn run_as(arguments: &[OsString], launcher: Launcher) -> u8 {
    // Worker processes read the document formats with risky parsers.
    if let Some(options) = launcher.worker.clone() {
        Extraction::Worker(options).install_default();
    }
    launcher.install();
    kb_engine::install_models(models::resolver());
    run_to_end(arguments) as u8
}

fn run_to_end(arguments: &[OsString]) -> Exit {
    let mut output = Output::new(args::color_asked(arguments), args::json_asked(arguments));
    let result = parse(arguments, &mut output).and_then(|parsed| match parsed {
        Some(parsed) => dispatch(parsed, &mut output),
        None => Ok(Exit::Found),
    });
    let result = result.and_then(|exit| match output.flush() {
        Ok(()) => Ok(exit),
        Err(failure) => Err(failure),
    });
    match result {
        Ok(exit) => exit,
        // The reader closed the pipe (`kb search ... | head`): not an error.
        Err(Failure::OutputClosed) => Exit::Found,
        Err(Failure::Told) => Exit::Error,
        Err(Failure::Reported(report)) => {
            // Results before the error are printed. A failure to print them is ignored, because the error comes anyway.
            let _ = output.flush();
            output.failure(&report);
            if report.code == Error::Cancelled.code() {
                Exit::Interrupted
            } else {
                Exit::Error
            }
        }
    }
}

/// Whether another `kb` started this process as an extraction worker. This is checked before the command line is parsed,
/// so that workers start fast.
fn is_worker(arguments: &[OsString]) -> bool {
    let is_asked = matches!(arguments, [_, argument] if argument == WORKER_ARGUMENT);
    // In a terminal, the argument is an unknown verb.
    is_asked && !std::io::stdin().is_terminal()
}

/// Returns the command with all its verbs and flags, for documentation.
pub fn command() -> clap::Command {
    args::command()
}

/// Parses the command line. `None`: help or the version was requested and printed.
fn parse(arguments: &[OsString], output: &mut Output) -> Result<Option<Arguments>, Failure> {
    let command = command();
    let arguments = &args::separate(&command, arguments);
    let parsed = command
        .color(if output.stdout_style().color {
            clap::ColorChoice::Always
        } else {
            clap::ColorChoice::Never
        })
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(Arguments {
            verb: Verb::Help(help),
            ..
        }) => {
            let program = arguments.first().cloned().unwrap_or_default();
            let verb = help.verb.into_iter().map(OsString::from);
            let words = std::iter::once(program).chain(verb);
            let words: Vec<OsString> = words.chain(["--help".into()]).collect();
            parse(&words, output)
        }
        Ok(parsed) => Ok(Some(parsed)),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            let text = error.render();
            if output.stdout_style().color {
                output.write(&with_name(&text.ansi().to_string()))?
            } else {
                output.write(&with_name(&text.to_string()))?
            }
            Ok(None)
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // The text has no user input, because there were no arguments.
            for line in error.render().to_string().lines() {
                output.note(&with_name(line));
            }
            Err(Failure::Told)
        }
        Err(error) => Err(usage_failure(error, arguments)),
    }
}

/// Returns the message of clap about a mistake. clap drops escape sequences in the arguments that it repeats. So the
/// command line is parsed again with escaped arguments, which are safe to print.
fn usage_failure(error: clap::Error, arguments: &[OsString]) -> Failure {
    let shown = arguments.iter().map(|word| {
        let word = word.to_string_lossy();
        escape_line(&word).into_owned()
    });
    let shown: Vec<String> = shown.collect();
    let error = command()
        .try_get_matches_from(&shown)
        .err()
        .unwrap_or(error);
    Failure::from_usage(&error, &shown)
}

fn dispatch(arguments: Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let is_read = arguments.verb.reads_documents();
    let exit = run_verb(arguments.verb, output)?;
    if is_read {
        output.summary(exit == Exit::Nothing)?;
    }
    Ok(exit)
}

fn run_verb(verb: Verb, output: &mut Output) -> Result<Exit, Failure> {
    match verb {
        Verb::Index(verb) => cmd::write::index::run(&verb, output),
        Verb::Search(verb) => match verb.mode {
            SearchMode::Ranked(mode) => cmd::read::search::run(&verb, mode, output),
            SearchMode::Regex => cmd::read::regex::run(&verb, output),
        },
        Verb::Get(verb) => cmd::read::get::run(&verb, output),
        Verb::Outline(verb) => cmd::read::outline::run(&verb, output),
        Verb::Symbols(verb) => cmd::read::symbols::run(&verb, output),
        Verb::Pages(verb) => cmd::read::pages::run(&verb, output),
        Verb::Sheet(verb) => cmd::read::sheet::run(&verb, output),
        Verb::Slides(verb) => cmd::read::slides::run(&verb, output),
        Verb::Ls(verb) => cmd::read::ls::run(&verb, output),
        Verb::Add(verb) => cmd::write::add::run(&verb, output),
        Verb::Rm(verb) => cmd::write::rm::run(&verb, output),
        Verb::Tag(verb) => cmd::write::tag::run(&verb, output),
        Verb::Meta(verb) => cmd::write::meta::run(&verb, output),
        Verb::Import(verb) => cmd::write::import::run(&verb, output),
        Verb::Reembed(verb) => cmd::write::reembed::run(&verb, output),
        Verb::Vectors(verb) => cmd::write::vectors::run(&verb, output),
        Verb::Models(verb) => cmd::models::run(&verb, output),
        Verb::Watch(verb) => cmd::write::watch::run(&verb, output),
        #[cfg(feature = "web")]
        Verb::Serve(verb) => cmd::serve::web::run(&verb),
        #[cfg(feature = "web")]
        Verb::Site(verb) => cmd::serve::site::run(&verb, output),
        Verb::Mcp(verb) => cmd::serve::mcp::run(&verb, output),
        Verb::Token(verb) => cmd::serve::token::run(&verb, output),
        Verb::Verify(verb) => cmd::read::verify::run(&verb, output),
        Verb::Seal(verb) => cmd::write::seal::run(&verb, output),
        Verb::Merge(verb) => cmd::write::merge::run(&verb, output),
        Verb::Diff(verb) => cmd::versions::diff::run(&verb, output),
        Verb::Patch(verb) => cmd::versions::patch::run(&verb, output),
        Verb::Info(verb) => cmd::read::info::run(&verb, output),
        Verb::Bench(verb) => cmd::read::bench::run(&verb, output),
        Verb::Completions(verb) => cmd::completions::run(&verb, output),
        Verb::Man(verb) => cmd::man::run(&verb, output),
        // `parse` has replaced it by `VERB --help`.
        Verb::Help(_) => Ok(Exit::Found),
    }
}
