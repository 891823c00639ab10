//! One .kb that is being changed: its path, its lock, and the changes that wait for a commit.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kb_extract::worker::extraction::Extraction;
use kb_extract::worker::extractor::Extractor;
use kb_types::DocumentId;
use kb_types::error::{Error, Result};

use crate::catalog::CatalogCache;
use crate::container::{Container, ContainerWriter, WriterIdentity};
use crate::embed;
use crate::ingest::clock::now_ms;
use crate::ingest::prepare::preparer::{Prepared, Preparer};
use crate::ingest::prepare::preserved::Given;
use crate::ingest::run::new_file::PROGRAM;
use crate::ingest::run::vector_index::lists::ListLimits;
use crate::store::meta::{Meta, RootRecord};

/// Most attempts to get the lock between other writers.
// Each attempt fails only if the file came or went between two system calls; ten times in a row is
// no accident.
const MAX_ATTEMPTS: usize = 10;

/// What [`crate::KbWriter`] stands for. Its methods are in the files of this folder, by task.
#[derive(Debug)]
pub(crate) struct Session {
    /// Where the .kb is or will be.
    pub(super) path: PathBuf,
    /// How long to wait for another writer.
    pub(super) lock_timeout: Duration,
    /// Whether small segments are merged after a commit.
    pub(super) merges: bool,
    /// Which segments get inverted lists.
    pub(super) list_limits: ListLimits,
    /// Whether a file is made where there is none.
    pub(super) creates: bool,
    /// Whether the next commit begins with nothing, and its file takes the place of what is there.
    pub(super) starts_empty: bool,
    /// The file, locked; none before the first change.
    pub(super) open: Option<LockedFile>,
    /// Cuts, analyses and embeds added documents.
    pub(super) preparer: Preparer<'static>,
    /// Reads files that are given as bytes.
    pub(crate) extractor: Extractor,
    /// Ends the worker of `extractor` while it is busy.
    pub(super) stop: Arc<AtomicBool>,
    /// What the next commit does, by document path.
    // Sorted: segments take documents in the order of paths.
    pub(super) pending: BTreeMap<String, PendingChange>,
}

/// A .kb that is locked for this writer.
#[derive(Debug)]
pub(super) struct LockedFile {
    /// Writes transactions and holds the lock.
    pub(super) writer: ContainerWriter,
    /// Its last commit; none for a file that does not exist yet.
    pub(super) base: Option<Container>,
    /// The catalog of that commit.
    pub(super) catalogs: CatalogCache,
}

impl LockedFile {
    /// A file that has no commit yet.
    fn of_new(writer: ContainerWriter) -> LockedFile {
        LockedFile {
            writer,
            base: None,
            catalogs: CatalogCache::default(),
        }
    }

    /// The last commit with the cache of its catalog.
    pub(super) fn base(&self) -> Option<(&Container, &CatalogCache)> {
        Some((self.base.as_ref()?, &self.catalogs))
    }
}

/// What the next commit does to one document.
#[derive(Debug)]
pub(super) enum PendingChange {
    /// A new document.
    Add {
        prepared: Box<Prepared>,
        given: Given,
    },
    /// New content for a document that keeps its number and handle.
    Replace {
        id: DocumentId,
        prepared: Box<Prepared>,
        given: Given,
    },
    /// Other tags or fields for a document whose content stays.
    Edit {
        id: DocumentId,
        given: Given,
        /// All pairs that it has then.
        metadata: Vec<(String, String)>,
    },
    /// Removes the document.
    Remove { id: DocumentId },
}

impl Session {
    /// Opens the .kb at `path` for changing, or will make a new one there. A new file is built under
    /// a temporary name in the same folder and renamed when it is complete.
    ///
    /// # Errors
    /// [`Error::PathNotFound`] when its folder does not exist; [`Error::NotAKb`] when the path holds
    /// something else; [`Error::Damaged`], [`Error::FormatUnsupported`], [`Error::Io`].
    pub(crate) fn open_or_create(path: &Path) -> Result<Session> {
        let path = path.to_path_buf();
        match Container::open(&path) {
            Ok(_) => {}
            // A link that leads to nothing yet is as good as nothing.
            Err(Error::PathNotFound { .. }) => match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                    let path = folder.to_path_buf();
                    return Err(Error::PathNotFound { path });
                }
                _ => {}
            },
            // An index run makes it anew; every other change is refused when it locks the file.
            Err(Error::FormatUnsupported { .. }) if is_older(&path) => {}
            Err(error) => return Err(error),
        }
        let model = embed::built_in();
        let stop = Arc::default();
        Ok(Session {
            path,
            lock_timeout: Duration::ZERO,
            merges: true,
            list_limits: ListLimits::default(),
            creates: true,
            starts_empty: false,
            open: None,
            preparer: Preparer::new(model, model.quantiser_range()),
            extractor: Extractor::with_stop(Extraction::default(), Arc::clone(&stop)),
            stop,
            pending: BTreeMap::new(),
        })
    }

    /// Opens the .kb at `path` for changing, and never makes a new one: when the file is moved or
    /// removed later, [`Session::index`] and [`Session::commit`] fail with [`Error::FileReplaced`].
    /// For programs that change a file again and again, beside others.
    ///
    /// # Errors
    /// [`Error::PathNotFound`] when nothing is there; as [`Session::open_or_create`].
    pub(crate) fn open(path: &Path) -> Result<Session> {
        Container::open(path)?;
        let mut writer = Session::open_or_create(path)?;
        writer.creates = false;
        Ok(writer)
    }

    /// Opens the .kb at `path` so that its first commit begins with nothing: what is there stays until
    /// then, and is replaced whole. It is locked from the first change on.
    ///
    /// # Errors
    /// As [`Session::open_or_create`].
    pub(crate) fn create(path: &Path) -> Result<Session> {
        let mut session = Session::open_or_create(path)?;
        session.starts_empty = path.exists();
        if session.starts_empty {
            Container::open(path)?;
        }
        Ok(session)
    }

    /// Folders and named files that the file was made from and that are there now.
    ///
    /// # Errors
    /// As [`Container::open`].
    pub(crate) fn sources_at_hand(&self) -> Result<Vec<PathBuf>> {
        let roots = Container::open(&self.path)?.read(Meta::read)?.roots;
        Ok(paths_at_hand(&roots))
    }

    /// Where files are read from now on.
    pub(crate) fn set_extraction(&mut self, extraction: Extraction) {
        self.extractor = Extractor::with_stop(extraction, Arc::clone(&self.stop));
    }

    /// Why a file that is not there is not made.
    pub(super) fn check_creates(&self) -> Result<()> {
        if self.creates {
            Ok(())
        } else {
            Err(Error::FileReplaced {
                path: self.path.clone(),
                is_gone: true,
            })
        }
    }

    /// How long a change waits for another writer.
    pub(crate) fn set_lock_timeout(&mut self, timeout: Duration) {
        self.lock_timeout = timeout;
    }

    /// Leaves small segments as they are.
    pub(crate) fn disable_merges(&mut self) {
        self.merges = false;
    }

    /// Makes inverted lists for smaller files than else, so that tests need no large ones.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn make_lists_from(&mut self, limits: ListLimits) {
        self.list_limits = limits;
    }

    /// Whether the file that is locked, if one is, is still this writer's to change; see [`crate::KbWriter`].
    pub(super) fn check_open(&mut self) -> Result<()> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        let checked = open.writer.check();
        // The changes were made for the file that was there. They may be wrong for the one that is
        // there now.
        if let Err(Error::FileReplaced { .. }) = checked {
            self.abandon();
        }
        checked
    }

    /// See [`crate::KbWriter::lock`].
    pub(crate) fn lock_for_change(&mut self) -> Result<()> {
        self.check_open()?;
        self.lock().map(|_| ())
    }

    /// Locks the file, once.
    pub(super) fn lock(&mut self) -> Result<&mut LockedFile> {
        let open = match self.open.take() {
            Some(open) => open,
            None if self.starts_empty => {
                let writer = ContainerWriter::create(&self.path, &self.identity())?;
                LockedFile::of_new(writer)
            }
            None => self.lock_now()?,
        };
        Ok(self.open.insert(open))
    }

    fn lock_now(&self) -> Result<LockedFile> {
        for _ in 0..MAX_ATTEMPTS {
            match ContainerWriter::open(&self.path, &self.identity()) {
                Ok(writer) => {
                    // Of the file that is locked; the path may lead to another by now.
                    let base = writer.reader().cloned();
                    return Ok(LockedFile {
                        writer,
                        base,
                        catalogs: CatalogCache::default(),
                    });
                }
                Err(Error::PathNotFound { .. }) => self.check_creates()?,
                Err(error) => return Err(error),
            }
            let writer = ContainerWriter::create(&self.path, &self.identity())?;
            // Another writer may have finished the file since: then it is changed, not replaced.
            if !writer.replaces() {
                return Ok(LockedFile::of_new(writer));
            }
        }
        Err(Error::IndexLocked {
            holder: "programs that keep replacing it".to_owned(),
        })
    }

    /// Forgets all changes since the last commit and lets other writers have the file.
    pub(crate) fn abandon(&mut self) {
        self.pending.clear();
        self.open = None;
    }

    /// How many documents the next commit changes.
    pub(crate) fn pending_changes(&self) -> usize {
        self.pending.len()
    }

    /// Whether changes wait for a commit.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn identity(&self) -> WriterIdentity {
        let unix_ms = u64::try_from(now_ms()).unwrap_or(0);
        WriterIdentity {
            program: PROGRAM.to_owned(),
            unix_ms,
            lock_timeout: self.lock_timeout,
        }
    }
}

/// Folders and named files of roots that are there now.
pub(super) fn paths_at_hand(roots: &[RootRecord]) -> Vec<PathBuf> {
    let sources = roots.iter().flat_map(|root| {
        let folder = PathBuf::from(&root.source);
        if root.files.is_empty() {
            vec![folder]
        } else {
            root.files.iter().map(|name| folder.join(name)).collect()
        }
    });
    sources
        .filter(|path| path.is_absolute() && path.exists())
        .collect()
}

/// Whether two paths lead to one file by one name.
pub(super) fn is_one_place(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether the .kb at `path` has an older format, of which an index run can make it anew.
pub(super) fn is_older(path: &Path) -> bool {
    let opened = File::open(path).map(|file| Container::of_remade(&file, path));
    matches!(opened, Ok(Ok(container)) if container.signature().is_older())
}

#[cfg(test)]
mod tests {
    use crate::kb::KbWriter;

    /// Each look-up of `add` used to read the records of all segments: 4.3 ms with 512 of them.
    #[test]
    fn a_writer_loads_the_records_of_a_segment_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        let add = |writer: &mut KbWriter, name: &str| {
            writer.add_bytes(name, b"one walrus").unwrap();
        };
        let catalog = |writer: &KbWriter| {
            let (base, catalogs) = writer.session.open.as_ref().unwrap().base().unwrap();
            base.read(|snapshot| catalogs.get(snapshot)).unwrap()
        };
        for name in ["a.txt", "b.txt", "c.txt"] {
            add(&mut writer, name);
            writer.commit().unwrap();
        }
        add(&mut writer, "d.txt");
        let before = catalog(&writer);
        assert_eq!(before.segments.len(), 3);
        add(&mut writer, "e.txt");
        writer.tag("a.txt", &["seen"], &[]).unwrap();
        assert!(std::sync::Arc::ptr_eq(&catalog(&writer), &before));
        writer.commit().unwrap();
        let after = catalog(&writer);
        assert_eq!(after.segments.len(), 4);
        for (old, new) in before.segments.iter().zip(&after.segments) {
            assert!(std::sync::Arc::ptr_eq(&old.records, &new.records));
        }
    }
}
