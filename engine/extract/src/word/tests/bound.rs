//! Content controls that are bound to data, elements of other namespaces, and equations of RTF.

use super::{document, docx};
use crate::package::test_files::{package, relationships};

/// A document with a part of data and properties.
fn bound(body: &str, data: &str) -> String {
    let document_of_controls = format!("<w:document><w:body>{body}</w:body></w:document>");
    let bytes = package(&[
        (
            "_rels/.rels",
            &relationships(&[
                ("officeDocument", "word/document.xml"),
                ("core-properties", "docProps/core.xml"),
            ]),
        ),
        (
            "docProps/core.xml",
            "<cp:coreProperties><dc:title>Of tides</dc:title></cp:coreProperties>",
        ),
        ("word/document.xml", &document_of_controls),
        (
            "word/_rels/document.xml.rels",
            &relationships(&[("customXml", "../customXml/item1.xml")]),
        ),
        ("customXml/item1.xml", data),
        (
            "customXml/_rels/item1.xml.rels",
            &relationships(&[("customXmlProps", "itemProps1.xml")]),
        ),
        (
            "customXml/itemProps1.xml",
            "<ds:datastoreItem ds:itemID='{AB-1}'/>",
        ),
    ]);
    document(&bytes).text
}

/// A control in a paragraph, which holds `old` and is bound to `path`.
fn control(kind: &str, id: &str, path: &str) -> String {
    format!(
        "<w:p><w:r><w:t>At </w:t></w:r><w:sdt><w:sdtPr><w:dataBinding w:xpath=\"{path}\" w:storeItemID='{id}'/>{kind}</w:sdtPr>\
         <w:sdtContent><w:r><w:t>ol</w:t></w:r><w:r><w:t>d</w:t></w:r></w:sdtContent></w:sdt><w:r><w:t>, sir</w:t></w:r></w:p>"
    )
}

#[test]
fn controls_show_the_data_that_they_are_bound_to() {
    let data = "<x:r xmlns:x='urn:mine'><x:a>1</x:a><x:a k='at &amp; on'>2</x:a><x:e> </x:e><x:d><x:a>3</x:a></x:d></x:r>";
    let title = "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}";
    let list = "<w:dropDownList><w:listItem w:displayText='Two' w:value='2'/></w:dropDownList>";
    for (kind, id, path, shown) in [
        ("<w:text/>", "{ab-1}", "/ns0:r[1]/ns0:a[2]", "2"),
        ("<w:text/>", "{AB-1}", "/ns0:r/ns0:a", "1"),
        ("<w:text/>", "{AB-1}", "/ns0:r[1]/ns0:a[2]/@k", "at & on"),
        ("<w:text/>", "{AB-1}", "/r/d/a/text()", "3"),
        ("<w:text/>", "", "/r/d/a", "3"),
        (list, "{AB-1}", "/ns0:r[1]/ns0:a[2]", "Two"),
        (
            "<w:text/>",
            title,
            "/ns1:coreProperties[1]/ns0:title[1]",
            "Of tides",
        ),
        // Nothing is there, nothing that can be shown so, or not by such a path.
        ("<w:text/>", "{AB-1}", "/ns0:r[1]/ns0:a[3]", "old"),
        ("<w:text/>", "{AB-1}", "/ns0:r[1]/ns0:e[1]", "old"),
        ("<w:text/>", "{AB-2}", "/ns0:r[1]/ns0:a[2]", "old"),
        ("<w:text/>", "{AB-1}", "//a[position()=1]", "old"),
        ("<w:date/>", "{AB-1}", "/ns0:r[1]/ns0:a[2]", "old"),
        ("", "{AB-1}", "/ns0:r[1]/ns0:a[2]", "old"),
    ] {
        let text = bound(&control(kind, id, path), data);
        assert_eq!(text, format!("At {shown}, sir\n\n"), "{path}");
    }
    // Broken data shows nothing.
    let text = bound(&control("<w:text/>", "{AB-1}", "/r/a"), "<r><a>1<");
    assert_eq!(text, "At old, sir\n\n");
}

#[test]
fn elements_of_other_namespaces_are_no_text() {
    let declared =
        "xmlns:x='urn:mine' xmlns:n='http://schemas.microsoft.com/office/word/2099/more'";
    let body = format!(
        "<w:p {declared}><w:r><w:t>a</w:t><x:t>b</x:t><n:t>c</n:t><x:br/><n:tab/></w:r><x:p/></w:p>\
         <w:p {declared}><w:r><mc:AlternateContent><mc:Choice Requires='x'><w:t>foreign</w:t></mc:Choice>\
         <mc:Choice Requires='n'><w:t>one</w:t></mc:Choice><mc:Choice><w:t>two</w:t></mc:Choice>\
         <mc:Fallback><w:t>three</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    );
    assert_eq!(document(&docx(&body)).text, "a\n\none\n\nA note.\n\n");
}

#[test]
fn equations_of_rtf_are_read() {
    let rtf = br"{\rtf1\ansi Let {\mmath\ltrpar {\*\moMath{\mr\mscr0\msty2 x=}{\mf{\mfPr{\mtype bar}{\mctrlPr\b}}\
        {\mnum{\mr a+b}}{\mden{\mr 2}}}{\mnary{\mnaryPr{\mchr \u8721 ?}{\mlimLoc undOvr}{\mgrow 1}}{\msub{\mr i}}{\msup{\mr n}}\
        {\me{\msSup{\me{\mr i}}{\msup{\mr 2}}}}}}{\*\mmathPict{\pict 00ff}}} be.\par {\moMath{\mr y}}}";
    assert_eq!(
        document(rtf).text,
        "Let x=(a+b)/2\u{2211}_i^n i^2 be.\n\ny\n\n"
    );
}
