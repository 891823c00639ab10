use kb_types::{Document, PageSource, PartContent};

use crate::extract;
use crate::package::test_files::{compound_file, odf, package, relationships};

mod bound;
mod parts;

pub(crate) fn docx(body: &str) -> Vec<u8> {
    let styles = "<w:styles><w:style w:styleId='H2'><w:name w:val='heading 2'/></w:style>\
        <w:style w:styleId='Mine'><w:basedOn w:val='H2'/><w:pPr><w:pageBreakBefore/></w:pPr></w:style></w:styles>";
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='7'>\
        <w:lvl w:ilvl='0'><w:start w:val='2'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%1%2)'/></w:lvl>\
        </w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num></w:numbering>";
    package(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "_rels/.rels",
            &relationships(&[
                ("officeDocument", "Word\\Document.xml"),
                ("core-properties", "docProps/core.xml"),
            ]),
        ),
        (
            "docProps/core.xml",
            "<c><dc:title>Tides &amp; moons</dc:title><dc:creator>A. Writer</dc:creator></c>",
        ),
        (
            "word/document.xml",
            &format!("<w:document><w:body>{body}</w:body></w:document>"),
        ),
        (
            "word/_rels/document.xml.rels",
            &relationships(&[
                ("styles", "styles.xml"),
                ("footnotes", "/word/notes.xml"),
                ("numbering", "numbering.xml"),
            ]),
        ),
        ("word/styles.xml", styles),
        ("word/numbering.xml", numbering),
        (
            "word/notes.xml",
            "<w:footnotes><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
    ])
}

/// A Word 97 file with one piece of Windows-1252 and one of UTF-16.
pub(crate) fn doc(narrow: &[u8], wide: &str, flags: u16) -> Vec<u8> {
    doc_with(narrow, wide, flags, &[], &[])
}

/// The same with more in its header: how many of its last characters are of each kind, by place there, and lists
/// of the table, whose place and length stand there.
pub(crate) fn doc_with(
    narrow: &[u8],
    wide: &str,
    flags: u16,
    kinds: &[(usize, u32)],
    lists: &[(usize, Vec<u8>)],
) -> Vec<u8> {
    let others: u32 = kinds.iter().map(|(_, count)| count).sum();
    let wide_bytes: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (narrow_length, wide_length) = (narrow.len() as u32, wide_bytes.len() as u32 / 2);
    let mut stream = vec![0u8; 1024];
    stream[..2].copy_from_slice(&0xA5ECu16.to_le_bytes());
    stream[2..4].copy_from_slice(&0xC1u16.to_le_bytes());
    stream[10..12].copy_from_slice(&flags.to_le_bytes());
    let mut list = vec![2u8];
    let ends = [0, narrow_length, narrow_length + wide_length];
    let mut pieces: Vec<u8> = ends
        .iter()
        .flat_map(|end: &u32| end.to_le_bytes())
        .collect();
    for place in [(1024 * 2) | 0x4000_0000, 1024 + narrow_length] {
        pieces.extend([0, 0]);
        pieces.extend(u32::to_le_bytes(place));
        pieces.extend([0, 0]);
    }
    list.extend((pieces.len() as u32).to_le_bytes());
    list.extend(pieces);
    let mut header = vec![
        (0x4C, narrow_length + wide_length - others),
        (0x1A2, 0),
        (0x1A6, list.len() as u32),
    ];
    header.extend(kinds);
    for (at, bytes) in lists {
        header.extend([(*at, list.len() as u32), (at + 4, bytes.len() as u32)]);
        list.extend(bytes);
    }
    for (at, value) in header {
        stream[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    stream.extend(narrow);
    stream.extend(wide_bytes);
    compound_file(&[("WordDocument", stream), ("0Table", list)])
}

fn document(bytes: &[u8]) -> Document {
    extract("a.bin", bytes).unwrap()
}

fn pages(document: &Document) -> Vec<(&'static str, &str)> {
    let ends = document
        .parts
        .iter()
        .skip(1)
        .map(|part| part.start as usize);
    let ends = ends.chain([document.text.len()]);
    let each = document.parts.iter().zip(ends);
    each.map(|(part, end)| {
        let source = match &part.content {
            PartContent::Page(page) => page.source.name(),
            _ => "",
        };
        (source, document.text[part.start as usize..end].trim_end())
    })
    .collect()
}

#[test]
fn a_word_document_is_read_without_what_was_deleted() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let body = format!(
        "<w:p><w:pPr><w:pStyle w:val='H2'/><w:tabs><w:tab w:pos='1'/></w:tabs></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>\
         <w:p><w:r><w:t>a &lt; b</w:t><w:tab/><w:t>c</w:t><w:br/><w:t>d</w:t></w:r>\
         <w:del><w:r><w:delText>gone</w:delText></w:r></w:del>\
         <w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>PAGE</w:instrText><w:t>code</w:t></w:r>\
         <w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t> result</w:t></w:r>\
         <w:r><w:fldChar w:fldCharType='end'/></w:r>\
         <w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>\
         </mc:Choice><mc:Fallback><w:p><w:r><w:t>box again</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>\
         <w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell("h"),
        cell("i"),
        cell("1"),
        cell("2")
    );
    let document = document(&docx(&body));
    assert_eq!(
        document.text,
        "Head\n\na < b\tc\nd result\n\nbox\n\nh | i\n1 | 2\n\nA note.\n\n"
    );
    assert_eq!(document.title, "Tides & moons");
    assert_eq!(
        document.metadata,
        [("author".to_owned(), "A. Writer".to_owned())]
    );
    let heading = &document.outline[0];
    assert_eq!(
        (heading.level, heading.title.as_str(), heading.line),
        (2, "Head", 1)
    );
}

#[test]
fn a_row_is_a_line_where_a_cell_has_several_paragraphs() {
    let row = |first: &str| {
        let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
        let (first, second) = (paragraph(first), paragraph("more"));
        format!(
            "<w:tbl><w:tr><w:tc>{first}{second}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
            paragraph("next")
        )
    };
    let text = document(&docx(&row("one"))).text;
    assert_eq!(text, "one more | next\n\nA note.\n\n");
    // A table that lays out a page.
    let long = "word ".repeat(200);
    let text = document(&docx(&row(&long))).text;
    assert!(
        text.ends_with("word\n\nmore\n\nnext\n\nA note.\n\n"),
        "{text}"
    );
}

#[test]
fn a_note_of_a_word_document_follows_its_paragraph() {
    let notes = "<w:footnotes><w:footnote w:id='1'><w:p><w:r><w:t>Of none.</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>Of the moon.</w:t></w:r></w:p><w:p><w:r><w:t>More.</w:t></w:r></w:p>\
        </w:footnote></w:footnotes>";
    let body = "<w:p><w:r><w:t>one</w:t><w:footnoteReference w:id='2'/><w:t> two</w:t></w:r></w:p>\
        <w:p><w:r><w:br w:type='page'/><w:t>three</w:t><w:footnoteReference w:id='2'/></w:r></w:p>";
    let bytes = package(&[
        (
            "_rels/.rels",
            &relationships(&[("officeDocument", "word/document.xml")]),
        ),
        (
            "word/document.xml",
            &format!("<w:document><w:body>{body}</w:body></w:document>"),
        ),
        (
            "word/_rels/document.xml.rels",
            &relationships(&[("footnotes", "footnotes.xml")]),
        ),
        ("word/footnotes.xml", notes),
    ]);
    assert_eq!(
        pages(&document(&bytes)),
        [
            ("explicit", "one two\n\nOf the moon.\n\nMore."),
            ("explicit", "three\n\nOf none."),
        ]
    );
}

#[test]
fn numbers_of_lists_stand_before_their_paragraphs() {
    let item = |level: u32, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr>\
             <w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let body = [
        item(0, "a"),
        item(1, "b"),
        item(1, "c"),
        item(0, "d"),
        item(1, "e"),
    ]
    .concat();
    let text = document(&docx(&body)).text;
    assert_eq!(
        text,
        "2. a\n\n2a) b\n\n2b) c\n\n3. d\n\n3a) e\n\nA note.\n\n"
    );
    // A column of a table may hold nothing but numbers; an empty paragraph elsewhere counts, and shows nothing.
    let cell = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let row = [
        cell(&item(0, "")),
        cell("<w:p><w:r><w:t>x</w:t></w:r></w:p>"),
    ]
    .concat();
    let table = format!("<w:tbl><w:tr>{row}</w:tr><w:tr>{row}</w:tr></w:tbl>");
    let text = document(&docx(&[item(0, ""), table].concat())).text;
    assert_eq!(text, "3. | x\n4. | x\n\nA note.\n\n");
    // A level that is passed over has its first number.
    let text = document(&docx(&[item(1, "a"), item(0, "b")].concat())).text;
    assert_eq!(text, "2a) a\n\n3. b\n\nA note.\n\n");
    let list = "<text:list-style style:name='L'><text:list-level-style-number text:level='1' style:num-format='I' \
        style:num-suffix=')'/></text:list-style><office:body><text:list text:style-name='L'><text:list-item><text:p>a</text:p>\
        <text:p>b</text:p></text:list-item><text:list-item><text:p>c</text:p></text:list-item></text:list></office:body>";
    let text = document(&odf("text", list, "<m/>")).text;
    assert_eq!(text, "I) a\n\nb\n\nII) c\n\n");
}

#[test]
fn pages_of_a_word_document_say_where_they_come_from() {
    let run = |inner: &str| format!("<w:p><w:r>{inner}</w:r></w:p>");
    let rendered = [
        run("<w:t>one</w:t><w:br w:type='page'/>"),
        // The same break again.
        run("<w:lastRenderedPageBreak/><w:t>two</w:t><w:lastRenderedPageBreak/><w:t>three</w:t>"),
    ];
    let rendered = document(&docx(&rendered.concat()));
    let notes = "three\n\nA note.";
    assert_eq!(
        pages(&rendered),
        [
            ("rendered", "one"),
            ("rendered", "two"),
            ("rendered", notes)
        ]
    );
    let mine = "<w:p><w:pPr><w:pStyle w:val='Mine'/></w:pPr><w:r><w:t>two</w:t></w:r></w:p>";
    let explicit = document(&docx(&[run("<w:t>one</w:t>").as_str(), mine].concat()));
    assert_eq!(
        pages(&explicit),
        [("explicit", "one"), ("explicit", "two\n\nA note.")]
    );
    assert_eq!(explicit.outline[0].title, "two");
    let long = run(&format!("<w:t>{}</w:t>", "word ".repeat(100)));
    let estimated = document(&docx(&long.repeat(10)));
    let sizes: Vec<usize> = pages(&estimated)
        .iter()
        .map(|(_, text)| text.len())
        .collect();
    assert_eq!(sizes.len(), 3);
    assert!(
        sizes.iter().take(2).all(|size| (1900..2100).contains(size)),
        "{sizes:?}"
    );
    assert!(
        pages(&estimated)
            .iter()
            .all(|(source, _)| *source == PageSource::Estimated.name())
    );
}

#[test]
fn long_pages_between_explicit_breaks_are_estimated() {
    let long = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "word ".repeat(100));
    let new_page = "<w:p><w:r><w:br w:type='page'/></w:r></w:p>";
    let body = [&long.repeat(2), new_page, &long.repeat(10), new_page, &long].concat();
    let document = document(&docx(&body));
    let sources: Vec<&str> = pages(&document).iter().map(|(source, _)| *source).collect();
    let estimated = ["explicit", "explicit", "estimated", "estimated", "explicit"];
    assert_eq!(sources, estimated);
}

#[test]
fn a_text_of_opendocument_is_read_without_comments() {
    let content = "<office:automatic-styles><style:style style:name='P1' style:family='paragraph'>\
        <style:paragraph-properties fo:break-before='page'/></style:style></office:automatic-styles><office:body>\
        <text:h text:outline-level='3'>Head\n  line</text:h><text:p>a<text:s text:c='2'/>b<text:tab/>c\
        <office:annotation><text:p>no</text:p></office:annotation><draw:frame><svg:title>no</svg:title></draw:frame></text:p>\
        <table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell/>\
        <table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>\
        <text:p text:style-name='P1'>next</text:p></office:body>";
    let document = document(&odf("text", content, "<m/>"));
    assert_eq!(
        pages(&document),
        [
            ("explicit", "Head line\n\na  b\tc\n\nx |  | y"),
            ("explicit", "next")
        ]
    );
    assert_eq!(
        (document.outline[0].level, document.title.as_str()),
        (3, "The title")
    );
    assert_eq!(
        document.metadata,
        [("keywords".to_owned(), "a, b".to_owned())]
    );
}

#[test]
fn rich_text_is_decoded_by_the_fonts_of_its_runs() {
    let rtf = b"  {\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}}\
        {\\stylesheet{\\s1 heading 1;}}{\\info{\\title Tides}{\\author A. Writer}{\\creatim\\yr2024\\mo5\\dy6\\hr7}{\\revtim\\yr2024}}{\\*\\unknown no}\
        {\\header no}\\pard\\s1 Head\\par\\pard\\f0 caf\\'e9 \\f1 \\'e4\\'e0 \\f0\\uc2\\u8364 ??\\uc1\\u-10179 ?\\u-8704 ?\
        {\\v hidden}{\\pict\\bin4 }}}}}{\\field{\\*\\fldinst LINK}{\\fldrslt shown}}{\\footnote A note.}\\par\
        \\trowd\\intbl x\\cell y\\cell\\row\\pard\\page next\\par}";
    let document = document(rtf);
    let first = "Head\n\ncaf\u{e9} \u{434}\u{430} \u{20ac}\u{1f600}shown\n\nA note.\n\nx | y";
    assert_eq!(
        pages(&document),
        [("explicit", first), ("explicit", "next")]
    );
    assert_eq!(
        (
            document.outline[0].level,
            document.outline[0].title.as_str()
        ),
        (1, "Head")
    );
    assert_eq!(document.title, "Tides");
    // A time that is none is left out.
    let created = ("created", "2024-05-06T07:00:00");
    let pairs =
        [("author", "A. Writer"), created].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(document.metadata, pairs);
}

#[test]
fn a_binary_word_document_is_read_in_its_pieces() {
    let text = "three \u{20ac}\r\x13 HYPERLINK \x14link\x15\x0cfour\r";
    let document = document(&doc(b"One \x93quoted\x94\r", text, 0));
    assert_eq!(
        pages(&document),
        [
            (
                "explicit",
                "One \u{201c}quoted\u{201d}\n\nthree \u{20ac}\n\nlink"
            ),
            ("explicit", "four")
        ]
    );
}

#[test]
fn text_boxes_of_a_binary_word_document_come_last() {
    let bytes = doc_with(b"One\r", "two\rbox\r\r", 0, &[(0x64, 5)], &[]);
    assert_eq!(document(&bytes).text, "One\n\ntwo\n\nbox\n\n");
}

#[test]
fn notes_of_a_binary_word_document_follow_their_paragraphs() {
    let places = |places: &[u32], data_bytes: usize| -> Vec<u8> {
        let places = places.iter().flat_map(|place| place.to_le_bytes());
        places.chain(std::iter::repeat_n(0, data_bytes)).collect()
    };
    // The first character is one of two units.
    let body = "\u{1f600}ne\u{2} two\u{2}\x0cthree\u{5}\rfour\u{2}\r";
    let (footnotes, comments, endnotes) = ("\u{2} A.\r\u{2} B.\rlost\r\r", "C.\r\r", "E.\r\r");
    let bytes = doc_with(
        b"Zero\r",
        &[body, footnotes, comments, endnotes].concat(),
        0,
        &[(0x50, 16), (0x5C, 4), (0x60, 4)],
        &[
            (0xAA, places(&[9, 14, 99], 4)),
            (0xB2, places(&[0, 5, 10, 16], 0)),
            (0xBA, places(&[21, 99], 30)),
            (0xC2, places(&[0, 3, 4], 0)),
            (0x20A, places(&[27, 99], 2)),
            (0x212, places(&[0, 3, 4], 0)),
        ],
    );
    assert_eq!(
        pages(&document(&bytes)),
        [
            ("explicit", "Zero\n\n\u{1f600}ne two\n\nA.\n\nB."),
            ("explicit", "three\n\nC.\n\nfour\n\nE.\n\nlost"),
        ]
    );
    // Lists that lie: every text is there once.
    let bytes = doc_with(
        b"Zero\r",
        "one\u{2}\rA.\rB.\r\r",
        0,
        &[(0x50, 7)],
        &[
            (0xAA, places(&[8, 0, 700, 9], 6)),
            (0xB2, places(&[3, 0, u32::MAX, 1], 0)),
        ],
    );
    let text = document(&bytes).text;
    assert_eq!(
        (text.matches("A.").count(), text.matches("B.").count()),
        (1, 1),
        "{text}"
    );
}

#[test]
fn notes_and_comments_of_rich_text_follow_their_paragraph() {
    let rtf = br"{\rtf1\ansi One{\footnote\pard\plain\chftn  Of one.\par More.}{\*\atnid X}{\*\atnauthor Me}\chatn
{\*\annotation{\*\atndate 1}\pard\plain Said.} end\par\page Two\par}";
    assert_eq!(
        pages(&document(rtf)),
        [
            ("explicit", "One end\n\nOf one.\n\nMore.\n\nSaid."),
            ("explicit", "Two")
        ]
    );
}

#[test]
fn of_the_two_forms_of_a_rich_text_one_is_read() {
    let rtf = br"{\rtf1\ansi{\info{\upr{\title T?}{\*\ud{\title T\u8364 ?}}}}a {\upr{b? {\b c}}{\*\ud{b\u8364 ? {\b c}}}} d\par}";
    let document = document(rtf);
    assert_eq!(document.text.trim_end(), "a b\u{20ac} c d");
    assert_eq!(document.title, "T\u{20ac}");
}
