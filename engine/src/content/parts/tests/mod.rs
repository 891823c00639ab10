//! Documents with pages, sheets and slides that were put together by hand.

mod sheets;

use kb_types::cell_text::{Cell, CellValue, RowWriter};
use kb_types::{
    Document, Lines, Page, PageSource, Part, PartAddress, PartContent, PartKind, Sheet, Slide, Span,
};

use crate::content::{DocumentPage, SlideText};
use crate::ingest::options::IndexOptions;
use crate::ingest::run::document_of;
use crate::kb::{Kb, KbWriter};
use crate::paging::PageOptions;
use crate::search::{Mode, Request, Show};
use crate::{Progress, SealOptions, VerifyOptions};

fn document(path: &str) -> Document {
    let mut document = document_of("empty.txt", b"").unwrap();
    document.path = path.to_owned();
    document.title = path.to_owned();
    document.file_type = path.rsplit('.').next().unwrap().to_owned();
    document
}

/// Begins a part at the end of the text.
fn begin(document: &mut Document, content: PartContent) {
    assert!(document.text.is_empty() || document.text.ends_with('\n'));
    document.parts.push(Part {
        start: document.text.len() as u32,
        line: document.text.matches('\n').count() as u32 + 1,
        content,
    });
}

/// Adds a sheet with these rows, which ascend.
fn add_sheet(document: &mut Document, name: &str, rows: &[(u32, Vec<(u32, Cell)>)]) {
    let mut sheet = Sheet {
        name: name.to_owned(),
        rows: rows.last().map_or(0, |(row, _)| *row),
        ..Sheet::default()
    };
    let cells = rows.iter().flat_map(|(_, cells)| cells);
    sheet.columns = cells.map(|(column, _)| *column).max().unwrap_or(0);
    let mut expected = 1;
    for (line, (row, _)) in (0..).zip(rows) {
        if *row != expected {
            sheet.runs.push((line, *row));
        }
        expected = row + 1;
    }
    begin(document, PartContent::Sheet(sheet));
    for (_, cells) in rows {
        let mut writer = RowWriter::new(&mut document.text);
        for (column, cell) in cells {
            writer.push(*column, cell);
        }
        writer.finish();
    }
}

fn sheet_of(document: &mut Document) -> &mut Sheet {
    match &mut document.parts.last_mut().unwrap().content {
        PartContent::Sheet(sheet) => sheet,
        _ => panic!("no sheet"),
    }
}

fn text(text: &str) -> Cell {
    Cell::plain(CellValue::Text(text.to_owned()))
}

fn money(number: f64) -> Cell {
    Cell {
        shown: format!("${number:.2}"),
        value: CellValue::Number(number),
    }
}

/// A hidden sheet, one with a header in row 2, a gap and a row of many chunks, an empty one, one of a cell far
/// away.
fn workbook() -> Document {
    let mut book = document("book.xlsx");
    add_sheet(&mut book, "Drafts", &[(1, vec![(1, text("walrus draft"))])]);
    sheet_of(&mut book).is_hidden = true;
    let long = text(&"a long remark of the harbour master ".repeat(200));
    let mut rows = vec![
        (1, vec![(1, text("Takings of the harbour"))]),
        (2, vec![(1, text("Month")), (2, text("Revenue"))]),
        (3, vec![(1, text("January")), (2, money(1000.0))]),
        (7, vec![(1, text("February")), (2, money(2.5)), (3, long)]),
    ];
    rows.extend((8..400).map(|row| (row, vec![(1, text("day")), (2, money(f64::from(row)))])));
    rows.push((1000, vec![(1, text("Total")), (2, money(7.0))]));
    add_sheet(&mut book, "Revenue", &rows);
    sheet_of(&mut book).header_row = Some(2);
    add_sheet(&mut book, "Empty", &[]);
    add_sheet(
        &mut book,
        "Far",
        &[(1_048_576, vec![(16_384, text("corner of the walrus"))])],
    );
    book
}

fn pages(count: u32) -> Document {
    let mut paper = document("paper.pdf");
    for number in 1..=count {
        let page = Page {
            source: PageSource::Physical,
            label: if number == 1 {
                "i".to_owned()
            } else {
                String::new()
            },
        };
        begin(&mut paper, PartContent::Page(page));
        if number % 4 != 0 {
            let words = format!("tide table {number} of the harbour\n");
            paper
                .text
                .push_str(&words.repeat((number as usize % 3) * 60 + 1));
        }
    }
    paper
}

fn deck(count: u32) -> Document {
    let mut deck = document("deck.pptx");
    for number in 1..=count {
        let title = if number == 3 {
            String::new()
        } else {
            format!("Slide {number} of tides")
        };
        let slide = Slide {
            title: title.clone(),
            notes: None,
            is_hidden: number == 2,
        };
        begin(&mut deck, PartContent::Slide(slide));
        deck.text.push_str(&format!("{title}\n\nThe moon pulls.\n"));
        if number % 2 == 0 {
            let at = deck.text.len() as u32;
            if let PartContent::Slide(slide) = &mut deck.parts.last_mut().unwrap().content {
                slide.notes = Some(at);
            }
            deck.text.push_str("Say it slowly \u{1f30a}.\n");
        }
    }
    deck
}

fn file(documents: Vec<Document>) -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer.add_bytes("plain.txt", b"first\nof all\n").unwrap();
    for document in documents {
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    assert_sound(&kb);
    (folder, kb)
}

#[track_caller]
fn assert_sound(kb: &Kb) {
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).unwrap();
    assert_eq!(report.problems, [""; 0]);
}

fn all() -> PageOptions {
    PageOptions::default()
}

#[test]
fn parts_are_told_with_their_lines_and_spans() {
    let (_folder, kb) = file(vec![workbook(), pages(9), deck(4)]);
    for (name, kind, count) in [
        ("book.xlsx", Some(PartKind::Sheet), 4),
        ("paper.pdf", Some(PartKind::Page), 9),
        ("deck.pptx", Some(PartKind::Slide), 4),
        ("plain.txt", None, 0),
    ] {
        let found = kb.parts(name, &all()).unwrap();
        assert_eq!(
            (found.document.part_kind, found.document.parts),
            (kind, count)
        );
        assert_eq!(found.parts.len(), count as usize, "{name}");
        assert_eq!(found.document, kb.document(name).unwrap());
        let (mut end, mut last) = (0, 0);
        for (part, number) in found.parts.iter().zip(1..) {
            assert_eq!((part.number, part.span.start), (number, end));
            end = part.span.end;
            if part.lines.first > 0 {
                assert_eq!(part.lines.first, last + 1);
                last = part.lines.last;
            } else {
                assert!(part.span.is_empty());
            }
        }
        if count > 0 {
            assert_eq!(u64::from(end), found.document.text_bytes);
            assert_eq!(last, found.document.lines);
        }
        let mut page = all().max_tokens(30);
        let mut parts = Vec::new();
        loop {
            let found = kb.parts(name, &page).unwrap();
            page.cursor = found.parts.next.clone();
            parts.extend(found.parts);
            if page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(parts, *found.parts);
    }
}

#[test]
fn a_document_with_pages_is_read_in_them() {
    let paper = pages(9);
    let (_folder, kb) = file(vec![paper.clone()]);
    let found = kb.pages("paper.pdf", &[], &all()).unwrap();
    assert_eq!((found.total, found.selected, found.pages.len()), (9, 9, 9));
    let joined: String = found.pages.iter().map(|page| page.text.as_str()).collect();
    assert_eq!(joined, paper.text);
    for (page, part) in found
        .pages
        .iter()
        .zip(kb.parts("paper.pdf", &all()).unwrap().parts)
    {
        assert_eq!((page.number, page.lines), (part.number, part.lines));
        assert_eq!(page.source, Some(PageSource::Physical));
        assert_eq!(page.text.is_empty(), page.number % 4 == 0);
        assert_eq!(page.label, if page.number == 1 { "i" } else { "" });
    }
    let lines = Lines {
        first: found.pages[4].lines.first,
        last: found.pages[4].lines.first,
    };
    let of_lines = kb.pages_of_lines("paper.pdf", lines, &all()).unwrap();
    assert_eq!(*of_lines.pages, found.pages[4..5]);
    let error = kb.pages("paper.pdf", &[(10, 10)], &all()).unwrap_err();
    assert_eq!(error.code(), "INVALID_RANGE");
    for max_tokens in [1, 50, 400, 5000] {
        let mut page = all().max_tokens(max_tokens);
        let mut joined: Vec<DocumentPage> = Vec::new();
        loop {
            let found = kb.pages("paper.pdf", &[], &page).unwrap();
            page.cursor = found.pages.next.clone();
            for next in found.pages {
                match joined.last_mut().filter(|last| last.number == next.number) {
                    Some(last) => {
                        last.text.push_str(&next.text);
                        last.lines.last = next.lines.last;
                    }
                    None => joined.push(next),
                }
            }
            if page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(joined, *found.pages, "{max_tokens}");
    }
}

#[test]
fn what_a_document_does_not_have_is_said() {
    let (_folder, kb) = file(vec![workbook(), pages(2), deck(2)]);
    let told = |error: crate::Error| {
        assert_eq!(error.code(), "UNSUPPORTED_DOCUMENT_TYPE");
        error.to_string()
    };
    assert_eq!(
        told(kb.pages("book.xlsx", &[], &all()).unwrap_err()),
        "\"book.xlsx\" has no pages, but sheets"
    );
    assert_eq!(
        told(kb.sheet("deck.pptx", None, None, &all()).unwrap_err()),
        "\"deck.pptx\" has no sheets, but slides"
    );
    assert_eq!(
        told(kb.slides("plain.txt", &[], &all()).unwrap_err()),
        "\"plain.txt\" has no slides"
    );
    assert!(
        kb.pages("plain.txt", &[], &all()).unwrap().pages[0]
            .source
            .is_none()
    );
}

#[test]
fn empty_presentations_and_workbooks_are_what_they_are() {
    let (_folder, kb) = file(vec![document("none.pptx"), document("none.xlsx")]);
    let slides = kb.slides("none.pptx", &[], &all()).unwrap();
    assert_eq!((slides.total, slides.slides.len()), (0, 0));
    assert_eq!(slides.document.part_kind, Some(PartKind::Slide));
    let refused = kb.slides("none.pptx", &[(1, 1)], &all()).unwrap_err();
    assert_eq!(refused.code(), "INVALID_RANGE");
    let sheet = kb.sheet("none.xlsx", None, None, &all()).unwrap();
    assert_eq!((sheet.rows.len(), sheet.document.parts), (0, 0));
    let refused = kb.sheet("none.xlsx", Some("Q1"), None, &all()).unwrap_err();
    assert_eq!(refused.code(), "SHEET_NOT_FOUND");
    let refused = kb.sheet("none.xlsx", None, Some("A1"), &all()).unwrap_err();
    assert_eq!(refused.code(), "INVALID_RANGE");
    for name in ["none.pptx", "none.xlsx"] {
        assert_eq!(kb.parts(name, &all()).unwrap().parts.len(), 0);
    }
    let told = kb.slides("none.xlsx", &[], &all()).unwrap_err().to_string();
    assert_eq!(told, "\"none.xlsx\" has no slides, but sheets");
}

#[test]
fn slides_have_title_text_and_notes() {
    let deck = deck(6);
    let (_folder, kb) = file(vec![deck.clone()]);
    let found = kb.slides("deck.pptx", &[], &all()).unwrap();
    assert_eq!((found.total, found.selected, found.left), (6, 6, 0));
    let second = &found.slides[1];
    assert_eq!(second.title, "Slide 2 of tides");
    assert_eq!(second.text, "Slide 2 of tides\n\nThe moon pulls.\n");
    assert_eq!(second.notes, "Say it slowly \u{1f30a}.\n");
    assert!(second.is_hidden && found.slides[2].title.is_empty());
    let chosen = kb.slides("deck.pptx", &[(5, 99), (1, 1)], &all()).unwrap();
    let numbers: Vec<u32> = chosen.slides.iter().map(|slide| slide.number).collect();
    assert_eq!(numbers, [5, 6, 1]);
    let line = second.lines.first;
    let named = kb.slides(&format!("deck.pptx:{line}-{}", line + 5), &[], &all());
    let numbers: Vec<u32> = named
        .unwrap()
        .slides
        .iter()
        .map(|slide| slide.number)
        .collect();
    assert_eq!(numbers, [2, 3]);
    for wrong in [(0, 1), (2, 1), (7, 7)] {
        let error = kb.slides("deck.pptx", &[wrong], &all()).unwrap_err();
        assert_eq!(error.code(), "INVALID_RANGE");
        assert!(error.to_string().ends_with("the document has 6 slides"));
    }
    for max_tokens in [1, 3, 20, 100] {
        let mut page = all().max_tokens(max_tokens);
        let mut joined: Vec<SlideText> = Vec::new();
        loop {
            let found = kb.slides("deck.pptx", &[], &page).unwrap();
            page.cursor = found.slides.next.clone();
            for next in found.slides {
                match joined.last_mut().filter(|last| last.number == next.number) {
                    Some(last) => {
                        assert!(last.notes.is_empty() || next.text.is_empty());
                        last.text.push_str(&next.text);
                        last.notes.push_str(&next.notes);
                        last.lines.last = next.lines.last;
                    }
                    None => joined.push(next),
                }
            }
            if page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(joined, *found.slides, "{max_tokens}");
    }
}

#[test]
fn a_hit_says_which_part_it_lies_in() {
    let mut paper = pages(9);
    let at = paper.text.find("tide table 5").unwrap();
    paper.text.replace_range(at..at + 4, "seal");
    let (_folder, kb) = file(vec![workbook(), paper, deck(6)]);
    let part = |query: &str, path: &str| {
        let mut found = Vec::new();
        for request in [
            Request::new(query).mode(Mode::Keyword),
            Request::new(query).mode(Mode::Keyword).show(Show::lines(2)),
            Request::new(query).mode(Mode::Keyword).join(false),
        ] {
            let hits = kb.search(&request).unwrap().hits;
            let hit = hits.iter().find(|hit| hit.document == path).unwrap();
            found.push(hit.part.clone().unwrap());
        }
        found
    };
    for found in part("seal", "paper.pdf") {
        let PartAddress::Page {
            number,
            total,
            source,
            label,
            ..
        } = found
        else {
            panic!("no page: {found:?}");
        };
        assert_eq!((number, total, source), (5, 9, PageSource::Physical));
        assert_eq!(label, "");
    }
    for found in part("corner", "book.xlsx") {
        let PartAddress::Sheet {
            number,
            total,
            name,
            first_row,
            last_row,
            ..
        } = found
        else {
            panic!("no sheet: {found:?}");
        };
        assert_eq!((number, total, name.as_str()), (4, 4, "Far"));
        assert_eq!((first_row, last_row), (1_048_576, 1_048_576));
    }
    let found = part("\"slide 4\"", "deck.pptx");
    assert!(found.iter().all(|found| matches!(found, PartAddress::Slide { number: 4, title, .. } if title == "Slide 4 of tides")));
    let total = part("total", "book.xlsx");
    assert!(total.iter().all(|found| matches!(found, PartAddress::Sheet { name, last_row: 1000, .. } if name == "Revenue")), "{total:?}");
    let plain = kb
        .search(&Request::new("first").mode(Mode::Keyword))
        .unwrap();
    assert_eq!(plain.hits[0].part, None);
}

#[test]
fn chunks_and_sections_know_their_parts() {
    let (_folder, kb) = file(vec![workbook(), pages(5)]);
    let chunks = kb.chunks("book.xlsx", None, &all()).unwrap();
    let last = chunks.last().unwrap().part.clone().unwrap();
    assert_eq!(last.to_string(), "[Far] row 1048576");
    assert!(matches!(
        chunks[0].part,
        Some(PartAddress::Sheet { number: 1, .. })
    ));
    let pages = kb.chunks("paper.pdf", None, &all()).unwrap();
    assert_eq!(
        pages.last().unwrap().part.as_ref().unwrap().to_string(),
        "p. 5"
    );
    let sections = kb.sections("paper.pdf", &all()).unwrap();
    assert_eq!(sections.page_source, Some(PageSource::Physical));
    let plain = kb.chunks("plain.txt", None, &all()).unwrap();
    assert!(plain.iter().all(|chunk| chunk.part.is_none()));
}

#[test]
fn no_passage_crosses_the_border_of_two_parts() {
    let (_folder, kb) = file(vec![deck(30), pages(9)]);
    let parts = |name: &str| -> Vec<Span> {
        let parts = kb.parts(name, &all()).unwrap().parts;
        parts.into_iter().map(|part| part.span).collect()
    };
    let mut several = 0;
    for query in ["moon pulls tides", "tide table harbour"] {
        let found = kb.search(&Request::new(query).k(50)).unwrap();
        for hit in found.hits.iter().filter(|hit| hit.part.is_some()) {
            let spans = parts(&hit.document);
            let within = |span: &Span| span.start <= hit.span.start && hit.span.end <= span.end;
            assert_eq!(
                spans.iter().filter(|span| within(span)).count(),
                1,
                "{hit:?}"
            );
            several += usize::from(hit.chunks > 1);
        }
    }
    assert!(several > 0, "chunks of one page are joined");
}

/// Everything that a file tells of the parts of three documents.
fn told(kb: &Kb) -> String {
    let page = all();
    let parts =
        ["book.xlsx", "paper.pdf", "deck.pptx"].map(|name| kb.parts(name, &page).unwrap().parts);
    let sheet = kb.sheet("book.xlsx", None, None, &page).unwrap().rows;
    let pages = kb.pages("paper.pdf", &[], &page).unwrap().pages;
    let slides = kb.slides("deck.pptx", &[], &page).unwrap().slides;
    format!("{parts:?} {sheet:?} {pages:?} {slides:?}")
}

#[test]
fn parts_outlive_merge_rebuild_tags_and_seal() {
    let (folder, kb) = file(vec![workbook(), pages(9), deck(6)]);
    let right = told(&kb);
    drop(kb);
    let path = folder.path().join("a.kb");
    let open = || {
        let kb = Kb::open(&path).unwrap();
        assert_sound(&kb);
        kb
    };
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer.tag("book.xlsx", &["money"], &[]).unwrap();
    writer.commit().unwrap();
    assert_eq!(told(&open()), right);
    // Small segments are merged.
    for number in 0..9 {
        writer
            .add_bytes(&format!("{number}.txt"), b"small\n")
            .unwrap();
        writer.commit().unwrap();
    }
    assert!(open().info().unwrap().segments < 9);
    assert_eq!(told(&open()), right);
    let sources = folder.path().join("sources");
    std::fs::create_dir(&sources).unwrap();
    std::fs::write(sources.join("other.txt"), "other").unwrap();
    let options = IndexOptions::default().rebuild(true);
    writer
        .index(&[sources], &options, &mut Progress::ignore)
        .unwrap();
    assert_eq!(told(&open()), right);
    let seal = |writer: &mut KbWriter| {
        let sealed = writer.seal(None, &SealOptions::new(), &mut Progress::ignore);
        sealed.unwrap().content_root
    };
    let root = seal(&mut writer);
    assert_eq!(told(&open()), right);
    assert_eq!(seal(&mut writer), root);
    writer.remove("book.xlsx").unwrap();
    writer.replace(document("deck.pptx")).unwrap();
    writer.commit().unwrap();
    let kb = open();
    assert_eq!(kb.document("deck.pptx").unwrap().parts, 0);
}

#[test]
fn the_content_root_depends_on_parts() {
    let root = |book: Document| {
        let (folder, kb) = file(vec![book]);
        drop(kb);
        let mut writer = KbWriter::open_or_create(folder.path().join("a.kb")).unwrap();
        let sealed = writer.seal(None, &SealOptions::new(), &mut Progress::ignore);
        sealed.unwrap().content_root
    };
    let mut other = workbook();
    sheet_of(&mut other).uncalculated = 1;
    assert_eq!(root(workbook()), root(workbook()));
    assert_ne!(root(workbook()), root(other));
}

#[test]
fn parts_that_do_not_fit_their_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KbWriter::open_or_create(folder.path().join("a.kb")).unwrap();
    let changes: [fn(&mut Document); 5] = [
        |document| document.parts[1].start += 1,
        |document| document.parts[1].line += 1,
        |document| document.text.truncate(10),
        |document| document.parts.swap(0, 1),
        |document| document.line_numbers = vec![1; 2000],
    ];
    for change in changes {
        let mut book = workbook();
        change(&mut book);
        let error = writer.add(book).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(
            error.to_string().starts_with("parts: \"book.xlsx\": "),
            "{error}"
        );
    }
    writer.add_unchunked(deck(5)).unwrap();
    writer.commit().unwrap();
    let kb = Kb::open(folder.path().join("a.kb")).unwrap();
    assert_eq!(kb.document("deck.pptx").unwrap().chunks, 5);
    assert_sound(&kb);
}
