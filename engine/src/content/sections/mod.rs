//! Sections of a document: its headings with a number, the lines and the bytes that lie under each.

mod find;
mod section;

use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::parts::number_of;
use crate::content::sections::find::find_section;
pub use crate::content::sections::section::Section;
use kb_types::error::Result;
use kb_types::part::part_at;
use kb_types::sections::OpenSections;
use kb_types::{DocumentId, Heading, Lines, PageSource, PartContent, Span};

use crate::content::text::{DocumentText, paged};
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, PageOptions, Paged, fill, skip};
use crate::store::documents::DocumentRecord;

/// The outline of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The document.
    pub document: DocumentInfo,
    /// Headings in reading order; empty when it has none.
    pub headings: Vec<Heading>,
}

/// The sections of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentSections {
    /// The document.
    pub document: DocumentInfo,
    /// In reading order; empty when it has no headings. Of a document with
    /// [`Physical`](PageSource::Physical) pages they are its bookmarks.
    pub sections: Paged<Section>,
    /// How it is known where its pages begin; `None` in a document without pages of its own.
    pub page_source: Option<PageSource>,
}

/// See [`crate::Kb::outline`].
pub(crate) fn outline(commit: CommitView<'_>, name: &str) -> Result<Outline> {
    let (id, record) = commit.resolve(name)?;
    let headings = commit.catalog.outlines.get(commit.snapshot, id)?;
    Ok(Outline {
        document: DocumentInfo::from_record(commit, id, record)?,
        headings,
    })
}

/// See [`crate::Kb::sections`].
pub(crate) fn sections(
    commit: CommitView<'_>,
    name: &str,
    within: Option<&str>,
    page: &PageOptions,
) -> Result<DocumentSections> {
    page.validate()?;
    let (id, record) = commit.resolve(name)?;
    let mut all = all_sections(commit, id, &record)?;
    let mut number = None;
    if let Some(within) = within {
        let place = find_section(&all, within, &record.path, &record.title)?;
        all.drain(..place);
        // Those below it have deeper levels, up to the next of its level or above.
        let level = all.first().map_or(0, |section| section.level);
        let mut below = all.iter().skip(1);
        let count = below.position(|section| section.level <= level);
        all.truncate(count.map_or(all.len(), |count| count + 1));
        number = all.first().map(|section| section.number.clone());
    }
    let scope = PagedCall::Sections {
        path: &record.path,
        within: number.as_deref(),
    }
    .scope(commit);
    let start = scope.start(page)?;
    let parts = &commit.catalog.parts;
    let parts = parts.get(commit.snapshot, id, record.text_bytes)?;
    let rest = skip(all, start).map(|section| {
        let position = part_at(&parts, section.span.start);
        Ok(Section {
            part: position.map(number_of),
            ..section
        })
    });
    let sections = fill(
        &scope,
        Budget::of_list(page),
        start,
        rest,
        |section: &Section| {
            (section.title.len() + section.number.len()) as u64 + ITEM_OVERHEAD_BYTES
        },
    )?;
    let page_source = match parts.first().map(|part| &part.content) {
        Some(PartContent::Page(page)) => Some(page.source),
        _ => None,
    };
    Ok(DocumentSections {
        document: DocumentInfo::from_record(commit, id, record)?,
        sections,
        page_source,
    })
}

/// See [`crate::Kb::section_text`].
pub(crate) fn section_text(
    commit: CommitView<'_>,
    name: &str,
    section: &str,
    page: &PageOptions,
) -> Result<DocumentText> {
    page.validate()?;
    let (id, record) = commit.resolve(name)?;
    let span = section_span(commit, id, &record, section)?;
    let scope = PagedCall::Section {
        path: &record.path,
        span,
    }
    .scope(commit);
    let start = scope.start(page)?;
    paged(commit, (id, record), span, start, &scope, page)
}

/// The span of the section of that name.
///
/// # Errors
/// [`Error::SectionNotFound`](crate::Error::SectionNotFound) with the sections that look like it,
/// [`Error::AmbiguousSection`](crate::Error::AmbiguousSection).
pub(super) fn section_span(
    commit: CommitView<'_>,
    id: DocumentId,
    record: &DocumentRecord,
    section: &str,
) -> Result<Span> {
    let all = all_sections(commit, id, record)?;
    let place = find_section(&all, section, &record.path, &record.title)?;
    Ok(all
        .get(place)
        .map_or(Span { start: 0, end: 0 }, |found| found.span))
}

/// All sections of a document.
fn all_sections(
    commit: CommitView<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<Vec<Section>> {
    let headings = commit.catalog.outlines.get(commit.snapshot, id)?;
    let end = Heading {
        level: 0,
        title: String::new(),
        start: record.text_bytes,
        line: record.lines.saturating_add(1),
        symbol: None,
    };
    Ok(numbered(headings, &end))
}

/// Numbers the headings and sets where each section ends: where the next one of its level or above
/// begins, the last ones at `end`.
fn numbered(headings: Vec<Heading>, end: &Heading) -> Vec<Section> {
    let mut sections = OpenSections::default();
    let numbers: Vec<String> = headings
        .iter()
        .map(|heading| {
            sections.push(heading.level);
            sections.number()
        })
        .collect();
    // Where headings begin in the text: bookmarks may go back in it.
    let mut places: Vec<(u32, u32)> = headings.iter().map(|it| (it.start, it.line)).collect();
    places.push((end.start, end.line));
    places.sort_unstable();
    let mut all: Vec<Section> = Vec::with_capacity(headings.len());
    // Places of the sections that are open, outermost first.
    let mut open: Vec<usize> = Vec::new();
    for (heading, number) in headings.into_iter().zip(numbers) {
        close(&mut all, &mut open, &heading, &places);
        let symbol = heading.symbol;
        let name = symbol.and_then(|symbol| {
            let label = &heading.title;
            let start = label.len().checked_sub(symbol.name_bytes as usize)?;
            label.get(start..).map(str::to_owned)
        });
        open.push(all.len());
        all.push(Section {
            number,
            level: heading.level,
            title: heading.title,
            lines: Lines {
                first: heading.line,
                last: symbol.map_or(heading.line, |symbol| symbol.last_line),
            },
            span: Span {
                start: heading.start,
                end: symbol.map_or(heading.start, |symbol| symbol.end),
            },
            part: None,
            kind: symbol.map(|symbol| symbol.kind),
            name,
        });
    }
    close(&mut all, &mut open, end, &places);
    all
}

/// Ends the open sections that `next` closes.
fn close(all: &mut [Section], open: &mut Vec<usize>, next: &Heading, places: &[(u32, u32)]) {
    while let Some(section) = open.last().and_then(|place| all.get_mut(*place))
        && section.level >= next.level
    {
        open.pop();
        if section.kind.is_some() {
            // It ended with its symbol.
            continue;
        }
        let start = section.span.start;
        let after = || places.get(places.partition_point(|(it, _)| *it <= start));
        let (end, line) = match next.start < start {
            true => after().copied().unwrap_or((start, section.lines.first)),
            false => (next.start, next.line),
        };
        section.span.end = end;
        section.lines.last = line.saturating_sub(1).max(section.lines.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(level: u8, title: &str, start: u32) -> Heading {
        Heading {
            level,
            title: title.to_owned(),
            start,
            line: start / 10 + 1,
            symbol: None,
        }
    }

    fn guide() -> Vec<Section> {
        let headings = vec![
            heading(1, "Guide", 0),
            heading(3, "Install", 20),
            heading(3, "Use", 40),
            heading(4, "Flags", 50),
            heading(2, "Build", 60),
            heading(1, "Build", 80),
        ];
        numbered(headings, &heading(0, "", 100))
    }

    #[test]
    fn sections_are_numbered_by_what_lies_under_what() {
        let all = guide();
        let told: Vec<_> = all
            .iter()
            .map(|s| (s.number.as_str(), s.span.start, s.span.end, s.lines.last))
            .collect();
        let expected = [
            ("1", 0, 80, 8),
            ("1.1", 20, 40, 4),
            ("1.2", 40, 60, 6),
            ("1.2.1", 50, 60, 6),
            ("1.3", 60, 80, 8),
            ("2", 80, 100, 10),
        ];
        assert_eq!(told, expected);
        assert!(numbered(Vec::new(), &heading(0, "", 10)).is_empty());
    }

    #[test]
    fn a_section_before_one_that_goes_back_ends_at_the_next() {
        let bookmarks = vec![
            heading(1, "Tides", 10),
            heading(1, "Moon", 40),
            heading(1, "Figures", 20),
            heading(1, "Charts", 50),
        ];
        let all = numbered(bookmarks, &heading(0, "", 60));
        let told: Vec<_> = all
            .iter()
            .map(|it| (it.span.start, it.span.end, it.lines.last))
            .collect();
        assert_eq!(told, [(10, 40, 4), (40, 50, 5), (20, 50, 5), (50, 60, 6)]);
    }
}
