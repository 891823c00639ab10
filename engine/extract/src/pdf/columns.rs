//! Columns of a region: white space from top to bottom between lines of text, with text that crosses it at most above and below.

use std::iter;
use std::ops::Range;

use crate::pdf::segments::Segment;

/// Width of the white space between columns, in em.
// A space between words is about 0.25 em. A smaller value would cut lines at wide spaces, a larger
// one would miss narrow gutters.
const GUTTER: f64 = 0.6;
/// Left edges that are tried as those of a column, the most frequent first.
// Each is tried against all lines of a block. Real pages have a few columns; indented lines and
// tables add edges.
const MAX_EDGES: usize = 32;
/// Lines that a column has at least; where text crosses the white space above or below, there must be more of them.
// Fewer lines beside each other are a table, a caption or a signature, and are read by rows.
const MIN_LINES: usize = 4;
const MIN_CROSSED_LINES: usize = 7;
/// Characters without a gap that it has on average: tables are read by rows, and so are lists with numbers beside them.
const MIN_SEGMENT_CHARS: f64 = 12.0;
/// Lines of a block that is no part of a row since its lines are at other heights than those beside it, the white space
/// before it in em, how near baselines are that are the same, in em, and how many may be.
const MIN_APART_LINES: usize = 2;
const APART_GUTTER: f64 = 1.0;
const SHARED_LINE: f64 = 0.2;
const MAX_SHARED: f64 = 0.2;
/// How much of its width the lines of a column fill on average.
// Columns of running text fill their width; columns of a table do not.
const MIN_FILL: f64 = 0.5;
/// How far left edges of a column may be apart, and the baselines of a line, in em.
// Less than the indent of a paragraph, and more than letters of an italic or large font lean over
// their edge.
const SAME_EDGE: f64 = 0.5;
const SAME_LINE: f64 = 0.45;

/// Two columns beside each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    /// The segments in them, of a region in order of its baselines.
    pub(super) rows: Range<usize>,
    /// What begins left of here is of the left one.
    pub(super) edge: f64,
}

/// The columns of a region with the most lines. `segments` are in order of their baselines, `size` is their usual one.
/// Linear in the segments, after a sort.
pub(super) fn find(segments: &[Segment], size: f64) -> Option<Columns> {
    let mut best: Option<(usize, Columns)> = None;
    let lines = lines_by_position(segments, size);
    for edge in left_edges(segments, size) {
        let is_crossing = |it: &Segment| it.left < edge && it.right > edge - GUTTER * size;
        let mut start = 0;
        let ends = segments.iter().enumerate();
        let ends = ends.filter(|(_, it)| is_crossing(it)).map(|(at, _)| at);
        // A line that is crossed is no part of the columns.
        let crossed = ends.filter_map(|at| lines.get(at));
        let end = (segments.len(), segments.len());
        for (first, behind) in crossed.copied().chain(iter::once(end)) {
            let rows = start..first.max(start);
            start = behind.max(start);
            let is_whole = rows.len() == segments.len();
            let least = if is_whole {
                MIN_LINES
            } else {
                MIN_CROSSED_LINES
            };
            if rows.is_empty() {
                continue;
            }
            let lines = lines_of(
                segments.get(rows.clone()).unwrap_or_default(),
                edge,
                size,
                least,
            );
            if lines > best.as_ref().map_or(0, |(lines, _)| *lines) {
                best = Some((lines, Columns { rows, edge }));
            }
        }
    }
    best.map(|(_, columns)| columns)
}

/// For each segment the first one of its line and the one behind it.
fn lines_by_position(segments: &[Segment], size: f64) -> Vec<(usize, usize)> {
    let mut lines = Vec::with_capacity(segments.len());
    let mut start = 0;
    while let Some(first) = segments.get(start) {
        let is_same = |it: &&Segment| it.baseline - first.baseline < SAME_LINE * size;
        let length = segments
            .iter()
            .skip(start)
            .take_while(is_same)
            .count()
            .max(1);
        let end = start + length;
        lines.resize(end, (start, end));
        start = end;
    }
    lines
}

/// Where columns may begin: left edges that several segments have, from the most frequent on, not the outermost one.
fn left_edges(segments: &[Segment], size: f64) -> Vec<f64> {
    let mut lefts: Vec<f64> = segments.iter().map(|it| it.left).collect();
    lefts.sort_by(f64::total_cmp);
    let outermost = lefts.first().copied().unwrap_or_default();
    let mut edges: Vec<(usize, f64)> = Vec::new();
    let mut first = f64::NEG_INFINITY;
    for left in lefts {
        match edges.last_mut() {
            Some((count, _)) if left - first < SAME_EDGE * size => *count += 1,
            _ => {
                first = left;
                edges.push((1, left - 0.01 * size));
            }
        }
    }
    edges.retain(|(count, edge)| *count >= MIN_APART_LINES && *edge > outermost);
    edges.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.total_cmp(&other.1)));
    edges.truncate(MAX_EDGES);
    edges.into_iter().map(|(_, edge)| edge).collect()
}

/// Lines of two columns; 0 when one side is none.
fn lines_of(segments: &[Segment], edge: f64, size: f64, least: usize) -> usize {
    let (mut left, mut right) = (Side::new(), Side::new());
    for segment in segments {
        let side = if segment.left < edge {
            &mut left
        } else {
            &mut right
        };
        side.add(segment, size);
    }
    let is_text = left.is_text(least) && right.is_text(least) && !is_table(segments, edge, size);
    if is_text || are_apart(&left, &right, least, size) {
        left.baselines.len() + right.baselines.len()
    } else {
        0
    }
}

/// Whether two sides are the cells of rows rather than text: labels with what they are the labels of, words with numbers.
fn is_table(segments: &[Segment], edge: f64, size: f64) -> bool {
    let (mut left_lines, mut shared, mut cells) = (0usize, 0usize, 0usize);
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let is_same = |it: &&Segment| it.baseline - first.baseline < SAME_LINE * size;
        let length = rest.iter().take_while(is_same).count().max(1);
        let (line, others) = rest.split_at(length);
        rest = others;
        // The nearest segments on both sides.
        let left = line.iter().filter(|it| it.left < edge);
        let left = left.max_by(|one, other| one.right.total_cmp(&other.right));
        let right = line.iter().filter(|it| it.left >= edge);
        let right = right.min_by(|one, other| one.left.total_cmp(&other.left));
        left_lines += usize::from(left.is_some());
        if let (Some(left), Some(right)) = (left, right) {
            shared += 1;
            cells += usize::from(is_label(&left.text) || is_number(&right.text));
        }
    }
    2 * cells > shared && 2 * shared > left_lines
}

/// Whether a text announces what stands beside it.
fn is_label(text: &str) -> bool {
    text.ends_with([':', '_', '\u{2026}']) || text.ends_with("..") || text.ends_with(". .")
}

/// Whether a text is a number with what belongs to one, such as a currency.
fn is_number(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|one| one.is_alphabetic()).count();
    digits > 0 && letters <= digits
}

/// Whether two sides have their lines at other heights, which cells of a table never have.
fn are_apart(left: &Side, right: &Side, least: usize, size: f64) -> bool {
    let fewest = left.baselines.len().min(right.baselines.len());
    if fewest < least.min(MIN_APART_LINES) || left.right > right.left - APART_GUTTER * size {
        return false;
    }
    let is_shared = |baseline: &f64| {
        let after = right.baselines.partition_point(|other| other < baseline);
        let near = right
            .baselines
            .get(after.saturating_sub(1)..)
            .unwrap_or_default();
        let mut near = near.iter().take(2);
        near.any(|other| (other - baseline).abs() < SHARED_LINE * size)
    };
    let shared = left.baselines.iter().filter(|it| is_shared(it)).count();
    shared as f64 <= MAX_SHARED * fewest as f64
}

/// What is on one side of white space.
#[derive(Debug)]
struct Side {
    segments: usize,
    characters: usize,
    width: f64,
    left: f64,
    right: f64,
    /// Of its lines.
    baselines: Vec<f64>,
}

impl Side {
    fn new() -> Side {
        Side {
            segments: 0,
            characters: 0,
            width: 0.0,
            left: f64::INFINITY,
            right: f64::NEG_INFINITY,
            baselines: Vec::new(),
        }
    }

    fn add(&mut self, segment: &Segment, size: f64) {
        let last = self.baselines.last();
        if last.is_none_or(|last| segment.baseline - last >= SAME_LINE * size) {
            self.baselines.push(segment.baseline);
        }
        self.segments += 1;
        self.characters += segment.text.chars().count();
        self.width += segment.right - segment.left;
        self.left = self.left.min(segment.left);
        self.right = self.right.max(segment.right);
    }

    /// Whether it is running text: lines without gaps that are long enough and fill their width.
    fn is_text(&self, least: usize) -> bool {
        let lines = self.baselines.len() as f64;
        self.baselines.len() >= least
            && self.characters as f64 > MIN_SEGMENT_CHARS * self.segments as f64
            && self.width > MIN_FILL * lines * (self.right - self.left)
    }
}
