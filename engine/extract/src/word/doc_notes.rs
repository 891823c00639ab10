//! Notes and comments of Word 97-2003: which place of the body refers to each.

use std::ops::Range;

use crate::package::little_endian::{place_at, stretch, u32_at};

/// Kinds of notes: where the header has the list of references, how many bytes that has for each beside its
/// place, where the header has the list of their texts.
// Offsets of `fcPlcf...` in FibRgFcLcb97 ([MS-DOC] 2.5.6): footnotes, comments, endnotes.
const KINDS: [(usize, usize, usize); 3] = [(0xAA, 2, 0xB2), (0xBA, 30, 0xC2), (0x20A, 2, 0x212)];

/// Characters of a file, which counts in units of UTF-16, in one stretch.
#[derive(Debug, Default)]
pub(super) struct Characters {
    pub(super) text: Vec<char>,
    /// Places of the file and where in the text they are, wherever counting on would not give that.
    anchors: Vec<(u32, usize)>,
}

impl Characters {
    /// Adds the character at a place of the file.
    pub(super) fn push(&mut self, place: u32, character: char) {
        let counted = self.anchors.last();
        let counted = counted.map(|anchor| counted_on(*anchor, place));
        if counted != Some(self.text.len()) {
            self.anchors.push((place, self.text.len()));
        }
        self.text.push(character);
    }

    /// Where the character at a place of the file is; the end for places behind the last.
    pub(super) fn index(&self, place: u32) -> usize {
        let after = self.anchors.partition_point(|(at, _)| *at <= place);
        let anchor = after.checked_sub(1).and_then(|at| self.anchors.get(at));
        let index = anchor.map_or(0, |anchor| counted_on(*anchor, place));
        let next = self.anchors.get(after).map(|(_, index)| *index);
        index.min(next.unwrap_or(self.text.len()))
    }
}

fn counted_on((at, index): (u32, usize), place: u32) -> usize {
    let units = usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX);
    index.saturating_add(units)
}

/// A note: where the body refers to it, and its characters in the text of all notes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) reference: usize,
    pub(super) text: Range<usize>,
}

/// The notes that the body refers to, by reference. No two have a character in common. `areas` are the places of the
/// file that footnotes, comments and endnotes have.
pub(super) fn read(
    stream: &[u8],
    table: &[u8],
    areas: &[Range<u32>; 3],
    body: &Characters,
    notes: &Characters,
) -> Vec<Note> {
    let mut found = Vec::new();
    let mut free = 0;
    for (area, (references_at, data_bytes, texts_at)) in areas.iter().zip(KINDS) {
        let list = |at: usize| {
            let (start, length) = (place_at(stream, at)?, place_at(stream, at + 4)?);
            Some(stretch(table, start, length))
        };
        let references = list(references_at).unwrap_or_default();
        let texts = list(texts_at).unwrap_or_default();
        let count = references.len().saturating_sub(4) / (4 + data_bytes);
        let in_file = |offset: u32| area.start.saturating_add(offset).min(area.end);
        for number in 0..count {
            let (Some(reference), Some(start), Some(end)) = (
                u32_at(references, 4 * number),
                u32_at(texts, 4 * number),
                u32_at(texts, 4 * number + 4),
            ) else {
                break;
            };
            let start = notes.index(in_file(start)).max(free);
            let end = notes.index(in_file(end));
            let reference = body.index(reference);
            // What nothing refers to stays behind the body.
            if start < end && reference < body.text.len() {
                free = end;
                let text = start..end;
                found.push(Note { reference, text });
            }
        }
    }
    found.sort_by_key(|note| note.reference);
    found
}

/// What none of the notes has of the text of all, in its order.
pub(super) fn rest(notes: &[Note], length: usize) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> = notes.iter().map(|note| note.text.clone()).collect();
    taken.sort_by_key(|range| range.start);
    let mut free = 0;
    let mut rest = Vec::new();
    for range in taken.into_iter().chain(std::iter::once(length..length)) {
        if free < range.start {
            rest.push(free..range.start);
        }
        free = range.end;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_of_two_units_and_gaps() {
        let mut characters = Characters::default();
        for (place, character) in [(5, 'a'), (6, '\u{1f600}'), (8, 'b'), (20, 'c')] {
            characters.push(place, character);
        }
        let found = [0, 5, 6, 7, 8, 9, 19, 20, 21, 99].map(|place| characters.index(place));
        assert_eq!(found, [0, 0, 1, 2, 2, 3, 3, 3, 4, 4]);
        assert_eq!(Characters::default().index(7), 0);
    }

    #[test]
    fn what_no_note_has_is_the_rest() {
        let note = |text: Range<usize>| Note { reference: 0, text };
        assert_eq!(rest(&[note(6..8), note(2..4)], 9), [0..2, 4..6, 8..9]);
        assert_eq!(rest(&[], 3).first(), Some(&(0..3)));
        assert!(rest(&[note(0..3)], 3).is_empty());
    }
}
