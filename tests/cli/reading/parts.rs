//! `kb pages`, `kb sheet`, `kb slides`, `kb outline` and `kb get --format` of documents with parts, and the page, sheet or slide of
//! a hit.

use kb_engine::KbWriter;
use serde_json::{Value, json};

use crate::support::{Arguments, Folder, parts};

/// A folder with one file of documents that have parts, and a plain text.
fn folder() -> Folder {
    let folder = Folder::empty();
    let path = folder.path().join("harbour.kb");
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    for document in [parts::ledger(), parts::pilot_book(), parts::talk()] {
        writer.add(document).expect("added");
    }
    writer.add_bytes("plain.txt", b"one\ntwo\n").expect("added");
    writer.commit().expect("commit");
    folder
}

fn text<'a>(folder: &Folder, arguments: impl Arguments<'a>) -> String {
    folder.kb(arguments).expect(0).stdout
}

fn objects<'a>(folder: &Folder, arguments: impl Arguments<'a>) -> Vec<Value> {
    folder.kb(arguments).expect(0).json_lines()
}

#[test]
fn pages_are_headed_by_number_and_source() {
    let folder = folder();
    let told = text(&folder, "pages pilot-book.pdf --pages 1,3-4");
    assert_eq!(
        told,
        "==> page 1 of 4, physical, printed ii <==\nPilot book\n\nOf the approaches to the harbour.\n\
         ==> page 3 of 4, physical <==\n==> page 4 of 4, physical <==\n\
         Anchorage is forbidden over the cable.\n"
    );
    assert_eq!(
        text(&folder, "pages plain.txt"),
        "==> page 1 of 1 <==\none\ntwo\n"
    );
    let told = objects(&folder, "pages pilot-book.pdf --json");
    assert_eq!(told.len(), 4);
    assert_eq!(
        (
            &told[0]["source"],
            &told[0]["label"],
            &told[1]["start_line"]
        ),
        (&json!("physical"), &json!("ii"), &json!(4))
    );
    assert_eq!(
        objects(&folder, "get pilot-book.pdf --pages 2 --json")[0]["text"],
        told[1]["text"]
    );
    let error = folder.kb("pages pilot-book.pdf --pages 5").expect(2);
    error.stderr_has("the document has 4 pages");
    error.stderr_has("--pages 1-4");
}

#[test]
fn rows_have_their_number_and_cells() {
    let folder = folder();
    let whole = folder.kb("sheet ledger.xlsx").expect(0);
    whole.stderr_has("the file stores no values for 1 cell");
    assert_eq!(
        whole.stdout,
        "1\tVessel\tDay\tDues\n2\tKittiwake\t1 March\t$1234.50\n\
         5\tRazorbill\\tand tender\t\t$0.25\n6\tSum\t\t=SUM(C2:C5)\n"
    );
    assert_eq!(
        text(&folder, "sheet ledger.xlsx --sheet dues --range B2:C5"),
        "2\t1 March\t$1234.50\n5\t\t$0.25\n"
    );
    assert_eq!(
        text(&folder, "sheet ledger.xlsx --sheet Corner"),
        "1048576\tXFD: sextant\n"
    );
    let told = objects(&folder, "sheet ledger.xlsx --json");
    assert_eq!(told[0]["header"], true);
    assert_eq!(
        told[1],
        json!({
            "document": "ledger.xlsx", "sheet": "Dues", "row": 2,
            "cells": {"A": "Kittiwake", "B": "1 March", "C": "$1234.50"},
            "values": {"B": "2024-03-01", "C": 1234.5},
        })
    );
    assert_eq!(told[3]["cells"]["C"], "=SUM(C2:C5)");
    assert_eq!(told[3]["values"]["C"], "=SUM(C2:C5)");
    let empty = folder.kb("sheet ledger.xlsx --sheet Empty").expect(1);
    assert_eq!(
        empty.stderr,
        "sheet \"Empty\" of ledger.xlsx has no cells\n"
    );
    let cells = [
        "sheet",
        "ledger.xlsx",
        "--sheet",
        "Corner",
        "--range",
        "XFC2:XFD3",
    ];
    let empty = folder.kb(cells).expect(1);
    assert_eq!(
        empty.stderr,
        "sheet \"Corner\" of ledger.xlsx has no cells in XFC2:XFD3\n"
    );
}

#[test]
fn rows_are_read_as_their_cells_show_them() {
    let folder = folder();
    let shown = "Vessel\tDay\tDues\nKittiwake\t1 March\t$1234.50\nRazorbill and tender\t\t$0.25\n\
                 Sum\t\t=SUM(C2:C5)\n";
    let whole = text(&folder, "get ledger.xlsx");
    assert!(whole.contains(shown), "{whole}");
    let found = objects(&folder, ["search", "Kittiwake dues", "--json"]);
    let hit = &found[0];
    assert_eq!(hit["text"], shown);
    let snippet = objects(
        &folder,
        ["search", "tender $0.25", "--mode", "keyword", "--json"],
    );
    assert_eq!(snippet[0]["text"], shown);
    // What is stored beside what is shown is not searched: d2024 of 2024-03-01.
    let mark = folder.kb("search d2024 --mode keyword").expect(1);
    assert_eq!(mark.stdout, "");
}

#[test]
fn rows_go_on_where_they_were_cut() {
    let folder = folder();
    let mut all = Vec::new();
    let mut next: Option<String> = None;
    for _ in 0..9 {
        let mut line = "sheet ledger.xlsx --json --max-tokens 12".to_owned();
        if let Some(next) = &next {
            line += &format!(" --continue {next}");
        }
        let mut told = objects(&folder, line.as_str());
        told.retain(|object| object["summary"].is_null());
        let paging = told.pop().expect("paging")["paging"].clone();
        all.extend(told.into_iter().filter(|row| row["header"].is_null()));
        next = paging["continuation"].as_str().map(str::to_owned);
        if next.is_none() {
            break;
        }
    }
    let mut whole = objects(&folder, "sheet ledger.xlsx --json");
    let summary = whole.pop().expect("a warning of formulas");
    assert!(summary["summary"]["warnings"][0].is_string(), "{summary}");
    assert_eq!(all, whole[1..]);
}

#[test]
fn the_row_that_names_the_columns_is_printed_in_its_place() {
    let folder = Folder::empty();
    folder.write("tree/tally.csv", "2024,17\n2025,9\nmast,sail\n3,4\n");
    folder.kb("index tree -o a.kb").expect(0);
    let rows = "1\t2024\t17\n2\t2025\t9\n3\tmast\tsail\n4\t3\t4\n";
    let read = |flags: &str| {
        let line = format!("sheet tally.csv {flags}");
        folder.kb(line.as_str()).expect(0)
    };
    assert_eq!(read("").stdout, rows);
    let numbers: Vec<Value> = objects(&folder, "sheet tally.csv --json")
        .into_iter()
        .map(|row| json!([row["row"], row["header"]]))
        .collect();
    assert_eq!(
        numbers,
        [
            json!([1, null]),
            json!([2, null]),
            json!([3, true]),
            json!([4, null])
        ]
    );
    // In parts as well, each of which may end above it.
    let (mut told, mut next) = (String::new(), None::<String>);
    for _ in 0..9 {
        let part = match &next {
            Some(next) => read(&format!("--max-tokens 6 --continue {next}")),
            None => read("--max-tokens 6"),
        };
        let lines = part.stdout.lines().filter(|line| !told.contains(line));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        told.push_str(&lines);
        let rest = part.stderr.split("--continue ").nth(1);
        next = rest
            .and_then(|rest| rest.split_whitespace().next())
            .map(str::to_owned);
        if next.is_none() {
            break;
        }
    }
    assert_eq!(told, rows);
}

#[test]
fn slides_have_their_notes() {
    let folder = folder();
    assert_eq!(
        text(&folder, "slides talk.pptx --slides 1-2"),
        "==> slide 1 of 3 <==\nThe new lens\n\nTwelve panels of ground glass.\nNotes:\n\
         Show the old one.\n==> slide 2 of 3, hidden <==\nIt turns on mercury.\n"
    );
    let told = objects(&folder, "slides talk.pptx --json");
    assert_eq!(told[2]["slide_title"], "Thanks");
    assert_eq!(told[2]["notes"], "Questions about the gr\u{fc}ne lamp.\n");
    assert_eq!(told[1]["hidden"], true);
}

#[test]
fn what_a_document_does_not_have_is_refused_with_what_it_has() {
    let folder = folder();
    for (line, code, hint) in [
        ("pages ledger.xlsx", "UNSUPPORTED_DOCUMENT_TYPE", "kb sheet"),
        ("sheet talk.pptx", "UNSUPPORTED_DOCUMENT_TYPE", "kb slides"),
        ("slides plain.txt", "UNSUPPORTED_DOCUMENT_TYPE", "kb get"),
        (
            "sheet ledger.xlsx --sheet Costs",
            "SHEET_NOT_FOUND",
            "it has Dues, Empty, Corner",
        ),
        (
            "sheet ledger.xlsx --sheet Duse",
            "SHEET_NOT_FOUND",
            "`kb sheet ledger.xlsx --sheet Dues`; it has Dues, Empty, Corner",
        ),
        (
            "sheet ledger.xlsx --range ZZZ1",
            "INVALID_RANGE",
            "`kb sheet ledger.xlsx --range A1:D10` is a range",
        ),
        (
            "sheet ledger.xlsx --range D1:E2",
            "INVALID_RANGE",
            "the sheet has A1:C6",
        ),
        (
            "slides talk.pptx --slides 4",
            "INVALID_RANGE",
            "--slides 1-3",
        ),
    ] {
        folder.kb(line).expect(2).stderr_has(hint);
        let json = format!("{line} --json");
        assert_eq!(folder.kb(json.as_str()).expect(2).error_code(), code);
    }
}

#[test]
fn a_hit_names_its_page_sheet_or_slide() {
    let folder = folder();
    for (word, shown, part) in [
        (
            "anchorage",
            "pilot-book.pdf p. 4  ",
            json!({"page": 4, "total_pages": 4, "source": "physical", "label": ""}),
        ),
        (
            "sextant",
            "ledger.xlsx [Corner] row 1048576  ",
            json!({"sheet": "Corner", "first_row": 1_048_576, "last_row": 1_048_576}),
        ),
        (
            "mercury",
            "talk.pptx slide 2  ",
            json!({"slide": 2, "total_slides": 3, "slide_title": ""}),
        ),
    ] {
        let told = text(&folder, ["search", word, "--mode", "keyword"]);
        assert!(told.starts_with(shown), "{told}");
        let told = objects(&folder, ["search", word, "--mode", "keyword", "--json"]);
        assert_eq!(told[0]["part"], part);
    }
    let told = objects(&folder, "search two --mode keyword --json");
    assert!(told[0]["part"].is_null());
}

#[test]
fn an_outline_lists_sheets_slides_or_pages() {
    let folder = folder();
    assert_eq!(
        text(&folder, "outline ledger.xlsx"),
        "ledger.xlsx  Harbour ledger  3 sheets, 1,048,582 rows, 137 B\n  1  Dues  6 x 3, header in row 1\n  \
         2  Empty  0 x 0\n  3  Corner  1048576 x 16384, hidden\n"
    );
    assert_eq!(
        text(&folder, "outline talk.pptx"),
        "talk.pptx  The new lens  3 slides, 124 B\n  1  The new lens\n  2  (no name)  hidden\n  3  Thanks\n"
    );
    let told = objects(&folder, "outline ledger.xlsx --json");
    assert_eq!(
        (&told[0]["total_sheets"], &told[0]["total_rows"]),
        (&json!(3), &json!(1_048_582))
    );
    let empty = json!({"document": "ledger.xlsx", "sheet": "Empty", "number": 2, "rows": 0, "columns": 0,
        "header_row": null, "hidden": false});
    assert_eq!(told[2], empty);
    let told = objects(&folder, "outline pilot-book.pdf --json");
    assert_eq!(
        (&told[0]["total_pages"], &told[0]["page_source"]),
        (&json!(4), &json!("physical"))
    );
    let told = objects(&folder, "outline talk.pptx --json");
    assert_eq!(
        (&told[0]["total_slides"], &told[2]["title"]),
        (&json!(3), &Value::Null)
    );
}

#[test]
fn chunks_and_metadata_are_printed_in_place_of_text() {
    let folder = folder();
    let told = objects(&folder, "get ledger.xlsx --format chunks --json");
    assert_eq!(
        (&told[0]["chunk"], &told[0]["start_line"]),
        (&json!("ledger.xlsx#0"), &json!(1))
    );
    let part = json!({"sheet": "Corner", "first_row": 1_048_576, "last_row": 1_048_576});
    assert_eq!(told[1]["part"], part);
    let told = text(&folder, "get talk.pptx --format chunks");
    assert!(told.starts_with("==> talk.pptx#0  1-4, slide 1"), "{told}");
    let told = text(&folder, "get pilot-book.pdf --format metadata");
    for line in [
        "  title       Pilot book\n",
        "  pages       4\n",
        "  lines       5\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let told = objects(&folder, "get plain.txt talk.pptx --format metadata --json");
    assert_eq!((told.len(), &told[1]["slides"]), (2, &json!(3)));
    assert!(told[0].get("pages").is_none() && told[0]["mime_type"] == "text/plain");
    for (format, flag) in [
        ("metadata", "--pages"),
        ("chunks", "--pages"),
        ("metadata", "--lines"),
    ] {
        let refused = folder.kb(["get", "plain.txt", "--format", format, flag, "1"]);
        let refused = refused.expect(2);
        refused.stderr_has(&format!("{flag} cannot be used with --format {format}"));
    }
}

#[test]
fn pages_and_slides_that_cannot_be_are_refused_by_what_is_wrong() {
    let folder = folder();
    for (pages, told) in [
        ("5-1", "ends before it begins; did you mean 1-5?"),
        ("0", "not a list of numbers"),
        ("x", "not a list of numbers"),
    ] {
        for arguments in [
            ["pages", "pilot-book.pdf", "--pages", pages],
            ["slides", "talk.pptx", "--slides", pages],
        ] {
            let refused = folder.kb(arguments).expect(2);
            refused.stderr_has(told);
        }
    }
    let whole = text(&folder, "pages pilot-book.pdf --pages 1-999999");
    assert_eq!(whole, text(&folder, "pages pilot-book.pdf"));
    folder.kb("pages pilot-book.pdf --pages 5-").expect(2);
}
