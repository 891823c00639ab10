use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::ingest::extract::extract;
use crate::types::part::fault;
use crate::types::{Document, PageSource, PartContent, Slide};

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn relationships(targets: &[(&str, &str)]) -> String {
    let each = targets.iter().enumerate().map(|(number, (kind, target))| {
        format!("<Relationship Id='r{number}' Type='{RELATIONSHIPS}/{kind}' Target='{target}'/>")
    });
    format!(
        "<Relationships>{}</Relationships>",
        each.collect::<String>()
    )
}

fn docx(body: &str) -> Vec<u8> {
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

fn odf(kind: &str, content: &str, manifest: &str) -> Vec<u8> {
    package(&[
        (
            "mimetype",
            &format!("application/vnd.oasis.opendocument.{kind}"),
        ),
        ("META-INF/manifest.xml", manifest),
        (
            "content.xml",
            &format!("<office:document-content>{content}</office:document-content>"),
        ),
        (
            "meta.xml",
            "<m><dc:title>The title</dc:title><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword></m>",
        ),
    ])
}

fn pptx(slide: &str) -> Vec<u8> {
    let presentation = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r1'/><p:sldId id='257' r:id='r0'/>\
        <p:sldId id='258' r:id='none'/></p:sldIdLst></p:presentation>";
    let notes = "<p:notes><p:sp><p:ph type='sldNum'/><a:t>7</a:t></p:sp><p:sp><p:ph type='body'/>\
        <a:p><a:t>Say this.</a:t></a:p></p:sp></p:notes>";
    package(&[
        (
            "_rels/.rels",
            &relationships(&[("officeDocument", "ppt/presentation.xml")]),
        ),
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            &relationships(&[
                ("slide", "slides/slide1.xml"),
                ("slide", "slides/slide2.xml"),
            ]),
        ),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/slide2.xml",
            "<p:sld show='0'><p:sp><a:p><a:t>First shown</a:t></a:p></p:sp></p:sld>",
        ),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            &relationships(&[("notesSlide", "../notes/notes1.xml")]),
        ),
        ("ppt/notes/notes1.xml", notes),
    ])
}

/// A compound file with streams of any length, in sectors of 512 bytes.
fn compound_file(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    const SECTOR: usize = 512;
    const END: u32 = 0xFFFF_FFFE;
    let mut next: Vec<u32> = vec![0xFFFF_FFFD];
    let mut data = Vec::new();
    let mut add = |bytes: &[u8], next: &mut Vec<u32>| -> u32 {
        let first = next.len();
        let sectors = bytes.len().div_ceil(SECTOR).max(1);
        for sector in 1..=sectors {
            let following = (first + sector) as u32;
            next.push(if sector == sectors { END } else { following });
        }
        data.extend_from_slice(bytes);
        data.resize((next.len() - 1) * SECTOR, 0);
        first as u32
    };
    let entry = |name: &str, kind: u8, sibling: u32, child: u32, start: u32, length: usize| {
        let mut entry = [0u8; 128];
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        entry[..name.len()].copy_from_slice(&name);
        entry[64..66].copy_from_slice(&(name.len() as u16 + 2).to_le_bytes());
        entry[66] = kind;
        for (at, value) in [
            (68, u32::MAX),
            (72, sibling),
            (76, child),
            (116, start),
            (120, length as u32),
        ] {
            entry[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        entry
    };
    let mut directory = entry("Root Entry", 5, u32::MAX, 1, END, 0).to_vec();
    for (number, (name, stream)) in streams.iter().enumerate() {
        let start = add(stream, &mut next);
        let sibling = if number + 1 == streams.len() {
            u32::MAX
        } else {
            number as u32 + 2
        };
        directory.extend(entry(name, 2, sibling, u32::MAX, start, stream.len()));
    }
    let directory_start = add(&directory, &mut next);
    let mut header = [0u8; SECTOR];
    header[..8].copy_from_slice(compound_file::SIGNATURE);
    header[30] = 9;
    for (at, value) in [
        (48, directory_start),
        (56, 0),
        (60, END),
        (68, END),
        (76, 0),
    ] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    header[80..].fill(0xFF);
    next.resize(SECTOR / 4, u32::MAX);
    let table: Vec<u8> = next
        .iter()
        .flat_map(|sector| sector.to_le_bytes())
        .collect();
    [&header[..], &table, &data].concat()
}

/// A Word 97 file with one piece of Windows-1252 and one of UTF-16.
fn doc(narrow: &[u8], wide: &str, flags: u16) -> Vec<u8> {
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
    for place in [1024 * 2 | 0x4000_0000, 1024 + narrow_length] {
        pieces.extend([0, 0]);
        pieces.extend(u32::to_le_bytes(place));
        pieces.extend([0, 0]);
    }
    list.extend((pieces.len() as u32).to_le_bytes());
    list.extend(pieces);
    for (at, value) in [
        (0x4C, narrow_length + wide_length),
        (0x1A2, 0),
        (0x1A6, list.len() as u32),
    ] {
        stream[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    stream.extend(narrow);
    stream.extend(wide_bytes);
    compound_file(&[("WordDocument", stream), ("0Table", list)])
}

fn record(version: u16, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(version.to_le_bytes());
    record.extend(kind.to_le_bytes());
    record.extend((data.len() as u32).to_le_bytes());
    record.extend(data);
    record
}

fn ppt() -> Vec<u8> {
    let number = |value: u32| value.to_le_bytes();
    let persist = |id: u32, slide: u32| {
        let data = [number(id), number(0), number(0), number(slide), number(0)].concat();
        record(0, 0x3F3, &data)
    };
    let listed = [
        persist(2, 256),
        record(0, 0xF9F, &number(0)),
        record(0, 0xFA8, b"The title"),
        record(0, 0xF9F, &number(1)),
        record(0, 0xFA8, b"one\rtwo"),
    ]
    .concat();
    let notes_list = record(0x2F, 0xFF0, &persist(3, 0));
    let document = record(
        0xF,
        0x3E8,
        &[record(0xF, 0xFF0, &listed), notes_list].concat(),
    );
    let shape = [
        record(0, 0xF9E, &number(0)),
        record(0, 0xF9F, &number(4)),
        record(0, 0xFA0, b"b\0o\0x\0"),
    ]
    .concat();
    let drawing = record(0xF, 0x40C, &record(0xF, 0xF00D, &shape));
    let slide = record(0xF, 0x3EE, &drawing);
    let said = record(
        0xF,
        0xF00D,
        &[record(0, 0xF9F, &number(2)), record(0, 0xFA8, b"Say this.")].concat(),
    );
    let notes = record(
        0xF,
        0x3F0,
        &[record(0, 0x3F1, &number(256)), record(0xF, 0x40C, &said)].concat(),
    );
    let mut stream = Vec::new();
    let mut places = vec![number(3 << 20 | 1)];
    for part in [document, slide, notes] {
        places.push(number(stream.len() as u32));
        stream.extend(part);
    }
    let list = stream.len() as u32;
    stream.extend(record(0, 0x1772, &places.concat()));
    let edit = stream.len() as u32;
    let data = [
        number(0),
        number(0),
        number(0),
        number(list),
        number(1),
        number(3),
        number(0),
    ];
    stream.extend(record(0, 0xFF5, &data.concat()));
    let user = [
        [0; 8].to_vec(),
        number(20).to_vec(),
        number(0xE391_C05F).to_vec(),
        number(edit).to_vec(),
    ]
    .concat();
    compound_file(&[("PowerPoint Document", stream), ("Current User", user)])
}

/// Every kind of file, small and good.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "docx",
            docx("<w:p><w:r><w:t>one</w:t><w:lastRenderedPageBreak/><w:t>two</w:t></w:r></w:p>"),
        ),
        (
            "odt",
            odf(
                "text",
                "<text:h text:outline-level='1'>One</text:h><text:p>two</text:p>",
                "<m/>",
            ),
        ),
        (
            "pptx",
            pptx("<p:sld><p:sp><a:p><a:t>words</a:t></a:p></p:sp></p:sld>"),
        ),
        (
            "odp",
            odf(
                "presentation",
                "<draw:page><draw:frame><text:p>words</text:p></draw:frame></draw:page>",
                "<m/>",
            ),
        ),
        (
            "rtf",
            b"{\\rtf1{\\fonttbl{\\f0\\fcharset204 A;}}\\f0 \\'e4\\u228 ?\\par\\page x\\par}"
                .to_vec(),
        ),
        ("doc", doc(b"One\rtwo\x07\x07\x0c", "three\r", 0)),
        ("ppt", ppt()),
    ]
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

fn slides(document: &Document) -> Vec<&Slide> {
    let slide = |content: &'_ PartContent| matches!(content, PartContent::Slide(_));
    assert!(document.parts.iter().all(|part| slide(&part.content)));
    let each = document.parts.iter();
    each.filter_map(|part| match &part.content {
        PartContent::Slide(slide) => Some(slide),
        _ => None,
    })
    .collect()
}

#[test]
fn files_are_what_they_hold_whatever_they_are_called() {
    for (kind, bytes) in samples() {
        for name in ["a.pdf", "a.docx", "a", "a.txt"] {
            let document = extract(name, &bytes).unwrap();
            assert_eq!(document.file_type, kind, "{name}");
            assert!(!document.text.trim().is_empty() && !document.parts.is_empty());
        }
    }
    let text = extract("a.doc", b"plain words").unwrap();
    assert_eq!(text.file_type, "text");
    let page = extract("a.doc", b"<html><p>words</p></html>").unwrap();
    assert_eq!(page.file_type, "html");
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
fn slides_keep_their_order_titles_and_notes() {
    let slide = "<p:sld><p:sp><p:ph type='ctrTitle'/><a:p><a:t>The title</a:t></a:p></p:sp>\
        <p:sp><a:p><a:t>one</a:t></a:p><a:p><a:t>two</a:t></a:p></p:sp><p:graphicFrame>\
        <a:tr><a:tc><a:p><a:t>h</a:t></a:p></a:tc><a:tc><a:p><a:t>i</a:t></a:p></a:tc></a:tr></p:graphicFrame></p:sld>";
    let open = "<draw:page><draw:frame presentation:class='title'><text:p>The title</text:p></draw:frame>\
        <draw:custom-shape><text:p>one</text:p><text:p>two</text:p></draw:custom-shape><presentation:notes>\
        <draw:frame presentation:class='notes'><text:p>Say this.</text:p></draw:frame></presentation:notes></draw:page>";
    let of_powerpoint = document(&pptx(slide));
    assert_eq!(
        of_powerpoint.text,
        "First shown\n\nThe title\n\none\ntwo\nh | i\n\nSay this.\n\n"
    );
    let found = slides(&of_powerpoint);
    assert_eq!(found.len(), 3, "a slide whose part is missing stays");
    assert!(found[0].is_hidden && !found[1].is_hidden);
    assert_eq!(found[1].title, "The title");
    let notes = found[1].notes.unwrap() as usize;
    assert!(of_powerpoint.text[notes..].starts_with("Say this."));
    for (bytes, text) in [
        (
            odf("presentation", open, "<m/>"),
            "The title\n\none\ntwo\n\nSay this.\n\n",
        ),
        (ppt(), "The title\n\nbox\none\ntwo\n\nSay this.\n\n"),
    ] {
        let document = document(&bytes);
        assert_eq!(document.text, text);
        assert_eq!(slides(&document)[0].title, "The title");
        assert!(slides(&document)[0].notes.is_some());
        assert_eq!(document.outline.len(), 1);
    }
}

#[test]
fn rich_text_is_decoded_by_the_fonts_of_its_runs() {
    let rtf = b"  {\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}}\
        {\\stylesheet{\\s1 heading 1;}}{\\info{\\title Tides}{\\author A. Writer}}{\\*\\unknown no}\
        {\\header no}\\pard\\s1 Head\\par\\pard\\f0 caf\\'e9 \\f1 \\'e4\\'e0 \\f0\\uc2\\u8364 ??\\uc1\\u-10179 ?\\u-8704 ?\
        {\\v hidden}{\\pict\\bin4 }}}}}{\\field{\\*\\fldinst LINK}{\\fldrslt shown}}{\\footnote A note.}\\par\
        \\trowd\\intbl x\\cell y\\cell\\row\\pard\\page next\\par}";
    let document = document(rtf);
    let first = "Head\n\ncaf\u{e9} \u{434}\u{430} \u{20ac}\u{1f600}shown\n\nx | y";
    assert_eq!(
        pages(&document),
        [("explicit", first), ("explicit", "next\n\nA note.")]
    );
    assert_eq!(
        (
            document.outline[0].level,
            document.outline[0].title.as_str()
        ),
        (1, "Head")
    );
    assert_eq!(document.title, "Tides");
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
fn what_cannot_be_read_says_why() {
    let encrypted = [
        compound_file(&[("EncryptedPackage", vec![0; 9])]),
        doc(b"x\r", "", 0x100),
        odf("text", "", "<m><manifest:encryption-data/></m>"),
    ];
    for bytes in encrypted {
        let reason = extract("a.docx", &bytes).unwrap_err();
        assert!(matches!(reason, SkipReason::Encrypted(_)), "{reason}");
    }
    let whole = docx("<w:p/>");
    let cut = &whole[..whole.len() - 30];
    let empty = compound_file(&[("WordDocument", Vec::new())]);
    for bytes in [cut, &empty] {
        let reason = extract("a.docx", bytes).unwrap_err();
        assert!(matches!(reason, SkipReason::Damaged { .. }), "{reason}");
    }
    let deep = [
        docx(&"<w:p>".repeat(3000)),
        [b"{\\rtf1".to_vec(), vec![b'{'; 5000]].concat(),
    ];
    for bytes in deep {
        let reason = extract("a.docx", &bytes).unwrap_err();
        assert!(matches!(reason, SkipReason::Limit { .. }), "{reason}");
    }
    // A zip of something else is none of these formats.
    let zip = package(&[("notes.txt", "words")]);
    assert!(matches!(
        extract("a.docx", &zip),
        Err(SkipReason::Binary("zip archive"))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_files_give_a_document_or_a_reason(
        sample in 0usize..7,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_, mut bytes) = samples().swap_remove(sample);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        if let Ok(document) = extract("a.bin", &bytes) {
            prop_assert_eq!(fault(&document.parts, document.text.len() as u32), None);
        }
    }

    #[test]
    fn any_xml_gives_parts_in_order(
        parts in prop::collection::vec(
            prop_oneof![
                "</?(w:p|w:r|w:t|w:tbl|w:tr|w:tc|w:txbxContent|mc:Choice|mc:AlternateContent|w:sectPr|text:p|text:h|text:list|text:list-item|draw:page|draw:frame|presentation:notes|table:table-row|table:table-cell|p:sp|a:tc|a:tr)>",
                "<(w:br w:type='page'|w:lastRenderedPageBreak|w:fldChar w:fldCharType='(begin|separate|end)'|w:pStyle w:val='Mine'|text:s|text:soft-page-break|w:numId w:val='1'|w:ilvl w:val='[0-9]')/>",
                "[a-z &<>\n]{0,9}",
            ],
            0..60,
        ),
        kind in 0usize..4,
    ) {
        let xml = parts.concat();
        let bytes = match kind {
            0 => docx(&xml),
            1 => odf("text", &xml, "<m/>"),
            2 => odf("presentation", &xml, "<m/>"),
            _ => pptx(&xml),
        };
        if let Ok(document) = extract("a.bin", &bytes) {
            prop_assert_eq!(fault(&document.parts, document.text.len() as u32), None);
            prop_assert!(document.outline.is_sorted_by_key(|heading| heading.start));
        }
    }

    #[test]
    fn any_rich_text_is_read(
        parts in prop::collection::vec(
            prop_oneof![
                "[{}]{1,3}",
                "\\\\(par|page|sect|row|cell|intbl|pard|u|uc|f|s|bin|v|fonttbl|stylesheet|info|title|footnote)(-?[0-9]{1,6})? ?",
                "\\\\'[0-9a-f]{2}",
                "[a-z \\\\*~]{0,9}",
            ],
            0..60,
        ),
    ) {
        let bytes = format!("{{\\rtf1{}", parts.concat());
        let document = extract("a.bin", bytes.as_bytes()).unwrap();
        prop_assert_eq!(fault(&document.parts, document.text.len() as u32), None);
    }
}
