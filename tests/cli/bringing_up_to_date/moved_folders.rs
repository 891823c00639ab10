//! Folders that were renamed, and folders that have nothing in them, when they are indexed again.

use std::fs;

use crate::support::Folder;

fn write_notes(folder: &Folder, place: &str, count: usize) {
    for number in 0..count {
        folder.write(
            format!("{place}/note{number}.md"),
            format!("# Note {number}\n\nThe otter of {number}.\n"),
        );
    }
}

fn count(folder: &Folder, file: &str) -> u64 {
    let info = folder.kb(["info", file, "--json"]).expect(0);
    info.json_lines()[0]["documents"].as_u64().unwrap()
}

/// The root was not recognised: every document was in the file twice, without a word.
#[test]
fn a_renamed_folder_is_the_root_that_it_was() {
    let folder = Folder::empty();
    write_notes(&folder, "old", 12);
    folder.kb("index old -o m.kb").expect(0);
    fs::rename(folder.join("old"), folder.join("new")).unwrap();
    fs::write(folder.join("new/note3.md"), "# Edited\n").unwrap();
    fs::remove_file(folder.join("new/note4.md")).unwrap();
    let checked = folder.kb("index new -o m.kb --check --json");
    let moved = &checked.expect(1).json_lines()[0]["moved_roots"][0];
    assert_eq!(
        (&moved["same"], &moved["compared"]),
        (&10.into(), &12.into())
    );
    let told = folder.kb("index new -o m.kb").expect(0);
    told.stdout_has("added 0, updated 1, removed 1, unchanged 10");
    assert!(
        told.stderr.contains("the root moved: ") && told.stderr.contains("10 of 12 sampled files"),
        "{told:#?}"
    );
    let again = folder.kb("index new -o m.kb").expect(0);
    again.stdout_has("nothing changed");
    assert_eq!(again.stderr, "");
    folder.kb("verify m.kb --deep").expect(0);
}

#[test]
fn two_roots_below_a_renamed_folder_follow_it() {
    let folder = Folder::empty();
    write_notes(&folder, "work/a", 3);
    folder.write("work/b/one.md", "# One of b\n");
    folder.write("work/b/inside/two.md", "# Two, a root of its own\n");
    folder.kb("index work/a work/b/inside -o m.kb").expect(0);
    folder.kb("index work/b -o m.kb").expect(0);
    fs::rename(folder.join("work"), folder.join("play")).unwrap();
    let told = folder.kb("index play/b play/a -o m.kb").expect(0);
    told.stdout_has("nothing changed");
    assert_eq!(told.stderr.matches(" moved: ").count(), 3, "{told:#?}");
    assert_eq!(count(&folder, "m.kb"), 5);
}

/// Each of them took the content for that of a new root, and had every document twice.
#[test]
fn a_part_of_a_renamed_root_and_a_folder_above_several_are_recognised() {
    for ask in ["new/sub", "new/sub/note1.md"] {
        let folder = Folder::empty();
        write_notes(&folder, "old", 5);
        for number in 0..4 {
            folder.write(
                format!("old/sub/note{number}.md"),
                format!("# Part {number}\n\nThe heron of {number}.\n"),
            );
        }
        folder.kb("index old -o m.kb").expect(0);
        fs::rename(folder.join("old"), folder.join("new")).unwrap();
        folder.write("new/sub/note1.md", "# Edited\n");
        folder.write("new/note2.md", "# Edited elsewhere\n");
        let told = folder.kb(["index", ask, "-o", "m.kb"]).expect(0);
        told.stdout_has("added 0, updated 1, removed 0");
        told.stderr_has("the root moved: ");
        assert_eq!(count(&folder, "m.kb"), 9);
        // Without -o the file that holds the folder is found.
        let mut inside = folder.command();
        inside
            .current_dir(folder.join("new"))
            .args(["search", "otter"]);
        crate::support::run(&mut inside).expect(0);
        folder.kb("verify m.kb --deep").expect(0);
    }
    for above in ["play", "."] {
        let folder = Folder::empty();
        write_notes(&folder, "in/work/a", 3);
        write_notes(&folder, "in/work/b", 3);
        folder.write("in/work/b/own.md", "# Of b alone\n");
        let file = folder.join("out.kb");
        let file = file.to_str().unwrap();
        folder
            .kb(["index", "in/work/a", "in/work/b", "-o", file])
            .expect(0);
        fs::rename(folder.join("in/work"), folder.join("in/play")).unwrap();
        folder.write("in/play/c.md", "# New\n");
        let mut inside = folder.command();
        inside
            .current_dir(folder.join("in"))
            .args(["index", above, "-o", file]);
        let told = crate::support::run(&mut inside);
        if above == "." {
            // Their places in the old folder have other names: what is not recognised is told.
            told.expect(0);
            continue;
        }
        let told = told.expect(0);
        told.stdout_has("added 1, updated 0, removed 0");
        assert_eq!(told.stderr.matches(" moved: ").count(), 2, "{told:#?}");
        assert_eq!(count(&folder, file), 8);
        folder.kb(["verify", file, "--deep"]).expect(0);
    }
}

/// A copy is another folder, and so is one that has little of a root that is gone.
#[test]
fn a_folder_that_may_be_a_root_that_is_gone_is_told() {
    let folder = Folder::empty();
    write_notes(&folder, "old", 6);
    folder.kb("index old -o m.kb").expect(0);
    write_notes(&folder, "copy", 6);
    let told = folder.kb("index copy -o m.kb").expect(0);
    told.stdout_has("added 6");
    assert_eq!(told.stderr, "");
    fs::remove_dir_all(folder.join("old")).unwrap();
    write_notes(&folder, "part", 2);
    let told = folder.kb("index part -o m.kb").expect(0);
    told.stdout_has("added 2, updated 0, removed 0");
    told.stderr_has("the folder of root old is gone, but only 2 of 6 sampled files");
    let hint = told.hint();
    assert!(
        hint.contains("`kb index part -o m.kb --root old`"),
        "{hint}"
    );
}

/// A second file was made beside the one with the old name, and then no command knew which to ask.
#[test]
fn the_file_inside_a_renamed_folder_is_brought_up_to_date() {
    let folder = Folder::empty();
    write_notes(&folder, "old", 2);
    let inside = |name: &str, arguments: &[&str]| {
        let mut command = folder.command();
        command.current_dir(folder.join(name)).args(arguments);
        crate::support::run(&mut command)
    };
    inside("old", &["index", ".", "-q"]).expect(0);
    fs::rename(folder.join("old"), folder.join("new")).unwrap();
    write_notes(&folder, "new", 3);
    let told = inside("new", &["index", "."]).expect(0);
    assert!(told.stdout.starts_with("old.kb  3 documents"), "{told:#?}");
    assert!(!folder.join("new/new.kb").exists());
    // A file of the folder is in that .kb already.
    let told = inside("new", &["index", "note1.md"]).expect(0);
    assert!(told.stdout.starts_with("old.kb  3 documents"), "{told:#?}");
    inside("new", &["search", "otter"]).expect(0);
}

/// The documents of a disk that is not mounted were removed without a word.
#[test]
fn an_empty_folder_below_a_root_keeps_its_documents() {
    let folder = Folder::empty();
    write_notes(&folder, "d/disk/deep", 2);
    folder.write("d/local/l.md", "# Local\n");
    folder.write("d/gone/g.md", "# Gone\n");
    folder.kb("index d -o n.kb").expect(0);
    fs::remove_dir_all(folder.join("d/disk")).unwrap();
    fs::create_dir(folder.join("d/disk")).unwrap();
    fs::remove_dir_all(folder.join("d/gone")).unwrap();
    folder.write("d/local/new.md", "# New\n");
    for flag in ["-v", "--rebuild", "--check"] {
        let told = folder.kb(["index", "d", "-o", "n.kb", flag]).expect(2);
        told.stderr_has("d/disk is empty; its 2 documents");
        assert!(told.hint().contains("is not mounted"), "{told:#?}");
    }
    // What is elsewhere was brought up to date, and the folder that is gone is an ordinary deletion.
    assert_eq!(
        folder.kb("ls -r -f n.kb").expect(0).stdout,
        "disk/deep/note0.md\ndisk/deep/note1.md\nlocal/l.md\nlocal/new.md\n"
    );
    let told = folder.kb("index d -o n.kb --json --prune").expect(0);
    let object = &told.json_lines()[0];
    assert_eq!(object["removed"], 2);
    assert_eq!(object["emptied_folders"].as_array().unwrap().len(), 0);
    folder.kb("verify n.kb --deep").expect(0);
}

/// The document stayed, and every run ended with status 2.
#[test]
fn a_folder_whose_last_file_was_removed_is_no_unmounted_disk() {
    let folder = Folder::empty();
    write_notes(&folder, "d/mail/new", 3);
    folder.write("d/a.md", "# A\n");
    let made = fs::metadata(folder.join("d/mail/new")).unwrap().created();
    if made.is_err() {
        return;
    }
    folder.kb("index d -o n.kb").expect(0);
    for note in 0..3 {
        fs::remove_file(folder.join(format!("d/mail/new/note{note}.md"))).unwrap();
    }
    let told = folder.kb("index d -o n.kb").expect(0);
    told.stdout_has("removed 3");
    assert!(!told.stderr.contains("warning"), "{told:#?}");
    assert_eq!(folder.kb("ls -r -f n.kb").expect(0).stdout, "a.md\n");
    // As a disk leaves the folder that it was mounted on: untouched since before its files were seen.
    write_notes(&folder, "d/mail/new", 2);
    let before = fs::metadata(folder.join("d/mail/new"))
        .unwrap()
        .modified()
        .unwrap();
    folder.kb("index d -o n.kb").expect(0);
    for note in 0..2 {
        fs::remove_file(folder.join(format!("d/mail/new/note{note}.md"))).unwrap();
    }
    let times = fs::FileTimes::new().set_modified(before);
    let place = fs::File::open(folder.join("d/mail/new")).unwrap();
    place.set_times(times).unwrap();
    let told = folder.kb("index d -o n.kb").expect(2);
    told.stderr_has("is empty; its 2 documents");
}
