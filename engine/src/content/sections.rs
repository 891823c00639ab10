//! Sections of a document: its headings with a number, the lines and the bytes that lie under each.

use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::text::{DocumentText, paged};
use crate::content::{CommitView, DocumentInfo};
use crate::error::{Error, Result};
use crate::paging::{Budget, PageOptions, Paged, fill, skip};
use crate::resolve::Nearest;
use crate::store::documents::DocumentRecord;
use crate::types::{DocumentId, Heading, Lines, Span};

/// The outline of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The document.
    pub document: DocumentInfo,
    /// Headings in reading order; empty when it has none.
    pub headings: Vec<Heading>,
}

/// A heading and what lies under it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Its position among the sections: `2.1` is the first one directly under the second.
    pub number: String,
    /// Depth of the heading, from 1 (the outermost) to 6.
    pub level: u8,
    /// Text of the heading, without markup.
    pub title: String,
    /// Lines of the original from the heading to the last line under it; where the text has other
    /// lines than the original (HTML), as near as its headings tell.
    pub lines: Lines,
    /// Bytes of the stored text.
    pub span: Span,
}

/// The sections of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentSections {
    /// The document.
    pub document: DocumentInfo,
    /// In reading order; empty when it has no headings.
    pub sections: Paged<Section>,
}

/// See [`crate::Kb::outline`].
pub(crate) fn outline(commit: CommitView<'_>, name: &str) -> Result<Outline> {
    let (id, record) = commit.resolve(name)?;
    let headings = commit.catalog.outlines.get(commit.snapshot, id)?;
    Ok(Outline {
        document: DocumentInfo::from_record(record)?,
        headings,
    })
}

/// See [`crate::Kb::sections`].
pub(crate) fn sections(
    commit: CommitView<'_>,
    name: &str,
    page: &PageOptions,
) -> Result<DocumentSections> {
    page.validate()?;
    let (id, record) = commit.resolve(name)?;
    let scope = PagedCall::Sections { path: &record.path }.scope(commit);
    let start = scope.start(page)?;
    let all = all_sections(commit, id, &record)?;
    let rest = skip(all, start).map(Ok);
    let sections = fill(
        &scope,
        Budget::of_list(page),
        start,
        rest,
        |section: &Section| {
            (section.title.len() + section.number.len()) as u64 + ITEM_OVERHEAD_BYTES
        },
    )?;
    let document = DocumentInfo::from_record(record)?;
    Ok(DocumentSections { document, sections })
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
    paged(commit, record, span, start, &scope, page)
}

/// The span of one section, given by its number or by a title that only one heading has.
///
/// # Errors
/// [`Error::SectionNotFound`] with the sections that look like it, [`Error::AmbiguousSection`].
pub(super) fn section_span(
    commit: CommitView<'_>,
    id: DocumentId,
    record: &DocumentRecord,
    section: &str,
) -> Result<Span> {
    let all = all_sections(commit, id, record)?;
    Ok(find(&all, section, &record.path)?.span)
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
    };
    Ok(numbered(headings, &end))
}

/// Numbers the headings and sets where each section ends: where the next one of its level or above
/// begins, the last ones at `end`. A number counts the sections directly under the one above: `2.1` is
/// the first section in the second, even if the levels of their headings differ by more than one.
fn numbered(headings: Vec<Heading>, end: &Heading) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::with_capacity(headings.len());
    // Places of the sections that are open, outermost first, and how many lie directly under each.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut at_top = 0u32;
    for heading in headings {
        close(&mut all, &mut open, &heading);
        let (above, count) = match open.last_mut() {
            Some((place, count)) => {
                let above = all.get(*place).map(|section| section.number.as_str());
                (above.unwrap_or_default(), count)
            }
            None => ("", &mut at_top),
        };
        *count = count.saturating_add(1);
        let number = match above {
            "" => count.to_string(),
            above => format!("{above}.{count}"),
        };
        open.push((all.len(), 0));
        all.push(Section {
            number,
            level: heading.level,
            title: heading.title,
            lines: Lines {
                first: heading.line,
                last: heading.line,
            },
            span: Span {
                start: heading.start,
                end: heading.start,
            },
        });
    }
    close(&mut all, &mut open, end);
    all
}

/// Ends the open sections that `next` closes.
fn close(all: &mut [Section], open: &mut Vec<(usize, u32)>, next: &Heading) {
    while let Some(section) = open.last().and_then(|(place, _)| all.get_mut(*place))
        && section.level >= next.level
    {
        section.span.end = next.start.max(section.span.start);
        let last = next.line.saturating_sub(1);
        section.lines.last = last.max(section.lines.first);
        open.pop();
    }
}

/// The section of that number, or the only one of that title.
fn find<'s>(all: &'s [Section], name: &str, path: &str) -> Result<&'s Section> {
    let name = name.trim();
    if let Some(section) = all.iter().find(|section| section.number == name) {
        return Ok(section);
    }
    let folded = name.to_lowercase();
    let mut exact = all.iter().filter(|section| section.title == name);
    let mut alike = all.iter().filter(|s| s.title.to_lowercase() == folded);
    for found in [&mut exact as &mut dyn Iterator<Item = _>, &mut alike] {
        if let (Some(section), None) = (found.next(), found.next()) {
            return Ok(section);
        }
    }
    let (section, path) = (name.to_owned(), path.to_owned());
    let candidates: Vec<String> = all
        .iter()
        .filter(|section| section.title.to_lowercase() == folded)
        .take(MOST_NAMED)
        .map(name_of)
        .collect();
    if !candidates.is_empty() {
        return Err(Error::AmbiguousSection {
            section,
            path,
            candidates,
        });
    }
    let mut nearest = Nearest::new(name);
    all.iter().for_each(|section| nearest.offer(&section.title));
    let titles = nearest.finish();
    let nearest = titles
        .iter()
        .filter_map(|title| all.iter().find(|section| section.title == *title))
        .map(name_of)
        .collect();
    Err(Error::SectionNotFound {
        section,
        path,
        nearest,
    })
}

/// Most sections that an error names.
const MOST_NAMED: usize = 5;

fn name_of(section: &Section) -> String {
    format!("{} {}", section.number, section.title)
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
    fn a_section_is_found_by_number_or_by_a_title_of_its_own() {
        let all = guide();
        let found = |asked| find(&all, asked, "a.md").map(|section| section.number.as_str());
        assert_eq!(found("1.2.1").unwrap(), "1.2.1");
        assert_eq!(found(" Flags ").unwrap(), "1.2.1");
        assert_eq!(found("install").unwrap(), "1.1");
        let names = |asked| match found(asked) {
            Err(Error::SectionNotFound { nearest: names, .. })
            | Err(Error::AmbiguousSection {
                candidates: names, ..
            }) => names,
            other => panic!("{other:?}"),
        };
        assert_eq!(names("Build"), ["1.3 Build", "2 Build"]);
        assert_eq!(names("Instal"), ["1.1 Install"]);
        assert!(names("3.1").is_empty());
    }
}
