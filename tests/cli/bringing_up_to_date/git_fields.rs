//! `kb index --git`: the last commit of each file as fields.

use std::path::Path;
use std::process::Command;

use crate::support::Folder;

/// Runs git as one person, at one second of 2026.
fn git(folder: &Path, person: &str, second: u32, arguments: &[&str]) {
    let date = format!("2026-03-0{second}T10:00:00Z");
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments);
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        git.env(format!("{name}_NAME"), person)
            .env(format!("{name}_EMAIL"), "someone@example.com")
            .env(format!("{name}_DATE"), &date);
    }
    let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn is_there() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok();
    if !there {
        println!("skipped: git is not installed");
    }
    there
}

/// A folder `notes` in a work tree: `a.md` is of Kim, `b/c.md` of Lee, `new.md` in no commit.
fn notes() -> Folder {
    let folder = Folder::empty();
    folder.write("work/notes/a.md", "# A\n\nThe moon pulls the sea.\n");
    folder.write("work/notes/b/c.md", "# C\n\nThe moon rises.\n");
    folder.write("work/other.md", "# Other\n");
    let work = folder.join("work");
    git(&work, "Kim", 1, &["init", "-q"]);
    git(&work, "Kim", 1, &["add", "."]);
    git(&work, "Kim", 1, &["commit", "-q", "-m", "first"]);
    folder.write("work/notes/b/c.md", "# C\n\nThe moon rises late.\n");
    git(
        &work,
        "Lee \u{1}Wu",
        2,
        &["commit", "-q", "-a", "-m", "second"],
    );
    folder.write("work/notes/new.md", "# New\n\nThe moon is new.\n");
    folder
}

#[test]
fn documents_get_the_last_commit_of_their_files_as_fields() {
    if !is_there() {
        return;
    }
    let folder = notes();
    folder.kb("index work/notes -o notes.kb --git").expect(0);
    let listed = |condition: &str| {
        let told = folder.kb(["ls", "-r", "-f", "notes.kb", "--where", condition]);
        told.stdout
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("git_author = \"kim\""), ["a.md"]);
    assert_eq!(listed("git_author ~ \"lee*wu\""), ["b/c.md"]);
    assert_eq!(listed("git_date >= 2026-03-02"), ["b/c.md"]);
    assert_eq!(listed("missing(git_commit)"), ["new.md"]);
    // A run that has nothing to change writes nothing.
    let before = std::fs::read(folder.join("notes.kb")).unwrap();
    folder.kb("index work/notes -o notes.kb --git").expect(0);
    assert!(std::fs::read(folder.join("notes.kb")).unwrap() == before);
    // What changes later has its new commit with the next run.
    let work = folder.join("work");
    git(&work, "Ann", 3, &["add", "notes/new.md"]);
    git(&work, "Ann", 3, &["mv", "notes/a.md", "notes/d.md"]);
    git(&work, "Ann", 3, &["commit", "-q", "-m", "third"]);
    folder.kb("index work/notes -o notes.kb --git").expect(0);
    assert_eq!(listed("git_author = \"Ann\""), ["d.md", "new.md"]);
    // Without the flag nothing changes.
    let facts = folder.kb("meta -f notes.kb new.md").expect(0).stdout;
    assert!(facts.contains("git_date: 2026-03-03T10:00:00Z"), "{facts}");
    folder
        .kb("index work/notes -o notes.kb --rebuild")
        .expect(0);
    assert_eq!(listed("git_author = \"Ann\""), ["d.md", "new.md"]);
}

#[cfg(unix)]
#[test]
fn no_program_that_a_repository_names_is_run() {
    use std::os::unix::fs::PermissionsExt;

    if !is_there() {
        return;
    }
    let folder = notes();
    let work = folder.join("work");
    let trap = folder.join("trap");
    // What git takes for a program that signs, and then for one that checks signatures.
    let program = folder.join("gpg");
    let script = format!(
        "#!/bin/sh\ntouch '{}'\ncat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED x\\n' >&2\n\
         echo '-----BEGIN PGP SIGNATURE-----'\necho x\necho '-----END PGP SIGNATURE-----'\n",
        trap.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    for name in [
        "gpg.program",
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "core.sshCommand",
    ] {
        git(&work, "Kim", 1, &["config", name, &program]);
    }
    git(&work, "Kim", 3, &["add", "."]);
    git(&work, "Kim", 3, &["commit", "-q", "-S", "-m", "signed"]);
    git(&work, "Kim", 3, &["config", "log.showSignature", "true"]);
    assert!(trap.exists());
    std::fs::remove_file(&trap).unwrap();
    folder.kb("index work/notes -o notes.kb --git").expect(0);
    assert!(!trap.exists());
    let told = folder.kb("ls -r -f notes.kb --where 'git_date >= 2026-03-03'");
    told.expect(0).stdout_has("new.md");
}

#[test]
fn a_folder_without_history_is_indexed_with_a_warning() {
    let folder = Folder::empty();
    folder.write("notes/a.md", "# A\n\nThe moon.\n");
    // Above the folder of the test may be a work tree of the machine.
    let told = folder.kb("index notes -o notes.kb --git").expect(0);
    if !told.stderr.contains("no fields of git for") {
        folder
            .kb("ls -r -f notes.kb --where 'missing(git_commit)'")
            .expect(2);
    }
    folder.kb("search -f notes.kb moon").expect(0);
}
