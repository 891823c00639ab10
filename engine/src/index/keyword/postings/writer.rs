//! Builds the keyword index of a segment from counted documents.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use super::encoding::MAX_NUMBER;
use super::fieldnorms::FieldNorms;
use super::postings_builder::{Arena, PostingsBuilder};
use super::serializer::InvertedIndexSerializer;
use crate::container::column::ExtentSink;
use crate::index::keyword::analysis::document_terms::DocumentTerms;
use crate::index::keyword::analysis::interner::Interner;
use crate::index::keyword::record::{KeywordRecord, MAX_ROWS};

/// Collects the chunks of one segment and writes their keyword index.
///
/// Everything is kept in memory, compressed, until [`Writer::finish`]. The caller watches
/// [`Writer::memory_bytes`] and starts another segment when it is too much.
#[derive(Debug)]
pub struct Writer {
    /// The segment.
    segment: SegmentId,
    /// All terms.
    terms: Interner,
    /// Postings by term number.
    lists: Vec<PostingsBuilder>,
    /// Memory of the lists.
    arena: Arena,
    /// Length of each row in terms.
    lengths: FieldNorms,
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
            lengths: FieldNorms::new(0),
            numbers: Vec::new(),
        }
    }

    /// The number of rows so far.
    #[cfg(test)]
    pub fn rows(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Bytes of memory in use.
    pub fn memory_bytes(&self) -> usize {
        self.terms.memory_bytes()
            + self.lists.capacity() * size_of::<PostingsBuilder>()
            + self.arena.memory_bytes()
            + self.lengths.memory_bytes()
    }

    /// Appends the chunks of a document as the next rows.
    ///
    /// # Errors
    /// [`Error::TooMany`] when the segment would have more than [`MAX_ROWS`] rows; nothing is
    /// added then.
    pub fn add(&mut self, document: &DocumentTerms) -> Result<()> {
        let rows = self.lengths.len() + document.chunks().count();
        if rows > MAX_ROWS as usize {
            return Err(Error::TooMany {
                what: "chunks of one segment",
                count: rows as u64,
                limit: u64::from(MAX_ROWS),
            });
        }
        self.numbers.clear();
        for term in document.terms() {
            self.numbers.push(self.terms.number(term).0);
        }
        self.lists
            .resize(self.terms.len(), PostingsBuilder::default());
        for (counts, length) in document.chunks() {
            let row = self.lengths.len() as u32;
            for count in counts {
                let number = self.numbers.get(count.term as usize);
                let list = number.and_then(|number| self.lists.get_mut(*number as usize));
                if let Some(list) = list {
                    // The format stores frequencies up to 2^24; BM25 is saturated long before.
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
    /// Errors of the sink.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<KeywordRecord> {
        let mut columns = InvertedIndexSerializer::new(self.segment, &self.lengths);
        let (mut bytes, mut rows, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
        for number in self.sorted_numbers() {
            let Some(list) = self.lists.get(number as usize) else {
                continue;
            };
            rows.clear();
            frequencies.clear();
            list.read(&self.arena, &mut bytes, &mut rows, &mut frequencies)?;
            columns.push(sink, self.terms.get(number), &rows, &frequencies)?;
        }
        columns.finish(sink)
    }

    /// Numbers of the terms in ascending order of their bytes.
    fn sorted_numbers(&self) -> Vec<u32> {
        let mut keyed: Vec<(u64, u32)> = (0..self.terms.len() as u32)
            .map(|number| {
                // Most comparisons are decided by the first eight bytes, as one number; the strings
                // lie anywhere in memory.
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
}
