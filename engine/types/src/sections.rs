//! Sections of a text: those that are open where headings are followed in reading order, and their numbers.

use std::fmt::Write as _;

/// Stands between the titles of a path of sections, as in `Guide > Install`.
pub const SECTION_SEPARATOR: &str = " > ";

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
    /// Inside of sections of the levels from 1 on, where there are so many before at the top and directly under each:
    /// one number more than are open. That of the level of one that is open is its own number.
    pub fn within(below: &[u32]) -> OpenSections {
        let (at_top, below_each) = below
            .split_first()
            .map_or((0, below), |(top, it)| (*top, it));
        let open = (0u32..).zip(below.iter().zip(below_each));
        let open = open.map(|(position, (number, below))| OpenSection {
            level: u8::try_from(position + 1).unwrap_or(u8::MAX),
            position,
            number: *number,
            below: *below,
        });
        OpenSections {
            open: open.collect(),
            at_top,
            count: u32::try_from(below_each.len()).unwrap_or(u32::MAX),
        }
    }

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
pub fn number_of(numbers: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for number in numbers {
        let dot = if text.is_empty() { "" } else { "." };
        // Writing to a String does not fail.
        let _ = write!(text, "{dot}{number}");
    }
    text
}

/// The numbers of a section that a word is, as [`number_of`] writes them.
pub fn numbers_in(word: &str) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> = word.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| number_of(numbers.iter().copied()) == word)
}
