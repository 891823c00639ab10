//! Chunk rows -> units, and the trigrams of each, in memory.

use rustc_hash::FxHashMap;

use crate::index::trigram::record::UNIT_BYTES;
use crate::index::trigram::trigrams::{Trigram, TrigramSet};

/// What turns the stored text of a document into the text that is searched, where that is another one.
pub(crate) type SearchedText = fn(&str) -> String;

/// Units and their trigrams, of chunk rows in order.
///
/// Memory: 2 MiB, about 1.3 bytes for each trigram of each unit (15 MB for 100 MB of source code), and the text of
/// a unit.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    /// First row of each unit.
    first_rows: Vec<u32>,
    /// Whether the last unit takes further rows.
    is_open: bool,
    /// Bytes of the open unit.
    unit_bytes: usize,
    /// Rows so far.
    rows: u32,
    /// Bytes of all text so far.
    text_bytes: u64,
    /// The document of the last row; `None` where the next row begins a line in any case.
    document: Option<u32>,
    /// Text of that document in the open unit, which was not looked at yet.
    text: String,
    /// What is searched of it.
    searched: Option<SearchedText>,
    set: TrigramSet,
    lists: FxHashMap<Trigram, List>,
}

impl Builder {
    /// Adds the next row: some text of a document.
    pub(crate) fn push(&mut self, document: u32, text: &str, searched: Option<SearchedText>) {
        if self.document != Some(document) && self.unit_bytes >= UNIT_BYTES {
            self.close();
        }
        self.push_within(document, text, searched);
        if self.unit_bytes >= UNIT_BYTES && self.text.ends_with('\n') {
            self.close();
        }
    }

    /// Adds the next row to the open unit, however large it is.
    pub(crate) fn push_within(
        &mut self,
        document: u32,
        text: &str,
        searched: Option<SearchedText>,
    ) {
        if self.document != Some(document) {
            self.end_document();
            self.document = Some(document);
            self.searched = searched;
        }
        self.begin_rows(1, text.len());
        self.text.push_str(text);
    }

    /// Adds rows that are a whole unit of another index, whose lists have its trigrams; returns the unit that
    /// they are part of.
    pub(crate) fn push_unit(&mut self, rows: u32, bytes: usize) -> u32 {
        self.end_document();
        // Units of a merge cannot be cut, so they may exceed the usual size, but not by more than
        // half: a unit is what a possible match decodes.
        if self.unit_bytes + bytes > UNIT_BYTES * 3 / 2 {
            self.close();
        }
        self.begin_rows(rows, bytes);
        let unit = self.open_unit();
        if self.unit_bytes >= UNIT_BYTES {
            self.close();
        }
        unit
    }

    /// Ends the open unit: the next row begins another.
    pub(crate) fn close(&mut self) {
        self.end_document();
        let unit = self.open_unit();
        let lists = &mut self.lists;
        self.set
            .drain(|trigram| lists.entry(trigram).or_default().push(unit));
        self.is_open = false;
        self.unit_bytes = 0;
    }

    fn begin_rows(&mut self, rows: u32, bytes: usize) {
        if !self.is_open {
            self.first_rows.push(self.rows);
            self.is_open = true;
        }
        self.rows = self.rows.saturating_add(rows);
        self.unit_bytes += bytes;
        self.text_bytes += bytes as u64;
    }

    /// Number of the unit that was begun last.
    fn open_unit(&self) -> u32 {
        u32::try_from(self.first_rows.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Takes the trigrams of the text of a document.
    fn end_document(&mut self) {
        match self.searched {
            Some(searched) => self.set.add(searched(&self.text).as_bytes()),
            None => self.set.add(self.text.as_bytes()),
        }
        self.text.clear();
        self.document = None;
    }

    /// Bytes of text so far.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Ends the last unit: first rows of the units, and the trigrams with their lists, ascending.
    pub(crate) fn finish(mut self) -> (Vec<u32>, TrigramLists) {
        if self.is_open {
            self.close();
        }
        let mut lists: Vec<(Trigram, List)> = self.lists.into_iter().collect();
        // The map has no order, and the columns must be the same for the same text.
        lists.sort_unstable_by_key(|(trigram, _)| *trigram);
        (self.first_rows, TrigramLists { lists })
    }
}

/// The trigrams of a [`Builder`] with the units that have them, by ascending trigram.
#[derive(Debug)]
pub(crate) struct TrigramLists {
    lists: Vec<(Trigram, List)>,
}

impl TrigramLists {
    /// Each trigram with its units, ascending.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (Trigram, Vec<u32>)> {
        let lists = self.lists.into_iter();
        lists.map(|(trigram, list)| (trigram, list.units()))
    }
}

/// Units with a trigram: their gaps as varints.
#[derive(Debug, Default)]
struct List {
    bytes: Vec<u8>,
    /// One more than the last unit.
    next: u32,
}

impl List {
    fn push(&mut self, unit: u32) {
        let mut gap = unit.saturating_sub(self.next);
        while gap >= 0x80 {
            self.bytes.push(gap as u8 | 0x80);
            gap >>= 7;
        }
        self.bytes.push(gap as u8);
        self.next = unit.saturating_add(1);
    }

    fn units(&self) -> Vec<u32> {
        let mut units = Vec::with_capacity(self.bytes.len());
        let (mut next, mut gap, mut shift) = (0u32, 0u32, 0);
        for byte in &self.bytes {
            gap |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 {
                shift += 7;
                continue;
            }
            units.push(next + gap);
            next += gap + 1;
            (gap, shift) = (0, 0);
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::trigram::trigrams::trigram;

    fn units_with(lists: &[(Trigram, Vec<u32>)], bytes: &[u8; 3]) -> Vec<u32> {
        let wanted = trigram(*bytes).unwrap();
        let found = lists.iter().find(|(trigram, _)| *trigram == wanted);
        found.map_or(Vec::new(), |(_, units)| units.clone())
    }

    #[test]
    fn units_end_with_a_line_or_a_document() {
        let mut builder = Builder::default();
        let line = format!("{}\n", "a".repeat(UNIT_BYTES / 2));
        // Two rows fill the first unit; the third goes on within a line.
        for text in [&*line, &*line, "xyz", &"b".repeat(UNIT_BYTES), "c\nd", "e"] {
            builder.push(1, text, None);
        }
        builder.push(2, "fgh", None);
        builder.push(3, "ijk", None);
        let (first_rows, lists) = builder.finish();
        assert_eq!(first_rows, [0, 2, 6]);
        let lists: Vec<_> = lists.into_iter().collect();
        assert_eq!(units_with(&lists, b"zbb"), [1], "over the end of a row");
        assert_eq!(
            units_with(&lists, b"efg"),
            [0; 0],
            "not over that of a document"
        );
        assert_eq!(units_with(&lists, b"fgh"), [2]);
        assert_eq!(units_with(&lists, b"aaa"), [0]);
        assert!(lists.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn what_is_searched_of_a_document_counts() {
        let mut builder = Builder::default();
        builder.push(1, "abc\n", Some(|_| "xyz".to_owned()));
        builder.push(2, "abd", None);
        let (_, lists) = builder.finish();
        let lists: Vec<_> = lists.into_iter().collect();
        assert_eq!(units_with(&lists, b"abc"), [0; 0]);
        assert_eq!(units_with(&lists, b"xyz"), [0]);
    }

    #[test]
    fn gaps_of_every_length_come_back() {
        let units = [0, 1, 127, 128, 129, 300, 20_000, 3_000_000];
        let mut list = List::default();
        units.into_iter().for_each(|unit| list.push(unit));
        assert_eq!(list.units(), units);
    }
}
