//! Markup, notebooks, mail and e-books: search results, locations and outlines.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Folder;

/// A folder with the files of `tests/corpus/markup`, and its index.
fn folder() -> Folder {
    let folder = Folder::empty();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/markup");
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_str().expect("UTF-8");
        folder.write(format!("books/{name}"), std::fs::read(&path).expect("read"));
    }
    folder.kb("index books -o b.kb").expect(0);
    folder
}

fn hit(folder: &Folder, query: &str) -> Value {
    let found = folder.kb(["search", query, "-k", "1", "--json"]).expect(0);
    found.json_lines().into_iter().next().expect("a hit")
}

fn outline(folder: &Folder, name: &str) -> String {
    folder.kb(["outline", name]).expect(0).stdout
}

#[test]
fn words_are_found_with_the_section_that_holds_them() {
    let folder = folder();
    for (query, name, section) in [
        ("lowest spring tide", "tides.adoc", "Mounting"),
        (
            "quarter moon neap tides follow",
            "almanac.xml",
            "Quarter moons",
        ),
        (
            "lunar term dominates",
            "tides.ipynb",
            "Harmonic constituents",
        ),
        (
            "sluice gates midnight",
            "surge.eml",
            "Surge \u{201c}warning\u{201d}",
        ),
        ("pilot boards beyond the bar", "tides.epub", "The pilot"),
        ("perigee raises the springs", "tides.epub", "The moon"),
    ] {
        let found = hit(&folder, query);
        assert_eq!(found["document"], json!(name), "{query}");
        let titles = found["section"].as_array().expect("a path of titles");
        assert_eq!(titles.last(), Some(&json!(section)), "{query}: {found}");
    }
}

#[test]
fn outlines_name_the_headings_of_each_format() {
    let folder = folder();
    for (name, headings) in [
        (
            "tides.adoc",
            ["Tide Gauge Manual", "Mounting", "Calibrating zero"].as_slice(),
        ),
        ("almanac.xml", &["Almanac of neaps", "Quarter moons"]),
        ("tides.ipynb", &["Harmonic constituents", "Residuals"]),
        ("tides.epub", &["The pilot", "The moon", "Eclipses"]),
    ] {
        let told = outline(&folder, name);
        let found = headings.iter().map(|heading| told.find(heading));
        let places: Vec<usize> = found.collect::<Option<_>>().expect(&told);
        assert!(places.is_sorted(), "{told}");
        assert!(!told.contains("not a heading"), "{told}");
    }
}

#[test]
fn texts_read_back_as_people_read_them() {
    let folder = folder();
    let text = |name: &str| folder.kb(["get", name]).expect(0).stdout;
    assert_eq!(
        text("tides.epub"),
        "A pilot boards beyond the bar.\n\nThe moon\n\nPerigee raises the springs.\n\nEclipses\n\n\
         Shadows tell nothing of the water.\n\n"
    );
    assert_eq!(
        text("tides.ipynb"),
        "# Harmonic constituents\n\nThe lunar term M2 dominates.\n\n```python\ndef amplitude(hours):\n    return 1.5\n\
         ```\n\n```output\nfitted 37 constituents\n```\n\n## Residuals\n\nStorm surge remains.\n\n"
    );
    assert_eq!(
        text("surge.eml"),
        "Surge \u{201c}warning\u{201d}\n\nFrom: J\u{f8}rgen Holm <jh@example.org>\nTo: harbour@example.org\n\
         Date: Mon, 6 May 2024 10:00:00 +0200\n\n\
         Close the sluice gates before midnight, the surge is 2\u{bd} metres.\n\n\
         Attachments:\n- forecast.pdf (application/pdf)\n\n"
    );
    // Entities are not expanded, so none can grow.
    let almanac = text("almanac.xml");
    assert!(almanac.contains("quarter moon &a;.\n"), "{almanac}");
    for name in ["tides.adoc", "settings.xml", "readings.jsonl"] {
        let source = std::fs::read_to_string(folder.join(format!("books/{name}"))).expect("read");
        assert_eq!(text(name), source);
    }
    // The lines of a page or a document of XML are those of the file.
    assert_eq!(
        hit(&folder, "quarter moon neap tides follow")["start_line"],
        json!(6)
    );
}

#[test]
fn a_code_search_finds_the_cells_of_a_notebook() {
    let folder = folder();
    let found = folder.kb("search 'amplitude hours' --lang python --json");
    let found = found.expect(0).json_lines();
    assert_eq!(found[0]["document"], json!("tides.ipynb"));
}

#[test]
fn a_condition_finds_messages_and_notebooks_by_what_they_state() {
    let folder = folder();
    for (condition, document) in [
        (
            r#"author ~ "j*rgen holm*" and created = 2024-05"#,
            "surge.eml",
        ),
        (r#"to = "harbour@example.org""#, "surge.eml"),
        (
            r#"kernel = "python 3" and language = "python""#,
            "tides.ipynb",
        ),
    ] {
        let told = folder.kb(["ls", "-r", "--where", condition]).expect(0);
        assert_eq!(told.stdout, format!("{document}\n"), "{condition}");
    }
}

#[test]
fn broken_files_are_named_and_the_others_indexed() {
    let folder = folder();
    let epub = std::fs::read(folder.join("books/tides.epub")).expect("read");
    folder.write("books/cut.epub", &epub[..epub.len() / 2]);
    folder.write("books/deep.ipynb", "[".repeat(50_000));
    let nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
    folder.write("books/nested.eml", nested);
    let names = "books/\u{6f6e}\u{6c50} \u{440}\u{443}\u{441} \u{639}\u{631}\u{628}.epub";
    folder.write(names, &epub);
    folder.kb("index books -o b.kb").expect(0);
    let told = folder.kb("ls --skipped").expect(0).stdout;
    for (name, reason) in [
        (
            "cut.epub",
            "damaged (EPUB): the list of its parts is missing or broken",
        ),
        (
            "nested.eml",
            "more than 50 messages and parts inside each other",
        ),
    ] {
        let line = told.lines().find(|line| line.contains(name)).expect(&told);
        assert!(line.contains(reason), "{line}");
    }
    assert_eq!(folder.kb("get deep.ipynb").expect(0).stdout.len(), 50_000);
    let copy = names.strip_prefix("books/").expect("a name");
    assert!(
        folder
            .kb(["get", copy])
            .expect(0)
            .stdout
            .starts_with("A pilot")
    );
}
