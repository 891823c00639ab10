//! The text of a page as the content stream draws it: glyphs joined to segments of a line.

use std::hash::{Hash, Hasher};

use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Point, Rect};
use rustc_hash::{FxHashMap, FxHasher};
use unicode_normalization::UnicodeNormalization;

use crate::pdf::words::{self, Letter, WORD_GAP};

/// Gap that ends a segment, in em: what follows may be another column.
// Four times a usual space. Tables with narrower gaps are read as one segment, in the same order.
const SEGMENT_GAP: f64 = 1.0;
/// How far the baseline may move within a segment, in em: superscripts stay, the next line does not.
const BASELINE_SHIFT: f64 = 0.5;
/// Ascent and descent of a line, in em. Real ones differ by font; too large ones would close the gaps of lines.
// Typical of text fonts.
const ASCENT: f64 = 0.75;
const DESCENT: f64 = 0.2;
/// Digits of the number of a note.
// A raised number that is longer is part of a formula.
const MAX_NOTE_DIGITS: usize = 4;
/// Two equal glyphs this near to each other are one that is drawn twice to look bold, in em. As poppler has it.
const DUPLICATE_ALONG: f64 = 0.1;
const DUPLICATE_ACROSS: f64 = 0.2;

/// Which way a baseline goes on the page as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Right,
    Down,
    Left,
    Up,
    /// In no right angle: stamps, labels of axes.
    Oblique,
}

/// A glyph in the coordinates of the page as it is shown: x to the right, y down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// Where it begins on the baseline.
    pub(super) origin: (f64, f64),
    /// From there to where the next one would begin.
    pub(super) advance: (f64, f64),
    /// Height of an em.
    pub(super) size: f64,
    /// The direction of the baseline, of length 1.
    pub(super) baseline: (f64, f64),
    /// Whether it is drawn as in a mirror: its lines go the other way, too.
    pub(super) is_mirrored: bool,
    /// The middle of what is drawn, where that is not the middle of its advance: of marks.
    pub(super) ink: Option<(f64, f64)>,
}

/// Text on one baseline without large gaps. Its coordinates are turned, so that it goes to the right.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) baseline: f64,
    pub(super) size: f64,
    pub(super) direction: Direction,
    /// Where it lies on the page as it is shown, in its height: what a bookmark may point to.
    pub(super) page_y: f64,
    /// What it was put together from, where a line may have to be put together anew: on pages with scripts that are
    /// written from right to left.
    pub(super) letters: Vec<Letter>,
    /// How far its letters are spaced out, in em; 0 where they are not.
    pub(super) tracking: f64,
    is_outside: bool,
}

/// The end of the segment that was drawn last.
#[derive(Debug, Clone, Copy)]
struct Pen {
    /// Where the last letter begins and ends.
    left: f64,
    x: f64,
    y: f64,
    size: f64,
    direction: Direction,
    angle: f64,
}

/// Joins glyphs in the order in which they are drawn.
#[derive(Debug)]
pub(super) struct SegmentBuilder {
    segments: Vec<Segment>,
    pen: Option<Pen>,
    /// Where a text was drawn already, by a grid of half an em.
    drawn: FxHashMap<(u64, i64, i64), (f64, f64)>,
    /// Size of the page as it is shown, and where it begins.
    page: (f64, f64, f64, f64),
    /// Characters that are not white space.
    characters: usize,
    /// Those of them that the document does not say.
    unknown: usize,
    /// Whether any of them is of a script that is written from right to left.
    has_right_to_left: bool,
}

impl SegmentBuilder {
    /// `page` is the left, top, right and bottom of the page as it is shown.
    pub(super) fn new(page: (f64, f64, f64, f64)) -> SegmentBuilder {
        SegmentBuilder {
            segments: Vec::new(),
            pen: None,
            drawn: FxHashMap::default(),
            page,
            characters: 0,
            unknown: 0,
            has_right_to_left: false,
        }
    }

    /// Characters so far, and those of them that the document does not say.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.characters, self.unknown)
    }

    /// Segments so far.
    pub(super) fn count(&self) -> usize {
        self.segments.len()
    }

    /// The text that begins within an area of the page as it is shown.
    pub(super) fn text_in(&self, area: Rect) -> String {
        let inside = self.segments.iter().filter(|it| {
            let (x, y) = match it.direction {
                Direction::Right | Direction::Oblique => (it.left, it.baseline),
                Direction::Down => (-it.baseline, it.left),
                Direction::Left => (-it.left, -it.baseline),
                Direction::Up => (it.baseline, -it.left),
            };
            area.inflate(it.size, it.size).contains(Point::new(x, y))
        });
        inside.map(|it| it.text.as_str()).collect()
    }

    /// A glyph with its text. `is_unknown`: the text was guessed.
    pub(super) fn push(&mut self, glyph: Glyph, text: &str, is_unknown: bool) {
        let Some(placed) = Placed::new(&glyph) else {
            return;
        };
        // Characters without a width may all lie at one place.
        if !is_unknown && self.is_drawn_already(&placed, text) {
            return;
        }
        if !text.trim().is_empty() {
            self.characters += 1;
            self.unknown += usize::from(is_unknown);
        }
        let middle = (
            glyph.origin.0 + glyph.advance.0 / 2.0,
            glyph.origin.1 + glyph.advance.1 / 2.0,
        );
        let (left, top, right, bottom) = self.page;
        let is_outside = middle.0 < left
            || middle.0 > right
            || middle.1 < top
            || middle.1 > bottom + placed.size * DESCENT;
        let is_mark = words::is_mark(text);
        let is_right = !is_mark && words::is_right_to_left(text);
        self.has_right_to_left |= is_right;
        let gap = self.gap_to(&placed, is_right);
        let goes_on = gap.filter(|_| {
            let last = self.segments.last();
            last.is_some_and(|last| last.is_outside == is_outside)
        });
        let last = self.segments.last_mut();
        let last = last.filter(|last| self.pen.is_some() && last.direction == placed.direction);
        if last.is_some_and(|last| combine(last, &placed, text)) {
            if let Some(pen) = &mut self.pen {
                pen.x = pen.x.max(placed.x + placed.width);
            }
            return;
        }
        match (goes_on, self.segments.last_mut()) {
            (Some(gap), Some(segment)) => {
                let is_apart = gap > WORD_GAP * placed.size.max(segment.size)
                    || self
                        .pen
                        .is_some_and(|pen| ends_note_number(segment, &pen, &placed));
                segment.push(&placed, text, is_apart);
                // The line ends where its last letter does.
                if !text.trim().is_empty() && !is_mark {
                    segment.extend(&placed);
                }
            }
            _ if text.trim().is_empty() => {
                // White space begins no segment, but the next glyph may lie behind it.
                self.pen = None;
                return;
            }
            _ => {
                let mut segment = Segment {
                    text: String::new(),
                    left: placed.x,
                    right: placed.x + placed.width,
                    top: placed.y - ASCENT * placed.size,
                    bottom: placed.y + DESCENT * placed.size,
                    baseline: placed.y,
                    size: placed.size,
                    direction: placed.direction,
                    page_y: glyph.origin.1 - ASCENT * placed.size,
                    letters: Vec::new(),
                    tracking: 0.0,
                    is_outside,
                };
                segment.push(&placed, text, false);
                self.segments.push(segment);
            }
        }
        // A mark may lie anywhere around its letter.
        if is_mark && goes_on.is_some() {
            return;
        }
        self.pen = Some(Pen {
            left: placed.x,
            x: placed.x + placed.width,
            y: placed.y,
            size: placed.size,
            direction: placed.direction,
            angle: placed.angle,
        });
    }

    /// The gap before a glyph that goes on with the last segment, to the right or, where it is written so, to the left;
    /// `None` for one that does not.
    fn gap_to(&self, placed: &Placed, is_right_to_left: bool) -> Option<f64> {
        let pen = self.pen?;
        let size = placed.size.max(pen.size);
        let across = placed.y - pen.y;
        let is_same = pen.direction == placed.direction
            && (pen.direction != Direction::Oblique || (pen.angle - placed.angle).abs() < 0.05)
            && size < 3.0 * placed.size.min(pen.size)
            && across.abs() < BASELINE_SHIFT * size;
        let is_near = |along: &f64| *along > -BASELINE_SHIFT * size && *along < SEGMENT_GAP * size;
        let ahead = Some(placed.x - pen.x).filter(is_near);
        let back = Some(pen.left - placed.x - placed.width);
        let back = back.filter(|along| is_right_to_left && is_near(along));
        ahead.or(back).filter(|_| is_same)
    }

    fn is_drawn_already(&mut self, placed: &Placed, text: &str) -> bool {
        if text.trim().is_empty() {
            return false;
        }
        let cell = 0.5 * placed.size;
        let mut hasher = FxHasher::default();
        (text, placed.direction).hash(&mut hasher);
        let hash = hasher.finish();
        let (along, across) = (
            DUPLICATE_ALONG * placed.size,
            DUPLICATE_ACROSS * placed.size,
        );
        // Saturates for places far outside of every page.
        let column = |x: f64| (x / cell).floor() as i64;
        for x in [placed.x - along, placed.x + along] {
            for y in [placed.y - across, placed.y + across] {
                let known = self.drawn.get(&(hash, column(x), column(y)));
                if known.is_some_and(|(known_x, known_y)| {
                    (known_x - placed.x).abs() < along && (known_y - placed.y).abs() < across
                }) {
                    return true;
                }
            }
        }
        let key = (hash, column(placed.x), column(placed.y));
        self.drawn.insert(key, (placed.x, placed.y));
        false
    }

    /// The segments with text that lie on the page; where none does, those beside it.
    pub(super) fn finish(self) -> Vec<Segment> {
        let mut segments = self.segments;
        for segment in &mut segments {
            let letters = std::mem::take(&mut segment.letters);
            let (text, tracking) = words::join(&segment.text, &letters, segment.size);
            segment.tracking = tracking;
            // Elsewhere the letters are of no use.
            if self.has_right_to_left {
                segment.letters = letters;
            } else {
                segment.text = text;
            }
        }
        segments.retain(|segment| !segment.text.trim().is_empty());
        if segments.iter().any(|segment| !segment.is_outside) {
            segments.retain(|segment| !segment.is_outside);
        }
        segments
    }
}

/// Whether a small raised number ends here and a word of the usual size begins: the number of a note. Looks at the last few
/// bytes only, as this is asked for every glyph of a line of any length.
fn ends_note_number(segment: &Segment, pen: &Pen, placed: &Placed) -> bool {
    let is_raised = pen.size < 0.85 * placed.size && pen.y < placed.y - 0.15 * placed.size;
    if !is_raised {
        return false;
    }
    let mut last = segment.text.bytes().rev().take(MAX_NOTE_DIGITS + 1);
    let other = last.find(|byte| !byte.is_ascii_digit());
    let ends_with_digit = segment.text.ends_with(|last: char| last.is_ascii_digit());
    let is_number = match other {
        Some(other) => other == b' ',
        None => segment.text.len() <= MAX_NOTE_DIGITS,
    };
    ends_with_digit && is_number
}

/// Puts an accent and its letter together, which old programs draw one over the other, in either order. Gives
/// whether that was done.
fn combine(segment: &mut Segment, placed: &Placed, text: &str) -> bool {
    let only = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    let (Some(one), Some(before)) = (only(text), segment.text.chars().next_back()) else {
        return false;
    };
    let is_beside = (placed.y - segment.baseline).abs() > BASELINE_SHIFT * placed.size
        || placed.x < segment.right - placed.size;
    if is_beside {
        return false;
    }
    let overlaps = placed.x + placed.width / 2.0 < segment.right;
    let (letter, mark) = match (combining(before), combining(one)) {
        (None, Some(mark)) if overlaps => (before, mark),
        (Some(mark), None) if overlaps || placed.x < segment.right - 0.1 * placed.size => {
            (one, mark)
        }
        _ => return false,
    };
    if !letter.is_alphabetic() {
        return false;
    }
    segment.text.pop();
    segment.text.extend([letter, mark].into_iter().nfc());
    let end = segment.text.len();
    if let Some(last) = segment.letters.last_mut() {
        last.end = end;
        last.right = last.right.max(placed.x + placed.width);
    }
    segment.extend(placed);
    true
}

/// The mark that an accent with a width of its own stands for.
fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '`' | '\u{2cb}' => '\u{300}',
        '\u{b4}' | '\u{2ca}' => '\u{301}',
        '^' | '\u{2c6}' => '\u{302}',
        '~' | '\u{2dc}' => '\u{303}',
        '\u{af}' | '\u{2c9}' => '\u{304}',
        '\u{2d8}' => '\u{306}',
        '\u{2d9}' => '\u{307}',
        '\u{a8}' => '\u{308}',
        '\u{2da}' | '\u{b0}' => '\u{30a}',
        '\u{2dd}' => '\u{30b}',
        '\u{2c7}' => '\u{30c}',
        '\u{b8}' => '\u{327}',
        '\u{2db}' => '\u{328}',
        _ => return None,
    })
}

impl Segment {
    fn push(&mut self, placed: &Placed, text: &str, is_apart: bool) {
        self.text.push_str(text);
        let (left, right) = (placed.x, placed.x + placed.width);
        match self.letters.last_mut() {
            // What one text stands for as a whole.
            Some(last) if text.is_empty() => last.right = last.right.max(right),
            _ => self.letters.push(Letter {
                end: self.text.len(),
                left,
                right,
                middle: placed.middle,
                is_apart,
            }),
        }
    }

    fn extend(&mut self, placed: &Placed) {
        self.left = self.left.min(placed.x);
        self.right = self.right.max(placed.x + placed.width);
        self.top = self.top.min(placed.y - ASCENT * placed.size);
        self.bottom = self.bottom.max(placed.y + DESCENT * placed.size);
        // The line is that of its largest letters; what is small may be above it or below.
        if placed.size > self.size {
            self.size = placed.size;
            self.baseline = placed.y;
        }
    }
}

/// A glyph whose baseline goes to the right.
#[derive(Debug, Clone, Copy)]
struct Placed {
    x: f64,
    y: f64,
    width: f64,
    size: f64,
    direction: Direction,
    angle: f64,
    /// The middle of what is drawn.
    middle: f64,
}

impl Placed {
    /// `None` for what lies nowhere.
    fn new(glyph: &Glyph) -> Option<Placed> {
        let (x, y) = glyph.origin;
        let (along_x, along_y) = glyph.baseline;
        let width = glyph.advance.0.hypot(glyph.advance.1);
        let is_sound = [x, y, along_x, along_y, width, glyph.size]
            .iter()
            .all(|number| number.is_finite() && number.abs() < 1e7);
        if !is_sound || glyph.size <= 0.0 {
            return None;
        }
        let angle = along_y.atan2(along_x);
        // Within 4 degrees: a scanned page may lie a little askew.
        let is_near = |right: f64| (angle - right).abs() < 0.07;
        let (cos, sin) = (angle.cos(), angle.sin());
        let turned = |x: f64, y: f64| {
            if is_near(0.0) {
                (Direction::Right, x, y)
            } else if is_near(std::f64::consts::FRAC_PI_2) {
                (Direction::Down, y, -x)
            } else if is_near(-std::f64::consts::FRAC_PI_2) {
                (Direction::Up, -y, x)
            } else if is_near(std::f64::consts::PI) || is_near(-std::f64::consts::PI) {
                (Direction::Left, -x, -y)
            } else {
                (Direction::Oblique, x * cos + y * sin, y * cos - x * sin)
            }
        };
        let (direction, x, y) = turned(x, y);
        let ink = glyph.ink.map(|(x, y)| turned(x, y).1);
        Some(Placed {
            x,
            y: if glyph.is_mirrored { -y } else { y },
            width,
            size: glyph.size.max(0.1),
            direction,
            angle,
            middle: ink.unwrap_or(x + width / 2.0),
        })
    }
}

/// What a character map says, as text: letters instead of ligatures and shapes, no control characters. `None` when it
/// says nothing.
pub(super) fn text_of(mapped: BfString) -> Option<String> {
    let mut text = String::new();
    match mapped {
        BfString::Char(one) => push_character(&mut text, one),
        BfString::String(several) => {
            for one in several.chars() {
                push_character(&mut text, one);
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

fn push_character(text: &mut String, one: char) {
    match one {
        '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' => text.extend([one].into_iter().nfkc()),
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{a0}' | '\u{2028}' | '\u{2029}' => {
            text.push(' ');
        }
        // Symbol fonts have their bullets here.
        '\u{f0b7}' => text.push('\u{2022}'),
        '\u{f0a7}' => text.push('\u{25aa}'),
        '\u{fffd}' | '\u{feff}' => {}
        one if one.is_control() => {}
        one => text.push(one),
    }
}
