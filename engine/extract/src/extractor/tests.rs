use kb_types::{Class, Document};
use proptest::prelude::*;

use super::{SkipReason, extract};
use crate::extracted::{MAX_HEADINGS, MAX_TITLE_CHARS};

fn document(path: &str, bytes: impl AsRef<[u8]>) -> Document {
    extract(path, bytes.as_ref()).unwrap()
}

fn outline(document: &Document) -> Vec<(u8, &str, u32)> {
    let headings = document.outline.iter();
    headings
        .map(|heading| (heading.level, heading.title.as_str(), heading.line))
        .collect()
}

#[test]
fn text_is_decoded_from_the_usual_encodings_without_its_mark() {
    let words = "Gr\u{fc}\u{df}e aus K\u{f6}ln, \u{201e}sch\u{f6}n\u{201c}\r\nzweite Zeile\r\n";
    let utf_16 =
        |units: fn(u16) -> [u8; 2]| -> Vec<u8> { words.encode_utf16().flat_map(units).collect() };
    let (little, big) = (utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes));
    let (windows, _, _) = encoding_rs::WINDOWS_1252.encode(words);
    for bytes in [
        words.as_bytes().to_vec(),
        [b"\xEF\xBB\xBF", words.as_bytes()].concat(),
        [b"\xFF\xFE".as_slice(), &little].concat(),
        [b"\xFE\xFF".as_slice(), &big].concat(),
        little,
        big,
        windows.into_owned(),
    ] {
        assert_eq!(document("a.txt", bytes).text, words);
    }
    let japanese =
        "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{6587}\u{66f8}\u{3067}\u{3059}\u{3002}".repeat(9);
    let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(&japanese);
    assert_eq!(document("a.txt", shift_jis).text, japanese);
}

#[test]
fn a_page_in_the_encoding_that_it_names_is_read() {
    let page = "<meta charset=\"koi8-r\"><p>\u{434}\u{430}";
    let (bytes, _, _) = encoding_rs::KOI8_R.encode(page);
    assert_eq!(document("a.html", bytes).text, "\u{434}\u{430}\n");
}

#[test]
fn a_broken_byte_in_utf_8_does_not_change_the_rest() {
    let text = "\u{e9}".repeat(50);
    let bytes = [text.as_bytes(), b"\xFF"].concat();
    assert_eq!(document("a.txt", bytes).text, text + "\u{fffd}");
}

#[test]
fn binary_files_are_refused_by_name_of_their_format() {
    let elf = [b"\x7FELF\x02\x01\x01".as_slice(), &[0; 64]].concat();
    let zip = [
        b"PK\x03\x04\x14\0\0\0".as_slice(),
        b"word/document.xml\0\0\0",
    ]
    .concat();
    for (bytes, reason) in [
        (
            b"%PDF-1.4\n1 0 obj".to_vec(),
            "damaged (PDF): its list of pages cannot be found",
        ),
        (elf, "binary file (executable)"),
        (
            zip,
            "damaged (Word document): the list of its parts is missing or broken",
        ),
        (vec![0; 100], "binary file, or text in an unknown encoding"),
        (
            (0..=255).collect(),
            "binary file, or text in an unknown encoding",
        ),
    ] {
        assert_eq!(extract("a.txt", &bytes).unwrap_err().to_string(), reason);
    }
    // Letters that begin a format may begin a text.
    assert_eq!(
        document("a.txt", "ID3 tags explained").text,
        "ID3 tags explained"
    );
    assert_eq!(
        document("a.txt", "MZ is a signature").text,
        "MZ is a signature"
    );
}

#[test]
fn minified_programs_are_data_when_small_and_refused_when_large() {
    let small = document("a.min.js", "function a(b){return b+1};".repeat(100));
    assert_eq!(
        (small.class, small.language.as_str()),
        (Class::Data, "javascript")
    );
    let large = "function a(b){return b+1};".repeat(10_000);
    let refused = extract("a.js", large.as_bytes()).unwrap_err();
    assert_eq!(
        refused,
        SkipReason::MachineMade {
            longest_line_bytes: 260_000
        }
    );
    // Prose and tables may have any lines.
    assert_eq!(document("a.txt", &large).class, Class::Doc);
    assert_eq!(document("a.csv", &large).class, Class::Data);
    let source = document(
        "a.js",
        "function a(b) {\n  return b + 1\n}\n".repeat(10_000),
    );
    assert_eq!(source.class, Class::Code);
}

#[test]
fn the_type_comes_from_the_name_or_the_first_line() {
    let script = document("bin/run", "#!/usr/bin/env python3\nprint(1)\n");
    assert_eq!(
        (script.language.as_str(), script.class),
        ("python", Class::Code)
    );
    assert_eq!(script.title, "run");
    let prose = document("NOTES", "words");
    assert_eq!(
        (prose.file_type.as_str(), prose.class),
        ("text", Class::Doc)
    );
    assert_eq!(document("a.qqq", "words").class, Class::Data);
    assert_eq!(
        document("de.ts", "<?xml version=\"1.0\"?>\n<TS/>").language,
        "xml"
    );
    assert_eq!(document("a/e\u{301}.txt", "").path, "a/\u{e9}.txt");
}

#[test]
fn notebooks_and_messages_are_known_by_name_and_content() {
    let notebook = r#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}],
        "metadata": {"language_info": {"name": "python"}}}"#;
    let found = document("a.ipynb", notebook);
    assert_eq!(found.text, "```python\nx = 1\n```\n\n");
    assert_eq!(
        (
            found.file_type.as_str(),
            found.language.as_str(),
            found.class
        ),
        ("ipynb", "python", Class::Data)
    );
    assert_eq!(document("a.json", notebook).text, notebook);
    let picture = format!("<<<<<<<\n{{\"image/png\": \"{}\"}}", "A".repeat(100_000));
    assert!(extract("a.ipynb", picture.as_bytes()).is_err());
    assert_eq!(document("a.ipynb", "{}").text, "{}");

    let message = "Received: x\nFrom: a@x.org\nDate: x\nSubject: Tides\n\nwords\n";
    for name in ["a.eml", "cur/1712.M1P2.host:2,S", "message"] {
        let found = document(name, message);
        assert_eq!(
            (found.file_type.as_str(), found.class),
            ("eml", Class::Doc),
            "{name}"
        );
        assert_eq!(found.title, "Tides");
    }
    // Another name says otherwise, and a message begins with its header.
    assert_eq!(document("a.txt", message).text, message);
    let text = document("a.eml", "words\n");
    assert_eq!(
        (text.file_type.as_str(), text.text.as_str()),
        ("text", "words\n")
    );
    assert_eq!(document("a.eml", "").text, "");
}

#[cfg(feature = "office")]
#[test]
fn a_book_is_known_by_its_content() {
    use crate::package::test_files::package;
    let container = "<rootfile full-path='a.opf' media-type='application/oebps-package+xml'/>";
    let opf = "<package><manifest><item id='a' href='a.html'/></manifest><spine><itemref idref='a'/>\
        </spine></package>";
    let parts = [
        ("META-INF/container.xml", container),
        ("a.opf", opf),
        ("a.html", "<h1>One</h1>"),
    ];
    let stated = [&[("mimetype", "application/epub+zip")], &parts[..]].concat();
    for bytes in [package(&parts), package(&stated)] {
        for name in ["a.epub", "a.docx", "a"] {
            let found = document(name, &bytes);
            assert_eq!(
                (found.file_type.as_str(), found.class),
                ("epub", Class::Doc),
                "{name}"
            );
            assert_eq!(
                (found.text.as_str(), found.title.as_str()),
                ("One\n\n", "One")
            );
        }
    }
    let cut = package(&stated);
    let refused = extract("a.epub", &cut[..cut.len() - 30]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "damaged (EPUB): the list of its parts is missing or broken"
    );
}

#[cfg(feature = "sheets")]
#[test]
fn a_table_is_a_sheet_or_else_the_text_that_it_is() {
    let table = document("a.csv", "name;size\n\n\"a b\";1,5\n");
    assert_eq!(table.text, "name\tsize\na b\t1,5\n");
    assert_eq!((table.line_numbers, table.parts.len()), (vec![], 1));
    assert_eq!((table.class, table.title.as_str()), (Class::Data, "a.csv"));
    let wide = ",".repeat(20_000);
    let text = document("a.tsv", wide.replace(',', "\t"));
    assert_eq!((text.text.len(), text.parts.len()), (20_000, 0));
}

#[test]
fn markdown_headings_point_at_their_text() {
    let source = "---\ntitle: \"The Title\"\nauthor: A. Writer\ndate: 2024-05-06\n---\n\
        # One `code` *word*\n\ntext\n\nTwo\nlines\n-----\n\n```\n# no heading\n```\n\n\
        > ### Quoted #\n";
    let document = document("a.md", source);
    assert_eq!(document.title, "The Title");
    assert_eq!(
        outline(&document),
        [
            (1, "One code word", 6),
            (2, "Two lines", 10),
            (3, "Quoted", 18)
        ]
    );
    for (heading, start) in document
        .outline
        .iter()
        .zip(["# One", "Two\n", "### Quoted"])
    {
        assert!(document.text[heading.start as usize..].starts_with(start));
    }
    let author = ("author".to_owned(), "A. Writer".to_owned());
    assert_eq!(
        document.metadata,
        [author, ("date".to_owned(), "2024-05-06".to_owned())]
    );
    assert_eq!(document.text, source);
}

#[test]
fn a_markdown_title_is_the_first_outermost_heading() {
    assert_eq!(document("x/a.md", "## Small\n\n# Large\n").title, "Large");
    assert_eq!(document("x/a.md", "## Small\n").title, "a.md");
    assert_eq!(document("x/a.md", "---\nnot front matter").title, "a.md");
}

#[test]
fn sections_of_restructured_text_rank_by_their_adornment() {
    let source = ":Author: Someone\n\n=====\nTitle\n=====\n\n\
        Part :ref:`one <x>`\n------------\n\ntext\n\n    Indented\n    --------\n\n\
        Detail\n~~~~~~\n\n==== ====\na    b\n==== ====\n\nSecond part\n\
        -----------\n\nshort title\n--\n\n-----\n\nend\n";
    let document = document("a.rst", source);
    assert_eq!(
        outline(&document),
        [
            (1, "Title", 3),
            (2, "Part one <x>", 7),
            (3, "Detail", 15),
            (2, "Second part", 22)
        ]
    );
    assert!(document.text[document.outline[0].start as usize..].starts_with("=====\nTitle"));
    assert_eq!(document.title, "Title");
    assert_eq!(
        document.metadata,
        [("author".to_owned(), "Someone".to_owned())]
    );
}

#[test]
fn a_page_becomes_readable_text_with_the_lines_of_its_source() {
    let page = "<!doctype html>\n<html><head><title>A &amp; B</title>\n\
        <meta name=author content='Some One'><style>p { x: <b> }</style>\n\
        <script>if (a < b) { '</p>' }</script></head>\n<body><h1>Top\n words</h1>\n\
        <p>First <b>bold</b>&nbsp;text<br>next &copy &lt;x&gt; &#x41;&#66; &unknown; &.</p>\n\
        <!-- <p>gone</p> --><ul><li>one<li>two<ul><li>inner</ul></ul>\n\
        <table><tr><th>h</th><th><p>i</p></th></tr>\n<tr><td>1<td>2</table>\n\
        <pre>\n  keep\n\n    this\n</pre>\n<img alt='a picture' src=x><noscript>no</noscript>\n\
        <template><p>no</template><svg><text>no</text></svg>3 < 4</body></html>\n";
    let document = document("a.html", page);
    let expected = "Top words\n\nFirst bold text\nnext \u{a9} <x> AB &unknown; &.\n\n\
        - one\n- two\n  - inner\n\nh | i\n1 | 2\n\n  keep\n\n    this\n\na picture 3 < 4\n";
    assert_eq!(document.text, expected);
    assert_eq!(document.title, "A & B");
    assert_eq!(outline(&document), [(1, "Top words", 5)]);
    assert_eq!(
        document.metadata,
        [("author".to_owned(), "Some One".to_owned())]
    );
    let original: Vec<&str> = page.lines().collect();
    for (text, number) in document.text.lines().zip(&document.line_numbers) {
        if let Some(word) = text.trim_start_matches(['-', ' ']).split([' ', '|']).next() {
            assert!(
                original[*number as usize - 1].contains(word),
                "{number}: {text}"
            );
        }
    }
    assert_eq!(document.line_numbers.len(), expected.lines().count());
}

#[test]
fn pages_made_to_harm_are_read_in_linear_time() {
    for page in [
        "<div>".repeat(100_000),
        format!(
            "<a {}>",
            (0..100_000).map(|i| format!("a{i} ")).collect::<String>()
        ),
        format!("<img {}>", "a=1 ".repeat(100_000)),
        "<!-- -- ".repeat(100_000),
        "<script></scrip".repeat(50_000),
        "<".repeat(300_000),
        "&".repeat(300_000),
        "<a b=\"".repeat(100_000),
        "<h1>a".repeat(100_000),
        "<ul><li>".repeat(100_000),
    ] {
        let document = document("a.html", page);
        assert!(document.outline.len() <= MAX_HEADINGS);
        assert_eq!(document.line_numbers.len(), document.text.lines().count());
    }
}

#[test]
fn headings_are_limited_in_number_and_length() {
    let document = document("a.md", "# word\n\n".repeat(MAX_HEADINGS + 10));
    assert_eq!(document.outline.len(), MAX_HEADINGS);
    let long = extract("a.md", format!("# {}", "x".repeat(5000)).as_bytes()).unwrap();
    assert_eq!(long.outline[0].title.len(), MAX_TITLE_CHARS);
    // Characters of four bytes: as many headings, and shorter titles.
    let wide = format!("# {}\n", "\u{20000}".repeat(MAX_TITLE_CHARS));
    let few = extract("a.md", wide.repeat(5000).as_bytes()).unwrap();
    assert!(
        few.outline
            .iter()
            .all(|h| h.title.len() == 4 * MAX_TITLE_CHARS)
    );
    let many = extract("a.md", wide.repeat(30_000).as_bytes()).unwrap();
    assert_eq!(many.outline.len(), 30_000);
    assert!(many.outline.iter().all(|h| h.title.len() >= 192));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_give_a_document_or_a_reason(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        kind in 0usize..10,
    ) {
        let name = [
            "a.txt", "a.md", "a.html", "a.rst", "a.rs", "a", "a.adoc", "a.xml", "a.ipynb", "a.eml",
        ][kind];
        if let Ok(document) = extract(name, &bytes) {
            let is_border = |at: u32| document.text.is_char_boundary(at as usize);
            prop_assert!(document.outline.iter().all(|heading| is_border(heading.start)));
        }
    }

    #[test]
    fn any_markup_gives_ordered_headings_inside_the_text(
        parts in prop::collection::vec(
            prop_oneof![
                "[<>&;#=\"'/!\\-a-z0-9 \n]{0,12}",
                "</?(h1|h3|p|li|ul|td|tr|table|pre|title|script|svg|br|img alt=x)>",
                "(#{1,3} )?[a-z]{1,9}\n",
                "[-=~]{1,9}\n",
                "</?(book|chapter|info|para|entry|programlisting|author)/?>",
                "(={1,4} |:a: |----|\\{a\\})[a-z]{0,9}\n",
                "\\PC{0,9}",
            ],
            0..60,
        ),
        kind in 0usize..5,
    ) {
        let name = ["a.md", "a.html", "a.rst", "a.adoc", "a.xml"][kind];
        // XML is read where it is a document.
        let start = if name == "a.xml" { "<book><title>a</title>" } else { "" };
        let document = document(name, start.to_owned() + &parts.concat());
        let starts: Vec<u32> = document.outline.iter().map(|heading| heading.start).collect();
        prop_assert!(starts.is_sorted());
        let is_inside = |&start: &u32| {
            let start = start as usize;
            start < document.text.len() && document.text.is_char_boundary(start)
        };
        prop_assert!(starts.iter().all(is_inside));
        prop_assert!(document.line_numbers.is_sorted());
        if !document.line_numbers.is_empty() {
            let lines = document.text.split_inclusive('\n').count();
            prop_assert_eq!(document.line_numbers.len(), lines);
        }
    }
}
