//! A term of a query, and a segment to look it up in.

use roaring::RoaringBitmap;

use crate::index::keyword::postings::reader::Reader;

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term, as the analyser returns it.
    pub term: String,
    /// Occurrences in the query.
    pub times: u32,
    /// For another form of a word than the one that is written: the index of the term of the written one.
    pub form_of: Option<usize>,
    /// Mean weight of the words that the occurrences are of, above 0 and at most 1.
    pub word_weight: f32,
    /// The share of it that the term has among the forms of its word, above 0.
    pub weight: f32,
    /// Rows that have it, over all segments, without deleted ones.
    pub chunks: u64,
    /// Its inverse document frequency; above 0, also for a term that no row has, but for another form of a word.
    pub idf: f32,
}

/// Words of at most this weight are not content: `how`, `which`, `the class`.
// Weights are at most 1 and come from the lengths of the rows of the embedding model
// (docs/decisions/10-static-model.md). With a larger bound more words of a question count as
// filler, with a smaller one `which` and `class` count as content.
const CONTENT_WEIGHT: f32 = 0.5;

impl QueryTerm {
    /// Whether it says what is sought, and not only that something is.
    pub fn is_content(&self) -> bool {
        self.word_weight > CONTENT_WEIGHT
    }

    /// Weight times inverse document frequency: what one occurrence adds at most to a score.
    pub fn weighted_idf(&self) -> f32 {
        self.weight * self.idf
    }

    /// The most that the term adds to a score.
    pub(super) fn bound(&self) -> f32 {
        self.weighted_idf() * self.times as f32
    }
}

/// A segment to search.
#[derive(Debug, Clone, Copy)]
pub struct QuerySegment<'a> {
    /// Its keyword index.
    pub reader: Reader<'a>,
    /// Rows that are no results and do not count in statistics. `None`: no rows.
    pub deleted: Option<&'a RoaringBitmap>,
}
