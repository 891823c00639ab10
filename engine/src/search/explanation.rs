//! How an answer came about: term statistics, candidate counts, signals and timings.

use crate::index::vector::ScanStats;
use crate::search::calibration::Calibration;
use crate::search::relevance::RelevanceSignals;

/// How an answer came about; returned with [`Request::explain`](crate::Request::explain).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The distinct terms of the query, after analysis. Empty in a mode without a keyword score.
    pub terms: Vec<TermStatistics>,
    /// What the query asks for: `place`, `task`, `behaviour`, `reason`, `change`, `message` or `other`.
    pub intent: &'static str,
    /// The name that the query asks for, where a symbol of the files has it: its definitions come first.
    pub definition_of: Option<String>,
    /// Weight of the vector score in the fused score, 0..1.
    pub vector_weight: f32,
    /// The share of code among the chunks of code and prose, 0..1, which that weight follows; 0 in a mode
    /// without a vector score.
    pub code_share: f32,
    /// Words of the query that the embedding model knows.
    pub model_words_known: usize,
    /// Words of the query as the embedding model counts them.
    pub model_words: usize,
    /// Id of the embedding model, of a column of another model what it says; of several files their ids, joined by `, `.
    pub model: String,
    /// Live chunks in all files, before filters.
    pub chunks: u64,
    /// Mean length of these chunks in terms.
    pub mean_length: f32,
    /// Candidates from the keyword index.
    pub keyword_candidates: usize,
    /// Candidates from the vector index.
    pub vector_candidates: usize,
    /// What the vector index read to find them.
    pub vectors: ScanStats,
    /// What the scores of the hits and [`Response::relevance`](crate::Response::relevance) rest on.
    pub signals: RelevanceSignals,
    /// The scores of the hits by their [`fused_score`](crate::Hit::fused_score).
    pub calibration: Calibration,
    /// The steps of the search, in order.
    pub steps: Vec<Step>,
}

/// One term of the query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TermStatistics {
    /// The term, after analysis (lower case, stemmed).
    pub term: String,
    /// How many live chunks have it.
    pub chunks: u64,
    /// Its inverse document frequency, where each chunk counts as a document.
    pub idf: f32,
    /// How much the word that it comes from says, by the embedding model, above 0 and at most 1. Its part of
    /// the keyword score is multiplied with it.
    pub weight: f32,
}

/// What one term of the query adds to the score of one hit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TermScore {
    /// The term, after analysis.
    pub term: String,
    /// How often it is in the chunk, with title, headings and path.
    pub frequency: u32,
    /// Its part of [`Hit::keyword_score`](crate::Hit::keyword_score), 0..1.
    pub score: f32,
}

impl TermScore {
    /// The score of a term with its frequency; see the fields.
    pub fn new(term: impl Into<String>, frequency: u32, score: f32) -> TermScore {
        TermScore {
            term: term.into(),
            frequency,
            score,
        }
    }
}

/// One piece of evidence about a hit, and what it adds to its fused score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bonus {
    /// `tests`, `test functions`, `changelog`, `example`, `declarations`, `generated`, `data`: the hit is of this
    /// kind, and the query does not ask for it. `intent`: it is of a class that answers such questions, or of one that
    /// does not. `path`, `file name`: it has words of the query. `adjacency`: neighbouring terms of the query are
    /// neighbours in the text. `definition`: a line of the text defines a name, or is a heading, with words of the
    /// query. `symbol`: it defines the name that the query asks for. `repeats`: better hits of its document come first.
    /// `contextual`: the score by a model that is not built in, as it is, and what it adds to the fused score of the others.
    /// `reranker`: the number by which the first hits were ordered anew; it adds nothing.
    pub name: &'static str,
    /// How much of it there is, 0..1; of `repeats` what it adds, of `reranker` any number.
    pub value: f32,
    /// Its part of [`Hit::fused_score`](crate::Hit::fused_score), -1..1; of `reranker` the same as `value`.
    pub score: f32,
}

impl Bonus {
    /// A bonus by its name; see the fields.
    pub fn new(name: &'static str, value: f32, score: f32) -> Bonus {
        Bonus { name, value, score }
    }
}

/// One timed step of a search. Steps differ between modes, and repeat where a search went deeper.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// `plan`, `keyword`, `vector`, `fuse`, `rank`, `rerank`, `documents` or `text`; on two threads `keyword and vector` for both.
    pub name: &'static str,
    /// Duration in microseconds.
    pub micros: u64,
}
