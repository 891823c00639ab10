//! Files that older readers read are read again by the next run.

use kb_extract::secrets;
use kb_extract::worker::extraction::Extraction;

use crate::ingest::options::IndexOptions;
use crate::kb::*;
use crate::progress::Progress;
use crate::store::meta::{SearchedRoot, Settings};

/// Puts what a file says of the roots that were read.
fn put_settings(path: &std::path::Path, settings: &Settings) {
    let identity = crate::container::WriterIdentity {
        program: "kb".to_owned(),
        unix_ms: 0,
        lock_timeout: std::time::Duration::ZERO,
    };
    let mut container = crate::container::ContainerWriter::open(path, &identity).unwrap();
    let mut transaction = container.begin().unwrap();
    settings.write(&mut transaction).unwrap();
    transaction.commit().unwrap();
}

#[test]
fn what_older_readers_read_is_read_again_once() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("in"), folder.path().join("a.kb"));
    std::fs::create_dir(&source).unwrap();
    for (name, text) in [("a.html", "<p>A walrus</p>"), ("b.txt", "A seal\n")] {
        std::fs::write(source.join(name), text).unwrap();
    }
    let index = |options: &IndexOptions| {
        let paths = [source.clone()];
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer
            .index(&paths, options, &mut Progress::ignore)
            .unwrap()
    };
    // Whatever the number of the root is.
    let of_older = |root| SearchedRoot::new(root, secrets::RULES, 0);
    for with_secrets in [false, true] {
        let options = IndexOptions::new().include_secrets(with_secrets);
        let options = options.extraction(Extraction::InProcess);
        index(&options);
        let older = Settings {
            include_secrets: with_secrets,
            searched: [0, 1].map(of_older).to_vec(),
            ..Settings::default()
        };
        put_settings(&path, &older);
        let report = index(&options);
        assert_eq!(report.updated, ["a.html"], "with secrets: {with_secrets}");
        let commit = Kb::open(&path).unwrap().state().unwrap().commit;
        assert!(!index(&options).has_changes());
        let now = Kb::open(&path).unwrap().state().unwrap().commit;
        assert_eq!(now, commit, "read once");
    }
}
