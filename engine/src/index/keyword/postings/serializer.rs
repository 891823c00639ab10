//! Writes terms and their postings to the three columns: for the writer, from documents, and for
//! the merge, from other segments.

use kb_types::SegmentId;
use kb_types::error::Result;

use super::block::{ENTRY_BYTES, PART_BLOCKS, encode_impact, put_block, put_posting};
use super::dictionary::{DictionaryWriter, TermInfo};
use super::encoding::{BLOCK_POSTINGS, Block, put_varint};
use super::fieldnorms::FieldNorms;
use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::index::keyword::bm25::{Statistics, impact};
use crate::index::keyword::record::{
    COLUMN_ORDER, FORMAT_VERSION, KeywordRecord, LENGTHS, POSTINGS,
};

/// Writes the keyword index of a segment; terms come in ascending order.
pub(crate) struct InvertedIndexSerializer<'a> {
    /// The segment.
    segment: SegmentId,
    /// Length of each row in terms.
    lengths: &'a FieldNorms,
    /// Sum of the lengths.
    total_length: u64,
    /// Writes the postings.
    postings: PostingsSerializer<'a>,
    /// Writes the terms.
    dictionary: DictionaryWriter,
    /// Number of terms written.
    terms: u64,
}

impl<'a> InvertedIndexSerializer<'a> {
    /// For a segment whose rows have these lengths.
    pub(crate) fn new(segment: SegmentId, lengths: &'a FieldNorms) -> InvertedIndexSerializer<'a> {
        let statistics = Statistics {
            chunks: lengths.len() as u64,
            total_length: lengths.iter().map(u64::from).sum(),
        };
        InvertedIndexSerializer {
            segment,
            lengths,
            total_length: statistics.total_length,
            postings: PostingsSerializer {
                column: ColumnWriter::items(segment, POSTINGS, COLUMN_ORDER),
                mean_length: statistics.mean_length(),
                lengths,
                count: 0,
                rows: Vec::new(),
                frequencies: Vec::new(),
                next_row: 0,
                directory: Vec::new(),
                parts: Vec::new(),
                item: Vec::new(),
                blocks: Vec::new(),
            },
            dictionary: DictionaryWriter::new(segment),
            terms: 0,
        }
    }

    /// Adds a term, which must be greater than all earlier ones and not empty, with the ascending
    /// rows that have it and its frequency in each, `1..=MAX_NUMBER`. A term without rows is left
    /// out.
    ///
    /// # Errors
    /// Errors of the sink.
    pub(crate) fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        term: &[u8],
        rows: &[u32],
        frequencies: &[u32],
    ) -> Result<()> {
        self.extend(rows, frequencies);
        self.end_term(sink, term)
    }

    /// Adds postings of the term that the next [`InvertedIndexSerializer::end_term`] names; rows
    /// ascend from call to call. Only the encoded form is kept in memory.
    pub(crate) fn extend(&mut self, rows: &[u32], frequencies: &[u32]) {
        self.postings.extend(rows, frequencies);
    }

    /// Ends the list of a term, under the conditions of [`InvertedIndexSerializer::push`].
    ///
    /// # Errors
    /// Errors of the sink.
    pub(crate) fn end_term(&mut self, sink: &mut dyn ExtentSink, term: &[u8]) -> Result<()> {
        // Before the list is written: this is where it starts.
        let position = self.postings.column.position();
        let Some(info) = self.postings.end_list(sink)? else {
            return Ok(());
        };
        self.terms += 1;
        self.dictionary.push(sink, term, info, position)
    }

    /// Writes the last extents and the lengths.
    ///
    /// # Errors
    /// Errors of the sink.
    pub(crate) fn finish(self, sink: &mut dyn ExtentSink) -> Result<KeywordRecord> {
        let postings = self.postings.column.finish(sink)?;
        let (dictionary, dictionary_parts) = self.dictionary.finish(sink)?;
        Ok(KeywordRecord {
            version: FORMAT_VERSION,
            rows: self.lengths.len() as u32,
            total_length: self.total_length,
            terms: self.terms,
            dictionary,
            dictionary_parts,
            postings,
            lengths: write_lengths(self.segment, self.lengths, sink)?,
        })
    }
}

fn write_lengths(
    segment: SegmentId,
    lengths: &FieldNorms,
    sink: &mut dyn ExtentSink,
) -> Result<ColumnRecord> {
    let width = lengths.width();
    let mut column = ColumnWriter::rows(segment, LENGTHS, width as u32, COLUMN_ORDER);
    for length in lengths.iter() {
        let bytes = length.to_le_bytes();
        column.push(sink, bytes.get(..width).unwrap_or(&bytes))?;
    }
    column.finish(sink)
}

/// Postings of a full part.
const PART_POSTINGS: usize = PART_BLOCKS * BLOCK_POSTINGS;

/// Writes postings lists.
struct PostingsSerializer<'a> {
    /// The column.
    column: ColumnWriter,
    /// Mean length of a row of the segment.
    mean_length: f32,
    /// Length of each row.
    lengths: &'a FieldNorms,
    /// Postings of the list so far.
    count: u64,
    /// Rows that are not in a part yet.
    rows: Vec<u32>,
    /// Frequencies of these rows.
    frequencies: Vec<u32>,
    /// One past the last row of the parts, or 0.
    next_row: u32,
    /// Last row and bytes of each finished part.
    directory: Vec<(u32, u32)>,
    /// The finished parts.
    parts: Vec<u8>,
    /// The item of the column that is being made.
    item: Vec<u8>,
    /// Blocks of the part that is being made.
    blocks: Vec<u8>,
}

impl PostingsSerializer<'_> {
    fn extend(&mut self, mut rows: &[u32], mut frequencies: &[u32]) {
        self.count += rows.len() as u64;
        while !rows.is_empty() {
            let room = PART_POSTINGS - self.rows.len();
            let (now, later) = rows.split_at(room.min(rows.len()));
            self.rows.extend_from_slice(now);
            let (now, after) = frequencies.split_at(room.min(frequencies.len()));
            self.frequencies.extend_from_slice(now);
            (rows, frequencies) = (later, after);
            if self.rows.len() == PART_POSTINGS {
                self.end_part();
            }
        }
    }

    fn end_part(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let frequencies = std::mem::take(&mut self.frequencies);
        let start = self.parts.len();
        self.make_part(&rows, &frequencies, self.next_row);
        let last = rows.last().copied().unwrap_or(0);
        self.next_row = last + 1;
        // A part stays below 600 KB.
        let len_bytes = (self.parts.len() - start) as u32;
        self.directory.push((last, len_bytes));
        (self.rows, self.frequencies) = (rows, frequencies);
        self.rows.clear();
        self.frequencies.clear();
    }

    /// Writes the list and starts the next; `None` when it has no postings.
    fn end_list(&mut self, sink: &mut dyn ExtentSink) -> Result<Option<TermInfo>> {
        self.item.clear();
        let count = std::mem::take(&mut self.count);
        put_varint(&mut self.item, count);
        let info = match (count, self.rows.as_slice(), self.frequencies.as_slice()) {
            (0, _, _) => None,
            (1, [row], [frequency]) => Some(TermInfo::Single {
                row: *row,
                frequency: *frequency,
            }),
            (_, rows, frequencies) if count < BLOCK_POSTINGS as u64 => {
                put_tail(&mut self.item, rows, frequencies, 0);
                let position = self.column.push(sink, &self.item)?;
                Some(TermInfo::List {
                    position,
                    len_bytes: self.item.len() as u64,
                })
            }
            _ => Some(self.end_parts(sink)?),
        };
        self.rows.clear();
        self.frequencies.clear();
        self.parts.clear();
        self.directory.clear();
        self.next_row = 0;
        Ok(info)
    }

    /// Writes the parts; the first item begins with the number of postings.
    fn end_parts(&mut self, sink: &mut dyn ExtentSink) -> Result<TermInfo> {
        if !self.rows.is_empty() {
            self.end_part();
        }
        if self.directory.len() > 1 {
            for (last, len_bytes) in &self.directory {
                self.item.extend_from_slice(&last.to_le_bytes());
                self.item.extend_from_slice(&len_bytes.to_le_bytes());
            }
        }
        let (mut first, mut len_bytes) = (None, 0);
        let mut parts = self.parts.as_slice();
        for (_, part_bytes) in &self.directory {
            let (part, rest) = parts.split_at((*part_bytes as usize).min(parts.len()));
            self.item.extend_from_slice(part);
            len_bytes += self.item.len() as u64;
            let position = self.column.push(sink, &self.item)?;
            first.get_or_insert(position);
            self.item.clear();
            parts = rest;
        }
        Ok(TermInfo::List {
            position: first.unwrap_or(0),
            len_bytes,
        })
    }

    /// Appends a part of blocks. `next` is one past the last row before the part, or 0.
    fn make_part(&mut self, rows: &[u32], frequencies: &[u32], mut next: u32) {
        self.blocks.clear();
        self.parts
            .reserve(rows.len().div_ceil(BLOCK_POSTINGS) * ENTRY_BYTES);
        for (rows, frequencies) in std::iter::zip(
            rows.chunks(BLOCK_POSTINGS),
            frequencies.chunks(BLOCK_POSTINGS),
        ) {
            let last = rows.last().copied().unwrap_or(0);
            let least = std::iter::zip(rows, frequencies)
                .map(|(row, frequency)| {
                    impact(*frequency, self.lengths.get(*row), self.mean_length)
                })
                // The least impact gives the highest score of the block.
                .fold(f32::INFINITY, f32::min);
            self.parts.extend_from_slice(&last.to_le_bytes());
            self.parts
                .extend_from_slice(&encode_impact(least).to_le_bytes());
            let start = self.blocks.len();
            if rows.len() == BLOCK_POSTINGS {
                let (mut distances, mut less_one): (Block, Block) =
                    ([0; BLOCK_POSTINGS], [0; BLOCK_POSTINGS]);
                let mut expected = next;
                for (distance, row) in distances.iter_mut().zip(rows) {
                    *distance = row - expected;
                    expected = row + 1;
                }
                for (number, frequency) in less_one.iter_mut().zip(frequencies) {
                    *number = frequency - 1;
                }
                let shape = put_block(&mut self.blocks, &distances, &less_one);
                self.parts.extend_from_slice(&[
                    shape.row_width,
                    shape.frequency_width,
                    shape.exception_bytes,
                ]);
            } else {
                put_tail(&mut self.blocks, rows, frequencies, next);
                // At most 127 postings of two varints of 4 bytes: about 1 KB.
                let len = (self.blocks.len() - start) as u16;
                self.parts.extend_from_slice(&len.to_le_bytes());
                self.parts.push(0);
            }
            next = last + 1;
        }
        self.parts.extend_from_slice(&self.blocks);
    }
}

fn put_tail(out: &mut Vec<u8>, rows: &[u32], frequencies: &[u32], mut next: u32) {
    for (row, frequency) in std::iter::zip(rows, frequencies) {
        put_posting(out, row - next, *frequency);
        next = row + 1;
    }
}
