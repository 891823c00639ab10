//! The slides of a presentation on their way into a document.

use kb_types::{PartContent, Slide};

use crate::extracted::{Extracted, MAX_TITLE_CHARS, tidy};
use crate::skip_reason::SkipReason;
use crate::text_builder::TextBuilder;

/// What was read of one slide.
#[derive(Debug, Default)]
pub(super) struct SlideText {
    pub(super) title: Option<String>,
    /// Its paragraphs, a line each.
    pub(super) text: String,
    pub(super) notes: String,
    pub(super) is_hidden: bool,
}

/// Takes slides in their order.
pub(super) struct Deck {
    builder: TextBuilder,
    slides: usize,
    /// Whether a slide has had a title.
    has_titles: bool,
}

impl Deck {
    pub(super) fn new(found: Extracted) -> Deck {
        let mut builder = TextBuilder::new();
        *builder.found() = found;
        Deck {
            builder,
            slides: 0,
            has_titles: false,
        }
    }

    /// Whether there is more text than a document may have.
    pub(super) fn is_full(&self) -> bool {
        self.builder.is_full()
    }

    /// How many slides were taken.
    pub(super) fn slides(&self) -> usize {
        self.slides
    }

    /// Appends a slide: its title is a heading, then its text, then its notes. Behind a slide with a title, one
    /// without is the section `Slide 4`.
    pub(super) fn push(&mut self, slide: &SlideText) {
        self.slides += 1;
        let title = slide.title.as_deref().unwrap_or_default();
        let tidy_title = tidy(title, MAX_TITLE_CHARS);
        let is_titled = !tidy_title.is_empty();
        self.builder.begin_part(PartContent::Slide(Slide {
            title: tidy_title,
            notes: None,
            is_hidden: slide.is_hidden,
        }));
        if is_titled {
            self.has_titles = true;
            self.builder.heading(1, title);
        } else if self.has_titles
            && !(slide.text.trim().is_empty() && slide.notes.trim().is_empty())
        {
            // What is on it would belong to the section of a slide before.
            self.builder.section(1, &format!("Slide {}", self.slides));
        }
        self.builder.paragraph(&slide.text);
        if slide.notes.trim().is_empty() {
            return;
        }
        let start = u32::try_from(self.builder.len()).ok();
        self.builder.paragraph(&slide.notes);
        if let Some(PartContent::Slide(part)) = self.builder.part() {
            part.notes = start;
        }
    }

    /// # Errors
    /// More text or slides than a document may have.
    pub(super) fn finish(self) -> Result<Extracted, SkipReason> {
        self.builder.finish()
    }
}
