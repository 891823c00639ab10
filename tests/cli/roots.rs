//! Which root of a sealed file a folder is.

use crate::support::Folder;

/// `s.kb`: the sealed form of `p1/docs`, which has three documents.
fn sealed() -> Folder {
    let folder = Folder::empty();
    for name in ["README", "alpha", "beta"] {
        folder.write(format!("p1/docs/{name}.md"), format!("# {name}\n"));
    }
    folder.kb("index p1/docs -o s.kb").expect(0);
    folder.kb("seal s.kb").expect(0);
    folder
}

fn listed(folder: &Folder) -> String {
    folder.kb("ls -r -f s.kb").expect(0).stdout
}

/// One common path used to be enough to take another folder of that name for the root, and the
/// documents that it does not have were removed.
#[test]
fn another_folder_of_the_name_of_a_sealed_root_removes_nothing() {
    let folder = sealed();
    folder.write("p2/docs/README.md", "# another\n");
    folder.write("p2/docs/gamma.md", "# gamma\n");
    let checked = folder.kb("index p2/docs -o s.kb --check --json").expect(1);
    let object = &checked.json_lines()[0];
    assert_eq!(
        (&object["added"], &object["removed"]),
        (&2.into(), &0.into())
    );
    assert_eq!(object["similar_roots"][0]["root"], "docs");
    let told = folder.kb("index p2/docs -o s.kb").expect(0);
    told.stdout_has("added 2, updated 0, removed 0");
    assert!(
        told.stderr.contains("is treated as a new root, docs/")
            && told.stderr.contains("0 of 3 sampled files"),
        "{told:#?}"
    );
    assert!(listed(&folder).contains("alpha.md\nbeta.md\n"));

    // The hint is the remedy where it is the same folder after all.
    let hint = told.hint();
    assert!(
        hint.contains("`kb index p2/docs -o s.kb --root docs`"),
        "{hint}"
    );
    let told = folder.kb("index p2/docs -o s.kb --root docs").expect(0);
    assert_eq!(told.stderr, "");
    assert_eq!(listed(&folder), "README.md\ngamma.md\n");
    folder.kb("verify s.kb --deep").expect(0);
}

#[test]
fn an_unknown_root_is_refused_with_the_known_ones() {
    let folder = sealed();
    let told = folder
        .kb("index p1/docs -o s.kb --root dox --json")
        .expect(2);
    assert_eq!(told.error_code(), "INVALID_ARGUMENT");
    told.stderr_has("docs (root .)");
    let two = folder.kb("index p1 p1/docs -o s.kb --root docs").expect(2);
    two.stderr_has("one path");
}

#[test]
fn a_folder_with_most_of_the_files_is_the_root_wherever_it_is() {
    let folder = sealed();
    std::fs::rename(folder.join("p1"), folder.join("moved")).unwrap();
    folder.write("moved/docs/beta.md", "# edited\n");
    let told = folder.kb("index moved/docs -o s.kb").expect(0);
    told.stdout_has("added 0, updated 1, removed 0");
    assert_eq!(told.stderr, "");
}

/// `s.kb`: the sealed form of `a/b`, and of `a` around it.
fn sealed_nested() -> Folder {
    let folder = Folder::empty();
    for number in 1..4 {
        folder.write(
            format!("a/b/inner{number}.md"),
            format!("# inner {number}\n"),
        );
        folder.write(format!("a/outer{number}.md"), format!("# outer {number}\n"));
    }
    folder.kb("index a/b -o s.kb").expect(0);
    folder.kb("index a -o s.kb").expect(0);
    folder.kb("seal s.kb").expect(0);
    folder
}

/// A sealed file has no places, so the outer of two nested roots used to take all documents of the
/// inner one again.
#[test]
fn nested_roots_of_a_sealed_file_keep_each_document_once() {
    for order in [["a", "a/b"], ["a/b", "a"]] {
        let folder = sealed_nested();
        let before = listed(&folder);
        for path in order {
            let told = folder.kb(["index", path, "-o", "s.kb"]).expect(0);
            assert!(told.stdout.contains("nothing changed"), "{path} {told:#?}");
        }
        folder.kb("verify s.kb --source a --source a/b").expect(0);
        folder.kb("verify s.kb --source a").expect(0);
        // The same when something did change.
        folder.write("a/outer1.md", "# edited\n");
        folder.write("a/b/inner1.md", "# edited too\n");
        for path in order {
            let told = folder.kb(["index", path, "-o", "s.kb"]).expect(0);
            assert!(
                told.stdout.contains("added 0, updated 1, removed 0"),
                "{path} {told:#?}"
            );
        }
        assert_eq!(listed(&folder), before);
        folder.kb("verify s.kb --deep").expect(0);
        // Now the file knows where both are.
        folder.write("a/b/new.md", "# new\n");
        let told = folder.kb("index a -o s.kb").expect(0);
        told.stdout_has("nothing changed");
    }
}

/// A folder that the outer root has documents of is a part of it, even where it is a copy of another
/// root.
#[test]
fn a_copy_of_a_root_inside_another_root_keeps_its_documents() {
    let folder = Folder::empty();
    for place in ["a/b", "elsewhere/b"] {
        folder.write(format!("{place}/one.md"), "# one\n");
    }
    for number in 1..4 {
        folder.write(format!("a/outer{number}.md"), format!("# outer {number}\n"));
    }
    folder.kb("index a -o s.kb").expect(0);
    folder.kb("index elsewhere/b -o s.kb").expect(0);
    folder.kb("seal s.kb").expect(0);
    folder.write("a/outer1.md", "# edited\n");
    let told = folder.kb("index a -o s.kb").expect(0);
    told.stdout_has("added 0, updated 1, removed 0");
}
