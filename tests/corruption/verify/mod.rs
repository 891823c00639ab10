//! `verify`: an intact file passes, and every wrong value is named.

mod changes;
mod flips;
mod lies;
mod lies_of_indexes;
mod lies_of_parts;
mod lies_of_symbols;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kb_engine::{IndexOptions, Kb, KbWriter, Progress, SealOptions, VerifyOptions, VerifyReport};
use tempfile::TempDir;

use crate::format::golden::golden_bytes;
use crate::support::{CORPUS, parts};

/// A file with a history: a folder with a file that is no text, three more commits, documents that
/// went or changed, tags, an empty document, headings behind characters of several bytes.
struct Sample {
    _folder: TempDir,
    path: PathBuf,
}

impl Sample {
    fn new() -> Sample {
        let folder = tempfile::tempdir().expect("folder");
        let sources = folder.path().join("harbour");
        for (name, text) in CORPUS {
            let file = sources.join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            std::fs::write(file, text).expect("file");
        }
        let log: String = (0..60).map(|day| paragraph(day, "log")).collect();
        std::fs::write(sources.join("log.md"), log).expect("file");
        std::fs::write(sources.join("empty.txt"), "").expect("file");
        std::fs::write(sources.join("logo.dat"), b"\0\x01\x02\0\xff\xfe").expect("file");
        let path = folder.path().join("sample.kb");
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        let options = IndexOptions::default();
        let report = writer.index(&[sources], &options, &mut Progress::ignore);
        assert_eq!(report.expect("indexed").skipped.len(), 1);
        for document in [parts::ledger(), parts::pilot_book(), parts::talk()] {
            writer.add(document).expect("added");
        }
        writer.commit().expect("commit");
        for part in 0..3u32 {
            for number in 0..6u32 {
                let text: String = (0..1 + number).map(|day| paragraph(day, "note")).collect();
                let name = format!("notes/{}.md", part + 3 * number);
                writer.add_bytes(&name, text.as_bytes()).expect("added");
            }
            writer.commit().expect("commit");
        }
        for (name, tags) in [
            ("notes/0.md", ["sea", "old"]),
            ("notes.txt", ["sea", "new"]),
        ] {
            writer.tag(name, &tags, &[]).expect("tagged");
        }
        writer.remove("notes/4.md").expect("removed");
        writer.remove("src/buoy.py").expect("removed");
        let changed = kb_engine::document_of("notes/7.md", b"# Changed\n\nfog\n").expect("text");
        assert!(writer.replace(changed).expect("replaced"));
        writer.commit().expect("commit");
        Sample {
            _folder: folder,
            path,
        }
    }

    fn sealed() -> Sample {
        let sample = Sample::new();
        let mut writer = KbWriter::open_or_create(&sample.path).expect("writer");
        writer
            .seal(None, &SealOptions::new(), &mut Progress::ignore)
            .expect("sealed");
        sample
    }
}

fn paragraph(day: u32, word: &str) -> String {
    format!(
        "## \u{706f}\u{53f0} {word} {day}\n\nDay {day}: the keeper of the gr\u{fc}ne lamp wrote \
         parse_header_{day} and watched the fog for {} hours.\n\n",
        day * 7 % 13
    )
}

/// The bytes of the sample, made once.
fn sample_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| std::fs::read(Sample::new().path).expect("bytes"))
}

fn sealed_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| std::fs::read(Sample::sealed().path).expect("bytes"))
}

fn verify(kb: &Kb, deep: bool) -> VerifyReport {
    kb.verify(&VerifyOptions::new().deep(deep), &mut Progress::ignore)
        .expect("a report")
}

#[track_caller]
fn assert_clean(path: &Path) -> VerifyReport {
    let kb = Kb::open(path).expect("it opens");
    assert_eq!(verify(&kb, false).problems, [""; 0]);
    let report = verify(&kb, true);
    assert_eq!(report.problems, [""; 0]);
    let info = kb.info().expect("info");
    assert_eq!(
        (report.documents, report.chunks),
        (info.documents, info.chunks)
    );
    assert_eq!(report.content_root, info.content_root);
    report
}

#[test]
fn a_file_with_a_history_passes_and_its_sealed_form_too() {
    let sample = Sample::new();
    let report = assert_clean(&sample.path);
    let info = Kb::open(&sample.path).expect("it opens").info();
    let info = info.expect("info");
    assert!(info.segments >= 4 && info.deleted_chunks > 0, "{info:?}");
    assert!(report.deep && report.pages > 0 && report.extents >= 6 * info.segments);
    assert!(report.bytes > 0 && report.bytes <= info.file_bytes);
    let mut writer = KbWriter::open_or_create(&sample.path).expect("writer");
    writer
        .seal(None, &SealOptions::new(), &mut Progress::ignore)
        .expect("sealed");
    let report = assert_clean(&sample.path);
    assert!(report.content_root.is_some());
}

#[test]
fn a_file_passes_after_every_one_of_many_commits_and_merges() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("many.kb");
    let mut segments = 0;
    let mut was_merged = false;
    for commit in 0..20u32 {
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        let text = paragraph(commit, "commit").repeat(1 + commit as usize % 4);
        let name = format!("{}/{commit}.md", commit % 3);
        writer.add_bytes(&name, text.as_bytes()).expect("added");
        writer
            .tag(&name, &["all", ["even", "odd"][commit as usize % 2]], &[])
            .expect("tag");
        if commit % 5 == 4 {
            writer
                .remove(&format!("{}/{}.md", (commit - 2) % 3, commit - 2))
                .expect("removed");
            let other = format!("{}/{}.md", (commit - 3) % 3, commit - 3);
            writer.tag(&other, &["changed"], &["all"]).expect("tag");
        }
        writer.commit().expect("commit");
        assert_clean(&path);
        let now = Kb::open(&path)
            .expect("it opens")
            .info()
            .expect("info")
            .segments;
        was_merged |= now < segments;
        segments = now;
    }
    assert!(was_merged);
}

#[test]
fn files_without_text_and_the_golden_file_pass() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("empty.kb");
    KbWriter::open_or_create(&path)
        .expect("writer")
        .commit()
        .expect("commit");
    assert_clean(&path);
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer.add_bytes("nothing.txt", b"").expect("added");
    writer.commit().expect("commit");
    assert_clean(&path);
    writer
        .seal(None, &SealOptions::new(), &mut Progress::ignore)
        .expect("sealed");
    assert_clean(&path);
    let golden = Kb::from_bytes(golden_bytes()).expect("it opens");
    assert_eq!(verify(&golden, true).problems, [""; 0]);
}

#[test]
fn progress_grows_to_all_that_there_is() {
    let kb = Kb::from_bytes(sample_bytes()).expect("it opens");
    for deep in [false, true] {
        let mut heard = Vec::new();
        let options = VerifyOptions::new().deep(deep);
        kb.verify(&options, &mut |progress| {
            heard.push((progress.bytes_done, progress.bytes_total));
            ControlFlow::Continue(())
        })
        .expect("a report");
        assert!(heard.len() > 10 && heard.is_sorted(), "{heard:?}");
        let (done, all) = heard.last().expect("the end");
        assert_eq!(done, all);
        assert!(heard.iter().all(|(_, of)| of == all));
    }
}
