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

mod bitset;
mod bm25;
mod characters;
mod check;
mod cursor;
mod deletes;
mod dictionary;
mod dictionary_iter;
mod document_terms;
mod fieldnorms;
#[cfg(test)]
mod fixture;
mod highlight;
mod interner;
mod kernels;
mod merge;
mod phrase;
mod phrase_matcher;
mod postings;
mod postings_builder;
mod query;
mod reader;
mod script_class;
mod segmenter;
mod serializer;
mod term_filter;
mod term_scorer;
mod tokenizer;
mod top_k;
mod writer;

use crate::container::codec::{decode_record, encode_record};
use crate::container::column::{ColumnId, ColumnRecord};
use crate::error::Result;
use wincode::{SchemaRead, SchemaWrite};

pub use bm25::{B, K1, PATH_WEIGHT, Statistics, TITLE_WEIGHT};
pub use check::check;
pub use cursor::Cursor;
pub use deletes::total_length_of;
pub use dictionary::DictionaryPart;
pub use document_terms::{DocumentTerms, DocumentTermsBuilder, Field, TermCount};
pub use highlight::TermSet;
pub use merge::{DROPPED, MergeSource, merge};
pub use phrase::{Form, MAX_PHRASE_ELEMENTS, Phrase, PhraseTerm};
pub use phrase_matcher::PhraseMatcher;
pub use query::{Query, QuerySegment, QueryTerm, ScoredRow};
pub use reader::{Postings, Reader};
pub use segmenter::MAX_WORD_BYTES;
pub use tokenizer::{ANALYSER_ID, Analyser, MAX_TERM_BYTES, MAX_TERM_CHARS};
pub use writer::Writer;

/// Version of the three columns and their record.
pub const FORMAT_VERSION: u16 = 1;

/// Column of the term dictionary: items.
pub const DICTIONARY: ColumnId = ColumnId(16);

/// Column of the postings: items.
pub const POSTINGS: ColumnId = ColumnId(17);

/// Column of chunk lengths in terms: rows of two bytes, or four when a chunk is longer than 65,535.
pub const LENGTHS: ColumnId = ColumnId(18);

/// Most rows of a segment.
pub const MAX_ROWS: u32 = postings::MAX_NUMBER;

/// Page order of full extents: 256 KiB, so that the first look at a term checks little.
const COLUMN_ORDER: u8 = 6;

/// What a segment record says of its keyword index.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct KeywordRecord {
    /// [`FORMAT_VERSION`] of the columns.
    pub version: u16,
    /// Chunks of the segment.
    pub rows: u32,
    /// Sum of their lengths in terms.
    pub total_length: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Column of the dictionary.
    pub dictionary: ColumnRecord,
    /// Its parts, in order.
    pub dictionary_parts: Vec<DictionaryPart>,
    /// Column of the postings.
    pub postings: ColumnRecord,
    /// Column of the chunk lengths.
    pub lengths: ColumnRecord,
}

/// Version of the record itself.
const RECORD_VERSION: u8 = 1;

impl KeywordRecord {
    /// The bytes kept in the segment record.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode_record(RECORD_VERSION, self)
    }

    /// Reads those bytes.
    ///
    /// # Errors
    /// [`crate::Error::FormatUnsupported`] for another version, [`crate::Error::Damaged`] for bytes
    /// that are no record.
    pub fn decode(bytes: &[u8]) -> Result<KeywordRecord> {
        decode_record("a text index", RECORD_VERSION, bytes)
    }

    /// The columns, by ascending number.
    pub fn columns(&self) -> [&ColumnRecord; 3] {
        [&self.dictionary, &self.postings, &self.lengths]
    }
}
