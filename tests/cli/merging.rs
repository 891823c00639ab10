//! `kb merge`, `kb diff` and `kb patch`.

use crate::support::Folder;

/// Two files of folders that were indexed apart, with one path in both.
fn two_files() -> Folder {
    let folder = Folder::empty();
    folder.write(
        "lights/fog.md",
        "# Fog\n\nThe fog lamp is lit by the keeper.\n",
    );
    folder.write("lights/shared.md", "# Shared\n\nOf the lights.\n");
    folder.write(
        "boats/drift.md",
        "# Drift\n\nHow a buoy drifts with the tide.\n",
    );
    folder.write("boats/shared.md", "# Shared\n\nOf the boats.\n");
    folder.write("boats/tide.rs", "pub fn next_high_water() {}\n");
    folder.kb("index lights -o lights.kb").expect(0);
    folder.kb("index boats -o boats.kb").expect(0);
    folder
}

#[test]
fn paths_that_clash_are_named_and_nothing_is_written() {
    let folder = two_files();
    let told = folder.kb("merge lights.kb boats.kb -o all.kb").expect(2);
    told.stderr_has("shared.md");
    told.stderr_has("keep-newest");
    assert!(told.hint().contains("--folders"), "{told:#?}");
    assert!(!folder.join("all.kb").exists());
    let json = folder
        .kb("merge lights.kb boats.kb -o all.kb --json")
        .expect(2);
    assert_eq!(json.error_code(), "INVALID_ARGUMENT");
}

#[test]
fn both_files_are_found_in_the_merged_one() {
    let folder = two_files();
    let merge = "merge lights.kb boats.kb -o all.kb --on-conflict keep-last";
    let told = folder.kb(merge).expect(0);
    told.stdout_has("all.kb  added 3 documents, 1 replaced");
    for (query, path) in [
        ("who lights the fog lamp", "fog.md"),
        ("drift of a buoy", "drift.md"),
        ("next_high_water", "tide.rs"),
        ("of the boats", "shared.md"),
    ] {
        let found = folder.kb(["search", "-f", "all.kb", query]).expect(0);
        assert!(found.stdout.contains(path), "{query}: {found:#?}");
    }
    folder.kb("verify all.kb --deep").expect(0);
    // Again: everything is there.
    let again = folder.kb("merge boats.kb --into all.kb --json").expect(0);
    let report = again.json_lines().remove(0);
    assert_eq!(
        (&report["added"], &report["identical"]),
        (&0.into(), &3.into())
    );
    let refused = folder.kb("merge boats.kb -o all.kb").expect(2);
    assert!(refused.hint().contains("--into all.kb"), "{refused:#?}");
    folder.kb("merge boats.kb -o all.kb --force").expect(0);
    let listed = folder.kb("ls -f all.kb").expect(0);
    assert!(!listed.stdout.contains("fog.md"), "{listed:#?}");
}

#[test]
fn each_file_may_have_a_folder_and_a_part_be_taken() {
    let folder = two_files();
    folder
        .kb("merge lights.kb boats.kb -o all.kb --folders --tag merged")
        .expect(0);
    for path in ["lights/shared.md", "boats/shared.md", "boats/tide.rs"] {
        let got = folder.kb(["get", path, "-f", "all.kb"]).expect(0);
        assert!(!got.stdout.is_empty());
    }
    let tagged = folder
        .kb("search buoy -f all.kb --tag merged --json")
        .expect(0);
    assert!(tagged.stdout.contains("boats/drift.md"), "{tagged:#?}");
    let part = [
        "merge", "all.kb", "-o", "part.kb", "--only", "boats/**", "--only", "!**/*.rs",
    ];
    folder.kb(part).expect(0).stdout_has("added 2 documents");
    let none = ["merge", "all.kb", "-o", "none.kb", "--only", "planes/**"];
    folder.kb(none).expect(2).stderr_has("--only");
    assert!(!folder.join("none.kb").exists());
    folder.kb("verify part.kb --deep").expect(0);
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let folder = two_files();
    folder.write("text.kb", "no file of ours");
    let told = folder.kb("merge lights.kb text.kb -o all.kb").expect(2);
    told.stderr_has("text.kb");
    let gone = folder.kb("merge lights.kb gone.kb -o all.kb").expect(2);
    gone.stderr_has("gone.kb");
    let itself = folder.kb("merge lights.kb --into lights.kb").expect(2);
    itself.stderr_has("into itself");
    folder.kb("merge lights.kb").expect(2);
    folder
        .kb("merge lights.kb boats.kb -o all.kb --on-conflict newest")
        .expect(2);
    assert!(!folder.join("all.kb").exists());
    folder.kb("verify lights.kb --deep").expect(0);
}

/// Two versions of the documents of a folder, sealed.
fn two_versions() -> Folder {
    let folder = Folder::empty();
    folder.write(
        "docs/fog.md",
        "# Fog\n\nThe fog lamp is lit by the keeper.\n",
    );
    folder.write("docs/gone.md", "# Gone\n\nOf the old boats.\n");
    folder.write("docs/same.md", "# Same\n\nHigh water at noon.\n");
    folder.kb("index docs -o work.kb").expect(0);
    folder.kb("seal work.kb -o old.kb").expect(0);
    folder.write("docs/fog.md", "# Fog\n\nThe fog lamp is lit by a clock.\n");
    folder.write("docs/new.md", "# New\n\nA buoy was moored.\n");
    std::fs::remove_file(folder.join("docs/gone.md")).unwrap();
    folder.kb("index docs -o work.kb").expect(0);
    folder.kb("tag same.md --add calm -f work.kb").expect(0);
    folder.kb("seal work.kb -o new.kb").expect(0);
    folder
}

#[test]
fn a_difference_is_a_list_and_a_status() {
    let folder = two_versions();
    let told = folder.kb("diff old.kb new.kb").expect(1);
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "~ fog.md  text",
            "- gone.md",
            "+ new.md",
            "~ same.md  tags",
            "1 document added, 1 removed, 2 changed, 0 unchanged"
        ]
    );
    let json = folder.kb("diff old.kb new.kb --json").expect(1);
    let found = json.json_lines().remove(0);
    assert_eq!(found["changed"][0]["document"], "fog.md");
    assert_eq!(found["changed"][1]["changes"][0], "tags");
    let none = folder.kb("diff new.kb new.kb").expect(0);
    none.stdout_has("0 documents added, 0 removed, 0 changed, 3 unchanged");
    folder
        .kb("diff old.kb none.kb")
        .expect(2)
        .stderr_has("none.kb");
    folder
        .kb("diff old.kb new.kb --patch")
        .expect(2)
        .stderr_has("--output");
}

#[test]
fn a_patch_brings_a_file_up_to_date() {
    let folder = two_versions();
    folder
        .kb("diff old.kb new.kb --patch -o up.kbp")
        .expect(0)
        .stdout_has("1 document added, 1 removed, 2 changed");
    let root = |file: &str| {
        let info = folder.kb(["info", "--json", "-f", file]).expect(0);
        info.json_lines().remove(0)["content_root"].clone()
    };
    folder
        .kb("patch old.kb up.kbp -o made.kb")
        .expect(0)
        .stdout_has("content root");
    assert_eq!(root("made.kb"), root("new.kb"));
    assert!(root("new.kb").is_string());
    folder.kb("verify made.kb --deep").expect(0);
    folder.kb("diff made.kb new.kb").expect(0);
    // What came with the patch belongs to the folder, as before.
    folder.write("docs/fog.md", "# Fog\n\nNobody lights the fog lamp.\n");
    let indexed = folder.kb("index docs -o made.kb").expect(0);
    indexed.stdout_has("updated 1");
    assert!(!indexed.stdout.contains("skipped 1"), "{indexed:#?}");

    let wrong = folder.kb("patch new.kb up.kbp -o other.kb").expect(2);
    wrong.stderr_has("the patch is for old.kb");
    assert!(!folder.join("other.kb").exists());
    let taken = folder.kb("patch old.kb up.kbp -o new.kb").expect(2);
    assert!(taken.hint().contains("--force"), "{taken:#?}");
    let none = folder.kb("patch old.kb new.kb -o other.kb").expect(2);
    none.stderr_has("is no patch");
    folder
        .kb("patch old.kb none.kbp -o other.kb")
        .expect(2)
        .stderr_has("none.kbp");
    folder
        .kb("patch old.kb up.kbp -o old.kb --force --json")
        .expect(0);
    assert_eq!(root("old.kb"), root("new.kb"));
}
