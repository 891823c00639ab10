//! Words to chunks: the keyword index of a segment.
//!
//! An [`Analyser`] turns text into terms, [`DocumentTermsBuilder`] counts them by chunk on any
//! thread, a [`Writer`] gathers the chunks of a segment and writes three columns: the term
//! dictionary, the postings and the chunk lengths. A [`Reader`] borrows them; a [`Query`] holds the
//! terms of a question with their weights over all segments and finds the best rows of one.
//!
//! This room knows rows and terms; rows of deleted chunks come in as a bitmap. Which document a row
//! belongs to, and how keywords and vectors are joined is not known here. Positions are not stored: they would cost
//! more than everything else here together, and phrases can be checked against the stored text.

mod analysis;
mod bm25;
#[cfg(test)]
mod fixture;
mod postings;
mod query;
mod record;

pub use analysis::document_terms::{DocumentTerms, DocumentTermsBuilder, Field, TermCount};
pub use analysis::segmenter::MAX_WORD_BYTES;
pub use analysis::stemming::MAX_TERM_CHARS;
pub use analysis::tokenizer::{ANALYSER_ID, Analyser, MAX_TERM_BYTES};
pub use bm25::{B, K1, PATH_WEIGHT, Statistics, TITLE_WEIGHT};
pub use postings::check::check;
pub use postings::cursor::Cursor;
pub use postings::list::Postings;
pub use postings::merge::{DROPPED, MergeSource, merge};
pub use postings::reader::Reader;
pub use postings::writer::Writer;
pub use query::deletes::total_length_of;
pub use query::highlight::TermSet;
pub use query::keyword_query::{Query, QuerySegment, QueryTerm, ScoredRow};
pub use query::phrase::{Form, MAX_PHRASE_ELEMENTS, Phrase, PhraseTerm};
pub use query::phrase_matcher::PhraseMatcher;
pub use record::{
    DICTIONARY, DictionaryPart, FORMAT_VERSION, KeywordRecord, LENGTHS, MAX_ROWS, POSTINGS,
};
