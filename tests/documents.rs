//! Files of other programs, indexed by the real binary and read back from the .kb alone. The files and where
//! they come from: `corpus/documents/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Arguments, Folder, run};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/documents")
}

/// Names of the files, sorted.
fn names() -> Vec<String> {
    let entries = fs::read_dir(corpus()).expect("the corpus");
    let names = entries.map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name in UTF-8")
    });
    let mut names: Vec<String> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
}

/// A folder whose only .kb holds the documents; the originals are gone.
fn folder() -> Folder {
    let folder = Folder::empty();
    for name in names() {
        fs::create_dir_all(folder.join("files")).expect("a folder");
        fs::copy(corpus().join(&name), folder.join("files").join(&name)).expect("copied");
    }
    folder.kb("index files -o all.kb").expect(0);
    fs::remove_dir_all(folder.join("files")).expect("removed");
    folder
}

fn objects<'a>(folder: &Folder, arguments: impl Arguments<'a>) -> Vec<Value> {
    let mut command = folder.command();
    command.args(arguments.words()).arg("--json");
    run(&mut command).expect(0).json_lines()
}

/// One field of each object.
fn field<'v>(objects: &'v [Value], name: &str) -> Vec<&'v Value> {
    objects.iter().map(|object| &object[name]).collect()
}

#[test]
fn every_file_of_the_corpus_is_a_document_of_its_type() {
    let folder = folder();
    let listed = objects(&folder, "ls");
    let types: Vec<(String, String)> = listed
        .iter()
        .map(|document| {
            let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
            (text("document"), text("file_type"))
        })
        .collect();
    let expected: Vec<(String, String)> = names()
        .into_iter()
        .map(|name| {
            let extension = name.rsplit('.').next().unwrap_or_default().to_owned();
            (name, extension)
        })
        .collect();
    assert_eq!(types, expected);
}

#[test]
fn a_type_is_read_from_the_content_not_the_name() {
    let folder = Folder::empty();
    for (name, disguise) in [
        ("page-breaks.docx", "a.pdf"),
        ("tables.xlsx", "b.txt"),
        ("notes.ppt", "c.docx"),
        ("issues.ods", "d"),
        ("lorem-ipsum.rtf", "e.doc"),
    ] {
        fs::copy(corpus().join(name), folder.join(disguise)).expect("copied");
    }
    folder.kb("index . -o all.kb").expect(0);
    assert_eq!(
        field(&objects(&folder, "ls"), "file_type"),
        ["docx", "xlsx", "ppt", "ods", "rtf"]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_in_every_script_and_in_none_are_kept() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::empty();
    let names: [(&str, &[u8]); 6] = [
        ("page-breaks.docx", "\u{62a5}\u{544a}.docx".as_bytes()),
        ("tables.xlsx", "\u{645}\u{644}\u{641}.xlsx".as_bytes()),
        (
            "notes.ppt",
            "\u{43e}\u{442}\u{447}\u{451}\u{442} 1.ppt".as_bytes(),
        ),
        ("issues.ods", "\u{1f4c4}\u{301}.ods".as_bytes()),
        ("lorem-ipsum.rtf", b"caf\xE9.rtf"),
        ("text-document.odt", b"\xFF\xFE.odt"),
    ];
    for (name, disguise) in names {
        fs::create_dir_all(folder.join("files")).expect("a folder");
        let path = folder.join("files").join(OsStr::from_bytes(disguise));
        fs::copy(corpus().join(name), path).expect("copied");
    }
    folder.kb("index files -o all.kb").expect(0);
    let listed = objects(&folder, "ls");
    assert_eq!(listed.len(), names.len());
    for document in field(&listed, "document") {
        let name = document.as_str().expect("a name");
        let family = if name.ends_with("xlsx") || name.ends_with("ods") {
            "sheet"
        } else if name.ends_with("ppt") {
            "slides"
        } else {
            "pages"
        };
        assert!(!objects(&folder, [family, name]).is_empty(), "{name}");
    }
}

#[test]
fn pages_say_how_they_are_known() {
    let folder = folder();
    for (document, pages, source) in [
        ("page-breaks.docx", 6, "rendered"),
        ("numbered-headings.docx", 2, "rendered"),
        ("duplicate-paragraphs.doc", 2, "explicit"),
        ("heading-styles.doc", 1, "estimated"),
        ("lorem-ipsum.rtf", 2, "estimated"),
        ("text-document.odt", 1, "estimated"),
    ] {
        let read = objects(&folder, ["pages", document]);
        assert_eq!(read.len(), pages, "{document}");
        assert!(
            read.iter().all(|page| page["source"] == source),
            "{document}"
        );
    }
}

#[test]
fn a_page_holds_the_text_between_its_breaks() {
    let folder = folder();
    let read = objects(&folder, "pages page-breaks.docx --pages 2-3");
    assert_eq!(
        field(&read, "text"),
        [
            "<<Text on second page. The font is big so it breaks onto third \
             page--------------------here-->>\n\n",
            "<<but break falls inside link so text stays together.\n\nContinuous section break \
             here>>\n\n",
        ]
    );
    let read = objects(&folder, "pages duplicate-paragraphs.doc");
    assert_eq!(
        read[0]["text"],
        "This document contains duplicates\n\nsome text\n\nsome text\n\nsome text\n\n"
    );
}

#[test]
fn headings_have_their_levels_whatever_their_styles_are_called() {
    let folder = folder();
    let outline = |document: &str| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        objects(&folder, ["outline", document])
            .iter()
            .filter(|line| line["section"].is_string())
            .map(|section| (text(&section["section"]), text(&section["title"])))
            .collect()
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(number, name): &(&str, &str)| ((*number).to_owned(), (*name).to_owned());
        list.iter().map(owned).collect()
    };
    assert_eq!(
        outline("numbered-headings.docx"),
        pairs(&[
            ("1", "Test Document"),
            ("2", "Section 1"),
            ("2.1", "Section 1.1"),
            ("2.2", "Section 1.2"),
            ("2.2.1", "Section 1.2.3"),
            ("3", "Section 2"),
            ("3.1", "Section 2.1.1"),
            ("3.2", "Section 2.1"),
        ])
    );
    assert_eq!(
        outline("heading-styles.doc"),
        pairs(&[
            ("1", "Problem mit lokalisierten Dokumenten"),
            ("2", "Vorgeschlagene \u{c4}nderung"),
            ("3", "Verifizierung"),
        ])
    );
    assert_eq!(
        outline("text-document.odt"),
        pairs(&[
            ("1", "heading level 1.0"),
            ("1.1", "Heading level 2: A"),
            ("1.2", "Heading level 2: B"),
        ])
    );
}

#[test]
fn cells_have_what_they_show_and_what_they_hold() {
    let folder = folder();
    let row = |document: &str, range: &str| {
        let read = objects(&folder, ["sheet", document, "--range", range]);
        (read[0]["cells"].clone(), read[0]["values"].clone())
    };
    assert_eq!(
        row("number-formats.xlsx", "A4:D4"),
        (
            json!({"A": "YYYY", "B": "1900", "C": "1899", "D": "1900"}),
            json!({"B": "1900-01-01", "C": "1899-12-28T19:12:00", "D": "1900-01-12T07:12:00"})
        )
    );
    assert_eq!(
        row("number-formats.xlsx", "A30:J30").0,
        json!({
            "A": "[MAGENTA]", "B": "1.00", "C": "-1.20", "D": "12.30", "E": "-12.34",
            "F": "123.45", "G": "-123.46", "H": "1234.57", "I": "-1234.57", "J": "12345.68",
        })
    );
    assert_eq!(
        row("issues.ods", "A6:A6"),
        (
            json!({"A": "10/20/2016"}),
            json!({"A": "2016-10-20T00:00:00"})
        )
    );
    assert_eq!(
        row("number-formats.xls", "A17:D17"),
        (
            json!({"A": "Max Code Length", "B": "10", "C": "20", "D": "20"}),
            json!({"B": 10.0, "C": 20.0, "D": 20.0})
        )
    );
    assert_eq!(
        row("columnar.csv", "D3:F3").0,
        json!({"D": "10%", "E": "0.0%", "F": "02-01-1960"})
    );
}

#[test]
fn sheets_are_asked_for_by_name() {
    let folder = folder();
    let read = objects(&folder, "sheet tables.xlsx --sheet Sheet2");
    assert_eq!(read[0]["header"], true);
    assert_eq!(read[0]["cells"], json!({"A": "Item", "B": "Price"}));
    assert_eq!(read[4]["values"], json!({"A": 4.0, "B": 0.45}));
    let unknown = folder.kb("sheet issues.ods --sheet Prices --json");
    assert_eq!(unknown.expect(2).error_code(), "SHEET_NOT_FOUND");
    let title = objects(&folder, "sheet merged-title.ods");
    // The row that names the columns stands in its place, behind the title above it.
    let rows: Vec<u64> = title.iter().filter_map(|row| row["row"].as_u64()).collect();
    assert!(rows.is_sorted() && rows[0] < 4, "{rows:?}");
    let header = title.iter().find(|row| row["header"] == true);
    let header = header.expect("a header row");
    assert_eq!(
        (&header["row"], &header["cells"]),
        (&json!(4), &json!({"B": "Year", "C": "Freshwater Ducks"}))
    );
}

#[test]
fn slides_have_titles_text_and_notes() {
    let folder = folder();
    let slides = objects(&folder, "slides tables-and-notes.odp");
    assert_eq!(
        field(&slides, "slide_title"),
        ["Test Table Slide", "Second slide title", ""]
    );
    assert_eq!(
        field(&slides, "notes"),
        [
            "",
            "Some notes on the second slide.\n\n",
            "Final notes on the third slide.\nSecond line of notes.\n\n"
        ]
    );
    let slides = objects(&folder, "slides notes.ppt");
    assert_eq!(
        slides[1]["notes"],
        "\u{8bf7}\u{6ce8}\u{610f}\u{5e97}\u{540d}\u{548c}\u{62a5}\u{544a}\u{65e5}\u{671f}\n\n"
    );
    let slides = objects(&folder, "slides notes.pptx");
    assert_eq!(slides.len(), 2);
    assert_eq!(slides[0]["notes"].as_str().map(str::trim), Some("Notes"));
    assert_eq!(slides[1]["notes"], "");
}

#[test]
fn a_hit_in_each_family_names_where_it_is() {
    let folder = folder();
    for (words, document, part) in [
        (
            "link text stays together",
            "page-breaks.docx",
            json!({"page": 3, "total_pages": 6, "source": "rendered", "label": ""}),
        ),
        (
            "Standardniveau",
            "heading-styles.doc",
            json!({"page": 1, "total_pages": 1, "source": "estimated", "label": ""}),
        ),
        (
            "Pear",
            "tables.xlsx",
            json!({"sheet": "Sheet1", "first_row": 1, "last_row": 5}),
        ),
        (
            "NOTSUBJECTIVE",
            "number-formats.xls",
            json!({"sheet": "Header", "first_row": 13, "last_row": 18}),
        ),
        (
            "rectangle shape",
            "tables-and-notes.odp",
            json!({"slide": 2, "total_slides": 3, "slide_title": "Second slide title"}),
        ),
        (
            "\u{8bf7}\u{6ce8}\u{610f}\u{5e97}\u{540d}",
            "notes.ppt",
            json!({"slide": 2, "total_slides": 2, "slide_title": ""}),
        ),
    ] {
        let hits = objects(&folder, ["search", words, "--mode", "keyword", "-k", "1"]);
        assert_eq!(
            (&hits[0]["document"], &hits[0]["part"]),
            (&json!(document), &part),
            "{words}"
        );
    }
}

#[test]
fn a_cut_file_is_left_out_with_its_reason() {
    let folder = Folder::empty();
    for name in names() {
        let bytes = fs::read(corpus().join(&name)).expect("a file");
        folder.write(format!("files/{name}"), &bytes[..bytes.len() / 2]);
    }
    folder.write("files/good.md", "# Still here\n");
    folder.kb("index files -o all.kb").expect(0);
    let left_out = objects(&folder, "ls --skipped");
    // A cut table or rich text is a shorter one; of a package the list of parts is at its end.
    for name in names() {
        let has_list = [".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp"];
        if has_list.iter().any(|end| name.ends_with(end)) {
            let found = left_out.iter().find(|file| file["skipped"] == *name);
            let file = found.unwrap_or_else(|| panic!("{name} is not in {left_out:?}"));
            let reason = file["reason"].as_str().expect("a reason");
            assert!(reason.starts_with("damaged"), "{name}: {reason}");
        }
    }
    assert_eq!(
        objects(&folder, ["search", "still here", "-k", "1"])[0]["document"],
        "good.md"
    );
}
