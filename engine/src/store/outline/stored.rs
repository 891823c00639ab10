//! The headings of one document as they are read: places and numbers of all, and titles on demand.

use kb_types::Span;
use kb_types::sections::OpenSections;
use kb_types::syntax::label;
use kb_types::syntax::nesting::{Levels, SymbolList};

use crate::store::symbols::{Excerpt, StoredSymbols};

/// The headings of one document, in reading order; of a long program perhaps only those around a place.
#[derive(Debug)]
pub struct StoredOutline {
    headings: Vec<StoredHeading>,
    titles: Titles,
    /// Whether no heading begins before the one before it. Bookmarks of pages may go back in the text.
    is_ascending: bool,
    /// Where these headings stand among all; `None` where they are all.
    excerpt: Option<Excerpt>,
}

/// A heading beside its title.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredHeading {
    pub(super) level: u8,
    /// First byte of the heading.
    pub(super) start: u32,
    /// Where the section of a symbol ends; that of another heading goes on.
    pub(super) end: Option<u32>,
    /// Position of the nearest heading before it that has a lower level.
    pub(super) above: Option<u32>,
    /// Number among the sections directly under that, from 1.
    pub(super) number: u32,
}

impl StoredHeading {
    /// Whether the section of a symbol ends at or before a byte.
    pub(super) fn has_ended(&self, byte: u32) -> bool {
        self.end.is_some_and(|end| end <= byte)
    }
}

/// Where the titles are.
#[derive(Debug)]
// Titles are read of few headings, of those above a hit. One string for all costs one allocation,
// not one a heading.
enum Titles {
    /// Of a text: one behind the other, and where each ends.
    Text { titles: String, ends: Vec<usize> },
    /// Of a program: the labels of its symbols. Of a text without headings: none.
    Symbols {
        symbols: StoredSymbols,
        /// Which of them each heading is, where some are fields, which are no headings.
        sections: Option<Vec<u32>>,
    },
}

/// A title in two parts, of which one may be empty. See [`label`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Title<'o> {
    /// The keyword of a symbol.
    pub(super) keyword: &'o str,
    /// The name of a symbol, or all of another title.
    pub(super) name: &'o str,
}

impl Title<'_> {
    /// Both parts as one text.
    pub(super) fn text(self) -> String {
        label(self.keyword, self.name)
    }
}

impl StoredOutline {
    /// Of a text: level, title and first byte of each heading.
    pub fn of_titles<'t>(headings: impl IntoIterator<Item = (u8, &'t str, u32)>) -> StoredOutline {
        let (mut titles, mut ends) = (String::new(), Vec::new());
        let headings = headings.into_iter().map(|(level, title, start)| {
            titles.push_str(title);
            ends.push(titles.len());
            (level, start, None)
        });
        let headings: Vec<StoredHeading> =
            numbered(&mut OpenSections::default(), headings).collect();
        StoredOutline {
            is_ascending: headings.is_sorted_by_key(|heading| heading.start),
            headings,
            titles: Titles::Text { titles, ends },
            excerpt: None,
        }
    }

    /// Of a program with these symbols, and others where they are an excerpt.
    pub fn of_symbols(symbols: StoredSymbols, excerpt: Option<Excerpt>) -> StoredOutline {
        let mut levels = Levels::default();
        let places = symbols.iter().filter_map(|symbol| {
            let spans = symbol.spans;
            let level = levels.next(&symbol);
            let place = (level, spans.start_with_doc(), Some(spans.span.end));
            symbol.kind.is_section().then_some(place)
        });
        let below = excerpt.as_ref().map_or(&[][..], Excerpt::below);
        let holders = below.len().saturating_sub(1);
        // Those that hold the first symbol of an excerpt were numbered where they stand.
        let mut places = places.zip(0u32..);
        let open = places.by_ref().take(holders).zip(below);
        let open = open.map(|(((level, start, end), position), number)| StoredHeading {
            level,
            start,
            end,
            above: position.checked_sub(1),
            number: *number,
        });
        // Nearly all symbols are sections.
        let mut headings = Vec::with_capacity(symbols.len());
        headings.extend(open);
        let mut sections = OpenSections::within(below);
        headings.extend(numbered(&mut sections, places.map(|(place, _)| place)));
        StoredOutline {
            is_ascending: headings.is_sorted_by_key(|heading| heading.start),
            headings,
            titles: Titles::Symbols {
                sections: sections_of(&symbols),
                symbols,
            },
            excerpt,
        }
    }

    /// Whether it has all headings that a byte of `span` can lie under or before.
    pub fn covers(&self, span: Span) -> bool {
        let excerpt = self.excerpt.as_ref();
        excerpt.is_none_or(|excerpt| excerpt.covers(span))
    }

    /// Where its headings stand among all; `None` where they are all.
    pub(super) fn excerpt(&self) -> Option<&Excerpt> {
        self.excerpt.as_ref()
    }

    /// Bytes that it takes in memory.
    pub fn len_bytes(&self) -> usize {
        let titles = match &self.titles {
            Titles::Text { titles, ends } => titles.len() + size_of_val(&**ends),
            Titles::Symbols { symbols, sections } => {
                symbols.len_bytes() + sections.as_deref().map_or(0, size_of_val)
            }
        };
        titles + size_of_val(&*self.headings)
    }

    /// The symbols of a program, with fields; `None` for a text with headings.
    pub fn symbols(&self) -> Option<&StoredSymbols> {
        match &self.titles {
            Titles::Text { .. } => None,
            Titles::Symbols { symbols, .. } => Some(symbols),
        }
    }

    /// The headings in reading order.
    pub(super) fn headings(&self) -> &[StoredHeading] {
        &self.headings
    }

    /// The title of the heading at a position; empty where there is none.
    pub(super) fn title(&self, position: usize) -> Title<'_> {
        match &self.titles {
            Titles::Text { titles, ends } => {
                let before = position.checked_sub(1).and_then(|before| ends.get(before));
                let start = before.copied().unwrap_or(0);
                let end = ends.get(position).copied().unwrap_or(start);
                Title {
                    keyword: "",
                    name: titles.get(start..end).unwrap_or_default(),
                }
            }
            Titles::Symbols { symbols, .. } => {
                let symbol = symbols.symbol_at(self.symbol_of(position));
                Title {
                    keyword: symbol.map_or("", |symbol| symbol.keyword),
                    name: symbol.map_or("", |symbol| symbol.name),
                }
            }
        }
    }

    /// The position of the symbol that a heading is, among those that are here.
    pub(super) fn symbol_of(&self, position: usize) -> usize {
        match &self.titles {
            Titles::Symbols {
                sections: Some(sections),
                ..
            } => sections.get(position).map_or(usize::MAX, |at| *at as usize),
            _ => position,
        }
    }

    /// The positions of a heading and of those above it, the innermost first.
    pub(super) fn with_above(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |at| {
            let heading = self.headings.get(*at)?;
            heading.above.map(|above| above as usize)
        })
    }

    /// How many headings in reading order begin at or before a byte, where none goes back in the text.
    pub(super) fn begun(&self, byte: u32) -> Option<usize> {
        let begun = || {
            self.headings
                .partition_point(|heading| heading.start <= byte)
        };
        // Where headings go back a binary search would be wrong; the caller looks at all of them.
        self.is_ascending.then(begun)
    }
}

/// The positions of symbols that are sections; `None` where all are.
fn sections_of(symbols: &StoredSymbols) -> Option<Vec<u32>> {
    if symbols.iter().all(|symbol| symbol.kind.is_section()) {
        return None;
    }
    let numbered = symbols.iter().zip(0u32..);
    let sections = numbered.filter_map(|(symbol, at)| symbol.kind.is_section().then_some(at));
    Some(sections.collect())
}

/// Finds for each heading, given as level, start and end, the one above and its number.
fn numbered<'s>(
    open: &'s mut OpenSections,
    headings: impl Iterator<Item = (u8, u32, Option<u32>)> + 's,
) -> impl Iterator<Item = StoredHeading> + 's {
    headings.map(|(level, start, end)| {
        let (above, number) = open.push(level);
        StoredHeading {
            level,
            start,
            end,
            above,
            number,
        }
    })
}
