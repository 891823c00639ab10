//! Malicious office packages.

use super::archive::{Archive, Deflated};
use super::bomb::Bomb;

pub(super) const BOMBS: &[Bomb] = &[
    Bomb::new("600 MB of text in one part", "a.docx", docx_of_text).long(),
    Bomb::new(
        "20 million empty paragraphs",
        "a.docx",
        docx_of_empty_paragraphs,
    )
    .long(),
    Bomb::new(
        "200 000 nested paragraphs",
        "a.docx",
        docx_of_nested_paragraphs,
    ),
    Bomb::new("200 000 nested tables", "a.docx", docx_of_nested_tables),
    Bomb::new("a billion laughs", "a.docx", docx_of_entities),
    Bomb::new("300 000 attributes", "a.docx", docx_of_attributes),
    Bomb::new(
        "20 000 styles, each based on the next",
        "a.docx",
        docx_of_styles,
    ),
    Bomb::new(
        "a main part that is its own relationship",
        "a.docx",
        docx_of_itself,
    ),
    Bomb::new("parts of the same name", "a.docx", docx_of_duplicates),
    Bomb::new("100 000 parts", "a.docx", docx_of_many_parts).long(),
    Bomb::new(
        "names that lead out of the folder",
        "a.docx",
        docx_of_outside_names,
    ),
    Bomb::new("cells A1 and XFD1048576", "a.xlsx", xlsx_of_corners),
    Bomb::new(
        "1 MB of shared text in 20 000 cells",
        "a.xlsx",
        xlsx_of_shared_text,
    ),
    Bomb::new(
        "10 000 sheets that are one part of 40 MB",
        "a.xlsx",
        xlsx_of_one_part,
    )
    .long(),
    Bomb::new("5 million cells", "a.xlsx", xlsx_of_cells).long(),
    Bomb::new(
        "rows and columns that are no numbers",
        "a.xlsx",
        xlsx_of_bad_addresses,
    ),
    Bomb::new("number formats of 1 MB", "a.xlsx", xlsx_of_long_formats),
    Bomb::new("9 000 x 9 000 repeated cells", "a.ods", ods_of_repeats),
    Bomb::new(
        "2 billion repeated rows of text",
        "a.ods",
        ods_of_repeated_rows,
    ),
    Bomb::new("2 billion spaces, 1000 times", "a.odt", odt_of_spaces),
    Bomb::new("100 000 nested lists", "a.odt", odt_of_nested_lists),
    Bomb::new("ten thousand slides", "a.pptx", pptx_of_slides).long(),
    Bomb::new(
        "10 000 slides that are one part of 20 MB",
        "a.pptx",
        pptx_of_one_part,
    )
    .long(),
    Bomb::new(
        "100 000 nested groups of shapes",
        "a.pptx",
        pptx_of_nested_groups,
    ),
    Bomb::new("no slides", "a.pptx", pptx_of_nothing),
    Bomb::new("ten thousand slides", "a.odp", odp_of_slides),
    Bomb::new("no content", "a.docx", docx_of_nothing),
    Bomb::new("no sheets", "a.xlsx", xlsx_of_nothing),
];

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const PRESENTATION: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// Relationships of a kind, with numbers from 1, to such targets.
fn relationships<'t>(targets: impl Iterator<Item = (&'t str, String)>) -> String {
    let each = (1..).zip(targets).map(|(number, (kind, target))| {
        format!(r#"<Relationship Id="r{number}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>"#)
    });
    let list: String = each.collect();
    format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{list}</Relationships>"#)
}

/// A package whose main part is `main`, of a content type that ends in `kind`.
fn package(main: &str, kind: &str) -> Archive {
    let types = format!(
        r#"<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/></Types>"#
    );
    let root = relationships([("officeDocument", main.to_owned())].into_iter());
    Archive::new()
        .store("[Content_Types].xml", types.as_bytes())
        .store("_rels/.rels", root.as_bytes())
}

fn word_package() -> Archive {
    package("word/document.xml", "wordprocessingml.document")
}

/// A document whose body is `block`, repeated this many times.
fn docx(before: &str, block: &str, times: usize, after: &str) -> Vec<u8> {
    let body = Deflated::new()
        .add(format!(r#"<w:document xmlns:w="{WORD}"><w:body>{before}"#).as_bytes())
        .repeat(block.as_bytes(), times)
        .add(format!("{after}</w:body></w:document>").as_bytes());
    word_package().deflate("word/document.xml", &body).finish()
}

fn docx_of_text() -> Vec<u8> {
    let text = "some words of a text ".repeat(50_000);
    docx("<w:p><w:r><w:t>", &text, 600, "</w:t></w:r></w:p>")
}

fn docx_of_empty_paragraphs() -> Vec<u8> {
    docx("", &"<w:p/>".repeat(20_000), 1000, "")
}

fn docx_of_nested_paragraphs() -> Vec<u8> {
    let (open, close) = ("<w:p><w:r>".repeat(200_000), "</w:r></w:p>".repeat(200_000));
    docx(&open, "<w:t>words</w:t>", 1, &close)
}

fn docx_of_nested_tables() -> Vec<u8> {
    let open = "<w:tbl><w:tr><w:tc>".repeat(200_000);
    docx(
        &open,
        "<w:p/>",
        1,
        &"</w:tc></w:tr></w:tbl>".repeat(200_000),
    )
}

/// Entities that grow tenfold with each of ten steps.
pub(super) fn laughs() -> String {
    let mut entities = String::from(r#"<!DOCTYPE a [<!ENTITY e0 "ha">"#);
    for step in 1..10 {
        let again = format!("&e{};", step - 1).repeat(10);
        entities.push_str(&format!(r#"<!ENTITY e{step} "{again}">"#));
    }
    entities + "]>"
}

fn docx_of_entities() -> Vec<u8> {
    let text = format!(
        r#"<?xml version="1.0"?>{}<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body></w:document>"#,
        laughs(),
        "&e9;".repeat(10)
    );
    word_package()
        .store("word/document.xml", text.as_bytes())
        .finish()
}

fn docx_of_attributes() -> Vec<u8> {
    let attributes: String = (0..300_000)
        .map(|number| format!(r#" w:a{number}="1""#))
        .collect();
    docx(
        &format!("<w:p{attributes}>"),
        "<w:r><w:t>words</w:t></w:r>",
        1,
        "</w:p>",
    )
}

fn docx_of_styles() -> Vec<u8> {
    let styles: String = (0..20_000)
        .map(|number| {
            let next = (number + 1) % 20_000;
            format!(
                r#"<w:style w:type="paragraph" w:styleId="s{number}"><w:name w:val="s{number}"/><w:basedOn w:val="s{next}"/></w:style>"#
            )
        })
        .collect();
    let styles = format!(r#"<w:styles xmlns:w="{WORD}">{styles}</w:styles>"#);
    let paragraphs: String = (0..20_000)
        .map(|number| {
            format!(
                r#"<w:p><w:pPr><w:pStyle w:val="s{number}"/></w:pPr><w:r><w:t>words</w:t></w:r></w:p>"#
            )
        })
        .collect();
    let body =
        format!(r#"<w:document xmlns:w="{WORD}"><w:body>{paragraphs}</w:body></w:document>"#);
    let to_styles = relationships([("styles", "styles.xml".to_owned())].into_iter());
    word_package()
        .store("word/document.xml", body.as_bytes())
        .store("word/styles.xml", styles.as_bytes())
        .store("word/_rels/document.xml.rels", to_styles.as_bytes())
        .finish()
}

fn docx_of_itself() -> Vec<u8> {
    let kinds = [
        "styles",
        "footnotes",
        "numbering",
        "header",
        "officeDocument",
        "endnotes",
    ];
    let own = relationships(
        kinds
            .into_iter()
            .map(|kind| (kind, "document.xml".to_owned())),
    );
    let body = format!(
        r#"<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>words</w:t></w:r></w:p></w:body></w:document>"#
    );
    word_package()
        .store("word/document.xml", body.as_bytes())
        .store("word/_rels/document.xml.rels", own.as_bytes())
        .finish()
}

fn docx_of_duplicates() -> Vec<u8> {
    let mut archive = word_package();
    for number in 0..1000 {
        let body = format!(
            r#"<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>copy {number}</w:t></w:r></w:p></w:body></w:document>"#
        );
        archive = archive.store("word/document.xml", body.as_bytes());
    }
    archive.finish()
}

fn docx_of_many_parts() -> Vec<u8> {
    let mut archive = word_package();
    for number in 0..100_000 {
        archive = archive.store(&format!("word/part{number}.xml"), b"<a/>");
    }
    let body = format!(r#"<w:document xmlns:w="{WORD}"><w:body><w:p/></w:body></w:document>"#);
    archive.store("word/document.xml", body.as_bytes()).finish()
}

fn docx_of_outside_names() -> Vec<u8> {
    let body = format!(
        r#"<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>words</w:t></w:r></w:p></w:body></w:document>"#
    );
    let outside = relationships(
        [
            ("styles", "../../../../../../etc/passwd".to_owned()),
            ("footnotes", "file:///etc/passwd".to_owned()),
            ("numbering", "/../..//word/document.xml".to_owned()),
        ]
        .into_iter(),
    );
    word_package()
        .store("../../../../tmp/harm", b"harm")
        .store("/etc/harm", b"harm")
        .store("word/document.xml", body.as_bytes())
        .store("word/_rels/document.xml.rels", outside.as_bytes())
        .finish()
}

fn docx_of_nothing() -> Vec<u8> {
    docx("", "", 0, "")
}

/// A workbook with `sheets` sheets, all of which are the part that is added as `xl/worksheets/s.xml`.
fn workbook(sheets: usize) -> Archive {
    let list: String = (1..=sheets)
        .map(|number| format!(r#"<sheet name="s{number}" sheetId="{number}" r:id="r{number}"/>"#))
        .collect();
    let workbook = format!(
        r#"<workbook xmlns="{SHEET}" xmlns:r="{RELATIONSHIPS}"><sheets>{list}</sheets></workbook>"#
    );
    let of_sheets = (0..sheets).map(|_| ("worksheet", "worksheets/s.xml".to_owned()));
    let further = ["sharedStrings", "styles"].map(|kind| (kind, format!("{kind}.xml")));
    package("xl/workbook.xml", "spreadsheetml.sheet")
        .store("xl/workbook.xml", workbook.as_bytes())
        .store(
            "xl/_rels/workbook.xml.rels",
            relationships(of_sheets.chain(further)).as_bytes(),
        )
}

fn sheet_of(block: &str, times: usize) -> Deflated {
    Deflated::new()
        .add(format!(r#"<worksheet xmlns="{SHEET}"><sheetData>"#).as_bytes())
        .repeat(block.as_bytes(), times)
        .add(b"</sheetData></worksheet>")
}

fn xlsx(rows: &str) -> Vec<u8> {
    workbook(1)
        .deflate("xl/worksheets/s.xml", &sheet_of(rows, 1))
        .finish()
}

fn xlsx_of_corners() -> Vec<u8> {
    xlsx(
        r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#,
    )
}

fn xlsx_of_shared_text() -> Vec<u8> {
    let rows: String = (1..=20_000)
        .map(|row| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>"#))
        .collect();
    let strings = Deflated::new()
        .add(format!(r#"<sst xmlns="{SHEET}"><si><t>"#).as_bytes())
        .repeat("words ".repeat(1000).as_bytes(), 170)
        .add(b"</t></si></sst>");
    workbook(1)
        .deflate("xl/worksheets/s.xml", &sheet_of(&rows, 1))
        .deflate("xl/sharedStrings.xml", &strings)
        .finish()
}

fn xlsx_of_one_part() -> Vec<u8> {
    let rows = "<row><c><v>1</v></c></row>".repeat(1000);
    workbook(10_000)
        .deflate("xl/worksheets/s.xml", &sheet_of(&rows, 1500))
        .finish()
}

fn xlsx_of_cells() -> Vec<u8> {
    let row = format!("<row>{}</row>", "<c><v>1</v></c>".repeat(100));
    workbook(1)
        .deflate("xl/worksheets/s.xml", &sheet_of(&row, 50_000))
        .finish()
}

fn xlsx_of_bad_addresses() -> Vec<u8> {
    let addresses = [
        "A0",
        "A-1",
        "A99999999999999999999",
        "ZZZZZZZZ1",
        "1A",
        "",
        "\u{661}1",
        "A4294967296",
    ];
    let cells: String = addresses
        .iter()
        .map(|it| format!(r#"<row r="{it}"><c r="{it}" s="4294967295" t="s"><v>-1</v></c></row>"#))
        .collect();
    xlsx(
        &(cells
            + r#"<row r="4294967295"><c r="A1"><v>1e999</v></c><c r="B2"><v>NaN</v></c></row>"#),
    )
}

fn xlsx_of_long_formats() -> Vec<u8> {
    let code = "[Red]0.0;".repeat(120_000);
    let styles = format!(
        r#"<styleSheet xmlns="{SHEET}"><numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>"#
    );
    let row = r#"<row><c s="0"><v>1234.5</v></c></row>"#.repeat(1000);
    workbook(1)
        .deflate("xl/worksheets/s.xml", &sheet_of(&row, 20))
        .store("xl/styles.xml", styles.as_bytes())
        .finish()
}

fn xlsx_of_nothing() -> Vec<u8> {
    workbook(0).finish()
}

/// An OpenDocument file of such a kind, whose body is `block`, so many times.
fn open_document(kind: &str, before: &str, block: &str, times: usize, after: &str) -> Vec<u8> {
    let namespaces: String = ["office", "table", "text", "draw", "presentation"]
        .map(|name| format!(r#" xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0""#))
        .concat();
    let content = Deflated::new()
        .add(
            format!("<office:document-content{namespaces}><office:body><office:{kind}>{before}")
                .as_bytes(),
        )
        .repeat(block.as_bytes(), times)
        .add(format!("{after}</office:{kind}></office:body></office:document-content>").as_bytes());
    let media_type = format!("application/vnd.oasis.opendocument.{kind}");
    Archive::new()
        .store("mimetype", media_type.as_bytes())
        .deflate("content.xml", &content)
        .finish()
}

const SHEET_START: &str = r#"<table:table table:name="s">"#;

fn ods_of_repeats() -> Vec<u8> {
    let row = r#"<table:table-row table:number-rows-repeated="9000"><table:table-cell table:number-columns-repeated="9000" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row>"#;
    open_document("spreadsheet", SHEET_START, row, 1, "</table:table>")
}

fn ods_of_repeated_rows() -> Vec<u8> {
    let row = format!(
        r#"<table:table-row table:number-rows-repeated="2147483647"><table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell></table:table-row>"#,
        "words ".repeat(1000)
    );
    open_document("spreadsheet", SHEET_START, &row, 3, "</table:table>")
}

fn odt_of_spaces() -> Vec<u8> {
    let spaces = r#"<text:p>a<text:s text:c="2147483647"/>b</text:p>"#;
    open_document("text", "", spaces, 1000, "")
}

fn odt_of_nested_lists() -> Vec<u8> {
    let open = "<text:list><text:list-item>".repeat(100_000);
    let close = "</text:list-item></text:list>".repeat(100_000);
    open_document("text", &open, "<text:p>words</text:p>", 1, &close)
}

fn odp_of_slides() -> Vec<u8> {
    let slide = r#"<draw:page draw:name="s"><draw:frame presentation:class="title"><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame></draw:page>"#;
    open_document("presentation", "", slide, 10_000, "")
}

/// A presentation of slides; each is the part that `target` says.
fn presentation(slides: usize, target: impl Fn(usize) -> String) -> Archive {
    let list: String = (1..=slides)
        .map(|number| format!(r#"<p:sldId id="{}" r:id="r{number}"/>"#, number + 255))
        .collect();
    let presentation = format!(
        r#"<p:presentation xmlns:p="{PRESENTATION}" xmlns:r="{RELATIONSHIPS}"><p:sldIdLst>{list}</p:sldIdLst></p:presentation>"#
    );
    let targets = (0..slides).map(|number| ("slide", target(number)));
    package("ppt/presentation.xml", "presentationml.presentation")
        .store("ppt/presentation.xml", presentation.as_bytes())
        .store(
            "ppt/_rels/presentation.xml.rels",
            relationships(targets).as_bytes(),
        )
}

const SHAPE: &str = "<p:sp><p:txBody><a:p><a:r><a:t>some words</a:t></a:r></a:p></p:txBody></p:sp>";

fn slide(before: &str, times: usize, after: &str) -> Deflated {
    Deflated::new()
        .add(
            format!(
                r#"<p:sld xmlns:p="{PRESENTATION}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{before}"#
            )
            .as_bytes(),
        )
        .repeat(SHAPE.as_bytes(), times)
        .add(format!("{after}</p:spTree></p:cSld></p:sld>").as_bytes())
}

fn pptx_of_slides() -> Vec<u8> {
    let mut archive = presentation(10_000, |number| format!("slides/s{number}.xml"));
    for number in 0..10_000 {
        archive = archive.deflate(&format!("ppt/slides/s{number}.xml"), &slide("", 1, ""));
    }
    archive.finish()
}

fn pptx_of_one_part() -> Vec<u8> {
    presentation(10_000, |_| "slides/s.xml".to_owned())
        .deflate("ppt/slides/s.xml", &slide("", 250_000, ""))
        .finish()
}

fn pptx_of_nested_groups() -> Vec<u8> {
    let (open, close) = ("<p:grpSp>".repeat(100_000), "</p:grpSp>".repeat(100_000));
    presentation(1, |_| "slides/s.xml".to_owned())
        .deflate("ppt/slides/s.xml", &slide(&open, 1, &close))
        .finish()
}

fn pptx_of_nothing() -> Vec<u8> {
    presentation(0, |_| String::new()).finish()
}
