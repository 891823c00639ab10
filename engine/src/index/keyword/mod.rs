//! The keyword index of a segment: an inverted index from terms to rows, ranked by BM25.
//!
//! *Writing*: an [`Analyser`] turns text into terms, a [`DocumentTermsBuilder`] counts them by
//! chunk on any thread, and a [`Writer`] collects the chunks of a segment and writes three columns:
//! the term dictionary, the postings and the chunk lengths (field norms). [`merge()`] makes the
//! columns of a new segment from those of others.
//!
//! *Reading*: a [`Reader`] borrows the columns. A [`Query`] weights its terms over all segments and
//! finds the best rows of one segment.
//!
//! A row is a chunk of the segment. Which document it belongs to, and how keyword and vector scores
//! are combined, is decided elsewhere; deleted rows come in as a bitmap. Positions are not stored:
//! they would take more space than the rest of the index, so phrases are verified against the
//! stored text.
//!
//! Modules import downwards: `query` may use `postings`, and both may use `analysis`.

mod analysis;
mod bm25;
#[cfg(test)]
mod fixture;
mod postings;
mod query;
mod record;

pub(crate) use analysis::document_terms::DocumentTerms;
pub use analysis::document_terms::DocumentTermsBuilder;
pub(crate) use analysis::folding::fold_character;
pub(crate) use analysis::language::Language;
pub(crate) use analysis::script_class::is_picture;
pub(crate) use analysis::stop_words::is_stop_word;
pub(crate) use analysis::symbol_terms::{DefinitionSum, SymbolTerm, searched_names};
pub(crate) use analysis::tokenizer::ANALYSER_ID;
pub use analysis::tokenizer::Analyser;
pub use bm25::Statistics;
pub(crate) use bm25::{PATH_WEIGHT, TITLE_WEIGHT, norm};
pub(crate) use postings::check::check;
#[cfg(feature = "testing")]
pub use postings::cursor::Cursor;
pub(crate) use postings::merge::{DROPPED, MergeSource, merge};
pub use postings::reader::Reader;
pub use postings::writer::Writer;
pub(crate) use query::deletes::total_length_of;
pub use query::highlight::TermSet;
pub(crate) use query::keyword_query::QueryTerm;
#[cfg(feature = "testing")]
pub use query::keyword_query::ScoredRow;
pub use query::keyword_query::{Query, QuerySegment};
pub(crate) use query::phrase::{Form, Phrase, PhraseTerm};
pub(crate) use query::phrase_matcher::PhraseMatcher;
pub(crate) use query::similar_terms::SimilarTerm;
pub(crate) use record::MAX_ROWS;
pub use record::{DICTIONARY, KeywordRecord, LENGTHS, POSTINGS};
