//! Rows of other segments -> units of a new one.
//!
//! A unit whose rows all follow each other in the new segment stays whole, and its trigrams are taken from the lists
//! of its index. Only of rows that leave their unit, because documents of another segment come between or some are
//! gone, the text is looked at, which a merge has in hand to pack it anew.

use kb_types::SegmentId;
use kb_types::error::Result;

use crate::container::column::{ColumnRecord, ExtentSink};
use crate::index::trigram::builder::{Builder, SearchedText};
use crate::index::trigram::reader::{ListIter, Reader};
use crate::index::trigram::record::LEAST_TEXT_BYTES;
use crate::index::trigram::trigrams::Trigram;
use crate::index::trigram::writer::Writer;

/// Marks a unit that did not stay whole. Above every valid unit.
const BROKEN: u32 = u32::MAX;

/// Builds the trigram index of a segment from rows of others, or from new ones.
#[derive(Debug, Default)]
pub(crate) struct MergeBuilder<'a> {
    builder: Builder,
    sources: Vec<Source<'a>>,
    run: Option<Run>,
}

/// An index that rows come from.
#[derive(Debug)]
struct Source<'a> {
    reader: Reader<'a>,
    /// The new unit of each of its units, or [`BROKEN`].
    new_units: Vec<u32>,
}

/// Rows from the first of a unit on, without a gap.
#[derive(Debug)]
struct Run {
    source: usize,
    unit: u32,
    /// The row that continues it.
    next_row: u32,
    /// One past the last row of the unit.
    end: u32,
    /// The texts of its rows.
    text: String,
    rows: Vec<RunRow>,
}

/// A row of a run.
#[derive(Debug)]
struct RunRow {
    document: u32,
    /// End of its text in that of the run.
    end: usize,
    searched: Option<SearchedText>,
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OldRow {
    /// Position of its index in what [`MergeBuilder::new`] got.
    pub source: usize,
    /// The row there.
    pub row: u32,
}

impl<'a> MergeBuilder<'a> {
    /// An empty index, for rows of segments with these indexes.
    pub(crate) fn new(readers: impl IntoIterator<Item = Reader<'a>>) -> MergeBuilder<'a> {
        let sources = readers.into_iter().map(|reader| Source {
            reader,
            new_units: vec![BROKEN; reader.units() as usize],
        });
        MergeBuilder {
            builder: Builder::default(),
            sources: sources.collect(),
            run: None,
        }
    }

    /// Adds the next row: some text of a document. `old` is where it comes from; `None` for a new one, and where its
    /// segment has no trigrams.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged).
    pub(crate) fn push(
        &mut self,
        old: Option<OldRow>,
        document: u32,
        text: &str,
        searched: Option<SearchedText>,
    ) -> Result<()> {
        // Whole units are worth the effort: taking a trigram from a list is less work than finding
        // it in text.
        let goes_on =
            |run: &Run| old.is_some_and(|old| (old.source, old.row) == (run.source, run.next_row));
        if !self.run.as_ref().is_some_and(goes_on) {
            self.break_run();
            let begins = match old {
                Some(old) => self.unit_at(old)?.map(|unit| (old, unit)),
                None => None,
            };
            match begins {
                Some((old, (unit, end))) => {
                    self.run = Some(Run {
                        source: old.source,
                        unit,
                        next_row: old.row,
                        end,
                        text: String::new(),
                        rows: Vec::new(),
                    });
                }
                None => {
                    self.builder.push(document, text, searched);
                    return Ok(());
                }
            }
        }
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        run.text.push_str(text);
        run.rows.push(RunRow {
            document,
            end: run.text.len(),
            searched,
        });
        run.next_row += 1;
        if run.next_row >= run.end
            && let Some(run) = self.run.take()
        {
            let rows = u32::try_from(run.rows.len()).unwrap_or(u32::MAX);
            let new = self.builder.push_unit(rows, run.text.len());
            let source = self.sources.get_mut(run.source);
            let slot = source.and_then(|source| source.new_units.get_mut(run.unit as usize));
            if let Some(slot) = slot {
                *slot = new;
            }
        }
        Ok(())
    }

    /// The unit that begins with a row, and its end.
    fn unit_at(&self, old: OldRow) -> Result<Option<(u32, u32)>> {
        let Some(source) = self.sources.get(old.source) else {
            return Ok(None);
        };
        let (mut low, mut high) = (0, source.reader.units());
        while low < high {
            let middle = low + (high - low) / 2;
            if source.reader.rows_of(middle)?.start < old.row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low >= source.reader.units() {
            return Ok(None);
        }
        let rows = source.reader.rows_of(low)?;
        Ok((rows.start == old.row).then_some((low, rows.end)))
    }

    /// Looks at the texts of rows whose unit does not go on.
    fn break_run(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let mut start = 0;
        for row in run.rows {
            let text = run.text.get(start..row.end).unwrap_or_default();
            self.builder.push(row.document, text, row.searched);
            start = row.end;
        }
    }

    /// Writes the columns, unless there is too little text for them. Asks `check` now and then whether to go on.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged); what the sink and `check` say.
    pub(crate) fn finish(
        mut self,
        segment: SegmentId,
        sink: &mut dyn ExtentSink,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<[ColumnRecord; 3]>> {
        self.break_run();
        // The same rule as for a new segment, so a merge and a fresh index give the same columns.
        if self.builder.text_bytes() < LEAST_TEXT_BYTES {
            return Ok(None);
        }
        let (first_rows, lists) = self.builder.finish();
        let units = u32::try_from(first_rows.len()).unwrap_or(u32::MAX);
        let mut writer = Writer::new(segment, units);
        let mut of_text = lists.into_iter().peekable();
        let mut walks = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let mut walk = source.reader.iter();
            let head = next_mapped(&mut walk, &source.new_units)?;
            walks.push((walk, head, &source.new_units));
        }
        let mut count = 0u32;
        loop {
            let heads = walks
                .iter()
                .filter_map(|(_, head, _)| Some(head.as_ref()?.0));
            let heads = heads.chain(of_text.peek().map(|(trigram, _)| *trigram));
            let Some(least) = heads.min() else {
                break;
            };
            let mut units = match of_text.next_if(|(trigram, _)| *trigram == least) {
                Some((_, units)) => units,
                None => Vec::new(),
            };
            for (walk, head, new_units) in &mut walks {
                if let Some((_, mapped)) = head.take_if(|(trigram, _)| *trigram == least) {
                    units.extend(mapped);
                    *head = next_mapped(walk, new_units)?;
                }
            }
            // Units of several indexes interleave; a list of the new index ascends.
            units.sort_unstable();
            units.dedup();
            writer.push(sink, least, &units)?;
            count = count.wrapping_add(1);
            // Some hundred lists take less than a millisecond, so a cancelled run stops soon.
            if count.is_multiple_of(256) {
                check()?;
            }
        }
        writer.finish(sink, &first_rows).map(Some)
    }
}

/// The next trigram of an index that some unit has which stayed whole, with the new numbers of those units.
fn next_mapped(walk: &mut ListIter<'_>, new_units: &[u32]) -> Result<Option<(Trigram, Vec<u32>)>> {
    while let Some((trigram, units)) = walk.advance()? {
        let mapped = units.into_iter().filter_map(|unit| {
            let new = new_units.get(unit as usize).copied()?;
            (new != BROKEN).then_some(new)
        });
        let mapped: Vec<u32> = mapped.collect();
        if !mapped.is_empty() {
            return Ok(Some((trigram, mapped)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
