//! What paths alone tell: documents from a path on, folders, how a path may go on.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::error::Result;
use crate::kb::Kb;
use crate::kb::facts::{DocumentInfo, Folders};

/// What the number and field names of one folder take, in bytes.
const FOLDER_OVERHEAD_BYTES: u64 = 24;

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

    /// All folders. Of their paths at most `page_bytes` bytes are given, counting 24 more for each;
    /// the deepest are left out first. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::SnapshotExpired`].
    pub fn folders(&self, page_bytes: u64) -> Result<Folders> {
        self.read(|snapshot, catalog| {
            let mut folders: Vec<Folder> = Vec::new();
            // Those that the last path lies in, outermost first. What lies in one folder has
            // neighbouring paths.
            let mut open: Vec<usize> = Vec::new();
            catalog.documents.each_path(snapshot, "", |path, _| {
                let mut depth = 0;
                for (end, _) in path.match_indices('/') {
                    let folder = path.get(..end).unwrap_or_default();
                    let is_open = |at: &usize| folders.get(*at).is_some_and(|f| f.path == folder);
                    if !open.get(depth).is_some_and(is_open) {
                        open.truncate(depth);
                        open.push(folders.len());
                        folders.push(Folder {
                            path: folder.to_owned(),
                            documents: 0,
                            depth,
                        });
                    }
                    depth += 1;
                }
                open.truncate(depth);
                for at in &open {
                    if let Some(folder) = folders.get_mut(*at) {
                        folder.documents += 1;
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            let top = folders.iter().filter(|folder| folder.depth == 0);
            let top = top.map(|folder| folder.path.clone()).collect();
            let cut = cut_deepest(&mut folders, page_bytes);
            let paths = folders.into_iter();
            Ok(Folders {
                top,
                paths: paths
                    .map(|folder| (folder.path, folder.documents))
                    .collect(),
                cut,
            })
        })
    }

    /// How a path may go on: at most `limit` of the paths that begin with `typed`, then of those that
    /// have it elsewhere, both without regard to case and in the order of path bytes, and how many
    /// there are. Cost grows with the number of documents.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::SnapshotExpired`].
    pub fn complete_path(&self, typed: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        let typed = typed.nfc().collect::<String>().to_lowercase();
        self.read(|snapshot, catalog| {
            let (mut beginning, mut containing) = (Vec::new(), Vec::new());
            let mut total = 0;
            catalog.documents.each_path(snapshot, "", |path, _| {
                let group = match path.to_lowercase().find(&typed) {
                    Some(0) => &mut beginning,
                    Some(_) => &mut containing,
                    None => return Ok(ControlFlow::Continue(())),
                };
                total += 1;
                if group.len() < limit {
                    group.push(path.to_owned());
                }
                Ok(ControlFlow::Continue(()))
            })?;
            beginning.extend(containing);
            beginning.truncate(limit);
            Ok((beginning, total))
        })
    }
}

/// A folder on the way to a document.
#[derive(Debug)]
struct Folder {
    path: String,
    /// Documents below it, at any depth.
    documents: u64,
    /// Folders that it lies in.
    depth: usize,
}

/// Leaves out the deepest folders, of one depth the last, until `page_bytes` hold the rest. Whether
/// it left out any.
fn cut_deepest(folders: &mut Vec<Folder>, page_bytes: u64) -> bool {
    let mut by_depth: Vec<usize> = (0..folders.len()).collect();
    // Stable: neighbours of one depth stay in order.
    by_depth.sort_by_key(|at| folders.get(*at).map(|folder| folder.depth));
    let mut bytes = 0u64;
    let fits = by_depth.iter().take_while(|at| {
        let len = folders.get(**at).map_or(0, |folder| folder.path.len());
        bytes = bytes.saturating_add(len as u64 + FOLDER_OVERHEAD_BYTES);
        bytes <= page_bytes
    });
    let kept = fits.count();
    let mut is_kept = vec![false; folders.len()];
    for at in by_depth.iter().take(kept) {
        if let Some(flag) = is_kept.get_mut(*at) {
            *flag = true;
        }
    }
    let cut = kept < folders.len();
    let mut flags = is_kept.into_iter();
    folders.retain(|_| flags.next().unwrap_or_default());
    cut
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
    fn a_folder_that_only_holds_folders_has_no_documents_directly_in_it() {
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
    fn folders_come_with_what_lies_below_them_and_the_deepest_are_left_out_first() {
        let (_folder, kb) = kb();
        let all = kb.folders(u64::MAX).unwrap();
        assert_eq!(all.top, ["Zoo", "a-b", "a"]);
        let told = |folders: &Folders| -> Vec<(String, u64)> { folders.paths.clone() };
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
        assert_eq!((told(&all), all.cut), (named(&expected), false));
        let cost = |list: &[(&str, u64)]| -> u64 {
            list.iter().map(|(path, _)| path.len() as u64 + 24).sum()
        };
        let whole = cost(&expected);
        assert!(!kb.folders(whole).unwrap().cut);
        let less = kb.folders(whole - 1).unwrap();
        assert_eq!((told(&less), less.cut), (named(&expected[..5]), true));
        let less = kb.folders(cost(&expected[..5]) - 1).unwrap();
        assert_eq!(told(&less), named(&expected[..4]));
        let less = kb.folders(cost(&expected[..4]) - 1).unwrap();
        assert_eq!(told(&less), named(&[("Zoo", 1), ("a-b", 1), ("a", 3)]));
        let none = kb.folders(0).unwrap();
        assert_eq!((none.top.len(), none.paths.len(), none.cut), (3, 0, true));
    }

    #[test]
    fn a_path_goes_on_with_those_that_begin_so_and_then_those_that_hold_it() {
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
}
