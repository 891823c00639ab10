use super::*;

#[test]
fn what_cannot_be_read_now_keeps_its_document_and_is_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
    for name in ["a.txt", "sub/b.txt", "sub/c.txt"] {
        let file = sources.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, name).unwrap();
    }
    let paths = [sources.clone()];
    let options = IndexOptions::default();
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer.index(&paths, &options, &mut |_| ()).unwrap();
    let base = Container::open(&path).unwrap();
    // As root reads everything, the walk is told what it could not read.
    let blind = |unread: &str| {
        let found = Found::look(&base, &paths, &options).unwrap();
        let held = |snapshot: &Snapshot<'_>| {
            let documents = &found.catalog.documents;
            Held::read(snapshot, documents, &found.resolved.roots, true)
        };
        let mut walked = walk_roots(&found.resolved, &options).unwrap();
        walked
            .files
            .retain(|file| !file.document_path.starts_with(unread));
        walked.unread.push(unread.to_owned());
        let roots = &found.resolved.roots;
        let find = Changes::find(base.read(held).unwrap(), roots, walked.clone(), &options);
        (
            find.unwrap(),
            Changes::anew(&base.read(held).unwrap(), walked).0,
        )
    };
    for (unread, hidden) in [("sub", 2), ("sub/b.txt", 1)] {
        let (changes, anew) = blind(unread);
        assert!(changes.is_empty(), "{changes:?}");
        assert_eq!((changes.unchanged, changes.unread.len()), (3, hidden));
        assert_eq!((anew.removed.len(), anew.unread.len()), (0, hidden));
        for refused in [changes.refuse_unread(), anew.refuse_unread()] {
            assert!(refused.unwrap_err().to_string().contains("sub/"));
        }
    }
    let (changes, _) = blind("no such folder");
    assert!(changes.refuse_unread().is_ok());
}
