use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::ingest::options::IndexOptions;
use crate::ingest::run::SealOptions;
use crate::kb::{Kb, KbWriter, check_hits};
use crate::progress::Progress;
use crate::search::Request;

const NAMES: &[&str] = &["a.md", "b/c.md", "caf\u{e9}.md", "d.md", "e.md"];

/// A folder `src` and the .kb of it.
fn indexed() -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("src");
    fs::create_dir_all(source.join("b")).unwrap();
    for name in NAMES {
        fs::write(source.join(name), format!("the walrus of {name}\n")).unwrap();
    }
    let path = folder.path().join("all.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let options = IndexOptions::new();
    let paths = [source];
    writer
        .index(&paths, &options, &mut Progress::ignore)
        .unwrap();
    writer.add_bytes("upload.md", b"a walrus").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let kb = Kb::open(&path).unwrap();
    (folder, kb)
}

fn states(kb: &Kb, names: &[&str]) -> Vec<SourceState> {
    let check = kb.source_check(names).unwrap();
    check.run_within(Duration::from_secs(60)).unwrap()
}

fn touch(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let later = file.metadata().unwrap().modified().unwrap() + Duration::from_secs(60);
    file.set_modified(later).unwrap();
}

#[test]
fn an_original_is_unchanged_changed_or_deleted() {
    let (folder, kb) = indexed();
    let source = folder.path().join("src");
    assert_eq!(states(&kb, NAMES), [SourceState::Unchanged; 5]);
    // Another size, the same size, another time alone, gone.
    fs::write(source.join("a.md"), "longer than it was before\n").unwrap();
    fs::write(source.join("b/c.md"), "THE WALRUS of b/c.md\n").unwrap();
    touch(&source.join("b/c.md"));
    touch(&source.join("caf\u{e9}.md"));
    fs::remove_file(source.join("d.md")).unwrap();
    let expected = [
        SourceState::Changed,
        SourceState::Changed,
        SourceState::Unchanged,
        SourceState::Deleted,
        SourceState::Unchanged,
    ];
    assert_eq!(states(&kb, NAMES), expected);
    // In the order asked, and again for the same document.
    let asked = ["e.md", "d.md", "e.md"];
    let expected = [
        SourceState::Unchanged,
        SourceState::Deleted,
        SourceState::Unchanged,
    ];
    assert_eq!(states(&kb, &asked), expected);
}

#[test]
fn a_name_in_another_normal_form_is_found() {
    let (folder, kb) = indexed();
    let source = folder.path().join("src");
    fs::rename(source.join("caf\u{e9}.md"), source.join("cafe\u{301}.md")).unwrap();
    assert_eq!(states(&kb, &["caf\u{e9}.md"]), [SourceState::Unchanged]);
    fs::remove_file(source.join("cafe\u{301}.md")).unwrap();
    assert_eq!(states(&kb, &["caf\u{e9}.md"]), [SourceState::Deleted]);
}

#[test]
fn what_cannot_be_compared_is_unknown() {
    let (folder, kb) = indexed();
    let asked = ["upload.md", "none.md", "a.md"];
    let unknown = [SourceState::Unknown; 3];
    assert_eq!(states(&kb, &asked)[..2], unknown[..2]);
    // The folder is not on this machine.
    fs::rename(folder.path().join("src"), folder.path().join("moved")).unwrap();
    assert_eq!(states(&kb, &asked), unknown);
    fs::rename(folder.path().join("moved"), folder.path().join("src")).unwrap();
    // A sealed file has the name of its folder only.
    let sealed = folder.path().join("sealed.kb");
    let mut writer = KbWriter::open_or_create(folder.path().join("all.kb")).unwrap();
    let options = SealOptions::new();
    writer
        .seal(Some(&sealed), &options, &mut Progress::ignore)
        .unwrap();
    assert_eq!(states(&Kb::open(&sealed).unwrap(), &asked), unknown);
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_original_counts_as_deleted() {
    let (folder, kb) = indexed();
    let source = folder.path().join("src");
    fs::remove_file(source.join("a.md")).unwrap();
    std::os::unix::fs::symlink(source.join("e.md"), source.join("a.md")).unwrap();
    assert_eq!(states(&kb, &["a.md"]), [SourceState::Deleted]);
}

#[test]
fn a_file_that_was_named_is_compared_through_links() {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("one.md");
    fs::write(&named, "the walrus\n").unwrap();
    let path = folder.path().join("all.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let options = IndexOptions::new();
    let paths = [named.clone()];
    writer
        .index(&paths, &options, &mut Progress::ignore)
        .unwrap();
    drop(writer);
    let kb = Kb::open(&path).unwrap();
    let document = kb.documents_after(None, 1).unwrap().remove(0).path;
    assert_eq!(states(&kb, &[&document]), [SourceState::Unchanged]);
    fs::write(&named, "a walrus again\n").unwrap();
    assert_eq!(states(&kb, &[&document]), [SourceState::Changed]);
}

#[test]
fn hits_of_several_files_are_told_apart() {
    let (one_folder, one) = indexed();
    let (_other_folder, other) = indexed();
    fs::remove_file(one_folder.path().join("src/a.md")).unwrap();
    let files = [&one, &other];
    let request = Request::new("walrus").k(20);
    let mut hits = crate::kb::search_files(&files, &request)
        .unwrap()
        .hits
        .items;
    assert!(check_hits(&files, &mut hits, Duration::from_secs(60)).unwrap());
    let state = |file, document: &str| {
        let is_it = |hit: &&crate::search::Hit| hit.file == file && hit.document == document;
        hits.iter().find(is_it).unwrap().source_state
    };
    assert_eq!(state(0, "a.md"), SourceState::Deleted);
    assert_eq!(state(1, "a.md"), SourceState::Unchanged);
    assert_eq!(state(0, "upload.md"), SourceState::Unknown);
}

#[test]
fn the_writer_is_known_while_it_has_the_lock() {
    let (folder, kb) = indexed();
    assert_eq!(kb.writer().unwrap(), None);
    let mut writer = KbWriter::open_or_create(folder.path().join("all.kb")).unwrap();
    writer.add_bytes("more.md", b"more").unwrap();
    let found = kb.writer().unwrap().unwrap();
    assert_eq!(found.process_id, std::process::id());
    assert!(found.since_ms > 1_600_000_000_000, "{found:?}");
    drop(writer);
    assert_eq!(kb.writer().unwrap(), None);
}
