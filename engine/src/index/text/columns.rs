//! Terms with their lists to the three columns: the one way in which they are written, by a
//! [`super::Writer`] from documents and by [`super::merge()`] from other segments.

use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::error::Result;
use crate::types::SegmentId;

use super::bm25::impact;
use super::dictionary::{DictionaryWriter, Place};
use super::postings::{
    BLOCK_POSTINGS, Block, ENTRY_BYTES, PART_BLOCKS, encode_impact, put_block, put_posting,
    put_varint,
};
use super::{COLUMN_ORDER, FORMAT_VERSION, LENGTHS, POSTINGS, TextRecord};

/// Takes the terms of a segment in ascending order.
pub(super) struct ColumnsWriter<'a> {
    /// The segment.
    segment: SegmentId,
    /// Length of each row in terms.
    lengths: &'a [u32],
    /// Their sum.
    total_length: u64,
    /// The postings.
    postings: ListWriter<'a>,
    /// The terms.
    dictionary: DictionaryWriter,
    /// How many terms were written.
    terms: u64,
}

impl<'a> ColumnsWriter<'a> {
    /// A writer of a segment whose rows have these lengths.
    pub(super) fn new(segment: SegmentId, lengths: &'a [u32]) -> ColumnsWriter<'a> {
        let total_length = lengths.iter().map(|length| u64::from(*length)).sum();
        ColumnsWriter {
            segment,
            lengths,
            total_length,
            postings: ListWriter {
                column: ColumnWriter::items(segment, POSTINGS, COLUMN_ORDER),
                mean_length: mean_length(total_length, lengths.len() as u32),
                lengths,
                item: Vec::new(),
                part: Vec::new(),
                blocks: Vec::new(),
            },
            dictionary: DictionaryWriter::new(segment),
            terms: 0,
        }
    }

    /// Adds a term, greater than all before and not empty, with the rows that have it, ascending,
    /// and its frequency in each, `1..=MAX_NUMBER`. A term without rows is left out.
    ///
    /// # Errors
    /// What the sink says.
    pub(super) fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        term: &[u8],
        rows: &[u32],
        frequencies: &[u32],
    ) -> Result<()> {
        let position = self.postings.column.position();
        let place = match (rows, frequencies) {
            ([], _) | (_, []) => return Ok(()),
            ([row], [frequency]) => Place::Single {
                row: *row,
                frequency: *frequency,
            },
            _ => self.postings.push(sink, rows, frequencies)?,
        };
        self.terms += 1;
        self.dictionary.push(sink, term, place, position)
    }

    /// Writes what is left, and the lengths.
    ///
    /// # Errors
    /// What the sink says.
    pub(super) fn finish(self, sink: &mut dyn ExtentSink) -> Result<TextRecord> {
        let postings = self.postings.column.finish(sink)?;
        let (dictionary, dictionary_parts) = self.dictionary.finish(sink)?;
        Ok(TextRecord {
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
    lengths: &[u32],
    sink: &mut dyn ExtentSink,
) -> Result<ColumnRecord> {
    let short = lengths.iter().all(|length| *length <= u32::from(u16::MAX));
    let width = if short { 2 } else { 4 };
    let mut column = ColumnWriter::rows(segment, LENGTHS, width as u32, COLUMN_ORDER);
    for length in lengths {
        let bytes = length.to_le_bytes();
        column.push(sink, bytes.get(..width).unwrap_or(&bytes))?;
    }
    column.finish(sink)
}

/// Mean length of a row; 1 when there are no rows or no terms.
pub(super) fn mean_length(total_length: u64, rows: u32) -> f32 {
    let mean = total_length as f64 / f64::from(rows.max(1));
    if mean > 0.0 { mean as f32 } else { 1.0 }
}

/// Writes postings lists of two or more.
struct ListWriter<'a> {
    /// The column.
    column: ColumnWriter,
    /// Mean length of a row of the segment.
    mean_length: f32,
    /// Length of each row.
    lengths: &'a [u32],
    /// The first item of the list.
    item: Vec<u8>,
    /// Entries and then blocks of the part being made.
    part: Vec<u8>,
    /// Blocks of that part.
    blocks: Vec<u8>,
}

impl ListWriter<'_> {
    fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        rows: &[u32],
        frequencies: &[u32],
    ) -> Result<Place> {
        self.item.clear();
        put_varint(&mut self.item, rows.len() as u64);
        if rows.len() < BLOCK_POSTINGS {
            put_tail(&mut self.item, rows, frequencies, 0);
            let position = self.column.push(sink, &self.item)?;
            return Ok(Place::List {
                position,
                len_bytes: self.item.len() as u64,
            });
        }
        let part_postings = PART_BLOCKS * BLOCK_POSTINGS;
        let mut parts = Vec::new();
        let mut next = 0;
        for (rows, frequencies) in std::iter::zip(
            rows.chunks(part_postings),
            frequencies.chunks(part_postings),
        ) {
            self.make_part(rows, frequencies, next);
            let last = rows.last().copied().unwrap_or(0);
            next = last + 1;
            parts.push((last, std::mem::take(&mut self.part)));
        }
        if parts.len() > 1 {
            for (last, part) in &parts {
                self.item.extend_from_slice(&last.to_le_bytes());
                self.item
                    .extend_from_slice(&(part.len() as u32).to_le_bytes());
            }
        }
        let mut place = None;
        let mut len_bytes = 0;
        for (_, part) in &parts {
            self.item.extend_from_slice(part);
            len_bytes += self.item.len() as u64;
            let position = self.column.push(sink, &self.item)?;
            place.get_or_insert(position);
            self.item.clear();
        }
        Ok(Place::List {
            position: place.unwrap_or(0),
            len_bytes,
        })
    }

    /// Makes a part of blocks. `next` is one past the last row before them, or 0.
    fn make_part(&mut self, rows: &[u32], frequencies: &[u32], mut next: u32) {
        self.part.clear();
        self.blocks.clear();
        self.part
            .reserve(rows.len().div_ceil(BLOCK_POSTINGS) * ENTRY_BYTES);
        for (rows, frequencies) in std::iter::zip(
            rows.chunks(BLOCK_POSTINGS),
            frequencies.chunks(BLOCK_POSTINGS),
        ) {
            let last = rows.last().copied().unwrap_or(0);
            let least = std::iter::zip(rows, frequencies)
                .map(|(row, frequency)| {
                    let length = self.lengths.get(*row as usize).copied().unwrap_or(0);
                    impact(*frequency, length, self.mean_length)
                })
                .fold(f32::INFINITY, f32::min);
            self.part.extend_from_slice(&last.to_le_bytes());
            self.part
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
                self.part.extend_from_slice(&[
                    shape.row_width,
                    shape.frequency_width,
                    shape.exception_bytes,
                ]);
            } else {
                put_tail(&mut self.blocks, rows, frequencies, next);
                let len = (self.blocks.len() - start) as u16;
                self.part.extend_from_slice(&len.to_le_bytes());
                self.part.push(0);
            }
            next = last + 1;
        }
        self.part.extend_from_slice(&self.blocks);
    }
}

fn put_tail(out: &mut Vec<u8>, rows: &[u32], frequencies: &[u32], mut next: u32) {
    for (row, frequency) in std::iter::zip(rows, frequencies) {
        put_posting(out, row - next, *frequency);
        next = row + 1;
    }
}
