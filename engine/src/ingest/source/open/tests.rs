use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;

use super::*;

fn text(file: Result<File, OpenError>) -> Result<String, String> {
    let mut text = String::new();
    let mut file = file.map_err(|error| error.to_string())?;
    file.read_to_string(&mut text).unwrap();
    Ok(text)
}

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn only_regular_files_are_opened_and_none_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    fs::create_dir(top.join("sub")).unwrap();
    fs::write(top.join("sub/a"), "text").unwrap();
    symlink("a", top.join("sub/link")).unwrap();
    fifo(&top.join("sub/pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(top.join("sub/socket")).unwrap();
    let root = SourceFolder::open(top).unwrap();
    let sub = root.open_folder(Path::new("sub")).unwrap();
    for (name, expected) in [
        ("a", Ok("text")),
        ("link", Err("symbolic link")),
        ("pipe", Err("not a regular file")),
        ("socket", Err("not a regular file")),
        (
            "gone",
            Err("cannot be read: No such file or directory (os error 2)"),
        ),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        let relative = Path::new("sub").join(name);
        assert_eq!(text(root.open_file(&relative)), expected, "{name}");
        assert_eq!(text(sub.open_file(OsStr::new(name))), expected, "{name}");
        let path = top.join(&relative);
        assert_eq!(text(open_regular(&path, Links::Refuse)), expected, "{name}");
    }
    let device = text(open_regular(Path::new("/dev/zero"), Links::Follow));
    assert_eq!(device, Err("not a regular file".to_owned()));
    let followed = text(open_regular(&top.join("sub/link"), Links::Follow));
    assert_eq!(followed, Ok("text".to_owned()));
}

/// Whoever checked where a root leads opened what it led to later.
#[test]
fn a_root_that_became_a_link_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("a/root")).unwrap();
    fs::create_dir_all(top.join("secret/root")).unwrap();
    SourceFolder::open(&top.join("a/root")).unwrap();
    SourceFolder::open(Path::new("/")).unwrap();
    symlink("secret/root", top.join("link")).unwrap();
    fs::rename(top.join("a"), top.join("b")).unwrap();
    symlink("secret", top.join("a")).unwrap();
    for path in ["link", "a/root", "a"] {
        assert!(SourceFolder::open(&top.join(path)).is_err(), "{path}");
    }
    SourceFolder::open(&top.join("b/root")).unwrap();
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("sub/deep")).unwrap();
    fs::create_dir_all(folder.path().join("secret/deep")).unwrap();
    for name in ["top/sub/deep/a", "secret/deep/a"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let root = SourceFolder::open(&top).unwrap();
    let path = Path::new("sub/deep/a");
    let found = Ok("top/sub/deep/a".to_owned());
    assert_eq!(text(root.open_file(path)), found);
    assert_eq!(text(system::open_step_by_step(&root, path)), found);
    // Renamed, the root is still where it was opened.
    fs::rename(&top, folder.path().join("renamed")).unwrap();
    assert_eq!(text(root.open_file(path)), found);
    fs::remove_dir_all(folder.path().join("renamed/sub")).unwrap();
    symlink("../secret", folder.path().join("renamed/sub")).unwrap();
    assert_eq!(text(root.open_file(path)), Err("symbolic link".to_owned()));
    assert!(system::open_step_by_step(&root, path).is_err());
    assert!(root.open_folder(Path::new("sub")).is_err());
    assert!(root.open_folder(Path::new("sub/deep")).is_err());
    for outside in ["../secret/deep/a", "sub/../../secret/deep/a", "/etc/passwd"] {
        assert!(root.open_file(Path::new(outside)).is_err(), "{outside}");
    }
}

#[test]
fn times_before_1970_are_cut_towards_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let file = File::create(&path).unwrap();
    let epoch = std::time::UNIX_EPOCH;
    let nanoseconds = std::time::Duration::from_nanos;
    for (time, ms) in [
        (epoch + nanoseconds(1_999_999), 1),
        (epoch - nanoseconds(1_500_000), -1),
        (epoch - nanoseconds(2_500_000_000), -2500),
    ] {
        file.set_modified(time).unwrap();
        assert_eq!(look(&path).unwrap().modified_ms, ms);
    }
}
