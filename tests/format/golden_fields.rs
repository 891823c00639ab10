//! A golden file with columns of fields, and how it was made: two segments of documents with values of all kinds, some
//! of which changed afterwards.

use std::path::PathBuf;

use kb_engine::{
    FieldValue, Kb, KbWriter, PageOptions, Progress, VerifyOptions, document_of, give_fields,
};

use crate::format::golden::golden_folder;

/// The golden file with columns of fields. Its documents are not those of `expected.json`.
pub(crate) const WITH_FIELDS: &str = "v0.13-fields/golden.kb";

/// Documents of each of its two segments.
const DOCUMENTS: i64 = 100;

fn path() -> PathBuf {
    golden_folder().join(WITH_FIELDS)
}

/// The fields of the n-th document: one in seven has no number, and one in five a list.
fn fields(number: i64) -> Vec<(String, Vec<FieldValue>)> {
    let text = |text: String| FieldValue::Text(text);
    let mut fields = vec![
        ("key".to_owned(), vec![text(format!("Log-{number:04}"))]),
        (
            "status".to_owned(),
            vec![text(["draft", "final"][(number % 2) as usize].to_owned())],
        ),
        (
            "depth".to_owned(),
            vec![FieldValue::Float(number as f64 / 8.0 - 3.0)],
        ),
        (
            "seen".to_owned(),
            vec![FieldValue::Time(1_700_000_000_000 + number * 3_600_000)],
        ),
        (
            "checked".to_owned(),
            vec![FieldValue::Boolean(number % 3 == 0)],
        ),
    ];
    if number % 7 != 0 {
        fields.push(("year".to_owned(), vec![FieldValue::Integer(1900 + number)]));
    }
    if number % 5 == 0 {
        let names = [number % 11, number % 13, number].map(|name| text(format!("buoy {name}")));
        fields.push(("places".to_owned(), names.to_vec()));
    }
    fields
}

#[test]
#[ignore = "makes the golden file with columns of fields"]
fn make_golden_with_fields() {
    assert!(
        !path().exists(),
        "{WITH_FIELDS} is there; it is never made again"
    );
    std::fs::create_dir_all(path().parent().expect("a folder")).expect("folder");
    let mut writer = KbWriter::open_or_create(path())
        .expect("writer")
        .without_merges();
    for segment in 0..2 {
        for number in segment * DOCUMENTS..(segment + 1) * DOCUMENTS {
            let name = format!("log/{number:03}.md");
            let mut document = document_of(&name, b"The lamp was lit.").expect("a document");
            document.path = name;
            give_fields(&mut document, &fields(number)).expect("fields");
            writer.add(document).expect("added");
        }
        writer.commit().expect("commit");
    }
    let year = |year: i64| [("year".to_owned(), vec![FieldValue::Integer(year)])];
    writer
        .set_fields("log/001.md", &year(2024))
        .expect("changed");
    writer
        .set_fields("log/002.md", &[("key".to_owned(), vec![])])
        .expect("changed");
    writer.commit().expect("commit");
}

#[test]
fn golden_columns_of_fields_are_found() {
    let kb = Kb::open(path()).expect("golden.kb");
    let report = kb.verify(&VerifyOptions::new().deep(true), &mut Progress::ignore);
    assert_eq!(report.expect("verify").problems, Vec::<String>::new());
    for (condition, expected) in [
        ("year = 1950", 1),
        ("year = 1901", 0),
        ("year = 2024", 2),
        ("year >= 1990 and year < 2010", 17),
        ("missing(year)", 29),
        ("key = \"log-0123\"", 1),
        ("key > \"log-0100\" and key <= \"log-0110\"", 10),
        ("key ~ \"log-01*\"", 100),
        ("key in (\"LOG-0005\", \"log-0150\", \"log-0002\")", 2),
        ("missing(key)", 1),
        ("depth < 0", 24),
        ("depth = 2.5", 1),
        ("seen = 2023-11-15", 24),
        ("places = \"buoy 3\"", 7),
        ("not missing(places)", 40),
        ("status = \"draft\" and checked and year > 1950", 22),
    ] {
        let found = kb.documents_where(None, true, condition, &PageOptions::default());
        assert_eq!(
            found.expect("documents").items.len(),
            expected,
            "{condition}"
        );
    }
}
