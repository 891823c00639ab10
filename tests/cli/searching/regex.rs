//! `kb search --mode regex`: output for matches, and errors for invalid patterns.

use crate::support::Folder;

/// Three files, one of them a table, indexed into `a.kb`.
fn indexed() -> Folder {
    let folder = Folder::empty();
    folder.write("in/b.rs", "fn one() {}\r\nlet x = 1; // fn\r\nFN\r\n");
    folder.write("in/a/c.md", "# Title\n\na fn here\n");
    folder.write("in/t.csv", "name,amount\nfn,\"1,5\"\n");
    folder.kb("index in -o a.kb").expect(0);
    folder
}

#[test]
fn lines_are_printed_as_grep_does_by_path_and_line() {
    let folder = indexed();
    let told = folder
        .kb(["search", "--mode", "regex", r"\bfn\b"])
        .expect(0);
    assert_eq!(
        told.stdout,
        "a/c.md:3:a fn here\nb.rs:1:fn one() {}\nb.rs:2:let x = 1; // fn\nt.csv row 2:fn\t1,5\n"
    );
    let told = folder.kb("search --mode regex -i ^fn$").expect(0);
    assert_eq!(told.stdout, "b.rs:3:FN\n");
    let told = folder.kb("search --mode regex -F '() {}'").expect(0);
    assert_eq!(told.stdout, "b.rs:1:fn one() {}\n");
    let told = folder.kb("search --mode regex -w o|one").expect(0);
    assert_eq!(told.stdout, "b.rs:1:fn one() {}\n");
    let told = folder
        .kb(["search", "--mode", "regex", "-U", r"e\n\na"])
        .expect(0);
    assert_eq!(told.stdout, "a/c.md:1-3:\n# Title\n\na fn here\n");
}

#[test]
fn counts_and_paths_are_one_line_a_document() {
    let folder = indexed();
    let told = folder.kb("search --mode regex --count fn").expect(0);
    assert_eq!(told.stdout, "a/c.md:1\nb.rs:2\nt.csv:1\n");
    let told = folder.kb("search --mode regex -l fn --lang rust").expect(0);
    assert_eq!(told.stdout, "b.rs\n");
    let told = folder
        .kb("search --mode regex -l fn --document c.md")
        .expect(0);
    assert_eq!(told.stdout, "a/c.md\n");
}

#[test]
fn json_has_lines_ranges_and_rows() {
    let folder = indexed();
    let told = folder.kb("search --mode regex fn --json").expect(0);
    let lines = told.json_lines();
    assert_eq!(
        (&lines[0]["document"], &lines[0]["start_line"]),
        (&"a/c.md".into(), &3.into())
    );
    assert_eq!(lines[0]["matches"], serde_json::json!([[2, 4]]));
    assert_eq!(lines[3]["part"]["first_row"], 2);
}

#[test]
fn an_answer_goes_on_with_its_token() {
    let folder = indexed();
    let told = folder.kb("search --mode regex fn -k 2 --json").expect(0);
    let lines = told.json_lines();
    let token = lines[2]["paging"]["continuation"]
        .as_str()
        .expect("a token")
        .to_owned();
    let rest = [
        "search",
        "--mode",
        "regex",
        "fn",
        "-k",
        "2",
        "--continue",
        &token,
    ];
    assert_eq!(
        folder.kb(rest).expect(0).stdout,
        "b.rs:2:let x = 1; // fn\nt.csv row 2:fn\t1,5\n"
    );
}

#[test]
fn what_is_wrong_is_told_with_a_way_out() {
    let folder = indexed();
    let failed = |arguments: [&str; 4]| {
        let told = folder.kb(arguments).expect(2);
        assert!(told.stdout.is_empty());
        told.stderr
    };
    for (pattern, what, hint) in [
        ("a(b", "character 2", "-F"),
        ("x(?=a)", "character 2", "foo(bar|$)"),
        (r"(a)\1", "character 4", "(aa|bb)"),
        (r"a\nb", "line end", "-U"),
        (r"(?-u:\xff)", "character 6", "UTF-8"),
        ("(a{1000}){1000}", "automaton", "smaller"),
    ] {
        let told = failed(["search", "--mode", "regex", pattern]);
        assert!(told.contains(what) && told.contains(hint), "{told}");
    }
    let told = folder.kb("search --mode regex 'no such line'").expect(1);
    told.stderr_has("no line matches");
    let told = folder.kb("search -i fn").expect(2);
    told.stderr_has("--ignore-case needs --mode regex");
    let told = folder.kb("search --mode regex fn --explain").expect(2);
    told.stderr_has("--explain cannot be used with");
}

#[test]
fn a_file_remembers_that_it_has_no_trigrams() {
    let folder = indexed();
    folder.kb("index in -o a.kb --no-trigrams").expect(0);
    folder.write("in/new.txt", "fn\n");
    folder.kb("index in -o a.kb").expect(0);
    let told = folder.kb("search --mode regex 'fn one'").expect(0);
    told.stderr_has("no trigrams");
    folder.kb("seal a.kb -o b.kb").expect(0);
    let told = folder.kb("search -f b.kb --mode regex 'fn one'").expect(0);
    told.stderr_has("no trigrams");
    folder.kb("index in -o a.kb --no-trigrams=false").expect(0);
    let told = folder.kb("search -f a.kb --mode regex 'fn one'").expect(0);
    assert_eq!(told.stderr, "");
}
