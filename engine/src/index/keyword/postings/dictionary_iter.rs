//! Iterates over all terms of a dictionary in ascending order and checks every byte.

use kb_types::error::{Error, Result};

use super::dictionary::{BLOCK_TERMS, TermInfo, take_suffix, take_term_info};
use super::encoding::{take_bytes, take_varint};
use crate::container::column::ColumnView;
use crate::index::keyword::record::{DictionaryPart, KeywordRecord};

/// An iterator over the terms of a dictionary.
///
/// Parts, blocks and lists must follow each other without gaps. So no byte is read twice, and the
/// work that a hostile file can cause is bounded by its size.
#[derive(Debug)]
pub(crate) struct DictionaryIter<'a> {
    /// The record of the index.
    record: &'a KeywordRecord,
    /// Column of the dictionary.
    column: ColumnView<'a>,
    /// Bytes of the postings column.
    postings_bytes: u64,
    /// Parts not yet opened.
    parts: std::slice::Iter<'a, DictionaryPart>,
    /// Logical position where the next part must start.
    next_part: u64,
    /// Bytes of the open part.
    part: &'a [u8],
    /// Offsets of the blocks of the open part that were not yet opened.
    starts: std::slice::Iter<'a, [u8; 4]>,
    /// First term of the open part by its record, until that term was read.
    first_term: Option<&'a [u8]>,
    /// The unread bytes of the open block.
    block: &'a [u8],
    /// Terms read from the open block.
    block_terms: usize,
    /// The term.
    term: Vec<u8>,
    /// Terms so far.
    terms: u64,
    /// Position in the postings column after the lists so far.
    next_list: u64,
}

fn damaged(what: &str) -> Error {
    Error::damaged(format!("the term dictionary: {what}"))
}

impl<'a> DictionaryIter<'a> {
    /// An iterator before the first term.
    pub(crate) fn new(
        record: &'a KeywordRecord,
        column: ColumnView<'a>,
        postings_bytes: u64,
    ) -> DictionaryIter<'a> {
        DictionaryIter {
            record,
            column,
            postings_bytes,
            parts: record.dictionary_parts.iter(),
            next_part: 0,
            part: &[],
            starts: [].iter(),
            first_term: None,
            block: &[],
            block_terms: 0,
            term: Vec::new(),
            terms: 0,
            next_list: 0,
        }
    }

    /// The current term.
    pub(crate) fn term(&self) -> &[u8] {
        &self.term
    }

    /// Moves to the next term and returns the location of its postings; `None` after the last term.
    ///
    /// # Errors
    /// [`Error::Damaged`] when terms do not ascend, bytes contradict the format, or the dictionary
    /// does not end with the terms and lists that the record and the postings column have.
    pub(crate) fn advance(&mut self) -> Result<Option<TermInfo>> {
        if self.block.is_empty() && !self.open_block()? {
            return self.check_end().map(|()| None);
        }
        if self.block_terms == BLOCK_TERMS {
            return Err(damaged("a block has too many terms"));
        }
        let (shared, suffix) = take_suffix(&mut self.block)?;
        // Lookups rely on `shared` being the whole common prefix of two adjacent terms.
        let ascends = match self.term.get(shared) {
            _ if self.block_terms == 0 => shared == 0 && self.term.as_slice() < suffix,
            Some(before) => suffix.first() > Some(before),
            None => shared == self.term.len(),
        };
        if !ascends {
            return Err(damaged("terms do not ascend"));
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(suffix);
        if let Some(first) = self.first_term.take()
            && first != self.term
        {
            return Err(damaged("a part starts with another term than its record"));
        }
        let info = take_term_info(&mut self.block, self.next_list)?;
        if let TermInfo::List { len_bytes, .. } = info {
            let end = self.next_list.checked_add(len_bytes);
            self.next_list = end
                .filter(|end| *end <= self.postings_bytes)
                .ok_or_else(|| damaged("a list ends beyond the postings"))?;
        }
        self.block_terms += 1;
        self.terms += 1;
        Ok(Some(info))
    }

    /// Opens the next block, of the next part if necessary; false when there is none.
    fn open_block(&mut self) -> Result<bool> {
        if self.starts.as_slice().is_empty() && !self.open_part()? {
            return Ok(false);
        }
        let mut start = || {
            self.starts
                .next()
                .map(|start| u32::from_le_bytes(*start) as usize)
        };
        let from = start().unwrap_or(usize::MAX);
        let to = match self.starts.as_slice().first() {
            Some(next) => u32::from_le_bytes(*next) as usize,
            None => self.part.len(),
        };
        let block = self.part.get(from..to);
        self.block = block.ok_or_else(|| damaged("the blocks of a part do not ascend"))?;
        self.block_terms = 0;
        if take_varint(&mut self.block)? != self.next_list {
            return Err(damaged("a block names another list than the next one"));
        }
        Ok(true)
    }

    fn open_part(&mut self) -> Result<bool> {
        let Some(part) = self.parts.next() else {
            return Ok(false);
        };
        if part.position != self.next_part {
            return Err(damaged("a part does not start where the one before ends"));
        }
        self.part = self.column.bytes(part.position, part.len_bytes as usize)?;
        self.next_part += u64::from(part.len_bytes);
        let mut rest = self.part;
        let blocks = take_bytes(&mut rest, 4)?.first_chunk::<4>();
        let blocks = blocks.map_or(0, |count| u32::from_le_bytes(*count)) as usize;
        let starts = blocks
            .checked_mul(4)
            .ok_or_else(|| damaged("a part is cut off"))?;
        let starts = take_bytes(&mut rest, starts)?.as_chunks::<4>().0;
        let head = (self.part.len() - rest.len()) as u32;
        if starts.first().map(|start| u32::from_le_bytes(*start)) != Some(head) {
            return Err(damaged("a part does not start with its first block"));
        }
        self.starts = starts.iter();
        self.first_term = Some(&part.first_term);
        Ok(true)
    }

    fn check_end(&self) -> Result<()> {
        if self.next_part != self.column.len_bytes() {
            return Err(damaged("the column goes on after the last part"));
        }
        if self.next_list != self.postings_bytes {
            return Err(damaged(
                "the postings go on after the list of the last term",
            ));
        }
        if self.terms != self.record.terms {
            return Err(damaged(&format!(
                "{} terms where the record has {}",
                self.terms, self.record.terms
            )));
        }
        Ok(())
    }
}
