//! Flags of `kb search --mode regex`.

use clap::Args;

/// How to match a pattern, and what to print of the matches.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Regular expressions (with --mode regex)")]
pub(crate) struct PatternFlags {
    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,

    /// Match whole words only
    #[arg(short, long)]
    pub(crate) word: bool,

    /// Treat QUERY as plain text without special characters
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,

    /// Allow matches over several lines: `\n` is allowed, and with `(?s)` `.` matches line ends
    #[arg(short = 'U', long)]
    pub(crate) multiline: bool,

    /// Print only the number of matching lines in each document
    #[arg(long, conflicts_with = "files_with_matches")]
    pub(crate) count: bool,

    /// Print only the paths of documents with a match
    #[arg(short = 'l', long)]
    pub(crate) files_with_matches: bool,

    /// Search only this document: its path, a unique end of its path, or its handle (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Vec<String>,
}

impl PatternFlags {
    /// Returns the name of a flag that is given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            (self.ignore_case, "--ignore-case"),
            (self.word, "--word"),
            (self.fixed_strings, "--fixed-strings"),
            (self.multiline, "--multiline"),
            (self.count, "--count"),
            (self.files_with_matches, "--files-with-matches"),
            (!self.document.is_empty(), "--document"),
        ];
        let given = flags.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, name)| name)
    }
}
