//! Colours, and when they are used.

use std::ffi::OsString;

use clap::ValueEnum;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always, also in a pipe
    Always,
    /// Never
    Never,
}

/// Colours of one stream. Every method returns its text unchanged when colour is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether escape sequences may be written.
    pub(crate) color: bool,
}

impl Style {
    pub(crate) fn path(self, text: &str) -> String {
        self.paint("35", text)
    }

    pub(crate) fn line_number(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn mark(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn hint(self, text: &str) -> String {
        self.paint("1;36", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether a stream gets colour. The flag wins over the environment, `NO_COLOR` over
/// `CLICOLOR_FORCE`, and both over what the stream is.
pub(crate) fn color_wanted(
    when: ColorWhen,
    is_terminal: bool,
    variable: impl Fn(&str) -> Option<OsString>,
) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if set("NO_COLOR") => false,
        ColorWhen::Auto if set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE") != zero() => true,
        ColorWhen::Auto => is_terminal && variable("TERM").is_none_or(|term| term != "dumb"),
    }
}

fn zero() -> Option<OsString> {
    Some(OsString::from("0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(when: ColorWhen, is_terminal: bool, set: &[(&str, &str)]) -> bool {
        color_wanted(when, is_terminal, |name| {
            set.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn a_terminal_gets_colour_and_a_pipe_does_not() {
        assert!(wanted(ColorWhen::Auto, true, &[]));
        assert!(!wanted(ColorWhen::Auto, false, &[]));
        assert!(!wanted(ColorWhen::Auto, true, &[("TERM", "dumb")]));
    }

    #[test]
    fn the_environment_decides_unless_the_flag_does() {
        assert!(!wanted(ColorWhen::Auto, true, &[("NO_COLOR", "1")]));
        assert!(wanted(ColorWhen::Auto, true, &[("NO_COLOR", "")]));
        assert!(wanted(ColorWhen::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!wanted(ColorWhen::Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!wanted(
            ColorWhen::Auto,
            false,
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]
        ));
        assert!(wanted(ColorWhen::Always, false, &[("NO_COLOR", "1")]));
        assert!(!wanted(ColorWhen::Never, true, &[("CLICOLOR_FORCE", "1")]));
    }

    #[test]
    fn without_colour_no_escape_sequence_is_written() {
        assert_eq!(Style { color: false }.mark("word"), "word");
        assert_eq!(
            Style { color: true }.strong("word"),
            "\u{1b}[1mword\u{1b}[0m"
        );
    }
}
