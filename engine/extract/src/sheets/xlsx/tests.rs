use kb_types::cell_text::{Cell, CellValue};

use crate::package::test_files::package;
use crate::sheets::tests::sheets;

const RELATIONS: &str = "<Relationships xmlns='x'>\
    <Relationship Id='rId1' Type='http://x/relationships/worksheet' Target='worksheets/sheet1.xml'/>\
    <Relationship Id='rId2' Type='http://x/relationships/worksheet' Target='/xl/worksheets/sheet2.xml'/>\
    <Relationship Id='rId3' Type='http://x/relationships/chartsheet' Target='chartsheets/sheet1.xml'/>\
    <Relationship Id='rId4' Type='http://x/relationships/styles' Target='styles.xml'/>\
    <Relationship Id='rId5' Type='http://x/relationships/sharedStrings' Target='sharedStrings.xml'/>\
    </Relationships>";
const BOOK: &str = "<workbook><workbookPr/><sheets><sheet name='Q1 &amp; Q2' sheetId='1' r:id='rId1'/>\
    <sheet name='Secret' state='veryHidden' r:id='rId2'/><sheet name='Chart' r:id='rId3'/></sheets></workbook>";
const STYLES: &str = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='&quot;$&quot;#,##0'/></numFmts>\
    <cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>\
    <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='14'/></cellXfs></styleSheet>";
const STRINGS: &str = "<sst uniqueCount='99999999999999'><si><t>Month</t></si><si/><si><r><t xml:space='preserve'>Sa</t></r>\
    <r><t>les</t></r><rPh><t>spoken</t></rPh></si><si><t>a_x000D_\n_x0041_b</t></si></sst>";
const SHEET: &str = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData>\
    <row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>2</v></c><c r='C1' t='s'><v>1</v></c></row>\
    <row r='2'><c r='A2' t='inlineStr'><is><t>May</t></is></c><c r='B2' s='1'><v>1234567</v></c></row>\
    <row r='4'><c s='2'><f>TODAY()</f><v>45418</v></c><c t='b'><v>1</v></c><c r='D4' t='e'><v>#N/A</v></c>\
    <c><f>SUM(B2:B3)</f><v></v></c><c t='str'><f>\"\"</f><v></v></c><c t='s'><v>3</v></c><c t='s'><v>77</v></c></row>\
    <row><c><v>x</v></c><c r='A3'><v>late</v></c></row>\
    </sheetData></worksheet>";

fn workbook() -> Vec<u8> {
    package(&[
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", STRINGS),
        ("xl/worksheets/sheet1.xml", SHEET),
        (
            "xl/worksheets/sheet2.xml",
            "<worksheet><sheetData/></worksheet>",
        ),
        (
            "docProps/core.xml",
            "<p><dc:title>Budget</dc:title><dc:creator>A. Writer</dc:creator></p>",
        ),
    ])
}

#[test]
fn a_workbook_gives_its_sheets_and_their_cells() {
    let found = super::extract(&workbook()).unwrap();
    assert_eq!(found.title.as_deref(), Some("Budget"));
    assert_eq!(
        found.metadata,
        [("author".to_owned(), "A. Writer".to_owned())]
    );
    let sheets = sheets(&found);
    let names: Vec<_> = sheets
        .iter()
        .map(|(sheet, _)| (sheet.name.as_str(), sheet.is_hidden, sheet.rows))
        .collect();
    assert_eq!(
        names,
        [
            ("Q1 & Q2", false, 5),
            ("Secret", true, 0),
            ("Chart", false, 0)
        ]
    );
    let (sheet, cells) = &sheets[0];
    let text = |text: &str| Cell::plain(CellValue::Text(text.to_owned()));
    let shown = |shown: &str, value| Cell {
        shown: shown.to_owned(),
        value,
    };
    let expected = [
        (1, 1, text("Month")),
        (1, 2, text("Sales")),
        (2, 1, text("May")),
        (2, 2, shown("$1,234,567", CellValue::Number(1_234_567.0))),
        (3, 1, text("late")),
        (
            4,
            1,
            shown("5/6/2024", CellValue::Date("2024-05-06".to_owned())),
        ),
        (4, 2, Cell::plain(CellValue::Boolean(true))),
        (4, 4, Cell::plain(CellValue::Error("#N/A".to_owned()))),
        (
            4,
            5,
            shown("", CellValue::Formula("=SUM(B2:B3)".to_owned())),
        ),
        (4, 7, text("a\nAb")),
        (5, 1, text("x")),
    ];
    assert_eq!(cells.as_slice(), expected);
    assert_eq!(sheet.header_row, Some(1));
    assert_eq!(sheet.uncalculated, 1);
}

#[test]
fn one_long_string_in_many_cells_does_not_fill_the_memory() {
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 20));
    let cells = "<c t='s'><v>0</v></c>".repeat(100);
    let rows = format!("<row>{cells}</row>").repeat(20);
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let bytes = package(&[
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/sharedStrings.xml", &strings),
        ("xl/worksheets/sheet1.xml", &sheet),
    ]);
    let refused = super::extract(&bytes).unwrap_err().to_string();
    assert!(refused.contains("bytes of text, more than"), "{refused}");
}

#[test]
fn a_shared_formula_without_a_value_is_that_of_its_own_cell() {
    let sheet = "<worksheet><sheetData><row r='2'><c r='B2'><f t='shared' ref='B2:B4' si='0'>A2*$A$1</f></c></row>\
        <row r='3'><c r='B3'><f t='shared' si='0'/></c><c r='C3'><f t='shared' si='9'/></c></row>\
        <row r='4'><c r='B4'><f t='shared' si='0'/><v>7</v></c></row></sheetData></worksheet>";
    let bytes = package(&[
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/worksheets/sheet2.xml", "<worksheet/>"),
    ]);
    let found = super::extract(&bytes).unwrap();
    let sheets = sheets(&found);
    let formula = |text: &str| Cell {
        shown: String::new(),
        value: CellValue::Formula(text.to_owned()),
    };
    let expected = [
        (2, 2, formula("=A2*$A$1")),
        (3, 2, formula("=A3*$A$1")),
        (3, 3, formula("=(formula not known)")),
        (4, 2, Cell::plain(CellValue::Number(7.0))),
    ];
    assert_eq!(sheets[0].1.as_slice(), expected);
    assert_eq!(sheets[0].0.uncalculated, 3);
}

const OF_BOOKS: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

#[test]
fn extensions_say_nothing_of_the_workbook_itself() {
    // As programs of 2013 and later write it: an extension with the name of what it extends, before or behind it.
    let book = format!(
        "<x:workbook xmlns:x='{OF_BOOKS}' xmlns:y='{OF_BOOKS}' xmlns:x15='urn:x15'><x:workbookPr date1904='1'/>\
         <y:sheets><y:sheet name='One' state='visible' x15:state='hidden' x15:name='Other' sheetId='1' r:id='rId1'/></y:sheets>\
         <x15:workbookPr date1904='0'/><x:extLst><x:ext><x15:workbookPr chartTrackingRefBase='1'/><x:workbookPr/>\
         <x15:sheet name='No' r:id='rId2'/></x:ext></x:extLst></x:workbook>"
    );
    let styles = "<styleSheet xmlns:x14='urn:x14'><x14:numFmt numFmtId='164' formatCode='0'/>\
        <numFmts><numFmt numFmtId='164' formatCode='yyyy'/></numFmts><dxfs><dxf><numFmt numFmtId='164' formatCode='0'/></dxf></dxfs>\
        <x14:cellXfs><x14:xf numFmtId='1'/></x14:cellXfs><cellXfs><xf numFmtId='14'/><xf numFmtId='164'/></cellXfs>\
        <extLst><ext><cellXfs><xf numFmtId='1'/></cellXfs></ext></extLst></styleSheet>";
    let strings = "<sst xmlns:n='urn:n'><si><t>day</t><n:t>no</n:t><extLst><t>no</t></extLst></si><n:si><n:t>no</n:t></n:si>\
        <si><t>year</t></si></sst>";
    let sheet = "<worksheet xmlns:mc='urn:mc' xmlns:n='urn:n'><n:sheetData><row><c><v>9</v></c></row></n:sheetData><sheetData>\
        <row r='1'><c t='s'><v>0</v><extLst><ext><v>1</v></ext></extLst></c><n:c><n:v>9</n:v></n:c><c t='s'><v>1</v></c></row>\
        <mc:AlternateContent><mc:Choice><row r='8'><c><v>8</v></c></row></mc:Choice><mc:Fallback>\
        <row r='2'><c s='0'><v>1</v></c><c s='1'><v>366</v></c></row></mc:Fallback></mc:AlternateContent>\
        </sheetData></worksheet>";
    let bytes = package(&[
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/styles.xml", styles),
        ("xl/sharedStrings.xml", strings),
        ("xl/worksheets/sheet1.xml", sheet),
    ]);
    let found = super::extract(&bytes).unwrap();
    let sheets = sheets(&found);
    assert_eq!(
        (
            sheets.len(),
            sheets[0].0.name.as_str(),
            sheets[0].0.is_hidden
        ),
        (1, "One", false)
    );
    assert_eq!(
        found.text.as_deref(),
        Some("day\tyear\n1/2/1904\\=d1904-01-02\t1905\\=d1905-01-01\n")
    );
}
