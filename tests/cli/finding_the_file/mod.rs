//! How a command finds its .kb file if none is named.

#[cfg(unix)]
mod readme;

use crate::support::{Folder, run};

#[test]
fn the_single_file_here_or_above_answers() {
    let folder = Folder::indexed();
    folder.kb("ls").expect(0);
    let below = folder.join("harbour/docs");
    let told = run(folder
        .command()
        .current_dir(&below)
        .args(["info", "--json"]))
    .expect(0);
    let file = told.json_lines()[0]["file"].as_str().unwrap().to_owned();
    assert!(file.ends_with("harbour.kb"), "{file}");
}

#[test]
fn several_files_are_an_error_that_lists_them() {
    let folder = Folder::indexed();
    std::fs::copy(folder.join("harbour.kb"), folder.join("backup.kb")).unwrap();
    let told = folder.kb("search lamp").expect(2);
    told.stderr_has("backup.kb, harbour.kb");
    assert!(told.hint().contains("-f backup.kb"), "{told:#?}");
    folder.kb("search lamp -f backup.kb").expect(0);
}

#[test]
fn of_several_files_the_newest_that_was_made_from_this_folder_answers() {
    let folder = Folder::indexed();
    let here = folder.join("harbour");
    let file = |arguments: &[&str]| {
        let mut command = folder.command();
        let told = run(command.current_dir(&here).args(arguments)).expect(0);
        let file = told.json_lines()[0]["file"].as_str().unwrap().to_owned();
        file.rsplit('/').next().unwrap().to_owned()
    };
    let info = ["info", "--json"];
    for name in ["old", "new"] {
        let name = format!("harbour/{name}.kb");
        folder.kb(["index", "harbour", "-o", &name]).expect(0);
        // The clock of a file system may be coarse.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(file(&info), "new.kb");
    folder
        .kb("seal harbour/new.kb -o harbour/sealed.kb")
        .expect(0);
    folder.write("other/x.md", "# Other\n");
    folder.kb("index other -o harbour/foreign.kb").expect(0);
    assert_eq!(file(&info), "new.kb");
    std::fs::remove_file(here.join("new.kb")).unwrap();
    std::fs::remove_file(here.join("old.kb")).unwrap();
    assert_eq!(file(&info), "sealed.kb", "its folder has the name");
    std::fs::write(here.join("harbour.kb"), "no .kb file").unwrap();
    assert_eq!(file(&info), "sealed.kb");
}

#[test]
fn a_sealed_copy_leaves_no_doubt_about_its_original() {
    let folder = Folder::indexed();
    folder.kb("seal harbour.kb -o shipped.kb").expect(0);
    // The folder of both is below this one.
    let told = folder.kb("info --json").expect(0);
    told.stdout_has("harbour.kb");
    folder.kb("seal shipped.kb -o again.kb").expect(0);
    std::fs::remove_file(folder.join("harbour.kb")).unwrap();
    folder.kb("info").expect(2);
}

#[test]
fn a_file_of_an_indexed_folder_makes_no_second_kb_file() {
    let folder = Folder::with_corpus();
    let here = folder.join("harbour");
    let kb = |arguments: &[&str]| {
        let mut command = folder.command();
        run(command.current_dir(&here).args(arguments))
    };
    kb(&["index", "."]).expect(0);
    folder.write("harbour/docs/guide.md", "# Guide\n\nThe walrus waits.\n");
    let told = kb(&["index", "docs/guide.md"]).expect(0);
    told.stderr_has("docs/guide.md is in a folder of harbour.kb");
    told.stdout_has("updated 1, removed 0");
    assert!(!here.join("guide.kb").exists());
    assert!(
        kb(&["get", "docs/guide.md"])
            .expect(0)
            .stdout
            .contains("walrus")
    );
    // From another folder too, and another one when it is asked for.
    let path = here.join("notes.txt").display().to_string();
    folder.kb(["index", &path]).expect(0);
    assert_eq!(folder.names(), ["harbour"]);
    kb(&["index", "notes.txt", "-o", "own.kb"]).expect(0);
    assert!(here.join("own.kb").exists());
}

#[test]
fn no_file_is_an_error_that_lists_where_it_looked() {
    let folder = Folder::empty();
    let told = folder.kb("search lamp").expect(2);
    let here = folder.path().canonicalize().unwrap();
    told.stderr_has(&here.display().to_string());
    told.stderr_has("KB_FILE");
    assert!(told.hint().contains("kb index ."), "{told:#?}");
}

#[test]
fn the_variable_names_the_file_and_the_flag_wins_over_it() {
    let folder = Folder::indexed();
    std::fs::rename(
        folder.join("harbour.kb"),
        folder.join("harbour/docs/elsewhere.kb"),
    )
    .unwrap();
    let with = |variable: &str, arguments: &[&str]| {
        run(folder.command().env("KB_FILE", variable).args(arguments))
    };
    with("harbour/docs/elsewhere.kb", &["ls"]).expect(0);
    let missing = with("gone.kb", &["ls", "--json"]).expect(2);
    assert_eq!(missing.error_code(), "PATH_NOT_FOUND");
    with("gone.kb", &["ls", "-f", "harbour/docs/elsewhere.kb"]).expect(0);
    let folder_named = with("harbour", &["ls"]).expect(2);
    folder_named.stderr_has("harbour (from KB_FILE) is a folder");
}
