//! The letters of a segment or a line, as they stand on paper, put together to words.

use unicode_bidi::{BidiClass, bidi_class};
use unicode_normalization::UnicodeNormalization;

use crate::pdf::words::bidi;

/// Gap between two glyphs that counts as a space, in em.
// Of 0.08 to 0.20 the value with the best words over 574 files with an oracle.
pub(in crate::pdf) const WORD_GAP: f64 = 0.1;
/// Gaps between letters that are spaced out: at least so many, none of which is more than so many em wider than the
/// narrowest. In a whole segment and in a word among others.
const MIN_GAPS: usize = 3;
const MAX_SPREAD: f64 = 0.12;
const MAX_WORD_SPREAD: f64 = 0.06;
/// How much wider the gaps between words are at least, in em.
const MIN_WORD_SPREAD: f64 = 0.2;
/// One in so many gaps may be narrower than that of spaced letters.
const KERNED: usize = 6;
/// Gap between cells of a row, in em; smaller ones are spaces.
pub(in crate::pdf) const CELL_GAP: f64 = 1.0;

/// What one glyph says, in the text of its segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdf) struct Letter {
    /// Where its text ends.
    pub(in crate::pdf) end: usize,
    pub(in crate::pdf) left: f64,
    pub(in crate::pdf) right: f64,
    /// Of what is drawn.
    pub(in crate::pdf) middle: f64,
    /// Whether there is a gap before it.
    pub(in crate::pdf) is_apart: bool,
}

/// Whether a text is nothing but marks of the letter before.
pub(in crate::pdf) fn is_mark(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| bidi_class(one) == BidiClass::NSM)
}

/// Whether a text begins with a letter of a script that is written from right to left.
pub(in crate::pdf) fn is_right_to_left(text: &str) -> bool {
    let first = text.chars().next().map(bidi_class);
    matches!(first, Some(BidiClass::R | BidiClass::AL))
}

/// The letters with their texts.
fn with_texts<'t>(text: &'t str, letters: &[Letter]) -> impl Iterator<Item = (&'t str, Letter)> {
    let mut start = 0;
    letters.iter().map(move |letter| {
        let own = text.get(start..letter.end).unwrap_or_default();
        start = letter.end;
        (own, *letter)
    })
}

/// The text of a segment with spaces where its gaps are; and by how much its letters are spaced out, in em.
pub(in crate::pdf) fn join(text: &str, letters: &[Letter], size: f64) -> (String, f64) {
    let drawn = with_texts(text, letters).filter(|(text, _)| !text.trim().is_empty());
    let drawn: Vec<(&str, Letter)> = drawn.collect();
    let has_spaces = drawn.len() < letters.len();
    if let Some(tracking) = tracking(&drawn, size, has_spaces) {
        let mut joined = String::with_capacity(text.len());
        let mut end = f64::INFINITY;
        for (text, letter) in drawn {
            if (letter.left - end) / size > tracking + MAX_SPREAD {
                joined.push(' ');
            }
            joined.push_str(text);
            end = letter.right;
        }
        return (joined, tracking);
    }
    let mut joined = String::with_capacity(text.len() + text.len() / 4);
    let mut within = spaced_words(text, letters, size).into_iter().peekable();
    for (at, (text, letter)) in with_texts(text, letters).enumerate() {
        let is_within = within.next_if_eq(&at).is_some();
        if letter.is_apart && !is_within && !joined.ends_with(' ') && !text.starts_with(' ') {
            joined.push(' ');
        }
        if text != " " || !joined.ends_with(' ') {
            joined.push_str(text);
        }
    }
    joined.truncate(joined.trim_end().len());
    (joined, 0.0)
}

/// The gap between the letters of words that are spaced out, in em: "A N N U A L   R E P O R T". `None` for others. `has_spaces`:
/// some of the gaps are characters.
fn tracking(letters: &[(&str, Letter)], size: f64, has_spaces: bool) -> Option<f64> {
    if letters.len() <= MIN_GAPS || !letters.iter().all(|(text, _)| is_one(text)) {
        return None;
    }
    let gaps = letters.windows(2).filter_map(|pair| {
        let [(_, one), (_, next)] = pair else {
            return None;
        };
        Some((next.left - one.right) / size)
    });
    let mut gaps: Vec<f64> = gaps.collect();
    gaps.sort_by(f64::total_cmp);
    // In a long line some pairs of letters may be drawn nearer to each other than the rest.
    let kerned = if gaps.len() < 2 * KERNED {
        0
    } else {
        gaps.len() / KERNED
    };
    let usual = gaps.get(kerned).copied()?;
    if usual <= WORD_GAP {
        return None;
    }
    let within = gaps.partition_point(|gap| *gap <= usual + MAX_SPREAD);
    let next = gaps.get(within);
    if is_grid(letters, size) {
        return None;
    }
    if next.is_none() {
        // Where every gap is the same, digits and signs are cells, and what is typed with spaces is a list.
        let is_word = letters
            .iter()
            .all(|(text, _)| text.chars().all(char::is_alphabetic));
        return (is_word && !has_spaces).then_some(usual);
    }
    let is_clear = next.is_some_and(|next| *next > usual + MIN_WORD_SPREAD);
    (is_clear && 2 * within > gaps.len()).then_some(usual)
}

/// Whether letters are rather the cells of a table: few different ones, or ones whose left edges are at more even distances
/// than their gaps.
fn is_grid(letters: &[(&str, Letter)], size: f64) -> bool {
    let mut different: Vec<&str> = letters.iter().map(|(text, _)| *text).collect();
    different.sort_unstable();
    different.dedup();
    if different.len() <= MIN_GAPS {
        return true;
    }
    let (mut gaps, mut steps) = (Extent::NONE, Extent::NONE);
    for pair in letters.windows(2) {
        let [(_, one), (_, next)] = pair else {
            continue;
        };
        gaps.add((next.left - one.right) / size);
        steps.add((next.left - one.left) / size);
    }
    steps.length() + 0.01 < gaps.length()
}

/// The least and the largest of some numbers.
#[derive(Debug)]
struct Extent(f64, f64);

impl Extent {
    const NONE: Extent = Extent(f64::INFINITY, f64::NEG_INFINITY);

    fn add(&mut self, one: f64) {
        *self = Extent(self.0.min(one), self.1.max(one));
    }

    fn length(&self) -> f64 {
        self.1 - self.0
    }
}

/// Whether a text is one character, of a script that has spaces between its words.
fn is_one(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|one| one < '\u{2e80}') && characters.next().is_none()
}

/// Letters that are spaced out within a line that is not: the positions of all but the first of each such word. Only gaps
/// are looked at that no space fills.
fn spaced_words(text: &str, letters: &[Letter], size: f64) -> Vec<usize> {
    let mut found = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    // The gap before the run, and whether the next letter may begin one.
    let mut before = f64::INFINITY;
    let mut end: Option<f64> = None;
    let mut close = |run: &mut Vec<usize>, is_apart: bool| {
        if run.len() >= MIN_GAPS && is_apart {
            found.append(run);
        }
        run.clear();
    };
    for (at, (text, letter)) in with_texts(text, letters).enumerate() {
        if text.trim().is_empty() {
            // A space ends a word; what lies before and behind it is apart.
            close(&mut run, before > most + MAX_WORD_SPREAD);
            (least, most, before, end) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, None);
            continue;
        }
        let gap = end.map(|end| (letter.left - end) / size);
        end = Some(letter.right);
        let Some(gap) = gap else {
            continue;
        };
        // Capitals may be the cells of a table.
        let is_letter = is_one(text) && text.chars().all(char::is_lowercase);
        let fits = gap > WORD_GAP
            && is_letter
            && gap <= least + MAX_WORD_SPREAD
            && gap >= most - MAX_WORD_SPREAD;
        if fits {
            run.push(at);
            (least, most) = (least.min(gap), most.max(gap));
        } else {
            let is_apart = gap > most + MAX_WORD_SPREAD && before > most + MAX_WORD_SPREAD;
            close(&mut run, is_apart);
            (least, most, before) = (f64::INFINITY, f64::NEG_INFINITY, gap);
        }
    }
    close(&mut run, before > most + MAX_WORD_SPREAD);
    found
}

/// A piece of a line as it was drawn.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdf) struct Drawn<'t> {
    pub(in crate::pdf) text: &'t str,
    pub(in crate::pdf) letters: &'t [Letter],
    pub(in crate::pdf) size: f64,
}

/// A letter with its marks.
#[derive(Debug)]
struct Cluster<'t> {
    text: String,
    left: f64,
    right: f64,
    size: f64,
    original: &'t str,
}

/// A line with letters of scripts that are written from right to left, in the order of reading: its letters by their
/// places, marks behind their letters, spaces where gaps are. `prefers_right`: what the page has more of.
pub(in crate::pdf) fn right_to_left_line<'t>(
    row: impl Iterator<Item = Drawn<'t>>,
    prefers_right: bool,
) -> String {
    let mut clusters: Vec<Cluster<'_>> = Vec::new();
    let mut marks: Vec<(&str, Letter)> = Vec::new();
    let mut spaces: Vec<Letter> = Vec::new();
    for segment in row {
        for (text, letter) in with_texts(segment.text, segment.letters) {
            if is_mark(text) {
                marks.push((text, letter));
            } else if text.trim().is_empty() {
                spaces.push(letter);
            } else {
                clusters.push(Cluster {
                    text: text.to_owned(),
                    left: letter.left,
                    right: letter.right,
                    size: segment.size,
                    original: text,
                });
            }
        }
    }
    clusters.sort_by(|one, other| one.left.total_cmp(&other.left));
    add_marks(&mut clusters, &marks);
    spaces.sort_by(|one, other| one.middle.total_cmp(&other.middle));
    let mut spaces = spaces.into_iter().peekable();
    let mut pieces: Vec<String> = Vec::with_capacity(clusters.len());
    let mut end: Option<(f64, f64)> = None;
    for cluster in clusters {
        let middle = (cluster.left + cluster.right) / 2.0;
        let has_space = spaces.next_if(|it| it.middle < middle).is_some();
        while spaces.next_if(|it| it.middle < middle).is_some() {}
        if let Some((right, size)) = end {
            let gap = (cluster.left - right) / cluster.size.max(size);
            if gap > CELL_GAP {
                pieces.push("\t".to_owned());
            } else if has_space || gap > WORD_GAP {
                pieces.push(" ".to_owned());
            }
        }
        end = Some((cluster.right, cluster.size));
        pieces.push(cluster.text);
    }
    bidi::logical(&pieces, prefers_right)
}

/// Puts marks behind the letters that they are drawn over or under.
fn add_marks(clusters: &mut [Cluster<'_>], marks: &[(&str, Letter)]) {
    for (mark, letter) in marks {
        let middle = letter.middle;
        let after = clusters.partition_point(|it| it.left <= middle);
        let distance = |it: &Cluster<'_>| (it.left - middle).max(middle - it.right).max(0.0);
        let is_before = match (
            after.checked_sub(1).and_then(|at| clusters.get(at)),
            clusters.get(after),
        ) {
            (Some(before), Some(next)) => {
                // A vowel belongs to no sign and to no digit.
                let is_letter = |it: &Cluster<'_>| it.original.chars().any(char::is_alphabetic);
                match (is_letter(before), is_letter(next)) {
                    (true, false) => true,
                    (false, true) => false,
                    _ => distance(before) <= distance(next),
                }
            }
            (before, _) => before.is_some(),
        };
        let at = if is_before {
            after.saturating_sub(1)
        } else {
            after
        };
        if let Some(cluster) = clusters.get_mut(at) {
            cluster.text.push_str(mark);
        }
    }
    for cluster in clusters
        .iter_mut()
        .filter(|it| it.text.len() > it.original.len())
    {
        cluster.text = cluster.text.nfc().collect();
    }
}
