//! Pages of a document: its own, or neighbouring chunks of about the same length together.

use std::ops::Range;

use kb_types::error::{Error, Result};
use kb_types::{Lines, PageSource, PartContent, PartKind};

use crate::catalog::BoundSegment;
use crate::content::number_ranges::{self, NumberRanges};
use crate::content::paged_call::{ITEM_OVERHEAD_BYTES, PagedCall};
use crate::content::parts::{part_rows, unsupported};
use crate::content::sections::section_span;
use crate::content::text::{all_lines, lines_of_part, rows_of, span_of};
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{
    Budget, PageOptions, Paged, TOKEN_BYTES, TextParts, TextPosition, fill_texts, skip,
};
use crate::store::documents::DocumentRecord;

/// Most bytes of a page of several chunks, of a document without pages of its own.
// 800 tokens are about a page of print, and some chunks.
const PAGE_BYTES: u64 = 800 * TOKEN_BYTES;

/// A page of a document: one of its own, or neighbouring chunks of about 800 tokens together; or where it alone
/// is over the budget, a part of it, with the lines of that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentPage {
    /// Number in the document, from 1.
    pub number: u32,
    /// Its text; all pages together are the text of the document.
    pub text: String,
    /// Lines of the original that it covers; both 0 for an empty page of several.
    pub lines: Lines,
    /// How it is known where the page begins; `None` in a document without pages of its own.
    pub source: Option<PageSource>,
    /// The number that is printed on it, where that is not [`number`](DocumentPage::number); else empty.
    pub label: String,
}

/// Pages of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentPages {
    /// The document.
    pub document: DocumentInfo,
    /// The requested pages, in the order of the request.
    pub pages: Paged<DocumentPage>,
    /// Number of pages of the document, at least 1.
    pub total: u32,
    /// Number of pages that the call selects, those of earlier parts of the result included.
    pub selected: u64,
    /// Number of these that the next parts of the result have; of a page that is cut, the rest.
    pub left: u64,
}

/// Which pages of a document a call returns.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PageSelection<'a> {
    /// Those of these ranges; without any, all, or those of the lines that the name selects.
    Ranges(&'a [(u32, u32)]),
    /// Those that hold these lines.
    Lines(Lines),
    /// Those that hold text of a section.
    Section(&'a str),
}

/// See [`crate::Kb::pages`].
pub(crate) fn pages(
    commit: CommitView<'_>,
    name: &str,
    selection: PageSelection<'_>,
    page: &PageOptions,
) -> Result<DocumentPages> {
    page.validate()?;
    let (id, record, lines) = commit.locate(name)?;
    let segment = commit.catalog.bind_document(commit.snapshot, &record)?;
    let own = commit
        .catalog
        .parts
        .get(commit.snapshot, id, record.text_bytes)?;
    // All page borders are found before the first page is read: their number is part of the answer,
    // and they need no text.
    let all = match own.first().map(|part| part.content.kind()) {
        None => page_rows(segment.as_ref(), &record)?,
        Some(PartKind::Page) => part_rows(segment.as_ref(), &record, &own)?,
        Some(kind) => return Err(unsupported(&record, PartKind::Page, Some(kind))),
    };
    let total = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let span = match (selection, lines) {
        (PageSelection::Section(section), _) => Some(section_span(commit, id, &record, section)?),
        (PageSelection::Lines(lines), _) => Some(span_of(commit, &record, Some(lines))?),
        (PageSelection::Ranges([]), Some(_)) => Some(span_of(commit, &record, lines)?),
        _ => None,
    };
    let ranges = match (selection, span, &segment) {
        (_, Some(span), Some(segment)) => vec![pages_of(&all, rows_of(segment, &record, span)?)],
        (PageSelection::Ranges(ranges), None, _) => ranges.to_vec(),
        _ => Vec::new(),
    };
    let ranges = NumberRanges::new(&ranges);
    let ranges_text = ranges.text();
    if !ranges.are_within(total) {
        return Err(Error::InvalidPages {
            pages: ranges_text,
            path: record.path,
            total,
        });
    }
    let scope = PagedCall::Pages {
        path: &record.path,
        ranges: &ranges_text,
    }
    .scope(commit);
    let start = TextPosition::of(scope.start(page)?);
    let ranges = ranges.clipped(total);
    let selected = number_ranges::count(&ranges);
    let numbers = ranges.into_iter().flatten();
    let mut blocks = segment.as_ref().map(BoundSegment::blocks).transpose()?;
    let texts = skip(numbers, start.item).map(|number| {
        let position = (number as usize).saturating_sub(1);
        let part = own.get(position).map(|part| &part.content);
        let lines = if total == 1 {
            all_lines(&record)
        } else {
            Lines { first: 0, last: 0 }
        };
        let mut document_page = empty_page(number, part, lines);
        let rows = all.get(position).cloned().unwrap_or_default();
        if let (Some(segment), Some(blocks)) = (&segment, &mut blocks)
            && !rows.is_empty()
        {
            blocks.append(rows.start, rows.end - rows.start, &mut document_page.text)?;
            let chunks = segment.chunks();
            document_page.lines = Lines {
                first: chunks.get(rows.start)?.at.lines.first,
                last: chunks.get(rows.end - 1)?.at.lines.last,
            };
        }
        Ok(document_page)
    });
    let parts = TextParts {
        text: |page: &DocumentPage| page.text.as_str(),
        names_bytes: |page| page.label.len() as u64 + ITEM_OVERHEAD_BYTES,
        keep: |page: &mut DocumentPage, part: Range<usize>| {
            if !record.line_map {
                page.lines = lines_of_part(page.lines, &page.text, &part);
            }
            page.text.truncate(part.end);
            page.text.drain(..part.start);
        },
    };
    let pages = fill_texts(&scope, Budget::of_texts(page), start, texts, &parts)?;
    let left = match &pages.next {
        Some(next) => selected.saturating_sub(TextPosition::of(next.offset()?).item),
        None => 0,
    };
    let document = DocumentInfo::from_record(commit, id, record.clone())?;
    Ok(DocumentPages {
        document,
        pages,
        total,
        selected,
        left,
    })
}

/// A page without its text.
fn empty_page(number: u32, part: Option<&PartContent>, lines: Lines) -> DocumentPage {
    let (source, label) = match part {
        Some(PartContent::Page(page)) => (Some(page.source), page.label.clone()),
        _ => (None, String::new()),
    };
    DocumentPage {
        number,
        text: String::new(),
        lines,
        source,
        label,
    }
}

/// The first and last of the pages, by their rows, that have one of these rows.
fn pages_of(pages: &[Range<u32>], rows: Range<u32>) -> (u32, u32) {
    let before = pages.partition_point(|page| page.end <= rows.start);
    let up_to = pages.partition_point(|page| page.start < rows.end);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(before).saturating_add(1), number(up_to))
}

/// The rows of each page of a document: as many chunks as fit into [`PAGE_BYTES`], at least one. Reads
/// no text.
fn page_rows(
    segment: Option<&BoundSegment<'_>>,
    record: &DocumentRecord,
) -> Result<Vec<Range<u32>>> {
    let mut pages: Vec<Range<u32>> = Vec::new();
    let mut bytes = 0;
    if let Some(segment) = segment {
        let chunks = segment.chunks();
        for row in record.first_row..record.first_row.saturating_add(record.rows) {
            let len = u64::from(chunks.get(row)?.at.span.len());
            match pages.last_mut() {
                Some(page) if bytes + len <= PAGE_BYTES => {
                    page.end = row + 1;
                    bytes += len;
                }
                _ => {
                    pages.push(row..row + 1);
                    bytes = len;
                }
            }
        }
    }
    // A document without text has one empty page, so that page 1 always exists.
    if pages.is_empty() {
        pages.push(record.first_row..record.first_row);
    }
    Ok(pages)
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
    use crate::content::tests::two_documents;
    use crate::kb::{Kb, KbWriter};

    fn pages_of(kb: &Kb, name: &str, ranges: &[(u32, u32)]) -> Result<DocumentPages> {
        let pages = kb.pages(name, ranges, &PageOptions::default())?;
        assert_eq!(pages.pages.next, None);
        Ok(pages)
    }

    #[test]
    fn the_pages_of_a_text_are_the_whole_text() {
        let line = "the moon pulls the sea \u{1f30a}\n";
        for lines in [1, 2, 100, 119, 120, 1000] {
            let text = line.repeat(lines);
            let (_folder, kb) = two_documents("a.txt", &text);
            let pages = pages_of(&kb, "a.txt", &[]).unwrap();
            assert_eq!(pages.pages.len(), pages.total as usize);
            let joined: String = pages.pages.iter().map(|page| page.text.as_str()).collect();
            assert_eq!(joined, text);
            let mut next = 1;
            for (page, number) in pages.pages.iter().zip(1..) {
                assert_eq!((page.number, page.lines.first), (number, next));
                assert!(page.text.len() <= 3200 && page.text.ends_with('\n'));
                next = page.lines.last + 1;
            }
            for pair in pages.pages.windows(2) {
                let first = &kb.chunk_spans("a.txt").unwrap();
                let chunk = first
                    .iter()
                    .find(|at| at.lines.first == pair[1].lines.first);
                let grown = pair[0].text.len() + chunk.unwrap().span.len() as usize;
                assert!(grown > 3200, "another chunk had fitted");
            }
        }
    }

    #[test]
    fn pages_keep_the_order_of_the_request() {
        let (_folder, kb) = two_documents("a.txt", &"the moon pulls the sea\n".repeat(1000));
        let numbers = |ranges: &[(u32, u32)]| {
            let pages = pages_of(&kb, "a.txt", ranges)?.pages;
            Ok(pages.into_iter().map(|page| page.number).collect())
        };
        let found: Result<Vec<u32>> = numbers(&[(4, 4), (1, 3), (2, 2)]);
        assert_eq!(found.unwrap(), [4, 1, 2, 3, 2]);
        let total = pages_of(&kb, "a.txt", &[]).unwrap().total;
        assert_eq!(numbers(&[(total, total)]).unwrap(), [total]);
        let rest: Vec<u32> = (2..=total).collect();
        assert_eq!(numbers(&[(2, u32::MAX)]).unwrap(), rest);
        for wrong in [
            (0, 1),
            (2, 1),
            (total + 1, total + 1),
            (total + 1, u32::MAX),
        ] {
            let error = numbers(&[(1, 1), wrong]).unwrap_err();
            assert_eq!(error.code(), "INVALID_RANGE", "{wrong:?}");
            assert!(error.to_string().contains(&format!("{total} pages")));
        }
    }

    #[test]
    fn continued_calls_return_every_page_once() {
        let (_folder, kb) = two_documents("a.txt", &"the moon pulls the sea\n".repeat(1000));
        let ranges = [(2, 5), (1, 1)];
        let whole = pages_of(&kb, "a.txt", &ranges).unwrap().pages;
        for max_tokens in [1, 30, 200, 1700, 2500, 9000] {
            let mut page = PageOptions::default().max_tokens(max_tokens);
            let mut parts: Vec<DocumentPage> = Vec::new();
            loop {
                let pages = kb.pages("a.txt", &ranges, &page).unwrap().pages;
                page.cursor = pages.next.clone();
                for part in pages {
                    match parts.last_mut().filter(|last| last.number == part.number) {
                        Some(DocumentPage { text, lines, .. }) => {
                            text.push_str(&part.text);
                            lines.last = part.lines.last;
                        }
                        None => parts.push(part),
                    }
                }
                if page.cursor.is_none() {
                    break;
                }
                let error = kb.pages("a.txt", &[(2, 5)], &page).unwrap_err();
                assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
            }
            assert_eq!(parts, *whole, "{max_tokens}");
        }
    }

    #[test]
    fn an_empty_document_and_a_long_chunk_are_one_page() {
        let (_folder, empty) = two_documents("a.txt", "");
        let pages = pages_of(&empty, "a.txt", &[(1, 1)]).unwrap();
        assert_eq!((pages.total, pages.pages.len()), (1, 1));
        assert_eq!(pages.pages[0].text, "");
        assert_eq!(empty.head("a.txt", 10).unwrap().1, "");
        assert!(pages_of(&empty, "a.txt", &[(2, 2)]).is_err());

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.kb");
        let text = "moon ".repeat(2000);
        let document = crate::ingest::run::document_of("long.txt", text.as_bytes()).unwrap();
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        writer.add_unchunked(document).unwrap();
        writer.commit().unwrap();
        let pages = pages_of(&Kb::open(&file).unwrap(), "long.txt", &[]).unwrap();
        assert_eq!(
            (pages.total, pages.pages[0].text.as_str()),
            (1, text.as_str())
        );
    }
}
