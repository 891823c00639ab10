//! Documents, folders and paths of one small file.

use crate::content::Folders;
use crate::kb::{Kb, KbWriter};

const PATHS: [&str; 6] = [
    "Zoo/apes/ape.txt",
    "a-b/x.txt",
    "a/deep/er/y.txt",
    "a/deep/z.txt",
    "a/x.txt",
    "top.txt",
];

fn kb() -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    for path in PATHS {
        writer.add_bytes(path, path.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    (folder, Kb::open(&file).unwrap())
}

/// A file with two documents, the second with that path and text.
pub(crate) fn two_documents(path: &str, text: &str) -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer.add_bytes("0.txt", b"first\nof all\n").unwrap();
    writer.add_bytes(path, text.as_bytes()).unwrap();
    writer.commit().unwrap();
    (folder, Kb::open(&file).unwrap())
}

#[test]
fn documents_come_after_a_path_whether_it_exists_or_not() {
    let (_folder, kb) = kb();
    let after = |after, limit| -> Vec<String> {
        let found = kb.documents_after(after, limit).unwrap();
        found.into_iter().map(|document| document.path).collect()
    };
    assert_eq!(after(None, 9), PATHS);
    assert_eq!(after(None, 2), PATHS[..2]);
    for place in 0..PATHS.len() {
        assert_eq!(
            after(Some(PATHS[place]), 2),
            PATHS[place + 1..]
                .iter()
                .take(2)
                .copied()
                .collect::<Vec<_>>()
        );
    }
    assert_eq!(after(Some("a/e"), 1), ["a/x.txt"]);
    assert_eq!(after(Some("zzz"), 9), [""; 0]);
    assert_eq!(after(None, 0), [""; 0]);
}

#[test]
fn a_document_is_found_at_its_path_and_nowhere_else() {
    let (_folder, kb) = kb();
    let found = kb.document_at("a/deep/z.txt").unwrap().unwrap();
    assert_eq!(found, kb.document("z.txt").unwrap());
    let long = "x".repeat(1 << 20);
    for other in ["z.txt", "./top.txt", "", &found.handle, &long] {
        assert_eq!(kb.document_at(other).unwrap(), None, "{other}");
    }
    let error = kb.document(&long).unwrap_err();
    assert_eq!(error.code(), "DOCUMENT_NOT_FOUND");
}

#[test]
fn a_folder_of_folders_has_no_documents_of_its_own() {
    let (_folder, kb) = kb();
    let page = crate::paging::PageOptions::default();
    let count = |folder, is_recursive| {
        let found = kb.documents(folder, is_recursive, &page);
        found.map(|documents| documents.len())
    };
    assert_eq!(count(Some("Zoo"), false).unwrap(), 0);
    assert_eq!(count(Some("Zoo"), true).unwrap(), 1);
    assert_eq!(count(Some("a"), false).unwrap(), 1);
    assert_eq!(count(None, false).unwrap(), 1);
    let error = count(Some("Zo"), false).unwrap_err();
    assert_eq!(error.code(), "FOLDER_NOT_FOUND");
}

#[test]
fn the_deepest_folders_are_left_out_first() {
    let (_folder, kb) = kb();
    let all = kb.folders(u64::MAX).unwrap();
    assert_eq!(all.top, ["Zoo", "a-b", "a"]);
    let paths_of = |folders: &Folders| -> Vec<(String, u64)> { folders.paths.clone() };
    let expected = [
        ("Zoo", 1),
        ("Zoo/apes", 1),
        ("a-b", 1),
        ("a", 3),
        ("a/deep", 2),
        ("a/deep/er", 1),
    ];
    let named = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter()
            .map(|(path, count)| ((*path).to_owned(), *count))
            .collect()
    };
    assert_eq!((paths_of(&all), all.truncated), (named(&expected), false));
    let cost =
        |list: &[(&str, u64)]| -> u64 { list.iter().map(|(path, _)| path.len() as u64 + 24).sum() };
    let whole = cost(&expected);
    assert!(!kb.folders(whole).unwrap().truncated);
    let less = kb.folders(whole - 1).unwrap();
    assert_eq!(
        (paths_of(&less), less.truncated),
        (named(&expected[..5]), true)
    );
    let less = kb.folders(cost(&expected[..5]) - 1).unwrap();
    assert_eq!(paths_of(&less), named(&expected[..4]));
    let less = kb.folders(cost(&expected[..4]) - 1).unwrap();
    assert_eq!(paths_of(&less), named(&[("Zoo", 1), ("a-b", 1), ("a", 3)]));
    let none = kb.folders(0).unwrap();
    assert_eq!(
        (none.top.len(), none.paths.len(), none.truncated),
        (3, 0, true)
    );
}

#[test]
fn completions_begin_with_the_text_or_else_contain_it() {
    let (_folder, kb) = kb();
    let typed = |typed, limit| kb.complete_path(typed, limit).unwrap();
    let (paths, total) = typed("A", 9);
    let (begin, hold) = (&PATHS[1..5], &PATHS[..1]);
    assert_eq!(
        (paths, total),
        (
            [begin, hold]
                .concat()
                .iter()
                .map(|path| (*path).to_owned())
                .collect(),
            5
        )
    );
    assert_eq!(
        typed("a", 2),
        (vec![PATHS[1].to_owned(), PATHS[2].to_owned()], 5)
    );
    assert_eq!(
        typed("DEEP/", 9),
        (vec![PATHS[2].to_owned(), PATHS[3].to_owned()], 2)
    );
    assert_eq!(typed("zoo", 9), (vec![PATHS[0].to_owned()], 1));
    assert_eq!(typed("", 0), (Vec::new(), 6));
    assert_eq!(typed("nowhere", 9), (Vec::new(), 0));
}
