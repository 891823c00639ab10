//! How an answer came about: term statistics, candidate counts, scores and timings.

use crate::index::vector::ScanStats;
use crate::search::relevance::RelevanceSignals;

/// How an answer came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The terms of the query with their statistics.
    pub terms: Vec<TermStatistics>,
    /// Weight of the vector part in the fused score, 0..1.
    pub vector_weight: f32,
    /// Words of the query that the embedding model knows.
    pub model_words_known: usize,
    /// Words of the query as the model counts them.
    pub model_words: usize,
    /// Id of the embedding model of the file.
    pub model: String,
    /// Live chunks in the file.
    pub chunks: u64,
    /// Mean length of a chunk in terms.
    pub mean_length: f32,
    /// Candidates from the keyword index.
    pub keyword_candidates: usize,
    /// Candidates from the vector index.
    pub vector_candidates: usize,
    /// How the vector index found them.
    pub vectors: ScanStats,
    /// The scores that relevance was judged by.
    pub signals: RelevanceSignals,
    /// The steps taken, with what each cost, in the order taken.
    pub steps: Vec<Step>,
}

/// One term of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStatistics {
    /// The analysed term.
    pub term: String,
    /// In how many live chunks it stands.
    pub chunks: u64,
    /// Its inverse document frequency.
    pub idf: f32,
}

/// One step of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What was done.
    pub name: &'static str,
    /// Microseconds.
    pub micros: u64,
}

/// What one term of the query gave to one hit.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The analysed term.
    pub term: String,
    /// How often it stands in the chunk, its title and path.
    pub frequency: u32,
    /// What it adds to the keyword score.
    pub score: f32,
}
