//! [`KbWriter`]: makes or changes one .kb.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unicode_normalization::UnicodeNormalization;

use crate::catalog::CatalogCache;
use crate::container::{Container, ContainerWriter, WriterIdentity};
use crate::embed;
use crate::error::{Error, Result};
use crate::ingest::clock::now_ms;
use crate::ingest::extract;
use crate::ingest::prepare::preparer::{Chunking, Prepared, Preparer, Source};
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_policy::Limit;
use crate::kb::merge::{Hear, merge_segments};
use crate::kb::new_file::{check_model, new_manifest, new_meta};
use crate::kb::tags;
use crate::resolve;
use crate::store::documents::DocumentRecord;
use crate::types::{Document, DocumentId};

/// What a file and a lock say of their writer.
pub(super) const PROGRAM: &str = concat!("kb ", env!("CARGO_PKG_VERSION"));

/// Locks that may be lost to other writers before one is obtained.
const MAX_ATTEMPTS: usize = 10;

/// Makes or changes one .kb.
///
/// Changes are gathered and become visible together, at [`KbWriter::commit`]; [`KbWriter::index`] is
/// a commit of its own. The first change locks the file against other writers, until the writer is
/// dropped; readers are never held up. Dropping the writer, or [`KbWriter::abandon`], leaves the last
/// commit as it was.
///
/// From the first change on the writer has one file open, whatever its name. When its path leads to
/// another file, or to none, every call fails with [`Error::FileReplaced`]: nothing is written, neither
/// to that file nor to this one, which keeps its last commit, and changes that wait for a commit are
/// gone, because they were made for this file. The call after that starts over with what is at the path.
///
/// In a process forked from the one that locked the file every call fails with
/// [`Error::ForkedWriter`], and dropping the writer there changes and unlocks nothing.
///
/// ```
/// use kb_engine::{IndexOptions, Kb, KbWriter};
///
/// # fn main() -> kb_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sources = folder.path().join("notes");
/// # std::fs::create_dir(&sources).unwrap();
/// # std::fs::write(sources.join("bread.md"), "# Bread\n\nFlour and patience.\n").unwrap();
/// # let path = folder.path().join("notes.kb");
/// let mut writer = KbWriter::open_or_create(&path)?;
/// let report = writer.index(&[sources], &IndexOptions::default(), &mut |_| {})?;
/// assert_eq!(report.added, ["bread.md"]);
///
/// writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
/// writer.tag("tides.md", &["sea"], &[])?;
/// writer.remove("bread.md")?;
/// writer.commit()?;
/// assert_eq!(Kb::open(&path)?.info()?.documents, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KbWriter {
    /// Where the .kb is or will be.
    pub(super) path: PathBuf,
    /// How long to wait for another writer.
    pub(super) lock_timeout: Duration,
    /// Whether small segments are merged after a commit.
    merges: bool,
    /// Whether a file is made where there is none.
    creates: bool,
    /// The file, locked; none before the first change.
    pub(super) open: Option<Open>,
    /// Cuts, analyses and embeds added documents.
    preparer: Preparer<'static>,
    /// What the next commit does, by document path.
    pending: BTreeMap<String, Pending>,
}

/// A .kb that is locked for this writer.
#[derive(Debug)]
pub(super) struct Open {
    /// Its writing side.
    pub(super) writer: ContainerWriter,
    /// Its last commit; none for a file that does not exist yet.
    pub(super) base: Option<Container>,
    /// The catalog of that commit.
    pub(super) catalogs: CatalogCache,
}

impl Open {
    /// The last commit with the cache of its catalog.
    pub(super) fn base(&self) -> Option<(&Container, &CatalogCache)> {
        Some((self.base.as_ref()?, &self.catalogs))
    }
}

/// What is kept of the file that a document was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed, milliseconds since 1970.
    pub modified_ms: i64,
    /// blake3 of its bytes.
    pub hash: [u8; 32],
}

impl SourceInfo {
    /// Of these bytes, made now.
    pub fn of(bytes: &[u8]) -> SourceInfo {
        SourceInfo {
            size_bytes: bytes.len() as u64,
            modified_ms: now_ms(),
            hash: *blake3::hash(bytes).as_bytes(),
        }
    }
}

/// What happens to one document.
#[derive(Debug)]
enum Pending {
    /// It is new.
    Add {
        prepared: Box<Prepared>,
        tags: Vec<String>,
    },
    /// It gets other content.
    Replace {
        id: DocumentId,
        prepared: Box<Prepared>,
        tags: Vec<String>,
    },
    /// It gets other tags.
    Tag { id: DocumentId, tags: Vec<String> },
    /// It goes.
    Remove { id: DocumentId },
}

impl KbWriter {
    /// Opens the .kb at `path` for changing, or will make a new one there. A new file is built under
    /// a temporary name in the same folder and renamed when it is complete.
    ///
    /// # Errors
    /// [`Error::PathNotFound`] when its folder does not exist; [`Error::NotAKb`] when the path holds
    /// something else; [`Error::Damaged`], [`Error::FormatUnsupported`], [`Error::Io`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<KbWriter> {
        let path = path.as_ref().to_path_buf();
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
            Err(error) => return Err(error),
        }
        let model = embed::built_in();
        Ok(KbWriter {
            path,
            lock_timeout: Duration::ZERO,
            merges: true,
            creates: true,
            open: None,
            preparer: Preparer::new(model, model.quantiser_range()),
            pending: BTreeMap::new(),
        })
    }

    /// Opens the .kb at `path` for changing, and never makes a new one: when the file is moved or
    /// removed later, [`KbWriter::index`] and [`KbWriter::commit`] fail with [`Error::FileReplaced`].
    /// For programs that change a file again and again, beside others.
    ///
    /// # Errors
    /// [`Error::PathNotFound`] when nothing is there; as [`KbWriter::open_or_create`].
    pub fn open(path: impl AsRef<Path>) -> Result<KbWriter> {
        let path = path.as_ref();
        Container::open(path)?;
        let mut writer = KbWriter::open_or_create(path)?;
        writer.creates = false;
        Ok(writer)
    }

    /// Why a file that is not there is not made.
    pub(super) fn check_creates(&self) -> Result<()> {
        match self.creates {
            true => Ok(()),
            false => Err(Error::FileReplaced {
                path: self.path.clone(),
                is_gone: true,
            }),
        }
    }

    /// Waits so long for another writer to finish before a change fails with
    /// [`Error::IndexLocked`]. Without it a change fails at once.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> KbWriter {
        self.lock_timeout = timeout;
        self
    }

    /// Leaves small segments as they are: answers stay the same and become slower. To measure.
    #[must_use]
    pub fn without_merges(mut self) -> KbWriter {
        self.merges = false;
        self
    }

    /// Adds a document; it is kept in memory until [`KbWriter::commit`].
    ///
    /// # Errors
    /// [`Error::DocumentExists`] when the .kb or an earlier call has its path;
    /// [`Error::InvalidArgument`] when the path is empty; [`Error::IndexLocked`] while another writer
    /// has the file.
    pub fn add(&mut self, document: Document) -> Result<()> {
        let source = SourceInfo::of(document.text.as_bytes());
        self.put(document, source, Chunking::Auto, false)
            .map(|_| ())
    }

    /// Adds a document, or puts it in the place of the one that has its path and keeps that one's
    /// handle and tags. True when there was one.
    ///
    /// # Errors
    /// As [`KbWriter::add`], without [`Error::DocumentExists`].
    pub fn replace(&mut self, document: Document) -> Result<bool> {
        let source = SourceInfo::of(document.text.as_bytes());
        self.put(document, source, Chunking::Auto, true)
    }

    /// Adds the document that was made from a file, or, when `may_replace`, puts it in the place of
    /// the one that has its path. True when there was one.
    ///
    /// # Errors
    /// As [`KbWriter::add`].
    pub fn add_from(
        &mut self,
        document: Document,
        source: SourceInfo,
        may_replace: bool,
    ) -> Result<bool> {
        self.put(document, source, Chunking::Auto, may_replace)
    }

    /// Adds a document as one chunk whose path is not searched: to measure ranking alone.
    ///
    /// # Errors
    /// As [`KbWriter::add`].
    pub fn add_unchunked(&mut self, document: Document) -> Result<()> {
        let source = SourceInfo::of(document.text.as_bytes());
        self.put(document, source, Chunking::Whole, false)
            .map(|_| ())
    }

    /// Adds the content of a file, read as the ending of `path` says.
    ///
    /// # Errors
    /// As [`KbWriter::add`]; [`Error::InvalidArgument`] when no text can be taken from the bytes.
    pub fn add_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let source = SourceInfo::of(bytes);
        self.put(document_of(path, bytes)?, source, Chunking::Auto, false)
            .map(|_| ())
    }

    fn put(
        &mut self,
        document: Document,
        source: SourceInfo,
        chunking: Chunking,
        may_replace: bool,
    ) -> Result<bool> {
        self.check_open()?;
        let mut document = document;
        document.path = document.path.nfc().collect();
        let path = document.path.clone();
        check_path(&path)?;
        check_outline(&document)?;
        let mut stored = self.document_at(&path)?;
        if self.open.is_none() {
            if stored.is_some() && !may_replace {
                return Err(Error::DocumentExists { path });
            }
            self.lock()?;
            stored = self.document_at(&path)?;
        }
        let pending = self.pending.get(&path);
        let exists = match pending {
            Some(Pending::Remove { .. }) => false,
            Some(_) => true,
            None => stored.is_some(),
        };
        if exists && !may_replace {
            return Err(Error::DocumentExists { path });
        }
        let pending_tags = match pending {
            Some(
                Pending::Add { tags, .. }
                | Pending::Replace { tags, .. }
                | Pending::Tag { tags, .. },
            ) => Some(tags.clone()),
            // A document that comes after one that went is another one.
            Some(Pending::Remove { .. }) => Some(Vec::new()),
            None => None,
        };
        let source = Source {
            root: None,
            size_bytes: source.size_bytes,
            modified_ms: source.modified_ms,
            hash: source.hash,
        };
        let prepared = Box::new(self.preparer.prepare(document, source, chunking)?);
        let change = match stored {
            Some((id, record)) => Pending::Replace {
                id,
                prepared,
                tags: pending_tags.unwrap_or(record.tags),
            },
            None => Pending::Add {
                prepared,
                tags: pending_tags.unwrap_or_default(),
            },
        };
        self.pending.insert(path, change);
        Ok(exists)
    }

    /// Removes a document: named by its path, by the end of its path if only one has it, by its
    /// handle or `kb://` address. Returns its path. A file of an indexed folder comes back when the
    /// folder is indexed again.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`], [`Error::AmbiguousDocument`]; [`Error::IndexLocked`] while
    /// another writer has the file.
    pub fn remove(&mut self, name: &str) -> Result<String> {
        let (path, stored) = self.named(name)?;
        match stored {
            Some((id, _)) => self.pending.insert(path.clone(), Pending::Remove { id }),
            None => self.pending.remove(&path),
        };
        Ok(path)
    }

    /// Gives a document tags and takes others away; names as in [`KbWriter::remove`]. Tags are kept
    /// in lower case. Returns the tags it has then.
    ///
    /// # Errors
    /// As [`KbWriter::remove`]; [`Error::InvalidArgument`] for a tag that is empty, longer than 64
    /// characters, or has a comma or control character.
    pub fn tag(&mut self, name: &str, add: &[&str], remove: &[&str]) -> Result<Vec<String>> {
        let add = tags::normal(add)?;
        let remove = tags::normal(remove)?;
        let (path, stored) = self.named(name)?;
        match self.pending.get_mut(&path) {
            Some(
                Pending::Add { tags, .. }
                | Pending::Replace { tags, .. }
                | Pending::Tag { tags, .. },
            ) => {
                *tags = tags::changed(tags, &add, &remove)?;
                Ok(tags.clone())
            }
            _ => {
                let (id, record) = stored.ok_or_else(|| not_found(name))?;
                let tags = tags::changed(&record.tags, &add, &remove)?;
                if tags == record.tags {
                    return Ok(tags);
                }
                let change = Pending::Tag {
                    id,
                    tags: tags.clone(),
                };
                self.pending.insert(path, change);
                Ok(tags)
            }
        }
    }

    /// Finds a document among those that the next commit leaves in the file. What is refused is
    /// refused before the file is locked and touched.
    fn named(&mut self, name: &str) -> Result<(String, Option<(DocumentId, DocumentRecord)>)> {
        self.check_open()?;
        if self.open.is_none() {
            self.find(name)?;
            self.lock()?;
        }
        self.find(name)
    }

    fn find(&self, name: &str) -> Result<(String, Option<(DocumentId, DocumentRecord)>)> {
        let name = &*name.nfc().collect::<String>();
        if let Some((path, pending)) = self.pending.get_key_value(name) {
            return match pending {
                Pending::Remove { .. } => Err(not_found(name)),
                _ => Ok((path.clone(), self.document_at(path)?)),
            };
        }
        let found = self.with_base(|base, catalogs| {
            base.read(|snapshot| {
                let catalog = catalogs.get(snapshot)?;
                let id = resolve::document(snapshot, &catalog, base.path(), name)?;
                Ok((id, catalog.documents.get(snapshot, id)?))
            })
        })?;
        let Some((id, record)) = found else {
            return Err(not_found(name));
        };
        if let Some(Pending::Remove { .. }) = self.pending.get(&record.path) {
            return Err(not_found(name));
        }
        Ok((record.path.clone(), Some((id, record))))
    }

    /// The document of that path in the last commit.
    fn document_at(&self, path: &str) -> Result<Option<(DocumentId, DocumentRecord)>> {
        let found = self.with_base(|base, catalogs| {
            base.read(|snapshot| {
                let documents = &catalogs.get(snapshot)?.documents;
                match documents.by_path(snapshot, path)? {
                    Some(id) => Ok(Some((id, documents.get(snapshot, id)?))),
                    None => Ok(None),
                }
            })
        })?;
        Ok(found.flatten())
    }

    /// Asks the last commit, locked or not; `None` for a file that does not exist yet.
    fn with_base<T>(
        &self,
        ask: impl FnOnce(&Container, &CatalogCache) -> Result<T>,
    ) -> Result<Option<T>> {
        match &self.open {
            Some(open) => open
                .base()
                .map(|(base, catalogs)| ask(base, catalogs))
                .transpose(),
            None => match Container::open(&self.path) {
                Ok(base) => ask(&base, &CatalogCache::default()).map(Some),
                Err(Error::PathNotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// Whether the file that is locked, if one is, is still this writer's to change; see [`KbWriter`].
    pub(super) fn check_open(&mut self) -> Result<()> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        let checked = open.writer.check();
        if let Err(Error::FileReplaced { .. }) = checked {
            self.abandon();
        }
        checked
    }

    /// Locks the file, once.
    pub(super) fn lock(&mut self) -> Result<&mut Open> {
        let open = match self.open.take() {
            Some(open) => open,
            None => self.lock_now()?,
        };
        Ok(self.open.insert(open))
    }

    fn lock_now(&self) -> Result<Open> {
        for _ in 0..MAX_ATTEMPTS {
            match ContainerWriter::open(&self.path, &self.identity()) {
                Ok(writer) => {
                    // Of the file that is locked; the path may lead to another by now.
                    let base = writer.reader().cloned();
                    return Ok(Open {
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
                return Ok(Open {
                    writer,
                    base: None,
                    catalogs: CatalogCache::default(),
                });
            }
        }
        Err(Error::IndexLocked {
            holder: "programs that keep replacing it".to_owned(),
        })
    }

    /// Makes all changes since the last commit durable and visible, at once. A .kb that did not exist
    /// appears now, also when nothing was added. Then segments may be merged, in commits of their own
    /// that copy 64 MB of text at most: about a second.
    ///
    /// # Errors
    /// [`Error::IndexLocked`] while another process writes the file; [`Error::FileReplaced`] when it
    /// was moved, removed or replaced; [`Error::Storage`] or [`Error::Io`] when the disk refuses. The
    /// old state stands after every error, and the changes are gone.
    pub fn commit(&mut self) -> Result<()> {
        self.check_open()?;
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() && self.path.exists() {
            return Ok(());
        }
        self.lock()?;
        let Some(mut open) = self.open.take() else {
            return Err(Error::WriterFailed);
        };
        let (meta, manifest) = match open.base() {
            Some((base, catalogs)) => {
                // All records, so that nothing is added to what no reader could answer from.
                let catalog = base.read(|snapshot| catalogs.get(snapshot))?;
                check_model(&catalog.meta)?;
                let mut meta = catalog.meta.clone();
                PROGRAM.clone_into(&mut meta.writer);
                (meta, catalog.manifest.clone())
            }
            None => (new_meta()?, new_manifest()),
        };
        let mut batch = Batch::new(meta, manifest, now_ms());
        let mut transaction = open.writer.begin()?;
        for change in pending.into_values() {
            match change {
                Pending::Add { prepared, tags } => batch.add(&mut transaction, &prepared, tags)?,
                Pending::Replace { id, prepared, tags } => {
                    batch.replace(&mut transaction, id, &prepared, Some(tags))?;
                }
                Pending::Tag { id, tags } => batch.tag(&mut transaction, id, tags)?,
                Pending::Remove { id } => batch.remove(&mut transaction, id)?,
            }
        }
        let base = open.base.as_ref().map(|base| (base, &open.catalogs));
        batch.finish(&mut transaction, base)?;
        transaction.commit()?;
        self.committed(open, Limit::commit(), &mut |_, _| Ok(()))
    }

    /// Goes on after a commit: a new file takes its place, one in place stays locked. `hear` is asked
    /// during merges whether to go on.
    pub(super) fn committed(
        &mut self,
        mut open: Open,
        limit: Limit,
        hear: &mut Hear<'_>,
    ) -> Result<()> {
        let Open {
            writer,
            base,
            catalogs,
        } = &mut open;
        let Some(base) = base else {
            return open.writer.finish();
        };
        // What was committed stays committed: a merge that fails or is stopped is left to the next
        // commit, and to a writer that opens the file again.
        let is_merged = !self.merges || merge_segments(writer, base, catalogs, limit, hear).is_ok();
        self.open = is_merged.then_some(open);
        Ok(())
    }

    /// Forgets all changes since the last commit and lets other writers have the file.
    pub fn abandon(&mut self) {
        self.pending.clear();
        self.open = None;
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

/// The document that the bytes of a file are, by the ending of `path`.
///
/// # Errors
/// [`Error::InvalidArgument`] when no text can be taken from them.
pub fn document_of(path: &str, bytes: &[u8]) -> Result<Document> {
    extract::extract(path, bytes).map_err(|reason| Error::InvalidArgument {
        argument: "document",
        reason: format!("{path:?}: {reason}"),
    })
}

fn check_path(path: &str) -> Result<()> {
    let reason = if path.is_empty() {
        "it is empty; a document needs a name"
    } else if path.starts_with('/') || path.ends_with('/') {
        "it begins or ends with /; the path of a document is relative: notes/today.md"
    } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        "it has an empty part, . or .. in it; give the path as it shall be listed"
    } else if path.chars().any(char::is_control) {
        "it has a control character in it"
    } else {
        return Ok(());
    };
    Err(Error::InvalidArgument {
        argument: "path",
        reason: format!("{path:?}: {reason}"),
    })
}

/// Headings must stand in the text, in order.
fn check_outline(document: &Document) -> Result<()> {
    let starts = document
        .outline
        .iter()
        .map(|heading| heading.start as usize);
    let in_text = starts
        .clone()
        .all(|start| document.text.is_char_boundary(start));
    let levels = document.outline.iter().all(|heading| heading.level > 0);
    if in_text && levels && starts.is_sorted() {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        argument: "outline",
        reason: format!(
            "the headings of {:?} do not stand in its text, in order, with levels from 1",
            document.path
        ),
    })
}

fn not_found(name: &str) -> Error {
    Error::DocumentNotFound {
        name: name.to_owned(),
        nearest: Vec::new(),
    }
}
