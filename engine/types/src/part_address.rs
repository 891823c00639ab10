//! Which page, sheet or slide of its document a text lies in.

use std::fmt;

use crate::part::{part_at, rows_of_lines};
use crate::{Lines, PageSource, Part, PartContent};

/// The page, sheet or slide of a document that some text of it lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartAddress {
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

impl PartAddress {
    /// The part of a text that begins at `byte` of its document and has these lines of it; `None` without parts.
    pub fn of(parts: &[Part], byte: u32, lines: Lines) -> Option<PartAddress> {
        let position = part_at(parts, byte)?;
        let part = parts.get(position)?;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (number, total) = (count(position).saturating_add(1), count(parts.len()));
        Some(match &part.content {
            PartContent::Page(page) => PartAddress::Page {
                number,
                total,
                source: page.source,
                label: page.label.clone(),
            },
            PartContent::Sheet(sheet) => {
                let rows = rows_of_lines(part, sheet, lines);
                PartAddress::Sheet {
                    number,
                    total,
                    name: sheet.name.clone(),
                    first_row: rows.first,
                    last_row: rows.last.max(rows.first),
                }
            }
            PartContent::Slide(slide) => PartAddress::Slide {
                number,
                total,
                title: slide.title.clone(),
            },
        })
    }

    /// Its label, name or title, which may be empty.
    pub fn name(&self) -> &str {
        match self {
            PartAddress::Page { label: name, .. }
            | PartAddress::Sheet { name, .. }
            | PartAddress::Slide { title: name, .. } => name,
        }
    }
}

/// What stands behind the path of a document: `p. 4`, `[Q1] rows 12-40`, `slide 3`. The name of a sheet is not
/// escaped.
impl fmt::Display for PartAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartAddress::Page { number, .. } => write!(f, "p. {number}"),
            PartAddress::Slide { number, .. } => write!(f, "slide {number}"),
            PartAddress::Sheet {
                name,
                first_row,
                last_row,
                ..
            } => {
                if !name.is_empty() {
                    write!(f, "[{name}] ")?;
                }
                if first_row == last_row {
                    write!(f, "row {first_row}")
                } else {
                    write!(f, "rows {first_row}-{last_row}")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_what_people_write() {
        let sheet = |name: &str, last_row| PartAddress::Sheet {
            number: 1,
            total: 2,
            name: name.to_owned(),
            first_row: 12,
            last_row,
        };
        let page = PartAddress::Page {
            number: 4,
            total: 9,
            source: PageSource::Physical,
            label: "iv".to_owned(),
        };
        let slide = PartAddress::Slide {
            number: 3,
            total: 9,
            title: "Tides".to_owned(),
        };
        let told = [page, slide, sheet("Q1", 40), sheet("", 40), sheet("Q1", 12)];
        let told = told.map(|address| address.to_string());
        assert_eq!(
            told,
            [
                "p. 4",
                "slide 3",
                "[Q1] rows 12-40",
                "rows 12-40",
                "[Q1] row 12"
            ]
        );
    }
}
