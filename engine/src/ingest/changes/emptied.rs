//! Folders that have nothing in them, though the file has documents from them: whether the files were removed, or lie
//! on a disk that is not mounted.
//!
//! Whoever removes the last file of a folder changes that folder. A disk that goes leaves behind the folder that it was
//! mounted on as it was before the documents were seen, or one made anew. So an empty folder is an ordinary deletion
//! only where it is older than the last look at its documents and was changed after that look. Where the system does
//! not say when a folder was made, and for the mount point of a disk that is empty itself, nothing is known, and the
//! documents stay: to read them again may be impossible, `--prune` is not.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::ingest::changes::coverage::ancestors;
use crate::ingest::clock::made_and_changed_ms;
use crate::ingest::report::EmptiedFolder;

/// The empty folders that a walk found.
#[derive(Debug, Default)]
pub(crate) struct EmptyFolders {
    /// By document path.
    folders: BTreeMap<String, EmptyFolder>,
}

#[derive(Debug)]
struct EmptyFolder {
    told: EmptiedFolder,
    /// When it was made and when it was changed, milliseconds since 1970; none: nothing is known. Looked up once.
    times: Option<Option<(i64, i64)>>,
}

impl EmptyFolders {
    /// Notes one, with its document path.
    pub(crate) fn note(&mut self, path: String, folder: PathBuf) {
        let told = EmptiedFolder::new(folder);
        self.folders.insert(path, EmptyFolder { told, times: None });
    }

    /// Whether a document stays, because it lies in a folder that may be where a disk is mounted at other times; then
    /// it is counted. A file of the path of a folder is none of it. `seen_ms`: when the document was there, milliseconds
    /// since 1970.
    pub(crate) fn keeps(&mut self, path: &str, seen_ms: i64) -> bool {
        let mut above = ancestors(path).filter(|above| *above != path);
        let Some(above) = above.find(|above| self.folders.contains_key(*above)) else {
            return false;
        };
        let Some(empty) = self.folders.get_mut(above) else {
            return false;
        };
        let folder = &empty.told.folder;
        let times = *empty.times.get_or_insert_with(|| times_of(folder));
        let is_removed = times.is_some_and(|(made, changed)| made <= seen_ms && changed > seen_ms);
        if !is_removed {
            empty.told.documents += 1;
        }
        !is_removed
    }

    /// Those whose documents stay.
    pub(crate) fn into_kept(self) -> Vec<EmptiedFolder> {
        let told = self.folders.into_values().map(|empty| empty.told);
        told.filter(|told| told.documents > 0).collect()
    }
}

/// When an ordinary folder was made and when it was changed last.
fn times_of(folder: &Path) -> Option<(i64, i64)> {
    let metadata = fs::symlink_metadata(folder).ok()?;
    let around = fs::symlink_metadata(folder.parent()?).ok()?;
    if !metadata.is_dir() || !is_on_one_disk(&metadata, &around) {
        return None;
    }
    made_and_changed_ms(&metadata)
}

#[cfg(unix)]
fn is_on_one_disk(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.dev() == b.dev()
}

/// A disk that is mounted in a folder is a link there.
#[cfg(not(unix))]
fn is_on_one_disk(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_folder_that_changed_after_its_documents_were_seen_was_emptied() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("d");
        fs::create_dir(&folder).unwrap();
        let Some((made_ms, _)) = times_of(&folder) else {
            // The file system does not say when a folder was made: everything is kept.
            return;
        };
        let changed = fs::metadata(&folder).unwrap().modified().unwrap();
        let keeps = |seen_ms: i64, changed_after_ms: u64| {
            let later = changed + Duration::from_millis(changed_after_ms);
            let open = fs::File::open(&folder).unwrap();
            let times = fs::FileTimes::new().set_modified(later);
            open.set_times(times).unwrap();
            let mut empty = EmptyFolders::default();
            empty.note("d".to_owned(), folder.clone());
            assert!(!empty.keeps("d", seen_ms));
            assert!(!empty.keeps("da/a.txt", seen_ms));
            let keeps = empty.keeps("d/deep/a.txt", seen_ms);
            let kept = empty.into_kept();
            assert_eq!(kept.len(), usize::from(keeps));
            assert!(kept.iter().all(|kept| kept.documents == 1));
            keeps
        };
        // Removed after it was seen.
        assert!(!keeps(made_ms + 1000, 2000));
        // Nothing was removed from this folder since.
        assert!(keeps(made_ms + 3000, 2000));
        // Made after the documents were seen: another one in the place of theirs.
        assert!(keeps(made_ms - 1000, 2000));
        assert!(keeps(0, 2000));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_known_of_a_mount_point() {
        assert!(times_of(Path::new("/proc")).is_none());
        assert!(times_of(Path::new("/")).is_none());
        assert!(times_of(Path::new("/nowhere at all")).is_none());
    }
}
