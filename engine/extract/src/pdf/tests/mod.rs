//! Documents made by hand: a few objects each, so that a test shows all that it depends on.

mod forms;
mod hostile;
mod hyphens;
mod letters;
mod tables;
mod vertical;
mod widths;

use kb_types::PartContent;

use crate::extracted::Extracted;
use crate::pdf::{extract, is_pdf, reader::extract_holding};
use crate::skip_reason::SkipReason;

/// A font whose widths are those of Helvetica, as every page of these documents has it.
const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/// A file of these objects, numbered from 1; the first is the catalog.
pub(crate) fn file(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
    }
    let table = bytes.len();
    let count = objects.len() + 1;
    bytes.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let end =
        format!("trailer\n<< /Size {count} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n");
    bytes.extend(end.bytes());
    bytes
}

pub(crate) fn stream(entries: &str, content: &str) -> String {
    let length = content.len() + 1;
    format!("<< /Length {length} {entries} >>\nstream\n{content}\nendstream")
}

/// A page: further entries of its dictionary, and its content.
pub(crate) type TestPage<'a> = (&'a str, &'a str);

/// Pages of 600 by 800 points; objects from 4 on are `others`, those of the pages follow.
pub(crate) fn with_objects(
    catalog: &str,
    pages: &[TestPage<'_>],
    others: &[String],
    trailer: &str,
) -> Vec<u8> {
    let first = 4 + others.len();
    let kids: Vec<String> = (0..pages.len())
        .map(|at| format!("{} 0 R", first + 2 * at))
        .collect();
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>"),
        format!(
            "<< /Type /Pages /Count {} /Kids [{}] >>",
            pages.len(),
            kids.join(" ")
        ),
        FONT.to_owned(),
    ];
    objects.extend_from_slice(others);
    for (at, (entries, content)) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R /Resources << /Font << /F 3 0 R >> \
             /Properties << /P 4 0 R >> /XObject << /X 4 0 R >> >> {entries} >>",
            first + 2 * at + 1
        ));
        objects.push(stream("", content));
    }
    file(&objects, trailer)
}

fn document(content: &str) -> Vec<u8> {
    with_objects("", &[("", content)], &[], "")
}

/// A line of 10 points at a place.
pub(crate) fn at(x: u32, y: u32, text: &str) -> String {
    format!("BT /F 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

fn read(bytes: &[u8]) -> Extracted {
    extract(bytes).unwrap()
}

fn text(bytes: &[u8]) -> String {
    read(bytes).text.unwrap()
}

fn metadata<'e>(extracted: &'e Extracted, key: &str) -> Option<&'e str> {
    let found = extracted.metadata.iter().find(|(have, _)| have == key);
    found.map(|(_, value)| value.as_str())
}

fn headings(extracted: &Extracted) -> Vec<(u8, &str, u32)> {
    let all = extracted.outline.iter();
    all.map(|heading| (heading.level, heading.title.as_str(), heading.line))
        .collect()
}

#[test]
fn every_page_is_a_part_with_its_label() {
    let labels = "/PageLabels << /Nums [0 << /S /r >> 2 << /S /D /St 1 /P (A-) >>] >>";
    let (one, three) = (at(50, 700, "First page."), at(50, 700, "Third page."));
    let found = read(&with_objects(
        labels,
        &[("", &one), ("", ""), ("", &three)],
        &[],
        "",
    ));
    assert_eq!(
        found.text.as_deref(),
        Some("First page.\n\nThird page.\n\n")
    );
    let parts: Vec<(u32, u32, &str)> = found
        .parts
        .iter()
        .map(|part| match &part.content {
            PartContent::Page(page) => (part.start, part.line, page.label.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts, [(0, 1, "i"), (13, 3, "ii"), (13, 3, "A-1")]);
    assert_eq!(metadata(&found, "pages"), Some("3"));
}

#[test]
fn gaps_are_spaces_and_cells_and_paragraphs() {
    let kerned = "BT /F 10 Tf 1 0 0 1 50 700 Tm [(Wor) 20 (d) -300 (gap) -50 (less)] TJ ET\n";
    let content = format!(
        "{kerned}{}{}{}{}",
        at(50, 688, "second line"),
        at(50, 640, "cell"),
        at(150, 640, "next cell"),
        at(50, 652, "above")
    );
    assert_eq!(
        text(&document(&content)),
        "Word gapless\nsecond line\n\nabove\ncell\tnext cell\n\n"
    );
}

#[test]
fn columns_are_read_one_after_the_other_and_tables_by_rows() {
    let mut content = at(
        50,
        760,
        "A title that goes over both of the columns below it, from left to right, all of it",
    );
    let mut expected = String::new();
    for (x, name) in [(50, "left"), (320, "right")] {
        expected.push('\n');
        for line in 0..8 {
            let words = format!("line {line} of the {name} column has these words");
            content.push_str(&at(x, 700 - 12 * line, &words));
            expected.push_str(&words);
            expected.push('\n');
        }
    }
    let read = text(&document(&content));
    assert!(read.ends_with(&format!("{expected}\n")), "{read}");

    let mut table = String::new();
    for row in 0..8 {
        for (column, word) in ["SKU", "price", "city", "note"].into_iter().enumerate() {
            table.push_str(&at(
                50 + 120 * column as u32,
                700 - 12 * row,
                &format!("{word} {row}"),
            ));
        }
    }
    let read = text(&document(&table));
    assert!(
        read.contains("SKU 3\tprice 3\tcity 3\tnote 3\nSKU 4"),
        "{read}"
    );
}

#[test]
fn turned_pages_and_turned_text_are_read_as_they_are_shown() {
    // On a page that is turned by 90 degrees text runs up.
    let up = "BT /F 10 Tf 0 1 -1 0 100 100 Tm (upper line) Tj 0 -12 Td (lower line) Tj ET";
    for turned in ["/Rotate 90", "", "/Rotate 270"] {
        let read = text(&with_objects("", &[(turned, up)], &[], ""));
        assert_eq!(read, "upper line\nlower line\n\n", "{turned}");
    }
    let mixed = format!("{}{}", at(50, 700, "A page with a label."), up);
    let read = text(&document(&mixed));
    assert!(
        read.starts_with("upper line\nlower line\n\nA page")
            || read.starts_with("A page with a label.\n\nupper line"),
        "{read}"
    );
    // Columns of vertical scripts go from right to left: text that runs down.
    let down = "BT /F 10 Tf 0 -1 1 0 300 700 Tm (first) Tj 0 -12 Td (second) Tj ET";
    assert_eq!(text(&document(down)), "first\nsecond\n\n");
    let mirrored = "BT /F 10 Tf 1 0 0 -1 50 100 Tm (over) Tj 0 -12 Td (under) Tj ET";
    assert_eq!(text(&document(mirrored)), "over\nunder\n\n");
}

#[test]
fn divided_words_are_joined_where_the_next_line_goes_on() {
    let lines = [
        "The harbour mas-",
        "ter keeps a well-",
        "Known ledger, items 3-",
        "5 of it",
    ];
    let content: String = (0..)
        .zip(lines)
        .map(|(line, text)| at(50, 700 - 12 * line, text))
        .collect();
    assert_eq!(
        text(&document(&content)),
        "The harbour master\nkeeps a well-\nKnown ledger, items 3-\n5 of it\n\n"
    );
}

#[test]
fn invisible_text_counts_and_text_beside_the_page_does_not() {
    let hidden = "BT 3 Tr /F 10 Tf 50 700 Td (from a scanner) Tj ET\n";
    let beside = at(900, 700, "crop marks");
    assert_eq!(
        text(&document(&format!("{hidden}{beside}"))),
        "from a scanner\n\n"
    );
    assert_eq!(text(&document(&beside)), "crop marks\n\n");
}

#[test]
fn text_that_is_drawn_twice_is_read_once() {
    let bold = format!(
        "{}BT /F 10 Tf 1 0 0 1 50.4 700 Tm (bold title) Tj ET\nBT 2 Tr /F 10 Tf 50 600 Td (outlined) Tj ET",
        at(50, 700, "bold title")
    );
    assert_eq!(text(&document(&bold)), "bold title\n\noutlined\n\n");
}

#[test]
fn the_text_that_a_document_states_for_its_glyphs_wins() {
    let content = "/Span << /ActualText (harbour) >> BDC BT /F 10 Tf 50 700 Td (har-) Tj 0 -12 Td (bour) Tj ET EMC\n\
        BT /F 10 Tf 50 650 Td /Span << /ActualText <feff006f0066> >> BDC (xxx) Tj EMC ( course) Tj ET";
    assert_eq!(text(&document(content)), "harbour\n\nof course\n\n");
}

#[test]
fn accents_join_the_letter_that_they_are_drawn_over() {
    // As TeX draws them: the accent, back, the letter.
    let content = "BT /F 10 Tf 50 700 Td [(Sch) (\\250) 444 (on, caf) (e) 444 (\\264)] TJ ET";
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    let bytes = with_objects("", &[("", content)], &[], "");
    let bytes = String::from_utf8_lossy(&bytes).replace(FONT, font);
    assert_eq!(text(bytes.as_bytes()), "Sch\u{f6}n, caf\u{e9}\n\n");
}

/// A font that says which text its codes are.
fn mapped_font(map: &str) -> Vec<String> {
    let map = format!(
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange {map} endcmap end"
    );
    vec![
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>".to_owned(),
        stream("", &map),
    ]
}

#[test]
fn lines_from_right_to_left_are_stored_as_they_are_read() {
    // Codes a, b, c are alef, bet, gimel; d is the ligature of lam and alef, which stands in the order of reading.
    let others =
        mapped_font("4 beginbfchar <61> <05d0> <62> <05d1> <63> <05d2> <64> <06440627> endbfchar");
    let content =
        at(50, 700, "cb 42 a").replace("/F", "/H") + &at(50, 650, "da").replace("/F", "/H");
    let fonts = "/Resources << /Font << /H 4 0 R >> >>";
    let page = format!("/Dummy 0 {fonts}");
    let bytes = with_objects("", &[(&page, &content)], &others, "");
    // The entry that comes last counts.
    let bytes = String::from_utf8_lossy(&bytes).replace(
        "/Resources << /Font << /F 3 0 R >>",
        "/Unused << /Font << >>",
    );
    assert_eq!(
        text(bytes.as_bytes()),
        "\u{5d0} 42 \u{5d1}\u{5d2}\n\n\u{5d0}\u{644}\u{627}\n\n"
    );
}

#[test]
fn bookmarks_are_headings_where_their_titles_stand() {
    let others = [
        "<< /First 5 0 R >>",
        "<< /Title (1 Tides) /First 6 0 R /Next 8 0 R >>",
        "<< /Title (Moon) /Dest [13 0 R /XYZ 0 712 0] /Next 7 0 R >>",
        "<< /Title <feff005300750 06e> /A << /S /GoTo /D (sun) >> >>",
        "<< /Title (Elsewhere) /A << /S /URI /URI (http://example.org) >> /Next 9 0 R >>",
        "<< /Title (Old name) /Dest /old /Next 5 0 R >>",
        "<< /Kids [11 0 R 10 0 R] >>",
        "<< /Names [(moon) [13 0 R /Fit] (sun) << /D [15 0 R /FitH 620] >>] >>",
        "<< /old [1 /Fit] >>",
    ];
    let others: Vec<String> = others.map(str::to_owned).to_vec();
    let catalog = "/Outlines 4 0 R /Names << /Dests 10 0 R >> /Dests 12 0 R";
    let one = format!(
        "{}{}{}",
        at(50, 750, "Contents: 1 Tides, Moon"),
        at(50, 700, "1 Tides"),
        at(50, 650, "Moon")
    );
    let two = format!(
        "{}{}",
        at(50, 700, "Old name"),
        at(50, 600, "The sun and the rest")
    );
    let found = read(&with_objects(
        catalog,
        &[("", &one), ("", &two)],
        &others,
        "",
    ));
    // Lines 1, 3 and 5 of the first page, 7 and 9 of the second.
    assert_eq!(
        headings(&found),
        [
            (1, "1 Tides", 3),
            (2, "Moon", 5),
            (2, "Sun", 9),
            (1, "Elsewhere", 9),
            (1, "Old name", 7)
        ]
    );
}

#[test]
fn metadata_has_the_names_of_other_formats() {
    let info = "<< /Title (\\376\\377\\000T\\000i\\000d\\000e\\000s) /Author (A. Writer) /Subject (Sea) /Keywords (moon, sun) \
        /CreationDate (D:20240229233005-05'00') /ModDate (D:2024) /Producer (none) >>";
    let found = read(&with_objects(
        "",
        &[("", &at(9, 9, "x"))],
        &[info.to_owned()],
        "/Info 4 0 R",
    ));
    assert_eq!(found.title.as_deref(), Some("Tides"));
    let expected = [
        ("author", "A. Writer"),
        ("subject", "Sea"),
        ("keywords", "moon, sun"),
        ("created", "2024-03-01T04:30:05Z"),
        ("modified", "2024-01-01T00:00:00Z"),
        ("pages", "1"),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(found.metadata, expected);
}

#[test]
fn pages_that_say_no_text_are_named() {
    let image = stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        "x",
    );
    let scan = "q 600 0 0 800 0 0 cm /X Do Q";
    let plain = at(50, 700, "words");
    let pages = [
        ("", scan),
        ("", scan),
        ("", plain.as_str()),
        ("", ""),
        ("", scan),
    ];
    let found = read(&with_objects("", &pages, &[image], ""));
    assert_eq!(metadata(&found, "pages_without_text"), Some("1-2,5"));
    assert_eq!(metadata(&found, "pages_with_unreliable_text"), None);

    let strange = "BT /F 10 Tf 50 700 Td (\\001\\002\\003\\004 ok) Tj ET";
    let found = read(&document(strange));
    assert_eq!(
        found.text.as_deref(),
        Some("\u{fffd}\u{fffd}\u{fffd}\u{fffd} ok\n\n")
    );
    assert_eq!(metadata(&found, "pages_with_unreliable_text"), Some("1"));
}

#[test]
fn a_file_is_a_pdf_by_what_it_says_first() {
    let real = document(&at(50, 700, "words"));
    assert!(is_pdf(&real));
    let after_mail_headers = [b"X-Mailer: none\r\n\r\n".as_slice(), &real].concat();
    assert!(is_pdf(&after_mail_headers));
    assert_eq!(text(&after_mail_headers), "words\n\n");
    assert!(!is_pdf(b"A PDF begins with %PDF-1.7 and a comment.\n"));
    assert!(!is_pdf(&[&[0xff; 1100], real.as_slice()].concat()));
    assert!(!is_pdf(b""));
}

#[test]
fn what_cannot_be_read_has_one_reason() {
    let real = document(&at(50, 700, "words"));
    let no_pages = with_objects("", &[], &[], "");
    let locked = with_objects(
        "",
        &[("", "")],
        &["<< /Filter /Standard /V 1 /R 2 /P -4 /O <00> /U <00> >>".to_owned()],
        "/Encrypt 4 0 R /ID [<00> <00>]",
    );
    for (bytes, reason) in [
        (
            &b"%PDF-1.7\n"[..],
            "damaged (PDF): its list of pages cannot be found",
        ),
        (
            &real[..60],
            "damaged (PDF): its list of pages cannot be found",
        ),
        (&no_pages, "damaged (PDF): it has no pages"),
        (&locked, "encrypted (PDF)"),
    ] {
        assert_eq!(extract(bytes).unwrap_err().to_string(), reason);
    }
    // Without its table, what is left is found.
    let cut = &real[..real.len() - 60];
    assert_eq!(text(cut), "words\n\n");
}

/// A file of another program: `tests/corpus/pdf/README.md`.
fn real(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/pdf/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

#[test]
fn letters_that_a_program_drew_twice_are_read_once() {
    let read = text(&real("drawn-twice.pdf"));
    assert!(
        read.contains("\nBOL D TEXT SAMPL E\n\nTest i ng Dedupl i cat i on\n"),
        "{read}"
    );
    assert!(
        read.contains("quick brown fox jumps over the lazy dog.\n"),
        "{read}"
    );
}

#[test]
fn rows_with_empty_cells_stay_rows() {
    let found = read(&real("sparse-tables.pdf"));
    let read = found.text.as_deref().unwrap();
    for row in [
        "SKU-8847\tA-12\t450\n",
        "B-07\t289\t-23\n",
        "SKU-9201\t780\t778\tOK\n",
        "SKU-4563\tSoftware\t$120.00\t$18,720.00\tCritical\n",
        "SKU-5512\tHardware\t$89.00\t$31,150.00\tPending\n",
    ] {
        assert!(read.contains(row), "{row:?} in {read}");
    }
    assert_eq!(found.parts.len(), 2);
    assert_eq!((&found.title, metadata(&found, "author")), (&None, None));
}

#[test]
fn a_file_with_a_password_is_encrypted() {
    let error = extract(&real("password.pdf")).unwrap_err();
    assert_eq!(error, SkipReason::Encrypted("PDF"));
}

#[test]
fn a_file_for_holders_of_certificates_is_encrypted() {
    let page = [("", "")];
    let of_certificates = "/ID [<00> <00>] /Encrypt << /Filter /Adobe.PubSec /V 4 >>";
    let error = extract(&with_objects("", &page, &[], of_certificates)).unwrap_err();
    assert_eq!(error, SkipReason::Encrypted("PDF"));
}

#[test]
fn pages_are_the_same_however_few_are_held() {
    let pages = ["one", "two", "three"].map(|word| at(50, 700, word));
    let pages = pages.each_ref().map(|content| ("", content.as_str()));
    let file = with_objects("", &pages, &[], "");
    let (all, each) = (read(&file), extract_holding(0, &file).unwrap());
    assert!(format!("{each:?}").contains("three") && format!("{all:?}") == format!("{each:?}"));
}
