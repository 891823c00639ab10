//! The term dictionary: sorted terms with front coding, each with the location of its postings.
//!
//! The terms are split into parts, each one item of the column, and parts into blocks of
//! [`BLOCK_TERMS`] (front coding in blocks: Witten, Moffat and Bell 1999, "Managing Gigabytes"):
//!
//! ```text
//! part    u32 number of blocks; per block u32 its first byte, counted from the start of the part
//! block   varint position of the first list in the postings column, then its terms:
//!         u8 bytes shared with the previous term (high four bits; the first term shares none) and
//!            bytes of the suffix less one (low four bits); 15 means that a varint follows with the
//!            rest: first of the shared bytes, then of the suffix
//!         the suffix
//!         varint bytes of the list * 2, or, for a term of one posting,
//!            row * 4 + (1 if the frequency is 1) * 2 + 1, then a varint frequency unless it is 1
//! ```
//!
//! Lists are stored in the order of the terms without gaps, so their lengths locate them. A term of
//! one posting has no list: the posting is in the dictionary.

use std::ops::ControlFlow;

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use super::encoding::{MAX_NUMBER, put_varint, take_bytes, take_varint};
use crate::container::column::{ColumnRecord, ColumnView, ColumnWriter, ExtentSink};
use crate::index::keyword::analysis::tokenizer::MAX_TERM_BYTES;
use crate::index::keyword::record::{COLUMN_ORDER, DICTIONARY, DictionaryPart};

/// Terms of a block. Only its last block may have fewer.
// A lookup decodes half a block on average. Larger blocks share more prefixes but are slower to
// search; with 32 the dictionary of 100 MB of text takes 3.15 MB
// (docs/decisions/07-keyword-index.md).
pub(crate) const BLOCK_TERMS: usize = 32;

/// Bytes from which on a part ends: three quarters of an extent.
// A part is checked before a block is added, so it can exceed this by one block: 32 terms of at
// most 768 bytes, their suffixes and numbers. A quarter of an extent is more than that.
const PART_BYTES: usize = (4096 << COLUMN_ORDER) / 4 * 3;

/// The location of the postings of a term; tantivy's `TermInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermInfo {
    /// The term has one posting, stored here.
    Single {
        /// The row.
        row: u32,
        /// Its frequency.
        frequency: u32,
    },
    /// The term has a list of postings.
    List {
        /// Logical position in the postings column.
        position: u64,
        /// Bytes of the list.
        len_bytes: u64,
    },
}

/// Writes the dictionary; terms come in ascending order.
#[derive(Debug)]
pub(crate) struct DictionaryWriter {
    /// The column.
    column: ColumnWriter,
    /// Parts written.
    parts: Vec<DictionaryPart>,
    /// Blocks of the open part.
    blocks: Vec<u8>,
    /// First byte of each block in `blocks`.
    block_starts: Vec<u32>,
    /// Terms of the open block.
    block_terms: usize,
    /// First term of the open part.
    first_term: Vec<u8>,
    /// The previous term.
    last_term: Vec<u8>,
}

impl DictionaryWriter {
    pub(crate) fn new(segment: SegmentId) -> DictionaryWriter {
        DictionaryWriter {
            column: ColumnWriter::items(segment, DICTIONARY, COLUMN_ORDER),
            parts: Vec::new(),
            blocks: Vec::new(),
            block_starts: Vec::new(),
            block_terms: BLOCK_TERMS,
            first_term: Vec::new(),
            last_term: Vec::new(),
        }
    }

    /// Adds a term, which must be greater than all earlier ones and not empty. `next_list` is the
    /// position in the postings column after the lists of all earlier terms.
    pub(crate) fn push(
        &mut self,
        sink: &mut dyn ExtentSink,
        term: &[u8],
        info: TermInfo,
        next_list: u64,
    ) -> Result<()> {
        debug_assert!(!term.is_empty() && self.last_term.as_slice() < term);
        if self.block_terms == BLOCK_TERMS {
            if self.blocks.len() + self.block_starts.len() * 4 > PART_BYTES {
                self.finish_part(sink)?;
            }
            if self.block_starts.is_empty() {
                self.first_term = term.to_vec();
            }
            self.block_starts.push(self.blocks.len() as u32);
            put_varint(&mut self.blocks, next_list);
            // The first term of a block shares nothing, so a binary search can read it without the
            // block before.
            self.last_term.clear();
            self.block_terms = 0;
        }
        let shared = std::iter::zip(term, &self.last_term)
            .take_while(|(a, b)| a == b)
            .count();
        let suffix = term.get(shared..).unwrap_or_default();
        let suffix_less_one = suffix.len() - 1;
        self.blocks
            // Most terms share and add fewer than 15 bytes, so one byte has both lengths.
            .push((shared.min(15) << 4 | suffix_less_one.min(15)) as u8);
        for length in [shared, suffix_less_one] {
            if length >= 15 {
                put_varint(&mut self.blocks, length as u64 - 15);
            }
        }
        self.blocks.extend_from_slice(suffix);
        match info {
            TermInfo::List { len_bytes, .. } => put_varint(&mut self.blocks, len_bytes << 1),
            TermInfo::Single { row, frequency } => {
                let one = frequency == 1;
                let code = u64::from(row) << 2 | u64::from(one) << 1 | 1;
                put_varint(&mut self.blocks, code);
                if !one {
                    put_varint(&mut self.blocks, u64::from(frequency));
                }
            }
        }
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
        self.block_terms += 1;
        Ok(())
    }

    fn finish_part(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        let head = 4 + self.block_starts.len() * 4;
        let mut item = Vec::with_capacity(head + self.blocks.len());
        item.extend_from_slice(&(self.block_starts.len() as u32).to_le_bytes());
        for start in &self.block_starts {
            item.extend_from_slice(&(head as u32 + start).to_le_bytes());
        }
        item.extend_from_slice(&self.blocks);
        let position = self.column.push(sink, &item)?;
        self.parts.push(DictionaryPart {
            first_term: std::mem::take(&mut self.first_term),
            position,
            len_bytes: item.len() as u32,
        });
        self.blocks.clear();
        self.block_starts.clear();
        Ok(())
    }

    pub(crate) fn finish(
        mut self,
        sink: &mut dyn ExtentSink,
    ) -> Result<(ColumnRecord, Vec<DictionaryPart>)> {
        if !self.block_starts.is_empty() {
            self.finish_part(sink)?;
        }
        Ok((self.column.finish(sink)?, self.parts))
    }
}

/// Looks up a term; `None` when the dictionary does not have it.
///
/// # Errors
/// [`Error::Damaged`] when the bytes that are read contradict the format.
pub(crate) fn find(
    parts: &[DictionaryPart],
    column: &ColumnView<'_>,
    term: &[u8],
) -> Result<Option<TermInfo>> {
    // First terms of parts are in the record, so a lookup reads one part.
    let after = parts.partition_point(|part| part.first_term.as_slice() <= term);
    let Some(part) = after.checked_sub(1).and_then(|at| parts.get(at)) else {
        return Ok(None);
    };
    let bytes = column.bytes(part.position, part.len_bytes as usize)?;
    let block = find_block(bytes, term)?;
    find_in_block(block, term)
}

/// Calls `each` with every term from `from` on, ascending, and the location of its postings, until it breaks. It finds
/// the block of the first by a binary search.
///
/// Parts, blocks and lists must follow each other without gaps, so that no byte is read twice.
///
/// # Errors
/// [`Error::Damaged`] when the bytes that are read contradict the format; errors of `each`.
pub(crate) fn for_each_from(
    parts: &[DictionaryPart],
    column: &ColumnView<'_>,
    from: &[u8],
    mut each: impl FnMut(&[u8], TermInfo) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let damaged = || Error::damaged("parts of the term dictionary do not follow each other");
    let after = parts.partition_point(|part| part.first_term.as_slice() <= from);
    let parts = parts.get(after.saturating_sub(1)..).unwrap_or_default();
    let (mut next_part, mut next_list) = (None, None);
    let mut term = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        // Parts that overlap could make a hostile file name the same bytes many times over.
        if next_part.is_some_and(|next| next != part.position) {
            return Err(damaged());
        }
        next_part = part.position.checked_add(u64::from(part.len_bytes));
        let bytes = column.bytes(part.position, part.len_bytes as usize)?;
        let first = match number {
            0 => find_block_number(bytes, from)?,
            _ => 0,
        };
        let mut starts = block_starts(bytes)?.iter().skip(first).peekable();
        while let Some(start) = starts.next() {
            let end = starts
                .peek()
                .map_or(bytes.len(), |end| u32::from_le_bytes(**end) as usize);
            let mut block = bytes
                .get(u32::from_le_bytes(*start) as usize..end)
                .ok_or_else(damaged)?;
            let mut position = take_varint(&mut block)?;
            if next_list.is_some_and(|next| next != position) {
                return Err(damaged());
            }
            term.clear();
            while !block.is_empty() {
                let (shared, suffix) = take_suffix(&mut block)?;
                term.truncate(shared);
                term.extend_from_slice(suffix);
                let info = take_term_info(&mut block, position)?;
                if let TermInfo::List { len_bytes, .. } = info {
                    position = position.checked_add(len_bytes).ok_or_else(damaged)?;
                }
                if term.as_slice() >= from && each(&term, info)?.is_break() {
                    return Ok(());
                }
            }
            next_list = Some(position);
        }
    }
    Ok(())
}

/// The offsets of the blocks of a part.
fn block_starts(part: &[u8]) -> Result<&[[u8; 4]]> {
    let damaged = || Error::damaged("a part of the term dictionary contradicts itself");
    let (count, rest) = part.split_first_chunk::<4>().ok_or_else(damaged)?;
    let starts = (u32::from_le_bytes(*count) as usize)
        .checked_mul(4)
        .and_then(|len| rest.get(..len))
        .ok_or_else(damaged)?;
    Ok(starts.as_chunks::<4>().0)
}

/// The last block of a part whose first term is not above `term`, or the first block.
fn find_block<'a>(part: &'a [u8], term: &[u8]) -> Result<&'a [u8]> {
    let number = find_block_number(part, term)?;
    block_of(part, number)?.ok_or_else(damaged_part)
}

fn damaged_part() -> Error {
    Error::damaged("a part of the term dictionary contradicts itself")
}

/// A block of a part; `None` behind the last.
fn block_of(part: &[u8], number: usize) -> Result<Option<&[u8]>> {
    let starts = block_starts(part)?;
    let start = |number: usize| {
        let start = starts.get(number)?;
        Some(u32::from_le_bytes(*start) as usize)
    };
    let Some(first) = start(number) else {
        return Ok(None);
    };
    // The end of a block is the start of the next one.
    let end = start(number + 1).unwrap_or(part.len());
    part.get(first..end).map(Some).ok_or_else(damaged_part)
}

fn find_block_number(part: &[u8], term: &[u8]) -> Result<usize> {
    let (mut low, mut high) = (0, block_starts(part)?.len());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let mut block = block_of(part, middle)?.ok_or_else(damaged_part)?;
        take_varint(&mut block)?;
        let (_, first) = take_suffix(&mut block)?;
        if first <= term {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Calls `each` with every term from `from` on, ascending, until it breaks. It finds the first by a binary search of blocks
/// and checks no lists.
///
/// # Errors
/// [`Error::Damaged`] when the bytes that are read contradict the format.
pub(crate) fn for_each_term_from(
    parts: &[DictionaryPart],
    column: &ColumnView<'_>,
    from: &[u8],
    mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<()> {
    let after = parts.partition_point(|part| part.first_term.as_slice() <= from);
    let parts = parts.get(after.saturating_sub(1)..).unwrap_or_default();
    let mut term = Vec::new();
    for part in parts {
        let bytes = column.bytes(part.position, part.len_bytes as usize)?;
        let mut number = find_block_number(bytes, from)?;
        while let Some(mut block) = block_of(bytes, number)? {
            let position = take_varint(&mut block)?;
            term.clear();
            while !block.is_empty() {
                let (shared, suffix) = take_suffix(&mut block)?;
                term.truncate(shared);
                term.extend_from_slice(suffix);
                take_term_info(&mut block, position)?;
                if term.as_slice() >= from && each(&term).is_break() {
                    return Ok(());
                }
            }
            number += 1;
        }
    }
    Ok(())
}

/// Reads the number of bytes shared with the previous term, and the suffix.
#[inline]
pub(crate) fn take_suffix<'a>(block: &mut &'a [u8]) -> Result<(usize, &'a [u8])> {
    let damaged = || Error::damaged("a term of the dictionary is out of range");
    let (lengths, rest) = block.split_first().ok_or_else(damaged)?;
    *block = rest;
    let mut both = [usize::from(lengths >> 4), usize::from(lengths & 15)];
    for length in &mut both {
        if *length == 15 {
            let more = take_varint(block)?;
            if more > MAX_TERM_BYTES as u64 {
                return Err(damaged());
            }
            *length += more as usize;
        }
    }
    let [shared, suffix_less_one] = both;
    Ok((shared, take_bytes(block, suffix_less_one + 1)?))
}

/// Reads the location of the postings of a term; `position` is that of the next list.
#[inline]
pub(crate) fn take_term_info(block: &mut &[u8], position: u64) -> Result<TermInfo> {
    let code = take_varint(block)?;
    if code & 1 == 0 {
        return Ok(TermInfo::List {
            position,
            len_bytes: code >> 1,
        });
    }
    let frequency = match code & 2 {
        0 => take_varint(block)?,
        _ => 1,
    };
    let limit = u64::from(MAX_NUMBER);
    if code >> 2 >= limit || frequency == 0 || frequency > limit {
        return Err(Error::damaged("a posting is out of range"));
    }
    Ok(TermInfo::Single {
        row: (code >> 2) as u32,
        frequency: frequency as u32,
    })
}

fn find_in_block(mut block: &[u8], term: &[u8]) -> Result<Option<TermInfo>> {
    let mut position = take_varint(&mut block)?;
    // Length of the common prefix of `term` and the previous term.
    let mut common = 0;
    for _ in 0..BLOCK_TERMS {
        if block.is_empty() {
            return Ok(None);
        }
        let (shared, suffix) = take_suffix(&mut block)?;
        let info = take_term_info(&mut block, position)?;
        // The previous term is smaller than `term`. A term that shares more with it than `term`
        // does is smaller too; one that shares less is greater.
        if shared < common {
            return Ok(None);
        }
        if shared == common {
            let rest = term.get(common..).unwrap_or_default();
            if suffix == rest {
                return Ok(Some(info));
            }
            if suffix > rest {
                return Ok(None);
            }
            common += std::iter::zip(suffix, rest)
                .take_while(|(a, b)| a == b)
                .count();
        }
        if let TermInfo::List { len_bytes, .. } = info {
            position = position
                .checked_add(len_bytes)
                .ok_or_else(|| Error::damaged("a list of the dictionary has no end"))?;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::container::column::{MemoryExtents, extent_starts};

    struct Written {
        extents: Vec<Vec<u8>>,
        starts: Vec<u64>,
        parts: Vec<DictionaryPart>,
    }

    fn write(terms: &BTreeMap<Vec<u8>, TermInfo>) -> Written {
        let mut sink = MemoryExtents::default();
        let mut writer = DictionaryWriter::new(SegmentId(1));
        let mut next_list = 0;
        for (term, info) in terms {
            writer.push(&mut sink, term, *info, next_list).unwrap();
            if let TermInfo::List {
                position,
                len_bytes,
            } = info
            {
                assert_eq!(*position, next_list);
                next_list += len_bytes;
            }
        }
        let (record, parts) = writer.finish(&mut sink).unwrap();
        Written {
            extents: sink.columns.remove(&DICTIONARY).unwrap_or_default(),
            starts: extent_starts(&record),
            parts,
        }
    }

    fn lookup(written: &Written, term: &[u8]) -> Result<Option<TermInfo>> {
        let view = ColumnView::new(&written.starts, 0, &written.extents);
        find(&written.parts, &view, term)
    }

    /// Gives the terms locations: every third one a list, the others single postings.
    fn placed(terms: impl IntoIterator<Item = Vec<u8>>) -> BTreeMap<Vec<u8>, TermInfo> {
        let sorted: std::collections::BTreeSet<Vec<u8>> = terms.into_iter().collect();
        let mut position = 0;
        sorted
            .into_iter()
            .enumerate()
            .map(|(i, term)| {
                let info = if i % 3 == 0 {
                    let len_bytes = (i as u64 * 7919) % 100_000 + 2;
                    position += len_bytes;
                    TermInfo::List {
                        position: position - len_bytes,
                        len_bytes,
                    }
                } else {
                    TermInfo::Single {
                        row: (i as u64 * 104_729 % u64::from(MAX_NUMBER)) as u32,
                        frequency: (i as u32 % 5).pow(9) + 1,
                    }
                };
                (term, info)
            })
            .collect()
    }

    #[test]
    fn every_term_of_several_parts_is_found() {
        let terms = placed((0..60_000u32).map(|i| format!("w{}x{i}", i % 97).into_bytes()));
        let written = write(&terms);
        assert!(written.parts.len() > 1);
        for (term, info) in &terms {
            assert_eq!(lookup(&written, term).unwrap(), Some(*info));
            for other in [[term, &b"!"[..]].concat(), term[..term.len() - 1].to_vec()] {
                assert_eq!(
                    lookup(&written, &other).unwrap(),
                    terms.get(&other).copied()
                );
            }
        }
        assert_eq!(lookup(&written, b"").unwrap(), None);
        assert_eq!(lookup(&written, b"zzz").unwrap(), None);
    }

    #[test]
    fn a_walk_begins_with_the_first_term_that_is_asked_for() {
        let terms = placed((0..60_000u32).map(|i| format!("w{}x{i}", i % 97).into_bytes()));
        let written = write(&terms);
        let view = ColumnView::new(&written.starts, 0, &written.extents);
        let asked = terms.keys().step_by(617).flat_map(|term| {
            let behind = [term, &b"!"[..]].concat();
            [term.clone(), behind, term[..term.len() - 1].to_vec()]
        });
        for from in asked.chain([Vec::new(), b"zzz".to_vec()]) {
            let mut found = Vec::new();
            let take_some = |term: &[u8], info: TermInfo| {
                found.push((term.to_vec(), info));
                Ok(match found.len() < 100 {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                })
            };
            for_each_from(&written.parts, &view, &from, take_some).unwrap();
            let expected = terms.range(from..).take(100);
            assert!(found.iter().map(|(term, info)| (term, info)).eq(expected));
        }
    }

    #[test]
    fn an_empty_dictionary_has_no_terms() {
        let written = write(&BTreeMap::new());
        assert_eq!(lookup(&written, b"word").unwrap(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn lookups_agree_with_a_map(
            terms in prop::collection::vec("[ab]{1,6}|a{10,40}b?|[a-z]{1,3}|c{14,17}[a-z]{14,18}", 1..200),
            asked in prop::collection::vec("[ab]{0,6}|a{10,40}b?|[a-z]{1,3}", 50),
        ) {
            let terms = placed(terms.into_iter().map(String::into_bytes));
            let written = write(&terms);
            for term in terms.keys().cloned().chain(asked.into_iter().map(String::into_bytes)) {
                prop_assert_eq!(lookup(&written, &term).unwrap(), terms.get(&term).copied());
            }
        }

        #[test]
        fn changed_bytes_give_an_error_or_an_answer(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let terms = placed((0..300u32).map(|i| format!("term{i}").into_bytes()));
            let mut written = write(&terms);
            for (at, value) in changes {
                let payload = &mut written.extents[0];
                let at = at.index(payload.len());
                payload[at] = value;
            }
            for term in terms.keys() {
                let _ = lookup(&written, term);
            }
        }
    }
}
