//! The flags of `kb search`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kb_engine::calendar::Date;
use kb_engine::{Class, Filters, Mode, Scope, Sort, SymbolKind};

use super::flags::{JsonFlag, LinkFlag, PageFlags, RefreshFlag, RerankFlags};
use super::pattern::PatternFlags;
use super::symbols::kinds;

/// Find the passages that answer a question
///
/// QUERY is plain text: a question, an identifier, an error message. By default, results are ranked by words and by
/// meaning. Each result names its document and lines, which `kb get` prints.
///
/// Operators: "exact words" must occur in this order; case and punctuation are ignored. +word must occur. -word must not
/// occur; it stands before or after all other words. title:word, path:word and tag:word must occur in the title, path
/// or tags of the document. In a sentence, quotes, + and - are plain text. A sentence has five words or more, or a
/// word such as `how`, `the` or `for`. +"exact words" and -"exact words" are operators in sentences too. If an operator
/// excludes every chunk, it is searched as plain text, with a warning.
///
/// With --mode regex, QUERY is a regular expression. Every matching line of stored text is printed as PATH:LINE:TEXT,
/// sorted by path and line, as grep prints it. In pages, sheets and slides it is PATH p. 3:LINE:TEXT. The syntax is that
/// of ripgrep: Perl-like and Unicode-aware, without look-around and backreferences.
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct SearchArguments {
    /// The query, quoted or not; `-` reads it from standard input
    ///
    /// Without a query, --path, --folder, --tag, --field, --where or --links-to list the documents that pass.
    ///
    /// An argument with a space is never a flag: `kb search '-test path:examples'`. Put `--` before a single
    /// word that begins with a dash.
    #[arg(required_unless_present_any = LISTING, value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    /// The .kb file to search (repeatable: results are ranked together), or http://HOST:PORT/ of a `kb serve`
    ///
    /// A server that requires a token gets that of the environment variable KB_MCP_TOKEN.
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Vec<PathBuf>,

    /// Maximum number of results [default: 10; with --mode regex 100 lines or 1,000 documents]
    #[arg(short, visible_alias = "limit", value_name = "N")]
    pub(crate) k: Option<usize>,

    /// How to search
    ///
    /// `hybrid` ranks by words and by meaning, `keyword` by words only, `semantic` by meaning only. `title` returns
    /// documents with every word in their title, slug or tags; use `path:WORD` to find file names. `regex` returns
    /// every line that matches, without ranking.
    #[arg(long, value_name = "MODE", default_value = Mode::default().name(), value_parser = search_modes())]
    pub(crate) mode: SearchMode,

    /// Search a vector column by this vector: `[0.1, -0.2]`, or an .npy or .json file with one vector
    ///
    /// The vector must come from the model of the column; `kb vectors` lists columns and models. QUERY is optional then;
    /// it is used for the keyword part of --mode hybrid.
    #[arg(long, value_name = "VECTOR", help_heading = "Vectors")]
    pub(crate) vector: Option<String>,

    /// The column that --vector is compared with [default: the default column of the file]
    #[arg(long, value_name = "NAME", help_heading = "Vectors")]
    pub(crate) vector_column: Option<String>,

    #[command(flatten)]
    pub(crate) pattern: PatternFlags,

    /// Treat quotes, +, - and fields in QUERY as plain text
    #[arg(long)]
    pub(crate) plain: bool,

    /// Search every word as it is written; do not correct slips
    #[arg(long)]
    pub(crate) exact: bool,

    /// Return passages (chunk) or whole documents (document)
    #[arg(long, value_name = "SCOPE", default_value = Scope::default().name(), value_parser = scopes())]
    pub(crate) scope: Scope,

    /// Sort results by score, by modification time (recency), by path, or by a field such as `year`
    ///
    /// `-year` puts the greatest value first. Documents without the field come last. `kb info --fields` lists the fields.
    /// Every order but score sorts only relevant results: those with a score of at least 0.7 of the best score, and those
    /// with every word of the query. Question words (how, which) do not count.
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "score",
        value_parser = parse_order,
        allow_hyphen_values = true
    )]
    pub(crate) sort: Sort,

    /// Return one result for each value of this field, the best, of the relevant results
    #[arg(long, value_name = "FIELD")]
    pub(crate) group_by: Option<String>,

    /// Also count the documents for each value of this field, among all relevant results (repeatable)
    #[arg(long, value_name = "FIELD")]
    pub(crate) facet: Vec<String>,

    /// Omit results with a lower score, 0 to 1
    ///
    /// A score of 0.5 means that the result is as likely to be a chance match as a right one.
    #[arg(
        long,
        value_name = "SCORE",
        default_value_t = 0.0,
        hide_default_value = true
    )]
    pub(crate) min_score: f32,

    /// Only documents whose path matches, such as `src/**/*.rs` or `*.md` (repeatable)
    ///
    /// A pattern without `/` also matches file names. One that begins with `!` excludes: `--path '!locales/**'`; `\!`
    /// begins a name. Quote patterns to keep the shell from expanding them.
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

    /// Only source code that defines a symbol of this kind, or is inside one (repeatable)
    #[arg(long, value_name = "KIND", help_heading = "Filters", value_parser = kinds(), value_delimiter = ',')]
    pub(crate) kind: Vec<SymbolKind>,

    /// Only source code that defines a symbol whose name matches, such as `*Handler`, or is inside one (repeatable)
    ///
    /// Case is ignored. `*` matches any characters, `?` matches one. With --kind, one symbol must match both.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub(crate) symbol: Vec<String>,

    /// Only this class of documents: doc (prose), code, data (repeatable)
    #[arg(long, value_name = "CLASS", help_heading = "Filters", value_parser = classes())]
    pub(crate) class: Vec<Class>,

    /// Only documents with this tag, or one inside it such as TAG/part (repeatable)
    #[arg(long, value_name = "TAG", help_heading = "Filters")]
    pub(crate) tag: Vec<String>,

    /// Only documents that state this about themselves: status=draft, date>=2024-05, rating>3 (repeatable)
    ///
    /// Front matter, and what other formats state: author, created, language. The comparisons are =, <, <=, > and >=.
    /// Several values with = for one name are alternatives. Quote conditions to keep the shell from reading < and >.
    #[arg(long, value_name = "CONDITION", help_heading = "Filters")]
    pub(crate) field: Vec<String>,

    /// Only documents for which a condition on fields holds: 'year > 2015 and not draft'
    ///
    /// Fields are those of --field, and path, title, type, language, class, tags, size, modified and added. There are
    /// =, !=, <, <=, >, >=, in (...), has, ~ "pattern*", missing(field), and, or, not. Texts stand in quotes.
    #[arg(long = "where", value_name = "EXPRESSION", help_heading = "Filters")]
    pub(crate) where_: Option<String>,

    /// Only documents that link to this one, by a Markdown link or a wikilink (repeatable)
    #[arg(long, value_name = "DOCUMENT", help_heading = "Filters", value_hint = ValueHint::Other)]
    pub(crate) links_to: Vec<String>,

    /// Only documents modified since: 2026-11-30, or 12h, 7d, 3w ago
    #[arg(long, value_name = "WHEN", help_heading = "Filters", value_parser = parse_since)]
    pub(crate) since: Option<i64>,

    /// Print whole passages instead of their best lines; with --mode regex, print long lines whole
    #[arg(long)]
    pub(crate) full: bool,

    /// Print at most the N best lines of each result, with --json too
    ///
    /// A line of more than 80 bytes counts as several. With --max-tokens, the results share the budget.
    #[arg(long, value_name = "N", conflicts_with = "full", value_parser = parse_line_count)]
    pub(crate) lines: Option<u32>,

    /// Extend a result inside a function or class to the whole function or class, up to 16 KB; implies --full
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
    pub(crate) rerank: RerankFlags,

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
    /// Returns the filters that the flags ask for.
    pub(crate) fn filters(&self) -> Filters {
        let mut filters = Filters::new()
            .tags(&self.tag)
            .fields(&self.field)
            .links_to(&self.links_to)
            .paths(&self.path)
            .folders(&self.folder)
            .types(&self.file_type)
            .languages(&self.lang)
            .symbol_kinds(self.kind.iter().copied())
            .symbol_names(&self.symbol)
            .classes(self.class.iter().copied());
        filters.modified_since_ms = self.since;
        filters.where_.clone_from(&self.where_);
        filters
    }
}

/// Flags that need no query.
const LISTING: [&str; 7] = [
    "vector", "path", "folder", "tag", "field", "where_", "links_to",
];

const SEARCH_EXAMPLES: &str = "\
Examples:
  kb search how are files locked
  kb search 'connection reset by peer' --mode keyword
  kb search '\"fn main\" -test path:examples'
  kb search retry with backoff --lang rust --folder net -k 3
  kb search -f ~/notes.kb -f work.kb --class doc --full meeting with Ada
  kb search where is login validated --class code --kind function,method --smart-context
  kb search --mode title release notes --sort recency
  kb search tides --sort -year --facet author --group-by title
  kb search --field status=draft --field 'date>=2024-05' --tag project
  kb search --where 'year > 2015 and author in (\"Kim\", \"Lee\") and not draft'
  kb search --links-to notes/map.md
  kb search parse_header --json | jq -r '.document + \":\" + (.start_line | tostring)'
  kb search --mode regex 'fn \\w+_header\\b' --lang rust
  kb search --mode regex -i -w --count todo --folder src
  kb search --vector query.npy --vector-column minilm lamp oil
  git log -1 --format=%s | kb search -";

/// How `kb search` finds results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// By the indexes of the file, ranked.
    Ranked(Mode),
    /// By a regular expression, unranked.
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

fn parse_order(name: &str) -> Result<Sort, String> {
    Sort::from_name(name).ok_or_else(|| {
        let names = Sort::NAMES.join(", ");
        format!(
            "allowed are {names} and the name of a field, with `-` before it in descending order"
        )
    })
}

fn classes() -> impl TypedValueParser<Value = Class> {
    PossibleValuesParser::new(Class::ALL.map(Class::name))
        .map(|name| Class::from_name(&name).unwrap_or(Class::Data))
}

/// Parses a day (UTC) or a span of time before now. Returns milliseconds since 1970.
fn parse_since(text: &str) -> Result<i64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    since(text, now.unwrap_or(Duration::ZERO).as_secs())
        .map(|seconds| seconds.saturating_mul(1000))
        .ok_or_else(|| {
            format!("{text:?} is not a time; examples: 2026-11-30 (a day), 12h, 7d, 3w (ago)")
        })
}

/// The same in seconds since 1970, for a given time `now`.
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

/// Parses a number of lines, 1 or more.
fn parse_line_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "expected a number of lines, 1 or more".to_owned())
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
