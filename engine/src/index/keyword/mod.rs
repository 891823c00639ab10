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

mod bits;
mod bm25;
mod characters;
mod check;
mod columns;
mod cursor;
mod dictionary;
#[cfg(test)]
mod fixture;
mod gather;
mod interner;
mod kernels;
mod lengths;
mod live;
mod marks;
mod merge;
mod phrase;
mod postings;
mod query;
mod reader;
mod rows;
mod scored_term;
mod scripts;
mod sequence;
mod term_walk;
mod terms;
mod tokenize;
mod top_k;
mod words;
mod writer;

use crate::container::codec::{decode_record, encode_record};
use crate::container::column::{ColumnId, ColumnRecord};
use crate::error::Result;
use wincode::{SchemaRead, SchemaWrite};

pub use bm25::{B, K1, PATH_WEIGHT, Statistics, TITLE_WEIGHT};
pub use check::check;
pub use cursor::Cursor;
pub use dictionary::DictionaryPart;
pub use live::total_length_of;
pub use marks::TermSet;
pub use merge::{DROPPED, MergeSource, merge};
pub use phrase::{Form, MAX_PHRASE_ELEMENTS, Phrase, PhraseTerm};
pub use query::{Query, QuerySegment, QueryTerm, ScoredRow};
pub use reader::{Postings, Reader};
pub use sequence::Matcher;
pub use terms::{DocumentTerms, DocumentTermsBuilder, Field, TermCount};
pub use tokenize::{ANALYSER_ID, Analyser, MAX_TERM_BYTES, MAX_TERM_CHARS};
pub use words::MAX_WORD_BYTES;
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
pub struct TextRecord {
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

impl TextRecord {
    /// The bytes kept in the segment record.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode_record(RECORD_VERSION, self)
    }

    /// Reads those bytes.
    ///
    /// # Errors
    /// [`crate::Error::FormatUnsupported`] for another version, [`crate::Error::Damaged`] for bytes
    /// that are no record.
    pub fn decode(bytes: &[u8]) -> Result<TextRecord> {
        decode_record("a text index", RECORD_VERSION, bytes)
    }

    /// The columns, by ascending number.
    pub fn columns(&self) -> [&ColumnRecord; 3] {
        [&self.dictionary, &self.postings, &self.lengths]
    }
}
