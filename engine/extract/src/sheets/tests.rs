use kb_types::cell_text::{self, Cell, CellValue};
use kb_types::{PartContent, Sheet};
use proptest::prelude::*;

use crate::extract;
use crate::extracted::Extracted;
use crate::package::test_files::package;
use crate::sheets::{ods, xlsx};
use crate::skip_reason::SkipReason;

/// A sheet and its cells by row and column.
type Cells<'f> = (&'f Sheet, Vec<(u32, u32, Cell)>);

pub(crate) fn sheets(found: &Extracted) -> Vec<Cells<'_>> {
    let text = found.text.as_deref().unwrap();
    let ends = found.parts.iter().skip(1).map(|part| part.start as usize);
    let ends = ends.chain([text.len()]);
    std::iter::zip(&found.parts, ends)
        .map(|(part, end)| {
            let PartContent::Sheet(sheet) = &part.content else {
                panic!("{part:?}");
            };
            let lines = text[part.start as usize..end].lines();
            let cells = (0..).zip(lines).flat_map(|(line, cells)| {
                let row = sheet.row_of_line(line);
                cell_text::cells(cells)
                    .into_iter()
                    .map(move |(column, cell)| (row, column, cell))
            });
            (sheet, cells.collect())
        })
        .collect()
}

pub(crate) fn xlsx_of(sheet: &str) -> Vec<u8> {
    package(&[
        (
            "_rels/.rels",
            "<Relationships><Relationship Id='r' Type='x/officeDocument' Target='xl/workbook.xml'/>\
             </Relationships>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='r1' Type='x/worksheet' Target='worksheets/s.xml'/>\
             </Relationships>",
        ),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='One' r:id='r1'/></sheets></workbook>",
        ),
        ("xl/worksheets/s.xml", sheet),
    ])
}

pub(crate) fn ods_of(table: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet>{table}</office:spreadsheet>\
         </office:body></office:document-content>"
    );
    package(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ])
}

#[test]
fn a_sheet_of_two_cells_costs_two_cells() {
    let bytes = xlsx_of(
        "<worksheet><sheetData><row r='1'><c r='A1'><v>1</v></c></row>\
         <row r='1048576'><c r='XFD1048576'><v>2</v></c></row></sheetData></worksheet>",
    );
    let found = xlsx::extract(&bytes).unwrap();
    assert_eq!(found.text.as_deref(), Some("1\n\\>16384;2\n"));
    let bytes = ods_of(
        "<table:table table:name='One'><table:table-row><table:table-cell \
         table:number-columns-repeated='16383'/><table:table-cell><text:p>a</text:p></table:table-cell>\
         </table:table-row><table:table-row table:number-rows-repeated='1048574'><table:table-cell/>\
         </table:table-row><table:table-row><table:table-cell><text:p>b</text:p></table:table-cell>\
         </table:table-row></table:table>",
    );
    let found = ods::extract(&bytes).unwrap();
    assert_eq!(found.text.as_deref(), Some("\\>16384;a\nb\n"));
    let (sheet, _) = sheets(&found)[0];
    assert_eq!((sheet.rows, sheet.columns), (1_048_576, 16_384));
}

#[test]
fn repeated_cells_beyond_the_limit_are_refused() {
    let bytes = ods_of(
        "<table:table><table:table-row table:number-rows-repeated='9000'><table:table-cell \
         table:number-columns-repeated='9000'><text:p>x</text:p></table:table-cell>\
         </table:table-row></table:table>",
    );
    let refused = ods::extract(&bytes).unwrap_err().to_string();
    assert_eq!(refused, "more than 2000000 cells");
}

#[test]
fn damaged_and_encrypted_workbooks_say_so() {
    let broken = xlsx_of("<worksheet><sheetData><row r='1'><c><v>1</v></c>");
    let refused = xlsx::extract(&broken).unwrap_err().to_string();
    assert_eq!(
        refused,
        "damaged (Excel workbook): one of its sheets is no XML"
    );
    let cut = xlsx_of("<worksheet/>");
    let refused = xlsx::extract(&cut[..cut.len() - 30]).unwrap_err();
    assert!(
        matches!(
            refused,
            SkipReason::Damaged {
                format: "Excel workbook",
                ..
            }
        ),
        "{refused}"
    );
    let encrypted = package(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        (
            "META-INF/manifest.xml",
            "<manifest><file-entry><manifest:encryption-data/></file-entry></manifest>",
        ),
        ("content.xml", "\u{1}\u{2}"),
    ]);
    assert_eq!(
        ods::extract(&encrypted).unwrap_err(),
        SkipReason::Encrypted("OpenDocument spreadsheet")
    );
    let empty = package(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")]);
    let refused = ods::extract(&empty).unwrap_err().to_string();
    assert_eq!(
        refused,
        "damaged (OpenDocument spreadsheet): its content is missing"
    );
}

#[test]
fn cells_of_an_open_document_show_what_their_paragraphs_say() {
    let bytes = ods_of(
        "<table:table table:name='A'><table:table-row>\
         <table:table-cell office:value-type='currency' office:value='1234.5'><text:p>$1,234.50</text:p>\
         <office:annotation><text:p>note</text:p></office:annotation></table:table-cell>\
         <table:table-cell office:value-type='date' office:date-value='2024-05-06'><text:p>May 6</text:p>\
         </table:table-cell>\
         <table:table-cell office:value-type='time' office:time-value='PT16H17M36.5S'><text:p>16:17</text:p>\
         </table:table-cell>\
         <table:table-cell office:value-type='boolean' office:boolean-value='true'><text:p>TRUE</text:p>\
         </table:table-cell>\
         <table:table-cell office:value-type='string' table:number-columns-repeated='2'>\
         <text:p> a <text:span> b</text:span><text:s text:c='2'/>&amp;</text:p><text:p>c</text:p></table:table-cell>\
         <table:table-cell table:formula='of:=[.A1]+1'/>\
         <table:table-cell office:value-type='string' calcext:value-type='error' table:formula='of:=1/0'>\
         <text:p>#DIV/0!</text:p></table:table-cell>\
         </table:table-row></table:table><table:table table:name='Empty'/>",
    );
    let found = ods::extract(&bytes).unwrap();
    let sheets = sheets(&found);
    let cells = &sheets[0].1;
    let cell = |shown: &str, value: CellValue| Cell {
        shown: shown.to_owned(),
        value,
    };
    let words = || "a b  &\nc".to_owned();
    let expected = [
        cell("$1,234.50", CellValue::Number(1234.5)),
        cell("May 6", CellValue::Date("2024-05-06".to_owned())),
        cell("16:17", CellValue::Date("16:17:36.500".to_owned())),
        Cell::plain(CellValue::Boolean(true)),
        Cell::plain(CellValue::Text(words())),
        Cell::plain(CellValue::Text(words())),
        cell("", CellValue::Formula("=[.A1]+1".to_owned())),
        Cell::plain(CellValue::Error("#DIV/0!".to_owned())),
    ];
    let found: Vec<Cell> = cells.iter().map(|(.., cell)| cell.clone()).collect();
    assert_eq!(found, expected);
    assert_eq!((sheets[1].0.rows, sheets[1].0.columns), (0, 0));
    assert_eq!(sheets[1].0.name, "Empty");
}

#[test]
fn sheets_are_in_the_outline_and_name_no_document() {
    let cells = "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>";
    let tables = format!(
        "<table:table table:name='Empty'/><table:table table:name='Sales 2024'>{cells}</table:table>\
         <table:table table:name='Last'/>"
    );
    let document = extract("b/budget.ods", &ods_of(&tables)).unwrap();
    let outline = document.outline.iter();
    let outline: Vec<_> = outline
        .map(|it| (it.title.as_str(), it.start, it.line))
        .collect();
    assert_eq!(
        outline,
        [("Empty", 0, 1), ("Sales 2024", 0, 1), ("Last", 2, 2)]
    );
    assert_eq!(document.title, "budget.ods");
    let empty = extract("a.ods", &ods_of("")).unwrap();
    assert_eq!((empty.text.as_str(), empty.parts.len()), ("", 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_xml_of_a_sheet_gives_cells_or_a_reason(
        parts in prop::collection::vec(
            prop_oneof![
                "</?(row|c|v|f|is|t|sheetData|si)>",
                "<(row|c) r='[A-Z]{0,3}[0-9]{0,7}' t='(s|b|d|e|str)?' s='[0-9]{1,3}'>",
                "</?table:(table|table-row|table-cell)( table:number-(rows|columns)-repeated='[0-9]{1,3}')?>",
                "</?text:(p|s|span)( text:c='[0-9]{1,9}')?>",
                "[&;#x0-9a-z<>' ]{0,8}",
            ],
            0..40,
        ),
    ) {
        let inside = parts.concat();
        let _ = xlsx::extract(&xlsx_of(&format!("<worksheet><sheetData>{inside}")));
        let _ = ods::extract(&ods_of(&inside));
    }

    #[test]
    fn a_changed_byte_gives_a_document_or_a_reason(at in 0usize..2000, byte: u8) {
        let sheet = "<worksheet><sheetData><row><c t='str'><v>x</v></c></row></sheetData></worksheet>";
        for mut bytes in [xlsx_of(sheet), ods_of("<table:table/>")] {
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = extract("a", &bytes);
        }
    }
}
