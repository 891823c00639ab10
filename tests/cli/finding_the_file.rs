//! Which file answers when none is named.

use crate::support::{Folder, run};

#[test]
fn the_single_file_here_or_above_answers() {
    let folder = Folder::indexed();
    folder.kb(["ls"]).expect(0);
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
    let told = folder.kb(["search", "lamp"]).expect(2);
    assert!(told.stderr.contains("backup.kb, harbour.kb"), "{told:#?}");
    assert!(told.hint().contains("-f backup.kb"), "{told:#?}");
    folder.kb(["search", "lamp", "-f", "backup.kb"]).expect(0);
}

#[test]
fn no_file_is_an_error_that_lists_where_it_looked() {
    let folder = Folder::empty();
    let told = folder.kb(["search", "lamp"]).expect(2);
    let here = folder.path().canonicalize().unwrap();
    assert!(
        told.stderr.contains(&here.display().to_string()),
        "{told:#?}"
    );
    assert!(told.stderr.contains("KB_FILE"), "{told:#?}");
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
    assert!(
        folder_named
            .stderr
            .contains("harbour (from KB_FILE) is a folder"),
        "{folder_named:#?}"
    );
}
