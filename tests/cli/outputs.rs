//! What a new or rewritten .kb does to the file system: what it may replace, who may read it, where
//! links lead, and what is left after an interrupt.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use kb_engine::testing::container::faults::{Observer, Op, observed};
use kb_engine::{Kb, KbWriter, Progress, SealOptions};

use crate::support::{Folder, run};

fn mode(path: impl AsRef<Path>) -> u32 {
    let path = path.as_ref();
    let metadata = fs::metadata(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    metadata.permissions().mode() & 0o7777
}

fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

/// A database of another program, with a row of the key `header` in a table of that name.
fn foreign_database(path: &Path, table: &str) -> Vec<u8> {
    let table = redb::TableDefinition::<&str, &[u8]>::new(table);
    let database = redb::Database::create(path).expect("a database");
    let mut changes = database.begin_write().expect("changes");
    changes.set_two_phase_commit(true);
    let mut opened = changes.open_table(table).expect("a table");
    opened.insert("header", &b"of an app"[..]).expect("a row");
    drop(opened);
    changes.commit().expect("committed");
    drop(database);
    fs::read(path).expect("bytes")
}

#[test]
fn a_database_of_another_program_is_never_replaced() {
    let folder = Folder::indexed();
    let before = foreign_database(&folder.join("app.redb"), "users");
    for arguments in [
        ["seal", "harbour.kb", "-o", "app.redb", "--json"],
        ["index", "harbour", "-o", "app.redb", "--json"],
    ] {
        let told = folder.kb(arguments).expect(2);
        assert_eq!(told.error_code(), "NOT_A_KB", "{told:#?}");
        told.stderr_has("app.redb");
        assert!(fs::read(folder.join("app.redb")).unwrap() == before);
    }
    let told = folder
        .kb("index harbour -o app.redb --rebuild --json")
        .expect(2);
    assert_eq!(told.error_code(), "NOT_A_KB");
    let writer = KbWriter::open_or_create(folder.join("app.redb"));
    assert_eq!(writer.expect_err("no .kb").code(), "NOT_A_KB");
    assert!(fs::read(folder.join("app.redb")).unwrap() == before);
    // Nor one that has a table and a key of the names that a .kb has.
    fs::remove_file(folder.join("app.redb")).unwrap();
    let before = foreign_database(&folder.join("app.redb"), "kb");
    let told = folder.kb("seal harbour.kb -o app.redb --json").expect(2);
    assert_eq!(told.error_code(), "NOT_A_KB");
    assert!(fs::read(folder.join("app.redb")).unwrap() == before);
    assert_eq!(folder.names(), ["app.redb", "harbour", "harbour.kb"]);
}

#[test]
fn a_kb_with_a_damaged_signature_is_not_replaced_without_a_word() {
    let folder = Folder::indexed();
    let good = fs::read(folder.join("harbour.kb")).unwrap();
    let mut bytes = good.clone();
    // A flipped bit in the block: its row in the tables still says whose file it is.
    bytes[600] ^= 1;
    folder.write("old.kb", &bytes);
    let told = folder.kb("seal harbour.kb -o old.kb --json").expect(2);
    assert_eq!(told.error_code(), "OUTPUT_EXISTS", "{told:#?}");
    assert!(fs::read(folder.join("old.kb")).unwrap() == bytes);
    folder.kb("seal harbour.kb -o old.kb --force").expect(0);
    folder.kb("verify old.kb").expect(0);
    // And the row is gone as well.
    let mut bytes = bytes[..64 << 10].to_vec();
    bytes[4096..].fill(0xa5);
    folder.write("old.kb", &bytes);
    let told = folder.kb("seal harbour.kb -o old.kb --json").expect(2);
    assert_eq!(told.error_code(), "NOT_REPLACEABLE", "{told:#?}");
    told.stderr_has("old.kb was not replaced");
    told.stderr_has("remove it first");
    assert!(fs::read(folder.join("old.kb")).unwrap() == bytes);
    // An empty file, as mktemp makes it, holds nothing to lose.
    folder.write("empty.kb", b"");
    folder.kb("seal harbour.kb -o empty.kb").expect(0);
    folder.kb("verify empty.kb").expect(0);
}

/// Remembers when the temporary file could be read by others.
struct Private {
    temporary: PathBuf,
    seen: Mutex<Vec<String>>,
}

impl Observer for Private {
    fn before(&self, op: &Op<'_>) -> io::Result<()> {
        if let Ok(metadata) = fs::metadata(&self.temporary)
            && metadata.len() > 0
        {
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                let mut op = format!("{mode:o} before {op:?}");
                op.truncate(100);
                self.seen.lock().expect("lock").push(op);
            }
        }
        Ok(())
    }
}

#[test]
fn a_file_that_is_built_is_its_owners_alone() {
    let folder = Folder::indexed();
    set_mode(folder.join("harbour.kb"), 0o600);
    let private = Arc::new(Private {
        temporary: folder.join(".harbour.kb.tmp"),
        seen: Mutex::default(),
    });
    let observer: Arc<dyn Observer> = Arc::clone(&private) as _;
    let build = || {
        let mut writer = KbWriter::open_or_create(folder.join("harbour.kb"))?;
        writer.seal(None, &SealOptions::new(), &mut Progress::ignore)
    };
    observed(Arc::clone(&observer), build).expect("sealed");
    assert_eq!(mode(folder.join("harbour.kb")), 0o600);
    assert_eq!(*private.seen.lock().unwrap(), [""; 0]);
    // What a program of another umask left behind is not taken over: others may have it open.
    let left = folder.write(".harbour.kb.tmp", b"");
    set_mode(&left, 0o644);
    let opened = fs::File::open(&left).unwrap();
    observed(observer, build).expect("sealed");
    assert_eq!(mode(folder.join("harbour.kb")), 0o600);
    assert_eq!(*private.seen.lock().unwrap(), [""; 0]);
    assert_eq!(
        opened.metadata().unwrap().len(),
        0,
        "others read what was built"
    );
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

#[test]
fn a_rewritten_file_keeps_its_permissions() {
    let folder = Folder::indexed();
    for wanted in [0o600, 0o640, 0o664, 0o604] {
        for arguments in [
            ["seal", "harbour.kb"].as_slice(),
            &["index", "harbour", "--rebuild"],
        ] {
            set_mode(folder.join("harbour.kb"), wanted);
            run(folder.command().args(arguments)).expect(0);
            assert_eq!(mode(folder.join("harbour.kb")), wanted, "{arguments:?}");
        }
    }
    let kb = folder.command().get_program().to_owned();
    for (umask, wanted) in [
        ("022", 0o644),
        ("027", 0o640),
        ("077", 0o600),
        ("002", 0o664),
    ] {
        let script = format!("umask {umask}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .arg(&kb)
            .args(["index", "harbour", "-o", "new.kb"])
            .current_dir(folder.path());
        run(&mut command).expect(0);
        assert_eq!(mode(folder.join("new.kb")), wanted, "{umask}");
        fs::remove_file(folder.join("new.kb")).unwrap();
    }
}

#[test]
fn a_sealed_copy_is_as_private_as_its_source() {
    let folder = Folder::indexed();
    for (source, wanted) in [
        (0o600, 0o600),
        (0o640, 0o640),
        (0o644, 0o644),
        (0o666, 0o644),
    ] {
        set_mode(folder.join("harbour.kb"), source);
        let kb = folder.command().get_program().to_owned();
        let mut command = Command::new("sh");
        command
            .args(["-c", "umask 022; exec \"$0\" \"$@\""])
            .arg(&kb)
            .args(["seal", "harbour.kb", "-o", "ship.kb"])
            .current_dir(folder.path());
        run(&mut command).expect(0);
        assert_eq!(mode(folder.join("ship.kb")), wanted, "{source:o}");
        fs::remove_file(folder.join("ship.kb")).unwrap();
    }
    // Nor when a file of more readers is replaced.
    set_mode(folder.join("harbour.kb"), 0o600);
    folder.write("ship.kb", b"");
    set_mode(folder.join("ship.kb"), 0o644);
    folder.kb("seal harbour.kb -o ship.kb").expect(0);
    assert_eq!(mode(folder.join("ship.kb")), 0o600);
}

#[test]
fn a_file_of_several_names_is_not_rewritten_under_one_of_them() {
    let folder = Folder::indexed();
    fs::hard_link(folder.join("harbour.kb"), folder.join("second.kb")).unwrap();
    let before = fs::read(folder.join("harbour.kb")).unwrap();
    for arguments in [
        ["seal", "harbour.kb", "--json"].as_slice(),
        &["index", "harbour", "--rebuild", "--json"],
        &["seal", "second.kb", "-o", "harbour.kb", "--json"],
    ] {
        let told = run(folder.command().args(arguments)).expect(2);
        assert_eq!(told.error_code(), "NOT_REPLACEABLE", "{told:#?}");
        told.stderr_has("2 names");
        assert!(fs::read(folder.join("second.kb")).unwrap() == before);
    }
    assert_eq!(folder.names(), ["harbour", "harbour.kb", "second.kb"]);
    // A change in place is one for all names.
    folder.kb("rm harbour.kb notes.txt").expect(0);
    let second = Kb::open(folder.join("second.kb")).unwrap();
    assert_eq!(second.info().unwrap().documents, 6);
    // A copy elsewhere is no problem.
    folder.kb("seal harbour.kb -o ship.kb").expect(0);
}

#[test]
fn a_link_is_followed_also_to_a_file_that_is_not_there_yet() {
    let folder = Folder::indexed();
    fs::create_dir(folder.join("real")).unwrap();
    symlink("real/ship.kb", folder.join("ship.kb")).unwrap();
    symlink("ship.kb", folder.join("again.kb")).unwrap();
    let is_link = |name: &str| {
        fs::symlink_metadata(folder.join(name))
            .unwrap()
            .is_symlink()
    };
    for arguments in [
        ["seal", "harbour.kb", "-o", "again.kb"].as_slice(),
        &["seal", "harbour.kb", "-o", "again.kb", "--force"],
        &["index", "harbour", "-o", "again.kb", "--rebuild"],
    ] {
        run(folder.command().args(arguments)).expect(0);
        assert!(is_link("ship.kb") && is_link("again.kb"), "{arguments:?}");
        assert!(!is_link("real/ship.kb"));
        folder.kb("verify real/ship.kb").expect(0);
    }
    fs::remove_file(folder.join("real/ship.kb")).unwrap();
    folder.kb("index harbour -o again.kb").expect(0);
    assert!(is_link("ship.kb") && !is_link("real/ship.kb"));
    // Links that lead to each other lead nowhere.
    symlink("b.kb", folder.join("a.kb")).unwrap();
    symlink("a.kb", folder.join("b.kb")).unwrap();
    let told = folder.kb("seal harbour.kb -o a.kb").expect(2);
    told.stderr_has("a.kb");
    assert!(is_link("a.kb") && is_link("b.kb"));
}

/// User and group that every system has, and that have nothing.
const NOBODY: u32 = 65534;

/// Whether this test may give files to others.
fn is_root(folder: &Folder) -> bool {
    fs::metadata(folder.path()).unwrap().uid() == 0
}

#[test]
fn owner_and_group_stay_and_where_they_cannot_nobody_gains() {
    let folder = Folder::indexed();
    if !is_root(&folder) {
        println!("skipped: only root can give files to others");
        return;
    }
    let file = folder.join("harbour.kb");
    let owners = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid())
    };
    std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    set_mode(&file, 0o640);
    folder.kb("seal harbour.kb").expect(0);
    assert_eq!((owners(&file), mode(&file)), ((NOBODY, NOBODY), 0o640));
    folder.kb("index harbour --rebuild").expect(0);
    assert_eq!((owners(&file), mode(&file)), ((NOBODY, NOBODY), 0o640));

    // Somebody else replaces a file of root: neither owner nor group can be kept.
    fs::create_dir(folder.join("shared")).unwrap();
    set_mode(folder.path(), 0o755);
    set_mode(folder.join("shared"), 0o777);
    let kb = folder.join("kb");
    fs::copy(folder.command().get_program(), &kb).unwrap();
    set_mode(&kb, 0o755);
    let shared = folder.join("shared/harbour.kb");
    // Root's group may do less than others here; its members are others afterwards.
    for (before, after) in [(0o666, 0o666), (0o646, 0o644), (0o606, 0o600)] {
        fs::copy(&file, &shared).unwrap();
        std::os::unix::fs::chown(&shared, Some(0), Some(0)).unwrap();
        set_mode(&shared, before);
        let mut command = Command::new(&kb);
        command
            .args(["seal", "shared/harbour.kb"])
            .current_dir(folder.path())
            .uid(NOBODY)
            .gid(NOBODY);
        run(&mut command).expect(0);
        assert_eq!(owners(&shared), (NOBODY, NOBODY));
        assert_eq!(
            mode(&shared),
            after,
            "{before:o} became {:o}",
            mode(&shared)
        );
        fs::remove_file(&shared).unwrap();
    }
}

#[test]
fn an_interrupted_seal_leaves_only_the_old_file() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::indexed();
        let before = fs::read(folder.join("harbour.kb")).unwrap();
        // As long as this writer has the file, sealing has begun its new file and waits.
        let mut writer = KbWriter::open_or_create(folder.join("harbour.kb")).unwrap();
        writer.add_bytes("x.txt", b"x").unwrap();
        let mut command = folder.command();
        command
            .args(["seal", "harbour.kb", "--wait"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = io::BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        io::BufRead::read_line(&mut stderr, &mut line).unwrap();
        assert!(line.contains("waiting for"), "{line}");
        let kill = format!("kill -{signal} {}", child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(killed.success());
        let mut rest = String::new();
        io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{rest}");
        assert!(rest.contains("stopped; harbour.kb is unchanged"), "{rest}");
        drop(writer);
        assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
        assert!(fs::read(folder.join("harbour.kb")).unwrap().len() >= before.len());
        assert_eq!(
            Kb::open(folder.join("harbour.kb"))
                .unwrap()
                .info()
                .unwrap()
                .documents,
            7
        );
    }
}
