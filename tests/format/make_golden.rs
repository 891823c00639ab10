//! How the golden file of this format was made: three commits, so that it has two segments, deleted
//! chunks, tags, pages of an older commit and a file that was changed in place; with documents of sheets, pages and
//! slides, and a segment of more than 1 MiB of text, which has trigrams.
//!
//! `cargo test -p kb-cli --test tests make_golden -- --ignored` writes `golden/v<format>/golden.kb` and the
//! answers of this program into `golden/expected.json`. A golden file that is
//! there is never made again in place: files of that format are out in the world. A new format gets
//! a folder of its own, and the old ones stay beside it for as long as they are readable.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use kb_engine::{
    FORMAT_VERSION, IndexOptions, Kb, KbWriter, Metric, NewVectors, Progress, VectorTarget,
    document_of,
};
use serde_json::{Value, json};

use crate::format::golden::{
    WITH_GROUPS, WITH_LISTS, answers, golden_folder, golden_vector, table,
};
use crate::format::golden_fields::WITH_FIELDS;
use crate::support::parts;
use crate::support::registers::registers;

/// Added by name in the second commit; everything else is indexed in the first.
const ADDED: [&str; 2] = ["notes.txt", "docs/install.rst"];

/// What all files of the corpus have as their time: 2024-03-01.
const MODIFIED_SECONDS: u64 = 1_709_251_200;

/// Documents that bring the second commit over 1 MiB of text.
const TABLES: u32 = 8;

fn copy_corpus(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("folder");
    for entry in std::fs::read_dir(from).expect("folder") {
        let entry = entry.expect("entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_corpus(&from, &to);
            continue;
        }
        if ADDED.iter().any(|name| from.ends_with(name)) {
            continue;
        }
        std::fs::copy(&from, &to).expect("file");
        let modified = UNIX_EPOCH + Duration::from_secs(MODIFIED_SECONDS);
        let file = File::options().append(true).open(&to).expect("file");
        file.set_modified(modified).expect("time");
    }
}

#[test]
#[ignore = "makes the golden file of a new format"]
fn make_golden() {
    let (major, minor) = FORMAT_VERSION;
    let name = format!("v{major}.{minor}/golden.kb");
    let path = golden_folder().join(&name);
    assert!(!path.exists(), "{name} is there; it is never made again");
    let corpus = golden_folder().join("corpus");
    // The path of the sources is stored: one that tells nothing of this machine.
    let sources = Path::new("/tmp/kb-golden/corpus");
    copy_corpus(&corpus, sources);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer
        .index(
            &[sources.to_owned()],
            &IndexOptions::default(),
            &mut Progress::ignore,
        )
        .expect("first commit");
    drop(writer);
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    for name in ADDED {
        let bytes = std::fs::read(corpus.join(name)).expect("file");
        writer.add_bytes(name, &bytes).expect("added");
    }
    for document in [parts::ledger(), parts::pilot_book(), parts::talk()] {
        writer.add(document).expect("added");
    }
    for number in 0..TABLES {
        let path = format!("tables/{number:02}.txt");
        let mut table = document_of(&path, table(number).as_bytes()).expect("a document");
        table.path = path;
        // One chunk each: what counts is their text, and a golden file is small.
        writer.add_unchunked(table).expect("added");
    }
    let scratch = "Nothing of this is to be found: a scratch document of fog and foghorns.";
    writer
        .add_bytes("scratch.txt", scratch.as_bytes())
        .expect("added");
    writer.commit().expect("second commit");
    writer.remove("scratch.txt").expect("removed");
    writer
        .tag("notes.txt", &["keeper", "draft"], &[])
        .expect("tagged");
    writer.commit().expect("third commit");
    drop(writer);
    std::fs::remove_dir_all("/tmp/kb-golden").expect("sources removed");

    write_expected(&name);
}

/// The golden file of this format once more, with inverted lists, a recall that was asked for and two columns of vectors of
/// other models, in one of which some chunks have none: records and columns that this format has without a number of its
/// own. One file more is indexed, because a run that changes nothing makes no lists, and removed again: its chunk stays in them.
#[test]
#[ignore = "makes the golden file with inverted lists"]
fn make_golden_with_lists() {
    let path = golden_folder().join(WITH_LISTS);
    assert!(
        !path.exists(),
        "{WITH_LISTS} is there; it is never made again"
    );
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    std::fs::copy(golden_folder().join("v0.13/golden.kb"), &path).expect("copy");
    let sources = Path::new("/tmp/kb-golden/corpus");
    copy_corpus(&golden_folder().join("corpus"), sources);
    std::fs::write(sources.join("lists.txt"), "Lists\nof what\nis near.\n").expect("file");
    let listed = || {
        let writer = KbWriter::open(&path).expect("writer");
        writer.with_lists_from(1, 1)
    };
    let options = IndexOptions::default().min_recall(Some(0.9));
    listed()
        .index(&[sources.to_owned()], &options, &mut Progress::ignore)
        .expect("lists");
    std::fs::remove_dir_all("/tmp/kb-golden").expect("sources removed");
    let mut writer = listed();
    writer.remove("lists.txt").expect("removed");
    writer.commit().expect("commit");
    drop(writer);
    let chunks = Kb::open(&path)
        .and_then(|kb| kb.chunks_in_order(0, usize::MAX))
        .expect("chunks");
    for (name, metric, left_out) in [
        ("angles", Metric::Cosine, Some(4)),
        ("places", Metric::L2, None),
    ] {
        let mut options = NewVectors::new(name);
        options.metric = metric;
        let rows = (0..).zip(&chunks);
        let rows = rows.filter(|(row, _)| left_out != Some(row % 5));
        let rows = rows.map(|(row, chunk)| {
            let (document, index) = (chunk.document.clone(), chunk.index);
            let target = VectorTarget::Chunk { document, index };
            Ok((target, golden_vector(row)))
        });
        listed()
            .import_vectors(&options, &mut rows.into_iter(), &mut Progress::ignore)
            .expect("import");
    }
    write_expected(WITH_LISTS);
}

/// The golden file of this format once more, with a program whose symbols are in groups, which this format has without a
/// number of its own. Its outline is too long for `expected.json`.
#[test]
#[ignore = "makes the golden file with groups of symbols"]
fn make_golden_with_groups() {
    let path = golden_folder().join(WITH_GROUPS);
    assert!(
        !path.exists(),
        "{WITH_GROUPS} is there; it is never made again"
    );
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    std::fs::copy(golden_folder().join("v0.13/golden.kb"), &path).expect("copy");
    let mut writer = KbWriter::open(&path).expect("writer");
    writer
        .add_bytes("src/registers.py", registers().as_bytes())
        .expect("added");
    writer.commit().expect("commit");
}

/// After a change of the ranking, which changes scores and order, and nothing else: compare the difference.
#[test]
#[ignore = "writes what this program answers from golden files"]
fn answer_golden_again() {
    let (mut names, folder) = (Vec::new(), golden_folder());
    for entry in std::fs::read_dir(&folder).expect("folder") {
        let name = entry.expect("entry").file_name();
        let name = format!("{}/golden.kb", name.to_string_lossy());
        let is_other = [WITH_GROUPS, WITH_FIELDS].contains(&&*name);
        if folder.join(&name).exists() && !is_other {
            names.push(name);
        }
    }
    assert!(!names.is_empty());
    for name in names {
        write_expected(&name);
    }
}

/// Writes what this program answers from a golden file. All files give the same answers, but for facts of the file.
fn write_expected(name: &str) {
    let path = golden_folder().join(name);
    let expected = golden_folder().join("expected.json");
    let mut all: Value = match std::fs::read_to_string(&expected) {
        Ok(text) => serde_json::from_str(&text).expect("JSON"),
        Err(_) => json!({}),
    };
    let mut answers = answers(&Kb::open(&path).expect("it opens"));
    all["info"][name] = answers["info"].take();
    for field in ["documents", "searches", "patterns"] {
        all[field] = answers[field].take();
    }
    let text = serde_json::to_string_pretty(&all).expect("JSON");
    std::fs::write(&expected, text + "\n").expect("written");
}
