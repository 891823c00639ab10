//! `kb seal` and `kb verify`.

use crate::support::Folder;

#[test]
fn a_sealed_file_answers_the_same_and_says_its_content_root() {
    let folder = Folder::indexed();
    let ask = |file: &str| {
        let told = folder.kb(["search", "fog horn", "--json", "-f", file]);
        told.expect(0).stdout
    };
    let right = ask("harbour.kb");
    folder.kb("rm harbour.kb notes.txt").expect(0);
    let info = &folder.kb("info --json").expect(0).json_lines()[0];
    assert_eq!(info["deleted_chunks"], 1);
    assert!(info["content_root"].is_null());
    folder.kb("index harbour").expect(0);

    let told = folder.kb("seal harbour.kb -o ship.kb").expect(0);
    assert!(told.stdout.starts_with("ship.kb  "), "{told:#?}");
    let root = told
        .stdout
        .trim_end()
        .rsplit(' ')
        .next()
        .unwrap()
        .to_owned();
    assert_eq!(root.len(), 64, "{told:#?}");
    assert_eq!(ask("ship.kb"), right);

    let object = &folder.kb("seal harbour.kb --json").expect(0).json_lines()[0];
    assert_eq!(object["content_root"], *root);
    assert_eq!(object["documents"], 7);
    let length = std::fs::metadata(folder.join("harbour.kb")).unwrap().len();
    assert_eq!(object["bytes_after"], length);
    let info = &folder.kb("info harbour.kb --json").expect(0).json_lines()[0];
    assert_eq!(info["content_root"], *root);
    assert_eq!(info["deleted_chunks"], 0);
    let told = folder.kb("info harbour.kb").expect(0);
    told.stdout_has(&root);
    assert_eq!(folder.names(), ["harbour", "harbour.kb", "ship.kb"]);
}

#[test]
fn seal_writes_over_nothing_of_another_kind() {
    let folder = Folder::indexed();
    folder.write("thesis.txt", "years of work\n");
    let told = folder.kb("seal harbour.kb -o thesis.txt --json").expect(2);
    assert_eq!(told.error_code(), "NOT_A_KB");
    assert_eq!(
        std::fs::read(folder.join("thesis.txt")).unwrap(),
        b"years of work\n"
    );
    let told = folder.kb("seal harbour.kb -o harbour").expect(2);
    assert_eq!(told.hint(), "`-o harbour/harbour.kb`");
    let gone = folder.kb("seal gone.kb --json").expect(2);
    assert_eq!(gone.error_code(), "PATH_NOT_FOUND");
    let nowhere = folder.kb("seal harbour.kb -o no/such/a.kb").expect(2);
    nowhere.stderr_has("no/such");
    assert_eq!(folder.names(), ["harbour", "harbour.kb", "thesis.txt"]);
}

#[test]
fn a_sound_file_passes_and_tells_how_much_was_checked() {
    let folder = Folder::indexed();
    for arguments in [
        ["verify", "harbour.kb", "--json"],
        ["verify", "--deep", "--json"],
    ] {
        let object = &folder.kb(arguments).expect(0).json_lines()[0];
        assert_eq!(object["damaged"], false);
        assert_eq!(object["documents"], 7);
        assert!(object["bytes"].as_u64().unwrap() > 0, "{object:#}");
        assert_eq!(object["problems"], serde_json::json!([]));
    }
    let told = folder.kb("verify").expect(0);
    assert!(
        told.stdout
            .starts_with("harbour.kb  no problems found: 7 documents, "),
        "{told:#?}"
    );
    assert!(told.stdout.contains(" MB/s)"), "{told:#?}");
}

#[test]
fn a_damaged_file_fails_with_its_problems() {
    let folder = Folder::indexed();
    let bytes = std::fs::read(folder.join("harbour.kb")).unwrap();
    let mut damaged = 0;
    for position in (4096..bytes.len()).step_by((bytes.len() / 40) | 1) {
        let mut flipped = bytes.clone();
        flipped[position] ^= 0x10;
        folder.write("flipped.kb", &flipped);
        let told = folder.kb("verify flipped.kb --json");
        if told.code == Some(0) {
            continue;
        }
        let told = told.expect(2);
        assert_eq!(told.error_code(), "DAMAGED", "{told:#?}");
        damaged += 1;
    }
    assert!(damaged > 0);
    let gone = folder.kb("verify gone.kb --json").expect(2);
    assert_eq!(gone.error_code(), "PATH_NOT_FOUND");
}

#[test]
fn a_file_is_compared_with_the_folder_wherever_it_is_now() {
    let folder = Folder::indexed();
    std::fs::create_dir(folder.join("moved")).unwrap();
    std::fs::rename(folder.join("harbour"), folder.join("moved/harbour")).unwrap();
    let source = ["verify", "harbour.kb", "--source", "moved/harbour"];
    let same = folder.kb(source).expect(0);
    let nothing = "\n  nothing changed, skipped 1\n";
    same.stdout_has(nothing);
    folder.write("moved/harbour/docs/new.md", "# New\n");
    folder.write("moved/harbour/notes.txt", "Another one.\n");
    std::fs::remove_file(folder.join("moved/harbour/src/tide.rs")).unwrap();
    let differs = folder.kb(source).expect(1);
    let paths = "\n  + docs/new.md\n  ~ notes.txt\n  - src/tide.rs\n";
    assert!(differs.stdout.ends_with(paths), "{differs:#?}");
    let mut json = folder.command();
    let json = crate::support::run(json.args(source).arg("--json")).expect(1);
    let object = &json.json_lines()[0];
    assert_eq!(
        (&object["added"], &object["damaged"]),
        (&1.into(), &false.into())
    );
    assert_eq!(object["changes"][2]["change"], "removed");
}

#[test]
fn i4_vectors_are_chosen_for_a_new_file_or_at_sealing() {
    let folder = Folder::indexed();
    let codec = |file: &str| {
        let told = folder.kb(["info", file, "--json"]).expect(0);
        told.json_lines()[0]["vectors"].as_str().unwrap().to_owned()
    };
    let root = |told: crate::support::Outcome| {
        let object = &told.expect(0).json_lines()[0];
        object["content_root"].as_str().unwrap().to_owned()
    };
    assert_eq!(codec("harbour.kb"), "i8");
    let sealed = root(folder.kb("seal harbour.kb -o wide.kb --json"));
    let narrow = [
        "seal",
        "harbour.kb",
        "-o",
        "narrow.kb",
        "--vectors",
        "i4",
        "--json",
    ];
    assert_eq!(root(folder.kb(narrow)), sealed);
    assert_eq!(
        (codec("wide.kb"), codec("narrow.kb")),
        ("i8".into(), "i4".into())
    );
    folder.kb("verify narrow.kb --deep").expect(0);
    let told = folder.kb("seal narrow.kb --vectors i8 --json").expect(2);
    assert_eq!(told.error_code(), "INVALID_ARGUMENT");

    let again = ["index", "harbour", "--vectors", "i4"];
    let told = folder.kb(again).expect(2);
    assert!(
        told.stderr.starts_with("error: --vectors: ") && told.hint().contains("--rebuild"),
        "{told:#?}"
    );
    let told = folder.kb("index harbour --vectors i4 --rebuild").expect(0);
    let rebuilt = "\n  rebuilt with i4 vectors: added 0, updated 0, removed 0, unchanged 7, ";
    told.stdout_has(rebuilt);
    assert_eq!(codec("harbour.kb"), "i4");
    folder.kb(again).expect(0);
    folder.write("harbour/more.md", "# More\n\nA buoy of nibbles.\n");
    folder.kb("index harbour").expect(0);
    folder.kb("verify harbour.kb --deep").expect(0);
    let told = folder.kb("search 'buoy of nibbles' -f harbour.kb --mode semantic");
    assert!(told.expect(0).stdout.contains("more.md"));
    let told = folder.kb("index harbour --rebuild").expect(0);
    told.stdout_has("\n  rebuilt: added 0, ");
    assert_eq!(codec("harbour.kb"), "i4");
}

/// Another .kb at the output used to be replaced without a word, with all documents in it.
#[test]
fn seal_replaces_another_kb_only_by_force() {
    let folder = Folder::indexed();
    folder.write("diary/today.md", "# Today\n");
    folder.kb("index diary -o diary.kb").expect(0);
    let before = std::fs::read(folder.join("diary.kb")).unwrap();
    let told = folder.kb("seal harbour.kb -o diary.kb --json").expect(2);
    assert_eq!(told.error_code(), "OUTPUT_EXISTS", "{told:#?}");
    assert!(std::fs::read(folder.join("diary.kb")).unwrap() == before);
    let told = folder.kb("seal harbour.kb -o diary.kb").expect(2);
    assert!(
        told.hint()
            .contains("`kb seal harbour.kb -o diary.kb --force`"),
        "{told:#?}"
    );
    folder.kb("seal harbour.kb -o diary.kb --force").expect(0);
    folder.kb("verify diary.kb --source harbour").expect(0);
    // In its own place nothing is asked, however that is spelled.
    folder.kb("seal harbour.kb").expect(0);
    folder.kb("seal harbour.kb -o ./harbour.kb").expect(0);
    // What is no .kb is not replaced by force either.
    folder.write("thesis.txt", "years of work\n");
    let told = folder
        .kb("seal harbour.kb -o thesis.txt --force --json")
        .expect(2);
    assert_eq!(told.error_code(), "NOT_A_KB");
    assert_eq!(
        folder.names(),
        ["diary", "diary.kb", "harbour", "harbour.kb", "thesis.txt"]
    );
}
