//! Crashes and full disks: doubles that carry out or refuse the changes which a writer announces.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fs, io};

use kb_types::error::Result;

use crate::container::layout::table::Key;
use crate::container::read::container::Container;
use crate::container::testing::fixture::{
    build, dump, fill, identity, names, temp_path_in_memory, value,
};
use crate::container::write::observer::{FileId, Observer, Op, observed};
use crate::container::write::writer::ContainerWriter;

/// Carries out on bytes in memory what it hears.
#[derive(Default)]
struct Replay(Mutex<Disk>);

#[derive(Default)]
struct Disk {
    names: HashMap<PathBuf, FileId>,
    files: HashMap<FileId, Vec<u8>>,
    created: Option<PathBuf>,
    operations: usize,
}

impl Observer for Replay {
    fn before(&self, op: &Op<'_>) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.operations += 1;
        match *op {
            Op::Create { path } => disk.created = Some(path.to_owned()),
            Op::SetLen { file, len } => {
                if let Some(path) = disk.created.take() {
                    disk.files.insert(file, Vec::new());
                    disk.names.insert(path, file);
                }
                disk.files.get_mut(&file).unwrap().resize(len as usize, 0);
            }
            Op::Write { file, offset, data } => {
                let bytes = disk.files.get_mut(&file).unwrap();
                let end = offset as usize + data.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[offset as usize..end].copy_from_slice(data);
            }
            Op::Rename { from, to } => {
                let file = disk.names.remove(from).unwrap();
                disk.names.insert(to.to_owned(), file);
            }
            Op::Remove { path } => drop(disk.names.remove(path)),
            Op::SetPermissions { .. } | Op::Sync { .. } | Op::SyncFolder { .. } => {}
        }
        Ok(())
    }
}

/// Refuses the `nth` change, once, and remembers what it was.
struct RefuseNth {
    nth: usize,
    error: i32,
    heard: Mutex<(usize, String)>,
}

impl RefuseNth {
    fn new(nth: usize, error: i32) -> Arc<RefuseNth> {
        let heard = Mutex::default();
        Arc::new(RefuseNth { nth, error, heard })
    }

    /// How many changes there were.
    fn heard(&self) -> usize {
        self.heard.lock().unwrap().0
    }

    fn refused_length(&self) -> bool {
        self.heard.lock().unwrap().1.starts_with("SetLen")
    }

    fn refused_folder_sync(&self) -> bool {
        self.heard.lock().unwrap().1.starts_with("SyncFolder")
    }
}

impl Observer for RefuseNth {
    fn before(&self, op: &Op<'_>) -> io::Result<()> {
        let mut heard = self.heard.lock().unwrap();
        heard.0 += 1;
        if heard.0 != self.nth {
            return Ok(());
        }
        heard.1 = format!("{op:?}");
        heard.1.truncate(200);
        Err(io::Error::from_raw_os_error(self.error))
    }
}

const NO_SPACE: i32 = 28;
const IO_ERROR: i32 = 5;

fn build_new(path: &Path, seed: u64) -> Result<()> {
    let mut writer = ContainerWriter::create(path, &identity())?;
    let mut transaction = writer.begin()?;
    fill(&mut transaction, seed)?;
    transaction.commit()?;
    writer.finish()
}

/// Commits in place; `acknowledged` counts them.
fn change(path: &Path, commits: u64, acknowledged: &mut u64) -> Result<()> {
    let mut writer = ContainerWriter::open(path, &identity())?;
    for commit in 1..=commits {
        let mut transaction = writer.begin()?;
        transaction.delete_table("seg/0000000000000001")?;
        fill(&mut transaction, 100 + commit)?;
        transaction.put("names", Key::Str("commit"), &commit.to_le_bytes())?;
        transaction.commit()?;
        *acknowledged = commit;
    }
    writer.finish()
}

/// A new writer finds nothing in its way.
fn change_again(path: &Path) {
    let mut writer = ContainerWriter::open(path, &identity()).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction
        .put("names", Key::Str("again"), b"alive")
        .unwrap();
    transaction.commit().unwrap();
    writer.finish().unwrap();
    let container = Container::open(path).unwrap();
    let found = value(&container, "names", Key::Str("again"));
    assert_eq!(found.as_deref(), Some(&b"alive"[..]));
    let verified = container.verify(&mut |_| {}).unwrap();
    assert!(
        verified.damage.is_empty() && verified.system_checked,
        "{verified:?}"
    );
}

#[test]
fn what_was_heard_and_carried_out_again_gives_the_same_files() {
    let (folder, path) = temp_path_in_memory();
    let replay = Arc::new(Replay::default());
    observed(Arc::clone(&replay) as Arc<dyn Observer>, || {
        let dropped = ContainerWriter::create(&path, &identity()).unwrap();
        drop(dropped);
        build_new(&path, 1).unwrap();
        let mut acknowledged = 0;
        change(&path, 2, &mut acknowledged).unwrap();
        build_new(&folder.path().join("other.kb"), 2).unwrap();
        build_new(&folder.path().join("other.kb"), 3).unwrap();
    });
    let disk = replay.0.lock().unwrap();
    assert!(disk.operations > 100);
    assert_eq!(disk.names.len(), 2);
    for (name, file) in &disk.names {
        assert!(
            fs::read(name).unwrap() == disk.files[file],
            "{}",
            name.display()
        );
    }
}

#[test]
fn nothing_is_heard_after_the_end_not_even_of_a_panic() {
    let (_folder, path) = temp_path_in_memory();
    let refuse = RefuseNth::new(usize::MAX, NO_SPACE);
    let observer = Arc::clone(&refuse) as Arc<dyn Observer>;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        observed(observer, || panic!("the work failed"));
    }));
    assert!(panicked.is_err());
    build(&path, |transaction| fill(transaction, 1));
    assert_eq!(refuse.heard(), 0);
}

#[test]
fn a_failed_new_file_leaves_only_the_old_one() {
    for error in [NO_SPACE, IO_ERROR] {
        for nth in 1.. {
            let (folder, path) = temp_path_in_memory();
            build(&path, |transaction| fill(transaction, 1));
            let old = dump(&Container::open(&path).unwrap()).unwrap();
            let refuse = RefuseNth::new(nth, error);
            let observer = Arc::clone(&refuse) as Arc<dyn Observer>;
            let built = observed(observer, || build_new(&path, 2));
            let what = format!("{nth}: {:?}: {built:?}", refuse.heard.lock().unwrap());
            if refuse.heard() < nth {
                assert!(built.is_ok() && nth > 30, "{what}");
                break;
            }
            let code = built.unwrap_err().code();
            assert!(["IO", "STORAGE"].contains(&code), "{what}");
            assert_eq!(names(folder.path()), ["test.kb"], "{what}");
            let found = dump(&Container::open(&path).unwrap()).unwrap();
            // After the rename the file is there; only its durability is unknown.
            assert_eq!(found == old, !refuse.refused_folder_sync(), "{what}");
            change_again(&path);
        }
    }
}

#[test]
fn a_failing_disk_keeps_acknowledged_commits() {
    let (_folder, path) = temp_path_in_memory();
    build(&path, |transaction| fill(transaction, 1));
    let first = fs::read(&path).unwrap();
    let mut states = Vec::new();
    for commits in 0..=2 {
        fs::write(&path, &first).unwrap();
        change(&path, commits, &mut 0).unwrap();
        states.push(dump(&Container::open(&path).unwrap()).unwrap());
    }
    for error in [NO_SPACE, IO_ERROR] {
        for nth in 1.. {
            let (folder, path) = temp_path_in_memory();
            fs::write(&path, &first).unwrap();
            let reader = Container::open(&path).unwrap();
            let refuse = RefuseNth::new(nth, error);
            let observer = Arc::clone(&refuse) as Arc<dyn Observer>;
            let mut acknowledged = 0;
            let changed = observed(observer, || change(&path, 2, &mut acknowledged));
            let what = format!("{nth}: {:?}: {changed:?}", refuse.heard.lock().unwrap());
            if refuse.heard() < nth {
                assert!(changed.is_ok() && nth > 40, "{what}");
                break;
            }
            match changed {
                // Room that is not had, or not given back, loses nothing.
                Ok(()) => assert!(refuse.refused_length() && acknowledged == 2, "{what}"),
                Err(error) => {
                    let code = error.code();
                    assert!(["IO", "STORAGE", "WRITER_FAILED"].contains(&code), "{what}");
                }
            }
            assert_eq!(names(folder.path()), ["test.kb"], "{what}");
            for container in [reader, Container::open(&path).unwrap()] {
                let found = dump(&container).unwrap();
                let state = states.iter().position(|state| *state == found);
                let state = state.unwrap_or_else(|| panic!("a mix: {what}")) as u64;
                assert!((acknowledged..=acknowledged + 1).contains(&state), "{what}");
            }
            change_again(&path);
        }
    }
}
