//! What lies in other parts of a document, and what is no plain text: charts, diagrams, whole documents, equations,
//! symbols, numbers of lists, hidden text.

use super::{doc, document};
use crate::package::test_files::{odf, package, package_of, relationships};

/// A Word document with parts that its main part refers to as `r0`, `r1` and so on.
fn docx(body: &str, parts: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let targets: Vec<(&str, &str)> = parts.iter().map(|(kind, name, _)| (*kind, *name)).collect();
    let names: Vec<String> = parts
        .iter()
        .map(|(_, name, _)| format!("word/{name}"))
        .collect();
    let head = relationships(&[("officeDocument", "word/document.xml")]);
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    let references = relationships(&targets);
    let mut all: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", head.as_bytes()),
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", references.as_bytes()),
    ];
    all.extend(
        names
            .iter()
            .zip(parts)
            .map(|(name, (_, _, bytes))| (name.as_str(), *bytes)),
    );
    package_of(&all)
}

fn text_of(body: &str, parts: &[(&str, &str, &[u8])]) -> String {
    document(&docx(body, parts)).text
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>")
}

const CHART: &str = "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Rain by month</a:t></a:r></a:p></c:rich></c:tx></c:title>\
    <c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Station</c:v></c:pt></c:strCache></c:strRef></c:tx>\
    <c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>May</c:v></c:pt></c:strCache></c:strRef></c:cat>\
    <c:val><c:numRef><c:numCache><c:pt idx='0'><c:v>63</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart></c:chartSpace>";

const DIAGRAM: &str = "<dgm:dataModel><dgm:ptLst><dgm:pt modelId='1'><dgm:t><a:p><a:r><a:t>Cast off</a:t></a:r></a:p></dgm:t></dgm:pt>\
    <dgm:pt modelId='2'><dgm:t><a:p><a:r><a:t>Set sail</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>";

#[test]
fn charts_and_diagrams_follow_their_paragraph() {
    let drawing =
        |inner: &str| format!("<w:drawing><a:graphicData>{inner}</a:graphicData></w:drawing>");
    let body = [
        "<w:p><w:r><w:t>Weather</w:t>",
        &drawing("<c:chart r:id='r0'/>"),
        "</w:r></w:p>",
        "<w:p><w:r>",
        &drawing("<dgm:relIds r:dm='r1' r:lo='x'/>"),
        // Again: it is read once.
        &drawing("<dgm:relIds r:dm='r1'/><c:chart r:id='none'/>"),
        "</w:r></w:p>",
        &paragraph("after"),
    ]
    .concat();
    let parts: [(&str, &str, &[u8]); 2] = [
        ("chart", "charts/chart1.xml", CHART.as_bytes()),
        ("diagramData", "diagrams/data1.xml", DIAGRAM.as_bytes()),
    ];
    assert_eq!(
        text_of(&body, &parts),
        "Weather\n\nRain by month\n\nStation\n\nMay\t63\n\nCast off\n\nSet sail\n\nafter\n\n"
    );
}

#[test]
fn documents_that_were_put_in_whole_are_read() {
    let inner = docx(
        &[paragraph("inner"), "<w:altChunk r:id='r0'/>".to_owned()].concat(),
        &[("aFChunk", "deep.txt", b"deepest\nline")],
    );
    let parts: [(&str, &str, &[u8]); 7] = [
        (
            "aFChunk",
            "a.html",
            b"<html><body><h2>Of a page</h2><p>page &amp; words</p></body></html>",
        ),
        ("aFChunk", "b.rtf", b"{\\rtf1 rich\\par text\\par}"),
        ("aFChunk", "c.docx", &inner),
        ("aFChunk", "d.txt", "caf\u{e9}".as_bytes()),
        (
            "aFChunk",
            "e.mht",
            b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p>of a message</p>",
        ),
        ("aFChunk", "f.bin", b"\0\0\0"),
        ("aFChunk", "g.docx", b"PK\x03\x04 broken"),
    ];
    let chunks: String = (0..8)
        .map(|at| format!("<w:altChunk r:id='r{at}'/>"))
        .collect();
    let body = [paragraph("before"), chunks, paragraph("after")].concat();
    let read = document(&docx(&body, &parts));
    let words: Vec<&str> = read.text.lines().filter(|line| !line.is_empty()).collect();
    let expected = [
        "before",
        "Of a page",
        "page & words",
        "rich",
        "text",
        "inner",
        "deepest",
        "line",
        "caf\u{e9}",
        "of a message",
        "after",
    ];
    assert_eq!(words, expected);
    let outline: Vec<(u8, &str)> = read
        .outline
        .iter()
        .map(|it| (it.level, it.title.as_str()))
        .collect();
    assert_eq!(outline, [(2, "Of a page")]);
}

#[test]
fn documents_inside_each_other_end() {
    // Of itself, and a hundred references to one.
    let body = "<w:altChunk r:id='r0'/>".repeat(100) + &paragraph("end");
    let text = text_of(&body, &[("aFChunk", "../word/document.xml", b"")]);
    assert_eq!(text, "end\n\n");
    let mut inner = docx(&paragraph("core"), &[]);
    for depth in 0..6 {
        let around = [
            "<w:altChunk r:id='r0'/>".to_owned(),
            paragraph(&format!("shell {depth}")),
        ]
        .concat();
        inner = docx(&around, &[("aFChunk", "a.docx", &inner)]);
    }
    let text = document(&inner).text;
    assert!(
        text.contains("shell 5") && text.contains("shell 2"),
        "{text}"
    );
    assert!(!text.contains("core"), "{text}");
}

#[test]
fn equations_and_symbols_are_text() {
    let body = "<w:p><w:r><w:t>Mass </w:t></w:r><m:oMath><m:r><m:t>m=</m:t></m:r><m:f><m:num><m:r><m:t>F</m:t></m:r></m:num>\
        <m:den><m:r><m:t>a</m:t></m:r></m:den></m:f></m:oMath><w:r><w:t> holds.</w:t></w:r></w:p>\
        <w:p><m:oMathPara><m:oMath><m:r><m:t>p</m:t></m:r></m:oMath><m:oMath><m:r><m:t>q</m:t></m:r></m:oMath></m:oMathPara></w:p>\
        <w:p><w:r><w:sym w:font='Symbol' w:char='F062'/><w:sym w:font='Wingdings' w:char='F0FC'/></w:r>\
        <w:r><w:rPr><w:rFonts w:ascii='Symbol'/></w:rPr><w:t>\u{f067}</w:t></w:r>\
        <w:r><w:rPr><w:rFonts w:ascii='Arial'/></w:rPr><w:t>\u{f067}</w:t></w:r></w:p>";
    assert_eq!(
        text_of(body, &[]),
        "Mass m=F/a holds.\n\np\nq\n\n\u{3b2}\u{2713}\u{3b3}\u{f067}\n\n"
    );
}

#[test]
fn a_large_first_letter_belongs_to_its_word() {
    let initial = "<w:p><w:pPr><w:framePr w:dropCap='drop' w:lines='3'/></w:pPr><w:r><w:t>O</w:t></w:r></w:p>";
    let body = [
        initial,
        &paragraph("nce upon a time"),
        &paragraph("next"),
        initial,
    ]
    .concat();
    assert_eq!(text_of(&body, &[]), "Once upon a time\n\nnext\n\nO\n\n");
}

#[test]
fn hidden_and_deleted_text_is_left_out() {
    let styles = "<w:styles><w:style w:styleId='Ghost'><w:rPr><w:vanish/></w:rPr></w:style>\
        <w:style w:styleId='Heir'><w:basedOn w:val='Ghost'/></w:style></w:styles>";
    let run = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>")
    };
    let body = [
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>",
        &run("", "shown"),
        &run("<w:vanish/>", "no"),
        &run("<w:vanish w:val='0'/>", " too"),
        &run("<w:rStyle w:val='Heir'/>", "no"),
        "<w:r><w:rPr><w:vanish/></w:rPr><w:tab/><w:sym w:font='Symbol' w:char='F061'/></w:r>",
        "<w:del><w:r><w:t>no</w:t><w:footnoteReference w:id='1'/></w:r></w:del>",
        "<w:ins><w:r><w:t>, new</w:t></w:r></w:ins></w:p>",
        "<w:p><w:pPr><w:pStyle w:val='Heir'/></w:pPr>",
        &run("", "no"),
        &run("<w:vanish w:val='false'/>", "yet"),
        "</w:p>",
        // A box in a run that is not hidden, with a hidden mark of a paragraph.
        "<w:p><w:r><w:pict><w:txbxContent><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>box</w:t></w:r></w:p>\
         </w:txbxContent></w:pict><w:t>anchor</w:t></w:r></w:p>",
    ]
    .concat();
    let text = text_of(&body, &[("styles", "styles.xml", styles.as_bytes())]);
    assert_eq!(text, "shown too, new\n\nyet\n\nanchor\n\nbox\n\n");
}

#[test]
fn numbers_of_lists_are_those_that_word_prints() {
    let level = |at: u32, inner: &str| format!("<w:lvl w:ilvl='{at}'>{inner}</w:lvl>");
    let plain = |format: &str| {
        format!("<w:start w:val='1'/><w:numFmt w:val='{format}'/><w:lvlText w:val='%1'/>")
    };
    let numbering = [
        "<w:numbering>",
        "<w:abstractNum w:abstractNumId='1'>",
        &level(0, "<w:numFmt w:val='ordinal'/><w:lvlText w:val='%1'/>"),
        "</w:abstractNum><w:abstractNum w:abstractNumId='2'>",
        &level(0, &plain("cardinalText")),
        "</w:abstractNum><w:abstractNum w:abstractNumId='3'>",
        &level(0, &plain("upperRoman")),
        &level(1, "<w:start w:val='1'/><w:numFmt w:val='decimal'/><w:isLgl/><w:lvlText w:val='%1.%2.'/>"),
        &level(2, "<w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlRestart w:val='0'/><w:lvlText w:val='(%3)'/>"),
        "</w:abstractNum><w:abstractNum w:abstractNumId='4'><w:styleLink w:val='Clauses'/>",
        &level(0, "<w:start w:val='5'/><mc:AlternateContent><mc:Choice><w:numFmt w:val='custom' w:format='001, 002, ...'/></mc:Choice>\
            <mc:Fallback><w:numFmt w:val='decimal'/></mc:Fallback></mc:AlternateContent><w:lvlText w:val='%1'/>"),
        &level(1, "<w:start w:val='1'/><w:numFmt w:val='none'/><w:pStyle w:val='Clause'/><w:lvlText w:val='Clause'/>"),
        "</w:abstractNum><w:abstractNum w:abstractNumId='5'><w:numStyleLink w:val='Clauses'/></w:abstractNum>",
        "<w:num w:numId='1'><w:abstractNumId w:val='1'/></w:num>",
        "<w:num w:numId='2'><w:abstractNumId w:val='2'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='21'/></w:lvlOverride></w:num>",
        "<w:num w:numId='3'><w:abstractNumId w:val='3'/></w:num>",
        "<w:num w:numId='4'><w:abstractNumId w:val='5'/></w:num>",
        "<w:num w:numId='5'><w:abstractNumId w:val='1'/><w:lvlOverride w:ilvl='0'>",
        &level(0, "<w:start w:val='3'/><w:numFmt w:val='decimalEnclosedCircle'/><w:lvlText w:val='%1'/>"),
        "</w:lvlOverride></w:num></w:numbering>",
    ]
    .concat();
    let item = |list: u32, level: u32, style: &str| {
        let level = if style.is_empty() {
            format!("<w:ilvl w:val='{level}'/>")
        } else {
            String::new()
        };
        format!(
            "<w:p><w:pPr><w:pStyle w:val='{style}'/><w:numPr>{level}<w:numId w:val='{list}'/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>"
        )
    };
    let text = |items: &[(u32, u32, &str)]| {
        let body: String = items
            .iter()
            .map(|(list, level, style)| item(*list, *level, style))
            .collect();
        let text = text_of(
            &body,
            &[("numbering", "numbering.xml", numbering.as_bytes())],
        );
        text.split_whitespace()
            .collect::<Vec<&str>>()
            .join(" ")
            .replace(" x", "")
    };
    assert_eq!(text(&[(1, 0, ""), (1, 0, ""), (1, 0, "")]), "0th 1st 2nd");
    assert_eq!(text(&[(2, 0, ""), (2, 0, "")]), "Twenty-one Twenty-two");
    assert_eq!(
        text(&[
            (3, 0, ""),
            (3, 1, ""),
            (3, 2, ""),
            (3, 0, ""),
            (3, 1, ""),
            (3, 2, "")
        ]),
        "I 1.1. (1) II 2.1. (2)"
    );
    assert_eq!(
        text(&[(4, 0, ""), (4, 0, ""), (4, 0, "Clause")]),
        "005 006 Clause"
    );
    assert_eq!(text(&[(5, 0, ""), (5, 0, "")]), "\u{2462} \u{2463}");
}

#[test]
fn a_text_of_opendocument_has_its_equations_and_charts_and_no_hidden_text() {
    let content = "<office:automatic-styles><style:style style:name='T1' style:family='text'><style:text-properties text:display='none'/></style:style>\
        <style:style style:name='P1' style:family='paragraph'><style:text-properties text:display='none'/></style:style></office:automatic-styles>\
        <office:body><text:p>Speed <draw:frame><draw:object xlink:href='./Object 1'/></draw:frame> of \
        <text:span text:style-name='T1'>no<text:tab/></text:span>light</text:p><text:p text:style-name='P1'>no</text:p>\
        <text:section text:display='none'><text:p>no</text:p></text:section><text:section><text:p>yes<text:hidden-text text:is-hidden='true'>no</text:hidden-text></text:p></text:section>\
        <text:p>no<text:hidden-paragraph text:is-hidden='true'/></text:p>\
        <text:p><draw:frame><draw:object xlink:href='./Object 2'/></draw:frame>Fleet</text:p></office:body>";
    let equation =
        "<math><mrow><mi>v</mi><mo>=</mo><mfrac><mi>s</mi><mi>t</mi></mfrac></mrow></math>";
    let chart = "<office:document-content><office:automatic-styles><x><p>no</p></x></office:automatic-styles><office:body><office:chart><chart:chart><chart:title><text:p>Ships</text:p></chart:title>\
        <table:table><table:table-row><table:table-cell><text:p>2019</text:p></table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table>\
        </chart:chart></office:chart></office:body></office:document-content>";
    let content = format!("<office:document-content>{content}</office:document-content>");
    let text = document(&package(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", &content),
        ("Object 1/content.xml", equation),
        ("Object 2/content.xml", chart),
    ]))
    .text;
    assert_eq!(
        text,
        "Speed v=s/t of light\n\nyes\n\nFleet\n\nShips\n\n2019\t12\n\n"
    );
    // As before where there is none of it.
    assert_eq!(
        document(&odf(
            "text",
            "<office:body><text:p>a</text:p></office:body>",
            "<m/>"
        ))
        .text,
        "a\n\n"
    );
    assert!(!document(&doc(b"a\r", "", 0x200)).text.is_empty());
}
