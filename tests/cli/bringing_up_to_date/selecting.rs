//! Which files of a folder are taken: hidden ones, links, patterns, other work trees.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Folder;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.email=a@b.c", "-c", "user.name=n"]);
    command.args(["-c", "init.defaultBranch=main"]);
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn listed(folder: &Folder) -> Vec<String> {
    let told = folder.kb("ls -r -f s.kb").expect(0).stdout;
    told.lines().map(str::to_owned).collect()
}

/// Workflows and skills that everybody of a project has were left out without a trace.
#[test]
fn hidden_files_are_indexed_where_git_tracks_them() {
    let folder = Folder::empty();
    folder.write(
        "d/.github/workflows/release.yml",
        "name: publish-artefacts\n",
    );
    folder.write("d/.gitlab-ci.yml", "stages: [lint]\n");
    folder.write("d/sub/.config/rules.md", "# Rules of the badger\n");
    folder.write("d/a.md", "# A\n");
    git(&folder.join("d"), &["init", "-q"]);
    git(&folder.join("d"), &["add", "-A"]);
    folder.write("d/.github/notes.md", "# Not tracked\n");
    folder.write("d/.idea/workspace.xml", "<x/>\n");
    let told = folder.kb("index d -o s.kb").expect(0);
    told.stdout_has(
        "2 hidden, and not tracked by git (--hidden reads them): .github/notes.md, .idea\n",
    );
    let tracked = [
        ".github/workflows/release.yml",
        ".gitlab-ci.yml",
        "a.md",
        "sub/.config/rules.md",
    ];
    assert_eq!(listed(&folder), tracked);
    let left_out = folder.kb("ls --skipped -f s.kb").expect(0);
    left_out.stdout_has(".idea");
    // The choice is remembered, and taken back.
    folder.kb("index d -o s.kb --hidden").expect(0);
    assert_eq!(listed(&folder).len(), 6);
    let again = folder.kb("index d -o s.kb").expect(0);
    again.stdout_has("nothing changed");
    folder.kb("index d -o s.kb --hidden=false").expect(0);
    assert_eq!(listed(&folder), tracked);
    // A part of the tree, and a folder of its own below the top.
    folder.kb("index d/sub -o t.kb").expect(0);
    let told = folder.kb("ls -r -f t.kb").expect(0).stdout;
    assert_eq!(told, ".config/rules.md\n");
    folder.kb("verify s.kb --deep").expect(0);
}

#[test]
fn without_git_hidden_files_are_reported_and_secrets_stay_out() {
    let folder = Folder::empty();
    folder.write("d/.notes/n.md", "# Hidden note\n");
    folder.write(
        "d/.aws/credentials",
        "[default]\naws_secret_access_key = x\n",
    );
    folder.write("d/.git/config", "[core]\n");
    folder.write("d/a.md", "# A\n");
    let told = folder.kb("index d -o s.kb").expect(0);
    told.stdout_has("2 hidden (--hidden reads them): .aws, .notes\n");
    folder.kb("index d -o s.kb --hidden").expect(0);
    assert_eq!(listed(&folder), [".notes/n.md", "a.md"]);
}

#[test]
fn patterns_are_remembered_until_they_are_replaced() {
    let folder = Folder::empty();
    for name in ["a.md", "b.txt", "docs/c.txt", "docs/old/d.md", "src/e.rs"] {
        folder.write(format!("d/{name}"), format!("text of {name}\n"));
    }
    let index = |more: &[&str]| {
        let mut command = folder.command();
        command.args(["index", "d", "-o", "s.kb", "-q"]).args(more);
        crate::support::run(&mut command)
    };
    index(&[
        "--include",
        "*.md",
        "--include",
        "docs/",
        "--exclude",
        "old",
    ])
    .expect(0);
    assert_eq!(listed(&folder), ["a.md", "docs/c.txt"]);
    folder.write("d/f.md", "later\n");
    folder.write("d/f.rs", "// later\n");
    index(&[]).expect(0);
    assert_eq!(listed(&folder), ["a.md", "docs/c.txt", "f.md"]);
    index(&["--include", "*.rs"]).expect(0);
    assert_eq!(listed(&folder), ["f.rs", "src/e.rs"]);
    index(&["--include=", "--exclude="]).expect(0);
    assert_eq!(listed(&folder).len(), 7);
    let refused = folder.kb("index d -o s.kb --include [z-a] --json");
    assert_eq!(refused.expect(2).error_code(), "INVALID_ARGUMENT");
}

#[test]
fn links_are_followed_once_and_loops_end() {
    use std::os::unix::fs::symlink;
    let folder = Folder::empty();
    folder.write("d/v.md", "# V\n");
    folder.write("real/w.md", "# Linked walrus\n");
    folder.write("real/deep/x.md", "# Deep\n");
    folder.write("other/y.md", "# Y\n");
    symlink("../real", folder.join("d/linked")).unwrap();
    symlink("../real/w.md", folder.join("d/w.md")).unwrap();
    symlink("..", folder.join("d/up")).unwrap();
    symlink("v.md", folder.join("d/same.md")).unwrap();
    symlink("nowhere", folder.join("d/broken")).unwrap();
    symlink("..", folder.join("real/deep/loop")).unwrap();
    symlink("../../other", folder.join("real/deep/on")).unwrap();
    let told = folder.kb("index d -o s.kb").expect(0);
    told.stdout_has("5 symbolic link (--follow follows them)");
    assert_eq!(listed(&folder), ["v.md"]);
    let told = folder.kb("index d -o s.kb --follow -v").expect(0);
    let expected = [
        "linked/deep/on/y.md",
        "linked/deep/x.md",
        "linked/w.md",
        "v.md",
    ];
    assert_eq!(listed(&folder), expected, "{told:#?}");
    for reason in [
        "leads nowhere",
        "same folder",
        "around this one",
        "another symbolic link",
    ] {
        assert!(told.stdout.contains(reason), "{reason} {told:#?}");
    }
    fs::write(folder.join("real/w.md"), "# Edited\n").unwrap();
    let told = folder.kb("index d -o s.kb").expect(0);
    told.stdout_has("added 0, updated 1, removed 0");
    folder.kb("index d -o s.kb --follow=false").expect(0);
    assert_eq!(listed(&folder), ["v.md"]);
}

/// Every file was in the .kb once for each work tree.
#[test]
fn another_work_tree_of_the_same_repository_is_left_out() {
    let folder = Folder::empty();
    folder.write(
        "d/src/pay.py",
        "def refund_card(amount):\n    return amount\n",
    );
    git(&folder.join("d"), &["init", "-q"]);
    git(&folder.join("d"), &["add", "-A"]);
    git(&folder.join("d"), &["commit", "-qm", "one"]);
    git(
        &folder.join("d"),
        &["worktree", "add", "-q", "trees/x", "-b", "x"],
    );
    // A repository of its own inside, as a submodule is.
    folder.write("d/vendor/lib/l.py", "def library():\n    pass\n");
    fs::create_dir(folder.join("d/.git/modules")).unwrap();
    git(
        &folder.join("d/vendor/lib"),
        &["init", "-q", "--separate-git-dir=../../.git/modules/lib"],
    );
    let told = folder.kb("index d -o s.kb").expect(0);
    told.stdout_has("another work tree of the same git repository: trees/x\n");
    assert_eq!(listed(&folder), ["src/pay.py", "vendor/lib/l.py"]);
    // By itself it is a folder like others.
    folder.kb("index d/trees/x -o x.kb").expect(0);
    let told = folder.kb("ls -r -f x.kb").expect(0).stdout;
    assert_eq!(told, "src/pay.py\n");
}
