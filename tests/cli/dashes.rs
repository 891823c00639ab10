//! Questions, names and values that begin with a dash.

use crate::support::{Folder, documents};

/// Once every word with a dash in front was a flag, and `kb search "- text"` an error.
#[test]
fn a_question_may_begin_with_a_dash() {
    let folder = Folder::indexed();
    for query in ["- polish the lens", "-- polish the lens", "-1 polish lens"] {
        let told = folder.kb(["search", query, "--json", "-k", "3"]).expect(0);
        assert_eq!(documents(&told.json_lines())[0], "docs/guide.md", "{query}");
        let told = folder.kb(["search", "-k", "3", "--json", "--", query]);
        assert_eq!(
            documents(&told.expect(0).json_lines())[0],
            "docs/guide.md",
            "{query}"
        );
    }
    for query in ["--flag of git", "-1", "-k option", "->", "-\"the lens\""] {
        let told = folder.kb(["search", query, "--mode", "hybrid"]);
        assert!(matches!(told.code, Some(0 | 1)), "{query}: {told:#?}");
    }
}

#[test]
fn a_question_of_words_to_leave_out_needs_no_separator() {
    let folder = Folder::indexed();
    let found = |query: &[&str]| {
        let mut command = folder.command();
        command
            .args(["search", "--json", "--mode", "keyword"])
            .args(query);
        let told = crate::support::run(&mut command).expect(0);
        let lines = told.json_lines();
        documents(&lines)
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    assert!(found(&["harbour museum"]).contains(&"site/index.html".to_owned()));
    let all = found(&["lens wick horn paraffin"]);
    assert!(all.contains(&"notes.txt".to_owned()), "{all:?}");
    let some = found(&["-paraffin lens wick horn"]);
    assert_eq!(some, ["docs/guide.md"]);
    assert_eq!(
        found(&["-k", "5", "lens", "- paraffin wick"])[0],
        "docs/guide.md"
    );
}

#[test]
fn a_mistyped_flag_is_still_an_error_with_its_hint() {
    let folder = Folder::indexed();
    let told = folder.kb("search lens --mod keyword").expect(2);
    assert!(told.hint().contains("'--mode'"), "{told:#?}");
    let told = folder.kb("search -lens").expect(2);
    assert!(told.hint().contains("-- -lens"), "{told:#?}");
    let told = folder.kb("search lens -k -1").expect(2);
    told.stderr_has("invalid value '-1' for '-k");
}

#[test]
fn names_tags_and_titles_may_begin_with_a_dash() {
    let folder = Folder::empty();
    folder.write(
        "- notes.md",
        "# Notes\n\n## - First\n\nOne.\n\n## -2\n\nTwo.\n",
    );
    let add = ["add", "- notes.md", "-f", "a.kb", "--title", "- The notes"];
    folder.kb(add).expect(0);
    let get = |section: &str| {
        let told = folder.kb(["get", "- notes.md", "-f", "a.kb", "--section", section]);
        told.expect(0).stdout
    };
    assert!(get("- First").contains("One."));
    assert!(get("-2").contains("Two."));
    folder.kb("tag '- notes.md' --add '-1 to do'").expect(0);
    let told = folder.kb("search one --tag '-1 to do' --json").expect(0);
    assert_eq!(told.json_lines()[0]["title"], "- The notes");
    folder.kb("rm a.kb '- notes.md'").expect(0);
}
