use kb_types::file_types;
use kb_types::part::fault;
use proptest::prelude::*;

use super::*;
use crate::extract;
use crate::outlook::tests::msg;
use crate::package::test_files::{compound_file, compound_file_with, odf, package, relationships};
use crate::recognise::{Isolation, isolation_of, recognise};
use crate::sheets::tests::{ods_of, xlsx_of};
use crate::sheets::xls::tests::{label, record, xls};
use crate::slides::tests::{ppt, pptx};
use crate::word::tests::{doc, docx};

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
        (
            "xlsx",
            xlsx_of("<worksheet><sheetData><c><v>1</v></c></sheetData></worksheet>"),
        ),
        (
            "ods",
            ods_of(
                "<table:table><table:table-row><table:table-cell><text:p>words</text:p>\
                 </table:table-cell></table:table-row></table:table>",
            ),
        ),
        ("xls", xls(&[], &[("One", 0, vec![label(0, 0, "words")])])),
        ("msg", msg("One", "words")),
    ]
}

#[test]
fn a_package_of_encrypted_parts_is_encrypted() {
    for (kind, mut bytes) in samples() {
        if !bytes.starts_with(b"PK") {
            continue;
        }
        // Bit 0 of the flags in the headers of all parts, and in the list of parts.
        for (header, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
            for at in 0..bytes.len() - flags {
                if bytes[at..].starts_with(header) {
                    bytes[at + flags] |= 1;
                }
            }
        }
        let error = recognise("a", &bytes).unwrap_err();
        assert!(matches!(error, SkipReason::Encrypted(_)), "{kind}: {error}");
    }
}

#[test]
fn files_are_what_they_hold_whatever_they_are_called() {
    for (kind, bytes) in samples() {
        for name in ["a.pdf", "a.docx", "a", "a.txt"] {
            let document = extract(name, &bytes).unwrap();
            assert_eq!(document.file_type, kind, "{name}");
            assert!(!document.text.trim().is_empty());
            assert_eq!(document.parts.is_empty(), kind == "msg");
        }
    }
    for name in ["a.doc", "a.xls", "a.odp"] {
        let text = extract(name, b"plain words").unwrap();
        assert_eq!(text.file_type, "text");
    }
    let page = extract("a.doc", b"<html><p>words</p></html>").unwrap();
    assert_eq!(page.file_type, "html");
}

#[test]
fn a_workbook_with_a_document_in_it_is_a_workbook() {
    let streams = [
        ("Workbook", vec![9, 8, 0, 0]),
        ("WordDocument", vec![0; 40]),
        ("PowerPoint Document", vec![0; 40]),
    ];
    let type_of = |name: &str, outermost: usize| {
        let bytes = compound_file_with(&streams, outermost);
        recognise(name, &bytes).unwrap().unwrap().name
    };
    for name in ["a.xls", "a.doc", "a"] {
        assert_eq!(type_of(name, 1), "xls");
    }
    // Of two in the same storage, the one of the name.
    assert_eq!(type_of("a.xls", 2), "xls");
    assert_eq!(type_of("a.doc", 2), "doc");
    assert_eq!(type_of("a.txt", 2), "doc");
}

#[test]
fn formats_of_the_table_have_names_and_media_types() {
    for format in FORMATS {
        let mime = file_types::mime(format.name);
        let ending = file_types::short(format.name);
        assert_eq!(file_types::from_mime(mime), Some(ending), "{}", format.name);
        let named = file_types::from_name(&format!("a.{ending}")).unwrap();
        assert_eq!(named.name, format.name);
        assert_eq!(file_types::is_packed(format.name), !format.is_text());
    }
}

#[test]
fn all_but_plain_text_goes_to_the_worker() {
    use Isolation::{InProcess, Worker, WorkerIfAny, WorkerToParse};

    for (_, bytes) in samples() {
        assert_eq!(isolation_of("a.txt", &bytes), Worker);
    }
    for (name, bytes, needs) in [
        ("a.txt", &b"words"[..], InProcess),
        ("a.md", b"# words", WorkerIfAny),
        ("a.rst", b"words\n=====", WorkerIfAny),
        ("a.adoc", b"= words", WorkerIfAny),
        ("a.xml", b"<book/>", WorkerIfAny),
        ("a.ipynb", b"{}", WorkerIfAny),
        ("a.jsonl", b"{}", InProcess),
        ("a.rs", b"fn main() {}", WorkerToParse),
        ("run", b"#!/bin/sh\nexit", WorkerToParse),
        ("a.cob", b"STOP RUN.", InProcess),
        ("a.csv", b"a,b", InProcess),
        ("a.html", b"words", WorkerIfAny),
        ("a", b" <!DOCTYPE html>", WorkerIfAny),
        ("a.doc", b"\xEF\xBB\xBF<html>", WorkerIfAny),
        ("a.doc", b"words", InProcess),
        ("a.txt", b"<html>", InProcess),
        ("a.html", b"\x89PNG\r\n\x1a\n\0\0\0\x0d", InProcess),
    ] {
        assert_eq!(isolation_of(name, bytes), needs, "{name}");
    }
}

#[test]
fn encrypted_files_of_each_format_say_so() {
    let manifest = "<m><manifest:encryption-data/></m>";
    let marked = |format: &str| {
        SkipReason::Encrypted(match format {
            "docx" | "xlsx" | "pptx" => "Office document",
            "doc" => "Word 97-2003 document",
            "odt" => "OpenDocument text",
            "ods" => "OpenDocument spreadsheet",
            "odp" => "OpenDocument presentation",
            "xls" => "Excel 97-2003 workbook",
            _ => "PowerPoint 97-2003 presentation",
        })
    };
    let office = compound_file(&[("EncryptedPackage", vec![0; 9])]);
    let mut slides = ppt();
    let known = 0xE391_C05F_u32.to_le_bytes();
    let at = slides.windows(4).position(|it| it == known).unwrap();
    slides[at..at + 4].copy_from_slice(&0xF3D1_C4DF_u32.to_le_bytes());
    for (format, bytes) in [
        ("docx", office.clone()),
        ("xlsx", office.clone()),
        ("pptx", office),
        ("doc", doc(b"x\r", "", 0x100)),
        ("odt", odf("text", "", manifest)),
        ("ods", odf("spreadsheet", "", manifest)),
        ("odp", odf("presentation", "", manifest)),
        ("xls", xls(&[record(0x2F, &[1, 0])], &[])),
        ("ppt", slides),
    ] {
        let reason = extract(&format!("a.{format}"), &bytes).unwrap_err();
        assert_eq!(reason, marked(format), "{format}");
    }
}

#[test]
fn formats_that_are_not_read_are_named() {
    let binary = package(&[
        (
            "_rels/.rels",
            &relationships(&[("officeDocument", "xl/workbook.bin")]),
        ),
        ("xl/workbook.bin", "\u{1}"),
    ]);
    for (bytes, label) in [
        (binary, "Excel binary workbook"),
        (vec![9, 4, 6, 0, 0, 0], "Excel workbook of before 1993"),
        (
            b"\xFFWPC\x10\0\0\0\x01\x0a".to_vec(),
            "WordPerfect document",
        ),
    ] {
        let refused = extract("a.xls", &bytes).unwrap_err();
        assert_eq!(refused, SkipReason::Unsupported(label));
    }
}

#[test]
fn what_cannot_be_read_says_why() {
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
    // What its list of parts has lost, and the first part still shows.
    let lost = package(&[
        ("[Content_Types].xml", "<Types/>"),
        ("word/other.xml", "<x/>"),
    ]);
    let reason = extract("a.docx", &lost).unwrap_err().to_string();
    assert_eq!(reason, "damaged (Word document): its main part is missing");
    // Its list of parts has another name for the first part than the part itself.
    let name = b"[Content_Types].xml";
    let mut renamed = package(&[
        ("[Content_Types].xml", "<Types/>"),
        ("word/other.xml", "<x/>"),
    ]);
    let at = renamed
        .windows(name.len())
        .rposition(|it| it == name)
        .unwrap();
    renamed[at] = b'x';
    let reason = extract("a.docx", &renamed).unwrap_err();
    assert!(matches!(reason, SkipReason::Damaged { .. }), "{reason}");
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
        sample in 0usize..10,
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
