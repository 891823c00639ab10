use std::time::Duration;

use super::*;
use crate::container::testing::fixture::{identity, names};

#[test]
fn a_dropped_file_is_gone_and_a_renamed_one_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let temporary = Temporary::create(&target, &identity()).unwrap();
    assert_eq!(names(folder.path()), [".notes.kb.tmp"]);
    drop(temporary);
    assert_eq!(names(folder.path()), [""; 0]);
    let temporary = Temporary::create(&target, &identity()).unwrap();
    temporary.rename().unwrap();
    assert_eq!(names(folder.path()), ["notes.kb"]);
    // Nobody is named in what was renamed.
    assert!(fs::read(&target).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_second_creator_is_refused_until_the_first_ends() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let first = Temporary::create(&target, &identity()).unwrap();
    let Err(Error::IndexLocked { holder }) = Temporary::create(&target, &identity()) else {
        panic!("two creators");
    };
    let process = format!("kb test, process {}", std::process::id());
    assert!(holder.starts_with(&process), "{holder}");
    assert!(first.path().exists());
    first.rename().unwrap();
    fs::write(&target, b"").unwrap();
    let second = Temporary::create(&target, &identity()).unwrap();
    // What the first made is not taken for nothing.
    assert!(second.replaces());
    assert!(matches!(lock_file(&target), Err(Error::IndexLocked { .. })));
}

#[test]
fn a_creator_waits_for_the_other_as_long_as_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let first = Temporary::create(&target, &identity()).unwrap();
    let patient = WriterIdentity {
        lock_timeout: Duration::from_secs(60),
        ..identity()
    };
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| Temporary::create(&target, &patient));
        std::thread::sleep(Duration::from_millis(120));
        assert!(!second.is_finished());
        drop(first);
        second.join().unwrap()
    });
    assert!(!second.unwrap().replaces());
}

#[test]
fn a_leftover_of_the_dead_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let leftover = folder.path().join(".notes.kb.tmp");
    // Killed before anything was written, while it was written, and before it was renamed.
    let begun = |offset: usize, magic: &[u8]| {
        let mut bytes = vec![7; 10_000];
        bytes[offset..offset + magic.len()].copy_from_slice(magic);
        bytes
    };
    for bytes in [
        Vec::new(),
        begun(WRITER_RECORD.start, &WRITER_MAGIC),
        begun(BLOCK.start, &MAGIC),
    ] {
        fs::write(&leftover, bytes).unwrap();
        drop(Temporary::create(&target, &identity()).unwrap());
        assert!(!leftover.exists());
    }
    fs::write(&leftover, begun(BLOCK.start, &MAGIC)).unwrap();
    fs::write(folder.path().join(".other.kb.tmp"), b"half").unwrap();
    let temporary = Temporary::create(&target, &identity()).unwrap();
    assert_eq!(temporary.path(), fs::canonicalize(&leftover).unwrap());
    assert!(fs::read(&leftover).unwrap().len() < 4096);
    drop(temporary);
    assert_eq!(names(folder.path()), [".other.kb.tmp"]);
}

/// Any file of that name was removed.
#[test]
fn an_unrelated_file_of_the_temporary_name_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let unrelated = folder.path().join(".notes.kb.tmp");
    for bytes in [b"dear diary".to_vec(), vec![7; 10_000]] {
        fs::write(&unrelated, &bytes).unwrap();
        let refused = Temporary::create(&target, &identity()).unwrap_err();
        assert!(matches!(refused, Error::NotReplaceable { .. }), "{refused}");
        remove_dead(&target);
        assert_eq!(fs::read(&unrelated).unwrap(), bytes);
    }
}

#[cfg(unix)]
#[test]
fn a_link_at_the_temporary_name_loses_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.kb");
    let (diary, link) = (
        folder.path().join("diary"),
        folder.path().join(".notes.kb.tmp"),
    );
    fs::write(&diary, b"dear diary").unwrap();
    std::os::unix::fs::symlink(&diary, &link).unwrap();
    let refused = Temporary::create(&target, &identity());
    assert!(
        matches!(refused, Err(Error::NotReplaceable { .. })),
        "{refused:?}"
    );
    fs::remove_file(&link).unwrap();
    fs::hard_link(&diary, &link).unwrap();
    let refused = Temporary::create(&target, &identity());
    assert!(
        matches!(refused, Err(Error::NotReplaceable { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read(&diary).unwrap(), b"dear diary");
}

#[test]
fn a_file_that_is_no_kb_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("notes.txt");
    fs::write(&target, b"dear diary").unwrap();
    let error = Temporary::create(&target, &identity()).unwrap_err();
    assert!(matches!(error, Error::NotAKb { .. }), "{error}");
    let error = Temporary::create(folder.path(), &identity()).unwrap_err();
    assert!(matches!(error, Error::NotAKb { .. }), "{error}");
    assert_eq!(fs::read(&target).unwrap(), b"dear diary");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("real.kb");
    let link = folder.path().join("link.kb");
    fs::write(&target, b"").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let temporary = Temporary::create(&link, &identity()).unwrap();
    disk::write_at(temporary.file(), b"new", 0).unwrap();
    temporary.rename().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read(&target).unwrap().starts_with(b"new"));
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o600
    );
}
