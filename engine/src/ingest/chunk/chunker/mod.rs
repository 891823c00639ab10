//! Cuts the text of a document into chunks: contiguous, not overlapping, covering it exactly.
//!
//! Every line split point has a cost (`split_costs.rs`): low between two functions or before a
//! heading, high inside a statement. One pass keeps the cheapest split point of every `GRID_BYTES`
//! bytes; a shortest path over them then weighs the costs of the cuts against the sizes of the
//! chunks. Short neighbouring sections are joined and long ones divided by the same rule, and the
//! time is linear in the text, whatever the lengths of its lines.

use std::ops::Range;

use kb_types::{ChunkSpan, Document, Lines, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::ingest::chunk::split_costs::{ANYWHERE, Cost, GRID_BYTES, SplitCosts};

/// The size that costs nothing, in bytes.
// About 300 tokens. A shorter chunk lacks context, a longer one mixes subjects in one vector.
pub(crate) const TARGET_BYTES: usize = 1200;
/// Largest chunk, in bytes.
// Part of the format: a file states it, and readers refuse longer chunks.
pub(crate) const CAP_BYTES: usize = 2000;

/// Price of an empty chunk and of one at the cap; between them and the target it grows with the
/// square of the distance. On the same scale as the costs of split points.
// Short chunks cost more than long ones: they lack context, and each costs a row in every index.
// The two numbers are not measured one by one.
const SHORT_PRICE: u32 = 150;
const LONG_PRICE: u32 = 110;
/// Size that costs nothing in programs whose syntax is known, in bytes.
// With 1,200 bytes as many functions are found among ten hits, in 3 % more lines
// (docs/decisions/15-grammars.md).
const SYMBOL_TARGET_BYTES: usize = 1100;
// Lower than for prose: a short function is better alone than together with an unrelated one.
const SHORT_SYMBOL_PRICE: u32 = 90;

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
pub(crate) fn chunk(document: &Document) -> Vec<ChunkSpan> {
    let text = document.text.as_str();
    if text.is_empty() {
        return Vec::new();
    }
    let costs = SplitCosts::new(document, CAP_BYTES);
    let prices = if document.syntax.cuts.is_empty() {
        &SIZE_PRICES
    } else {
        &SYMBOL_SIZE_PRICES
    };
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
        for cut in cheapest_path(&points, prices) {
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
fn cheapest_path(points: &[SplitPoint], prices: &SizePrices) -> Vec<usize> {
    let price = |len: usize| prices.get(len).copied().unwrap_or(u32::MAX);
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

/// Price of a chunk by its length in bytes.
type SizePrices = [u32; CAP_BYTES + 1];

/// Made once: small files are many.
static SIZE_PRICES: SizePrices = size_prices(TARGET_BYTES, SHORT_PRICE);
/// Of programs whose syntax is known.
static SYMBOL_SIZE_PRICES: SizePrices = size_prices(SYMBOL_TARGET_BYTES, SHORT_SYMBOL_PRICE);

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses an index out of range"
)]
const fn size_prices(target: usize, short_price: u32) -> SizePrices {
    let mut prices = [0; CAP_BYTES + 1];
    let mut len = 0;
    while len <= CAP_BYTES {
        prices[len] = if len < target {
            square(target - len, target, short_price)
        } else {
            square(len - target, CAP_BYTES - target, LONG_PRICE)
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
mod tests;
