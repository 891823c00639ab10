//! Finds the matching lines of a text.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memrchr};

use crate::error::Result;
use crate::search::regex::pattern::Pattern;

/// Most matches of a line that are kept.
pub(super) const RANGES_LIMIT: usize = 256;

/// A line that matches, or with a pattern for several lines those that matches reach over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundLine {
    /// Its bytes in the text, without the line end.
    pub(super) bytes: Range<usize>,
    /// Line ends before it in the text.
    pub(super) line_ends_before: u32,
    /// Line ends within it.
    pub(super) line_ends_within: u32,
    /// The matches, ascending, without overlaps; empty ones are left out, and all after [`RANGES_LIMIT`].
    pub(super) matches: Vec<Range<usize>>,
}

/// Counts the matching lines of a text, up to `limit`, as [`each_line`] finds them.
pub(super) fn count_lines(pattern: &Pattern, text: &str, limit: u64) -> Result<u64> {
    let mut count = 0;
    if pattern.is_multi_line() {
        each_line(pattern, text, |_| {
            count += 1;
            Ok(if count < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        return Ok(count);
    }
    let bytes = text.as_bytes();
    if pattern.matches_anywhere() {
        let rest = u64::from(bytes.last().is_some_and(|last| *last != b'\n'));
        let lines = memchr_iter(b'\n', bytes).count() as u64 + rest;
        return Ok(lines.min(limit));
    }
    let mut from = 0;
    while count < limit
        && from < text.len()
        && let Some(found) = pattern.find(text, from, text.len())
        && !is_behind_last_line(bytes, found.0)
    {
        count += 1;
        // What follows in the line is not looked at.
        from = line_end(bytes, found) + 1;
    }
    Ok(count)
}

/// Calls `visit` with every matching line of a text, which begins with a line. Matches are leftmost-first, each
/// begins where the one before ended or later. Time is linear in the text.
///
/// # Errors
/// What `visit` says.
pub(super) fn each_line(
    pattern: &Pattern,
    text: &str,
    mut visit: impl FnMut(FoundLine) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let bytes = text.as_bytes();
    let mut counter = LineCounter::default();
    let mut next = pattern.find(text, 0, text.len());
    while let Some(found) = next {
        if is_behind_last_line(bytes, found.0) {
            break;
        }
        let start = memrchr(b'\n', bytes.get(..found.0).unwrap_or_default());
        let start = start.map_or(0, |end| end + 1);
        let mut line = FoundLine {
            bytes: start..line_end(bytes, found),
            line_ends_before: counter.up_to(bytes, start),
            line_ends_within: 0,
            matches: Vec::new(),
        };
        next = add_matches(pattern, text, found, &mut line);
        line.line_ends_within = counter.up_to(bytes, line.bytes.end) - line.line_ends_before;
        let end = line.bytes.end;
        if visit(line)?.is_break() || end >= text.len() {
            break;
        }
        if next.is_none() && !pattern.is_multi_line() {
            next = pattern.find(text, end + 1, text.len());
        }
    }
    Ok(())
}

/// Adds a match and those that begin in the same line, and returns the first that does not, where it is known.
fn add_matches(
    pattern: &Pattern,
    text: &str,
    first: (usize, usize),
    line: &mut FoundLine,
) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = first;
    loop {
        if found.0 < found.1 && line.matches.len() < RANGES_LIMIT {
            line.matches.push(found.0..found.1);
        }
        line.bytes.end = line.bytes.end.max(line_end(bytes, found));
        // A match of one line is looked for in that line alone.
        let limit = if pattern.is_multi_line() {
            text.len()
        } else {
            line.bytes.end
        };
        let mut from = found.1;
        if found.0 == found.1 {
            let character = text.get(from..).and_then(|rest| rest.chars().next());
            from += character.map_or(1, char::len_utf8);
        }
        if from > limit || line.matches.len() >= RANGES_LIMIT && !pattern.is_multi_line() {
            return None;
        }
        let mut next = pattern.find(text, from, limit)?;
        if next.0 == next.1 && next.0 == found.1 {
            // An empty match right behind another is none.
            let character = text.get(from..).and_then(|rest| rest.chars().next());
            from += character.map_or(1, char::len_utf8);
            if from > limit {
                return None;
            }
            next = pattern.find(text, from, limit)?;
        }
        if next.0 > line.bytes.end {
            return Some(next);
        }
        found = next;
    }
}

/// Whether a match begins behind the last line end, where no line is, or in no text.
fn is_behind_last_line(bytes: &[u8], start: usize) -> bool {
    start >= bytes.len() && bytes.last().is_none_or(|last| *last == b'\n')
}

/// End of the line in which a match ends; a line end that the match ends with is that of its last line.
fn line_end(bytes: &[u8], (start, end): (usize, usize)) -> usize {
    let from = if end > start && bytes.get(end - 1) == Some(&b'\n') {
        end - 1
    } else {
        end
    };
    let rest = bytes.get(from..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |at| from + at)
}

/// Counts line ends from the start of a text on.
#[derive(Debug, Default)]
struct LineCounter {
    counted: usize,
    line_ends: u32,
}

impl LineCounter {
    /// Line ends before `end`, which is not less than the last time.
    fn up_to(&mut self, bytes: &[u8], end: usize) -> u32 {
        let more = bytes.get(self.counted..end).unwrap_or_default();
        let count = memchr_iter(b'\n', more).count();
        self.line_ends = self
            .line_ends
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.counted = self.counted.max(end);
        self.line_ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::regex::request::RegexRequest;

    fn lines(request: &RegexRequest, text: &str) -> Vec<(u32, String, Vec<String>)> {
        let pattern = Pattern::compile(request).unwrap();
        let mut all = Vec::new();
        each_line(&pattern, text, |line| {
            let matches = line
                .matches
                .iter()
                .map(|range| text[range.clone()].to_owned());
            let shown = text[line.bytes.clone()].to_owned();
            assert_eq!(shown.matches('\n').count() as u32, line.line_ends_within);
            all.push((line.line_ends_before + 1, shown, matches.collect()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        let count = |limit| count_lines(&pattern, text, limit).unwrap();
        assert_eq!(count(u64::MAX), all.len() as u64, "{request:?} {text:?}");
        assert_eq!(count(1), all.len().min(1) as u64);
        all
    }

    fn numbers(pattern: &str, text: &str) -> Vec<u32> {
        let found = lines(&RegexRequest::new(pattern), text);
        found.into_iter().map(|(number, ..)| number).collect()
    }

    #[test]
    fn lines_are_found_with_their_numbers_and_matches() {
        let text = "one two\nthree\n\ntwo two";
        let found = lines(&RegexRequest::new("two|th"), text);
        let two = || "two".to_owned();
        assert_eq!(
            found,
            [
                (1, "one two".to_owned(), vec![two()]),
                (2, "three".to_owned(), vec!["th".to_owned()]),
                (4, "two two".to_owned(), vec![two(), two()]),
            ]
        );
    }

    #[test]
    fn anchors_are_those_of_lines() {
        for text in ["ab\nb\nba\n\nb", "ab\r\nb\r\nba\r\n\r\nb"] {
            assert_eq!(numbers("b$", text), [1, 2, 5], "{text:?}");
            assert_eq!(numbers("^b", text), [2, 3, 5]);
            assert_eq!(numbers("^$", text), [4]);
            assert_eq!(numbers("^.?$", text), [2, 4, 5]);
            assert_eq!(numbers(r"\Aa", text), [1]);
            assert_eq!(numbers(r"\Ab", text), [0; 0]);
            assert_eq!(numbers(r"b\z", text), [5]);
            assert_eq!(numbers("", text), [1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn no_line_is_found_behind_the_last_line_end() {
        for pattern in ["", "$", "^", "x*", r"\b|^"] {
            assert_eq!(numbers(pattern, ""), [0; 0], "{pattern}");
            assert_eq!(numbers(pattern, "a\n"), [1], "{pattern}");
            assert_eq!(numbers(pattern, "\n\n").len(), 2, "{pattern}");
            assert_eq!(numbers(pattern, "a"), [1], "{pattern}");
        }
    }

    #[test]
    fn classes_do_not_reach_over_lines() {
        let text = "a\nb c\n";
        assert_eq!(numbers(r"a\s+b", text), [0; 0]);
        assert_eq!(numbers(r"[^x]+", text), [1, 2]);
        assert_eq!(numbers(r"(?s)a.b", text), [0; 0]);
        assert_eq!(numbers(r"b\sc", text), [2]);
    }

    #[test]
    fn several_lines_of_a_match_are_one_item() {
        let multi = |pattern: &str| RegexRequest::new(pattern).multi_line(true);
        let text = "a\nb\nc\na b\nx\n";
        let found = lines(&multi(r"a\s+b"), text);
        assert_eq!(found[0], (1, "a\nb".to_owned(), vec!["a\nb".to_owned()]));
        assert_eq!(found[1], (4, "a b".to_owned(), vec!["a b".to_owned()]));
        assert_eq!(found.len(), 2);
        let all = lines(&multi("(?s).*"), text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1, text.trim_end());
        // A line end at the end of a match begins no further line, and matches of one line are one item.
        let found = lines(&multi(r"[ab]\n|b"), text);
        let numbers: Vec<u32> = found.iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, [1, 2, 4]);
    }

    #[test]
    fn words_and_literals_are_looked_for_as_asked() {
        let text = "cat concat\nCat's\nc.t\n";
        let base = |pattern: &str| RegexRequest::new(pattern);
        let count = |request: RegexRequest| {
            let found = lines(&request, text);
            found
                .iter()
                .map(|(.., matches)| matches.len())
                .sum::<usize>()
        };
        assert_eq!(count(base("cat")), 2);
        assert_eq!(count(base("cat").whole_words(true)), 1);
        assert_eq!(count(base("cat").ignore_case(true)), 3);
        assert_eq!(count(base("c.t").literal(true)), 1);
        assert_eq!(count(base("C.T").literal(true).ignore_case(true)), 1);
        assert_eq!(count(base("'s").whole_words(true)), 0);
        assert_eq!(count(base("cat|con").whole_words(true)), 1);
    }

    #[test]
    fn a_line_keeps_a_bounded_number_of_matches() {
        let text = format!("{}\nab\n", "ab".repeat(10_000));
        let found = lines(&RegexRequest::new("a"), &text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].2.len(), RANGES_LIMIT);
    }
}
