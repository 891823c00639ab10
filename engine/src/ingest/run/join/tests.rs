use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::kb::{Kb, KbWriter};
use crate::{IndexOptions, Progress, Request, SealOptions, VerifyOptions};

/// Words of many documents, so that searches have something to tell apart.
fn text_of(number: usize) -> String {
    let words = ["walrus", "seal", "otter", "puffin", "orca", "tern", "krill"];
    let chosen = (0..40).map(|at| words[(number * 7 + at * at + number * at) % words.len()]);
    let line = chosen.collect::<Vec<_>>().join(" ");
    format!("# Note {number}\n\n{line}\n\nfn tide_{number}() {{ }}\n")
}

fn write(path: &Path, documents: &[(String, String)]) {
    let mut writer = KbWriter::open_or_create(path).unwrap();
    for (name, text) in documents {
        writer.add_bytes(name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
}

fn numbered(range: std::ops::Range<usize>, folder: &str) -> Vec<(String, String)> {
    let path = |number| match number % 3 {
        0 => format!("{folder}/note-{number}.md"),
        1 => format!("{folder}/src/tide_{number}.rs"),
        _ => format!("note-{number}.txt"),
    };
    range
        .map(|number| (path(number), text_of(number)))
        .collect()
}

fn merge(target: &Path, source: &Path, options: &MergeOptions) -> Result<MergeReport> {
    KbWriter::open_or_create(target)?.merge_from(
        &[MergeSource::new(source)],
        options,
        &mut Progress::ignore,
    )
}

fn sound(path: &Path) -> Kb {
    let kb = Kb::open(path).unwrap();
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).unwrap();
    assert_eq!(report.problems, [""; 0]);
    kb
}

fn paths(kb: &Kb) -> Vec<String> {
    let listed = kb.documents_after(None, 1000).unwrap();
    let paths = listed.into_iter().map(|document| document.path);
    paths.collect()
}

fn sealed(path: &Path) -> String {
    let mut writer = KbWriter::open(path).unwrap();
    let sealed = writer.seal(None, &SealOptions::new(), &mut Progress::ignore);
    sealed.unwrap().content_root
}

struct Places {
    _folder: TempDir,
    root: PathBuf,
}

impl Places {
    fn new() -> Places {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        Places {
            _folder: folder,
            root,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

#[test]
fn files_that_were_merged_answer_and_seal_as_one_that_was_built_at_once() {
    let places = Places::new();
    let parts = [(0..20, "a"), (20..50, "b"), (50..61, "a")];
    let all: Vec<_> = parts
        .iter()
        .flat_map(|(range, folder)| numbered(range.clone(), folder))
        .collect();
    let (whole, merged) = (places.at("whole.kb"), places.at("merged.kb"));
    write(&whole, &all);
    for (number, (range, folder)) in parts.into_iter().enumerate() {
        let part = places.at(&format!("part-{number}.kb"));
        let documents = numbered(range, folder);
        write(&part, &documents);
        let report = merge(&merged, &part, &MergeOptions::new()).unwrap();
        assert_eq!(report.added, documents.len() as u64);
    }
    let [one, other] = [&whole, &merged].map(|path| sound(path));
    assert_eq!(paths(&one), paths(&other));
    for query in ["walrus krill", "tide_22", "note 7", "which birds eat krill"] {
        let answers = [&one, &other].map(|kb| {
            let answer = kb.search(&Request::new(query)).unwrap();
            let hits = answer.hits.items.iter();
            hits.map(|hit| {
                (
                    hit.document.clone(),
                    hit.section.clone(),
                    hit.score.to_bits(),
                    hit.handle.clone(),
                )
            })
            .collect::<Vec<_>>()
        });
        assert!(!answers[0].is_empty(), "{query}");
        assert_eq!(answers[0], answers[1], "{query}");
    }
    let symbols = [&one, &other].map(|kb| kb.outline("b/src/tide_22.rs").unwrap().headings);
    assert_eq!(symbols[0], symbols[1]);
    assert!(!symbols[0].is_empty());
    assert_eq!(sealed(&whole), sealed(&merged));
    sound(&merged);
}

#[test]
fn documents_of_one_path_are_treated_as_asked() {
    let places = Places::new();
    let (ours, theirs) = (places.at("ours.kb"), places.at("theirs.kb"));
    let document = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    write(
        &theirs,
        &[
            document("a.md", "new walrus"),
            document("b.md", "same"),
            document("c.md", "c"),
        ],
    );
    for (choice, expected, report) in [
        (OnConflict::KeepFirst, "old walrus", (1, 0, 1, 1)),
        (OnConflict::KeepLast, "new walrus", (1, 1, 1, 0)),
        // No time is known of either.
        (OnConflict::KeepNewest, "old walrus", (1, 0, 1, 1)),
        (OnConflict::Both, "old walrus", (2, 0, 1, 0)),
    ] {
        let _ = std::fs::remove_file(&ours);
        write(
            &ours,
            &[document("a.md", "old walrus"), document("b.md", "same")],
        );
        let refused = merge(&ours, &theirs, &MergeOptions::new())
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("a.md") && refused.contains("keep-newest"),
            "{refused}"
        );
        assert_eq!(paths(&sound(&ours)), ["a.md", "b.md"]);
        let options = MergeOptions::new().on_conflict(choice);
        let done = merge(&ours, &theirs, &options).unwrap();
        let counts = (done.added, done.replaced, done.identical, done.left_out);
        assert_eq!(counts, report, "{choice:?}");
        let kb = sound(&ours);
        assert_eq!(kb.text("a.md", None).unwrap().text, expected);
        if choice == OnConflict::Both {
            assert_eq!(done.renamed_below, ["theirs"]);
            assert_eq!(kb.text("theirs/a.md", None).unwrap().text, "new walrus");
        } else {
            assert_eq!(paths(&kb), ["a.md", "b.md", "c.md"]);
        }
        let again = merge(&ours, &theirs, &options).unwrap();
        let after = again.replaced + again.identical + again.left_out;
        assert!(after >= 2, "{again:?}");
        sound(&ours);
    }
}

#[test]
fn a_part_of_a_file_comes_below_a_folder_with_tags() {
    let places = Places::new();
    let (all, part) = (places.at("all.kb"), places.at("part.kb"));
    write(&all, &numbered(0..30, "a"));
    let options = MergeOptions::new()
        .only(vec!["a/**".to_owned(), "!**/*.rs".to_owned()])
        .tags(vec!["Archive".to_owned()]);
    let report = KbWriter::open_or_create(&part)
        .unwrap()
        .merge_from(
            &[MergeSource::new(&all).folder("old")],
            &options,
            &mut Progress::ignore,
        )
        .unwrap();
    assert_eq!(report.added, 10);
    let kb = sound(&part);
    assert!(
        paths(&kb)
            .iter()
            .all(|path| path.starts_with("old/a/note-"))
    );
    let document = kb.document("old/a/note-3.md").unwrap();
    assert_eq!(document.tags, ["archive"]);
    let mut request = Request::new("walrus");
    request.filters.tags = vec!["archive".to_owned()];
    assert!(!kb.search(&request).unwrap().hits.items.is_empty());
    let nothing = MergeOptions::new().only(vec!["x/**".to_owned()]);
    assert!(merge(&part, &all, &nothing).is_err());
    assert!(merge(&all, &all, &MergeOptions::new()).is_err());
}

#[test]
fn a_folder_that_was_indexed_is_followed_in_the_merged_file() {
    let places = Places::new();
    let (sources, part, merged) = (
        places.at("sources"),
        places.at("part.kb"),
        places.at("all.kb"),
    );
    std::fs::create_dir(&sources).unwrap();
    std::fs::write(sources.join("one.md"), "one walrus").unwrap();
    let index = |file: &Path| {
        let mut writer = KbWriter::open_or_create(file).unwrap();
        let paths = [sources.clone()];
        writer
            .index(&paths, &IndexOptions::new(), &mut Progress::ignore)
            .unwrap()
    };
    index(&part);
    write(&merged, &[("other.md".to_owned(), "an otter".to_owned())]);
    let report = merge(&merged, &part, &MergeOptions::new()).unwrap();
    assert!(report.left_roots.is_empty(), "{report:?}");
    assert!(!index(&merged).has_changes());
    std::fs::write(sources.join("two.md"), "two walruses").unwrap();
    index(&merged);
    assert_eq!(paths(&sound(&merged)), ["one.md", "other.md", "two.md"]);
    // Another folder without a prefix cannot be told from the first.
    let (others, second) = (places.at("others"), places.at("second.kb"));
    std::fs::create_dir(&others).unwrap();
    std::fs::write(others.join("three.md"), "three").unwrap();
    let mut writer = KbWriter::open_or_create(&second).unwrap();
    writer
        .index(&[others], &IndexOptions::new(), &mut Progress::ignore)
        .unwrap();
    drop(writer);
    let report = merge(&merged, &second, &MergeOptions::new()).unwrap();
    assert_eq!(report.left_roots.len(), 1, "{report:?}");
    index(&merged);
    assert_eq!(
        paths(&sound(&merged)),
        ["one.md", "other.md", "three.md", "two.md"]
    );
}

#[test]
fn a_file_of_others_does_not_make_later_runs_keep_secrets() {
    let places = Places::new();
    let (sources, theirs, ours) = (
        places.at("sources"),
        places.at("theirs.kb"),
        places.at("ours.kb"),
    );
    std::fs::create_dir(&sources).unwrap();
    std::fs::write(sources.join("one.md"), "one walrus").unwrap();
    let index = |file: &Path, options: &IndexOptions| {
        let mut writer = KbWriter::open_or_create(file).unwrap();
        let paths = [sources.clone()];
        writer
            .index(&paths, options, &mut Progress::ignore)
            .unwrap();
    };
    index(&theirs, &IndexOptions::new().include_secrets(true));
    merge(&ours, &theirs, &MergeOptions::new()).unwrap();
    std::fs::write(sources.join(".env"), "API_KEY=0123456789abcdef\n").unwrap();
    std::fs::write(sources.join("id_rsa"), "a key\n").unwrap();
    index(&ours, &IndexOptions::new());
    assert_eq!(paths(&sound(&ours)), ["one.md"]);
    let nothing = KbWriter::open_or_create(places.at("none.kb"))
        .unwrap()
        .merge_from(&[], &MergeOptions::new(), &mut Progress::ignore);
    assert!(nothing.is_err());
    assert!(!places.at("none.kb").exists());
}
