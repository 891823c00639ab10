//! How far glyphs advance that stand in for ones of a font that is not in the document: they are stretched to its widths, which
//! their transformation includes and does not tell.

use hayro_interpret::kurbo::{Affine, Point};

/// Units of the space of glyphs in an em.
const EM_UNITS: f64 = 1000.0;
/// By how much widths differ that show whether glyphs are stretched, in those units.
// A twentieth of an em. Among glyphs of one width stretching and spacing look the same.
const MIN_DIFFERENCE: f64 = 50.0;
/// By how much the space between letters may differ that is the same, in em.
// Writers round positions to hundredths of a point; this is .04 point at a size of 10.
const SAME_SPACE: f64 = 0.004;
/// Gaps that are the same at least.
// Two gaps are the same by chance.
const MIN_GAPS: usize = 3;
/// How near to each other ratios are that are the same.
// Ratios are computed from rounded transformations; a larger value would mix fonts.
const SAME_RATIO: f64 = 1e-3;
/// Ratios that are remembered.
// Each run is compared with all of them. A document has a few fonts that stand in for others.
const MAX_RATIOS: usize = 32;

/// A glyph of a run: what places it on the page, and its width in its own space.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunGlyph {
    pub(super) transform: Affine,
    pub(super) width: f64,
}

impl RunGlyph {
    /// How wide it is drawn.
    fn along(&self) -> f64 {
        let [a, b, ..] = self.transform.as_coeffs();
        a.hypot(b)
    }

    /// How high it is drawn.
    fn across(&self) -> f64 {
        let [_, _, c, d, ..] = self.transform.as_coeffs();
        c.hypot(d)
    }

    fn step_to(&self, next: &RunGlyph) -> f64 {
        (next.transform * Point::ZERO - self.transform * Point::ZERO).hypot()
    }
}

/// What the runs of a document told of glyphs with one ratio of width to height.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    ratio: f64,
    gaps: usize,
    /// Gaps that are the usual one if the glyphs are stretched, and if they are written so.
    stretched: usize,
    written: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.gaps += other.gaps;
        self.stretched += other.stretched;
        self.written += other.written;
    }

    fn is_stretched(&self) -> bool {
        self.stretched >= MIN_GAPS
            // Two thirds, as kerning changes some gaps in any case.
            && 3 * self.stretched >= 2 * self.gaps
            && 3 * self.written <= 2 * self.stretched
    }
}

/// What was seen of one document.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    known: Vec<Tally>,
}

impl Stretches {
    /// What the widths of a run are to be multiplied with instead of the scale of each glyph.
    pub(super) fn scale_of(&mut self, run: &[RunGlyph]) -> Option<f64> {
        let first = run.first()?;
        let is_even = |it: &RunGlyph| (it.along() / first.along() - 1.0).abs() < SAME_RATIO;
        if !run.iter().all(is_even) {
            return uneven_scale(run);
        }
        let ratio = first.along() / first.across();
        if !ratio.is_finite() || (ratio - 1.0).abs() < SAME_RATIO {
            return None;
        }
        let told = tally(run, ratio);
        let known = self.known.iter_mut();
        let known = known
            .into_iter()
            .find(|it| (it.ratio - ratio).abs() < SAME_RATIO);
        let is_stretched = match known {
            Some(known) => {
                known.add(&told);
                known.is_stretched()
            }
            None => {
                if told.gaps > 0 && self.known.len() < MAX_RATIOS {
                    self.known.push(told);
                }
                told.is_stretched()
            }
        };
        is_stretched.then(|| first.across())
    }
}

/// The scale of a run whose glyphs are stretched each by another factor: the middle one of its steps.
fn uneven_scale(run: &[RunGlyph]) -> Option<f64> {
    let steps = run.iter().zip(run.iter().skip(1));
    let steps = steps.filter(|(one, _)| one.width > 0.0);
    middle(
        steps
            .map(|(one, next)| one.step_to(next) / one.width)
            .collect(),
    )
}

/// What a run tells of whether all its glyphs are stretched by the same factor, or written wider or narrower: the space between
/// them is the same where the right one of height and width counts. Nothing where its glyphs are alike.
fn tally(run: &[RunGlyph], ratio: f64) -> Tally {
    let none = Tally {
        ratio,
        ..Tally::default()
    };
    let Some(first) = run.first() else {
        return none;
    };
    let widths = run.iter().map(|it| it.width);
    let least = widths.clone().fold(f64::INFINITY, f64::min);
    if widths.fold(0.0, f64::max) - least < MIN_DIFFERENCE {
        return none;
    }
    let even_gaps = |scale: f64| {
        let steps = run.iter().zip(run.iter().skip(1));
        let gaps: Vec<f64> = steps
            .map(|(one, next)| one.step_to(next) - scale * one.width)
            .collect();
        let usual = middle(gaps.clone()).unwrap_or_default();
        let same = SAME_SPACE * EM_UNITS * first.across();
        gaps.iter()
            .filter(|gap| (*gap - usual).abs() < same)
            .count()
    };
    Tally {
        ratio,
        gaps: run.len().saturating_sub(1),
        stretched: even_gaps(first.across()),
        written: even_gaps(first.along()),
    }
}

fn middle(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}
