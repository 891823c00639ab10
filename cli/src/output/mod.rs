//! The only module that prints. Results go to stdout, everything else to stderr.
//!
//! Control characters are escaped here (`kb_engine::escape`), because a terminal would obey them:
//!
//! - on stderr always, because people read messages;
//! - in names on stdout; a pipe gets invisible characters unescaped, because they are part of the name;
//! - in document text on a terminal only;
//! - in JSON as ASCII escapes.

pub(crate) mod changes;
pub(crate) mod columns;
pub(crate) mod format;
pub(crate) mod hyperlink;
pub(crate) mod missed_recall;
pub(crate) mod passage;
pub(crate) mod progress;
pub(crate) mod style;

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use kb_engine::Kb;
use kb_engine::escape::{escape_controls, escape_line, escape_text};
use kb_json::Object;

use crate::failure::{Failure, FailureReport};
use crate::launcher::with_name;
use crate::output::hyperlink::HyperlinkFormat;
use crate::output::passage::clip_end;
use crate::output::style::{ColorWhen, Style, color_wanted};

/// Width when a terminal does not tell its own.
const FALLBACK_COLUMNS: usize = 80;

/// Narrower terminals are treated as this wide: nothing readable fits.
const LEAST_COLUMNS: usize = 20;

/// The two output streams of this process, and their settings.
pub(crate) struct Output {
    stdout: BufWriter<StdoutLock<'static>>,
    stdout_style: Style,
    stderr_style: Style,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    /// Whether failures are printed as JSON.
    json: bool,
    /// The first warnings, which the JSON summary repeats.
    warnings: Vec<String>,
    /// Whether the results are relevant to the query.
    verdict: Option<&'static str>,
    /// What was done about unknown words of the query; empty for other verbs.
    spelling: kb_json::Object,
    /// How documents are linked to their files.
    links: HyperlinkFormat,
}

/// Maximum number of warnings in the JSON summary.
const MAX_WARNINGS: usize = 100;

/// Maximum characters of a message and of a hint; together no more than agents show of an error.
const MESSAGE_CHARS: usize = 1400;
const HINT_CHARS: usize = 500;

impl Output {
    pub(crate) fn new(color: ColorWhen, json: bool) -> Output {
        let stdout_is_terminal = io::stdout().is_terminal();
        let stderr_is_terminal = io::stderr().is_terminal();
        let style = |is_terminal| Style {
            color: color_wanted(color, is_terminal, |name| std::env::var_os(name)),
        };
        Output {
            stdout: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            stdout_style: style(stdout_is_terminal),
            stderr_style: style(stderr_is_terminal),
            stdout_is_terminal,
            stderr_is_terminal,
            json,
            warnings: Vec::new(),
            verdict: None,
            spelling: kb_json::Object::new(),
            links: HyperlinkFormat::default(),
        }
    }

    pub(crate) fn stdout_style(&self) -> Style {
        self.stdout_style
    }

    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Sets the link format. Links are written on a terminal only, and only if escape sequences are allowed.
    pub(crate) fn link_documents(&mut self, format: &HyperlinkFormat) {
        if self.stdout_is_terminal && self.stdout_style.color {
            self.links.clone_from(format);
        }
    }

    /// Returns the address of the source file of a document; `None` if links are off or the file is unknown.
    pub(crate) fn link(&self, kb: &Kb, document: &str, line: u32) -> Option<String> {
        if self.links.is_none() {
            return None;
        }
        let path = kb.source_path(document).ok()??;
        self.links.address(&path, line)
    }

    /// Returns the columns of the terminal; `None` in a pipe, where lines are not cut.
    pub(crate) fn columns(&self) -> Option<usize> {
        if !self.stdout_is_terminal {
            return None;
        }
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Some(columns.unwrap_or(FALLBACK_COLUMNS).max(LEAST_COLUMNS))
    }

    /// Cuts a text to the rest of a terminal line after `taken` columns; in a pipe returns the whole text.
    pub(crate) fn fit(&self, text: &str, taken: usize) -> String {
        match self.columns() {
            None => text.to_owned(),
            Some(columns) => clip_end(text, columns.saturating_sub(taken)),
        }
    }

    /// Writes text of this program, or text that is already escaped.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.stdout
            .write_all(text.as_bytes())
            .map_err(|error| Failure::from_output(&error))
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text)?;
        self.write("\n")
    }

    /// Writes text of a document: raw in a pipe, escaped on a terminal.
    pub(crate) fn document_text(&mut self, text: &str) -> Result<(), Failure> {
        if !self.stdout_is_terminal {
            return self.write(text);
        }
        self.document_part(text)?;
        if text.is_empty() || text.ends_with('\n') {
            Ok(())
        } else {
            self.write("\n")
        }
    }

    /// The same for a part that another part follows: adds no line end.
    pub(crate) fn document_part(&mut self, text: &str) -> Result<(), Failure> {
        if self.stdout_is_terminal {
            self.write(&escape_text(text))
        } else {
            self.write(text)
        }
    }

    /// Escapes a name, title or other text of a document for one line of stdout.
    pub(crate) fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.stdout_is_terminal {
            escape_line(text)
        } else {
            escape_controls(text)
        }
    }

    pub(crate) fn json(&mut self, object: Object) -> Result<(), Failure> {
        self.line(&object.escaped())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout
            .flush()
            .map_err(|error| Failure::from_output(&error))
    }

    /// Prints a problem that does not stop the command. One line.
    pub(crate) fn warning(&mut self, text: &str) {
        let text = &*shortened(text, MESSAGE_CHARS);
        if self.json && self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(text.to_owned());
        }
        log_labelled(&self.stderr_style.warning("warning:"), text);
    }

    /// Sets whether the results are relevant to the query, for the JSON summary.
    pub(crate) fn verdict(&mut self, verdict: &'static str) {
        self.verdict = Some(verdict);
    }

    /// Sets what was done about unknown words of the query, for the JSON summary.
    pub(crate) fn spelling(&mut self, spelling: kb_json::Object) {
        self.spelling = spelling;
    }

    /// Prints the last JSON object of a result, with verdict and warnings. Prints nothing if there is nothing to report.
    pub(crate) fn summary(&mut self, is_empty: bool) -> Result<(), Failure> {
        if !self.json || !is_empty && self.warnings.is_empty() {
            return Ok(());
        }
        let summary = kb_json::summary(self.verdict, self.spelling.clone(), &self.warnings);
        self.json(summary)
    }

    /// Prints what to do next. One line.
    pub(crate) fn hint(&mut self, text: &str) {
        let text = shortened(text, HINT_CHARS);
        log_labelled(&self.stderr_style.hint("hint:"), &with_name(&text));
    }

    /// Prints one line of information on stderr.
    pub(crate) fn note(&mut self, text: &str) {
        log(text);
    }

    pub(crate) fn failure(&mut self, report: &FailureReport) {
        let message = shortened(&report.message, MESSAGE_CHARS);
        if self.json {
            let hint = report.hint.as_deref();
            let hint = hint.map(|hint| with_name(&shortened(hint, HINT_CHARS)).into_owned());
            let error = kb_json::error(report.code, &message, hint.as_deref());
            write_line(&error.escaped());
            return;
        }
        log_labelled(&self.stderr_style.error("error:"), &message);
        if let Some(hint) = &report.hint {
            self.hint(hint);
        }
    }
}

/// Cuts the middle of a text that has more than `most` characters: its beginning and end matter most.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(CUT.len());
    let ending = kept / 4;
    let beginning = text.chars().take(kept - ending);
    let ending = text.chars().skip(count - ending);
    Cow::Owned(beginning.chain(CUT.chars()).chain(ending).collect())
}

/// Replaces the middle of a cut text.
const CUT: &str = " [...] ";

/// Prints one line on stderr, from any thread.
pub(crate) fn log(text: &str) {
    write_line(&escape_line(text));
}

fn log_labelled(label: &str, text: &str) {
    write_line(&format!("{label} {}", escape_line(text)));
}

/// Writes a line in one call, so that lines of several threads do not mix. Ignores errors: there is no other stream to
/// report them on.
fn write_line(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_their_beginning_and_end() {
        assert_eq!(shortened("short", 10), "short");
        let long = format!("begin {} end", "\u{e9}".repeat(5000));
        let short = shortened(&long, MESSAGE_CHARS);
        assert_eq!(short.chars().count(), MESSAGE_CHARS);
        assert!(
            short.starts_with("begin") && short.ends_with(" end"),
            "{short}"
        );
    }
}
