//! What a caller asks: the request, its filters and defaults.

use crate::error::{Error, Result};
use crate::index::vector::Scan;
use crate::paging::PageOptions;
use crate::types::Class;

/// Longest query that is read, in bytes; the rest of a longer one is ignored with a warning.
pub const QUERY_LIMIT_BYTES: usize = 8 << 10;

/// Most hits that one request may ask for.
pub const K_LIMIT: usize = 10_000;

/// Most lines of context on each side of a hit.
pub const CONTEXT_LIMIT_LINES: u32 = 1000;

/// Most characters shown before a preview, and after it.
pub const CONTEXT_LIMIT_CHARS: usize = 10_000;

/// Characters of something typed that a message shows.
const SHOWN_CHARS: usize = 60;

/// The start of something that was typed, for a message.
pub(crate) fn shown(typed: &str) -> String {
    let mut shown: String = typed.chars().take(SHOWN_CHARS).collect();
    if shown.len() < typed.len() {
        shown.push_str("...");
    }
    shown
}

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and meaning, fused. The default.
    #[default]
    Hybrid,
    /// Meaning only.
    Semantic,
    /// Words only.
    Keyword,
    /// Documents by title, file name, handle and tags: every word must match one of them.
    Title,
}

impl Mode {
    /// The modes that rank text.
    pub const RANKED: [Mode; 3] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword];

    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword, Mode::Title];

    /// The word used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Hybrid => "hybrid",
            Mode::Semantic => "semantic",
            Mode::Keyword => "keyword",
            Mode::Title => "title",
        }
    }

    /// The mode of that word.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The order of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Best score first; equal scores by path, then start byte. The default.
    #[default]
    Score,
    /// The same hits, those of the document modified last first.
    Recency,
    /// The same hits, by path, then start byte.
    Path,
}

impl Sort {
    /// All orders.
    pub const ALL: [Sort; 3] = [Sort::Score, Sort::Recency, Sort::Path];

    /// The word used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Score => "score",
            Sort::Recency => "recency",
            Sort::Path => "path",
        }
    }

    /// The order of that word.
    pub fn from_name(name: &str) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// What one hit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// A passage: a chunk, or neighbouring chunks that are about equally good. The default.
    #[default]
    Chunks,
    /// A document, shown by its best chunk.
    Documents,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 2] = [Scope::Chunks, Scope::Documents];

    /// The word used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Chunks => "chunks",
            Scope::Documents => "documents",
        }
    }

    /// The scope of that word.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Which chunks may answer. Values of one field are alternatives, fields are joined by AND; an
/// empty field does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Globs over document paths: `src/**/*.rs`; one without `/` also matches file names.
    pub paths: Vec<String>,
    /// File types: `markdown`, `rust`, or an extension: `md`.
    pub types: Vec<String>,
    /// Languages: `rust`, or a common alias: `rs`, `sh`.
    pub languages: Vec<String>,
    /// Classes of documents.
    pub classes: Vec<Class>,
    /// Tags that people gave documents.
    pub tags: Vec<String>,
    /// Folders: all documents below them, at any depth.
    pub folders: Vec<String>,
    /// Documents whose original was modified at that time or later, milliseconds since 1970. A
    /// document whose time is not known does not pass.
    pub modified_since_ms: Option<i64>,
    /// Kinds of symbols. No document of this version has symbols.
    pub symbol_kinds: Vec<String>,
    /// Names of symbols. No document of this version has symbols.
    pub symbol_names: Vec<String>,
}

impl Filters {
    /// Whether every chunk may answer.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }
}

/// One question to one or several .kb files.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Words, with `"phrases"`, `+word`, `-word` and `title:`, `path:`, `tag:`; never a syntax error.
    pub query: String,
    /// Whether the signs of the query are words like all others.
    pub plain: bool,
    /// How many hits at most, in one page, `1..=`[`K_LIMIT`].
    pub k: usize,
    /// What answers.
    pub mode: Mode,
    /// What one hit stands for.
    pub scope: Scope,
    /// Their order.
    pub sort: Sort,
    /// Which chunks may answer.
    pub filters: Filters,
    /// Hits below this score, 0..1, are left out.
    pub min_score: f32,
    /// Lines of the document to show before and after each hit, at most [`CONTEXT_LIMIT_LINES`].
    pub context_lines: (u32, u32),
    /// Whether neighbouring chunks that are about equally good make one hit.
    pub join: bool,
    /// Cut the text of a hit to that many characters around its best lines.
    pub max_text_chars: Option<usize>,
    /// Characters of the document to show before and after each preview, at most
    /// [`CONTEXT_LIMIT_CHARS`], in the place of lines: as many whole words as fit.
    pub context_chars: Option<usize>,
    /// How vectors are searched; for comparisons.
    pub scan: Scan,
    /// How much of the answer is wanted at once, and where to go on.
    pub page: PageOptions,
    /// Whether the answer shows how it came about.
    pub explain: bool,
}

impl Request {
    /// A hybrid request for the ten best hits.
    pub fn new(query: impl Into<String>) -> Request {
        Request {
            query: query.into(),
            plain: false,
            k: 10,
            mode: Mode::default(),
            scope: Scope::default(),
            sort: Sort::default(),
            filters: Filters::default(),
            min_score: 0.0,
            context_lines: (0, 0),
            join: true,
            max_text_chars: None,
            context_chars: None,
            scan: Scan::Auto,
            page: PageOptions::default(),
            explain: false,
        }
    }

    /// Refuses what no answer can be given to.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the query is blank or a number is out of range.
    pub fn validate(&self) -> Result<()> {
        let invalid = |argument, reason| Err(Error::InvalidArgument { argument, reason });
        if self.query.trim().is_empty() {
            let reason = "it is empty; give at least one word".to_owned();
            return invalid("query", reason);
        }
        if self.k == 0 || self.k > K_LIMIT {
            let reason = format!("{} given; allowed are 1 to {K_LIMIT}", self.k);
            return invalid("k", reason);
        }
        if !(0.0..=1.0).contains(&self.min_score) {
            let reason = format!("{} given; allowed are 0 to 1", self.min_score);
            return invalid("min_score", reason);
        }
        let (before, after) = self.context_lines;
        if before.max(after) > CONTEXT_LIMIT_LINES {
            let given = before.max(after);
            let reason = format!("{given} lines given; allowed are 0 to {CONTEXT_LIMIT_LINES}");
            return invalid("context", reason);
        }
        if self.max_text_chars == Some(0) {
            let reason = "0 characters given; at least 1".to_owned();
            return invalid("preview", reason);
        }
        match self.context_chars {
            Some(given) if given > CONTEXT_LIMIT_CHARS => {
                let reason =
                    format!("{given} characters given; allowed are 0 to {CONTEXT_LIMIT_CHARS}");
                return invalid("around", reason);
            }
            Some(_) if self.max_text_chars.is_none() || self.context_lines != (0, 0) => {
                let reason = "it goes with a preview, and not with lines of context".to_owned();
                return invalid("around", reason);
            }
            _ => {}
        }
        self.page.validate()
    }
}
