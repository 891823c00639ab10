//! Rows of outlines; sections of texts and programs.

use kb_types::sections::SECTION_SEPARATOR;
use kb_types::{Lines, Span, Symbol, SymbolKind};
use proptest::prelude::*;

use super::*;
use crate::store::symbols::{excerpts_of, stored};

mod against_headings;

fn heading(level: u8, title: &str, start: u32) -> Heading {
    Heading {
        level,
        title: title.to_owned(),
        start,
        line: 1,
        symbol: None,
    }
}

proptest! {
    #[test]
    fn headings_come_back_as_they_were_written(
        titles in prop::collection::vec("[a-c\u{e9} ]{0,30}", 0..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        end in any::<prop::sample::Index>(),
    ) {
        let outline: Vec<Heading> = titles.iter().map(|title| heading(2, title, 7)).collect();
        let record = encode(&outline).unwrap();
        let mut row = pack(record.clone()).unwrap();
        prop_assert!(row.len() <= record.len());
        prop_assert_eq!(&unpack(row.clone()).unwrap(), &record);
        prop_assert_eq!(unpack(record.clone()).unwrap(), record, "one that no frame makes shorter");
        // Any bytes give headings or an error.
        for (at, byte) in changes {
            let at = at.index(row.len());
            row[at] = byte;
        }
        for row in [&row[..], &row[..end.index(row.len())]] {
            let _ = unpack(row.to_vec()).and_then(|record| Ok(read(&record)?.headings.len()));
        }
    }
}

#[test]
fn a_frame_of_another_length_than_it_says_is_refused() {
    let record = encode(&vec![heading(1, "Guide", 0); 40]).unwrap();
    let row = pack(record.clone()).unwrap();
    assert_eq!(row[0], PACKED_VERSION);
    let len = u32::try_from(record.len()).unwrap();
    for claimed in [0, len - 1, len + 1, MAX_VALUE_BYTES as u32 + 1, u32::MAX] {
        let mut row = row.clone();
        row[1..5].copy_from_slice(&claimed.to_le_bytes());
        assert_eq!(unpack(row).unwrap_err().code(), "DAMAGED", "{claimed}");
    }
    assert!(unpack(row[..4].to_vec()).is_err());
}

#[test]
fn a_byte_lies_under_the_nearest_heading_of_each_level() {
    let outline = [
        heading(1, "Guide", 0),
        heading(2, "Install", 10),
        heading(3, "Linux", 20),
        heading(2, "Use", 30),
    ];
    let section_at = |outline: &[Heading], start| -> Vec<String> {
        let mut sections = SectionPath::new(outline);
        sections.at(start).map(str::to_owned).collect()
    };
    assert_eq!(section_at(&outline, 5), ["Guide"]);
    assert_eq!(section_at(&outline, 25), ["Guide", "Install", "Linux"]);
    assert_eq!(section_at(&outline, 30), ["Guide", "Use"]);
    assert!(section_at(&outline[1..], 3).is_empty());
}

/// The outline of a text with these headings.
fn outline_of(headings: &[Heading]) -> StoredOutline {
    let headings = headings.iter();
    StoredOutline::of_titles(headings.map(|it| (it.level, it.title.as_str(), it.start)))
}

#[test]
fn a_section_has_number_span_and_titles_of_its_own() {
    let headings = [
        heading(1, "Guide", 5),
        heading(3, "2", 10),
        heading(2, "Use", 30),
        heading(3, "Flags", 35),
        heading(1, "Use", 40),
        heading(1, "Use", 50),
    ];
    let outline = outline_of(&headings);
    let found = |byte| {
        let section = section_at(&outline, byte, 60);
        let span = (section.span.start, section.span.end);
        let titles = section.titles.join(" > ");
        (titles, section.number, span, section.is_ambiguous)
    };
    let expected = |titles: &str, number: &str, span, is_ambiguous| {
        (titles.to_owned(), number.to_owned(), span, is_ambiguous)
    };
    assert_eq!(found(0), expected("", "", (0, 5), false));
    assert_eq!(found(9), expected("Guide", "1", (5, 40), false));
    assert_eq!(found(10), expected("Guide > 2", "1.1", (10, 30), false));
    assert_eq!(found(34), expected("Guide > Use", "1.2", (30, 40), false));
    assert_eq!(
        found(39),
        expected("Guide > Use > Flags", "1.2.1", (35, 40), false)
    );
    assert_eq!(found(40), expected("Use", "2", (40, 50), true));
    assert_eq!(found(59), expected("Use", "3", (50, 60), true));
    let numbers = [
        heading(1, "2 x", 0),
        heading(1, "b", 10),
        heading(1, "3", 20),
    ];
    let numbers = outline_of(&numbers);
    assert!(section_at(&numbers, 0, 30).is_ambiguous);
    assert!(!section_at(&numbers, 20, 30).is_ambiguous);
    assert_eq!(
        starts_within(&outline, Span { start: 10, end: 40 }),
        [30, 35]
    );
}

#[test]
fn bookmarks_that_go_back_have_sections_where_they_lead() {
    let bookmarks = [
        heading(1, "Chapters", 0),
        heading(2, "Tides", 10),
        heading(2, "Moon", 40),
        heading(1, "Figures", 20),
        heading(2, "A buoy", 30),
        heading(2, "A chart", 50),
    ];
    let outline = outline_of(&bookmarks);
    let mut path = SectionPath::new(&bookmarks);
    for (byte, titles, span) in [
        (5, &["Chapters"][..], (0, 20)),
        (15, &["Chapters", "Tides"], (10, 40)),
        (25, &["Figures"], (20, 60)),
        (35, &["Figures", "A buoy"], (30, 50)),
        // The next of its level goes back: up to the next in the text.
        (45, &["Chapters", "Moon"], (40, 50)),
        (59, &["Figures", "A chart"], (50, 60)),
    ] {
        assert_eq!(path.at(byte).collect::<Vec<_>>(), titles, "{byte}");
        let section = section_at(&outline, byte, 60);
        assert_eq!(section.titles, titles, "{byte}");
        assert_eq!((section.span.start, section.span.end), span, "{byte}");
    }
    let front = outline_of(&[heading(1, "b", 9), heading(1, "a", 4)]);
    let section = section_at(&front, 0, 60);
    assert_eq!((section.number.as_str(), section.span.end), ("", 4));
}

/// The symbols of a program: a class with two methods, code behind it, and a function.
fn program() -> [Symbol; 4] {
    let symbol = |parent, keyword: &str, name: &str, start, end| Symbol {
        kind: SymbolKind::Function,
        name: name.to_owned(),
        keyword: keyword.to_owned(),
        head: Span { start, end: start },
        parent,
        doc: None,
        span: Span { start, end },
        lines: Lines { first: 1, last: 1 },
        name_start: start,
    };
    [
        symbol(None, "class", "A", 10, 60),
        symbol(Some(0), "def", "a", 20, 30),
        symbol(Some(0), "def", "b", 40, 50),
        symbol(None, "def", "c", 80, 90),
    ]
}

#[test]
fn fields_are_no_sections() {
    let mut symbols = program().to_vec();
    let field = Symbol {
        kind: SymbolKind::Field,
        span: Span { start: 32, end: 36 },
        head: Span { start: 32, end: 33 },
        name_start: 32,
        ..symbols[1].clone()
    };
    symbols.insert(2, field);
    let headings = nesting::outline(&symbols);
    assert_eq!(headings, nesting::outline(&program()));
    let outline = StoredOutline::of_symbols(stored(&symbols), None);
    let section = section_at(&outline, 34, 100);
    assert_eq!(
        (section.titles, section.number.as_str()),
        (vec!["class A".to_owned()], "1")
    );
    let behind = section_at(&outline, 45, 100);
    assert_eq!(
        (behind.titles[1].as_str(), behind.number.as_str()),
        ("def b", "1.2")
    );
    assert!(!behind.is_ambiguous);
    // In groups, one of which begins with the field.
    let excerpts = excerpts_of(&symbols, 2).unwrap();
    let (part, excerpt) = excerpts(Span { start: 45, end: 46 });
    let part = StoredOutline::of_symbols(part, Some(excerpt));
    assert_eq!(section_at(&part, 45, 100), behind);
}

#[test]
fn sections_of_symbols_end_with_them() {
    let outline = StoredOutline::of_symbols(stored(&program()), None);
    for (byte, titles, start, end) in [
        (0, "", 0, 10),
        (10, "class A", 10, 60),
        (29, "class A > def a", 20, 30),
        (30, "class A", 10, 60),
        (49, "class A > def b", 40, 50),
        (50, "class A", 10, 60),
        (60, "", 60, 80),
        (89, "def c", 80, 90),
        (95, "", 90, 99),
    ] {
        let section = section_at(&outline, byte, 99);
        assert_eq!(section_name(&section), titles, "{byte}");
        assert_eq!(
            (section.span.start, section.span.end),
            (start, end),
            "{byte}"
        );
        assert_eq!(titles_at(&outline, byte).join(SECTION_SEPARATOR), titles);
    }
    assert_eq!(start_of_parent(&outline, 25), Some(10));
    assert_eq!(start_of_parent(&outline, 70), None);
}

#[test]
fn a_path_leaves_symbols_that_ended() {
    let headings = nesting::outline(&program());
    let mut path = SectionPath::new(&headings);
    for (byte, titles) in [
        (0, ""),
        (25, "class A > def a"),
        (55, "class A"),
        (70, ""),
        (85, "def c"),
    ] {
        let at: Vec<&str> = path.at(byte).collect();
        assert_eq!(at.join(SECTION_SEPARATOR), titles, "{byte}");
    }
}
