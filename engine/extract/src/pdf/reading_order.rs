//! The order in which the segments of a page are read: the page is cut along its white space, across into columns and
//! along into blocks (Nagy and Seth, "Hierarchical representation of optically scanned documents", 1984), down to the
//! lines of each.

use unicode_bidi::{BidiClass, bidi_class};

use crate::pdf::columns;
use crate::pdf::line::Line;
use crate::pdf::segments::{Direction, Segment};
use crate::pdf::words::{self, CELL_GAP, Drawn, WORD_GAP};

/// Cuts inside each other; what is left is read line by line.
// A page has a few blocks inside each other; without a limit a forged one would exhaust the stack.
const MAX_DEPTH: usize = 100;
/// Height of white space that is looked at, in em.
// Smaller ones are rounding: lines of a paragraph may touch.
const LINE_GAP: f64 = 0.05;
/// Height of white space between paragraphs, in em, where the lines of a block touch.
// More than the gap between lines of a paragraph, less than most gaps between paragraphs.
const BLOCK_GAP: f64 = 0.6;
/// The same where lines run down: there they leave room for small letters beside them.
const DOWN_BLOCK_GAP: f64 = 1.5;
/// How far the baselines of one line may be apart, in em.
// Below half an em, so that the next line, at 1 em or more, never counts; above the shift of
// superscripts.
const SAME_LINE: f64 = 0.45;

/// The lines of a page: first what runs to the right, then the rest.
pub(super) fn lines_of(segments: Vec<Segment>) -> Vec<Line> {
    let mut lines = Lines {
        lines: Vec::new(),
        prefers_right: is_right_to_left(&segments),
    };
    let mut by_direction = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let mut oblique = Vec::new();
    for segment in segments {
        let group = match segment.direction {
            Direction::Right => 0,
            Direction::Up => 1,
            Direction::Down => 2,
            Direction::Left => 3,
            Direction::Oblique => {
                oblique.push(segment);
                continue;
            }
        };
        if let Some(group) = by_direction.get_mut(group) {
            group.push(segment);
        }
    }
    let letters = |group: &[Segment]| group.iter().map(|it| it.text.len()).sum::<usize>();
    by_direction.sort_by_key(|group| std::cmp::Reverse(letters(group)));
    for group in by_direction {
        lines.begin_block();
        cut(group, 0, &mut lines);
    }
    for segment in oblique {
        lines.begin_block();
        push_row(&[segment], &mut lines);
    }
    lines.lines.retain(|line| !line.text.is_empty());
    lines.lines
}

/// Lines that no page has: those of a text, with its paragraphs.
pub(super) fn lines_of_text(text: &str) -> Vec<Line> {
    let mut begins_block = true;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.is_empty() {
            begins_block = true;
            continue;
        }
        lines.push(Line {
            text: line.to_owned(),
            begins_block,
            page_y: 0.0,
        });
        begins_block = false;
    }
    lines
}

/// The lines of a page so far.
#[derive(Debug)]
struct Lines {
    lines: Vec<Line>,
    /// Whether most letters of the page are of scripts that are written from right to left.
    prefers_right: bool,
}

impl Lines {
    /// What comes next is a paragraph of its own: an empty line stands for that.
    fn begin_block(&mut self) {
        self.lines.push(Line {
            text: String::new(),
            begins_block: true,
            page_y: 0.0,
        });
    }

    fn push(&mut self, text: String, page_y: f64) {
        let begins_block = match self.lines.last() {
            Some(last) if last.text.is_empty() => {
                self.lines.pop();
                true
            }
            last => last.is_none(),
        };
        self.lines.push(Line {
            text,
            begins_block,
            page_y,
        });
    }
}

/// White space of a set of intervals: its middle and its length, in order.
fn gaps(mut intervals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    intervals.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut found = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (start, stop) in intervals {
        if end.is_finite() && start > end {
            found.push(((start + end) / 2.0, start - end));
        }
        end = end.max(stop);
    }
    found
}

fn widest(gaps: &[(f64, f64)], at_least: f64) -> Option<(f64, f64)> {
    let wide = gaps.iter().filter(|(_, length)| *length > at_least);
    wide.max_by(|one, other| one.1.total_cmp(&other.1)).copied()
}

fn median_size(segments: &[Segment]) -> f64 {
    let mut sizes: Vec<f64> = segments.iter().map(|it| it.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(1.0)
}

/// Cuts a region and reads its pieces.
fn cut(mut segments: Vec<Segment>, depth: usize, lines: &mut Lines) {
    if segments.len() < 2 || depth >= MAX_DEPTH {
        rows(segments, lines);
        return;
    }
    let size = median_size(&segments);
    segments.sort_by(|one, other| one.baseline.total_cmp(&other.baseline));
    if let Some(columns) = columns::find(&segments, size) {
        let below = segments.split_off(columns.rows.end);
        let beside = segments.split_off(columns.rows.start);
        let is_reversed = is_right_to_left(&beside);
        let is_first = |it: &Segment| (it.left < columns.edge) != is_reversed;
        let (first, second) = beside.into_iter().partition(is_first);
        for piece in [segments, first, second, below] {
            lines.begin_block();
            cut(piece, depth + 1, lines);
        }
        lines.begin_block();
        return;
    }
    let along = gaps(segments.iter().map(|it| (it.top, it.bottom)).collect());
    let runs_down = segments
        .first()
        .is_some_and(|it| it.direction == Direction::Down);
    let block_gap = if runs_down { DOWN_BLOCK_GAP } else { BLOCK_GAP };
    let Some((middle, length)) = widest(&along, LINE_GAP * size) else {
        rows(segments, lines);
        return;
    };
    let (above, below) = segments.into_iter().partition(|it| it.top < middle);
    cut(above, depth + 1, lines);
    if length > block_gap * size {
        lines.begin_block();
    }
    cut(below, depth + 1, lines);
}

/// Whether most letters are of scripts that are written from right to left; then so are the columns.
fn is_right_to_left(segments: &[Segment]) -> bool {
    let mut balance = 0i64;
    for one in segments.iter().flat_map(|it| it.text.chars()) {
        match bidi_class(one) {
            BidiClass::R | BidiClass::AL => balance += 1,
            BidiClass::L => balance -= 1,
            _ => {}
        }
    }
    balance > 0
}

/// Reads a region line by line.
fn rows(mut segments: Vec<Segment>, lines: &mut Lines) {
    segments.sort_by(|one, other| one.baseline.total_cmp(&other.baseline));
    let mut row: Vec<Segment> = Vec::new();
    for segment in segments {
        let is_next = row.first().is_some_and(|first| {
            segment.baseline - first.baseline > SAME_LINE * first.size.max(segment.size)
        });
        if is_next {
            push_row(&row, lines);
            row.clear();
        }
        row.push(segment);
    }
    push_row(&row, lines);
}

fn push_row(row: &[Segment], lines: &mut Lines) {
    let mut row: Vec<&Segment> = row.iter().collect();
    row.sort_by(|one, other| one.left.total_cmp(&other.left));
    let Some(first) = row.first() else {
        return;
    };
    let page_y = row.iter().map(|it| it.page_y).fold(first.page_y, f64::min);
    let text = if row.iter().all(|it| it.letters.is_empty()) {
        text_of_row(&row)
    } else {
        let drawn = row.iter().map(|it| Drawn {
            text: &it.text,
            letters: &it.letters,
            size: it.size,
        });
        words::right_to_left_line(drawn, lines.prefers_right)
    };
    lines.push(text.trim().to_owned(), page_y);
}

fn text_of_row(row: &[&Segment]) -> String {
    let mut text = String::new();
    let mut end: Option<(f64, f64, f64)> = None;
    for segment in row {
        if let Some((right, size, tracking)) = end {
            let size: f64 = segment.size.max(size);
            let gap = segment.left - right;
            // Where letters are spaced out, words are further apart.
            let more = 2.0 * tracking.min(segment.tracking);
            if gap > (CELL_GAP + more) * size {
                text.push('\t');
            } else if gap > WORD_GAP * size || gap < -0.5 * size {
                text.push(' ');
            }
        }
        text.push_str(&segment.text);
        end = Some((segment.right, segment.size, segment.tracking));
    }
    text
}
