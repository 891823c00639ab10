//! Flags that several verbs share.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use kb_engine::{Cursor, Mode, PageOptions};

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always, in a pipe too
    Always,
    /// Never
    Never,
}

/// The file that answers.
#[derive(Debug, Args)]
pub(crate) struct FileFlag {
    /// The .kb file to ask
    ///
    /// Without it: the file that KB_FILE names, else the single .kb file in this folder, or in the
    /// nearest folder above that has one.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// An answer in parts.
#[derive(Debug, Args)]
pub(crate) struct PageFlags {
    /// Stop before the answer has more tokens than that, at 4 bytes a token
    ///
    /// What is left can be had with --continue. One item is always printed.
    #[arg(long, value_name = "N", help_heading = "Parts")]
    pub(crate) max_tokens: Option<u32>,

    /// Go on where an earlier answer to the same command stopped
    #[arg(long = "continue", value_name = "TOKEN", help_heading = "Parts")]
    pub(crate) continuation: Option<Cursor>,
}

impl PageFlags {
    /// Whether a part is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.max_tokens.is_some() || self.continuation.is_some()
    }

    pub(crate) fn page(&self) -> PageOptions {
        let mut page = PageOptions::default();
        page.max_tokens = self.max_tokens;
        page.cursor.clone_from(&self.continuation);
        page
    }
}

/// Output for programs.
#[derive(Debug, Args)]
pub(crate) struct JsonFlag {
    /// Print JSON, one object per line
    ///
    /// Errors become one object on stderr: {"error": {"code": ..., "message": ...}}.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the name of a mode.
pub(crate) fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .map(|name| Mode::from_name(&name).unwrap_or_default())
}
