//! Constructs of Office Open XML.

use super::{Kind, check_kind, owned};
use crate::package::test_files::relationships;

pub(super) fn docx() -> Vec<(String, String)> {
    let mut parts = owned(&[
        (
            "word/document.xml",
            "<w:document><w:body>{PIECES}</w:body></w:document>",
        ),
        (
            "word/styles.xml",
            "<w:styles><w:style w:styleId='s0'><w:name w:val='heading 2'/></w:style>{PIECES}</w:styles>",
        ),
        (
            "word/numbering.xml",
            "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/>\
            <w:lvlText w:val='%1.'/></w:lvl></w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>{PIECES}</w:numbering>",
        ),
        ("word/footnotes.xml", "<w:footnotes>{PIECES}</w:footnotes>"),
        ("word/comments.xml", "<w:comments>{PIECES}</w:comments>"),
        ("docProps/core.xml", "<c>{PIECES}</c>"),
    ]);
    let main = [
        ("officeDocument", "word/document.xml"),
        ("core-properties", "docProps/core.xml"),
    ];
    let others = [
        ("styles", "styles.xml"),
        ("numbering", "numbering.xml"),
        ("footnotes", "footnotes.xml"),
        ("comments", "comments.xml"),
    ];
    parts.push(("_rels/.rels".to_owned(), relationships(&main)));
    parts.push((
        "word/_rels/document.xml.rels".to_owned(),
        relationships(&others),
    ));
    parts
}

const DOCX: Kind = Kind {
    file: "a.docx",
    parts: docx,
    constructs: &[
        ("document", "<w:p><w:r><w:t>word ", "</w:t></w:r></w:p>"),
        ("document", "<w:p>", "</w:p>"),
        ("document", "<w:r><w:t>a", "</w:t></w:r>"),
        ("document", "<w:r><w:tab/><w:br/>", "</w:r>"),
        ("document", "<w:p><w:br w:type='page'/>", "</w:p>"),
        (
            "document",
            "<w:p><w:r><w:lastRenderedPageBreak/><w:t>a",
            "</w:t></w:r></w:p>",
        ),
        (
            "document",
            "<w:p><w:pPr><w:pStyle w:val='s{n}'/></w:pPr><w:r><w:t>a",
            "</w:t></w:r></w:p>",
        ),
        (
            "document",
            "<w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>a",
            "</w:t></w:r></w:p>",
        ),
        (
            "document",
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{n}'/><w:numId w:val='{n}'/></w:numPr></w:pPr><w:r><w:t>a",
            "</w:t></w:r></w:p>",
        ),
        (
            "document",
            "<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>a",
            "</w:t></w:r></w:p>",
        ),
        (
            "document",
            "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>",
            "</w:tc></w:tr></w:tbl>",
        ),
        (
            "document",
            "<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>",
            "</w:tr>",
        ),
        (
            "document",
            "<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>",
            "</w:tc>",
        ),
        (
            "document",
            "<w:hyperlink r:id='r{n}'><w:r><w:t>a</w:t></w:r>",
            "</w:hyperlink>",
        ),
        (
            "document",
            "<w:bookmarkStart w:id='{n}'/>",
            "<w:bookmarkEnd/>",
        ),
        (
            "document",
            "<w:sdt><w:sdtContent>",
            "</w:sdtContent></w:sdt>",
        ),
        (
            "document",
            "<w:sdt><w:sdtPr><w:dataBinding w:xpath='/a[{n}]'/><w:text/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>a",
            "</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        ),
        ("document", "<x{n}:a xmlns:x{n}='urn:{n}'>", "</x{n}:a>"),
        ("document", "<x:a xmlns:x='urn:{n}'>", "</x:a>"),
        ("document", "<w:ins>", "</w:ins>"),
        (
            "document",
            "<w:del><w:r><w:delText>a</w:delText></w:r>",
            "</w:del>",
        ),
        (
            "document",
            "<w:fldSimple w:instr='PAGE'><w:r><w:t>a</w:t></w:r>",
            "</w:fldSimple>",
        ),
        (
            "document",
            "<w:r><w:fldChar w:fldCharType='begin'/>",
            "<w:fldChar w:fldCharType='end'/></w:r>",
        ),
        (
            "document",
            "<w:r><w:footnoteReference w:id='{n}'/>",
            "</w:r>",
        ),
        (
            "document",
            "<w:p><w:r><w:footnoteReference w:id='1'/>",
            "</w:r></w:p>",
        ),
        (
            "document",
            "<w:r><w:commentReference w:id='{n}'/>",
            "</w:r>",
        ),
        (
            "document",
            "<w:p><w:r><w:txbxContent><w:p><w:r><w:t>a</w:t></w:r></w:p>",
            "</w:txbxContent></w:r></w:p>",
        ),
        (
            "document",
            "<mc:AlternateContent><mc:Choice>",
            "</mc:Choice><mc:Fallback/></mc:AlternateContent>",
        ),
        ("document", "<m:oMath><m:r><m:t>a</m:t></m:r>", "</m:oMath>"),
        (
            "document",
            "<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den>",
            "</m:den></m:f>",
        ),
        ("document", "<w:sym w:char='F0B7'/>", ""),
        ("document", "<w:sectPr>", "</w:sectPr>"),
        ("document", "&amp;", ""),
        ("document", "<!-- a", "-->"),
        ("document", "<a b{n}='c'>", "</a>"),
        (
            "styles",
            "<w:style w:styleId='s{n}'><w:name w:val='a{n}'/><w:basedOn w:val='s{p}'/>",
            "</w:style>",
        ),
        (
            "styles",
            "<w:style w:styleId='t{n}'><w:basedOn w:val='t{n}'/>",
            "</w:style>",
        ),
        (
            "numbering",
            "<w:abstractNum w:abstractNumId='{n}'><w:lvl w:ilvl='0'/>",
            "</w:abstractNum>",
        ),
        (
            "numbering",
            "<w:num w:numId='{n}'><w:abstractNumId w:val='0'/>",
            "</w:num>",
        ),
        (
            "numbering",
            "<w:num w:numId='{n}'><w:lvlOverride w:ilvl='{n}'/>",
            "</w:num>",
        ),
        (
            "footnotes",
            "<w:footnote w:id='{n}'><w:p><w:r><w:t>a</w:t></w:r></w:p>",
            "</w:footnote>",
        ),
        ("footnotes", "<w:p><w:r><w:t>a", "</w:t></w:r></w:p>"),
        (
            "comments",
            "<w:comment w:id='{n}'><w:p><w:r><w:t>a</w:t></w:r></w:p>",
            "</w:comment>",
        ),
        ("core", "<dc:title>a", "</dc:title>"),
        ("core", "<cp:keywords>a", "</cp:keywords>"),
    ],
};

fn pptx() -> Vec<(String, String)> {
    let mut parts = owned(&[
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId r:id='r0'/>{PIECES}</p:sldIdLst></p:presentation>",
        ),
        ("ppt/slides/slide1.xml", "<p:sld>{PIECES}</p:sld>"),
        (
            "ppt/notes/notes1.xml",
            "<p:notes><p:sp><p:ph type='body'/>{PIECES}</p:sp></p:notes>",
        ),
    ]);
    parts.push((
        "_rels/.rels".to_owned(),
        relationships(&[("officeDocument", "ppt/presentation.xml")]),
    ));
    parts.push((
        "ppt/_rels/presentation.xml.rels".to_owned(),
        relationships(&[("slide", "slides/slide1.xml")]),
    ));
    parts.push((
        "ppt/slides/_rels/slide1.xml.rels".to_owned(),
        relationships(&[("notesSlide", "../notes/notes1.xml")]),
    ));
    parts
}

const PPTX: Kind = Kind {
    file: "a.pptx",
    parts: pptx,
    constructs: &[
        ("presentation", "<p:sldId id='{n}' r:id='r0'/>", ""),
        ("presentation", "<p:sldId id='{n}' r:id='r{n}'/>", ""),
        (
            "slide1",
            "<p:sp><p:txBody><a:p><a:r><a:t>a",
            "</a:t></a:r></a:p></p:txBody></p:sp>",
        ),
        (
            "slide1",
            "<p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>a",
            "</a:t></a:r></a:p></p:sp>",
        ),
        (
            "slide1",
            "<p:sp><a:off x='{n}' y='{n}'/><a:p><a:t>a",
            "</a:t></a:p></p:sp>",
        ),
        ("slide1", "<p:grpSp>", "</p:grpSp>"),
        ("slide1", "<a:p><a:r><a:t>a", "</a:t></a:r></a:p>"),
        ("slide1", "<a:br/>", ""),
        (
            "slide1",
            "<a:p><a:pPr lvl='{n}'><a:buAutoNum type='romanUcPeriod' startAt='{n}'/></a:pPr><a:r><a:t>a",
            "</a:t></a:r></a:p>",
        ),
        (
            "slide1",
            "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:t>a</a:t>",
            "</a:p>",
        ),
        (
            "slide1",
            "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:t>a</a:t></a:p>",
            "</a:tc></a:tr></a:tbl></p:graphicFrame>",
        ),
        (
            "slide1",
            "<a:tr><a:tc><a:p><a:t>a</a:t></a:p></a:tc>",
            "</a:tr>",
        ),
        (
            "slide1",
            "<mc:AlternateContent><mc:Choice>",
            "</mc:Choice></mc:AlternateContent>",
        ),
        ("notes1", "<a:p><a:t>a", "</a:t></a:p>"),
    ],
};

fn xlsx() -> Vec<(String, String)> {
    let mut parts = owned(&[
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='One' r:id='r0'/>{PIECES}</sheets></workbook>",
        ),
        (
            "xl/worksheets/sheet.xml",
            "<worksheet><sheetData>{PIECES}</sheetData></worksheet>",
        ),
        ("xl/styles.xml", "<styleSheet>{PIECES}</styleSheet>"),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>a</t></si>{PIECES}</sst>",
        ),
    ]);
    let others = [
        ("worksheet", "worksheets/sheet.xml"),
        ("styles", "styles.xml"),
        ("sharedStrings", "sharedStrings.xml"),
    ];
    parts.push((
        "_rels/.rels".to_owned(),
        relationships(&[("officeDocument", "xl/workbook.xml")]),
    ));
    parts.push((
        "xl/_rels/workbook.xml.rels".to_owned(),
        relationships(&others),
    ));
    parts
}

const XLSX: Kind = Kind {
    file: "a.xlsx",
    parts: xlsx,
    constructs: &[
        ("workbook", "<sheet name='a{n}' r:id='r0'/>", ""),
        ("workbook", "<sheet name='a' r:id='r{n}'/>", ""),
        ("workbook", "<workbookPr date1904='1'/>", ""),
        ("workbook", "<ext>", "</ext>"),
        ("sheet", "<row><c><v>1</v></c>", "</row>"),
        (
            "sheet",
            "<row r='{n}'><c r='A{n}'><v>1</v></c><c><v>2.5</v></c>",
            "</row>",
        ),
        ("sheet", "<c><v>1</v>", "</c>"),
        ("sheet", "<c r='A1'><v>1</v></c><c r='A9'><v>2</v></c>", ""),
        (
            "sheet",
            "<c r='A9999'><v>9</v></c><c r='B{n}'><v>2</v></c>",
            "",
        ),
        ("sheet", "<c t='inlineStr'><is><t>a", "</t></is></c>"),
        ("sheet", "<c t='str'><v>_x0041_", "</v></c>"),
        ("sheet", "<c t='s'><v>0", "</v></c>"),
        ("sheet", "<c><f>SUM(A1)", "</f></c>"),
        ("sheet", "<c><f t='shared' si='{n}'>A{n}+1", "</f></c>"),
        ("sheet", "<c><f t='shared' si='1'/>", "</c>"),
        ("sheet", "<c s='{n}'><v>45000", "</v></c>"),
        ("sheet", "<c t='d'><v>2024-05-06", "</v></c>"),
        ("sheet", "<a>", "</a>"),
        (
            "styles",
            "<numFmts><numFmt numFmtId='{n}' formatCode='0.00'/>",
            "</numFmts>",
        ),
        ("styles", "<cellXfs><xf numFmtId='{n}'/>", "</cellXfs>"),
        ("styles", "<cellXfs>", "</cellXfs>"),
        ("sharedStrings", "<si><t>a", "</t></si>"),
        ("sharedStrings", "<si><r><t>a</t></r>", "</si>"),
        ("sharedStrings", "<r><t>a</t></r>", ""),
        ("sharedStrings", "<si><t>_x000D_", "</t></si>"),
        ("sharedStrings", "<si/>", ""),
    ],
};

#[test]
fn word_documents_are_read_in_linear_time() {
    check_kind(&DOCX);
}

#[test]
fn presentations_are_read_in_linear_time() {
    check_kind(&PPTX);
}

#[test]
fn workbooks_are_read_in_linear_time() {
    check_kind(&XLSX);
}
