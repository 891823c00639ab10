//! The flags of `kb search --mode regex`.

use clap::Args;

/// How a pattern is matched, and what is printed of its matches.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Regular expressions (with --mode regex)")]
pub(crate) struct PatternFlags {
    /// Match upper and lower case alike
    #[arg(short, long)]
    pub(crate) ignore_case: bool,

    /// Match whole words only
    #[arg(short, long)]
    pub(crate) word: bool,

    /// Treat QUERY as plain text: no character of it is special
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,

    /// Let matches reach over several lines; then `\n` is allowed, and `(?s)` lets `.` match line ends
    #[arg(short = 'U', long)]
    pub(crate) multiline: bool,

    /// Print how many lines match in each document, and not the lines
    #[arg(long, conflicts_with = "files_with_matches")]
    pub(crate) count: bool,

    /// Print the paths of documents with a match, and nothing else
    #[arg(short = 'l', long)]
    pub(crate) files_with_matches: bool,

    /// Search only this document: a path, the end of one, or a handle (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Vec<String>,
}

impl PatternFlags {
    /// A flag that is given, if any is.
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
