//! A .kb that is moved, removed or replaced while a writer has it open: the writer says so, the file
//! that it had open keeps its last commit, and what is at the path now is not touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kb_engine::testing::container::faults::{Observer, Op, observed};
use kb_engine::{IndexOptions, Kb, KbWriter, Progress, Result, SealOptions, VerifyOptions};
use tempfile::TempDir;

use crate::support::memory_folder;

/// What happens to the path of an open .kb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// The file gets another name.
    Away,
    /// The file loses its only name.
    Removed,
    /// It gets another name, and a .kb that somebody made elsewhere takes its own.
    ByKb,
    /// The same with a file that is no .kb.
    ByJunk,
    /// The same with a folder.
    ByFolder,
}

const MOVES: [Move; 5] = [
    Move::Away,
    Move::Removed,
    Move::ByKb,
    Move::ByJunk,
    Move::ByFolder,
];

/// A folder with `a.kb`, and `other.kb` that may take its place.
struct Place {
    folder: TempDir,
}

impl Place {
    /// `a.kb` has `old0.txt` and so on, each in a segment of its own.
    fn new(segments: usize) -> Place {
        let place = Place {
            folder: memory_folder(),
        };
        for number in 0..segments {
            add(&mut place.writer(), &format!("old{number}.txt")).expect("a commit");
        }
        let mut other = KbWriter::open_or_create(place.at("other.kb")).expect("writer");
        add(&mut other, "other.txt").expect("a commit");
        drop(other);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn writer(&self) -> KbWriter {
        KbWriter::open_or_create(self.at("a.kb")).expect("writer")
    }

    fn apply(&self, what: Move) {
        apply(self.folder.path(), what);
    }

    /// A document of that name, which was added after the move, is in what is at the path; a new file has it alone.
    #[track_caller]
    fn check_addition(&self, what: Move, added: Result<()>, name: &str) {
        match what {
            Move::Away | Move::Removed => {
                added.expect("a new file");
                assert_eq!(documents(&self.at("a.kb")), [name]);
            }
            Move::ByKb => {
                added.expect("a change of the other file");
                assert_eq!(documents(&self.at("a.kb")), [name, "other.txt"]);
            }
            Move::ByJunk | Move::ByFolder => {
                assert_eq!(added.expect_err("no .kb").code(), "NOT_A_KB");
                self.check_replacement(what);
            }
        }
    }

    /// What was put at the path is there as it was put.
    #[track_caller]
    fn check_replacement(&self, what: Move) {
        let path = self.at("a.kb");
        match what {
            Move::Away | Move::Removed => assert!(!path.exists(), "{what:?}"),
            Move::ByKb => {
                let same = fs::read(&path).expect("bytes") == fs::read(self.at("copy.kb")).unwrap();
                assert!(same, "the other .kb was changed");
                assert_eq!(documents(&path), ["other.txt"]);
            }
            Move::ByJunk => assert_eq!(fs::read(&path).expect("bytes"), b"dear diary"),
            Move::ByFolder => assert!(path.is_dir()),
        }
    }
}

fn apply(folder: &Path, what: Move) {
    let (path, moved) = (folder.join("a.kb"), folder.join("moved.kb"));
    match what {
        Move::Removed => return fs::remove_file(&path).expect("removed"),
        _ => fs::rename(&path, &moved).expect("renamed"),
    }
    match what {
        Move::Away | Move::Removed => {}
        Move::ByKb => {
            fs::copy(folder.join("other.kb"), folder.join("copy.kb")).expect("copied");
            fs::rename(folder.join("other.kb"), &path).expect("renamed");
        }
        Move::ByJunk => fs::write(&path, b"dear diary").expect("written"),
        Move::ByFolder => fs::create_dir(&path).expect("made"),
    }
}

fn add(writer: &mut KbWriter, name: &str) -> Result<()> {
    writer.add_bytes(name, format!("the text of {name}").as_bytes())?;
    writer.commit()
}

/// Paths of all documents of a file that verifies.
#[track_caller]
fn documents(path: &Path) -> Vec<String> {
    let kb = Kb::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .expect("a report");
    assert!(report.problems.is_empty(), "{report:#?}");
    let entries = kb
        .list(None, &kb_engine::PageOptions::default())
        .expect("a list");
    let paths = entries.into_iter().map(|entry| match entry {
        kb_engine::Entry::Document(document) => document.path,
        kb_engine::Entry::Folder { path, .. } => path,
    });
    paths.collect()
}

#[test]
fn a_commit_after_a_move_is_refused_and_changes_nothing() {
    for what in MOVES {
        let place = Place::new(1);
        let mut writer = place.writer();
        writer.add_bytes("new.txt", b"new").expect("added");
        place.apply(what);
        let error = writer.commit().expect_err("a commit that nobody finds");
        assert_eq!(error.code(), "FILE_REPLACED", "{what:?}: {error}");
        assert!(error.to_string().contains("a.kb"), "{error}");
        place.check_replacement(what);
        if what != Move::Removed {
            assert_eq!(documents(&place.at("moved.kb")), ["old0.txt"], "{what:?}");
        }
        // The writer goes on with what is at the path, without the lost change.
        let again = add(&mut writer, "again.txt");
        drop(writer);
        place.check_addition(what, again, "again.txt");
    }
}

#[test]
fn every_call_of_a_writer_whose_file_moved_is_refused() {
    type Call = fn(&mut KbWriter) -> Result<()>;
    let calls: [(&str, Call); 7] = [
        ("add", |writer| writer.add_bytes("b.txt", b"b")),
        ("remove", |writer| writer.remove("old0.txt").map(|_| ())),
        ("tag", |writer| {
            writer.tag("old0.txt", &["x"], &[]).map(|_| ())
        }),
        ("commit", KbWriter::commit),
        ("seal", |writer| {
            writer
                .seal(None, &SealOptions::new(), &mut Progress::ignore)
                .map(|_| ())
        }),
        ("clear", |writer| writer.clear().map(|_| ())),
        ("index", |writer| {
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/corpus");
            let options = IndexOptions::new().rebuild(true);
            writer
                .index(&[sources], &options, &mut Progress::ignore)
                .map(|_| ())
        }),
    ];
    for (name, call) in calls {
        for what in [Move::Away, Move::ByKb, Move::ByJunk] {
            let place = Place::new(1);
            let mut writer = place.writer();
            writer.add_bytes("new.txt", b"new").expect("added");
            place.apply(what);
            let error = call(&mut writer).expect_err(name);
            assert_eq!(error.code(), "FILE_REPLACED", "{name}, {what:?}: {error}");
            drop(writer);
            place.check_replacement(what);
            assert_eq!(documents(&place.at("moved.kb")), ["old0.txt"], "{name}");
        }
    }
}

#[test]
fn a_writer_that_waits_for_nothing_follows_the_path() {
    for what in MOVES {
        let place = Place::new(1);
        // Nothing is open before the first change.
        let mut writer = place.writer();
        place.apply(what);
        let added = add(&mut writer, "new.txt");
        drop(writer);
        place.check_addition(what, added, "new.txt");
    }
}

#[test]
fn an_index_run_after_a_move_is_refused_and_the_next_succeeds() {
    for what in [Move::Away, Move::ByKb] {
        let place = Place::new(0);
        fs::create_dir(place.at("sources")).expect("folder");
        fs::write(place.at("sources/one.txt"), "one").expect("file");
        let mut writer = place.writer();
        let sources = [place.at("sources")];
        let mut index = || writer.index(&sources, &IndexOptions::default(), &mut Progress::ignore);
        index().expect("the file is made");
        // A change, after which the writer has the file open.
        fs::write(place.at("sources/two.txt"), "two").expect("file");
        index().expect("the file is changed");
        fs::write(place.at("sources/three.txt"), "three").expect("file");
        place.apply(what);
        let error = index().expect_err("a commit that nobody finds");
        assert_eq!(error.code(), "FILE_REPLACED", "{what:?}: {error}");
        place.check_replacement(what);
        assert_eq!(documents(&place.at("moved.kb")), ["one.txt", "two.txt"]);
        let report = index().expect("what is there is brought up to date");
        assert_eq!(report.added.len(), 3);
    }
}

/// Does something to the folder before one of the changes that a writer makes on disk, but for the
/// renaming of a new file: between the last look at a name and its renaming nobody can look.
struct Before<F> {
    nth: usize,
    action: F,
    heard: Mutex<usize>,
}

impl<F: Fn()> Before<F> {
    fn new(nth: usize, action: F) -> Arc<Before<F>> {
        let heard = Mutex::default();
        Arc::new(Before { nth, action, heard })
    }

    fn came(&self) -> bool {
        *self.heard.lock().expect("lock") >= self.nth
    }
}

impl<F: Fn() + Send + Sync> Observer for Before<F> {
    fn before(&self, op: &Op<'_>) -> io::Result<()> {
        if matches!(op, Op::Rename { .. } | Op::SyncFolder { .. }) {
            return Ok(());
        }
        let mut heard = self.heard.lock().expect("lock");
        *heard += 1;
        if *heard == self.nth {
            (self.action)();
        }
        Ok(())
    }
}

#[test]
fn a_move_at_any_moment_of_a_commit_or_merge_loses_nothing() {
    // The eighth small segment begins a merge.
    let old: Vec<String> = (0..7).map(|number| format!("old{number}.txt")).collect();
    let mut outcomes = [0, 0];
    for what in [Move::Away, Move::ByKb, Move::ByFolder] {
        for nth in (1..).step_by(2) {
            let place = Place::new(7);
            let folder = place.folder.path().to_owned();
            let mover = Before::new(nth, move || apply(&folder, what));
            let observer: Arc<dyn Observer> = Arc::clone(&mover) as _;
            let added = observed(observer, || {
                let mut writer = place.writer();
                add(&mut writer, "new.txt")
            });
            if !mover.came() {
                added.expect("nothing was moved");
                assert!(nth > 30, "{nth}");
                break;
            }
            let at = format!("{what:?} before change {nth}: {added:?}");
            place.check_replacement(what);
            let found = documents(&place.at("moved.kb"));
            match added {
                // Acknowledged before the move, or while it happened.
                Ok(()) => {
                    assert_eq!(found.len(), 8, "{at}");
                    outcomes[0] += 1;
                }
                Err(error) => {
                    assert_eq!(error.code(), "FILE_REPLACED", "{at}");
                    assert_eq!(found, old, "{at}");
                    outcomes[1] += 1;
                }
            }
        }
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 5, "{outcomes:?}");
}

#[test]
fn a_file_that_replaces_the_target_during_a_build_is_kept() {
    for what in MOVES {
        // The first three changes make the new file; then the old one is locked.
        for nth in (4..).step_by(3) {
            let place = Place::new(1);
            let folder = place.folder.path().to_owned();
            let mover = Before::new(nth, move || apply(&folder, what));
            let observer: Arc<dyn Observer> = Arc::clone(&mover) as _;
            let sealed = observed(observer, || {
                place
                    .writer()
                    .seal(None, &SealOptions::new(), &mut Progress::ignore)
                    .map(|_| ())
            });
            if !mover.came() {
                assert!(sealed.is_ok() && nth > 10, "{what:?} {nth}: {sealed:?}");
                break;
            }
            assert!(sealed.is_err(), "{what:?} {nth}");
            place.check_replacement(what);
            if what != Move::Removed {
                assert_eq!(documents(&place.at("moved.kb")), ["old0.txt"], "{nth}");
            }
            assert!(!place.at(".a.kb.tmp").exists(), "{what:?} {nth}");
        }
    }
}

#[test]
fn a_foreign_file_of_the_temporary_name_is_never_renamed() {
    for nth in (2..).step_by(3) {
        let place = Place::new(1);
        let temporary = place.at(".a.kb.tmp");
        let aside = place.at("aside");
        let mover = Before::new(nth, {
            let temporary = temporary.clone();
            move || {
                if fs::rename(&temporary, &aside).is_ok() {
                    fs::write(&temporary, b"dear diary").expect("written");
                }
            }
        });
        let observer: Arc<dyn Observer> = Arc::clone(&mover) as _;
        let sealed = observed(observer, || {
            place
                .writer()
                .seal(None, &SealOptions::new(), &mut Progress::ignore)
                .map(|_| ())
        });
        if !mover.came() {
            assert!(sealed.is_ok() && nth > 10, "{nth}: {sealed:?}");
            break;
        }
        assert!(sealed.is_err(), "{nth}");
        assert_eq!(documents(&place.at("a.kb")), ["old0.txt"], "{nth}");
        assert_eq!(fs::read(&temporary).expect("kept"), b"dear diary", "{nth}");
    }
}

#[test]
fn a_link_to_another_file_is_a_move_and_a_hard_link_is_none() {
    let place = Place::new(1);
    let link = place.at("link.kb");
    std::os::unix::fs::symlink(place.at("a.kb"), &link).expect("link");
    let mut writer = KbWriter::open_or_create(&link).expect("writer");
    add(&mut writer, "new.txt").expect("through the link");
    // Another name of the same file comes and goes.
    fs::hard_link(place.at("a.kb"), place.at("second.kb")).expect("a name");
    add(&mut writer, "newer.txt").expect("still the same file");
    fs::remove_file(place.at("second.kb")).expect("removed");
    add(&mut writer, "newest.txt").expect("still the same file");
    writer.add_bytes("lost.txt", b"lost").expect("added");
    fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink(place.at("other.kb"), &link).expect("link");
    let error = writer.commit().expect_err("the path means another file");
    assert_eq!(error.code(), "FILE_REPLACED", "{error}");
    assert_eq!(documents(&place.at("other.kb")), ["other.txt"]);
    assert_eq!(documents(&place.at("a.kb")).len(), 4);
}

/// What changes a file again and again must not make one where its file was moved away.
#[test]
fn a_writer_of_a_file_that_is_there_never_makes_one() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, notes) = (folder.path().join("a.kb"), folder.path().join("notes"));
    let missing = KbWriter::open(&path).expect_err("nothing is there");
    assert_eq!(missing.code(), "PATH_NOT_FOUND");
    std::fs::create_dir(&notes).expect("notes");
    std::fs::write(notes.join("a.md"), "# A\n").expect("file");
    let made = KbWriter::open_or_create(&path).and_then(|mut writer| writer.commit());
    made.expect("made");
    let mut indexing = KbWriter::open(&path).expect("there");
    let mut adding = KbWriter::open(&path).expect("there");
    std::fs::remove_file(&path).expect("removed");
    let options = IndexOptions::default();
    let told = indexing.index(&[notes], &options, &mut Progress::ignore);
    assert_eq!(told.expect_err("gone").code(), "FILE_REPLACED");
    let told = adding
        .add_bytes("b.md", b"# B")
        .and_then(|()| adding.commit());
    assert_eq!(told.expect_err("gone").code(), "FILE_REPLACED");
    assert!(!path.exists());
}
