//! Finds the matching lines of a text.

use std::ops::{ControlFlow, Range};

use kb_types::error::Result;
use memchr::{memchr, memchr_iter, memrchr};

use crate::search::regex::finder::{Finder, line_end};
use crate::search::regex::machine::Found;

/// Most matches of one line that are kept for highlighting.
// A line of data can match at every byte. The line is found in any case; only later marks are
// missing.
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

/// How far a text was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Searched {
    /// To its end, or as far as was wanted.
    AsWanted,
    /// The time was up.
    Until {
        /// The start of the first line that was not searched to its end. A search that begins there continues this one.
        line: usize,
        /// What was found of that line.
        partial: Option<FoundLine>,
    },
}

/// Counts the matching lines of a text, up to `limit`, as [`each_line`] finds them.
///
/// # Errors
/// As [`Finder::find`].
pub(super) fn count_lines(
    finder: &mut Finder<'_>,
    text: &str,
    limit: u64,
) -> Result<(u64, Searched)> {
    let pattern = finder.pattern();
    let mut count = 0;
    if pattern.is_multi_line() {
        let searched = each_line(finder, text, 0, |_| {
            count += 1;
            Ok(if count < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        return Ok((count, searched));
    }
    let bytes = text.as_bytes();
    // Every line matches, so counting line ends is enough.
    if pattern.matches_anywhere() {
        let rest = u64::from(bytes.last().is_some_and(|last| *last != b'\n'));
        let lines = memchr_iter(b'\n', bytes).count() as u64 + rest;
        return Ok((lines.min(limit), Searched::AsWanted));
    }
    finder.begin_text();
    let mut lines = Lines::new(0);
    while count < limit {
        match lines.next_match(finder, text)? {
            Next::Match(found) => {
                count += 1;
                // What follows in the line is not looked at.
                lines.from = line_end(bytes, found) + 1;
            }
            Next::End => break,
            Next::OutOfTime(line) => {
                let partial = None;
                return Ok((count, Searched::Until { line, partial }));
            }
        }
    }
    Ok((count, Searched::AsWanted))
}

/// Calls `visit` with every matching line from the one that begins at `from` on, in a text that begins with a line.
/// Matches are leftmost-first, each begins where the one before ended or later. Time is linear in the text.
///
/// # Errors
/// What `visit` says, and as [`Finder::find`].
pub(super) fn each_line(
    finder: &mut Finder<'_>,
    text: &str,
    from: usize,
    mut visit: impl FnMut(FoundLine) -> Result<ControlFlow<()>>,
) -> Result<Searched> {
    let bytes = text.as_bytes();
    let is_multi_line = finder.pattern().is_multi_line();
    let mut counter = LineCounter::default();
    finder.begin_text();
    let mut lines = Lines::new(from);
    let mut next = None;
    loop {
        let found = match next.take() {
            Some(found) => found,
            None => match lines.next_match(finder, text)? {
                Next::Match(found) => found,
                Next::End => break,
                Next::OutOfTime(line) => {
                    let partial = None;
                    return Ok(Searched::Until { line, partial });
                }
            },
        };
        // A text that ends with a line end has no empty line behind it, as in grep.
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
        let added = add_matches(finder, text, found, &mut line)?;
        line.line_ends_within = counter.up_to(bytes, line.bytes.end) - line.line_ends_before;
        lines.from = line.bytes.end + 1;
        match added {
            // The match was found while this line was finished; searching for it again would make
            // the time quadratic.
            Added::UpTo(found) => next = Some(found),
            Added::All if is_multi_line => lines.from = text.len() + 1,
            Added::All => {}
            // Of a line it was known that it matches, and where it ends.
            Added::Some if !is_multi_line => {}
            Added::Some => {
                return Ok(Searched::Until {
                    line: start,
                    partial: Some(line),
                });
            }
        }
        if visit(line)?.is_break() {
            break;
        }
    }
    Ok(Searched::AsWanted)
}

/// Walks the lines of a text from match to match.
struct Lines {
    /// Where the search continues: at the start of a line, or behind the text.
    from: usize,
    /// Whether a line was searched.
    has_begun: bool,
}

enum Next {
    Match((usize, usize)),
    End,
    /// The start of the line that was to be searched.
    OutOfTime(usize),
}

impl Lines {
    fn new(from: usize) -> Lines {
        Lines {
            from,
            has_begun: false,
        }
    }

    /// The next match, the first of its line.
    fn next_match(&mut self, finder: &mut Finder<'_>, text: &str) -> Result<Next> {
        let bytes = text.as_bytes();
        while self.from < text.len() {
            let from = self.from;
            if std::mem::replace(&mut self.has_begun, true) && finder.is_over()? {
                return Ok(Next::OutOfTime(from));
            }
            let to = if finder.pattern().is_multi_line() {
                text.len()
            } else {
                finder.begin_line();
                piece_end(bytes, from, finder.piece_bytes())
            };
            match finder.find(text, from, to)? {
                Found::Match(start, end) => return Ok(Next::Match((start, end))),
                Found::OutOfTime => return Ok(Next::OutOfTime(from)),
                Found::Nothing => self.from = to + 1,
            }
        }
        Ok(Next::End)
    }
}

/// The end of the last line, of those that begin at `from`, that together have `limit` bytes at most; of the first
/// in any case.
fn piece_end(bytes: &[u8], from: usize, limit: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let within = rest.get(..limit).unwrap_or(rest);
    if within.len() == rest.len() && !rest.ends_with(b"\n") {
        return bytes.len();
    }
    match memrchr(b'\n', within) {
        Some(end) => from + end,
        // A line longer than a piece is searched whole: cutting it could split a match.
        None => memchr(b'\n', rest).map_or(bytes.len(), |end| from + end),
    }
}

/// What came of looking for further matches.
enum Added {
    /// There are no more, or none that are wanted.
    All,
    /// All of the line; this is the next match.
    UpTo((usize, usize)),
    /// Some; the time was up.
    Some,
}

/// Adds a match and those that begin in the same line, and returns the first that does not, where it is known.
fn add_matches(
    finder: &mut Finder<'_>,
    text: &str,
    first: (usize, usize),
    line: &mut FoundLine,
) -> Result<Added> {
    let bytes = text.as_bytes();
    let is_multi_line = finder.pattern().is_multi_line();
    let behind = |from: usize| {
        let character = text.get(from..).and_then(|rest| rest.chars().next());
        from + character.map_or(1, char::len_utf8)
    };
    let mut found = first;
    loop {
        if found.0 < found.1 && line.matches.len() < RANGES_LIMIT {
            line.matches.push(found.0..found.1);
        }
        line.bytes.end = line.bytes.end.max(line_end(bytes, found));
        // A match of one line is looked for in that line alone.
        let limit = if is_multi_line {
            text.len()
        } else {
            line.bytes.end
        };
        // An empty match would be found again at the same place, so the search goes on behind the
        // next character.
        let mut from = found.1;
        if found.0 == found.1 {
            from = behind(from);
        }
        if from > limit || line.matches.len() >= RANGES_LIMIT && !is_multi_line {
            return Ok(Added::All);
        }
        let next = loop {
            match finder.find(text, from, limit)? {
                // An empty match right behind another is none.
                Found::Match(start, end) if start == end && start == found.1 && from == start => {
                    from = behind(from);
                    if from > limit {
                        return Ok(Added::All);
                    }
                }
                Found::Match(start, end) => break (start, end),
                Found::Nothing => return Ok(Added::All),
                Found::OutOfTime => return Ok(Added::Some),
            }
        };
        if next.0 > line.bytes.end {
            return Ok(Added::UpTo(next));
        }
        found = next;
    }
}

/// Whether a match begins behind the last line end, where no line is, or in no text.
fn is_behind_last_line(bytes: &[u8], start: usize) -> bool {
    start >= bytes.len() && bytes.last().is_none_or(|last| *last == b'\n')
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
    use crate::search::regex::machine::Watch;
    use crate::search::regex::pattern::Pattern;
    use crate::search::regex::request::RegexRequest;

    fn lines(request: &RegexRequest, text: &str) -> Vec<(u32, String, Vec<String>)> {
        let pattern = Pattern::compile(request).unwrap();
        let mut all = Vec::new();
        let mut finder = Finder::new(&pattern, Watch::new(&|| Ok(()), None));
        let searched = each_line(&mut finder, text, 0, |line| {
            let matches = line
                .matches
                .iter()
                .map(|range| text[range.clone()].to_owned());
            let shown = text[line.bytes.clone()].to_owned();
            assert_eq!(shown.matches('\n').count() as u32, line.line_ends_within);
            all.push((line.line_ends_before + 1, shown, matches.collect()));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(searched.unwrap(), Searched::AsWanted);
        let mut count = |limit| count_lines(&mut finder, text, limit).unwrap().0;
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
