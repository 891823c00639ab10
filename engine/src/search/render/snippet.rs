//! Picks the snippet of a text: the few lines with the most weight of query terms.

use std::collections::VecDeque;
use std::ops::Range;

/// Lines of a snippet.
// Each of the ten hits of an answer has a snippet, so a line more costs ten times its tokens.
const SNIPPET_LINES: usize = 4;

/// Bytes up to which the next highlight is reached line by line.
// Ten lines or so; beyond it, looking for the lines before the highlight costs less.
const NEAR_BYTES: usize = 400;

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
/// ones; without highlights the first lines with text, those from byte `from` on before others. A section
/// that [`is_shell`] is taken only where no other is as good. No run goes beyond one of `borders`, the
/// ascending starts of lines that begin a section. Skips lines without a highlight near, so the cost grows
/// with the number of highlights and borders.
pub(crate) fn snippet(
    text: &str,
    highlights: &[Highlight],
    borders: &[usize],
    from: usize,
) -> Range<usize> {
    let mut rest = highlights;
    let mut best: Option<(f32, Range<usize>)> = None;
    let mut best_is_shell = false;
    for section in sections(text.len(), borders) {
        let count = rest.partition_point(|highlight| highlight.range.start < section.end);
        let (own, others) = rest.split_at(count);
        rest = others;
        let Some((weight, range)) = heaviest(text, section.clone(), own) else {
            continue;
        };
        let is_better = best.as_ref().is_none_or(|(most, _)| {
            weight > *most || weight == *most && best_is_shell && !is_shell_at(text, &section)
        });
        if is_better {
            best_is_shell = is_shell_at(text, &section);
            best = Some((weight, range));
        }
    }
    let without_highlights = || {
        let first_text_of = |with_shells: bool| {
            let chosen = || {
                sections(text.len(), borders)
                    .filter(move |section| with_shells || !is_shell_at(text, section))
            };
            let from_there = chosen()
                .map(|section| section.start.max(from)..section.end)
                .filter(|section| !section.is_empty());
            let mut all = from_there.chain(chosen());
            all.find_map(|section| first_text(text, section))
        };
        first_text_of(false).or_else(|| first_text_of(true))
    };
    let first_lines = || {
        let section = sections(text.len(), borders).next().unwrap_or(0..0);
        let window: VecDeque<_> = LineRanges::of(text, section).take(SNIPPET_LINES).collect();
        shown(text, &window)
    };
    best.map(|(_, range)| range)
        .or_else(without_highlights)
        .unwrap_or_else(first_lines)
}

/// The parts of a text of `len` bytes between the borders; none is empty.
fn sections(len: usize, borders: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    let ends = borders.iter().copied().chain([len]);
    let starts = std::iter::once(0).chain(borders.iter().copied());
    starts
        .zip(ends)
        .map(|(start, end)| start..end)
        .filter(|section| !section.is_empty())
}

/// Bytes of the front matter that a text begins with: the lines from a `---` or `+++` to the next one.
pub(crate) fn front_matter(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let mark = first.trim_end();
    if mark != "---" && mark != "+++" {
        return 0;
    }
    let mut end = first.len();
    for line in lines {
        end += line.len();
        if line.trim_end() == mark {
            return end;
        }
    }
    0
}

fn is_shell_at(text: &str, section: &Range<usize>) -> bool {
    is_shell(text.get(section.clone()).unwrap_or_default())
}

/// Whether a text has nothing for a reader: only front matter, labels, directives with what is indented
/// under them, comments and definitions of links, as before the first heading of a page.
pub(crate) fn is_shell(text: &str) -> bool {
    let (mut in_directive, mut in_comment) = (false, false);
    let rest = text.get(front_matter(text)..).unwrap_or_default();
    rest.lines().all(|line| {
        let words = line.trim();
        let is_indented = line.starts_with([' ', '\t']);
        let is_comment = in_comment || words.starts_with("<!--");
        in_comment = is_comment && !words.contains("-->");
        let is_directive = words == ".." || words.starts_with(".. ");
        in_directive = is_directive || in_directive && (is_indented || words.is_empty());
        words.is_empty() || is_comment || in_directive || is_label(words)
    })
}

/// Whether a line is a target of links (`(name)=`, `[[name]]`, `<a id="name"></a>`), an attribute
/// (`:name: value`, `{: value }`) or the definition of a link (`[name]: address`).
fn is_label(line: &str) -> bool {
    let is_attribute = |rest: &str| {
        let name = rest.split(':').next().unwrap_or_default();
        name.len() < rest.len() && !name.is_empty() && !name.contains(' ')
    };
    line.starts_with('(') && line.ends_with(")=")
        || line.starts_with("[[") && line.ends_with("]]")
        || line.starts_with("<a ") && line.ends_with("></a>")
        || line.starts_with("{:") && line.ends_with('}')
        || line.starts_with('[') && line.contains("]: ") && !line.contains("](")
        || line.strip_prefix(':').is_some_and(is_attribute)
}

fn is_blank(text: &str, line: &Range<usize>) -> bool {
    text.get(line.clone())
        .is_none_or(|line| line.trim().is_empty())
}

/// The bytes of a window up to its last line that is not blank.
fn shown(text: &str, window: &VecDeque<Range<usize>>) -> Range<usize> {
    let last = window.iter().rev().find(|line| !is_blank(text, line));
    match (window.front(), last.or(window.front())) {
        (Some(from), Some(to)) => from.start..to.end,
        _ => 0..0,
    }
}

/// The first lines of a section from its first text on; `None` where it has none.
fn first_text(text: &str, section: Range<usize>) -> Option<Range<usize>> {
    let lines = LineRanges::of(text, section);
    let lines = lines.skip_while(|line| is_blank(text, line));
    let window: VecDeque<_> = lines.take(SNIPPET_LINES).collect();
    (!window.is_empty()).then(|| shown(text, &window))
}

/// The window of a section that weighs most, the first of equal ones, and its weight; `None` where none
/// weighs anything. `highlights` are those of the section, in order.
fn heaviest(
    text: &str,
    section: Range<usize>,
    highlights: &[Highlight],
) -> Option<(f32, Range<usize>)> {
    let first = highlights.first()?;
    let mut lines = LineRanges::of(text, section.clone());
    lines.at = lines
        .before(first.range.start, SNIPPET_LINES)
        .max(section.start);
    let mut window: VecDeque<Range<usize>> = lines.by_ref().take(SNIPPET_LINES).collect();
    let mut best_weight = 0.0f32;
    let mut best = None;
    let mut seen: Vec<usize> = Vec::new();
    let all_terms = distinct_terms(highlights);
    // Highlights are in order and lie within lines, so those of a window are neighbours.
    let (mut first_highlight, mut end_highlight) = (0, 0);
    // Whether the last window began with a blank line and had more weight than the best.
    let mut missed = false;
    while let (Some(from), Some(to)) = (window.front().cloned(), window.back().cloned()) {
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
            missed = weight > best_weight && is_blank(text, &from);
            if weight > best_weight && !missed {
                (best_weight, best) = (weight, Some(shown(text, &window)));
                if seen.len() == all_terms {
                    break;
                }
            }
        }
        if missed {
            window.pop_front();
            window.extend(lines.next());
            continue;
        }
        // The next better window ends with the line of the next highlight.
        let Some(next) = highlights.get(end_highlight) else {
            break;
        };
        if next.range.start.saturating_sub(to.end) > NEAR_BYTES {
            let second = window.get(1).map_or(lines.at, |line| line.start);
            lines.at = lines.before(next.range.start, SNIPPET_LINES).max(second);
            window.clear();
            window.extend(lines.by_ref().take(SNIPPET_LINES));
            continue;
        }
        let is_before = |line: &Range<usize>| line.end <= next.range.start;
        while window.back().is_some_and(is_before) {
            window.pop_front();
            window.extend(lines.next());
        }
    }
    best.map(|range| (best_weight, range))
}

fn distinct_terms(highlights: &[Highlight]) -> usize {
    let mut seen: Vec<usize> = Vec::new();
    for highlight in highlights {
        if !seen.contains(&highlight.term) {
            seen.push(highlight.term);
        }
    }
    seen.len()
}

/// Byte ranges of the lines of a part of a text, line ends included.
struct LineRanges<'t> {
    text: &'t str,
    /// Where the next line starts.
    at: usize,
    /// Where the part ends.
    end: usize,
}

impl<'t> LineRanges<'t> {
    fn of(text: &'t str, part: Range<usize>) -> LineRanges<'t> {
        LineRanges {
            text,
            at: part.start,
            end: part.end,
        }
    }

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
        let rest = self.text.as_bytes().get(self.at..self.end)?;
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
        let range = snippet(text, &highlights, &[], 0);
        assert!(text[range.clone()].contains("six") && text[range].contains("seven"));
    }

    /// The rule as it is written, window by window.
    fn expected_best(
        text: &str,
        highlights: &[Highlight],
        borders: &[usize],
        from: usize,
    ) -> Range<usize> {
        let mut start = 0;
        let split = text.split_inclusive('\n').map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        });
        let lines: Vec<Range<usize>> = split.collect();
        let is_blank = |line: &Range<usize>| text[line.clone()].trim().is_empty();
        let window_at = |first: usize| {
            let inside = |line: &usize| {
                let start = lines[*line].start;
                *line == first || !borders.contains(&start)
            };
            let window = (first..lines.len()).take(SNIPPET_LINES).take_while(inside);
            first..window.last().map_or(first, |last| last + 1)
        };
        let with_text = |line: &usize| !is_blank(&lines[*line]);
        let has_reading = |line: &usize| {
            let start = lines[*line].start;
            let from = borders.iter().copied().rfind(|border| *border <= start);
            let to = borders.iter().copied().find(|border| *border > start);
            !is_shell(&text[from.unwrap_or(0)..to.unwrap_or(text.len())])
        };
        let there = (0..lines.len()).filter(|line| lines[*line].start >= from);
        let by_place: Vec<usize> = there.chain(0..lines.len()).filter(with_text).collect();
        let first = by_place.iter().find(|line| has_reading(line));
        let first = first.or(by_place.first()).copied().unwrap_or(0);
        let mut best = (0.0, first);
        for first in 0..lines.len() {
            let window = &lines[window_at(first)];
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
            let is_equal = best.0 > 0.0 && weight == best.0;
            let is_better =
                weight > best.0 || is_equal && has_reading(&first) && !has_reading(&best.1);
            if is_better && !is_blank(&window[0]) {
                best = (weight, first);
            }
        }
        let window = &lines[window_at(best.1)];
        let last = window.iter().rev().find(|line| !is_blank(line));
        let last = last.or(window.first()).map_or(0, |line| line.end);
        window.first().map_or(0, |line| line.start)..last
    }

    proptest! {
        #[test]
        fn a_snippet_is_the_one_of_the_rule(
            lines in prop::collection::vec("( |[a-e]|  [a-e] [a-e]x?|xx?|\\.\\. [a-e]|---)?", 0..24),
            // Sums of eighths are exact: no order of adding makes one of two equal windows better.
            weights in prop::array::uniform5((0u8..24).prop_map(|eighths| f32::from(eighths) / 8.0)),
            headings in prop::collection::btree_set(1usize..24, 0..6),
            from in 0usize..24,
        ) {
            let text = lines.join("\n");
            let starts: Vec<usize> = std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .filter(|start| *start < text.len())
                .collect();
            let borders: Vec<usize> = headings.iter().filter_map(|line| starts.get(*line)).copied().collect();
            let from = starts.get(from).copied().unwrap_or(0);
            let highlights: Vec<Highlight> = text
                .char_indices()
                .filter(|(_, c)| ('a'..='e').contains(c))
                .map(|(at, c)| {
                    let term = (c as u8 - b'a') as usize;
                    Highlight { range: at..at + 1, weight: weights[term], term }
                })
                .collect();
            prop_assert_eq!(
                snippet(&text, &highlights, &borders, from),
                expected_best(&text, &highlights, &borders, from)
            );
        }
    }

    #[test]
    fn a_label_is_no_snippet_where_a_heading_is_as_good() {
        let shells = [
            ".. _topics-settings:\n\n",
            ".. currentmodule:: settings\n   :synopsis: settings\n\n",
            "---\ntitle: settings\nlayout: page\n---\n\n",
            "(settings)=\n\n",
            "<!-- settings\nof the page -->\n[settings]: settings.html\n:author: settings\n",
        ];
        for shell in shells {
            let text = format!("{shell}# Settings\n\nAll settings have a default.\n");
            let found = text.match_indices("ettings").map(|(at, word)| Highlight {
                range: at - 1..at + word.len(),
                weight: 1.0,
                term: 0,
            });
            let highlights: Vec<Highlight> = found.collect();
            for highlights in [&highlights[..], &[]] {
                let range = snippet(&text, highlights, &[shell.len()], 0);
                assert_eq!(range, shell.len()..text.len(), "{shell}");
            }
            assert_eq!(snippet(shell, &[], &[], 0).start, 0);
        }
        assert!(!is_shell(".. note:: a\n\ntext\n") && !is_shell("(a) text\n[a](b)\n"));
    }

    #[test]
    fn without_highlights_a_snippet_is_the_first_text() {
        let text = "\n\n  \nfirst\nsecond\n\n\n\n";
        let shown = |borders: &[usize], from| &text[snippet(text, &[], borders, from)];
        assert_eq!(shown(&[], 0), "first\nsecond\n");
        assert_eq!(shown(&[11], 0), "first\n");
        assert_eq!(shown(&[11], 11), "second\n");
        assert_eq!(shown(&[11], 18), "first\n");
        assert_eq!(snippet("", &[], &[], 0), 0..0);
    }
}
