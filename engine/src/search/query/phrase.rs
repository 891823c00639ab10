//! One phrase of a query: which rows may have it, and whether the text of a row has it.
//!
//! Positions are not stored. The postings name the rows that have all terms of a phrase, and the
//! pairs of neighbouring rows that have them together; whether a row has the phrase is then read in its
//! text. A row has a phrase when the phrase stands in its text, or begins in the row before and ends in
//! this one, or begins in this one and ends in the row after, if both are of the same document. No
//! phrase goes through more than two rows. A phrase of one word also counts in title, headings and path,
//! as in ranking. What a phrase is to a text is said in [`crate::index::keyword::Form`].

use std::collections::hash_map::Entry;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::index::keyword::{Form, Phrase, PhraseMatcher, PhraseTerm, Reader};
use crate::search::sources::{ChunkAddress, Sources};
use crate::store::blocks::BlockReader;

/// A phrase that a query asks for or excludes.
#[derive(Debug)]
pub(crate) struct PhraseOperator {
    /// As it was given.
    pub(crate) text: String,
    /// Its words.
    pub(crate) phrase: Phrase,
    /// Whether rows that have it do not pass.
    pub(crate) is_excluded: bool,
}

/// A phrase with what is known of the rows of all segments.
#[derive(Debug)]
pub(crate) struct PhraseRows {
    /// What is asked.
    pub(crate) operator: PhraseOperator,
    /// How its words must match for a row to have it.
    pub(crate) form: Form,
    /// Finds it as written.
    written: PhraseMatcher,
    /// Finds it by its terms; only where that may be asked.
    stemmed: Option<PhraseMatcher>,
    /// What is known, by position of the segment.
    segments: Vec<SegmentRows>,
}

/// What is known of the rows of one segment.
#[derive(Debug, Default)]
struct SegmentRows {
    /// Rows in whose text the phrase may stand.
    inside: RoaringBitmap,
    /// Rows that may have its end, with its beginning in the row before.
    heads: RoaringBitmap,
    /// Rows whose text was read.
    read: RoaringBitmap,
    /// Those of them that have it as written.
    written: RoaringBitmap,
    /// Those of them that have it by its terms; only where that may be asked.
    stemmed: RoaringBitmap,
}

impl PhraseRows {
    /// For the rows `within`, one bitmap a segment; `None`: all rows.
    ///
    /// # Errors
    /// [`Error::Damaged`] when postings contradict the format.
    pub(crate) fn new(
        operator: PhraseOperator,
        sources: &Sources<'_>,
        within: &[RoaringBitmap],
    ) -> Result<PhraseRows> {
        let mut segments = Vec::with_capacity(sources.segments.len());
        for (segment, within) in sources.segments.iter().zip(within) {
            sources.tick()?;
            segments.push(candidates(
                &operator.phrase,
                segment.keyword_index()?,
                within,
            )?);
        }
        let stemmed =
            (!operator.is_excluded).then(|| PhraseMatcher::new(&operator.phrase, Form::Stemmed));
        Ok(PhraseRows {
            form: Form::Written,
            written: PhraseMatcher::new(&operator.phrase, Form::Written),
            stemmed,
            segments,
            operator,
        })
    }

    /// Rows of the segment at `position` that may have the phrase; all others do not.
    pub(crate) fn may_have(&self, position: usize) -> RoaringBitmap {
        let Some(segment) = self.segments.get(position) else {
            return RoaringBitmap::new();
        };
        let before = segment.heads.iter().filter_map(|row| row.checked_sub(1));
        let begins = RoaringBitmap::from_sorted_iter(before).unwrap_or_default();
        &segment.inside | &segment.heads | begins
    }

    /// Whether a row was read that has the phrase in that form.
    pub(crate) fn was_found(&self, form: Form) -> bool {
        self.segments.iter().any(|segment| match form {
            Form::Written => !segment.written.is_empty(),
            Form::Stemmed => !segment.stemmed.is_empty(),
        })
    }

    /// Whether a row has the phrase; reads its text the first time.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn has(&mut self, address: ChunkAddress, text: &mut RowText<'_>) -> Result<bool> {
        let row = address.row;
        let next = row.checked_add(1);
        let Some(segment) = self.segments.get_mut(address.segment) else {
            return Ok(false);
        };
        let of_form = |segment: &SegmentRows, form| match form {
            Form::Written => segment.written.contains(row),
            Form::Stemmed => segment.stemmed.contains(row),
        };
        let (inside, head) = (segment.inside.contains(row), segment.heads.contains(row));
        let tail = next.is_some_and(|next| segment.heads.contains(next));
        if segment.read.contains(row) || !(inside || head || tail) {
            return Ok(of_form(segment, self.form));
        }
        let is_single = self.operator.phrase.len() == 1;
        let mut finds = |matcher: &mut PhraseMatcher| -> Result<bool> {
            Ok((inside && matcher.matches(text.of(address)?))
                || (is_single && text.has_field(address, |field| matcher.matches(field))?)
                || (head && text.crosses_from_before(address, matcher)?)
                || (tail && text.crosses_to_after(address, matcher)?))
        };
        let is_written = finds(&mut self.written)?;
        if is_written {
            segment.written.insert(row);
        }
        if let Some(stemmed) = &mut self.stemmed
            && (is_written || finds(stemmed)?)
        {
            segment.stemmed.insert(row);
        }
        segment.read.insert(row);
        Ok(of_form(segment, self.form))
    }
}

/// The text of rows, read one after the other.
pub(crate) struct RowText<'f> {
    sources: &'f Sources<'f>,
    /// A reader of text for each segment seen.
    blocks: FxHashMap<usize, BlockReader<'f>>,
    /// The row whose text is at hand.
    row: Option<ChunkAddress>,
    /// Its text.
    text: String,
    /// The text of a row beside it.
    beside: String,
}

impl std::fmt::Debug for RowText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowText")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl<'f> RowText<'f> {
    pub(crate) fn new(sources: &'f Sources<'f>) -> RowText<'f> {
        RowText {
            sources,
            blocks: FxHashMap::default(),
            row: None,
            text: String::new(),
            beside: String::new(),
        }
    }

    /// Bytes of text decoded so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        self.blocks.values().map(BlockReader::decoded_bytes).sum()
    }

    /// The text of a row.
    fn of(&mut self, address: ChunkAddress) -> Result<&str> {
        if self.row != Some(address) {
            self.row = None;
            self.text.clear();
            append(self.sources, &mut self.blocks, address, &mut self.text)?;
            self.row = Some(address);
        }
        Ok(&self.text)
    }

    /// Whether the phrase begins in the row before and ends in the given one.
    fn crosses_from_before(
        &mut self,
        address: ChunkAddress,
        matcher: &mut PhraseMatcher,
    ) -> Result<bool> {
        let Some(before) = address
            .row
            .checked_sub(1)
            .map(|row| ChunkAddress { row, ..address })
        else {
            return Ok(false);
        };
        if !matcher.may_end_in(self.of(address)?) || !self.read_beside(address, before)? {
            return Ok(false);
        }
        Ok(matcher.crosses(&self.beside, &self.text))
    }

    /// Whether the phrase begins in the given row and ends in the one after.
    fn crosses_to_after(
        &mut self,
        address: ChunkAddress,
        matcher: &mut PhraseMatcher,
    ) -> Result<bool> {
        let Some(after) = address
            .row
            .checked_add(1)
            .map(|row| ChunkAddress { row, ..address })
        else {
            return Ok(false);
        };
        if !self.read_beside(address, after)? || !matcher.may_end_in(&self.beside) {
            return Ok(false);
        }
        self.of(address)?;
        Ok(matcher.crosses(&self.text, &self.beside))
    }

    /// Reads a row beside another one; false when it is of another document.
    fn read_beside(&mut self, address: ChunkAddress, beside: ChunkAddress) -> Result<bool> {
        let chunks = self.sources.segment(address.segment)?.chunks();
        if chunks.document(address.row)? != chunks.document(beside.row)? {
            return Ok(false);
        }
        self.beside.clear();
        append(self.sources, &mut self.blocks, beside, &mut self.beside)?;
        Ok(true)
    }

    /// Whether the title or path of the document of a row, or a heading above the row, passes.
    fn has_field(
        &self,
        address: ChunkAddress,
        mut passes: impl FnMut(&str) -> bool,
    ) -> Result<bool> {
        let chunk = self
            .sources
            .segment(address.segment)?
            .chunks()
            .get(address.row)?;
        let file = self.sources.file_of(address.segment);
        let record = self.sources.document(file, chunk.document)?;
        if passes(&record.title) || passes(&record.path) {
            return Ok(true);
        }
        let source = self.sources.source(file)?;
        let outlines = &source.catalog.outlines;
        let (titles, _) =
            outlines.section_at(source.snapshot, chunk.document, chunk.at.span.start)?;
        Ok(titles.iter().any(|title| passes(title)))
    }
}

fn append<'f>(
    sources: &'f Sources<'f>,
    blocks: &mut FxHashMap<usize, BlockReader<'f>>,
    address: ChunkAddress,
    text: &mut String,
) -> Result<()> {
    let reader = match blocks.entry(address.segment) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(sources.segment(address.segment)?.blocks()?),
    };
    reader.append(address.row, 1, text)
}

/// The rows of one segment that may have the phrase, for the rows `within`.
fn candidates(phrase: &Phrase, reader: Reader<'_>, within: &RoaringBitmap) -> Result<SegmentRows> {
    if within.is_empty() || phrase.is_empty() {
        return Ok(SegmentRows::default());
    }
    // A row has a phrase also when the row after it has the end.
    let mut read = within | after(within);
    read.remove_range(reader.rows()..);
    let terms = phrase.terms();
    let mut rows: FxHashMap<&str, RoaringBitmap> = FxHashMap::default();
    for PhraseTerm { term, .. } in &terms {
        if !rows.contains_key(term.as_str()) {
            rows.insert(term, reader.rows_with(term)?);
        }
    }
    let mut heads = RoaringBitmap::new();
    let mut last_split = None;
    for split in 1..phrase.len() {
        let before = terms.iter().filter(|term| term.last < split);
        let behind = terms.iter().filter(|term| term.first >= split);
        // Words without a term move the border but ask nothing of the rows.
        let shape = (before.clone().count(), behind.clone().count());
        if last_split.replace(shape) == Some(shape) {
            continue;
        }
        let begins = with_all(before, &rows);
        let ends = with_all(behind, &rows);
        heads |= match (begins, ends) {
            (Some(begins), Some(ends)) => after(&begins) & ends,
            (Some(begins), None) => after(&begins),
            (None, Some(ends)) => ends,
            (None, None) => read.clone(),
        };
    }
    heads &= &read;
    if let Some(with_all) = with_all(terms.iter(), &rows) {
        read = with_all;
    }
    Ok(SegmentRows {
        inside: read & within,
        heads,
        ..SegmentRows::default()
    })
}

/// The rows that have all terms; `None` when there are no terms.
fn with_all<'t>(
    terms: impl Iterator<Item = &'t PhraseTerm>,
    rows: &FxHashMap<&str, RoaringBitmap>,
) -> Option<RoaringBitmap> {
    let mut all: Option<RoaringBitmap> = None;
    for term in terms {
        let with = rows.get(term.term.as_str())?;
        match &mut all {
            Some(all) => *all &= with,
            None => all = Some(with.clone()),
        }
    }
    all
}

/// The rows after those given. A row beyond the segment is no row of any other set.
fn after(rows: &RoaringBitmap) -> RoaringBitmap {
    let after = rows.iter().filter_map(|row| row.checked_add(1));
    RoaringBitmap::from_sorted_iter(after).unwrap_or_default()
}
