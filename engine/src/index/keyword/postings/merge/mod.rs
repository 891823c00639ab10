//! Merges the keyword indexes of several segments into one, without their texts.
//!
//! A k-way merge over the dictionaries: the lists of each term are read, their rows renumbered, and
//! written. The result is byte for byte that of a writer that got the kept chunks in their new
//! order.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use super::cursor::Cursor;
use super::dictionary::TermInfo;
use super::dictionary_iter::DictionaryIter;
use super::fieldnorms::FieldNorms;
use super::reader::Reader;
use super::serializer::InvertedIndexSerializer;
use crate::container::column::ExtentSink;
use crate::index::keyword::record::{KeywordRecord, MAX_ROWS};

/// Marks a row that is dropped. It is above every valid row.
// Rows are below 2^24 ([`MAX_NUMBER`](super::encoding::MAX_NUMBER)).
pub(crate) const DROPPED: u32 = u32::MAX;

/// Rows of one window. Lists with more postings than this are merged window by window.
// Bounds the memory of a merge: 2^18 postings of 16 bytes are 4 MiB, whatever the length of the
// list. Smaller windows would read the cursors of all sources more often.
const WINDOW_ROWS: u32 = 1 << 18;

/// Terms between two checks for cancellation.
// Thousands of terms take milliseconds, so a cancelled run stops at once and the check costs
// nothing.
const TERMS_PER_CHECK: u64 = 1 << 12;

/// A segment to be merged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergeSource<'a> {
    /// Its keyword index.
    pub reader: Reader<'a>,
    /// The first of its rows that may be kept.
    pub first: u32,
    /// The new rows of that one and those after it, ascending, or [`DROPPED`]. All other rows are
    /// dropped.
    pub rows: &'a [u32],
}

impl MergeSource<'_> {
    /// The new row of a row of the source, or [`DROPPED`].
    #[inline]
    fn new_row(&self, row: u32) -> u32 {
        let at = row.checked_sub(self.first);
        let new = at.and_then(|at| self.rows.get(at as usize));
        new.copied().unwrap_or(DROPPED)
    }

    /// One past the last row that may be kept.
    fn end(&self) -> u32 {
        // The mapping is no longer than the segment.
        self.first.saturating_add(self.rows.len() as u32)
    }
}

/// A source at its current term.
struct Head<'a> {
    /// The source.
    source: MergeSource<'a>,
    /// The terms of the source.
    terms: DictionaryIter<'a>,
    /// The location of the postings of the term; `None` after the last term.
    info: Option<TermInfo>,
    /// The postings of the term while it is merged.
    cursor: Option<Cursor<'a>>,
    /// The first row of the source whose posting is not yet merged.
    next_row: u32,
}

impl<'a> Head<'a> {
    fn new(source: MergeSource<'a>) -> Result<Head<'a>> {
        let mut terms = source.reader.terms();
        let info = terms.advance()?;
        Ok(Head {
            source,
            terms,
            info,
            cursor: None,
            next_row: 0,
        })
    }

    fn term(&self) -> Option<&[u8]> {
        self.info.map(|_| self.terms.term())
    }

    /// Opens the postings of the term; returns their number, dropped ones included.
    fn open(&mut self) -> Result<u64> {
        let Some(info) = self.info else {
            return Ok(0);
        };
        let postings = self.source.reader.open(info)?;
        self.cursor = Some(self.source.reader.cursor(&postings)?);
        self.next_row = self.source.first;
        Ok(u64::from(postings.count()))
    }

    /// Appends the kept postings whose new rows are below `end`: the new row in the upper half, the
    /// frequency in the lower. True when there may be more.
    fn take(&mut self, end: u32, postings: &mut Vec<u64>) -> Result<bool> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(false);
        };
        while self.next_row < self.source.end() {
            let (rows, frequencies) = cursor.block_from(self.next_row)?;
            let Some(last) = rows.last().copied() else {
                return Ok(false);
            };
            let before = rows.partition_point(|row| *row < self.next_row);
            let postings_of_block = std::iter::zip(rows, frequencies).skip(before);
            for (row, frequency) in postings_of_block {
                let new = self.source.new_row(*row);
                if new == DROPPED {
                    continue;
                }
                if new >= end {
                    self.next_row = *row;
                    return Ok(true);
                }
                postings.push(u64::from(new) << 32 | u64::from(*frequency));
            }
            // Rows stay below 2^24.
            self.next_row = last + 1;
        }
        Ok(false)
    }

    fn advance(&mut self) -> Result<()> {
        self.cursor = None;
        self.info = self.terms.advance()?;
        Ok(())
    }
}

/// Writes the columns of a segment of `rows` rows, each of them a row of one of the `sources`.
/// Calls `check` regularly; its error cancels the merge.
///
/// Reads every source once. Takes memory for 2^18 postings (16 bytes each), the encoded form of one
/// list, and the lengths (2 bytes a row; 4 when a chunk is longer than 65 535 terms), independent
/// of the number of documents and sources.
///
/// # Errors
/// [`Error::Damaged`] when a mapping does not lie within its segment, does not ascend, or all of
/// them together do not give every new row once; or when bytes of a source contradict the format.
/// [`Error::TooMany`] for more than [`MAX_ROWS`] rows. Errors of the sink and of `check`.
pub(crate) fn merge(
    segment: SegmentId,
    sources: &[MergeSource<'_>],
    rows: u32,
    sink: &mut dyn ExtentSink,
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<KeywordRecord> {
    let lengths = merged_lengths(segment, sources, rows)?;
    let mut columns = InvertedIndexSerializer::new(segment, &lengths);
    let heads = sources.iter().map(|source| Head::new(*source));
    let mut heads = heads.collect::<Result<Vec<_>>>()?;
    let mut merger = ListMerger::default();
    let mut term = Vec::new();
    let mut terms = 0u64;
    // A linear search over the heads: a merge has at most some dozens of sources, and a heap would
    // compare as often.
    while let Some(least) = heads.iter().filter_map(Head::term).min() {
        term.clear();
        term.extend_from_slice(least);
        merger.merge(&mut heads, &term, rows, &mut columns)?;
        columns.end_term(sink, &term)?;
        terms += 1;
        if terms.is_multiple_of(TERMS_PER_CHECK) {
            check()?;
        }
    }
    columns.finish(sink)
}

/// Merges the lists of one term; the buffers are reused for the next.
#[derive(Default)]
struct ListMerger {
    postings: Vec<u64>,
    rows: Vec<u32>,
    frequencies: Vec<u32>,
}

impl ListMerger {
    /// Writes the lists of all heads whose term is `term`, and advances these heads.
    fn merge(
        &mut self,
        heads: &mut [Head<'_>],
        term: &[u8],
        rows: u32,
        columns: &mut InvertedIndexSerializer<'_>,
    ) -> Result<()> {
        let (mut count, mut lists) = (0, 0);
        for head in heads.iter_mut().filter(|head| head.term() == Some(term)) {
            count += head.open()?;
            lists += 1;
        }
        let window = if count <= u64::from(WINDOW_ROWS) || lists == 0 {
            rows
        } else {
            WINDOW_ROWS
        };
        let mut end = 0;
        while end < rows {
            end = end.saturating_add(window).min(rows);
            self.postings.clear();
            for head in heads.iter_mut().filter(|head| head.cursor.is_some()) {
                if !head.take(end, &mut self.postings)? {
                    head.advance()?;
                }
            }
            if lists > 1 {
                // Each list ascends, and the stable sort detects and merges such runs.
                self.postings.sort();
            }
            let upper = |posting: &u64| (posting >> 32) as u32;
            self.rows.clear();
            self.rows.extend(self.postings.iter().map(upper));
            let lower = |posting: &u64| *posting as u32;
            self.frequencies.clear();
            self.frequencies.extend(self.postings.iter().map(lower));
            columns.extend(&self.rows, &self.frequencies);
        }
        for head in heads.iter_mut().filter(|head| head.cursor.is_some()) {
            // Never taken: `merged_lengths` refuses mappings beyond the new rows.
            head.advance()?;
        }
        Ok(())
    }
}

/// The lengths of the new rows. Checks the mappings.
fn merged_lengths(
    segment: SegmentId,
    sources: &[MergeSource<'_>],
    rows: u32,
) -> Result<FieldNorms> {
    let damaged =
        |what: &str| Error::damaged(format!("merging into segment {}: {what}", segment.0));
    if rows > MAX_ROWS {
        return Err(Error::TooMany {
            what: "chunks of one segment",
            count: u64::from(rows),
            limit: u64::from(MAX_ROWS),
        });
    }
    let mut new_lengths = FieldNorms::new(rows as usize);
    // One bit a row: a mapping of a caller that names a row twice would lose a chunk.
    let mut taken = vec![0u64; (rows as usize).div_ceil(64)];
    let mut kept = 0;
    for source in sources {
        let end = u64::from(source.first) + source.rows.len() as u64;
        if end > u64::from(source.reader.rows()) {
            return Err(damaged("a mapping is longer than its segment"));
        }
        let mut lengths = source.reader.fieldnorms();
        let mut next = 0;
        for (row, new) in (source.first..).zip(source.rows) {
            if *new == DROPPED {
                continue;
            }
            if *new < next {
                return Err(damaged("a mapping does not ascend"));
            }
            let bit = 1 << (new % 64);
            let Some(word) = taken.get_mut((new / 64) as usize) else {
                return Err(damaged("a mapping names a row beyond the segment"));
            };
            if *word & bit != 0 {
                return Err(damaged("two rows are mapped to one"));
            }
            *word |= bit;
            if !new_lengths.set(*new, lengths.exact(row)?) {
                return Err(damaged("a mapping names a row beyond the segment"));
            }
            next = *new + 1;
            kept += 1;
        }
    }
    if kept != rows {
        return Err(damaged("a new row comes from nowhere"));
    }
    Ok(new_lengths)
}

#[cfg(test)]
mod tests;
