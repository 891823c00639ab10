//! A sealed file depends on the documents alone: not on their order, the commits, what else there was
//! or the number of threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use kb_engine::{
    Entry, IndexOptions, Kb, KbWriter, Mode, Progress, Request, SealOptions, SealReport, Stage,
    VerifyOptions,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{CORPUS, Random};

const WORDS: [&str; 16] = [
    "lamp",
    "lens",
    "fog",
    "horn",
    "tide",
    "buoy",
    "rescue",
    "harbour",
    "parse_header",
    "waterLevel",
    "gr\u{fc}n",
    "\u{706f}\u{53f0}",
    "rock",
    "wind",
    "sea",
    "the",
];

const TAGS: [&str; 4] = ["draft", "old", "sea", "\u{fc}ber"];

#[test]
fn a_seal_that_is_cancelled_leaves_nothing() {
    let folder = TempDir::new().expect("folder");
    let path = folder.path().join("a.kb");
    with_history(&path, 11, 30);
    let before = std::fs::read(&path).expect("bytes");
    let options = SealOptions::new();
    let output = folder.path().join("b.kb");
    for output in [None, Some(output.as_path())] {
        // From the start, and after the first, the third ... document.
        for after in [0, 1, 3] {
            let mut hook = |progress: &Progress| match progress.stage {
                Stage::Seal if progress.files_done == after => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            let sealed = writer(&path).seal(output, &options, &mut hook);
            assert_eq!(sealed.expect_err("stopped").code(), "CANCELLED", "{after}");
            assert!(std::fs::read(&path).expect("bytes") == before);
            let names = std::fs::read_dir(folder.path()).expect("folder").count();
            assert_eq!(names, 1, "only a.kb");
        }
    }
    let sealed = writer(&path).seal(Some(&output), &options, &mut Progress::ignore);
    assert!(sealed.is_ok() && output.exists());
}

impl Random {
    fn text(&mut self) -> String {
        let mut text = String::new();
        for paragraph in 0..self.below(6) {
            if self.below(2) == 0 {
                text.push_str(&format!("# Part {paragraph}\n\n"));
            }
            for _ in 0..5 + self.below(80) {
                text.push_str(WORDS[self.below(WORDS.len())]);
                text.push_str([" ", " ", " ", "\r\n", ".\n"][self.below(5)]);
            }
            text.push_str("\n\n");
        }
        text
    }

    fn path(&mut self) -> String {
        let folder = ["", "docs/", "docs/deep/", "src/"][self.below(4)];
        let ending = ["md", "txt", "rs", "csv"][self.below(4)];
        format!("{folder}{}.{ending}", self.below(5))
    }
}

/// What a file shall hold: text and tags by path.
type Content = BTreeMap<String, (String, Vec<&'static str>)>;

fn writer(path: &Path) -> KbWriter {
    KbWriter::open_or_create(path).expect("writer")
}

/// Changes a file at random, in commits of random size; returns what it holds in the end.
fn with_history(path: &Path, seed: u64, changes: usize) -> Content {
    let mut numbers = Random(seed);
    let mut content = Content::new();
    let mut kb = writer(path);
    for _ in 0..changes {
        let name = numbers.path();
        let known = content
            .keys()
            .nth(numbers.below(content.len().max(1)))
            .cloned();
        match (numbers.below(8), known) {
            (0, Some(known)) => {
                kb.remove(&known).expect("removed");
                content.remove(&known);
            }
            // It comes back with other content and without its tags.
            (1, Some(known)) => {
                kb.remove(&known).expect("removed");
                let text = numbers.text();
                kb.add_bytes(&known, text.as_bytes()).expect("added");
                content.insert(known, (text, Vec::new()));
            }
            (2 | 3, Some(known)) => {
                let tag = TAGS[numbers.below(TAGS.len())];
                let (_, tags) = content.get_mut(&known).expect("it is known");
                if tags.contains(&tag) {
                    kb.tag(&known, &[], &[tag]).expect("tagged");
                    tags.retain(|other| *other != tag);
                } else {
                    kb.tag(&known, &[tag], &[]).expect("tagged");
                    tags.push(tag);
                }
            }
            _ => {
                let text = numbers.text();
                let had = kb.replace_bytes(&name, text.as_bytes()).expect("put");
                assert_eq!(had, content.contains_key(&name));
                content.entry(name).or_default().0 = text;
            }
        }
        if numbers.below(4) == 0 {
            kb.commit().expect("commit");
        }
        if numbers.below(10) == 0 {
            kb.commit().expect("commit");
            kb.abandon();
            kb = writer(path);
        }
    }
    kb.commit().expect("commit");
    content
}

/// A file of this content, made at once.
fn fresh(path: &Path, content: &Content) {
    let mut kb = writer(path);
    for (name, (text, tags)) in content.iter().rev() {
        kb.add_bytes(name, text.as_bytes()).expect("added");
        kb.tag(name, tags, &[]).expect("tagged");
    }
    kb.commit().expect("commit");
}

/// A file of this content, indexed from a folder with so many threads.
fn indexed(path: &Path, content: &Content, threads: usize) {
    let sources = path.with_extension("sources");
    for (name, (text, _)) in content {
        let file = sources.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("file");
    }
    let mut kb = writer(path);
    let options = IndexOptions::new().threads(threads);
    kb.index(&[sources], &options, &mut Progress::ignore)
        .expect("indexed");
    for (name, (_, tags)) in content {
        kb.tag(name, tags, &[]).expect("tagged");
    }
    kb.commit().expect("commit");
}

fn seal(path: &Path, output: Option<&Path>) -> SealReport {
    writer(path)
        .seal(output, &SealOptions::new(), &mut Progress::ignore)
        .expect("sealed")
}

fn root_of(path: &Path) -> Option<String> {
    let kb = Kb::open(path).expect("it opens");
    kb.info().expect("info").content_root
}

/// Everything that a file answers but times, its size and its identity.
fn answers(path: &Path) -> Vec<String> {
    let kb = Kb::open(path).expect("it opens");
    let mut answers = Vec::new();
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        let listed: Option<&String> = Option::as_ref(&folder);
        for entry in kb
            .list(
                listed.map(String::as_str),
                &kb_engine::PageOptions::default(),
            )
            .expect("a list")
        {
            match entry {
                Entry::Folder { path, .. } => folders.push(Some(path)),
                Entry::Document(mut document) => {
                    (document.modified_ms, document.added_ms) = (0, 0);
                    // It is another one for each time of modification.
                    document.revision.clear();
                    let name = &document.path;
                    let text = kb.text(name, None).expect("text").text;
                    let chunks = kb.chunk_spans(name).expect("chunks");
                    let outline = kb.outline(name).expect("outline").headings;
                    let handle = kb.document(&document.handle).expect("by handle");
                    assert_eq!(&handle.path, name);
                    answers.push(format!("{document:?} {text:?} {chunks:?} {outline:?}"));
                }
            }
        }
    }
    for query in [
        "fog horn",
        "water level parse_header",
        "\u{706f}\u{53f0} part 1",
    ] {
        for mode in Mode::RANKED {
            let request = Request::new(query).mode(mode).k(50);
            let mut response = kb.search(&request).expect("an answer");
            for hit in &mut response.hits.items {
                // When a document was added is the moment of the test.
                hit.modified_ms = 0;
            }
            answers.push(format!("{query} {mode:?} {:?}", response.hits));
        }
    }
    answers
}

#[track_caller]
fn assert_sealed(path: &Path) {
    let kb = Kb::open(path).expect("it opens");
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("a report");
    assert_eq!(report.problems, [""; 0]);
    assert!(report.content_root.is_some());
    let info = kb.info().expect("info");
    assert!(info.segments <= 1 && info.deleted_chunks == 0, "{info:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12,
        failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sealing_does_not_depend_on_history(
        seed in any::<u64>(), changes in 1usize..60,
    ) {
        let folder = tempfile::tempdir().expect("folder");
        let place = |name: &str| folder.path().join(name);
        let content = with_history(&place("history.kb"), seed, changes);
        fresh(&place("fresh.kb"), &content);
        let mut files = vec![place("history.kb"), place("fresh.kb")];
        if !content.is_empty() {
            for threads in [1, 4] {
                files.push(place(&format!("{threads}.kb")));
                indexed(&files[files.len() - 1], &content, threads);
            }
        }
        let mut first: Option<(String, Vec<String>)> = None;
        for file in &files {
            prop_assert_eq!(root_of(file), None);
            let report = seal(file, None);
            prop_assert_eq!(report.documents, content.len() as u64);
            prop_assert_eq!(root_of(file), Some(report.content_root.clone()));
            assert_sealed(file);
            let told = (report.content_root, answers(file));
            let right = first.get_or_insert_with(|| told.clone());
            prop_assert_eq!(&told.0, &right.0, "{}", file.display());
            prop_assert_eq!(&told.1, &right.1, "{}", file.display());
        }
        let (root, _) = first.expect("a file");
        // Again, and after another document came and went.
        prop_assert_eq!(&seal(&files[0], None).content_root, &root);
        let mut kb = writer(&files[0]);
        kb.add_bytes("guest.txt", b"for a while").expect("added");
        kb.commit().expect("commit");
        prop_assert_eq!(root_of(&files[0]), None);
        prop_assert_ne!(&kb.seal(None, &SealOptions::new(), &mut Progress::ignore).expect("sealed").content_root, &root);
        kb.remove("guest.txt").expect("removed");
        prop_assert_eq!(&kb.seal(None, &SealOptions::new(), &mut Progress::ignore).expect("sealed").content_root, &root);
        assert_sealed(&files[0]);
    }
}

type Change<'c> = &'c dyn Fn(&mut Content);

#[test]
fn every_part_of_a_document_is_in_the_content_root() {
    let folder = tempfile::tempdir().expect("folder");
    let content = Content::from([
        (
            "a.md".to_owned(),
            ("# Lamp\n\nfog\n".to_owned(), vec!["sea"]),
        ),
        ("b.md".to_owned(), ("# Horn\n\ntide\n".to_owned(), vec![])),
    ]);
    let root = |name: &str, change: Change<'_>| {
        let path = folder.path().join(name);
        let mut content = content.clone();
        change(&mut content);
        fresh(&path, &content);
        seal(&path, None).content_root
    };
    let as_it_is = root("0.kb", &|_| ());
    let set = |content: &mut Content, text: &str| {
        content.insert("a.md".to_owned(), (text.to_owned(), vec!["sea"]));
    };
    let changes: [(&str, Change<'_>); 6] = [
        ("1.kb", &|content| set(content, "# Lamp\n\nfop\n")),
        ("2.kb", &|content| set(content, "# Lamp\r\n\r\nfog\r\n")),
        ("3.kb", &|content| set(content, "# Lens\n\nfog\n")),
        ("4.kb", &|content| {
            content.get_mut("b.md").expect("b").1.push("old");
        }),
        ("5.kb", &|content| {
            let moved = content.remove("b.md").expect("b");
            content.insert("c.md".to_owned(), moved);
        }),
        ("6.kb", &|content| {
            content.remove("b.md");
        }),
    ];
    for (name, change) in changes {
        assert_ne!(root(name, change), as_it_is, "{name}");
    }
}

/// A folder with the corpus in `harbour/` and a file that is no text, indexed.
fn harbour() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("folder");
    let sources = folder.path().join("harbour");
    for (name, text) in CORPUS {
        let file = sources.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("file");
    }
    std::fs::write(sources.join("logo.dat"), b"\0\x01\x02\0\xff\xfe").expect("file");
    let path = folder.path().join("harbour.kb");
    index(&path, &sources);
    (folder, path, sources)
}

fn index(path: &Path, sources: &Path) -> kb_engine::Report {
    let options = IndexOptions::default();
    let report = writer(path).index(&[sources.to_path_buf()], &options, &mut Progress::ignore);
    report.expect("indexed")
}

#[test]
fn a_sealed_file_has_no_absolute_path_and_is_updated_again() {
    let (_folder, path, sources) = harbour();
    let unsealed = answers(&path);
    seal(&path, None);
    assert_sealed(&path);
    assert_eq!(answers(&path), unsealed);
    let roots = Kb::open(&path)
        .expect("it opens")
        .info()
        .expect("info")
        .roots;
    let names: Vec<&str> = roots.iter().map(|root| root.source.as_str()).collect();
    assert_eq!(names, ["harbour"]);
    let bytes = std::fs::read(&path).expect("bytes");
    let place = sources
        .parent()
        .expect("a folder")
        .to_string_lossy()
        .into_owned();
    let says_place = bytes
        .windows(place.len())
        .any(|part| part == place.as_bytes());
    assert!(!says_place, "{place}");
    let report = index(&path, &sources);
    let changed = [report.added, report.updated, report.removed].concat();
    assert_eq!(changed, [""; 0]);
    assert_eq!(report.documents, CORPUS.len() as u64);
    let info = Kb::open(&path).expect("it opens").info().expect("info");
    assert_eq!((info.roots.len(), info.documents), (1, CORPUS.len() as u64));
    assert!(
        info.content_root.is_some(),
        "nothing changed, and it is unsealed"
    );
    assert_eq!(std::fs::read(&path).expect("bytes"), bytes);
    let problems = Kb::open(&path)
        .expect("it opens")
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore);
    assert_eq!(problems.expect("a report").problems, [""; 0]);
}

#[test]
fn sealing_to_another_file_leaves_the_source_as_it_is() {
    let (folder, path, _) = harbour();
    let before = std::fs::read(&path).expect("bytes");
    let output = folder.path().join("shipped.kb");
    let report = seal(&path, Some(&output));
    assert_eq!(report.path, output);
    assert_eq!(std::fs::read(&path).expect("bytes"), before);
    assert_eq!(root_of(&path), None);
    assert_sealed(&output);
    assert_eq!(answers(&output), answers(&path));
    assert_eq!(seal(&path, None).content_root, report.content_root);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("folder").collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn readers_see_a_file_sealed_in_place() {
    let (_folder, path, _) = harbour();
    let kb = Kb::open(&path).expect("it opens");
    let request = Request::new("polish the lens");
    let before = kb.search(&request).expect("an answer").hits;
    assert_eq!(kb.info().expect("info").content_root, None);
    let report = seal(&path, None);
    let info = kb.info().expect("info");
    assert_eq!(info.content_root, Some(report.content_root));
    assert_eq!(kb.search(&request).expect("an answer").hits, before);
    let verified = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("a report");
    assert_eq!(verified.problems, [""; 0]);
    assert_eq!(verified.content_root, info.content_root);
}
