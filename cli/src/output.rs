//! The only place that prints. Answers go to stdout, everything else to stderr.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use crate::args::ColorWhen;
use crate::escape::{escape_line, escape_text};
use crate::failure::{Failure, FailureReport};
use crate::json::Object;
use crate::style::{Style, color_wanted};

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
}

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
        }
    }

    pub(crate) fn stdout_style(&self) -> Style {
        self.stdout_style
    }

    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Columns of the terminal; `None` in a pipe, where lines have no end.
    pub(crate) fn columns(&self) -> Option<usize> {
        if !self.stdout_is_terminal {
            return None;
        }
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Some(columns.unwrap_or(FALLBACK_COLUMNS).max(LEAST_COLUMNS))
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
        match self.stdout_is_terminal {
            true => self.write(&escape_text(text)),
            false => self.write(text),
        }
    }

    /// A name or title from a .kb for a line of stdout.
    pub(crate) fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.stdout_is_terminal {
            escape_line(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    pub(crate) fn json(&mut self, object: Object) -> Result<(), Failure> {
        self.line(&object.finish())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout
            .flush()
            .map_err(|error| Failure::from_output(&error))
    }

    /// Something worth knowing that does not stop the command.
    pub(crate) fn warning(&mut self, text: &str) {
        let label = self.stderr_style.warning("warning:");
        self.tell(&format!("{label} {}", self.harmless(text)));
    }

    /// What to do next.
    pub(crate) fn hint(&mut self, text: &str) {
        let label = self.stderr_style.hint("hint:");
        self.tell(&format!("{label} {}", self.harmless(text)));
    }

    /// Text for people that is not the answer.
    pub(crate) fn note(&mut self, text: &str) {
        self.tell(&self.harmless(text));
    }

    pub(crate) fn failure(&mut self, report: &FailureReport) {
        if self.json {
            let mut error = Object::new()
                .field("code", report.code)
                .field("message", &*report.message);
            if let Some(hint) = &report.hint {
                error = error.field("hint", &**hint);
            }
            self.tell(&Object::new().object("error", error).finish());
            return;
        }
        let label = self.stderr_style.error("error:");
        self.tell(&format!("{label} {}", self.harmless(&report.message)));
        if let Some(hint) = &report.hint {
            self.hint(hint);
        }
    }

    fn harmless<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.stderr_is_terminal {
            escape_text(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    fn tell(&self, text: &str) {
        tell(text);
    }
}

/// One line on stderr, from any thread. Nobody could be told that stderr is closed.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
