//! Picks the lines of a passage that are shown where not all may be.

use std::ops::Range;

use crate::search::render::snippet::Highlight;

/// Bytes that count as one line: the width of a terminal. A line of prose that is a whole paragraph counts
/// as several.
pub const LINE_BYTES: usize = 80;

/// A longer line is divided at sentences.
// This and the constants below were chosen on the spans of the development sets, where they are
// flat (see [`window`]).
const LONG_LINE_BYTES: usize = 400;

/// A longer sentence is divided at words, into pieces of about this size.
const PIECE_BYTES: usize = 200;

/// A sentence that is shorter is joined with the next one: abbreviations end with a full stop, too.
const SENTENCE_BYTES: usize = 40;

/// What a term adds to the weight of a line that has it in a neighbouring line only.
const NEIGHBOUR_SHARE: f32 = 0.5;

/// What the sum over all lines of a window counts against the terms of the window and its best line.
const SUM_SHARE: f32 = 0.5;

/// What a window loses when its best line is at one of its ends; and where that line is best.
const CENTRE_SHARE: f32 = 0.2;
const CENTRE: f32 = 0.4;

/// How much may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowLimit {
    /// Lines, also begun ones.
    pub(crate) lines: usize,
    /// Bytes.
    pub(crate) bytes: usize,
}

impl WindowLimit {
    fn has_room_for(self, lines: usize, bytes: usize) -> bool {
        lines <= self.lines && bytes <= self.bytes
    }
}

/// A line, or a part of a long one.
#[derive(Debug)]
struct Piece {
    start: usize,
    end: usize,
    begins_line: bool,
    /// Square of the share of the weights of all terms that are in it or, half as much, beside it.
    weight: f32,
    /// Its highlights.
    highlights: Range<usize>,
}

/// The run of whole lines with the most and rarest terms of the query; all of a text that fits. Lines of
/// more than 400 bytes are divided at sentences, and sentences at words, so no word is ever cut. Among
/// windows of equal weight the one that begins nearest to `best` is chosen: where the query has no word in
/// common with the text, its best chunk. The constants were chosen on the spans of the development sets
/// (`cargo xtask eval --tables spans`), where they are flat. The cost grows with the length of the text.
pub(crate) fn window(
    text: &str,
    highlights: &[Highlight],
    best: &Range<usize>,
    limit: WindowLimit,
) -> Range<usize> {
    let lines = text.split_inclusive('\n').count();
    if limit.has_room_for(lines, text.len()) {
        return 0..text.len();
    }
    let mut pieces = pieces(text, limit);
    let terms = weigh(&mut pieces, highlights);
    let window = heaviest(&pieces, highlights, &terms, best, limit);
    trimmed(text, window)
}

/// Divides a text at its lines, and long lines at sentences and words.
fn pieces(text: &str, limit: WindowLimit) -> Vec<Piece> {
    // Where little fits, shorter lines are divided as well.
    let longest = LONG_LINE_BYTES.min(limit.bytes.max(1));
    let size = PIECE_BYTES.min(longest);
    let mut pieces = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let line_start = start;
        let line_end = start + line.len();
        while start < line_end {
            let rest = text.get(start..line_end).unwrap_or_default();
            let is_whole_line = start == line_start && rest.len() <= longest;
            let len = if is_whole_line {
                rest.len()
            } else {
                match sentence(rest) {
                    len if len <= longest => len,
                    _ => words(rest, size),
                }
            };
            pieces.push(Piece {
                start,
                end: start + len,
                begins_line: start == line_start,
                weight: 0.0,
                highlights: 0..0,
            });
            start += len;
        }
    }
    pieces
}

/// Bytes of the first sentence with the space after it.
fn sentence(text: &str) -> usize {
    let mut is_over = false;
    for (at, character) in text.char_indices() {
        // A full stop without a space behind it is a number, a version or a name of a file.
        if is_over && character.is_whitespace() && at >= SENTENCE_BYTES {
            return at + character.len_utf8();
        }
        is_over = match character {
            '.' | '!' | '?' => true,
            '"' | '\'' | ')' | ']' | '\u{201d}' | '\u{2019}' => is_over,
            // Full stops of scripts without spaces.
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' if at >= SENTENCE_BYTES => {
                return at + character.len_utf8();
            }
            _ => false,
        };
    }
    text.len()
}

/// Bytes of the first words, about `size`, at least one character; without a space in the second half of
/// them, as in a script without spaces, as many characters.
fn words(text: &str, size: usize) -> usize {
    if text.len() <= size {
        return text.len();
    }
    let first = text.chars().next().map_or(1, char::len_utf8);
    let end = text.floor_char_boundary(size).max(first);
    let kept = text.get(..end).unwrap_or_default();
    match kept.rfind(char::is_whitespace) {
        Some(space) if space >= end / 2 => text.ceil_char_boundary(space + 1),
        _ => end,
    }
}

/// Weighs the pieces. Returns the weight of each term, as a share of all.
fn weigh(pieces: &mut [Piece], highlights: &[Highlight]) -> Vec<f32> {
    let count = highlights.iter().map(|highlight| highlight.term + 1).max();
    let mut terms = vec![0.0f32; count.unwrap_or(0)];
    for highlight in highlights {
        if let Some(term) = terms.get_mut(highlight.term) {
            *term = highlight.weight;
        }
    }
    let sum: f32 = terms.iter().sum();
    if sum > 0.0 {
        terms.iter_mut().for_each(|term| *term /= sum);
    }
    let mut next = 0;
    for piece in pieces.iter_mut() {
        let rest = highlights.get(next..).unwrap_or_default();
        let inside = rest
            .iter()
            .take_while(|highlight| highlight.range.start < piece.end);
        let end = next + inside.count();
        piece.highlights = next..end;
        next = end;
    }
    let mut shares = vec![0.0f32; terms.len()];
    let weights: Vec<f32> = (0..pieces.len())
        .map(|at| {
            let near = at.saturating_sub(1)..(at + 2).min(pieces.len());
            let mut weight = 0.0;
            for (number, piece) in near
                .clone()
                .zip(pieces.get(near.clone()).into_iter().flatten())
            {
                let share = if number == at { 1.0 } else { NEIGHBOUR_SHARE };
                for highlight in highlights
                    .get(piece.highlights.clone())
                    .into_iter()
                    .flatten()
                {
                    if let Some(known) = shares.get_mut(highlight.term)
                        && share > *known
                    {
                        weight += (share - *known) * terms.get(highlight.term).unwrap_or(&0.0);
                        *known = share;
                    }
                }
            }
            for piece in pieces.get(near).into_iter().flatten() {
                for highlight in highlights
                    .get(piece.highlights.clone())
                    .into_iter()
                    .flatten()
                {
                    if let Some(known) = shares.get_mut(highlight.term) {
                        *known = 0.0;
                    }
                }
            }
            weight * weight
        })
        .collect();
    for (piece, weight) in pieces.iter_mut().zip(weights) {
        piece.weight = weight;
    }
    terms
}

/// The heaviest run of pieces that fits; one piece always does.
fn heaviest(
    pieces: &[Piece],
    highlights: &[Highlight],
    terms: &[f32],
    best: &Range<usize>,
    limit: WindowLimit,
) -> Range<usize> {
    let mut chosen: Option<((f32, usize), Range<usize>)> = None;
    let mut counts = vec![0u32; terms.len()];
    let (mut end, mut lines, mut sum, mut covered) = (0, 0, 0.0f32, 0.0f32);
    let terms_of = |piece: &Piece| {
        let of_piece = highlights.get(piece.highlights.clone());
        of_piece
            .into_iter()
            .flatten()
            .map(|highlight| highlight.term)
    };
    let weight_of = |term: usize| terms.get(term).copied().unwrap_or(0.0);
    for (first, piece) in pieces.iter().enumerate() {
        if end == first {
            lines = 0;
        }
        while let Some(next) = pieces.get(end) {
            let with = lines + usize::from(next.begins_line || end == first);
            if end > first && !limit.has_room_for(with, next.end - piece.start) {
                break;
            }
            (end, lines, sum) = (end + 1, with, sum + next.weight);
            for term in terms_of(next) {
                if let Some(count) = counts.get_mut(term) {
                    covered += if *count == 0 { weight_of(term) } else { 0.0 };
                    *count += 1;
                }
            }
        }
        let inside = pieces.get(first..end).unwrap_or_default();
        let heaviest = inside.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        if let (Some(heaviest), Some(last)) = (heaviest, inside.last()) {
            let middle = (heaviest.start + heaviest.end) as f32 / 2.0 - piece.start as f32;
            let place = middle / (last.end - piece.start).max(1) as f32;
            let is_weighed = if covered > f32::EPSILON { 1.0 } else { 0.0 };
            let weight = covered + heaviest.weight + SUM_SHARE * sum
                - CENTRE_SHARE * is_weighed * (place - CENTRE).abs();
            // Differences that only rounding makes are none.
            let weight = (weight * 1e4).round();
            let distance = piece.start.abs_diff(best.start);
            let is_better = chosen.as_ref().is_none_or(|((most, nearest), _)| {
                weight > *most || weight == *most && distance < *nearest
            });
            if is_better {
                chosen = Some(((weight, distance), piece.start..last.end));
            }
        }
        sum -= piece.weight;
        for term in terms_of(piece) {
            if let Some(count) = counts.get_mut(term) {
                *count = count.saturating_sub(1);
                covered -= if *count == 0 { weight_of(term) } else { 0.0 };
            }
        }
        // The next window begins with a line, begun or not.
        let next_begins = pieces.get(first + 1).is_none_or(|next| next.begins_line);
        lines = lines.saturating_sub(usize::from(next_begins));
    }
    chosen.map_or(0..0, |(_, range)| range)
}

/// Without blank lines at the ends, unless there is nothing else.
fn trimmed(text: &str, window: Range<usize>) -> Range<usize> {
    let shown = text.get(window.clone()).unwrap_or_default();
    let is_blank = |line: &&str| line.trim().is_empty();
    let before: usize = shown
        .split_inclusive('\n')
        .take_while(is_blank)
        .map(str::len)
        .sum();
    if before == shown.len() {
        return window;
    }
    let after: usize = shown
        .split_inclusive('\n')
        .rev()
        .take_while(is_blank)
        .map(str::len)
        .sum();
    window.start + before..window.end - after
}

#[cfg(test)]
mod tests;
