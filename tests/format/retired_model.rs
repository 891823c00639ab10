//! A file whose vectors are by a model that is no longer built in: it is read by keyword, and the first
//! change embeds all of it again, from its own text.

use kb_engine::{BUILT_IN_MODEL, DocumentInfo, Kb, KbWriter, Mode, Request, VerifyOptions};

use crate::format::golden::golden_folder;
use crate::support::{Folder, Outcome, run};

const RETIRED: &str = "kb-static-1";

/// A folder with the golden file of format 0.5 as `old.kb`, and `new.txt` beside it.
fn folder() -> Folder {
    let folder = Folder::empty();
    let bytes = std::fs::read(golden_folder().join("v0.5/golden.kb")).expect("golden.kb");
    folder.write("old.kb", &bytes);
    folder.write("new.txt", "A walrus sleeps on the slipway.\n");
    folder
}

fn documents(kb: &Kb) -> Vec<DocumentInfo> {
    let names = [
        "notes.txt",
        "docs/install.rst",
        "docs/handbook.md",
        "docs/log.md",
    ];
    let documents = names.map(|name| kb.document(name).expect(name));
    documents.into()
}

fn finds_by_meaning(kb: &Kb) {
    let request = Request::new("saving people from a sinking ship").mode(Mode::Semantic);
    let response = kb.search(&request).expect("an answer");
    assert!(!response.hits.is_empty() && response.warnings.is_empty());
}

#[test]
fn a_file_of_a_retired_model_is_read_by_keyword() {
    let folder = folder();
    let told = folder.kb(["search", "-f", "old.kb", "lens"]).expect(0);
    let warning = told.stderr.lines().next().unwrap_or_default();
    assert!(
        warning.contains(RETIRED) && warning.contains("only keywords"),
        "{told:#?}"
    );
    let told = folder.kb(["search", "-f", "old.kb", "lens", "--mode", "semantic"]);
    let told = told.expect(2);
    assert!(told.stderr.contains(RETIRED), "{told:#?}");
    // The remedy works as it is printed.
    assert!(told.hint().contains("`kb seal old.kb`"), "{told:#?}");
    folder.kb(["seal", "old.kb"]).expect(0);
    folder
        .kb(["search", "-f", "old.kb", "lens", "--mode", "semantic"])
        .expect(0);
}

#[test]
fn a_warning_names_the_file_of_a_retired_model() {
    let folder = folder();
    folder.kb(["index", "new.txt", "-o", "new.kb"]).expect(0);
    let told = folder
        .kb(["search", "-f", "new.kb", "-f", "old.kb", "walrus"])
        .expect(0);
    assert!(
        told.stderr
            .contains("the vectors of old.kb are by kb-static-1"),
        "{told:#?}"
    );
    let told = folder
        .kb(["search", "-f", "new.kb", "-f", "./new.kb", "walrus"])
        .expect(0);
    assert_eq!(told.stdout.matches("new.txt").count(), 1, "{told:#?}");
    assert!(told.stderr.contains("named twice"), "{told:#?}");
}

#[test]
fn a_check_says_that_the_model_is_retired() {
    let folder = folder();
    let told = folder
        .kb(["index", "--check", "new.txt", "-o", "old.kb"])
        .expect(1);
    let words = format!(
        "the vectors are by {RETIRED}, an embedding model that {BUILT_IN_MODEL} has replaced"
    );
    assert!(told.stderr.contains(&words), "{told:#?}");
    assert!(told.hint().contains("without --check"), "{told:#?}");
    let told = folder
        .kb(["index", "--check", "new.txt", "-o", "old.kb", "--json"])
        .expect(1);
    assert!(told.stdout.contains(RETIRED), "{told:#?}");
}

#[test]
fn the_first_change_embeds_a_retired_file_again() {
    let verbs: [&[&str]; 5] = [
        &["add", "new.txt", "-f", "old.kb"],
        &["tag", "-f", "old.kb", "notes.txt", "--add", "keeper"],
        &["rm", "old.kb", "data/stations.csv"],
        &["index", "new.txt", "-o", "old.kb"],
        &["seal", "old.kb"],
    ];
    for verb in verbs {
        let folder = folder();
        let path = folder.path().join("old.kb");
        let before = documents(&Kb::open(&path).expect("it opens"));
        let told: Outcome = run(folder.command().args(verb)).expect(0);
        assert!(
            told.stderr.contains(RETIRED) && told.stderr.contains(BUILT_IN_MODEL),
            "{verb:?} {told:#?}"
        );
        let kb = Kb::open(&path).expect("it opens");
        let info = kb.info().expect("info");
        assert_eq!(info.model, BUILT_IN_MODEL, "{verb:?}");
        assert_eq!(documents(&kb), before, "{verb:?}");
        finds_by_meaning(&kb);
        let deep = VerifyOptions::new().deep(true);
        let report = kb.verify(&deep, &mut kb_engine::Progress::ignore);
        assert_eq!(report.expect("a report").problems, [""; 0], "{verb:?}");
        // It is done once.
        let told = folder.kb(["tag", "-f", "old.kb", "notes.txt", "--add", "twice"]);
        assert!(!told.expect(0).stderr.contains(RETIRED), "{verb:?}");
    }
}

#[test]
fn a_retired_file_is_sealed_elsewhere_and_stays() {
    let folder = folder();
    let old = folder.path().join("old.kb");
    let before = std::fs::read(&old).expect("bytes");
    let told = folder.kb(["seal", "old.kb", "-o", "new.kb"]).expect(0);
    assert!(
        told.stderr.contains(RETIRED) && told.stderr.contains(BUILT_IN_MODEL),
        "{told:#?}"
    );
    assert!(std::fs::read(&old).expect("bytes") == before);
    let new = Kb::open(folder.path().join("new.kb")).expect("it opens");
    assert_eq!(new.info().expect("info").model, BUILT_IN_MODEL);
    finds_by_meaning(&new);
    let deep = VerifyOptions::new().deep(true);
    let report = new.verify(&deep, &mut kb_engine::Progress::ignore);
    assert_eq!(report.expect("a report").problems, [""; 0]);
    // As where it stands, and nothing is left beside it.
    folder.kb(["seal", "old.kb"]).expect(0);
    let in_place = Kb::open(&old).expect("it opens");
    let root = |kb: &Kb| kb.info().expect("info").content_root;
    assert!(root(&new).is_some() && root(&new) == root(&in_place));
    assert_eq!(documents(&new), documents(&in_place));
    let names = std::fs::read_dir(folder.path()).expect("a folder");
    let mut names: Vec<_> = names
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["new.kb", "new.txt", "old.kb"]);
}

#[test]
fn an_open_reader_follows_a_file_that_is_embedded_again() {
    let folder = folder();
    let path = folder.path().join("old.kb");
    let kb = Kb::open(&path).expect("it opens");
    assert_eq!(kb.info().expect("info").model, RETIRED);
    let mut writer = KbWriter::open(&path).expect("a writer");
    writer
        .add_bytes("walrus.txt", b"A walrus sleeps.")
        .expect("added");
    assert_eq!(writer.model_before(), Some(RETIRED));
    writer.commit().expect("a commit");
    assert_eq!(kb.info().expect("info").model, BUILT_IN_MODEL);
    finds_by_meaning(&kb);
    assert!(kb.document("walrus.txt").is_ok());
}
