//! [`RegexRequest`]: a pattern with its options, their limits and defaults.

use std::time::Duration;

use kb_types::error::{Error, Result};

use crate::paging::PageOptions;
use crate::search::filters::Filters;
use crate::search::request::K_LIMIT;

/// Longest pattern, in bytes.
// A list of some hundred alternatives fits. Compiling takes time and memory in proportion.
pub const PATTERN_LIMIT_BYTES: usize = 16 << 10;

/// Default of [`RegexRequest::max_line_bytes`].
pub const SHOWN_LINE_BYTES: usize = 500;

/// Least value of [`RegexRequest::max_line_bytes`].
const LEAST_LINE_BYTES: usize = 40;

/// What one item of the answer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RegexOutput {
    /// A matching line, or with [`multi_line`](RegexRequest::multi_line) the lines that a match reaches over. The
    /// default.
    #[default]
    Lines,
    /// A document with a match, and how many of its lines match.
    Counts,
    /// A document with a match. Each is read up to its first match only.
    Documents,
}

/// A regular expression to be searched for in the stored text of one or several .kb files: code, prose, pages, what
/// the cells of sheets show, slides. Answers in the order of paths and lines, without ranking.
///
/// The syntax is that of the `regex` crate: Perl-like and Unicode-aware, without look-around and backreferences, so
/// that every search takes time linear in the text. `^` and `$` match at the ends of lines, before `\r\n` too;
/// `\A` and `\z` at the ends of a document.
///
/// ```
/// use kb_engine::{Filters, RegexRequest};
///
/// let request = RegexRequest::new(r"fn \w+_header\b")
///     .filters(Filters::new().languages(["rust"]))
///     .ignore_case(true);
/// assert!(request.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RegexRequest {
    /// The pattern, at most [`PATTERN_LIMIT_BYTES`]. An empty one matches every line.
    pub pattern: String,
    /// Whether letters match in either case (Unicode simple case folding).
    pub ignore_case: bool,
    /// Whether a match must begin and end at word boundaries.
    pub whole_words: bool,
    /// Whether the pattern is plain text: no character of it is special.
    pub literal: bool,
    /// Whether a match may reach over several lines. Else each line is searched by itself, and a pattern that needs
    /// a line end is refused. `.` matches line ends with `(?s)` only.
    pub multi_line: bool,
    /// What one item stands for.
    pub output: RegexOutput,
    /// Most items to return at once, `1..=`[`K_LIMIT`].
    pub k: usize,
    /// Which documents are searched.
    pub filters: Filters,
    /// Only these documents, each named as for [`Kb::text`](crate::Kb::text); lines behind a name are not looked
    /// at. Empty: all. Several are alternatives.
    pub documents: Vec<String>,
    /// Of longer lines only the part around the first match is returned, 40 or more bytes.
    pub max_line_bytes: usize,
    /// The search ends, with a cursor, after so many bytes of text were read; at least one document or 64 KB of one
    /// is.
    pub max_scan_bytes: u64,
    /// The search ends, with a cursor, after that time, which is looked at after each document or 64 KB, and within
    /// them from half a second on. If the first line or document of an answer takes longer, its rest is left out with
    /// a warning.
    pub time_limit: Option<Duration>,
    /// Whether text is skipped that cannot match by its trigrams; for measurements. The answer is the same.
    pub uses_trigrams: bool,
    /// Token budget and cursor.
    pub page: PageOptions,
}

impl RegexRequest {
    /// A request for the first 100 matching lines of all documents, that reads 4 GiB of text at most.
    pub fn new(pattern: impl Into<String>) -> RegexRequest {
        RegexRequest {
            pattern: pattern.into(),
            ignore_case: false,
            whole_words: false,
            literal: false,
            multi_line: false,
            output: RegexOutput::default(),
            k: 100,
            filters: Filters::default(),
            documents: Vec::new(),
            max_line_bytes: SHOWN_LINE_BYTES,
            max_scan_bytes: 4 << 30,
            time_limit: None,
            uses_trigrams: true,
            page: PageOptions::default(),
        }
    }

    /// Sets whether letters match in either case.
    #[must_use]
    pub fn ignore_case(mut self, ignore_case: bool) -> RegexRequest {
        self.ignore_case = ignore_case;
        self
    }

    /// Sets whether a match must begin and end at word boundaries.
    #[must_use]
    pub fn whole_words(mut self, whole_words: bool) -> RegexRequest {
        self.whole_words = whole_words;
        self
    }

    /// Sets whether the pattern is plain text.
    #[must_use]
    pub fn literal(mut self, literal: bool) -> RegexRequest {
        self.literal = literal;
        self
    }

    /// Sets whether a match may reach over several lines.
    #[must_use]
    pub fn multi_line(mut self, multi_line: bool) -> RegexRequest {
        self.multi_line = multi_line;
        self
    }

    /// Sets what one item stands for.
    #[must_use]
    pub fn output(mut self, output: RegexOutput) -> RegexRequest {
        self.output = output;
        self
    }

    /// Sets the number of items.
    #[must_use]
    pub fn k(mut self, k: usize) -> RegexRequest {
        self.k = k;
        self
    }

    /// Replaces the filters.
    #[must_use]
    pub fn filters(mut self, filters: Filters) -> RegexRequest {
        self.filters = filters;
        self
    }

    /// Adds names of documents.
    #[must_use]
    pub fn documents<T: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = T>,
    ) -> RegexRequest {
        self.documents.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets how many bytes of a line are returned.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> RegexRequest {
        self.max_line_bytes = bytes;
        self
    }

    /// Sets how many bytes of text are read.
    #[must_use]
    pub fn max_scan_bytes(mut self, bytes: u64) -> RegexRequest {
        self.max_scan_bytes = bytes;
        self
    }

    /// Sets how long the search may take.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> RegexRequest {
        self.time_limit = Some(limit);
        self
    }

    /// Sets whether text is skipped by its trigrams.
    #[must_use]
    pub fn uses_trigrams(mut self, uses_trigrams: bool) -> RegexRequest {
        self.uses_trigrams = uses_trigrams;
        self
    }

    /// Sets token budget and cursor.
    #[must_use]
    pub fn page(mut self, page: PageOptions) -> RegexRequest {
        self.page = page;
        self
    }

    /// As [`RegexRequest::validate`], without the pattern.
    pub(super) fn validate_numbers(&self) -> Result<()> {
        let invalid = |argument, reason| Err(Error::InvalidArgument { argument, reason });
        if self.k == 0 || self.k > K_LIMIT {
            let reason = format!("{} given; allowed are 1 to {K_LIMIT}", self.k);
            return invalid("k", reason);
        }
        if self.max_line_bytes < LEAST_LINE_BYTES {
            let given = self.max_line_bytes;
            let reason = format!("{given} given; at least {LEAST_LINE_BYTES}");
            return invalid("max_line_bytes", reason);
        }
        self.page.validate()
    }

    /// The arguments that a cursor is bound to. The others may change from page to page.
    ///
    /// A new field does not compile before it is listed here, on one side or the other.
    pub(super) fn fingerprint(&self) -> [String; 2] {
        let RegexRequest {
            pattern,
            ignore_case,
            whole_words,
            literal,
            multi_line,
            output,
            k: _,
            filters,
            documents,
            max_line_bytes: _,
            max_scan_bytes: _,
            time_limit: _,
            uses_trigrams: _,
            page: _,
        } = self;
        let options = format!(
            "{ignore_case} {whole_words} {literal} {multi_line} {output:?} {filters:?} {documents:?}"
        );
        [pattern.clone(), options]
    }
}
