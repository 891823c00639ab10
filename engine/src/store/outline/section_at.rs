//! Which section a byte lies in, and what it is called.

use kb_types::Span;
use kb_types::sections::{SECTION_SEPARATOR, number_of, numbers_in};

use crate::store::outline::stored::StoredOutline;
use crate::store::symbols::Excerpt;

/// The innermost section that a byte of a document lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionAt {
    /// Titles of its heading and those above, outermost first; empty before the first heading.
    pub titles: Vec<String>,
    /// Its number: `2.1` is the first section directly under the second. Empty before the first heading.
    pub number: String,
    /// From its heading to the next one of its level or above, or where that goes back in the text, to the next
    /// heading there; before the first heading, up to that.
    pub span: Span,
    /// Whether the titles do not tell it from the other sections: another one has the same, or they begin
    /// like the number of another one.
    pub is_ambiguous: bool,
}

/// What to call a section by: its titles, after its number where they are ambiguous; empty before the
/// first heading.
pub(crate) fn section_name(section: &SectionAt) -> String {
    let titles = section.titles.join(SECTION_SEPARATOR);
    if section.is_ambiguous {
        format!("{} {titles}", section.number)
    } else {
        titles
    }
}

/// Where the headings within a span begin, ascending; one at its first byte is not among them.
pub(crate) fn starts_within(outline: &StoredOutline, span: Span) -> Vec<u32> {
    let is_within = |start: &u32| span.start < *start && *start < span.end;
    let headings = outline.headings();
    // In order, which is nearly always, only the headings of the span are looked at. Otherwise all
    // are, and sorted.
    if let Some(begun) = outline.begun(span.start) {
        let behind = headings.iter().skip(begun).map(|heading| heading.start);
        return behind.take_while(is_within).collect();
    }
    let starts = headings.iter().map(|heading| heading.start);
    let mut starts: Vec<u32> = starts.filter(is_within).collect();
    starts.sort_unstable();
    starts
}

/// The heading that a byte lies under: that which begins nearest before it, of several at one place the last; where
/// that is a symbol that has ended, the nearest around it that has not. Bookmarks of pages may go back in the text; all
/// others ascend.
fn heading_at(outline: &StoredOutline, byte: u32) -> Option<usize> {
    let headings = outline.headings();
    let begun = outline.begun(byte).unwrap_or_else(|| {
        let before = (1usize..).zip(headings).filter(|(_, it)| it.start <= byte);
        let nearest = before.max_by_key(|(_, heading)| heading.start);
        nearest.map_or(0, |(count, _)| count)
    });
    let mut position = begun.checked_sub(1)?;
    loop {
        let heading = headings.get(position)?;
        if !heading.has_ended(byte) {
            return Some(position);
        }
        // Programs nest deeper than a level counts; all deeper ones have the largest.
        position = if heading.level == u8::MAX {
            // The levels below are all the same, so the one before may be around it.
            position.checked_sub(1)?
        } else {
            // Those of its level lie beside it.
            heading.above? as usize
        };
    }
}

/// Titles of the headings that a byte lies under, outermost first.
pub(crate) fn titles_at(outline: &StoredOutline, byte: u32) -> Vec<String> {
    heading_at(outline, byte).map_or_else(Vec::new, |own| titles_of(outline, own))
}

fn titles_of(outline: &StoredOutline, position: usize) -> Vec<String> {
    let inner_first = outline.with_above(position);
    let titles = inner_first.map(|at| outline.title(at).text());
    let mut titles: Vec<String> = titles.collect();
    titles.reverse();
    titles
}

/// The numbers of a heading and of those above it, outermost first.
fn numbers_of(outline: &StoredOutline, position: usize) -> Vec<u32> {
    let inner_first = outline.with_above(position);
    let numbers = inner_first.filter_map(|at| outline.headings().get(at).map(|it| it.number));
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.reverse();
    numbers
}

/// The section of a byte of a text of `text_bytes` bytes. Linear in the number of headings.
pub(crate) fn section_at(outline: &StoredOutline, byte: u32, text_bytes: u32) -> SectionAt {
    let headings = outline.headings();
    let Some((position, own)) =
        heading_at(outline, byte).and_then(|own| Some((own, headings.get(own)?)))
    else {
        return outside(outline, byte, text_bytes);
    };
    let end = own.end.map(|end| end.min(text_bytes)).unwrap_or_else(|| {
        let mut after = headings.iter().skip(position + 1);
        let next = after.find(|next| next.level <= own.level);
        let end = next.map_or(text_bytes, |next| next.start);
        if end < own.start {
            next_start(outline, byte, text_bytes)
        } else {
            end
        }
    });
    let titles = titles_of(outline, position);
    let numbers = numbers_of(outline, position);
    SectionAt {
        is_ambiguous: is_ambiguous(outline, position, &titles.join(SECTION_SEPARATOR), &numbers),
        span: Span {
            start: own.start,
            end: end.max(own.start),
        },
        titles,
        number: number_of(numbers.into_iter()),
    }
}

/// Of a byte under no heading: behind symbols that have ended, or before all headings.
fn outside(outline: &StoredOutline, byte: u32, text_bytes: u32) -> SectionAt {
    let headings = outline.headings().iter();
    let begun = headings.filter(|heading| heading.start <= byte);
    let before = outline.excerpt().map_or(0, Excerpt::ended);
    let ends = begun.filter_map(|heading| heading.end);
    let start = ends.max().unwrap_or(0).max(before);
    let end = next_start(outline, byte, text_bytes);
    SectionAt {
        titles: Vec::new(),
        number: String::new(),
        span: Span {
            start,
            end: end.max(start),
        },
        is_ambiguous: false,
    }
}

/// Where the next heading behind a byte begins; the end of the text without one.
fn next_start(outline: &StoredOutline, byte: u32, text_bytes: u32) -> u32 {
    let starts = outline.headings().iter().map(|heading| heading.start);
    let next = starts.filter(|start| *start > byte).min();
    let behind = || outline.excerpt().and_then(Excerpt::next);
    next.or_else(behind).unwrap_or(text_bytes)
}

/// Where the heading above the one of a byte begins; `None` for a section at the top.
pub(crate) fn start_of_parent(outline: &StoredOutline, byte: u32) -> Option<u32> {
    let headings = outline.headings();
    let own = headings.get(heading_at(outline, byte)?)?;
    if own.end.is_some() {
        // The section of a symbol lies in those of the symbols that hold it.
        let above = outline.with_above(own.above? as usize);
        let mut above = above.filter_map(|at| headings.get(at));
        return above
            .find(|above| above.start < own.start)
            .map(|above| above.start);
    }
    // Where the nearest of a lower level goes on, one before that may not.
    let mut above = headings.get(..=own.above? as usize)?.iter().rev();
    let parent = above.find(|above| above.level < own.level && above.start < own.start)?;
    Some(parent.start)
}

/// Whether `path`, the joined titles of the section at `position` with these `numbers`, also means another one: its
/// own path ends with it, or it has the number that `path` begins with. So does a path that begins like the mark of a
/// path from the top.
fn is_ambiguous(outline: &StoredOutline, position: usize, path: &str, numbers: &[u32]) -> bool {
    if let Some(excerpt) = outline.excerpt() {
        return excerpt.is_ambiguous(outline.symbol_of(position));
    }
    // A request reads such a path from the top, so the number has to come before it.
    if path.starts_with(SECTION_SEPARATOR.trim_start()) {
        return true;
    }
    let first = path.split(' ').next();
    let like_a_number = first.and_then(numbers_in).filter(|it| it != numbers);
    if like_a_number.is_some_and(|numbers| has_number(outline, &numbers)) {
        return true;
    }
    let end = [SECTION_SEPARATOR, path].concat();
    let mut others = (0..outline.headings().len()).filter(|other| *other != position);
    others.any(|other| {
        let name = outline.title(other).name;
        // Of nearly all others already the last name tells.
        (path.ends_with(name) || name.ends_with(path)) && path_ends_with(outline, other, &end)
    })
}

/// Whether a section has these numbers.
fn has_number(outline: &StoredOutline, numbers: &[u32]) -> bool {
    let headings = outline.headings();
    let number_at = |at: usize| headings.get(at).map(|heading| heading.number);
    (0..headings.len()).any(|position| {
        number_at(position) == numbers.last().copied()
            && outline
                .with_above(position)
                .map(number_at)
                .eq(numbers.iter().rev().map(|number| Some(*number)))
    })
}

/// Whether the joined titles of a section and those above it end with `end`, a separator and a path, or are that path.
fn path_ends_with(outline: &StoredOutline, position: usize, end: &str) -> bool {
    let mut rest = end;
    for (depth, at) in outline.with_above(position).enumerate() {
        let title = outline.title(at);
        let separator = if depth == 0 { "" } else { SECTION_SEPARATOR };
        let space = if title.keyword.is_empty() { "" } else { " " };
        for piece in [separator, title.name, space, title.keyword] {
            match rest.strip_suffix(piece) {
                Some("") => return true,
                Some(before) => rest = before,
                None => return piece.ends_with(rest),
            }
        }
    }
    rest == SECTION_SEPARATOR
}
