//! Counted documents to the columns of a segment.

use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::error::{Error, Result};
use crate::types::SegmentId;

use super::bm25::impact;
use super::dictionary::{DictionaryWriter, Place};
use super::gather::{Arena, GrowingList};
use super::interner::Interner;
use super::postings::{
    BLOCK_POSTINGS, Block, ENTRY_BYTES, MAX_NUMBER, PART_BLOCKS, encode_impact, put_block,
    put_posting, put_varint,
};
use super::terms::DocumentTerms;
use super::{COLUMN_ORDER, FORMAT_VERSION, LENGTHS, MAX_ROWS, POSTINGS, TextRecord};

/// Gathers the chunks of one segment and writes their keyword index.
///
/// Everything is kept in memory, compressed, until [`Writer::finish`]; the caller watches
/// [`Writer::memory_bytes`] and starts another segment in time.
#[derive(Debug)]
pub struct Writer {
    /// The segment.
    segment: SegmentId,
    /// All terms.
    terms: Interner,
    /// The list of each term.
    lists: Vec<GrowingList>,
    /// Memory of the lists.
    arena: Arena,
    /// Length of each row in terms.
    lengths: Vec<u32>,
    /// Number in `terms` of each term of the document being added.
    numbers: Vec<u32>,
}

impl Writer {
    /// A writer of an empty segment.
    pub fn new(segment: SegmentId) -> Writer {
        Writer {
            segment,
            terms: Interner::new(),
            lists: Vec::new(),
            arena: Arena::default(),
            lengths: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Bytes of memory that the writer holds.
    pub fn memory_bytes(&self) -> usize {
        self.terms.memory_bytes()
            + self.lists.capacity() * size_of::<GrowingList>()
            + self.arena.memory_bytes()
            + self.lengths.capacity() * 4
    }

    /// Appends the chunks of a document as the next rows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the segment would have more than [`MAX_ROWS`] rows; nothing is
    /// added then.
    pub fn add(&mut self, document: &DocumentTerms) -> Result<()> {
        let rows = self.lengths.len() + document.chunks().count();
        if rows > MAX_ROWS as usize {
            return Err(Error::TooLarge {
                what: format!("segment {}", self.segment.0),
                size: rows as u64,
                limit: u64::from(MAX_ROWS),
            });
        }
        self.numbers.clear();
        for term in document.terms() {
            self.numbers.push(self.terms.number(term).0);
        }
        self.lists.resize(self.terms.len(), GrowingList::default());
        for (counts, length) in document.chunks() {
            let row = self.lengths.len() as u32;
            for count in counts {
                let number = self.numbers.get(count.term as usize);
                let list = number.and_then(|number| self.lists.get_mut(*number as usize));
                if let Some(list) = list {
                    list.push(&mut self.arena, row, count.frequency.clamp(1, MAX_NUMBER));
                }
            }
            self.lengths.push(length);
        }
        Ok(())
    }

    /// Writes the columns. The same documents in the same order give the same bytes.
    ///
    /// # Errors
    /// What the sink says.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<TextRecord> {
        let total_length: u64 = self.lengths.iter().map(|length| u64::from(*length)).sum();
        let mut postings = ListWriter {
            column: ColumnWriter::items(self.segment, POSTINGS, COLUMN_ORDER),
            mean_length: mean_length(total_length, self.rows()),
            lengths: &self.lengths,
            item: Vec::new(),
            part: Vec::new(),
            blocks: Vec::new(),
        };
        let mut dictionary = DictionaryWriter::new(self.segment);
        let (mut bytes, mut rows, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
        let numbers = self.sorted_numbers();
        for number in &numbers {
            let Some(list) = self.lists.get(*number as usize) else {
                continue;
            };
            rows.clear();
            frequencies.clear();
            list.read(&self.arena, &mut bytes, &mut rows, &mut frequencies)?;
            let position = postings.column.position();
            let place = match (rows.as_slice(), frequencies.as_slice()) {
                ([row], [frequency]) => Place::Single {
                    row: *row,
                    frequency: *frequency,
                },
                _ => postings.push(sink, &rows, &frequencies)?,
            };
            dictionary.push(sink, self.terms.get(*number), place, position)?;
        }
        let postings = postings.column.finish(sink)?;
        let (dictionary, dictionary_parts) = dictionary.finish(sink)?;
        Ok(TextRecord {
            version: FORMAT_VERSION,
            rows: self.rows(),
            total_length,
            terms: numbers.len() as u64,
            dictionary,
            dictionary_parts,
            postings,
            lengths: self.write_lengths(sink)?,
        })
    }

    /// Numbers of the terms in ascending order of their bytes.
    fn sorted_numbers(&self) -> Vec<u32> {
        let mut keyed: Vec<(u64, u32)> = (0..self.terms.len() as u32)
            .map(|number| {
                let mut head = [0; 8];
                std::iter::zip(&mut head, self.terms.get(number))
                    .for_each(|(to, from)| *to = *from);
                (u64::from_be_bytes(head), number)
            })
            .collect();
        keyed.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| self.terms.get(a.1).cmp(self.terms.get(b.1)))
        });
        keyed.into_iter().map(|(_, number)| number).collect()
    }

    fn write_lengths(&self, sink: &mut dyn ExtentSink) -> Result<ColumnRecord> {
        let short = self
            .lengths
            .iter()
            .all(|length| *length <= u32::from(u16::MAX));
        let width = if short { 2 } else { 4 };
        let mut column = ColumnWriter::rows(self.segment, LENGTHS, width as u32);
        for length in &self.lengths {
            let bytes = length.to_le_bytes();
            column.push(sink, bytes.get(..width).unwrap_or(&bytes))?;
        }
        column.finish(sink)
    }
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
