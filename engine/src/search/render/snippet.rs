//! Picks the snippet of a text: the few lines with the most weight of query terms.

use std::collections::VecDeque;
use std::ops::Range;

/// Lines of a snippet.
const SNIPPET_LINES: usize = 4;

/// A match of a query term in the text of a hit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Highlight {
    /// Bytes of the text, within one line.
    pub(crate) range: Range<usize>,
    /// What it adds to the weight of a snippet; each term counts once.
    pub(crate) weight: f32,
    /// Number of the term in the query.
    pub(crate) term: usize,
}

/// The run of [`SNIPPET_LINES`] whole lines with the largest weight of distinct terms, the first of equal
/// ones; without highlights the first lines with text. Skips lines without a highlight near, so the cost
/// grows with the number of highlights.
pub(crate) fn snippet(text: &str, highlights: &[Highlight]) -> Range<usize> {
    let mut lines = LineRanges { text, at: 0 };
    let mut window: VecDeque<Range<usize>> = lines.by_ref().take(SNIPPET_LINES).collect();
    let blank = |line: &Range<usize>| text.get(line.clone()).is_none_or(|l| l.trim().is_empty());
    // The bytes of a window up to its last line that is not blank.
    let shown = |window: &VecDeque<Range<usize>>| {
        let last = window.iter().rev().find(|line| !blank(line));
        match (window.front(), last.or(window.front())) {
            (Some(from), Some(to)) => from.start..to.end,
            _ => 0..0,
        }
    };
    let mut best_weight = 0.0f32;
    // Without any text the first lines.
    let (mut best, mut has_text) = (shown(&window), false);
    let mut seen: Vec<usize> = Vec::new();
    // Highlights are in order and lie within lines, so those of a window are neighbours.
    let (mut first_highlight, mut end_highlight) = (0, 0);
    // Whether the last window began with a blank line and had more weight than the best.
    let mut missed = false;
    while let (Some(from), Some(to)) = (window.front().cloned(), window.back().cloned()) {
        if !has_text && !blank(&from) {
            has_text = true;
            if best_weight == 0.0 {
                best = shown(&window);
            }
        }
        let pass = |highlight: &mut usize, until: usize| {
            let rest = highlights.get(*highlight..).unwrap_or_default().iter();
            let passed = rest
                .take_while(|highlight| highlight.range.start < until)
                .count();
            *highlight += passed;
            passed
        };
        pass(&mut first_highlight, from.start);
        // Without a new highlight it is no better than the window before.
        if pass(&mut end_highlight, to.end) > 0 || missed {
            seen.clear();
            let mut weight = 0.0;
            for highlight in highlights
                .get(first_highlight..end_highlight)
                .unwrap_or_default()
            {
                if !seen.contains(&highlight.term) {
                    seen.push(highlight.term);
                    weight += highlight.weight;
                }
            }
            missed = weight > best_weight && blank(&from);
            if weight > best_weight && !missed {
                (best_weight, best) = (weight, shown(&window));
            }
        }
        if has_text && !missed {
            // The next better window ends with the line of the next highlight.
            let Some(next) = highlights.get(end_highlight) else {
                break;
            };
            let second = window.get(1).map_or(lines.at, |line| line.start);
            lines.at = lines.before(next.range.start, SNIPPET_LINES).max(second);
            window.clear();
            window.extend(lines.by_ref().take(SNIPPET_LINES));
        } else {
            window.pop_front();
            window.extend(lines.next());
        }
    }
    best
}

/// Byte ranges of the lines of a text, line ends included.
struct LineRanges<'t> {
    text: &'t str,
    /// Where the next line starts.
    at: usize,
}

impl LineRanges<'_> {
    /// The start of the first of `count` lines of which the last holds byte `at`.
    fn before(&self, at: usize, count: usize) -> usize {
        let bytes = self.text.as_bytes().get(..at).unwrap_or_default();
        let mut ends = memchr::memrchr_iter(b'\n', bytes);
        ends.nth(count.saturating_sub(1)).map_or(0, |end| end + 1)
    }
}

impl Iterator for LineRanges<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = self.at..self.at + len;
        self.at = line.end;
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn highlight(text: &str, word: &str, weight: f32) -> Highlight {
        let start = text.find(word).unwrap();
        Highlight {
            range: start..start + word.len(),
            weight,
            term: start,
        }
    }

    #[test]
    fn a_snippet_has_the_heaviest_distinct_terms() {
        let text = "one\ntwo\nthree\nfour\nfive six\nseven\neight\nnine\n";
        let highlights = [
            highlight(text, "one", 1.0),
            highlight(text, "six", 1.5),
            highlight(text, "seven", 1.0),
        ];
        let range = snippet(text, &highlights);
        assert!(text[range.clone()].contains("six") && text[range].contains("seven"));
    }

    /// The rule as it is written, window by window.
    fn expected_best(text: &str, highlights: &[Highlight]) -> Range<usize> {
        let mut start = 0;
        let split = text.split_inclusive('\n').map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        });
        let lines: Vec<Range<usize>> = split.collect();
        let is_blank = |line: &Range<usize>| text[line.clone()].trim().is_empty();
        let mut best = (
            0.0,
            lines.iter().position(|line| !is_blank(line)).unwrap_or(0),
        );
        for first in 0..lines.len() {
            let window = &lines[first..lines.len().min(first + SNIPPET_LINES)];
            let (from, to) = (window[0].start, window[window.len() - 1].end);
            let mut seen = Vec::new();
            let mut weight = 0.0;
            for highlight in highlights {
                if highlight.range.start >= from
                    && highlight.range.start < to
                    && !seen.contains(&highlight.term)
                {
                    seen.push(highlight.term);
                    weight += highlight.weight;
                }
            }
            if weight > best.0 && !is_blank(&window[0]) {
                best = (weight, first);
            }
        }
        let window = &lines[best.1..lines.len().min(best.1 + SNIPPET_LINES)];
        let last = window.iter().rev().find(|line| !is_blank(line));
        let last = last.or(window.first()).map_or(0, |line| line.end);
        window.first().map_or(0, |line| line.start)..last
    }

    proptest! {
        #[test]
        fn a_snippet_is_the_one_of_the_rule(
            lines in prop::collection::vec("( |[a-e]|  [a-e] [a-e]x?|xx?)?", 0..24),
            // Sums of eighths are exact: no order of adding makes one of two equal windows better.
            weights in prop::array::uniform5((0u8..24).prop_map(|eighths| f32::from(eighths) / 8.0)),
        ) {
            let text = lines.join("\n");
            let highlights: Vec<Highlight> = text
                .char_indices()
                .filter(|(_, c)| ('a'..='e').contains(c))
                .map(|(at, c)| {
                    let term = (c as u8 - b'a') as usize;
                    Highlight { range: at..at + 1, weight: weights[term], term }
                })
                .collect();
            prop_assert_eq!(snippet(&text, &highlights), expected_best(&text, &highlights));
        }
    }

    #[test]
    fn without_highlights_a_snippet_is_the_first_text() {
        let text = "\n\n  \nfirst\nsecond\n\n\n\n";
        assert_eq!(&text[snippet(text, &[])], "first\nsecond\n");
        assert_eq!(snippet("", &[]), 0..0);
    }
}
