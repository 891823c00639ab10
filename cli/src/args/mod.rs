//! Defines every verb and flag with its help text. Help pages, completions and the man page are generated from these
//! definitions.

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use kb_engine::{FORMAT_VERSION, Lines};

use crate::output::style::ColorWhen;

mod flags;
mod measuring;
mod merging;
mod models;
mod operands;
mod page_ranges;
mod pattern;
mod reading;
mod sealing;
mod searching;
mod serving;
mod symbols;
mod vectors;
mod writing;

pub(crate) use flags::*;
pub(crate) use measuring::*;
pub(crate) use merging::*;
pub(crate) use models::*;
pub(crate) use operands::separate;
pub(crate) use page_ranges::*;
pub(crate) use reading::*;
pub(crate) use sealing::*;
pub(crate) use searching::*;
pub(crate) use serving::*;
pub(crate) use symbols::*;
pub(crate) use vectors::*;
pub(crate) use writing::*;

static VERSION: LazyLock<String> = LazyLock::new(|| version(option_env!("KB_COMMIT")));

/// Returns what `--version` prints after the name: the version, the file format, and the git commit if it is known.
fn version(commit: Option<&str>) -> String {
    let (major, minor) = FORMAT_VERSION;
    let commit = commit.map_or_else(String::new, |commit| format!(", commit {commit}"));
    format!(
        "{} (format {major}.{minor}{commit})",
        env!("CARGO_PKG_VERSION")
    )
}

/// Search a folder by words and by meaning, from one file.
///
/// `kb index` reads a folder of documents and source code and writes one .kb file. The file holds the text, its
/// structure, a keyword index and a vector index. The other commands need only this file: no server, no network,
/// no model to download.
#[derive(Debug, Parser)]
#[command(
    name = "kb",
    version = VERSION.as_str(),
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = TOP_EXAMPLES
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    /// When to use colour
    ///
    /// `auto` colours a terminal only. NO_COLOR switches it off, CLICOLOR_FORCE on.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,
}

const TOP_EXAMPLES: &str = "\
Examples:
  kb index .                            create ./<folder name>.kb from this folder
  kb search how are files locked        search with a question
  kb get guide.md --pages 1-3,5         pages of about 800 tokens
  kb get src/lock.rs:120-150            the lines that a search result names

Exit status: 0 found or done, 1 nothing found, out of date or different, 2 error, 130 interrupted.";

/// The verbs of the command.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Index(IndexArguments),
    Search(Box<SearchArguments>),
    Get(GetArguments),
    Outline(OutlineArguments),
    Symbols(SymbolsArguments),
    Pages(PagesArguments),
    Sheet(SheetArguments),
    Slides(SlidesArguments),
    Ls(LsArguments),
    Add(AddArguments),
    Rm(RmArguments),
    Tag(TagArguments),
    Meta(MetaArguments),
    Import(ImportArguments),
    Reembed(ReembedArguments),
    Vectors(ColumnsArguments),
    Models(ModelsArguments),
    Watch(WatchArguments),
    #[cfg(feature = "web")]
    Serve(ServeArguments),
    #[cfg(feature = "web")]
    Site(SiteArguments),
    Mcp(McpArguments),
    Token(TokenArguments),
    Info(InfoArguments),
    Bench(BenchArguments),
    Verify(VerifyArguments),
    Seal(SealArguments),
    Merge(MergeArguments),
    Diff(DiffArguments),
    Patch(PatchArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
    Help(HelpArguments),
}

impl Verb {
    /// Whether the verb prints documents or passages. With --json, a summary object may follow these.
    pub(crate) fn reads_documents(&self) -> bool {
        matches!(
            self,
            Verb::Search(_)
                | Verb::Get(_)
                | Verb::Outline(_)
                | Verb::Symbols(_)
                | Verb::Pages(_)
                | Verb::Sheet(_)
                | Verb::Slides(_)
                | Verb::Ls(_)
        )
    }
}

/// Print the text of documents, or some of their lines
///
/// The text comes from the .kb file; the original file is not needed. If several documents are printed, a line
/// with its name comes before each. With --max-tokens, documents that do not fit are skipped and listed on stderr.
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub(crate) struct GetArguments {
    /// A document: its path in the .kb file, a unique file name, its handle, or a glob for several
    ///
    /// `PATH:A-B` (as `kb search` prints it), `PATH:A` and `PATH#LA-LB` select lines. A handle is the short name that
    /// `kb add` prints. If several arguments are given, the first may be the .kb file.
    #[arg(value_name = "DOCUMENT", required = true)]
    pub(crate) documents: Vec<String>,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only these lines, counted from 1: `10-20`, `10-` (to the end), `10`
    #[arg(long, value_name = "A-B", value_parser = parse_lines)]
    pub(crate) lines: Option<Lines>,

    /// Print only this section: its number in `kb outline`, its path such as `Guide > Install`, or a
    /// heading that occurs once
    #[arg(long, value_name = "SECTION", conflicts_with = "lines")]
    pub(crate) section: Option<String>,

    /// Print only these pages, counted from 1: `3`, `1-3`, `1-3,5`, `3-` (to the end)
    ///
    /// A document without pages of its own is divided into pages of about 800 tokens.
    #[arg(long, value_name = "PAGES", conflicts_with_all = ["lines", "section"])]
    pub(crate) pages: Option<PageRanges>,

    /// What to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GetFormat::Raw)]
    pub(crate) format: GetFormat,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// What `kb get` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GetFormat {
    /// The stored text
    Raw,
    /// The indexed chunks, each after a line with its number, lines, page, sheet or slide, and section
    Chunks,
    /// Title, author, dates, size, MIME type, tags, and number of pages, sheets or slides; no text
    Metadata,
}

const GET_EXAMPLES: &str = "\
Examples:
  kb get docs/guide.md
  kb get guide.md --lines 10-20
  kb get guide.md --section 2.1         as `kb outline guide.md` numbers it
  kb get guide.md --pages 1-3,5         pages of about 800 tokens
  kb get report.pdf --format metadata   title, author, dates, number of pages
  kb get src/lock.rs:120-150            as printed by `kb search`
  kb get notes.kb 'docs/*.md' lib.rs:9  several documents of notes.kb";

/// Show the structure of a document: headings, bookmarks, sheets or slides
///
/// Headings have lines, and numbers that `kb get --section` takes. For source code the outline lists symbols with
/// their kinds, for a PDF file bookmarks with their pages, for a workbook sheets with the numbers of rows and columns,
/// for a presentation slides with their titles.
#[derive(Debug, Args)]
#[command(after_help = OUTLINE_EXAMPLES)]
pub(crate) struct OutlineArguments {
    /// A document: its path in the .kb file, a unique file name, or its handle
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only this section and those below it: its number, its path such as `Guide > Install`, or a
    /// heading that occurs once
    #[arg(long, value_name = "SECTION")]
    pub(crate) section: Option<String>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const OUTLINE_EXAMPLES: &str = "\
Examples:
  kb outline docs/guide.md
  kb outline report.pdf          bookmarks with their pages
  kb outline src/lock.rs         functions and types with their lines
  kb outline accounts.xlsx       sheets, which `kb sheet` prints";

/// List folders and documents
///
/// Prints one path per line; folders end in `/`.
#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// The folder to list [default: the top folder]
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<String>,

    /// List all documents below the folder, at any depth
    #[arg(short, long)]
    pub(crate) recursive: bool,

    /// List all documents below the folder whose fields pass this condition, such as `year > 2015 and not draft`
    ///
    /// The conditions are those of `kb search --where`; `kb info --fields` lists the fields.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) where_: Option<String>,

    /// Also print sizes, line counts, types and titles
    #[arg(short, long)]
    pub(crate) long: bool,

    /// List the files that `kb index` skipped, at any depth, each with the reason
    ///
    /// Files that .gitignore or .kbignore excludes are not recorded. A sealed file records no skipped files.
    #[arg(long, conflicts_with_all = ["recursive", "long", "where_"])]
    pub(crate) skipped: bool,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    #[command(flatten)]
    pub(crate) link: LinkFlag,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Show what a .kb file holds, and which folders were indexed into it
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Show the size of every section of the file
    #[arg(long)]
    pub(crate) sizes: bool,

    /// List the fields of documents for `kb search --where`: name, type, documents and frequent values
    #[arg(long, conflicts_with = "sizes")]
    pub(crate) fields: bool,

    /// List the values of this field, most frequent first, with the number of documents
    #[arg(long, value_name = "FIELD", conflicts_with_all = ["sizes", "fields"])]
    pub(crate) values: Option<String>,

    /// Write these facts as one page for a browser, with pictures; `-` is standard output
    #[cfg(feature = "web")]
    #[arg(long, value_name = "OUTPUT", conflicts_with_all = ["sizes", "fields", "values", "json"], value_hint = clap::ValueHint::FilePath)]
    pub(crate) html: Option<std::path::PathBuf>,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  kb completions bash > ~/.local/share/bash-completion/completions/kb
  kb completions zsh  > ~/.zfunc/_kb
  kb completions fish > ~/.config/fish/completions/kb.fish";

/// Print the manual page of `kb`, or of one verb
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb man search | man -l -")]
pub(crate) struct ManArguments {
    /// The verb [default: the page of `kb` itself]
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
}

/// Print the help of a verb, as `kb VERB --help` does
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb help search")]
pub(crate) struct HelpArguments {
    /// The verb [default: all of them]
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,
}

/// Returns the command with all its verbs and flags.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}

/// Parses `A-B`, `A-` (to the end) or `A` (one line); lines count from 1.
pub(crate) fn parse_lines(text: &str) -> Result<Lines, String> {
    let complaint = || format!("{text:?} is not a range of lines; examples: 10-20, 10-, 10");
    let number = |text: &str| text.parse::<u32>().map_err(|_| complaint());
    let (first, last) = match text.split_once('-') {
        Some((first, "")) => (number(first)?, u32::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if first == 0 {
        return Err("lines count from 1".to_owned());
    }
    if last < first {
        return Err(format!(
            "the range ends before it begins; did you mean {last}-{first}?"
        ));
    }
    Ok(Lines { first, last })
}

/// Returns the value of `--color` before the command line is parsed, because parse errors are coloured too.
pub(crate) fn color_asked(arguments: &[OsString]) -> ColorWhen {
    let mut asked = ColorWhen::Auto;
    let mut words = flags(arguments);
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        asked = value
            .and_then(|value| ColorWhen::from_str(value, false).ok())
            .unwrap_or(asked);
    }
    asked
}

/// Whether `--json` is given, before the command line is parsed: parse errors are JSON then.
pub(crate) fn json_asked(arguments: &[OsString]) -> bool {
    flags(arguments).any(|word| word == "--json")
}

fn flags(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments
        .iter()
        .filter_map(|word| word.to_str())
        .take_while(|word| *word != "--")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_definitions_contradict_nothing() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_of_every_verb_has_help() {
        for verb in Arguments::command().get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for flag in verb.get_arguments() {
                assert!(
                    flag.get_help().is_some(),
                    "{} {}",
                    verb.get_name(),
                    flag.get_id()
                );
            }
        }
    }

    #[test]
    fn ranges_of_lines_are_read_and_wrong_ones_refused() {
        assert_eq!(
            parse_lines("10-20"),
            Ok(Lines {
                first: 10,
                last: 20
            })
        );
        assert_eq!(
            parse_lines("10-"),
            Ok(Lines {
                first: 10,
                last: u32::MAX
            })
        );
        assert_eq!(parse_lines("7"), Ok(Lines { first: 7, last: 7 }));
        for wrong in [
            "",
            "-",
            "-5",
            "0",
            "0-3",
            "5-2",
            "a-b",
            "1-2-3",
            "4294967296",
        ] {
            assert!(parse_lines(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_version_names_the_format_and_a_known_commit() {
        assert!(version(None).ends_with(')'), "{}", version(None));
        assert!(!version(None).contains("commit"));
        let told = version(Some("63429c52cf72"));
        assert!(told.ends_with(", commit 63429c52cf72)"), "{told}");
    }

    #[test]
    fn colour_and_json_are_known_before_parsing() {
        assert_eq!(color_asked(&words("kb ls --color never")), ColorWhen::Never);
        assert_eq!(
            color_asked(&words("kb ls --color=always --bad")),
            ColorWhen::Always
        );
        assert_eq!(
            color_asked(&words("kb search -- --color=always")),
            ColorWhen::Auto
        );
        assert!(json_asked(&words("kb ls --json --bad")));
        assert!(!json_asked(&words("kb search -- --json")));
    }
}
