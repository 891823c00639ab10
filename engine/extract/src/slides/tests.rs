use kb_types::{Document, PartContent, Slide};

use crate::extract;
use crate::package::test_files::{compound_file, odf, package, relationships};

pub(crate) fn pptx(slide: &str) -> Vec<u8> {
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

pub(crate) fn record(version: u16, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(version.to_le_bytes());
    record.extend(kind.to_le_bytes());
    record.extend((data.len() as u32).to_le_bytes());
    record.extend(data);
    record
}

pub(crate) fn ppt() -> Vec<u8> {
    deck_of(&[], &[])
}

/// The same with more records in the shape of its slide, and in its list of slides.
pub(crate) fn deck_of(of_slide: &[u8], of_list: &[u8]) -> Vec<u8> {
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
        of_list.to_vec(),
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
        of_slide.to_vec(),
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

fn document(bytes: &[u8]) -> Document {
    extract("a.bin", bytes).unwrap()
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
fn a_slide_without_title_is_not_in_the_section_before() {
    let page = |text: &str| {
        format!("<draw:page><draw:frame><text:p>{text}</text:p></draw:frame></draw:page>")
    };
    let titled = "<draw:page><draw:frame presentation:class='title'><text:p>Tides</text:p></draw:frame></draw:page>";
    let pages = [&page("before"), titled, &page("box"), &page("")].concat();
    let document = document(&odf("presentation", &pages, "<m/>"));
    let headings = document.outline.iter();
    let headings: Vec<_> = headings.map(|it| (it.title.as_str(), it.line)).collect();
    assert_eq!(headings, [("Tides", 3), ("Slide 3", 5)]);
    let titles: Vec<_> = slides(&document).iter().map(|it| &*it.title).collect();
    assert_eq!(titles, ["", "Tides", "", ""]);
}

#[test]
fn a_presentation_may_have_no_slides_or_ten_thousand() {
    for slides in [0, 10_000] {
        let pages =
            "<draw:page><draw:frame><text:p>words</text:p></draw:frame></draw:page>".repeat(slides);
        let document = document(&odf("presentation", &pages, "<m/>"));
        assert_eq!(document.parts.len(), slides);
        assert_eq!(
            document
                .text
                .lines()
                .filter(|line| *line == "words")
                .count(),
            slides
        );
    }
}

#[test]
fn charts_diagrams_and_equations_are_on_their_slides() {
    let chart = "<c:chartSpace><c:title><a:p><a:t>Catch</a:t></a:p></c:title><c:ser><c:cat><c:strCache><c:pt idx='0'><c:v>Cod</c:v></c:pt></c:strCache></c:cat>\
        <c:val><c:numCache><c:pt idx='0'><c:v>8.5</c:v></c:pt></c:numCache></c:val></c:ser></c:chartSpace>";
    let diagram = |text: &str| {
        format!(
            "<dgm:dataModel><dgm:pt modelId='1'><dgm:t><a:p><a:t>{text}</a:t></a:p></dgm:t></dgm:pt></dgm:dataModel>"
        )
    };
    let slide = "<p:sld><p:sp><a:p><a:r><a:rPr><a:latin typeface='Arial'/><a:sym typeface='Wingdings'/></a:rPr><a:t>\u{f0fc}</a:t></a:r>\
        <a:r><a:t> above</a:t></a:r></a:p></p:sp>\
        <p:graphicFrame><a:graphic><c:chart r:id='r0'/></a:graphic></p:graphicFrame>\
        <p:graphicFrame><a:graphic><dgm:relIds r:dm='r1'/></a:graphic></p:graphicFrame>\
        <p:sp><a:p><a:t>Let </a:t><mc:AlternateContent><mc:Choice><a14:m><m:oMath><m:sSup><m:e><m:r><m:t>z</m:t></m:r></m:e>\
        <m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m></mc:Choice><mc:Fallback><a:t>no</a:t></mc:Fallback></mc:AlternateContent></a:p></p:sp></p:sld>";
    let presentation =
        "<p:presentation><p:sldIdLst><p:sldId r:id='r0'/></p:sldIdLst></p:presentation>";
    let bytes = package(&[
        (
            "_rels/.rels",
            &relationships(&[("officeDocument", "ppt/presentation.xml")]),
        ),
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            &relationships(&[("slide", "slides/slide1.xml")]),
        ),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            &relationships(&[
                ("chart", "../charts/chart1.xml"),
                ("diagramData", "../diagrams/data1.xml"),
                ("diagramData", "../diagrams/data2.xml"),
            ]),
        ),
        ("ppt/charts/chart1.xml", chart),
        ("ppt/diagrams/data1.xml", &diagram("Steer")),
        ("ppt/diagrams/data2.xml", &diagram("Moor")),
    ]);
    assert_eq!(
        document(&bytes).text,
        "\u{2713} above\nCatch\nCod\t8.5\nSteer\nLet z^3\nMoor\n\n"
    );
    let page =
        "<draw:page><draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></draw:page>";
    let content = format!("<office:document-content>{page}</office:document-content>");
    let bytes = package(&[
        (
            "mimetype",
            "application/vnd.oasis.opendocument.presentation",
        ),
        ("content.xml", &content),
        (
            "Object 1/content.xml",
            "<math><msqrt><mn>2</mn></msqrt></math>",
        ),
    ]);
    assert_eq!(document(&bytes).text, "\u{221a}2\n\n");
}

#[test]
fn lists_of_slides_have_their_numbers() {
    let item = |properties: &str, text: &str| {
        format!("<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let numbered = |level: u8, kind: &str| {
        format!("<a:pPr lvl='{level}'><a:buAutoNum type='{kind}'/></a:pPr>")
    };
    let (one, two) = (numbered(0, "arabicPeriod"), numbered(1, "alphaLcParenR"));
    let from = "<a:pPr><a:buAutoNum type='romanUcParenBoth' startAt='4'/></a:pPr>";
    let items = [
        item(&one, "Cast off"),
        item(&two, "bow"),
        item(&two, "stern"),
        // One without text is not counted.
        item(&one, ""),
        item(&one, "Steer"),
        item(&two, "home"),
        item("<a:pPr><a:buChar char='x'/></a:pPr>", "A break"),
        item(&one, "Again"),
        item(from, "Late"),
        item(from, "Later"),
    ];
    let style = "<a:lstStyle><a:lvl1pPr><a:buAutoNum type='arabicPlain'/></a:lvl1pPr></a:lstStyle>";
    let styled = [
        item("", "By style"),
        item("<a:pPr><a:buNone/></a:pPr>", "Not"),
        item("", "Anew"),
    ];
    let slide = format!(
        "<p:sld><p:sp><p:txBody>{}</p:txBody></p:sp><p:sp><p:txBody>{style}{}</p:txBody></p:sp></p:sld>",
        items.concat(),
        styled.concat()
    );
    let text = document(&pptx(&slide)).text;
    let expected = "1. Cast off\na) bow\nb) stern\n\n2. Steer\na) home\nA break\n1. Again\n(IV) Late\n(V) Later\n\
        1 By style\nNot\n1 Anew\n";
    assert!(text.contains(expected), "{text}");
}
