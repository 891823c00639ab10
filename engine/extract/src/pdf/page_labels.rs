//! The numbers that are printed on pages: roman ones before the text, others in it.

use hayro_syntax::object::{Array, Dict, Name, Object};
use rustc_hash::FxHashSet;

use crate::extracted::tidy;
use crate::pdf::destinations::string_of;

/// Ranges of pages that are numbered apart.
// Far more than a book numbers apart. A number tree may be forged to be wide, deep, or to lead back
// to itself.
const MAX_RANGES: usize = 65_535;
/// Characters of a label.
// A label is shown beside the page number of a hit; a prefix may be of any length.
const MAX_LABEL_CHARS: usize = 40;
/// The largest number in roman numerals or letters; beyond it they say nothing to a reader.
// Viewers write 4,000 as MMMM.
const MAX_ROMAN: usize = 4999;
// A letter is repeated once for each round of the alphabet, so that this one has twenty of the
// same.
const MAX_LETTERS: usize = 26 * 20;

/// Pages that are numbered in one way, from one on.
#[derive(Debug, Clone)]
struct Range {
    /// Position of its first page, from 0.
    start: usize,
    prefix: String,
    style: Option<u8>,
    /// Number of its first page.
    first: usize,
}

/// The labels of so many pages; empty for those that are labelled by their position, and for all where the document
/// says nothing.
pub(super) fn read(catalog: &Dict<'_>, count: usize) -> Vec<String> {
    let mut ranges = catalog
        .get::<Dict<'_>>("PageLabels")
        .map_or_else(Vec::new, ranges_of);
    ranges.sort_by_key(|range| range.start);
    let mut following = ranges.iter().peekable();
    let mut current = None;
    let labels = (0..count).map(|page| {
        while let Some(range) = following.next_if(|range| range.start <= page) {
            current = Some(range);
        }
        let label = current.map_or_else(String::new, |range| range.label(page));
        let label = tidy(&label, MAX_LABEL_CHARS);
        // Not stored where it says what the position says: that saves a string a page of most
        // documents.
        if label == page.saturating_add(1).to_string() {
            String::new()
        } else {
            label
        }
    });
    labels.collect()
}

fn ranges_of(root: Dict<'_>) -> Vec<Range> {
    let mut ranges = Vec::new();
    let mut seen = FxHashSet::default();
    let mut nodes = vec![root];
    let mut looked_at = 0;
    while let Some(node) = nodes.pop() {
        looked_at += 1;
        let is_known = node.obj_id().is_some_and(|id| !seen.insert(id));
        if is_known || looked_at > MAX_RANGES || nodes.len() > MAX_RANGES {
            continue;
        }
        if let Some(pairs) = node.get::<Array<'_>>("Nums") {
            let mut pairs = pairs.iter::<Object<'_>>();
            while let (Some(start), Some(label)) = (pairs.next(), pairs.next()) {
                if ranges.len() >= MAX_RANGES {
                    break;
                }
                ranges.extend(range_of(start, label));
            }
        }
        if let Some(kids) = node.get::<Array<'_>>("Kids") {
            nodes.extend(kids.iter::<Dict<'_>>().take(MAX_RANGES));
        }
    }
    ranges
}

fn range_of(start: Object<'_>, label: Object<'_>) -> Option<Range> {
    let start = usize::try_from(start.into_i32()?).ok()?;
    let Object::Dict(label) = label else {
        return None;
    };
    let style = label.get::<Name<'_>>("S");
    let first = label.get::<i32>("St").unwrap_or(1);
    Some(Range {
        start,
        prefix: string_of(&label, "P"),
        style: style.and_then(|style| style.first().copied()),
        first: usize::try_from(first).unwrap_or(1),
    })
}

impl Range {
    fn label(&self, page: usize) -> String {
        let number = self.first.saturating_add(page.saturating_sub(self.start));
        let number = match self.style {
            Some(b'D') => number.to_string(),
            Some(b'r') => roman(number),
            Some(b'R') => roman(number).to_uppercase(),
            Some(b'a') => letters(number),
            Some(b'A') => letters(number).to_uppercase(),
            _ => String::new(),
        };
        format!("{}{number}", self.prefix)
    }
}

fn roman(number: usize) -> String {
    if number == 0 || number > MAX_ROMAN {
        return number.to_string();
    }
    let mut left = number;
    let mut numeral = String::new();
    for (value, digits) in [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ] {
        while left >= value {
            numeral.push_str(digits);
            left -= value;
        }
    }
    numeral
}

/// a to z, then aa to zz, then aaa.
fn letters(number: usize) -> String {
    if number == 0 || number > MAX_LETTERS {
        return number.to_string();
    }
    let letter = ('a'..='z').nth((number - 1) % 26).unwrap_or('a');
    String::from(letter).repeat((number - 1) / 26 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_readers_write_them() {
        for (number, numeral, letter) in [
            (1, "i", "a"),
            (4, "iv", "d"),
            (26, "xxvi", "z"),
            (27, "xxvii", "aa"),
            (53, "liii", "aaa"),
            (1994, "mcmxciv", "1994"),
            (5000, "5000", "5000"),
            (0, "0", "0"),
        ] {
            assert_eq!(
                (roman(number), letters(number)),
                (numeral.to_owned(), letter.to_owned())
            );
        }
    }
}
