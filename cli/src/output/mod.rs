//! The only place that prints. Answers go to stdout, everything else to stderr.
//!
//! What a terminal could obey is escaped here (`kb_engine::escape`): everything on stderr, wherever
//! that goes, because messages are read by people; names on stdout, of which a pipe gets the
//! invisible characters as they are, since they are part of the name; text of documents on a
//! terminal only. JSON says the same in ASCII escapes.

pub(crate) mod changes;
pub(crate) mod columns;
pub(crate) mod format;
pub(crate) mod hyperlink;
pub(crate) mod missed_recall;
pub(crate) mod passage;
pub(crate) mod progress;
mod style;

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use kb_engine::Kb;
use kb_engine::escape::{escape_controls, escape_line, escape_text};
use kb_json::Object;

use crate::args::ColorWhen;
use crate::failure::{Failure, FailureReport};
use crate::launcher::with_name;
use crate::output::hyperlink::HyperlinkFormat;
use crate::output::passage::clip_end;
use crate::output::style::{Style, color_wanted};

/// Width when a terminal does not tell its own.
const FALLBACK_COLUMNS: usize = 80;

/// Narrower terminals are treated as this wide: nothing readable fits.
const LEAST_COLUMNS: usize = 20;

/// Both streams of this process, and how to write to them.
pub(crate) struct Output {
    stdout: BufWriter<StdoutLock<'static>>,
    stdout_style: Style,
    stderr_style: Style,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    /// Whether failures are told as JSON.
    json: bool,
    /// What was told beside an answer as JSON, the first of it.
    warnings: Vec<String>,
    /// Whether an answer is about what was asked.
    verdict: Option<&'static str>,
    /// How documents are linked to their files.
    links: HyperlinkFormat,
}

/// Warnings that are told in JSON.
const MAX_WARNINGS: usize = 100;

/// Most characters of a message, and of a hint: together no more than agents are shown of an error.
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
            links: HyperlinkFormat::default(),
        }
    }

    pub(crate) fn stdout_style(&self) -> Style {
        self.stdout_style
    }

    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Links documents to their files; on a terminal only, and where escape sequences are allowed.
    pub(crate) fn link_documents(&mut self, format: &HyperlinkFormat) {
        if self.stdout_is_terminal && self.stdout_style.color {
            self.links.clone_from(format);
        }
    }

    /// The address of the file of a document; `None` where nothing is linked, or nobody knows where the file is.
    pub(crate) fn link(&self, kb: &Kb, document: &str, line: u32) -> Option<String> {
        if self.links.is_none() {
            return None;
        }
        let path = kb.source_path(document).ok()??;
        self.links.address(&path, line)
    }

    /// Columns of the terminal; `None` in a pipe, where lines have no end.
    pub(crate) fn columns(&self) -> Option<usize> {
        if !self.stdout_is_terminal {
            return None;
        }
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Some(columns.unwrap_or(FALLBACK_COLUMNS).max(LEAST_COLUMNS))
    }

    /// A text with as much of it as fits a line of the terminal behind what is there; in a pipe all of it.
    pub(crate) fn fit(&self, text: &str, taken: usize) -> String {
        match self.columns() {
            None => text.to_owned(),
            Some(columns) => clip_end(text, columns.saturating_sub(taken)),
        }
    }

    /// Our own text, or text that is escaped already.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.stdout
            .write_all(text.as_bytes())
            .map_err(|error| Failure::from_output(&error))
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text)?;
        self.write("\n")
    }

    /// Text of a document: raw in a pipe, harmless on a terminal.
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

    /// The same of a part that another one follows: nothing is put after it.
    pub(crate) fn document_part(&mut self, text: &str) -> Result<(), Failure> {
        if self.stdout_is_terminal {
            self.write(&escape_text(text))
        } else {
            self.write(text)
        }
    }

    /// A name, title or other text that is not ours, as a part of one line of stdout.
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

    /// Something worth knowing that does not stop the command. One line.
    pub(crate) fn warning(&mut self, text: &str) {
        let text = &*shortened(text, MESSAGE_CHARS);
        if self.json && self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(text.to_owned());
        }
        log_labelled(&self.stderr_style.warning("warning:"), text);
    }

    /// Whether the answer is about what was asked.
    pub(crate) fn verdict(&mut self, verdict: &'static str) {
        self.verdict = Some(verdict);
    }

    /// The last object of an answer as JSON: verdict and warnings, where there is something to say of the answer.
    pub(crate) fn summary(&mut self, is_empty: bool) -> Result<(), Failure> {
        if !self.json || !is_empty && self.warnings.is_empty() {
            return Ok(());
        }
        let summary = kb_json::summary(self.verdict, &self.warnings);
        self.json(summary)
    }

    /// What to do next. One line.
    pub(crate) fn hint(&mut self, text: &str) {
        let text = shortened(text, HINT_CHARS);
        log_labelled(&self.stderr_style.hint("hint:"), &with_name(&text));
    }

    /// One line for people that is not the answer.
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

/// A text with its middle left out where it has more characters: how it begins and ends says what it is about.
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

/// What stands for the middle of a text.
const CUT: &str = " [...] ";

/// One line on stderr, from any thread.
pub(crate) fn log(text: &str) {
    write_line(&escape_line(text));
}

fn log_labelled(label: &str, text: &str) {
    write_line(&format!("{label} {}", escape_line(text)));
}

/// Nobody could be told that stderr is closed. One write, so that lines of several threads stay whole.
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
