//! Warnings about results whose source files changed after they were indexed.

use std::fs;

use crate::support::Folder;

/// Nothing was said: an agent took the function for missing.
#[test]
fn an_empty_answer_says_that_files_changed() {
    let folder = Folder::indexed();
    folder.write(
        "harbour/src/pilot.rs",
        "pub fn hire_pilot(ships: u32) -> u32 {\n    ships\n}\n",
    );
    folder.write("harbour/notes.txt", "Another text about paraffin.\n");
    let ask = |arguments: [&str; 4]| folder.kb(arguments);
    for arguments in [
        ["search", "--mode", "regex", "hire_pilot"],
        ["symbols", "--name", "hire_pilot", "--kind=function"],
        ["search", "--mode", "keyword", "hire_pilot"],
    ] {
        let told = ask(arguments).expect(1);
        told.stderr_has("out of date: 2 files changed since the last `kb index`: notes.txt (changed), src/pilot.rs (new)");
        assert!(
            told.hint_lines().any(|hint| hint.contains("--refresh")),
            "{told:#?}"
        );
    }
    let told = folder.kb("symbols --name hire_pilot --json").expect(1);
    let object = &told.json_lines()[0];
    assert_eq!(object["changes"][1]["document"], "src/pilot.rs");
    assert_eq!(object["changes"][1]["change"], "new");
    // An answer of files that did not change says so too, once.
    let told = folder.kb("search 'polish the lens' -k 1").expect(0);
    assert_eq!(told.stderr.matches("out of date").count(), 1, "{told:#?}");
    let told = folder.kb("symbols --name hire_pilot --refresh").expect(0);
    assert!(
        told.stdout.starts_with("src/pilot.rs:1-3  function"),
        "{told:#?}"
    );
    assert_eq!(told.stderr, "");
    let told = folder
        .kb("search --mode regex hire_pilot --refresh")
        .expect(0);
    assert_eq!(told.stderr, "");
}

#[test]
fn files_whose_folders_are_not_here_are_asked_as_they_are() {
    let folder = Folder::indexed();
    fs::rename(folder.join("harbour"), folder.join("away")).unwrap();
    let told = folder.kb("search --mode regex nowhere_at_all").expect(1);
    assert!(!told.stderr.contains("out of date"), "{told:#?}");
    let told = folder.kb("search 'polish the lens' --refresh").expect(0);
    told.stderr_has("do not exist here");
}
