//! What an extractor takes from a decoded text, within the limits of one document.

use kb_types::{Heading, Part};

/// Headings of one document; further ones are left out of the outline, not out of the text.
// As many as a u16 counts. Documents with more are generated.
pub(super) const MAX_HEADINGS: usize = 65_535;
/// Bytes of all headings of one document, `HEADING_BYTES` each beside their titles: a little less
/// than a row of the file can hold. Where there is more, all titles of the document are cut to the
/// length at which they fit, 192 bytes or more; every heading stays.
pub(super) const MAX_OUTLINE_BYTES: usize = 15 << 20;
/// What a heading counts beside its title.
// The engine asserts that no heading takes more in a row or in memory (`MAX_HEADING_OVERHEAD_BYTES`
// of its outline).
const HEADING_BYTES: usize = 48;
/// Characters of a heading or title; longer ones are cut.
// Titles are searched with every chunk below them and shown with every hit; longer "headings" are
// paragraphs in a heading style.
pub(super) const MAX_TITLE_CHARS: usize = 500;
/// Characters of a metadata value; longer ones are cut.
// Keywords and descriptions of web pages can be kilobytes of search terms.
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
    /// See [`Document::parts`](kb_types::Document::parts).
    pub(super) parts: Vec<Part>,
    /// The language of the programs in it, where its type does not say.
    pub(super) language: Option<&'static str>,
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
            symbol: None,
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

    /// Keeps what a document says of itself: the title apart from the others; `created` and `modified` as times, or
    /// not at all. The keys of all formats are `author`, `created`, `modified`, `subject`, `keywords`, `description`,
    /// `category` and `language`.
    #[cfg(any(feature = "office", feature = "sheets"))]
    pub(super) fn add_property(&mut self, key: &str, value: &str) {
        match key {
            "title" if self.title.is_none() && !value.trim().is_empty() => {
                self.title = Some(value.to_owned());
            }
            "title" => {}
            "created" | "modified" => {
                self.add_metadata(key, &timestamp(value).unwrap_or_default());
            }
            _ => self.add_metadata(key, value),
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

/// A time as in ISO 8601 without parts of a second, from any of its longer forms: `2024-05-06T10:20:30Z`. A zone stays
/// as it is stated; none where none is. `None` for what is no such time.
fn timestamp(stated: &str) -> Option<String> {
    let stated = stated.trim();
    let (date, rest) = stated.split_at_checked(10)?;
    let number = |text: &str, from: usize, digits: usize| {
        let text = text.get(from..from.checked_add(digits)?)?;
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u32>().ok())?
    };
    let separators = [date.get(4..5), date.get(7..8)];
    let is_date = number(date, 0, 4)? > 0
        && separators == [Some("-"); 2]
        && (1..=12).contains(&number(date, 5, 2)?)
        && (1..=31).contains(&number(date, 8, 2)?);
    if !is_date {
        return None;
    }
    if rest.is_empty() {
        return Some(date.to_owned());
    }
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (hour, minute) = (number(time, 0, 2)?, number(time, 3, 2)?);
    let seconds = time.get(5..6) == Some(":");
    let second = if seconds { number(time, 6, 2)? } else { 0 };
    if time.get(2..3) != Some(":") || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let zone = time.get(if seconds { 8.. } else { 5.. })?;
    let zone = zone.trim_start_matches(|c: char| matches!(c, '.' | ',') || c.is_ascii_digit());
    let zone = match zone {
        "" => String::new(),
        "Z" | "z" => "Z".to_owned(),
        _ => {
            let digits = zone.strip_prefix(['+', '-'])?.replace(':', "");
            let (sign, hours, minutes) = (zone.get(..1)?, number(&digits, 0, 2)?, digits.get(2..)?);
            let minutes = if minutes.is_empty() {
                0
            } else {
                number(minutes, 0, 2)?
            };
            format!("{sign}{hours:02}:{minutes:02}")
        }
    };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{zone}"))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_written_in_one_form() {
        for (stated, time) in [
            ("2024-05-06T10:20:30Z", "2024-05-06T10:20:30Z"),
            (" 2024-05-06 10:20 ", "2024-05-06T10:20:00"),
            ("2009-04-16T11:32:02.640000000", "2009-04-16T11:32:02"),
            ("2024-05-06T10:20:30.5+0200", "2024-05-06T10:20:30+02:00"),
            ("2024-05-06T10:20:30-03", "2024-05-06T10:20:30-03:00"),
            ("2024-05-06", "2024-05-06"),
        ] {
            assert_eq!(timestamp(stated).as_deref(), Some(time));
        }
        for other in [
            "",
            "today",
            "2024",
            "2024-13-06",
            "2024-05-06X",
            "0000-01-01",
            "2024-05-06T25:00:00Z",
            "2024-05-06T10:20:30 CET",
        ] {
            assert_eq!(timestamp(other), None, "{other}");
        }
        let mut found = Extracted::default();
        for (key, value) in [
            ("title", " "),
            ("title", "A"),
            ("title", "B"),
            ("created", "then"),
            ("created", "2024-05-06"),
            ("author", "C"),
            ("author", "D"),
        ] {
            found.add_property(key, value);
        }
        assert_eq!(found.title.as_deref(), Some("A"));
        let pairs = [("created", "2024-05-06"), ("author", "C")];
        assert_eq!(
            found.metadata,
            pairs.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_none(stated in "[0-9T:Z+. -]{0,30}|\\PC{0,20}") {
            if let Some(time) = timestamp(&stated) {
                prop_assert_eq!(timestamp(&time), Some(time));
            }
        }
    }
}
