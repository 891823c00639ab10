//! The choices of a request: index, order, what a hit stands for, and a model that orders the first ones.

use std::sync::Arc;

use kb_types::Reranker;

/// Passages that a [`Rerank`] orders unless it says how many.
pub const RERANK_TOP: usize = 20;

/// Most passages that a [`Rerank`] orders.
// Each costs a run of the model; of 225 questions 97 % have the right place among the first hundred.
pub const RERANK_LIMIT: usize = 100;

/// A model that reads the first passages of an answer together with the query, and orders them anew.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rerank {
    /// The model, which is asked once for all passages of an answer.
    pub model: Arc<dyn Reranker>,
    /// How many passages it orders, `1..=`[`RERANK_LIMIT`]; later ones stay where they are.
    pub top: usize,
}

impl Rerank {
    /// The first [`RERANK_TOP`] passages by that model.
    pub fn new(model: Arc<dyn Reranker>) -> Rerank {
        let top = RERANK_TOP;
        Rerank { model, top }
    }

    /// Sets how many passages it orders.
    #[must_use]
    pub fn top(mut self, top: usize) -> Rerank {
        self.top = top;
        self
    }
}

impl PartialEq for Rerank {
    fn eq(&self, other: &Rerank) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.top == other.top
    }
}

/// Which index answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Keyword and vector index, their scores fused. The default.
    #[default]
    Hybrid,
    /// The vector index alone; [`crate::Error::EmbeddingModelUnavailable`] where this program does not
    /// have the embedding model of the file.
    Semantic,
    /// The keyword index alone (BM25).
    Keyword,
    /// Documents by title, slug and tags: every word of the query must be in one of these. The title of a
    /// document that states none is its file name. Text is not searched, and each document gives one hit.
    Title,
}

impl Mode {
    /// The modes that rank chunks by their text or its meaning.
    pub const RANKED: [Mode; 3] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword];

    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::Hybrid, Mode::Semantic, Mode::Keyword, Mode::Title];

    /// The name used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Hybrid => "hybrid",
            Mode::Semantic => "semantic",
            Mode::Keyword => "keyword",
            Mode::Title => "title",
        }
    }

    /// The mode with that name; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The order of the hits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Sort {
    /// Best score first; equal scores by path, then start byte. The default.
    #[default]
    Score,
    /// The relevant hits: those of the most recently modified document first, and documents without a
    /// known time last; those of one time in the order of their scores. A hit is relevant here when its fused score,
    /// before texts have a say, is at least 0.7 of the best, or it has every word of the query but question words;
    /// in [`Mode::Title`] and in a query of fields alone all are.
    Recency,
    /// The relevant hits, as in `Recency`, by path, then start byte.
    Path,
    /// The relevant hits, as in `Recency`, by a field of their documents: numbers, then times, booleans and texts; those
    /// of equal values in the order of their scores. A document with several values has the place of the least of them,
    /// in descending order that of the greatest. Documents without the field come last.
    Field {
        /// Name of the field, as conditions name it.
        name: String,
        /// Whether the greatest value comes first.
        is_descending: bool,
    },
}

impl Sort {
    /// The names of the orders that are not by a field.
    pub const NAMES: [&str; 3] = ["score", "recency", "path"];

    /// The name used in options and output.
    pub fn name(&self) -> &str {
        match self {
            Sort::Score => "score",
            Sort::Recency => "recency",
            Sort::Path => "path",
            Sort::Field { name, .. } => name,
        }
    }

    /// The order with that name. Other names are those of fields; with `-` before them, in descending order. `None` for
    /// an empty name.
    pub fn from_name(name: &str) -> Option<Sort> {
        Some(match name {
            "score" => Sort::Score,
            "recency" => Sort::Recency,
            "path" => Sort::Path,
            _ => {
                let field = name.strip_prefix('-').unwrap_or(name);
                (!field.trim().is_empty()).then(|| Sort::Field {
                    name: field.to_owned(),
                    is_descending: field.len() < name.len(),
                })?
            }
        })
    }
}

/// What one hit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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

    /// The name used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Chunks => "chunks",
            Scope::Documents => "documents",
        }
    }

    /// The scope with that name; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}
