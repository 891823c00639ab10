//! What the interpreter of page content draws on: it keeps text, counts, and stops what does not end.

use std::panic;
use std::rc::Rc;

use hayro_interpret::font::{Glyph as DrawnGlyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::object::{Dict, String as PdfString};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};

use crate::pdf::cid_fonts::CidText;
use crate::pdf::forms::Written;
use crate::pdf::segments::{Glyph, Segment, SegmentBuilder, text_of};
use crate::pdf::stretch::{RunGlyph, Stretches};
use crate::pdf::text_string;
use crate::pdf::{page_text, words};
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};

/// Glyphs of one page.
// Pages of text have some thousands. Beyond the limit a page is a drawing, or an attack.
const MAX_PAGE_GLYPHS: usize = 1_000_000;
/// Clips of one page and of one document. Each form (a drawing that a page includes) is one: forms that include forms can draw
/// more than anybody waits for, and there is no other sign of them.
// How many clips real pages have is not recorded.
const MAX_PAGE_CLIPS: usize = 1_000_000;
const MAX_CLIPS: usize = 20_000_000;
/// Texts that are compared with the areas of fields on one page.
// The work is the product of texts and fields.
const MAX_COMPARISONS: usize = 10_000_000;
/// Marked content inside each other; deeper marks are not looked at.
// Each level is held in memory. Writers nest a few levels, one for each element of a structure.
const MAX_MARKS: usize = 1_000;
/// Units of the space of glyphs in an em.
const EM_UNITS: f64 = 1000.0;

/// What was drawn so far of one document.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    glyphs: usize,
    clips: usize,
    stretches: Stretches,
}

/// Unwinds the interpreter, which has no other way to be stopped.
pub(super) struct Stopped(pub(super) SkipReason);

fn limit(what: &'static str, limit: usize) -> SkipReason {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    SkipReason::Limit { what, limit }
}

fn stop(reason: SkipReason) -> ! {
    // Runs no panic hook: this is no panic.
    panic::resume_unwind(Box::new(Stopped(reason)))
}

/// A text that stands for what is drawn, such as a word without the hyphen at its line end.
#[derive(Debug)]
struct ActualText {
    text: String,
    is_drawn: bool,
}

/// Collects the text of one page.
#[derive(Debug)]
pub(super) struct PageDevice<'d> {
    segments: SegmentBuilder,
    drawn: &'d mut Drawn,
    page_glyphs: usize,
    page_clips: usize,
    /// Open marks, innermost last.
    marks: Vec<Option<ActualText>>,
    /// Open marks that were not kept.
    deeper_marks: usize,
    has_image: bool,
    /// Comparisons that are left to find texts within areas.
    comparisons: usize,
    /// For glyphs that have no text of their own.
    cid_text: Option<Rc<CidText>>,
}

/// What there is on a page.
#[derive(Debug)]
pub(super) struct PageContent {
    pub(super) segments: Vec<Segment>,
    /// Characters that are not white space.
    pub(super) characters: usize,
    /// Those of them that the document does not say.
    pub(super) unknown: usize,
    pub(super) has_image: bool,
}

impl<'d> PageDevice<'d> {
    /// `page` is the left, top, right and bottom of the page as it is shown.
    pub(super) fn new(
        page: (f64, f64, f64, f64),
        cid_text: Option<Rc<CidText>>,
        drawn: &'d mut Drawn,
    ) -> PageDevice<'d> {
        PageDevice {
            segments: SegmentBuilder::new(page),
            drawn,
            page_glyphs: 0,
            marks: Vec::new(),
            deeper_marks: 0,
            has_image: false,
            comparisons: MAX_COMPARISONS,
            page_clips: 0,
            cid_text,
        }
    }

    pub(super) fn finish(self) -> PageContent {
        let (characters, unknown) = self.segments.counts();
        PageContent {
            segments: self.segments.finish(),
            characters,
            unknown,
            has_image: self.has_image,
        }
    }

    /// Whether text stands within an area of the page as it is shown; that which is given, if any is.
    pub(super) fn has_text_in(&mut self, area: Rect, text: Option<&str>) -> bool {
        let Some(left) = self.comparisons.checked_sub(self.segments.count()) else {
            return true;
        };
        self.comparisons = left;
        let shown = self.segments.text_in(area);
        match text {
            Some(text) => page_text::key_of(&shown).contains(&page_text::key_of(text)),
            None => !shown.trim().is_empty(),
        }
    }

    /// Adds a line that a viewer writes. `shown`: from the coordinates of the page to those of the page as it is shown.
    ///
    /// # Errors
    /// Beyond a limit.
    pub(super) fn write(&mut self, shown: Affine, line: &Written) -> Result<(), SkipReason> {
        self.count_glyphs(line.text.chars().count())?;
        let Some(text) = text_of(BfString::String(line.text.clone())) else {
            return Ok(());
        };
        let start = shown * Point::from(line.origin);
        let end = (
            line.origin.0 + line.along.0 * line.width,
            line.origin.1 + line.along.1 * line.width,
        );
        let advance = shown * Point::from(end) - start;
        let length = advance.hypot();
        if length > 0.0 {
            let glyph = Glyph {
                origin: (start.x, start.y),
                advance: (advance.x, advance.y),
                size: line.size * length / line.width,
                baseline: (advance.x / length, advance.y / length),
                is_mirrored: false,
                ink: None,
            };
            self.segments.push(glyph, &text, false);
        }
        Ok(())
    }

    fn count_glyphs(&mut self, count: usize) -> Result<(), SkipReason> {
        self.page_glyphs += count;
        self.drawn.glyphs += count;
        if self.page_glyphs > MAX_PAGE_GLYPHS {
            return Err(limit("characters on one page", MAX_PAGE_GLYPHS));
        }
        if self.drawn.glyphs > MAX_TEXT_BYTES {
            return Err(limit("characters", MAX_TEXT_BYTES));
        }
        Ok(())
    }

    fn count_clip(&mut self) {
        self.page_clips += 1;
        self.drawn.clips += 1;
        if self.page_clips > MAX_PAGE_CLIPS {
            stop(limit(
                "drawings inside drawings on one page",
                MAX_PAGE_CLIPS,
            ));
        }
        if self.drawn.clips > MAX_CLIPS {
            stop(limit("drawings inside drawings", MAX_CLIPS));
        }
    }

    /// The text of a glyph, and whether it is a guess.
    fn glyph_text(&mut self, glyph: &DrawnGlyph<'_>) -> Option<(String, bool)> {
        let actual = self.marks.iter_mut().rev().flatten().next();
        if let Some(actual) = actual {
            // All of it at the first glyph.
            let text = (!actual.is_drawn).then(|| actual.text.clone());
            actual.is_drawn = true;
            return Some((text.unwrap_or_default(), false));
        }
        let mapped = glyph.as_unicode();
        if let Some(BfString::Char(' ')) = mapped {
            return Some((" ".to_owned(), false));
        }
        if let Some(text) = mapped.and_then(text_of) {
            return Some((text, false));
        }
        let code = glyph.char_code();
        let cid_text = self.cid_text.as_ref();
        if let Some(text) = cid_text.and_then(|table| table.of_code(code)) {
            return Some((text, false));
        }
        let printable = char::from_u32(code).filter(|one| matches!(one, ' '..='~'));
        Some((printable.unwrap_or('\u{fffd}').to_string(), true))
    }
}

/// The middle of what a glyph draws; `None` where that is nothing.
fn ink(glyph: &DrawnGlyph<'_>, transform: Affine) -> Option<(f64, f64)> {
    let DrawnGlyph::Outline(outline) = glyph else {
        return None;
    };
    let drawn = outline.outline().bounding_box();
    let middle = transform * drawn.center();
    (drawn.area() > 0.0).then_some((middle.x, middle.y))
}

impl<'a> Device<'a> for PageDevice<'_> {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}

    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.count_clip();
    }

    fn push_clip_rect(&mut self, _: &Rect) {
        self.count_clip();
    }

    fn pop_clip(&mut self) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn pop_transparency_group(&mut self) {}

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.has_image = true;
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        // Text that is filled and stroked comes twice; equal glyphs at one place are kept once.
        let _ = mode;
        let is_vertical = run.writing_mode() == WritingMode::Vertical;
        let placed = run.glyphs().iter().map(|glyph| {
            let width = match &**glyph {
                DrawnGlyph::Outline(outline) => outline.advance_width(),
                DrawnGlyph::Type3(drawing) => drawing.advance_width(),
            };
            RunGlyph {
                transform: props.transform * glyph.transform(),
                width: f64::from(width.unwrap_or(0.0)),
            }
        });
        let placed: Vec<RunGlyph> = placed.collect();
        let scale = if is_vertical {
            None
        } else {
            self.drawn.stretches.scale_of(&placed)
        };
        for (glyph, RunGlyph { transform, width }) in run.glyphs().iter().zip(placed) {
            if let Err(reason) = self.count_glyphs(1) {
                stop(reason);
            }
            let Some((text, is_unknown)) = self.glyph_text(glyph) else {
                continue;
            };
            let [a, b, c, d, ..] = transform.as_coeffs();
            let origin = transform * Point::ZERO;
            let height = c.hypot(d) * EM_UNITS;
            let baseline = if is_vertical { (-c, -d) } else { (a, b) };
            let length = baseline.0.hypot(baseline.1);
            let unit = if length > 0.0 {
                (baseline.0 / length, baseline.1 / length)
            } else {
                (1.0, 0.0)
            };
            let along = match scale {
                Some(scale) => scale * width,
                // One em a character.
                _ if is_vertical => length * EM_UNITS,
                _ => length * width,
            };
            // Fonts that are drawings have no em of their own: neither are their letters much wider than high, nor the
            // other way round.
            let size = match &**glyph {
                DrawnGlyph::Type3(_) if along > 0.0 => height.clamp(along, 5.0 * along),
                _ => height,
            };
            let glyph = Glyph {
                origin: (origin.x, origin.y),
                advance: (unit.0 * along, unit.1 * along),
                size,
                baseline: unit,
                is_mirrored: !is_vertical && a * d - b * c > 0.0,
                ink: words::is_mark(&text)
                    .then(|| ink(glyph, transform))
                    .flatten(),
            };
            self.segments.push(glyph, &text, is_unknown);
        }
    }

    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        if self.marks.len() >= MAX_MARKS {
            self.deeper_marks += 1;
            return;
        }
        let text = properties.and_then(|properties| properties.get::<PdfString<'_>>("ActualText"));
        self.marks.push(text.map(|text| ActualText {
            text:
                text_of(BfString::String(text_string::decode(text.as_bytes()))).unwrap_or_default(),
            is_drawn: false,
        }));
    }

    fn end_marked_content(&mut self) {
        if self.deeper_marks > 0 {
            self.deeper_marks -= 1;
        } else {
            self.marks.pop();
        }
    }
}
