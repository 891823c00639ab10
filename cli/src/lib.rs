//! The `kb` command as a library, so that other fronts can ship the same command.
//!
//! This crate translates: words of the command line become calls of the engine, answers become
//! lines. It decides nothing about documents or ranking. `cmd` has one file per verb, `args` every
//! flag, `output` is the only place that prints.

mod args;
mod cmd;
mod exit;
mod failure;
#[cfg(feature = "testing")]
mod faults;
mod launcher;
mod locate;
mod output;
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

/// Runs one command line, program name first, and gives the status to end the process with:
/// 0 found or done, 1 nothing found, out of date or different, 2 error, 130 interrupted.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if is_worker(&arguments) {
        return kb_engine::run_extraction_worker();
    }
    ExitCode::from(run_as(&arguments, Launcher::this_executable()))
}

/// As [`run`], for a program that has this command as a library: `launcher` starts it again. Gives the number of the
/// status.
pub fn run_as(arguments: &[OsString], launcher: Launcher) -> u8 {
    // Has documents of untrusted formats read in processes of their own.
    if let Some(options) = launcher.worker.clone() {
        Extraction::Worker(options).install_default();
    }
    launcher.install();
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
        // The reader has seen enough (`kb search ... | head`): nothing went wrong.
        Err(Failure::OutputClosed) => Exit::Found,
        Err(Failure::Told) => Exit::Error,
        Err(Failure::Reported(report)) => {
            // What was found before the error is worth having; its own failure changes nothing.
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

/// Whether this process was started by another `kb` to extract documents. No verb of the command line: it is asked
/// before anything else, because each start counts.
fn is_worker(arguments: &[OsString]) -> bool {
    let is_asked = matches!(arguments, [_, argument] if argument == WORKER_ARGUMENT);
    // Somebody who types it learns that there is no such verb.
    is_asked && !std::io::stdin().is_terminal()
}

/// The command with all its verbs and flags, for documentation.
pub fn command() -> clap::Command {
    args::command()
}

/// `None`: help or the version was asked for and printed.
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
            // Text of ours alone: nothing was given.
            for line in error.render().to_string().lines() {
                output.note(&with_name(line));
            }
            Err(Failure::Told)
        }
        Err(error) => Err(usage_failure(error, arguments)),
    }
}

/// What clap says of a mistake. It repeats arguments and drops escape sequences in them instead of
/// showing them, so the same mistake is made again with arguments that are safe to print.
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
        Verb::Import(verb) => cmd::write::import::run(&verb, output),
        Verb::Vectors(verb) => cmd::write::vectors::run(&verb, output),
        Verb::Watch(verb) => cmd::write::watch::run(&verb, output),
        Verb::Mcp(verb) => cmd::serve::mcp::run(&verb, output),
        Verb::Token(verb) => cmd::serve::token::run(&verb, output),
        Verb::Verify(verb) => cmd::read::verify::run(&verb, output),
        Verb::Seal(verb) => cmd::write::seal::run(&verb, output),
        Verb::Info(verb) => cmd::read::info::run(&verb, output),
        Verb::Bench(verb) => cmd::read::bench::run(&verb, output),
        Verb::Completions(verb) => cmd::completions::run(&verb, output),
        Verb::Man(verb) => cmd::man::run(&verb, output),
        // Its command line was read as another one.
        Verb::Help(_) => Ok(Exit::Found),
    }
}
