//! `kb add`, `kb rm`, `kb tag`, `kb meta`, and where handles and tags are shown.

use crate::support::{Folder, documents, run};

/// The only JSON object that a command prints.
#[track_caller]
fn object<const N: usize>(folder: &Folder, arguments: [&str; N]) -> serde_json::Value {
    let told = folder.kb(arguments).expect(0);
    let [object] = told.json_lines().try_into().expect("one object");
    object
}

/// All documents with everything that is known of them.
fn listed(folder: &Folder) -> String {
    folder.kb("ls -r --json").expect(0).stdout
}

#[test]
fn a_file_is_added_under_its_name_to_a_file_that_is_made_for_it() {
    let folder = Folder::empty();
    folder.write("in/tides.md", "# Spring tides\n\nThe moon pulls the sea.\n");
    let told = folder.kb("add in/tides.md -f new.kb").expect(0);
    let (path, handle) = told.stdout.trim_end().split_once("  ").unwrap();
    assert_eq!(path, "tides.md");
    assert!(handle.starts_with("spring-tides-"), "{told:#?}");
    assert_eq!(
        folder.kb(["get", handle]).expect(0).stdout,
        folder.kb(["get", path]).stdout
    );
    // Without -f the file is found as for a search.
    folder.write("in/second.txt", "A second one.\n");
    folder.kb("add in/second.txt").expect(0);
    assert_eq!(folder.kb("ls").expect(0).stdout, "second.txt\ntides.md\n");
    assert_eq!(folder.names(), ["in", "new.kb"]);
}

#[test]
fn a_document_is_given_fields() {
    let folder = Folder::empty();
    folder.write("in/a.md", "---\nyear: 1999\n---\nThe sea.\n");
    folder.write("in/b.md", "The sea.\n");
    let add = |arguments: &[&str]| run(folder.command().arg("add").args(arguments));
    let fields = [
        "--meta",
        "year=2016",
        "--meta",
        "zip=\"01\"",
        "--meta",
        "by=Kim",
        "--meta",
        "by=Lee",
    ];
    add(&[&["in/a.md", "-f", "new.kb"][..], &fields].concat()).expect(0);
    add(&["in/b.md"]).expect(0);
    for (condition, found) in [
        (
            "year = 2016 and by = \"kim\" and by = \"Lee\"",
            &["a.md"][..],
        ),
        ("zip = \"01\"", &["a.md"]),
        ("missing(year)", &["b.md"]),
    ] {
        let told = folder
            .kb(["search", "sea", "--where", condition, "--json"])
            .expect(0);
        assert_eq!(documents(&told.json_lines()), found, "{condition}");
    }
    folder.kb("search sea --where 'year = 1999'").expect(1);
    for (flags, expected) in [
        (&["--sort", "-year"][..], ["a.md", "b.md"]),
        (&["--sort=year"], ["a.md", "b.md"]),
        (&["--group-by", "zip", "--sort", "-path"], ["b.md", "a.md"]),
    ] {
        let all = ["search", "sea", "--mode", "keyword", "--json"];
        let told = run(folder.command().args(all).args(flags)).expect(0);
        assert_eq!(documents(&told.json_lines()), expected, "{flags:?}");
    }
    let told = folder.kb("search sea --facet by -k 1").expect(0);
    assert!(
        told.stdout.ends_with("\nby: kim (1), lee (1)\n"),
        "{}",
        told.stdout
    );
    let told = folder.kb("search sea --facet by --json").expect(0);
    let last = told.json_lines().pop().unwrap();
    assert_eq!(last["facets"][0]["values"][1]["value"], "lee");
    let told = folder.kb("search sea --sort yaer").expect(2);
    told.stderr_has("did you mean \"year\"");
    for (condition, listed) in [
        ("by = \"kim\"", "a.md\n"),
        ("missing(year)", "b.md\n"),
        ("size > 1", "a.md\nb.md\n"),
    ] {
        let told = folder.kb(["ls", "--where", condition]).expect(0);
        assert_eq!(told.stdout, listed, "{condition}");
    }
    folder.kb(["ls", "--where", "year = 1"]).expect(1);
    let told = folder.kb(["ls", "--where", "yaer = 1"]).expect(2);
    assert!(told.stderr.contains("did you mean \"year\""), "{told:#?}");
    let told = folder.kb("get a.md --format metadata --json").expect(0);
    assert_eq!(told.json_lines()[0]["metadata"]["by"], "Kim, Lee");
    let told = folder.kb("info --fields").expect(0);
    let expected = "by    text     1 document  kim, lee\nyear  integer  1 document  2016\nzip   text     1 document  01\n";
    assert_eq!(told.stdout, expected);
    let told = folder.kb("info --fields --json").expect(0);
    assert_eq!(told.json_lines()[1]["top"][0]["value"], "2016");
    let told = folder.kb("info --values By").expect(0);
    assert_eq!(told.stdout, "        1  kim\n        1  lee\n");
    folder.kb("info --values none").expect(1);
    for (wrong, said) in [
        ("year", "NAME=VALUE"),
        ("a<b=1", "no name of a field"),
        ("tags=x", "as tags"),
    ] {
        let told = add(&["in/b.md", "--replace", "--meta", wrong]).expect(2);
        told.stderr_has(said);
    }
}

#[test]
fn rows_are_imported_as_documents() {
    let folder = Folder::empty();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLX");
    let rows = [
        "{\"text\": \"The sea.\", \"path\": \"a.md\", \"tags\": [\"x\"], \"year\": 2016}"
            .to_owned(),
        String::new(),
        "{\"text\": \"The sea.\", \"metadata\": {\"year\": \"2016\", \"by\": [\"Kim\"]}}"
            .to_owned(),
        format!("{{\"text\": \"aws_access_key_id = {secret}\"}}"),
    ];
    folder.write("in/books.jsonl", rows.join("\n"));
    folder.write("in/more.csv", "text,year,path\nThe sea.,2020,c.txt\n");
    let import = |arguments: &[&str]| {
        run(folder
            .command()
            .args(["import", "documents", "new.kb"])
            .args(arguments))
    };
    let told = import(&["in/books.jsonl", "--json"]).expect(0);
    let reported = &told.json_lines()[0];
    assert_eq!(reported["imported"], 2);
    assert_eq!(reported["refused"], 1);
    told.stderr_has("1 row");
    import(&["in/more.csv"]).expect(0);
    for (condition, found) in [
        ("year >= 2016", &["a.md", "c.txt"][..]),
        ("year = \"2016\" and by = \"Kim\"", &["books/00000003.txt"]),
        ("tags has \"x\"", &["a.md"]),
    ] {
        let told = folder
            .kb(["search", "--where", condition, "--json"])
            .expect(0);
        let lines = told.json_lines();
        let mut names = documents(&lines);
        names.sort_unstable();
        assert_eq!(names, found, "{condition}");
    }
    let told = import(&["in/books.jsonl"]).expect(2);
    told.stderr_has("books.jsonl:1: ");
    told.stderr_has("nothing was imported");
    let told = import(&["in/books.jsonl", "--replace", "--include-secrets", "--json"]).expect(0);
    assert_eq!(told.json_lines()[0]["replaced"], 2);
    folder.write("in/wrong.csv", "text,year\nThe sea.,1\nThe,sea,2\n");
    let told = import(&["in/wrong.csv"]).expect(2);
    told.stderr_has("wrong.csv:3: ");
}

#[test]
fn standard_input_is_added_as_its_path_says() {
    let folder = Folder::indexed();
    let page = b"<title>Ferries</title><meta name=author content=Ada><h1>Ferries</h1><p>To the outer skerry.</p>";
    let added = folder
        .kb_with_input(
            [
                "add",
                "-",
                "--path",
                "web/ferry.html",
                "--tag",
                "Ferry",
                "--tag",
                "web",
                "--json",
            ],
            page,
        )
        .expect(0)
        .json_lines();
    assert_eq!(added[0]["document"], "web/ferry.html");
    assert_eq!(added[0]["file_type"], "html");
    assert_eq!(added[0]["title"], "Ferries");
    assert_eq!(added[0]["tags"], serde_json::json!(["ferry", "web"]));
    assert_eq!(added[0]["replaced"], false);
    let found = folder.kb("search 'outer skerry' --json").expect(0);
    let lines = found.json_lines();
    assert_eq!(documents(&lines)[0], "web/ferry.html");
    assert_eq!(lines[0]["metadata"], serde_json::json!({"author": "Ada"}));
    let unnamed = folder.kb_with_input(["add", "-"], page).expect(2);
    assert!(unnamed.hint().contains("--path"), "{unnamed:#?}");
    let title = [
        "add",
        "-",
        "--path",
        "log.txt",
        "--title",
        "Log of today",
        "--json",
    ];
    let titled = folder
        .kb_with_input(title, b"calm\n")
        .expect(0)
        .json_lines();
    assert_eq!(titled[0]["title"], "Log of today");
}

#[test]
fn an_added_document_survives_index_and_needs_replace() {
    let folder = Folder::indexed();
    folder.write("minutes.md", "# Minutes\n\nThe first meeting.\n");
    let first = object(&folder, ["add", "minutes.md", "--tag", "meeting", "--json"]);
    folder.kb("index harbour").expect(0);
    let told = folder.kb("add minutes.md").expect(2);
    assert_eq!(told.hint(), "`kb add minutes.md --replace` replaces it");
    let json = folder.kb("add minutes.md --json").expect(2);
    assert_eq!(json.error_code(), "DOCUMENT_EXISTS");
    folder.write("minutes.md", "# Minutes\n\nThe second meeting.\n");
    let second = object(&folder, ["add", "minutes.md", "--replace", "--json"]);
    assert_eq!(second["replaced"], true);
    assert_eq!(second["handle"], first["handle"]);
    assert_eq!(second["tags"], first["tags"]);
    assert!(
        folder
            .kb("get minutes.md")
            .expect(0)
            .stdout
            .contains("second meeting")
    );
}

#[test]
fn what_cannot_be_added_is_named_with_the_reason() {
    let folder = Folder::indexed();
    let before = listed(&folder);
    let binary = folder.kb("add harbour/logo.png --json").expect(2);
    assert_eq!(binary.error_code(), "INVALID_ARGUMENT");
    binary.stderr_has("logo.png");
    let mut large = vec![0_u8; 12 << 20];
    large.extend_from_slice(b"tail");
    folder.write("large.bin", &large);
    let told = folder.kb("add large.bin").expect(2);
    told.stderr_has("large.bin");
    let gone = folder.kb("add gone.md --json").expect(2);
    assert_eq!(gone.error_code(), "PATH_NOT_FOUND");
    let whole = folder.kb("add harbour").expect(2);
    assert!(whole.hint().contains("kb index harbour"), "{whole:#?}");
    for path in ["/etc/passwd", "a//b", "../x", ""] {
        let told = folder.kb(["add", "harbour/notes.txt", "--path", path, "--json"]);
        assert_eq!(told.expect(2).error_code(), "INVALID_ARGUMENT", "{path:?}");
    }
    let comma = folder.kb("add harbour/notes.txt --path n.txt --tag a,b");
    assert!(comma.expect(2).stderr.contains("\"a,b\""));
    assert_eq!(listed(&folder), before);
}

#[test]
fn documents_are_removed_all_or_none() {
    let folder = Folder::indexed();
    let told = folder
        .kb("rm harbour.kb docs/guide.md docs/instal.rst")
        .expect(2);
    assert_eq!(told.hint(), "`kb rm harbour.kb docs/install.rst`");
    folder.kb("get docs/guide.md").expect(0);

    let handle = object(&folder, ["get", "tide.rs", "--json"])["handle"].clone();
    let told = folder
        .kb([
            "rm",
            "harbour.kb",
            "guide.md",
            handle.as_str().unwrap(),
            "kb://harbour/doc/notes.txt",
        ])
        .expect(0);
    assert_eq!(told.stdout, "docs/guide.md\nsrc/tide.rs\nnotes.txt\n");
    assert!(told.hint().contains(".kbignore"), "{told:#?}");
    folder.kb("get docs/guide.md").expect(2);
    let info = object(&folder, ["info", "--json"]);
    assert_eq!(info["documents"], 4);
    // They come back with the next run, as the hint says.
    let back = folder.kb("index harbour").expect(0);
    back.stdout_has("added 3");

    let missing = folder.kb("rm gone.kb notes.txt --json").expect(2);
    assert_eq!(missing.error_code(), "PATH_NOT_FOUND");
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
}

#[test]
fn fields_are_set_removed_shown_and_searched() {
    let folder = Folder::indexed();
    let set = ["--set", "year=2024", "--set", "by=Kim", "--set", "by=Lee"];
    let told = run(folder
        .command()
        .args(["meta", "guide.md", "notes.txt"])
        .args(set))
    .expect(0);
    assert_eq!(
        told.stdout,
        "docs/guide.md\n  year: 2024\n  by: Kim, Lee\nnotes.txt\n  year: 2024\n  by: Kim, Lee\n"
    );
    let told = folder
        .kb([
            "meta",
            "notes.txt",
            "--remove",
            "By",
            "--set",
            "year=2025",
            "--json",
        ])
        .expect(0);
    let metadata = &told.json_lines()[0]["metadata"];
    assert_eq!(*metadata, serde_json::json!({"year": "2025"}));
    assert_eq!(
        folder.kb(["meta", "tide.rs"]).expect(0).stdout,
        "src/tide.rs\n"
    );
    let search = [
        "search",
        "the harbour in winter",
        "--where",
        "year = 2025",
        "--json",
    ];
    assert_eq!(
        documents(&folder.kb(search).expect(0).json_lines()),
        ["notes.txt"]
    );
    // The file changes, and what was set stays.
    folder.write("harbour/notes.txt", "The harbour in winter is closed.\n");
    folder
        .kb(["index", "harbour", "-o", "harbour.kb"])
        .expect(0);
    assert_eq!(
        documents(&folder.kb(search).expect(0).json_lines()),
        ["notes.txt"]
    );
    // All or none.
    let before = listed(&folder);
    let wrong = folder
        .kb(["meta", "notes.txt", "giude.md", "--set", "a=1"])
        .expect(2);
    assert_eq!(wrong.hint(), "`kb meta --set a=1 docs/guide.md`");
    for wrong in ["year", "a<b=1", "tags=x"] {
        folder.kb(["meta", "notes.txt", "--set", wrong]).expect(2);
    }
    assert_eq!(listed(&folder), before);
}

#[test]
fn tags_are_given_taken_shown_and_searched() {
    let folder = Folder::indexed();
    let told = folder
        .kb("tag guide.md notes.txt --add Sea --add 'to ship'")
        .expect(0);
    assert_eq!(
        told.stdout,
        "docs/guide.md  sea, to ship\nnotes.txt  sea, to ship\n"
    );
    let told = folder.kb("tag notes.txt --remove sea --json").expect(0);
    assert_eq!(told.json_lines()[0]["tags"], serde_json::json!(["to ship"]));
    assert_eq!(folder.kb("tag tide.rs").expect(0).stdout, "src/tide.rs\n");

    let found = folder
        .kb("search 'the harbour in winter' --tag sea --json")
        .expect(0)
        .json_lines();
    assert!(
        documents(&found)
            .iter()
            .all(|path| *path == "docs/guide.md"),
        "{found:#?}"
    );
    for verb in [["get", "guide.md", "--json"], ["ls", "docs", "--json"]] {
        let shown = &folder.kb(verb).expect(0).json_lines()[0];
        assert_eq!(shown["tags"], serde_json::json!(["sea", "to ship"]));
        assert!(
            shown["handle"]
                .as_str()
                .unwrap()
                .starts_with("keeper-s-guide-"),
            "{shown:#}"
        );
    }
    // Tags stay when the file changes.
    folder.write("harbour/notes.txt", "Order no paraffin.\n");
    folder.kb("index harbour").expect(0);
    assert_eq!(
        folder.kb("tag notes.txt").expect(0).stdout,
        "notes.txt  to ship\n"
    );
}

#[test]
fn wrong_tags_and_names_change_nothing() {
    let folder = Folder::indexed();
    let before = listed(&folder);
    for tag in ["a,b", "", "a\nb"] {
        let told = folder
            .kb(["tag", "notes.txt", "--add", tag, "--json"])
            .expect(2);
        assert_eq!(told.error_code(), "INVALID_ARGUMENT");
    }
    let told = folder.kb("tag notes.txt giude.md --add sea").expect(2);
    assert_eq!(told.hint(), "`kb tag --add sea docs/guide.md`");
    assert_eq!(folder.kb("tag notes.txt").expect(0).stdout, "notes.txt\n");
    let unknown = folder.kb("tag giude.md --json").expect(2);
    assert_eq!(unknown.error_code(), "DOCUMENT_NOT_FOUND");
    assert_eq!(listed(&folder), before);
}
