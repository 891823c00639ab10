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
    /// The .kb file to search or read
    ///
    /// Default: the file named by KB_FILE, else the only .kb file in this folder or in the nearest
    /// parent folder that has one.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// An answer in parts.
#[derive(Debug, Args)]
pub(crate) struct PageFlags {
    /// Limit output to about N tokens (4 bytes each); at least one item is printed
    ///
    /// When output is cut, a hint gives the token for --continue.
    #[arg(long, value_name = "N", help_heading = "Paging")]
    pub(crate) max_tokens: Option<u32>,

    /// Continue the output of an earlier run of the same command
    #[arg(long = "continue", value_name = "TOKEN", help_heading = "Paging")]
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
