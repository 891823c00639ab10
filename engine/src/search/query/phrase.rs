//! Matches one phrase of a query: first by postings, then in the text of rows.
//!
//! The index stores no positions. Postings give the rows that have all terms of a phrase, and the pairs
//! of neighbouring rows that have them together; the text of such a row decides. A row matches when the
//! phrase is in its text, or begins in the row before and ends in this one, or begins in this one and
//! ends in the row after, where both rows are of one document. No phrase spans more than two rows. A
//! phrase of one word also matches in title, headings and path, as in ranking.
//! [`crate::index::keyword::Form`] defines when a phrase matches a text.

use std::collections::hash_map::Entry;

use kb_types::DocumentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::index::keyword::{Form, Phrase, PhraseMatcher, PhraseTerm, Reader};
use crate::search::sources::{ChunkAddress, Sources};
use crate::store::blocks::BlockReader;
use crate::store::outline::{StoredOutline, titles_at};

/// A phrase that a query requires or excludes.
#[derive(Debug)]
pub(crate) struct PhraseOperator {
    /// Its number among the pieces of the query.
    pub(crate) number: usize,
    /// As typed.
    pub(crate) text: String,
    /// The analysed text.
    pub(crate) phrase: Phrase,
    /// Whether rows that match are excluded.
    pub(crate) is_excluded: bool,
    /// Whether it must hold even where it leaves no row.
    pub(crate) is_strict: bool,
}

/// A phrase with the rows of all segments that may match it, and those known to.
#[derive(Debug)]
pub(crate) struct PhraseRows {
    /// The operator of the query.
    pub(crate) operator: PhraseOperator,
    /// Which of the two forms decides whether a row matches.
    pub(crate) form: Form,
    /// Matches it as written.
    written: PhraseMatcher,
    /// Matches it by its terms; `None` for an excluded phrase, which is matched as written only.
    stemmed: Option<PhraseMatcher>,
    /// By position of the segment.
    segments: Vec<SegmentRows>,
}

/// The rows of one segment that may match, and those whose text was read.
#[derive(Debug, Default)]
struct SegmentRows {
    /// Rows that have all terms, so that their text may contain the phrase.
    inside: RoaringBitmap,
    /// Rows that may contain the end of the phrase, with its beginning in the row before.
    // Two rows at most: chunks are far longer than phrases, and three in a row would have to be
    // read for each candidate.
    heads: RoaringBitmap,
    /// Rows whose text was read.
    read: RoaringBitmap,
    /// Rows that were read and match as written.
    written: RoaringBitmap,
    /// Rows that were read and match by terms; empty for an excluded phrase.
    stemmed: RoaringBitmap,
}

impl PhraseRows {
    /// Finds the candidates among the rows `within`, one bitmap a segment.
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

    /// Rows of the segment at `position` that may match; all others do not.
    pub(crate) fn may_have(&self, position: usize) -> RoaringBitmap {
        let Some(segment) = self.segments.get(position) else {
            return RoaringBitmap::new();
        };
        let before = segment.heads.iter().filter_map(|row| row.checked_sub(1));
        let begins = RoaringBitmap::from_sorted_iter(before).unwrap_or_default();
        &segment.inside | &segment.heads | begins
    }

    /// Whether any row that was read matches in that form.
    pub(crate) fn was_found(&self, form: Form) -> bool {
        self.segments.iter().any(|segment| match form {
            Form::Written => !segment.written.is_empty(),
            Form::Stemmed => !segment.stemmed.is_empty(),
        })
    }

    /// Whether a row matches; reads its text the first time.
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

/// Reads the text of rows, and keeps the last one.
pub(crate) struct RowText<'f> {
    sources: &'f Sources<'f>,
    /// A reader of text for each segment seen.
    blocks: FxHashMap<usize, BlockReader<'f>>,
    /// The row whose text is in `text`.
    row: Option<ChunkAddress>,
    /// Text of `row`.
    text: String,
    /// Text of the row before or after it.
    beside: String,
    /// The last outline that was read, with file and document: rows of one document follow each other.
    outline: Option<((usize, DocumentId), StoredOutline)>,
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
            outline: None,
        }
    }

    /// Bytes of text decoded so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        self.blocks.values().map(BlockReader::decoded_bytes).sum()
    }

    /// The text of a row.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn of(&mut self, address: ChunkAddress) -> Result<&str> {
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

    /// Reads the row before or after another one into `beside`; false when it is of another document.
    fn read_beside(&mut self, address: ChunkAddress, beside: ChunkAddress) -> Result<bool> {
        let chunks = self.sources.segment(address.segment)?.chunks();
        if chunks.document(address.row)? != chunks.document(beside.row)? {
            return Ok(false);
        }
        self.beside.clear();
        append(self.sources, &mut self.blocks, beside, &mut self.beside)?;
        Ok(true)
    }

    /// Whether `passes` holds for title or path of the document of a row, or a heading above the row.
    fn has_field(
        &mut self,
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
        let document = (file, chunk.document);
        let outline = match self.outline.take() {
            Some((of, outline)) if of == document && outline.covers(chunk.at.span) => outline,
            _ => {
                let source = self.sources.source(file)?;
                let outlines = &source.catalog.outlines;
                outlines.around(source.snapshot, chunk.document, chunk.at.span)?
            }
        };
        let titles = titles_at(&outline, chunk.at.span.start);
        self.outline = Some((document, outline));
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

/// The rows of one segment that may match, for the rows `within`.
fn candidates(phrase: &Phrase, reader: Reader<'_>, within: &RoaringBitmap) -> Result<SegmentRows> {
    if within.is_empty() || phrase.is_empty() {
        return Ok(SegmentRows::default());
    }
    // A row also matches when the phrase ends in the row after it.
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
        // Words without a term move the split, but the same rows qualify.
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
