//! Documents by path alone: from a path on.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::kb::Kb;
use crate::kb::facts::DocumentInfo;

impl Kb {
    /// The first `limit` documents whose paths come after `after` (`None`: from the first), in the
    /// order of path bytes. Cost grows with what is given, not with where it begins.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::SnapshotExpired`].
    pub fn documents_after(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>> {
        self.read(|snapshot, catalog| {
            let mut documents = Vec::new();
            let from = after.unwrap_or_default();
            catalog.documents.each_path(snapshot, from, |path, id| {
                if documents.len() == limit {
                    return Ok(ControlFlow::Break(()));
                }
                if after != Some(path) {
                    let record = catalog.documents.get(snapshot, id)?;
                    documents.push(DocumentInfo::from_record(record)?);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(documents)
        })
    }
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
    use crate::kb::KbWriter;

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
    fn a_folder_that_only_holds_folders_has_no_documents_directly_in_it() {
        let (_folder, kb) = kb();
        let page = crate::search::page::Page::default();
        let count = |folder, is_recursive| {
            let found = kb.documents_page(folder, is_recursive, &page);
            found.map(|(documents, _)| documents.len())
        };
        assert_eq!(count(Some("Zoo"), false).unwrap(), 0);
        assert_eq!(count(Some("Zoo"), true).unwrap(), 1);
        assert_eq!(count(Some("a"), false).unwrap(), 1);
        assert_eq!(count(None, false).unwrap(), 1);
        let error = count(Some("Zo"), false).unwrap_err();
        assert_eq!(error.code(), "FOLDER_NOT_FOUND");
    }
}
