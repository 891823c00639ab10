use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::ingest::roots::given_path::ResolveOptions;
use crate::ingest::roots::resolve::{StoredRoots, resolve};
use crate::ingest::walk::entries;

/// What a walk found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Walked {
    /// Files by document path, in the order of their bytes; no path twice.
    files: Vec<SourceFile>,
    /// What was left out with a reason, by path. Files under an ignore rule and `.kb` files are not listed.
    skipped: Vec<Skipped>,
    /// Document paths of files and folders that are there and could not be looked at: nothing is
    /// known of what lies at or below them.
    unread: Vec<String>,
}

/// Finds the files of all roots that are there. A file that two roots reach belongs to the older.
fn walk(roots: &[Root], options: &WalkOptions) -> Result<Walked> {
    let mut walked = Walked::default();
    for found in Walk::new(roots, options.clone(), &Reporter::silent())? {
        match found? {
            WalkItem::File(file) => walked.files.push(file),
            WalkItem::Skipped(skipped) => walked.skipped.push(skipped),
            WalkItem::LeftOut(left_out) => {
                let skipped = Skipped::new(left_out.path, left_out.reason);
                walked.skipped.push(skipped);
            }
            WalkItem::Unread(path) => walked.unread.push(path),
            WalkItem::Empty(..) => {}
        }
    }
    walked
        .skipped
        .sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    walked.skipped.dedup();
    Ok(walked)
}

fn options() -> WalkOptions {
    WalkOptions {
        max_file_bytes: 1000,
        ..WalkOptions::default()
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn roots(paths: &[PathBuf]) -> Vec<Root> {
    let stored = StoredRoots {
        roots: &[],
        next_root: 1,
        is_path_prefix: None,
    };
    let resolved = resolve(
        paths,
        stored,
        ResolveOptions::default(),
        &mut |_| Ok(Vec::new()),
        &Reporter::silent(),
    );
    resolved.unwrap().roots
}

fn walked(paths: &[PathBuf]) -> Walked {
    walk(&roots(paths), &options()).unwrap()
}

fn paths(walked: &Walked) -> Vec<&str> {
    walked
        .files
        .iter()
        .map(|file| file.document_path.as_str())
        .collect()
}

fn skipped(walked: &Walked) -> Vec<(&str, &str)> {
    let skipped = walked.skipped.iter();
    skipped
        .map(|skipped| (skipped.path.as_str(), skipped.reason.as_str()))
        .collect()
}

#[test]
fn ignore_rules_hidden_files_and_own_files_leave_files_out() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for name in [
        "b.txt",
        "a/x.md",
        "a/ignored.log",
        "a/kept.log",
        "private/y",
        ".hidden",
        ".github/z",
        "k.kb",
        ".k.kb.tmp",
        "k.kb.tmp",
        "a.kbx",
        "folder.kb/inside",
        "big",
    ] {
        write(top, name, "text");
    }
    write(top, ".gitignore", "*.log\n");
    write(top, "a/.gitignore", "!kept.log\n");
    write(top, ".kbignore", "private/\n");
    write(top, "big", &"x".repeat(1001));
    let walked = walked(&[top.to_owned()]);
    assert_eq!(
        paths(&walked),
        ["a.kbx", "a/kept.log", "a/x.md", "b.txt", "folder.kb/inside"]
    );
    assert_eq!(
        skipped(&walked),
        [
            (".github", "hidden"),
            (".hidden", "hidden"),
            ("big", "larger than 1000 bytes")
        ]
    );
    let file = &walked.files[3];
    assert_eq!((file.size_bytes, file.root), (4, 1));
    assert!(file.modified_ms > 1_500_000_000_000);
}

#[test]
fn ignore_files_above_a_root_count_only_in_the_same_work_tree() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top, ".gitignore", "*\n");
    write(top, "work/.gitignore", "*.log\n");
    write(top, "work/sub/a.log", "");
    write(top, "work/sub/a.txt", "");
    let sub = top.join("work/sub");
    assert_eq!(
        paths(&walked(std::slice::from_ref(&sub))),
        ["a.log", "a.txt"]
    );
    write(top, "work/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(paths(&walked(&[sub])), ["a.txt"]);
}

#[test]
fn several_roots_get_different_prefixes_and_share_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top, "one/docs/a", "");
    write(top, "two/docs/a", "");
    write(top, "two/b", "");
    let given = [
        top.join("one/docs"),
        top.join("two/docs"),
        top.join("two"),
        top.join("two/b"),
    ];
    assert_eq!(paths(&walked(&given)), ["docs-2/a", "docs/a", "two/b"]);
    // Asked for again in parts, the same files have the same paths.
    let parts = [top.join("two"), top.join("two/docs")];
    assert_eq!(paths(&walked(&parts)), ["b", "docs/a"]);
}

#[test]
fn a_file_given_by_name_is_the_only_one_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top, "x/.hidden", "");
    write(top, "x/other", "");
    assert_eq!(paths(&walked(&[top.join("x/.hidden")])), [".hidden"]);
    let both = [top.join("x/.hidden"), top.join("x")];
    assert_eq!(paths(&walked(&both)), ["other"]);
}

#[test]
fn a_file_that_was_asked_for_and_is_left_out_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for name in [".hidden", "seen"] {
        write(top, name, "");
    }
    let given = [top.to_owned(), top.join(".hidden"), top.join("seen")];
    assert_eq!(paths(&walked(&given)), ["seen"]);
    let mut whole = roots(&given[..1]);
    let parts = [".hidden", "seen"].map(PathBuf::from);
    whole[0].scope = Scope::Parts(parts.into_iter().collect());
    let walked = walk(&whole, &options()).unwrap();
    assert_eq!(paths(&walked), ["seen"]);
    assert_eq!(skipped(&walked)[0].0, ".hidden");
}

#[test]
fn a_walk_stops_on_request() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a", "");
    let roots = roots(&[folder.path().to_owned()]);
    let reporter = Reporter::silent();
    reporter.stop_flag().store(true, Ordering::Relaxed);
    let first = Walk::new(&roots, options(), &reporter).unwrap().next();
    assert!(matches!(first, Some(Err(Error::Cancelled))));
}

#[test]
fn names_that_differ_only_in_normalisation_leave_one_and_a_word() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "e\u{301}.txt", "");
    write(folder.path(), "\u{e9}.txt", "");
    let walked = walked(&[folder.path().to_owned()]);
    // Some systems keep only one of the two on disk.
    assert_eq!(paths(&walked), ["\u{e9}.txt"]);
    let on_disk = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(walked.skipped.len(), on_disk - 1);
}

#[cfg(unix)]
#[test]
fn links_special_files_and_odd_names_never_stop_a_walk() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    write(top, "real/a.txt", "");
    write(top, "real/\\xFFa", "");
    fs::write(top.join("real").join(OsStr::from_bytes(b"\xFFa")), "").unwrap();
    symlink(top.join("real"), top.join("real/loop")).unwrap();
    symlink("a.txt", top.join("real/link.txt")).unwrap();
    symlink("nowhere", top.join("real/broken")).unwrap();
    symlink("real", top.join("door")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(top.join("real/socket")).unwrap();
    write(top, "real/closed/b.txt", "");
    let closed = top.join("real/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let reads_everything = fs::read_dir(&closed).is_ok();
    let walked = walked(&[top.join("door")]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let mut expected_paths = vec!["\\x5CxFFa", "\\xFFa", "a.txt"];
    let mut expected = vec![
        ("broken", "symbolic link"),
        ("link.txt", "symbolic link"),
        ("loop", "symbolic link"),
        ("socket", "not a regular file"),
    ];
    // The superuser reads closed folders too.
    if reads_everything {
        expected_paths.push("closed/b.txt")
    } else {
        expected.insert(
            1,
            ("closed", "cannot be read: Permission denied (os error 13)"),
        )
    }
    assert_eq!(paths(&walked), expected_paths);
    assert_eq!(skipped(&walked), expected);
}

/// The files of one root as the walker of the crate `ignore` finds them, which this walk replaced.
fn of_ripgrep(root: &Root) -> Vec<String> {
    let in_work_tree = git::is_in_work_tree(&root.folder);
    let mut builder = ignore::WalkBuilder::new(&root.folder);
    builder
        .add_custom_ignore_filename(".kbignore")
        .ignore(false)
        .git_global(false)
        .require_git(in_work_tree)
        .parents(in_work_tree)
        .follow_links(false);
    let mut paths: Vec<String> = Vec::new();
    for entry in builder.build() {
        let entry = entry.unwrap();
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let relative = entry.path().strip_prefix(&root.folder).unwrap();
        // That walker reads what git keeps where a rule says so; this one never does.
        let is_of_git = relative.iter().any(|name| name == ".git");
        if is_file && !is_of_git && !is_own_file(entry.file_name()) {
            paths.push(root.document_path(relative));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Whether a `.kbignore` stands above the work tree of a root. To that walker it counts as soon as the
/// root is in any work tree; a rule of this one is that it does not.
fn rules_outside(root: &Root) -> bool {
    let mut above = root.folder.ancestors();
    git::is_in_work_tree(&root.folder)
        && above.any(entries::is_top)
        && above.any(|folder| folder.join(".kbignore").exists())
}

/// A file of a random tree, or a folder that is a work tree.
fn tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = || {
        prop::sample::select(vec![
            "a", "b", "c", "d.txt", "e.log", ".hidden", "x.kb", "a b", "a-", "a.", "B", "\u{e9}",
            "e\u{301}", "\\xFF",
        ])
    };
    let folders = || prop::collection::vec(name(), 0..4).prop_map(|names| names.join("/"));
    let line = prop::sample::select(vec![
        "a",
        "/a",
        "a/",
        "*.log",
        "!e.log",
        "b/*",
        "!b/c",
        "**/c",
        "a/**",
        "d.*",
        "!/b/",
        "[a-c]",
        "{a,b}/d.txt",
        "*",
        "!*/",
        "# a",
        "",
        ".hidden",
        "!.hidden",
        "!.*",
        "a/**/c",
        "\u{e9}",
    ]);
    let lines = prop::collection::vec(line, 1..5).prop_map(|lines| lines.join("\n"));
    let rules = prop::sample::select(vec![".gitignore", ".gitignore", ".kbignore"]);
    let entry = prop_oneof![
        8 => (folders(), name()).prop_map(|(folder, name)| (format!("{folder}/{name}"), String::new())),
        3 => (folders(), rules, lines.clone())
            .prop_map(|(folder, name, lines)| (format!("{folder}/{name}"), lines)),
        1 => folders().prop_map(|folder| (format!("{folder}/.git/HEAD"), "ref: x\n".to_owned())),
        1 => (folders(), lines)
            .prop_map(|(folder, lines)| (format!("{folder}/.git/info/exclude"), lines)),
    ];
    prop::collection::vec(entry, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_files_are_those_that_ripgrep_finds(tree in tree(), threads in 1usize..4) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir(&top).unwrap();
        for (name, text) in &tree {
            let path = top.join(name.trim_start_matches('/'));
            // What is a file already is no folder.
            let _ = fs::create_dir_all(path.parent().unwrap());
            if !path.is_dir() {
                let _ = fs::write(path, text);
            }
        }
        let mut starts = vec![top.clone()];
        starts.extend(["a", "b", "a/b"].map(|name| top.join(name)));
        for start in starts.into_iter().filter(|start| start.is_dir()) {
            let roots = roots(&[start]);
            if rules_outside(&roots[0]) {
                continue;
            }
            let walked = walk(&roots, &WalkOptions { threads, ..options() }).unwrap();
            let found = paths(&walked);
            prop_assert!(found.is_sorted(), "{:?}", found);
            prop_assert_eq!(found, of_ripgrep(&roots[0]));
        }
    }
}
