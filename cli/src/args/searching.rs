//! The flags of `kb search`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kb_engine::calendar::Date;
use kb_engine::{Class, Filters, Mode, Scope, Sort, SymbolKind};

use super::flags::{JsonFlag, LinkFlag, PageFlags, RefreshFlag};
use super::pattern::PatternFlags;
use super::symbols::kinds;

/// Find the passages that answer a question
///
/// QUERY is plain text: a question, an identifier, an error message. By default results are ranked by
/// words and by meaning. Each result names its document and lines, which `kb get` can print.
///
/// Operators: "exact words" must occur in this order, ignoring case and punctuation; +word must occur;
/// -word, before or after all other words, must not; title:word, path:word and tag:word must occur in
/// the title, the path or the tags of the document. In a sentence (five words or more, or one such as
/// `how`, `the` or `for`) quotes, + and - are plain text, but +"exact words" and -"exact words" are
/// operators everywhere. An operator that leaves nothing is searched as plain text, with a warning.
///
/// With --mode regex QUERY is a regular expression, and every line of stored text that matches is printed as
/// PATH:LINE:TEXT, sorted by path and line, as grep does; of pages, sheets and slides PATH p. 3:LINE:TEXT. The
/// syntax is that of ripgrep: Perl-like and Unicode-aware, without look-around and backreferences.
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct SearchArguments {
    /// The query, quoted or not; `-` reads it from standard input
    ///
    /// An argument with a space in it is never a flag: `kb search '-test path:examples'`. Put `--`
    /// before a single word that begins with a dash.
    #[arg(required_unless_present = "vector", value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    /// The .kb file to search (repeatable: results are ranked together)
    ///
    /// Default: the file named by KB_FILE, else the .kb file in this folder or in the nearest parent folder that
    /// has one; of several the newest that was made from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Vec<PathBuf>,

    /// Maximum number of results; default 10, with --mode regex 100 lines or 1000 documents
    #[arg(short, visible_alias = "limit", value_name = "N")]
    pub(crate) k: Option<usize>,

    /// Rank by words and meaning (hybrid), by one of them, search titles, or match a regular expression
    ///
    /// `title` returns documents that have every word in their title, slug or tags (`path:` finds names of files).
    /// `regex` returns every line that matches, and ranks nothing.
    #[arg(long, value_name = "MODE", default_value = Mode::default().name(), value_parser = search_modes())]
    pub(crate) mode: SearchMode,

    /// Search by this vector of the model that made a column: `[0.1, -0.2]`, or an .npy or .json file with one
    ///
    /// QUERY then ranks the keyword part of --mode hybrid, and may be left out. `kb vectors` lists the columns.
    #[arg(long, value_name = "VECTOR", help_heading = "Vectors")]
    pub(crate) vector: Option<String>,

    /// The column that --vector is compared with [default: the default one of the file]
    #[arg(long, value_name = "NAME", help_heading = "Vectors")]
    pub(crate) vector_column: Option<String>,

    #[command(flatten)]
    pub(crate) pattern: PatternFlags,

    /// Treat quotes, +, - and fields in QUERY as plain text
    #[arg(long)]
    pub(crate) plain: bool,

    /// Return passages (chunks) or whole documents
    #[arg(long, value_name = "SCOPE", default_value = Scope::default().name(), value_parser = scopes())]
    pub(crate) scope: Scope,

    /// Sort results by score, by modification time (recency), or by path
    ///
    /// Recency and path sort what is relevant: what scores at least 0.7 of the best, or has every word
    /// but question words (how, which).
    #[arg(long, value_name = "ORDER", default_value = Sort::default().name(), value_parser = orders())]
    pub(crate) sort: Sort,

    /// Omit results with a lower score, 0 to 1; at .5 a result is as likely right as a chance match
    #[arg(
        long,
        value_name = "SCORE",
        default_value_t = 0.0,
        hide_default_value = true
    )]
    pub(crate) min_score: f32,

    /// Only documents whose path matches, for example `src/**/*.rs` or `*.md` (repeatable)
    ///
    /// A pattern without `/` also matches file names. Quote it to keep the shell from expanding it.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub(crate) path: Vec<String>,

    /// Only documents in this folder and below it (repeatable)
    #[arg(long, value_name = "FOLDER", help_heading = "Filters")]
    pub(crate) folder: Vec<String>,

    /// Only files of this type: markdown, html, rust, or an extension (repeatable)
    #[arg(long = "type", value_name = "TYPE", help_heading = "Filters")]
    pub(crate) file_type: Vec<String>,

    /// Only this programming language: rust, python, or a short name (repeatable, or with commas)
    #[arg(long, value_name = "LANG", help_heading = "Filters")]
    pub(crate) lang: Vec<String>,

    /// Only parts of programs that define a symbol of this kind, or lie within one (repeatable)
    #[arg(long, value_name = "KIND", help_heading = "Filters", value_parser = kinds(), value_delimiter = ',')]
    pub(crate) kind: Vec<SymbolKind>,

    /// Only parts of programs that define a symbol whose name matches, or lie within it: `*Handler` (repeatable)
    ///
    /// In upper or lower case; `*` stands for any characters, `?` for one. With --kind one symbol has both.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub(crate) symbol: Vec<String>,

    /// Only this class: doc (prose), code, data (repeatable)
    #[arg(long, value_name = "CLASS", help_heading = "Filters", value_parser = classes())]
    pub(crate) class: Vec<Class>,

    /// Only documents with this tag (repeatable)
    #[arg(long, value_name = "TAG", help_heading = "Filters")]
    pub(crate) tag: Vec<String>,

    /// Only documents modified since: 2026-11-30, or 12h, 7d, 3w ago
    #[arg(long, value_name = "WHEN", help_heading = "Filters", value_parser = parse_since)]
    pub(crate) since: Option<i64>,

    /// Print whole passages instead of their best lines; with --mode regex long lines whole
    #[arg(long)]
    pub(crate) full: bool,

    /// Print at most N lines of each result, the best ones, with --json too
    ///
    /// A line of more than 80 bytes counts as several. With --max-tokens the results share the budget.
    #[arg(long, value_name = "N", conflicts_with = "full", value_parser = parse_line_count)]
    pub(crate) lines: Option<u32>,

    /// Extend a part of a function or class to all of it, up to 16 KB; implies --full
    #[arg(long, conflicts_with_all = ["before", "after"])]
    pub(crate) smart_context: bool,

    /// Print N lines of the document before each result; implies --full
    #[arg(
        short = 'B',
        long,
        value_name = "LINES",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) before: u32,

    /// Print N lines of the document after each result; implies --full
    #[arg(
        short = 'A',
        long,
        value_name = "LINES",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) after: u32,

    /// Do not join neighbouring chunks with similar scores into one passage
    #[arg(long)]
    pub(crate) no_join: bool,

    /// Show how each score was computed
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) link: LinkFlag,

    #[command(flatten)]
    pub(crate) fresh: RefreshFlag,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

impl SearchArguments {
    /// Which documents are searched.
    pub(crate) fn filters(&self) -> Filters {
        let mut filters = Filters::new()
            .tags(&self.tag)
            .paths(&self.path)
            .folders(&self.folder)
            .types(&self.file_type)
            .languages(&self.lang)
            .symbol_kinds(self.kind.iter().copied())
            .symbol_names(&self.symbol)
            .classes(self.class.iter().copied());
        filters.modified_since_ms = self.since;
        filters
    }
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  kb search how are files locked
  kb search 'connection reset by peer' --mode keyword
  kb search '\"fn main\" -test path:examples'
  kb search retry with backoff --lang rust --folder net -k 3
  kb search -f ~/notes.kb -f work.kb --class doc --full meeting with Ada
  kb search where is login validated --class code --kind function,method --smart-context
  kb search --mode title release notes --sort recency
  kb search parse_header --json | jq -r '.document + \":\" + (.start_line | tostring)'
  kb search --mode regex 'fn \\w+_header\\b' --lang rust
  kb search --mode regex -i -w --count todo --folder src
  kb search --vector query.npy --vector-column minilm lamp oil
  git log -1 --format=%s | kb search -";

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// An index of the file.
    Ranked(Mode),
    /// A scan for a regular expression.
    Regex,
}

/// The name of [`SearchMode::Regex`].
const REGEX: &str = "regex";

fn search_modes() -> impl TypedValueParser<Value = SearchMode> {
    let names = Mode::ALL.map(Mode::name).into_iter().chain([REGEX]);
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        REGEX => SearchMode::Regex,
        name => SearchMode::Ranked(Mode::from_name(name).unwrap_or_default()),
    })
}

fn scopes() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.map(Scope::name))
        .map(|name| Scope::from_name(&name).unwrap_or_default())
}

fn orders() -> impl TypedValueParser<Value = Sort> {
    PossibleValuesParser::new(Sort::ALL.map(Sort::name))
        .map(|name| Sort::from_name(&name).unwrap_or_default())
}

fn classes() -> impl TypedValueParser<Value = Class> {
    PossibleValuesParser::new(Class::ALL.map(Class::name))
        .map(|name| Class::from_name(&name).unwrap_or(Class::Data))
}

/// Reads a day (UTC) or a span of time before now; milliseconds since 1970.
fn parse_since(text: &str) -> Result<i64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    since(text, now.unwrap_or(Duration::ZERO).as_secs())
        .map(|seconds| seconds.saturating_mul(1000))
        .ok_or_else(|| {
            format!("{text:?} is no time; give a day, 2026-11-30, or a span: 12h, 7d, 3w")
        })
}

/// Seconds since 1970.
fn since(text: &str, now: u64) -> Option<i64> {
    let now = i64::try_from(now).ok()?;
    for (unit, seconds) in [("h", 3600), ("d", 86_400), ("w", 7 * 86_400)] {
        if let Some(count) = text.strip_suffix(unit) {
            let count: u32 = count.parse().ok()?;
            return now.checked_sub(i64::from(count).checked_mul(seconds)?);
        }
    }
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month) = (year.parse().ok()?, month.parse().ok()?);
    let days = Date::unix_days_of(year, month, day.parse().ok()?)?;
    Some(days * 86_400)
}

/// Reads how many lines of a result are printed.
fn parse_line_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "give how many lines, 1 or more".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Verb};

    #[test]
    fn a_query_may_stand_between_flags_unquoted() {
        let line = "kb search how do I -k 3 lock --class doc files -f a.kb -f b.kb -A 2";
        let parsed = Arguments::try_parse_from(line.split(' '));
        let Verb::Search(search) = parsed.unwrap().verb else {
            panic!("another verb")
        };
        assert_eq!(search.query.join(" "), "how do I lock files");
        assert_eq!((search.k, search.class), (Some(3), vec![Class::Doc]));
        assert_eq!(search.file, ["a.kb", "b.kb"].map(PathBuf::from));
        assert_eq!((search.before, search.after), (0, 2));
    }

    #[test]
    fn a_vector_takes_the_place_of_the_query() {
        let parse = |words: &[&str]| Arguments::try_parse_from(words).map(|parsed| parsed.verb);
        assert!(parse(&["kb", "search"]).is_err());
        let Ok(Verb::Search(search)) = parse(&["kb", "search", "--vector", "[1, -2]"]) else {
            panic!("another verb")
        };
        assert!(search.query.is_empty());
        assert_eq!(search.vector.as_deref(), Some("[1, -2]"));
    }

    #[test]
    fn days_and_spans_are_read_and_others_refused() {
        let day = 86_400;
        assert_eq!(since("1970-01-01", 0), Some(0));
        assert_eq!(since("2000-03-01", 0), Some(11_017 * day));
        assert_eq!(since("2024-02-29", 0), Some(19_782 * day));
        assert_eq!(since("2026-12-31", 0), Some(20_818 * day));
        assert_eq!(since("7d", 1_000_000), Some(1_000_000 - 7 * day));
        assert_eq!(since("2h", 10_000), Some(2800));
        for wrong in [
            "",
            "d",
            "-1d",
            "7",
            "2026-13-01",
            "2026-02-29",
            "2026-00-01",
            "26-01-01",
            "2026-01-01-",
        ] {
            assert_eq!(since(wrong, 1_000_000), None, "{wrong}");
        }
    }
}
