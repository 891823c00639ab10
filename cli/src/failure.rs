//! The ways a command fails: a code for programs, a message for people, and a hint with the command that would work.

use std::io;
use std::path::Path;

use kb_engine::Error;
use kb_json::{Front, advice};

/// Code of a mistake in the command line itself.
const USAGE: &str = "USAGE";

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed it; not an error.
    OutputClosed,
    /// The message was already printed.
    Told,
    /// A message is to be printed.
    Reported(Box<FailureReport>),
}

/// The message about a failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FailureReport {
    /// Stable name of the kind of failure.
    pub(crate) code: &'static str,
    /// What happened.
    pub(crate) message: String,
    /// What to do about it, if that is known.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Returns a failure for a mistake in the command line.
    pub(crate) fn usage(message: impl Into<String>, hint: Option<String>) -> Failure {
        Failure::new(USAGE, message, hint)
    }

    /// Turns an error of clap into one line; its tips and usage lines become the hint.
    pub(crate) fn from_usage(error: &clap::Error, arguments: &[String]) -> Failure {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        let (message, hint) = match text.split_once("\n\n") {
            Some((message, hint)) => (message, Some(whole_word(clap_hint(hint), arguments))),
            None => (text, None),
        };
        let message: Vec<&str> = message.lines().map(str::trim).collect();
        Failure::usage(message.join(" "), hint)
    }

    /// Turns an error of the engine about the .kb at `file` into a failure. `verb` is the command up to its file, such as
    /// `kb get`; the corrected command in the hint begins with it.
    pub(crate) fn from_engine(error: Error, verb: &str, file: &Path) -> Failure {
        let hint = advice(
            &error,
            Front::CommandLine {
                command: verb,
                file,
            },
        );
        let message = match &error {
            // Their texts say "the .kb" without its name, which is known only here.
            Error::NotAKb { .. }
            | Error::FormatUnsupported { .. }
            | Error::Damaged { .. }
            | Error::IndexLocked { .. }
            | Error::Storage { .. }
            | Error::SnapshotExpired => format!("{}: {error}", file.display()),
            Error::InvalidArgument { argument, reason } => {
                format!("{}: {reason}", flag(argument, verb))
            }
            _ => error.to_string(),
        };
        Failure::new(error.code(), message, hint)
    }

    /// Adds a hint after the existing one.
    pub(crate) fn and_hint(mut self, hint: Option<String>) -> Failure {
        if let Failure::Reported(report) = &mut self {
            report.hint = match (report.hint.take(), hint) {
                (Some(first), Some(second)) => Some(format!("{first}; {second}")),
                (first, second) => first.or(second),
            };
        }
        self
    }

    /// Replaces the hint.
    pub(crate) fn with_hint(mut self, hint: String) -> Failure {
        if let Failure::Reported(report) = &mut self {
            report.hint = Some(hint);
        }
        self
    }

    /// Turns an error of writing the output into a failure.
    pub(crate) fn from_output(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::new("IO", format!("cannot write the output: {error}"), None),
        }
    }

    /// Turns a system error of this command itself, not of the engine, into a failure.
    pub(crate) fn io(action: &str, error: &io::Error) -> Failure {
        Failure::new("IO", format!("cannot {action}: {error}"), None)
    }

    pub(crate) fn new(
        code: &'static str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Failure {
        Failure::Reported(Box::new(FailureReport {
            code,
            message: message.into(),
            hint,
        }))
    }
}

/// Returns the flag of `verb` that gives an argument of the engine, or the name of the argument if no flag gives it.
fn flag(argument: &'static str, verb: &str) -> &'static str {
    match argument {
        "context" => "--before or --after",
        "k" => "-k",
        "language" => "--lang",
        "max_tokens" => "--max-tokens",
        "min_score" => "--min-score",
        // `kb tag` takes tags as --add and --remove.
        "tag" if !verb.starts_with("kb tag") => "--tag",
        "type" => "--type",
        "vector" => "--vector",
        "vector_column" => "--vector-column",
        "vectors" => "--vectors",
        other => other,
    }
}

/// Returns the tip of clap if it has one, else its usage line, so that every hint of `kb` looks the same.
fn clap_hint(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let tips: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("tip: "))
        .collect();
    if tips.is_empty() {
        lines.join("  ")
    } else {
        tips.join("; ")
    }
}

/// Corrects a tip about `-abc`: clap offers to pass `-a` as a value, but the user meant the whole word.
fn whole_word(hint: String, arguments: &[String]) -> String {
    let parts = hint.split_once("use '-- -");
    let letter = parts.and_then(|(_, rest)| rest.strip_suffix('\''));
    let Some(letter) = letter.filter(|letter| letter.chars().count() == 1) else {
        return hint;
    };
    let mut words = arguments.iter().filter_map(|word| word.strip_prefix('-'));
    match words.find(|word| !word.starts_with('-') && word.contains(letter)) {
        Some(word) => format!("to pass '-{word}' as a value, use '-- -{word}'"),
        None => hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(failure: Failure) -> FailureReport {
        match failure {
            Failure::Reported(report) => *report,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_about_the_file_names_the_file() {
        let error = Error::NotAKb {
            reason: "no signature",
        };
        let told = report(Failure::from_engine(
            error,
            "kb search",
            Path::new("my notes.kb"),
        ));
        assert_eq!(told.code, "NOT_A_KB");
        assert!(
            told.message.starts_with("my notes.kb: not a .kb file"),
            "{}",
            told.message
        );
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(matches!(
            Failure::from_output(&closed),
            Failure::OutputClosed
        ));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(report(Failure::from_output(&full)).code, "IO");
    }

    #[test]
    fn a_mistyped_flag_gets_its_tip_as_a_hint() {
        let told = |line: &[&str]| {
            let words: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
            let error = crate::command().try_get_matches_from(line).unwrap_err();
            report(Failure::from_usage(&error, &words))
        };
        let mistyped = told(&["kb", "search", "x", "--mod", "a"]);
        assert_eq!(mistyped.message, "unexpected argument '--mod' found");
        assert!(mistyped.hint.unwrap().contains("'--mode'"));
        let word = told(&["kb", "search", "x", "-word"]);
        assert_eq!(
            word.hint.unwrap(),
            "to pass '-word' as a value, use '-- -word'"
        );
        let missing = told(&["kb", "index"]);
        assert!(
            missing.message.ends_with("not provided: <PATH>..."),
            "{missing:?}"
        );
    }
}
