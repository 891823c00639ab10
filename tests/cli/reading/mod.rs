//! Documents read back: text, lines, sections, outline.

mod markup;
mod naming;
mod parts;

use super::corpus_text;
use crate::support::{Folder, private_key};

#[test]
fn get_prints_the_stored_text_byte_for_byte_without_the_sources() {
    let folder = Folder::indexed();
    std::fs::remove_dir_all(folder.join("harbour")).unwrap();
    for name in [
        "docs/guide.md",
        "docs/install.rst",
        "src/tide.rs",
        "src/buoy.py",
        "notes.txt",
    ] {
        assert_eq!(folder.kb(["get", name]).expect(0).stdout, corpus_text(name));
    }
    assert_eq!(
        folder.kb("get tide.rs").expect(0).stdout,
        corpus_text("src/tide.rs")
    );
    assert_eq!(
        folder
            .kb("search fog -k 1 --json")
            .expect(0)
            .json_lines()
            .len(),
        1
    );
}

#[test]
fn get_prints_the_lines_asked_for_in_both_ways_of_asking() {
    let folder = Folder::indexed();
    let lines: Vec<&str> = corpus_text("docs/guide.md").split_inclusive('\n').collect();
    let five_to_seven = lines[4..7].concat();
    let asked = folder.kb("get docs/guide.md --lines 5-7").expect(0);
    assert_eq!(asked.stdout, five_to_seven);
    assert_eq!(
        folder.kb("get docs/guide.md:5-7").expect(0).stdout,
        five_to_seven
    );
    assert_eq!(folder.kb("get guide.md:1").expect(0).stdout, lines[0]);
    let to_end = folder.kb("get docs/guide.md --lines 10-").expect(0);
    assert_eq!(to_end.stdout, lines[9..].concat());

    let object = &folder.kb("get guide.md:5-7 --json").expect(0).json_lines()[0];
    assert_eq!(object["document"], "docs/guide.md");
    assert_eq!(object["title"], "Keeper's guide");
    assert_eq!(object["file_type"], "markdown");
    assert_eq!(
        (&object["start_line"], &object["end_line"]),
        (&5.into(), &7.into())
    );
    assert_eq!(object["text"], five_to_seven);
}

#[test]
fn the_place_that_search_prints_can_be_given_to_get() {
    let folder = Folder::indexed();
    let told = folder.kb("search 'polish the lens' -k 1").expect(0);
    let place = told.stdout.split("  ").next().unwrap();
    assert!(
        folder
            .kb(["get", place])
            .expect(0)
            .stdout
            .contains("polish the lens")
    );
}

#[test]
fn get_prints_several_documents_and_globs_under_their_names() {
    let folder = Folder::indexed();
    let guide = corpus_text("docs/guide.md");
    let first = guide.lines().next().unwrap();
    let rust = corpus_text("src/tide.rs");
    let told = folder.kb("get guide.md#L1 src/*.rs src/tide.rs");
    let expected = format!("==> guide.md#L1 <==\n{first}\n\n==> src/tide.rs <==\n{rust}");
    assert_eq!(told.expect(0).stdout, expected);
    let file = folder.kb("get harbour.kb docs/guide.md:1").expect(0);
    assert_eq!(file.stdout, format!("{first}\n"));

    let missing = folder
        .kb("get none.md guide.md:1 guide.md:999 *.cpp")
        .expect(2);
    assert_eq!(missing.stdout.matches("==>").count(), 1, "{missing:#?}");
    assert!(missing.stdout.contains(first));
    for said in ["none.md", "999", "*.cpp"] {
        missing.stderr_has(said);
    }
    for (glob, words) in [
        ("*.cpp", "no document matches \"*.cpp\""),
        ("docs/{a*", "docs/{a*"),
    ] {
        let told = folder.kb(["get", glob]).expect(2);
        told.stderr_has(words);
    }
    let some = folder.kb("get docs/*.md:1").expect(0);
    some.stdout_has(first);
    let objects = folder.kb("get guide.md:1 notes.txt:1 --json").expect(0);
    let lines: Vec<_> = objects
        .json_lines()
        .iter()
        .map(|one| one["document"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(lines, ["docs/guide.md", "notes.txt"]);

    let budget = ["get", "src/tide.rs", "guide.md:1", "--max-tokens", "60"];
    let cut = folder.kb(budget).expect(0);
    assert_eq!(cut.stdout, format!("==> guide.md:1 <==\n{first}\n"));
    cut.stderr_has("src/tide.rs was skipped");
    let cut = folder.kb("get **/*.* --max-tokens 1").expect(0);
    let warnings = cut.stderr.lines().filter(|line| line.contains("skipped"));
    assert_eq!(warnings.count(), 1, "{cut:#?}");
    assert!(
        cut.stderr
            .contains("documents were skipped because they do not fit into --max-tokens: ")
    );
    let twice = folder.kb("get guide.md:1-2 --lines 5-6").expect(2);
    twice.stderr_has("guide.md:1-2 selects lines");
    let twice = folder.kb("get **/*.md:1-2 --lines 5-6").expect(2);
    twice.stderr_has("**/*.md:1-2 selects lines");
    let line = folder.kb("get guide.md:1:5").expect(0);
    assert_eq!(line.stdout, folder.kb("get guide.md:1").expect(0).stdout);
    let beyond = folder.kb("get guide.md:9999-").expect(2);
    beyond.stderr_has("lines 9999- of");
    folder.kb("get guide.md notes.txt --continue x").expect(2);
}

#[test]
fn outline_lists_headings_with_their_lines() {
    let folder = Folder::indexed();
    let told = folder.kb("outline guide.md").expect(0);
    let expected = [
        "   1  1 Keeper's guide",
        "   5    1.1 Lamp maintenance",
        "  10    1.2 Fog signals",
    ];
    assert_eq!(told.stdout.lines().skip(1).collect::<Vec<_>>(), expected);

    for (name, titles) in [
        ("install.rst", ["Installing the beacon", "Wiring"]),
        ("index.html", ["Harbour visitors", "Tickets"]),
    ] {
        let headings = folder
            .kb(["outline", name, "--json"])
            .expect(0)
            .json_lines();
        let found: Vec<&str> = headings
            .iter()
            .map(|line| line["title"].as_str().unwrap())
            .collect();
        assert_eq!(found, titles);
        assert_eq!(
            (&headings[0]["level"], &headings[1]["level"]),
            (&1.into(), &2.into())
        );
    }
    let sections = folder.kb("outline guide.md --json").expect(0);
    let sections = sections.json_lines();
    assert_eq!(sections[1]["section"], "1.1");
    assert_eq!(sections[1]["end_line"], 9);
    assert_eq!(sections[1]["end_byte"], sections[2]["start_byte"]);
    let none = folder.kb("outline notes.txt").expect(1);
    none.stderr_has("notes.txt has no headings");
}

#[test]
fn get_gives_one_section_by_number_or_title() {
    let folder = Folder::indexed();
    let lines = folder.kb("get guide.md --lines 5-9").expect(0);
    for section in [
        "1.1",
        "Lamp maintenance",
        "lamp MAINTENANCE",
        "Keeper's guide > Lamp maintenance",
        "1.1 Lamp maintenance",
    ] {
        let told = folder
            .kb(["get", "guide.md", "--section", section])
            .expect(0);
        assert_eq!(told.stdout, lines.stdout, "{section}");
    }
    let json = ["get", "guide.md", "--section", "1.2", "--json"];
    assert_eq!(folder.kb(json).expect(0).json_lines()[0]["start_line"], 10);
    let none = folder.kb("get guide.md --section Lamp").expect(2);
    let near = "1.1 Keeper's guide > Lamp maintenance";
    none.stderr_has(near);
    let below = folder.kb("outline guide.md --section 1.2 --json");
    assert_eq!(below.expect(0).json_lines().len(), 1);
    assert!(none.hint().contains("`kb outline -f"), "{none:#?}");
    let both = ["get", "guide.md", "--section", "1", "--lines", "1-2"];
    folder.kb(both).expect(2);
}

const DAMAGED_PDF: &str = "damaged (PDF): its list of pages cannot be found";

/// A corpus with files of its folder that are left out.
fn with_left_out() -> Folder {
    let folder = Folder::with_corpus();
    folder.write("harbour/docs/report.pdf", "%PDF-1.7\n1 0 obj\n");
    folder.write("harbour/deploy.key", private_key());
    folder.write("harbour/long.txt", "storm warning\n".repeat(1000));
    folder.kb("index harbour --max-file-size 10K").expect(0);
    folder
}

#[test]
fn ls_skipped_lists_files_that_were_not_read() {
    let folder = with_left_out();
    let told = folder.kb("ls --skipped").expect(0);
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert!(
        lines.contains(&"docs/report.pdf  damaged (PDF): its list of pages cannot be found"),
        "{told:#?}"
    );
    assert!(
        lines.contains(&"long.txt  larger than 10240 bytes"),
        "{told:#?}"
    );
    assert!(
        lines.contains(&"deploy.key  may hold a key or credentials (private key, line 1)"),
        "{told:#?}"
    );
    told.stdout_has("logo.png  binary file");
    let below = folder.kb("ls docs --skipped --json").expect(0);
    let below = below.json_lines();
    assert_eq!(below.len(), 1);
    assert_eq!(below[0]["skipped"], "docs/report.pdf");
    assert_eq!(below[0]["reason"], DAMAGED_PDF);
    assert_eq!(below[0]["size_bytes"], 17);
    let info = folder.kb("info --json").expect(0).json_lines();
    assert_eq!(info[0]["skipped"]["damaged (PDF)"], 1);
    let told = folder.kb("info").expect(0);
    told.stdout_has("skipped     4 files: ");
    // Sealed, it knows nothing of its folder.
    folder.kb("seal harbour.kb").expect(0);
    folder.kb("ls --skipped").expect(1);
}

#[test]
fn a_skipped_file_is_told_from_an_unknown_one() {
    let folder = with_left_out();
    let told = folder.kb("get report.pdf").expect(2);
    let expected =
        format!("docs/report.pdf is in the indexed folder but was not read: {DAMAGED_PDF}");
    told.stderr_has(&expected);
    assert!(told.hint().contains("`kb ls --skipped -f "), "{told:#?}");
    let told = folder.kb("ls --skipped zz").expect(2);
    told.stderr_has("zz");
    let told = folder.kb("ls --skipped src").expect(1);
    told.stderr_has("no skipped files below src");
    let told = folder.kb("get docs").expect(2);
    assert!(told.hint().contains("docs` lists this folder"), "{told:#?}");
}

#[test]
fn a_document_whose_file_changed_is_told_when_read() {
    let folder = Folder::indexed();
    assert!(
        !folder
            .kb("get guide.md")
            .expect(0)
            .stderr
            .contains("out of date")
    );
    folder.write("harbour/docs/guide.md", "# Other words\n");
    for verb in [["get", "guide.md"], ["outline", "guide.md"]] {
        let told = folder.kb(verb).expect(0);
        told.stderr_has("docs/guide.md was changed");
    }
}

#[test]
fn search_warns_of_results_whose_files_changed() {
    let folder = Folder::indexed();
    let told = folder.kb("search 'polish the lens'").expect(0);
    assert_eq!(told.stderr, "");
    folder.write("harbour/docs/guide.md", "# Guide\n\nNothing of lenses.\n");
    let told = folder.kb("search 'polish the lens'").expect(0);
    told.stderr_has("docs/guide.md (changed)");
    std::fs::remove_file(folder.join("harbour/docs/guide.md")).unwrap();
    let told = folder.kb("search 'polish the lens' --json").expect(0);
    let first = &told.json_lines()[0];
    assert_eq!(
        (&first["document"], &first["stale"]),
        (&"docs/guide.md".into(), &"deleted".into())
    );
}
