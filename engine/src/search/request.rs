//! What a caller asks: the request, its filters and defaults.

use crate::error::{Error, Result};
use crate::types::Class;

/// Longest query that is read, in bytes; the rest of a longer one is ignored with a warning.
pub const QUERY_LIMIT_BYTES: usize = 8 << 10;

/// Most hits that one request may ask for.
pub const K_LIMIT: usize = 10_000;

/// Which indexes answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and meaning, fused. The default.
    #[default]
    Hybrid,
    /// Meaning only.
    Semantic,
    /// Words only.
    Keyword,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 3] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword];

    /// The word used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Hybrid => "hybrid",
            Mode::Semantic => "semantic",
            Mode::Keyword => "keyword",
        }
    }

    /// The mode of that word.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
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
}

impl Filters {
    /// Whether every chunk may answer.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
            && self.types.is_empty()
            && self.languages.is_empty()
            && self.classes.is_empty()
            && self.tags.is_empty()
    }
}

/// One question to a .kb.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Plain words; never a syntax error.
    pub query: String,
    /// How many hits at most, `1..=`[`K_LIMIT`].
    pub k: usize,
    /// Which indexes answer.
    pub mode: Mode,
    /// Which chunks may answer.
    pub filters: Filters,
    /// Whether the answer shows how it came about.
    pub explain: bool,
}

impl Request {
    /// A hybrid request for the ten best hits.
    pub fn new(query: impl Into<String>) -> Request {
        Request {
            query: query.into(),
            k: 10,
            mode: Mode::default(),
            filters: Filters::default(),
            explain: false,
        }
    }

    /// Refuses what no answer can be given to.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the query is blank or `k` is out of range.
    pub fn validate(&self) -> Result<()> {
        if self.query.trim().is_empty() {
            return Err(Error::InvalidArgument {
                argument: "query",
                reason: "it is empty; give at least one word".to_owned(),
            });
        }
        if self.k == 0 || self.k > K_LIMIT {
            return Err(Error::InvalidArgument {
                argument: "k",
                reason: format!("{} given; allowed are 1 to {K_LIMIT}", self.k),
            });
        }
        Ok(())
    }
}
