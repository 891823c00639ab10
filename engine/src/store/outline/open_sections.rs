//! The sections that are open where headings are followed in reading order, and their numbers.

use std::fmt::Write as _;

/// The sections that are open at a place of a document, each with its number among those beside it.
#[derive(Debug, Default)]
pub struct OpenSections {
    /// Outermost first; levels ascend.
    open: Vec<OpenSection>,
    /// Sections at the top so far.
    at_top: u32,
    /// All sections so far.
    count: u32,
}

#[derive(Debug)]
struct OpenSection {
    level: u8,
    /// Its position among all sections.
    position: u32,
    /// Number among the sections directly under the one above, from 1.
    number: u32,
    /// Sections directly under it so far.
    below: u32,
}

impl OpenSections {
    /// Opens the next section in reading order, which closes those of its level and below. Returns the position of
    /// the one above and its number under that.
    pub fn push(&mut self, level: u8) -> (Option<u32>, u32) {
        while self.open.last().is_some_and(|last| last.level >= level) {
            self.open.pop();
        }
        let (above, count) = match self.open.last_mut() {
            Some(above) => (Some(above.position), &mut above.below),
            None => (None, &mut self.at_top),
        };
        *count = count.saturating_add(1);
        let number = *count;
        self.open.push(OpenSection {
            level,
            position: self.count,
            number,
            below: 0,
        });
        self.count = self.count.saturating_add(1);
        (above, number)
    }

    /// The number of the innermost: `2.1` is the first section directly under the second, even if the levels
    /// of their headings differ by more than one. Empty before the first heading.
    pub fn number(&self) -> String {
        number_of(self.open.iter().map(|section| section.number))
    }
}

/// The number of a section, by those under each other, the outermost first.
pub(super) fn number_of(numbers: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for number in numbers {
        let dot = if text.is_empty() { "" } else { "." };
        // Writing to a String does not fail.
        let _ = write!(text, "{dot}{number}");
    }
    text
}
