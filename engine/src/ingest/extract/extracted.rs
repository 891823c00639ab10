//! What an extractor takes from a decoded text, within the limits of one document.

use crate::types::{Heading, Part};

/// Headings of one document; further ones are left out of the outline, not out of the text.
pub(super) const MAX_HEADINGS: usize = 65_535;
/// Bytes of all headings of one document, `HEADING_BYTES` each beside their titles: a little less
/// than a row of the file can hold. Where there is more, all titles of the document are cut to the
/// length at which they fit, 192 bytes or more; every heading stays.
pub(super) const MAX_OUTLINE_BYTES: usize = 15 << 20;
/// What a heading counts beside its title.
const HEADING_BYTES: usize = 48;
/// Characters of a heading or title; longer ones are cut.
pub(super) const MAX_TITLE_CHARS: usize = 300;
/// Characters of a metadata value; longer ones are cut.
pub(super) const MAX_METADATA_CHARS: usize = 1000;
/// Metadata pairs of one document.
const MAX_METADATA: usize = 64;

/// What an extractor found in a decoded text.
#[derive(Debug, Default)]
pub(super) struct Extracted {
    /// Title that the document states.
    pub(super) title: Option<String>,
    /// Text to store, if it is not the source itself.
    pub(super) text: Option<String>,
    pub(super) outline: Vec<Heading>,
    /// See [`Document::line_numbers`].
    pub(super) line_numbers: Vec<u32>,
    pub(super) metadata: Vec<(String, String)>,
    /// See [`Document::parts`](crate::Document::parts).
    pub(super) parts: Vec<Part>,
}

impl Extracted {
    pub(super) fn add_heading(&mut self, level: usize, title: &str, start: usize, line: u32) {
        let title = tidy(title, MAX_TITLE_CHARS);
        if title.is_empty() || self.outline.len() >= MAX_HEADINGS {
            return;
        }
        let Ok(start) = u32::try_from(start) else {
            return;
        };
        self.outline.push(Heading {
            level: level.clamp(1, 6) as u8,
            title,
            start,
            line,
        });
    }

    /// Cuts titles so that the outline fits into its row.
    pub(super) fn fit_outline(&mut self) {
        let bytes = |heading: &Heading| heading.title.len() + HEADING_BYTES;
        if self.outline.iter().map(bytes).sum::<usize>() <= MAX_OUTLINE_BYTES {
            return;
        }
        let each = MAX_OUTLINE_BYTES / self.outline.len().max(1);
        for Heading { title, .. } in &mut self.outline {
            title.truncate(title.floor_char_boundary(each.saturating_sub(HEADING_BYTES)));
        }
    }

    /// Keeps the first value of each key.
    pub(super) fn add_metadata(&mut self, key: &str, value: &str) {
        let value = tidy(value, MAX_METADATA_CHARS);
        let known = self.metadata.iter().any(|(have, _)| have == key);
        if !value.is_empty() && !known && self.metadata.len() < MAX_METADATA {
            self.metadata.push((key.to_owned(), value));
        }
    }
}

/// One line of words, single spaces between them, at most `limit` characters.
pub(super) fn tidy(words: &str, limit: usize) -> String {
    let mut tidied = String::new();
    let mut left = limit;
    for word in words.split_whitespace() {
        let space = usize::from(!tidied.is_empty());
        if left <= space {
            break;
        }
        tidied.extend((space > 0).then_some(' '));
        left -= space;
        for character in word.chars().filter(|c| !c.is_control()).take(left) {
            tidied.push(character);
            left -= 1;
        }
    }
    tidied
}

/// Gives the line of byte offsets that never go down, in one pass over the text.
pub(super) struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub(super) fn new(text: &'a str) -> LineCounter<'a> {
        LineCounter {
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    /// Line of the byte at `offset`, from 1. An offset before an earlier one gives that one's line.
    pub(super) fn line_of(&mut self, offset: usize) -> u32 {
        if let Some(passed) = self.bytes.get(self.at..offset) {
            let ends = passed.iter().filter(|&&byte| byte == b'\n').count();
            self.line = self
                .line
                .saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
            self.at = offset;
        }
        self.line
    }
}
