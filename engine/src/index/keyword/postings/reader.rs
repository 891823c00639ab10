//! The keyword index of one segment, read from its columns.

use kb_types::error::{Error, Result};

use super::block::PART_BLOCKS;
use super::cursor::Cursor;
use super::dictionary::{TermInfo, find};
use super::dictionary_iter::DictionaryIter;
use super::encoding::{BLOCK_POSTINGS, take_bytes, take_varint};
use super::fieldnorms::FieldNormReader;
use super::list::{Postings, PostingsKind};
use crate::container::column::ColumnView;
use crate::index::keyword::bm25::Statistics;
use crate::index::keyword::record::{DictionaryPart, FORMAT_VERSION, KeywordRecord, MAX_ROWS};

/// The keyword index of one segment. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The record of the index.
    record: &'a KeywordRecord,
    /// Column of the dictionary.
    dictionary: ColumnView<'a>,
    /// Column of the postings.
    postings: ColumnView<'a>,
    /// Column of the chunk lengths.
    lengths: ColumnView<'a>,
}

impl<'a> Reader<'a> {
    /// Borrows the columns that `record` names.
    ///
    /// # Errors
    /// [`Error::FormatUnsupported`] when the columns have another version, [`Error::Damaged`] when
    /// record and columns contradict each other.
    pub fn new(
        record: &'a KeywordRecord,
        dictionary: ColumnView<'a>,
        postings: ColumnView<'a>,
        lengths: ColumnView<'a>,
    ) -> Result<Reader<'a>> {
        if record.version != FORMAT_VERSION {
            return Err(Error::FormatUnsupported {
                needs: format!("keyword index version {}", record.version),
                reads: format!("version {FORMAT_VERSION}"),
            });
        }
        let width = u64::from(record.lengths.width);
        if record.rows > MAX_ROWS
            || !matches!(width, 2 | 4)
            || lengths.len_bytes() != u64::from(record.rows) * width
        {
            return Err(Error::damaged(
                "the column of chunk lengths has another size",
            ));
        }
        Ok(Reader {
            record,
            dictionary,
            postings,
            lengths,
        })
    }

    /// Rows of the segment, deleted ones included.
    pub fn rows(&self) -> u32 {
        self.record.rows
    }

    /// Sum of the lengths of all rows in terms.
    pub fn total_length(&self) -> u64 {
        self.record.total_length
    }

    /// The mean length that the impacts of blocks were computed with.
    pub(crate) fn written_mean_length(&self) -> f32 {
        let statistics = Statistics {
            chunks: u64::from(self.record.rows),
            total_length: self.record.total_length,
        };
        statistics.mean_length()
    }

    /// The lengths of the rows.
    pub(crate) fn fieldnorms(&self) -> FieldNormReader<'a> {
        FieldNormReader::new(self.lengths, self.record.lengths.width)
    }

    /// The length of one row in terms.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row or its bytes fail their checks.
    pub fn length(&self, row: u32) -> Result<u32> {
        self.fieldnorms().exact(row)
    }

    /// The postings of a term; `None` when no row has it.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the bytes that are read contradict the format.
    pub fn postings(&self, term: &str) -> Result<Option<Postings<'a>>> {
        let info = find(
            &self.record.dictionary_parts,
            &self.dictionary,
            term.as_bytes(),
        )?;
        info.map(|info| self.open(info)).transpose()
    }

    /// All terms, ascending.
    pub(crate) fn terms(&self) -> DictionaryIter<'a> {
        DictionaryIter::new(self.record, self.dictionary, self.postings.len_bytes())
    }

    /// The parts of the dictionary.
    pub(crate) fn parts(&self) -> &'a [DictionaryPart] {
        &self.record.dictionary_parts
    }

    /// The column of the dictionary.
    pub(crate) fn dictionary(&self) -> ColumnView<'a> {
        self.dictionary
    }

    /// The postings at a location from the dictionary.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the head of the list contradicts the format.
    pub(crate) fn open(&self, info: TermInfo) -> Result<Postings<'a>> {
        match info {
            TermInfo::Single { row, .. } if row >= self.record.rows => {
                Err(Error::damaged("a posting names a row beyond the segment"))
            }
            TermInfo::Single { row, frequency } => {
                let kind = PostingsKind::Single { row, frequency };
                Ok(Postings { count: 1, kind })
            }
            TermInfo::List {
                position,
                len_bytes,
            } => self.open_list(position, len_bytes),
        }
    }

    fn open_list(&self, position: u64, len_bytes: u64) -> Result<Postings<'a>> {
        let damaged = || Error::damaged("the head of a postings list is out of range");
        let all = self.postings.from(position)?;
        let mut rest = all;
        let count = take_varint(&mut rest)?;
        // A list of one posting is in the dictionary, and rows are distinct. The bound also limits
        // what `parts` asks for below.
        if count < 2 || count > u64::from(self.record.rows) {
            return Err(damaged());
        }
        let count = count as u32;
        let blocks = (count as usize).div_ceil(BLOCK_POSTINGS);
        let parts = blocks.div_ceil(PART_BLOCKS);
        let directory = match parts {
            1 => &[],
            _ => take_bytes(&mut rest, parts * 8)?.as_chunks::<8>().0,
        };
        let head_bytes = all.len() - rest.len();
        let list_bytes = usize::try_from(len_bytes)
            .ok()
            .and_then(|len| len.checked_sub(head_bytes))
            .ok_or_else(damaged)?;
        let part_bytes = |part: &[u8; 8]| {
            let [_, _, _, _, len @ ..] = *part;
            u32::from_le_bytes(len) as usize
        };
        let rest_bytes = directory.first().map_or(list_bytes, part_bytes);
        // All parts lie within the bytes that the dictionary assigns to this list, so that no list
        // reads the bytes of another.
        let in_parts: u64 = directory.iter().map(|part| part_bytes(part) as u64).sum();
        if parts > 1 && in_parts != list_bytes as u64 {
            return Err(damaged());
        }
        let kind = if (count as usize) < BLOCK_POSTINGS {
            PostingsKind::Short(take_bytes(&mut rest, rest_bytes)?)
        } else {
            PostingsKind::Blocks {
                directory,
                first_part: position + head_bytes as u64,
                first_part_bytes: rest_bytes,
            }
        };
        Ok(Postings { count, kind })
    }

    /// A cursor before the first posting.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the first bytes of the list contradict the format.
    pub fn cursor(&self, postings: &Postings<'a>) -> Result<Cursor<'a>> {
        Cursor::new(self.postings, self.record.rows, postings)
    }
}
