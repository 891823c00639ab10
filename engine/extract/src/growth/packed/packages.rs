//! Packages of many parts.

use super::office_open::docx;
use super::open_document::epub;
use super::packed;
use crate::growth::{Construct, check};
use crate::package::test_files::relationships;

#[test]
fn packages_are_read_in_linear_time() {
    let many = |make: fn(usize, &mut Vec<(String, String)>)| {
        move |bytes: usize| {
            let mut parts = docx();
            make(bytes / 100, &mut parts);
            packed(&parts, "document", "<w:p><w:r><w:t>a</w:t></w:r></w:p>")
        }
    };
    let slides = |bytes: usize| {
        let count = bytes / 400;
        let ids: String = (0..count)
            .map(|n| format!("<p:sldId r:id='r{n}'/>"))
            .collect();
        let names: Vec<String> = (0..count).map(|n| format!("slides/s{n}.xml")).collect();
        let targets: Vec<(&str, &str)> =
            names.iter().map(|name| ("slide", name.as_str())).collect();
        let mut parts = vec![
            (
                "_rels/.rels".to_owned(),
                relationships(&[("officeDocument", "ppt/presentation.xml")]),
            ),
            (
                "ppt/presentation.xml".to_owned(),
                format!("<p:presentation>{ids}</p:presentation>"),
            ),
            (
                "ppt/_rels/presentation.xml.rels".to_owned(),
                relationships(&targets),
            ),
        ];
        for name in &names {
            let slide = "<p:sld><p:sp><a:p><a:t>a</a:t></a:p></p:sp></p:sld>".to_owned();
            parts.push((format!("ppt/{name}"), slide));
        }
        packed(&parts, "", "")
    };
    let sheets = |bytes: usize| {
        let count = bytes / 400;
        let ids: String = (0..count)
            .map(|n| format!("<sheet name='a{n}' r:id='r{n}'/>"))
            .collect();
        let names: Vec<String> = (0..count).map(|n| format!("s{n}.xml")).collect();
        let targets: Vec<(&str, &str)> = names
            .iter()
            .map(|name| ("worksheet", name.as_str()))
            .collect();
        let mut parts = vec![
            (
                "_rels/.rels".to_owned(),
                relationships(&[("officeDocument", "xl/workbook.xml")]),
            ),
            (
                "xl/workbook.xml".to_owned(),
                format!("<workbook><sheets>{ids}</sheets></workbook>"),
            ),
            (
                "xl/_rels/workbook.xml.rels".to_owned(),
                relationships(&targets),
            ),
        ];
        for name in &names {
            let sheet = "<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>"
                .to_owned();
            parts.push((format!("xl/{name}"), sheet));
        }
        packed(&parts, "", "")
    };
    let chapters = |bytes: usize| {
        let count = bytes / 400;
        let items: String = (1..count)
            .map(|n| {
                format!("<item id='c{n}' href='c{n}.xhtml' media-type='application/xhtml+xml'/>")
            })
            .collect();
        let spine: String = (1..count)
            .map(|n| format!("<itemref idref='c{n}'/>"))
            .collect();
        let mut parts = epub();
        for (_, text) in &mut parts {
            *text = text.replace("{MANIFEST}", &items);
        }
        for n in 1..count {
            parts.push((
                format!("c{n}.xhtml"),
                "<html><body><h1>a</h1></body></html>".to_owned(),
            ));
        }
        packed(&parts, "book", &spine)
    };
    let constructs = vec![
        Construct::new(
            "a.docx",
            "parts that nobody names",
            many(|count, parts| {
                parts.extend((0..count).map(|n| (format!("a{n}.xml"), String::new())));
            }),
        ),
        Construct::new(
            "a.docx",
            "relationships",
            many(|count, parts| {
                let names: Vec<String> = (0..count).map(|n| format!("a{n}.xml")).collect();
                let targets: Vec<(&str, &str)> =
                    names.iter().map(|name| ("image", name.as_str())).collect();
                parts.retain(|(name, _)| name != "word/_rels/document.xml.rels");
                parts.push((
                    "word/_rels/document.xml.rels".to_owned(),
                    relationships(&targets),
                ));
            }),
        ),
        Construct::new("a.zip", "parts", |bytes| {
            let parts: Vec<(String, String)> = (0..bytes / 100)
                .map(|n| (format!("a{n}"), String::new()))
                .collect();
            packed(&parts, "", "")
        }),
        Construct::new("a.pptx", "slides", slides),
        Construct::new("a.xlsx", "sheets", sheets),
        Construct::new("a.epub", "chapters", chapters),
    ];
    check(constructs, 48 << 10, 768 << 10);
}
