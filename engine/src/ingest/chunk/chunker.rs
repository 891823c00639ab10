//! Cuts the text of a document into chunks: contiguous, not overlapping, covering it exactly.
//!
//! Every line split point has a cost (`split_costs.rs`): low between two functions or before a
//! heading, high inside a statement. One pass keeps the cheapest split point of every `GRID_BYTES`
//! bytes; a shortest path over them then weighs the costs of the cuts against the sizes of the
//! chunks. Short neighbouring sections are joined and long ones divided by the same rule, and the
//! time is linear in the text, whatever the lengths of its lines.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::ingest::chunk::split_costs::{ANYWHERE, Cost, GRID_BYTES, SplitCosts};
use crate::types::{ChunkSpan, Document, Lines, Span};

/// The size that costs nothing, in bytes.
pub const TARGET_BYTES: usize = 1200;
/// No chunk has more bytes.
pub const CAP_BYTES: usize = 2000;

/// Price of an empty chunk and of one at the cap; between them and the target it grows with the
/// square of the distance. On the same scale as the costs of split points.
const SHORT_PRICE: u32 = 150;
const LONG_PRICE: u32 = 110;

/// A place where the text may be cut.
#[derive(Debug, Clone, Copy)]
struct SplitPoint {
    /// Byte offset in the text.
    at: usize,
    /// Line of the text that holds the byte at `at`, from 0.
    line: u32,
    cost: Cost,
}

/// Chunks of `document`, in order; none when its text is empty. Their spans join to the whole text, none
/// crosses the border of two parts, none is empty or longer than [`CAP_BYTES`], and no split point lies inside
/// a character, `\r\n` or a grapheme, but for graphemes that alone exceed the cap or that a part begins in.
/// Linear time.
///
/// Only the first 4 GiB of a text can be addressed; extraction keeps far below that.
pub fn chunk(document: &Document) -> Vec<ChunkSpan> {
    let text = document.text.as_str();
    if text.is_empty() {
        return Vec::new();
    }
    let costs = SplitCosts::new(document, CAP_BYTES);
    let mut chunks = Vec::new();
    let (mut at, mut line) = (0, 0);
    // A part without text has no chunk.
    let starts = document.parts.iter().map(|part| part.start as usize);
    for end in starts.chain([text.len()]) {
        if at >= end || !text.is_char_boundary(end) {
            continue;
        }
        let mut grid = Grid::new(text, at..end, line);
        costs.visit(at..end, line, &mut |at, line, cost| {
            grid.offer(at, line, cost)
        });
        let points = grid.finish();
        let mut start = points.first();
        for cut in cheapest_path(&points) {
            let end = points.get(cut);
            if let (Some(from), Some(to)) = (start, end) {
                chunks.push(span_between(document, from, to));
            }
            start = end;
        }
        line = points.last().map_or(line, |point| point.line);
        at = end;
    }
    chunks
}

fn span_between(document: &Document, from: &SplitPoint, to: &SplitPoint) -> ChunkSpan {
    let ends_line = document.text.as_bytes().get(to.at.wrapping_sub(1)) == Some(&b'\n');
    let last = if ends_line {
        to.line.saturating_sub(1)
    } else {
        to.line
    };
    let original = |line: u32| {
        let numbered = document.line_numbers.get(line as usize).copied();
        numbered.unwrap_or_else(|| line.saturating_add(1))
    };
    let first = original(from.line);
    ChunkSpan {
        span: Span {
            start: u32::try_from(from.at).unwrap_or(u32::MAX),
            end: u32::try_from(to.at).unwrap_or(u32::MAX),
        },
        lines: Lines {
            first,
            last: original(last).max(first),
        },
    }
}

/// Collects split points in ascending order and keeps the cheapest of each stretch.
struct Grid<'a> {
    text: &'a str,
    /// Bytes of the part.
    span: Range<usize>,
    points: Vec<SplitPoint>,
    /// The last split point that was passed over in the stretch of the last one that was kept, and in the stretch
    /// before: where a chunk would else exceed the cap, it is better than any other.
    passed_over: Option<SplitPoint>,
    passed_over_before: Option<SplitPoint>,
    /// Line of the end of the text.
    last_line: u32,
}

impl<'a> Grid<'a> {
    /// For the bytes `span` of a text, the first of which lies in `line`, from 0.
    fn new(text: &'a str, span: Range<usize>, line: u32) -> Grid<'a> {
        let mut points = Vec::with_capacity(span.len() / GRID_BYTES + 2);
        points.push(SplitPoint {
            at: span.start,
            line,
            cost: 0,
        });
        Grid {
            text,
            span,
            points,
            passed_over: None,
            passed_over_before: None,
            last_line: line,
        }
    }

    /// Offers a split point; `at` never goes down. The last offer is the end of the text.
    fn offer(&mut self, at: usize, line: u32, cost: Cost) {
        if at <= self.span.start {
            return;
        }
        let point = SplitPoint { at, line, cost };
        if at >= self.span.end {
            self.last_line = line;
            return;
        }
        match self.points.last_mut() {
            Some(last) if last.at > self.span.start && last.at / GRID_BYTES == at / GRID_BYTES => {
                if cost < last.cost {
                    *last = point;
                } else {
                    self.passed_over = Some(point);
                }
            }
            _ => self.push(point),
        }
    }

    /// Adds a split point, and before it those that are needed to reach it in steps under the cap.
    fn push(&mut self, point: SplitPoint) {
        // The last split point may still be replaced by a later one of its stretch, so the gap before it
        // is looked at when it is final: now.
        self.close_gap_before_last();
        self.passed_over_before = self.passed_over.take();
        self.points.push(point);
    }

    fn finish(mut self) -> Vec<SplitPoint> {
        self.push(SplitPoint {
            at: self.span.end,
            line: self.last_line,
            cost: 0,
        });
        self.close_gap_before_last();
        self.points
    }

    /// When the last two split points lie further apart than the cap, puts grapheme split points between
    /// them. Each stretch of text is walked at most once.
    fn close_gap_before_last(&mut self) {
        let [.., from, to] = self.points.as_slice() else {
            return;
        };
        let (mut from, to) = (*from, *to);
        if to.at - from.at <= CAP_BYTES {
            return;
        }
        self.points.pop();
        if let Some(point) = self.passed_over_before.take()
            && (from.at + 1..to.at).contains(&point.at)
        {
            self.points.push(point);
            from = point;
        }
        let between = self.text.get(from.at..to.at).unwrap_or_default();
        let (mut placed, mut line, mut at) = (from.at, from.line, from.at);
        let mut place = |at: usize, line: u32| {
            self.points.push(SplitPoint {
                at,
                line,
                cost: ANYWHERE,
            });
        };
        for grapheme in between.graphemes(true) {
            if at > placed && at + grapheme.len() - placed > CAP_BYTES {
                place(at, line);
                placed = at;
            }
            if grapheme.len() > CAP_BYTES {
                for character in grapheme.chars() {
                    if at + character.len_utf8() - placed > CAP_BYTES {
                        place(at, line);
                        placed = at;
                    }
                    at += character.len_utf8();
                }
            } else {
                at += grapheme.len();
            }
            line = line.saturating_add(u32::from(grapheme.ends_with('\n')));
        }
        self.points.push(to);
    }
}

/// Indices of the split points at which chunks end, ascending; the last one is the end of the text.
fn cheapest_path(points: &[SplitPoint]) -> Vec<usize> {
    let price = |len: usize| SIZE_PRICES.get(len).copied().unwrap_or(u32::MAX);
    // Best total up to each split point, and the split point before it on that way.
    let mut totals: Vec<u64> = Vec::with_capacity(points.len());
    let mut previous: Vec<usize> = Vec::with_capacity(points.len());
    let mut reach = 0;
    for (index, point) in points.iter().enumerate() {
        let within = |from: usize| {
            let start = points.get(from).map_or(0, |start| start.at);
            point.at - start <= CAP_BYTES
        };
        while reach < index && !within(reach) {
            reach += 1;
        }
        let starts = points.iter().zip(&totals).enumerate().skip(reach);
        let best = starts
            .map(|(from, (start, total))| (total + u64::from(price(point.at - start.at)), from))
            .min_by_key(|&(total, _)| total);
        let (total, from) = best.unwrap_or((0, 0));
        totals.push(total + u64::from(point.cost));
        previous.push(from);
    }
    let mut cuts = Vec::new();
    let mut at = points.len().saturating_sub(1);
    while at > 0 {
        cuts.push(at);
        at = previous.get(at).copied().unwrap_or(0);
    }
    cuts.reverse();
    cuts
}

/// Price of a chunk by its length in bytes. Made once: small files are many.
static SIZE_PRICES: [u32; CAP_BYTES + 1] = size_prices();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index out of range"
)]
const fn size_prices() -> [u32; CAP_BYTES + 1] {
    let mut prices = [0; CAP_BYTES + 1];
    let mut len = 0;
    while len <= CAP_BYTES {
        prices[len] = if len < TARGET_BYTES {
            square(TARGET_BYTES - len, TARGET_BYTES, SHORT_PRICE)
        } else {
            square(len - TARGET_BYTES, CAP_BYTES - TARGET_BYTES, LONG_PRICE)
        };
        len += 1;
    }
    prices
}

/// `price * (part / whole)^2`, rounded down.
const fn square(part: usize, whole: usize, price: u32) -> u32 {
    let (part, whole) = (part as u64, whole as u64);
    (price as u64 * part * part / (whole * whole)) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::GraphemeCursor;

    use super::*;
    use crate::ingest::extract::extract;
    use crate::types::{Part, PartContent, Slide};

    fn document(name: &str, text: &str) -> Document {
        extract(name, text.as_bytes()).unwrap()
    }

    fn pieces<'a>(text: &'a str, chunks: &[ChunkSpan]) -> Vec<&'a str> {
        let piece = |span: Span| &text[span.start as usize..span.end as usize];
        chunks.iter().map(|chunk| piece(chunk.span)).collect()
    }

    /// What holds for every document; returns the pieces of text.
    fn checked(document: &Document) -> Vec<&str> {
        let chunks = chunk(document);
        let pieces = pieces(&document.text, &chunks);
        assert_eq!(pieces.concat(), document.text);
        for (chunk, piece) in chunks.iter().zip(&pieces) {
            assert!(
                !piece.is_empty() && piece.len() <= CAP_BYTES,
                "{} bytes",
                piece.len()
            );
            let before = &document.text[..chunk.span.start as usize];
            assert!(!(before.ends_with('\r') && piece.starts_with('\n')));
            if document.line_numbers.is_empty() {
                let first = before.matches('\n').count() as u32 + 1;
                let ends = piece
                    .strip_suffix('\n')
                    .unwrap_or(piece)
                    .matches('\n')
                    .count() as u32;
                let lines = Lines {
                    first,
                    last: first + ends,
                };
                assert_eq!(chunk.lines, lines);
            }
        }
        pieces
    }

    fn is_grapheme_boundary(text: &str, at: usize) -> bool {
        GraphemeCursor::new(at, text.len(), true)
            .is_boundary(text, 0)
            .unwrap()
    }

    #[test]
    fn an_empty_text_has_no_chunks_and_a_short_one_has_one() {
        assert!(chunk(&document("a.txt", "")).is_empty());
        assert_eq!(checked(&document("a.txt", "word")), ["word"]);
        assert_eq!(checked(&document("a.txt", "\n")), ["\n"]);
    }

    #[test]
    fn functions_are_cut_apart_and_keep_their_comments() {
        let mut text = String::from("use std::fmt;\n\n");
        for number in 0..40 {
            text.push_str(&format!(
                "/// Doc comment of item {number}, long enough to be words.\n#[inline]\n\
                 pub fn item_{number}(input: &str) -> usize {{\n    let value = 1;\n\n    \
                 if value > 3 {{\n        return value;\n    }}\n    value + {number}\n}}\n\n"
            ));
        }
        for piece in checked(&document("a.rs", &text)) {
            assert!(
                piece.starts_with("/// Doc") || piece.starts_with("use"),
                "{piece}"
            );
            assert!(piece.ends_with("}\n\n"), "{piece}");
            assert!(piece.len() > 700);
        }
    }

    #[test]
    fn comments_and_decorators_stay_with_their_items() {
        let mut text = String::new();
        for number in 0..60 {
            let comment = format!("# Comment of item {number},\n# two lines of it.\n@decorated\n");
            let body = "    first()\n    second()\n    return third()\n";
            text.push_str(&format!("{comment}def item_{number}():\n{body}"));
        }
        for piece in checked(&document("a.py", &text)) {
            assert!(piece.starts_with("# Comment"), "{piece}");
            assert!(piece.ends_with("return third()\n"), "{piece}");
        }
    }

    #[test]
    fn methods_of_one_long_class_are_cut_apart() {
        let mut text = String::from("class Thing:\n");
        for number in 0..40 {
            text.push_str(&format!(
                "    @property\n    def method_{number}(self):\n        value = self.v\n\n        \
                 for part in value:\n            if part:\n                yield part\n            \
                 else:\n                break\n        return None\n\n"
            ));
        }
        for piece in checked(&document("a.py", &text)).iter().skip(1) {
            assert!(piece.starts_with("    @property\n"), "{piece}");
        }
    }

    #[test]
    fn short_sections_are_joined_and_cut_before_headings() {
        let mut text = String::new();
        for number in 0..60 {
            text.push_str(&format!(
                "## Part {number}\n\nA short section of some words.\n\n"
            ));
        }
        let document = document("a.md", &text);
        let pieces = checked(&document);
        assert!(pieces.len() < 4);
        assert!(pieces.iter().all(|piece| piece.starts_with("## Part")));
    }

    #[test]
    fn an_example_that_fits_is_not_divided() {
        let example = "```sh\nfirst command\n\nsecond command\n\nthird command\n```\n";
        let words = "Words of a paragraph that say something about it. ".repeat(9);
        let text = format!("# Title\n\n{words}\n\nRun this:\n\n{example}\n{words}\n\n").repeat(8);
        let document = document("a.md", &text);
        for piece in checked(&document) {
            assert_eq!(piece.matches("```").count() % 2, 0, "{piece}");
            assert!(!piece.ends_with("Run this:\n\n"));
        }
    }

    #[test]
    fn rows_stay_whole_even_when_a_cell_holds_line_ends() {
        let text = "name,\"first line\nsecond line\nthird line\",42\n".repeat(200);
        for piece in checked(&document("a.csv", &text)) {
            assert!(piece.starts_with("name\t") && piece.ends_with("\t42\n"));
        }
    }

    #[test]
    fn no_record_that_fits_is_cut() {
        let record = |len: usize| format!("{{\"a\": \"{}\"}}\n", "word, and. ".repeat(len));
        // Long ones after short ones, in one stretch of the grid.
        let lens = [0, 1, 180, 0, 0, 178, 100, 2, 60, 179, 1, 5, 180, 177, 30];
        let text: String = (0..300).map(|n| record(lens[n * 7 % 15])).collect();
        assert!(text.lines().all(|line| line.len() < CAP_BYTES));
        for piece in checked(&document("a.jsonl", &text)) {
            assert!(piece.starts_with('{') && piece.ends_with("}\n"), "{piece}");
        }
        let long = record(1000).repeat(3);
        assert!(checked(&document("a.jsonl", &long)).len() > 15);
    }

    #[test]
    fn a_paragraph_on_one_line_is_cut_after_sentences() {
        let text = "This is a sentence of some length, with a clause in it. ".repeat(200);
        for piece in checked(&document("a.txt", &text)) {
            assert!(piece.starts_with("This is"), "{piece}");
        }
        let text = "\u{6f22}\u{5b57}\u{4eee}\u{540d}\u{3002}".repeat(500);
        for piece in checked(&document("a.txt", &text)) {
            assert!(piece.ends_with('\u{3002}'));
        }
    }

    #[test]
    fn only_a_grapheme_longer_than_the_cap_is_divided() {
        let flags = "\u{1F1E9}\u{1F1EA}".repeat(3000);
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}".repeat(2000);
        let word = format!("a{}", "\u{301}".repeat(500)).repeat(20);
        for text in [flags, family, word, "\r\n".repeat(4000), "\n".repeat(5000)] {
            let document = document("a.txt", &text);
            let mut at = 0;
            for piece in checked(&document) {
                at += piece.len();
                assert!(is_grapheme_boundary(&text, at), "{at}");
            }
        }
        let monster = format!("ab{}cd", "\u{301}".repeat(5000));
        assert!(checked(&document("a.txt", &monster)).len() >= 6);
    }

    #[test]
    fn chunks_of_long_texts_are_large_enough_on_average() {
        let prose = "One sentence of a paragraph. Another one follows it here.\n\n".repeat(2000);
        let code = "fn name() {\n    call();\n}\n\n".repeat(3000);
        for (name, text) in [("a.md", prose), ("a.rs", code)] {
            let document = document(name, &text);
            let average = text.len() / checked(&document).len();
            assert!(average >= 900, "{name}: {average}");
        }
    }

    #[test]
    fn line_numbers_of_the_original_are_passed_on() {
        let page = format!(
            "<p>one</p>\n\n\n<p>{}</p>\n<p>last</p>",
            "word ".repeat(600)
        );
        let document = document("a.html", &page);
        let chunks = chunk(&document);
        assert_eq!(chunks[0].lines, Lines { first: 1, last: 4 });
        assert_eq!(chunks.last().unwrap().lines.last, 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_is_covered_exactly_and_cut_at_graphemes(
            parts in prop::collection::vec(
                prop_oneof![
                    "\\PC{0,40}",
                    "[ \\t]{0,6}[a-z(){};.]{1,30}",
                    Just("\n".to_owned()),
                    Just("\r\n".to_owned()),
                    Just("\n\n".to_owned()),
                    Just("\r".to_owned()),
                    "[\u{300}\u{301}\u{200d}\u{1F468}\u{1F1E6}\u{1100}\u{1161}\u{11a8}\u{ac00}\
                        \u{94d}\u{915}\u{e33}\u{e01}\u{600}\u{620}\u{1F3FB}a ]{1,400}",
                    "[a-z]{1,8} ".prop_map(|word| word.repeat(90)),
                ],
                0..120,
            ),
            kind in 0usize..5,
        ) {
            let text = parts.concat();
            let name = ["a.rs", "a.md", "a.csv", "a.txt", "a.rst"][kind];
            let mut document = document(name, "");
            document.text = text;
            let mut at = 0;
            for piece in checked(&document) {
                at += piece.len();
                prop_assert!(is_grapheme_boundary(&document.text, at));
            }
        }

        #[test]
        fn no_chunk_crosses_the_border_of_two_parts(
            lines in prop::collection::vec(
                (
                    prop_oneof![
                        "[a-z ]{0,60}",
                        "[a-z]{1,8}\t".prop_map(|cell| cell.repeat(90)),
                        "\\PC{0,20}",
                        Just(String::new()),
                        "\u{301}{1,3}",
                    ],
                    // How many parts begin with the line.
                    prop_oneof![6 => Just(0usize), 2 => Just(1), 1 => 2usize..4],
                ),
                1..80,
            ),
            kind in 0usize..4,
            is_open in any::<bool>(),
        ) {
            let name = ["a.rs", "a.md", "a.log", "a.txt"][kind];
            let mut document = document(name, "");
            for (number, (line, parts)) in (0u32..).zip(&lines) {
                let part = Part {
                    start: document.text.len() as u32,
                    line: number + 1,
                    content: PartContent::Slide(Slide::default()),
                };
                let count = if number == 0 { 1.max(*parts) } else { *parts };
                document.parts.extend(std::iter::repeat_n(part, count));
                document.text.push_str(&line.replace('\n', " "));
                document.text.push('\n');
            }
            if is_open && document.parts.last().is_some_and(|part| (part.start as usize) < document.text.len() - 1) {
                document.text.pop();
            }
            prop_assert_eq!(crate::types::part::fault_in(&document.parts, &document.text), None);
            checked(&document);
            let starts: Vec<u32> = chunk(&document).iter().map(|chunk| chunk.span.start).collect();
            for part in &document.parts {
                let is_end = part.start as usize == document.text.len();
                prop_assert!(is_end || starts.contains(&part.start), "{}", part.start);
            }
        }
    }
}
