//! Which page, sheet or slide of its document the text of a hit lies in.

use crate::types::part::{part_at, rows_of_lines};
use crate::types::{Lines, PageSource, Part, PartContent};

/// The page, sheet or slide of a document that a hit lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HitPart {
    /// A page.
    #[non_exhaustive]
    Page {
        /// Its number in the document, from 1.
        number: u32,
        /// How many pages the document has.
        total: u32,
        /// How it is known where it begins.
        source: PageSource,
        /// The number that is printed on it, where that is another one; else empty.
        label: String,
    },
    /// Rows of a sheet.
    #[non_exhaustive]
    Sheet {
        /// Number of the sheet in the document, from 1.
        number: u32,
        /// How many sheets the document has.
        total: u32,
        /// Name of the sheet; empty in a document that is one table.
        name: String,
        /// First row of the text, from 1.
        first_row: u32,
        /// Last row of the text.
        last_row: u32,
    },
    /// A slide.
    #[non_exhaustive]
    Slide {
        /// Its number in the document, from 1.
        number: u32,
        /// How many slides the document has.
        total: u32,
        /// Its title; empty when it has none.
        title: String,
    },
}

impl HitPart {
    /// The part of a text that begins at `byte` of its document and has these lines of it; `None` without parts.
    pub(super) fn of(parts: &[Part], byte: u32, lines: Lines) -> Option<HitPart> {
        let position = part_at(parts, byte)?;
        let part = parts.get(position)?;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (number, total) = (count(position).saturating_add(1), count(parts.len()));
        Some(match &part.content {
            PartContent::Page(page) => HitPart::Page {
                number,
                total,
                source: page.source,
                label: page.label.clone(),
            },
            PartContent::Sheet(sheet) => {
                let rows = rows_of_lines(part, sheet, lines);
                HitPart::Sheet {
                    number,
                    total,
                    name: sheet.name.clone(),
                    first_row: rows.first,
                    last_row: rows.last.max(rows.first),
                }
            }
            PartContent::Slide(slide) => HitPart::Slide {
                number,
                total,
                title: slide.title.clone(),
            },
        })
    }

    /// Its label, name or title, which may be empty.
    pub fn name(&self) -> &str {
        match self {
            HitPart::Page { label: name, .. }
            | HitPart::Sheet { name, .. }
            | HitPart::Slide { title: name, .. } => name,
        }
    }
}
