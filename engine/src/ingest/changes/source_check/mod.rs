//! Whether the originals of a few documents are as they were when they were indexed: one look at each file,
//! cheap enough to be made for every answer.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

use kb_types::SourceState;
use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::ingest::source::names::document_name;
use crate::ingest::source::open::{self, Kind, Links, Look, SourceFolder};
use crate::store::documents::DocumentRecord;
use crate::store::meta::Settings;

/// Largest file whose content is compared when its time changed and its size did not: what is indexed by
/// default.
const HASHED_LIMIT_BYTES: u64 = 16 << 20;

/// Entries of a folder that are compared with a name which the disk may spell in another way.
const LISTED_LIMIT: usize = 10_000;

/// What is to be compared for some documents of one commit. It holds no file open and borrows nothing.
#[derive(Debug, Clone, Default)]
pub struct SourceCheck {
    folders: Vec<Folder>,
    /// One for each document; `None`: it has no original that could be looked for.
    originals: Vec<Option<Original>>,
}

/// The folder of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    /// Whether its files may be links: they were named one by one, or links are followed.
    is_of_files: bool,
}

/// What the file knows of an original.
#[derive(Debug, Clone)]
pub(super) struct Original {
    /// Position of its folder.
    folder: usize,
    /// Document path below the root.
    relative: String,
    size_bytes: u64,
    modified_ms: i64,
    hash: [u8; 32],
}

impl SourceCheck {
    /// For documents with these paths; of a path that no document has the state is unknown.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn new(
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        documents: &[&str],
    ) -> Result<SourceCheck> {
        let mut check = SourceCheck::default();
        let settings = Settings::read(snapshot)?;
        for path in documents {
            let original = match catalog.documents.by_path(snapshot, path)? {
                Some(id) => {
                    let record = catalog.documents.get(snapshot, id)?;
                    let roots = &catalog.meta.roots;
                    let root = roots.iter().find(|root| Some(root.id) == record.root);
                    root.and_then(|root| {
                        Some(Original {
                            relative: below(&record.path, &root.prefix)?.to_owned(),
                            folder: check.folder(
                                &root.source,
                                !root.files.is_empty() || settings.selection(root.id).follow,
                            )?,
                            size_bytes: record.size_bytes,
                            modified_ms: record.modified_ms,
                            hash: record.hash,
                        })
                    })
                }
                None => None,
            };
            check.originals.push(original);
        }
        Ok(check)
    }

    /// The position of a folder; `None` where it is not one of this machine.
    fn folder(&mut self, source: &str, is_of_files: bool) -> Option<usize> {
        let path = local_folder(source)?;
        let folder = Folder { path, is_of_files };
        let known = self.folders.iter().position(|other| *other == folder);
        Some(known.unwrap_or_else(|| {
            self.folders.push(folder);
            self.folders.len() - 1
        }))
    }

    /// The state of each document, in the order in which they were given.
    ///
    /// Size and modification time decide; where only the time differs, the content of files up to 16 MiB.
    /// One system call a file otherwise. It waits for the disk: see [`SourceCheck::run_within`].
    pub fn run(&self) -> Vec<SourceState> {
        let open = self.folders.iter().map(|folder| {
            let opened = SourceFolder::open(&folder.path).ok();
            opened.map(|opened| (folder, opened))
        });
        let open: Vec<Option<(&Folder, SourceFolder)>> = open.collect();
        let state = |original: &Original| {
            let (folder, opened) = open.get(original.folder)?.as_ref()?;
            Some(original.state_in(opened, folder.is_of_files))
        };
        let states = self.originals.iter();
        states
            .map(|original| original.as_ref().and_then(state).unwrap_or_default())
            .collect()
    }

    /// As [`SourceCheck::run`], on a thread of its own; `None` when the disk takes longer than `limit`. That
    /// thread then ends when the disk answers.
    pub fn run_within(self, limit: Duration) -> Option<Vec<SourceState>> {
        if self.originals.iter().all(Option::is_none) {
            return Some(vec![SourceState::Unknown; self.originals.len()]);
        }
        let (done, states) = mpsc::sync_channel(1);
        let run = move || {
            // Nobody receives it after the limit.
            let _ = done.send(self.run());
        };
        let thread = thread::Builder::new().name("kb-source-check".to_owned());
        thread.spawn(run).ok()?;
        states.recv_timeout(limit).ok()
    }
}

/// See [`crate::Kb::source_path`].
pub(crate) fn source_path(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    document: &str,
) -> Result<Option<PathBuf>> {
    if document.len() > MAX_KEY_BYTES {
        return Ok(None);
    }
    let Some(id) = catalog.documents.by_path(snapshot, document)? else {
        return Ok(None);
    };
    let record = catalog.documents.get(snapshot, id)?;
    let mut roots = catalog.meta.roots.iter();
    let root = roots.find(|root| Some(root.id) == record.root);
    Ok(root.and_then(|root| {
        let relative = below(&record.path, &root.prefix)?;
        let is_plain = |name: &str| !matches!(name, "" | "." | "..");
        let is_below = relative.split('/').all(is_plain) && !relative.contains("\\x");
        Some(local_folder(&root.source)?.join(relative)).filter(|_| is_below)
    }))
}

/// The folder of a root, if it is one of this machine: a sealed file has its name only.
fn local_folder(source: &str) -> Option<PathBuf> {
    is_local(source).then(|| PathBuf::from(source))
}

/// Whether the source of a root is the path of a folder that may be on this machine. A share of another one may take
/// minutes, and an escaped name is not the one on disk.
pub(super) fn is_local(source: &str) -> bool {
    Path::new(source).is_absolute() && !source.starts_with(r"\\") && !source.contains("\\x")
}

/// What of a document path lies below the root.
pub(super) fn below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    if prefix.is_empty() {
        return Some(path);
    }
    path.strip_prefix(prefix)?.strip_prefix('/')
}

impl Original {
    /// What a document says of its original, which is at that path below the root.
    pub(super) fn new(relative: &str, record: &DocumentRecord) -> Original {
        Original {
            folder: 0,
            relative: relative.to_owned(),
            size_bytes: record.size_bytes,
            modified_ms: record.modified_ms,
            hash: record.hash,
        }
    }

    /// Compares it with the file in the folder of its root. `is_named`: it may be a link, or behind one.
    pub(super) fn state_in(&self, folder: &SourceFolder, is_named: bool) -> SourceState {
        if is_named {
            self.compare_named(folder.path())
        } else {
            self.compare(folder)
        }
    }

    /// Compares it with a file that is reached through no link.
    fn compare(&self, folder: &SourceFolder) -> SourceState {
        let given = PathBuf::from(&self.relative);
        let (relative, look) = match folder.look(&given) {
            Err(error) if is_missing(&error) && self.may_be_spelled_otherwise() => {
                match on_disk(folder, &self.relative) {
                    Some(relative) => {
                        let look = folder.look(&relative);
                        (relative, look)
                    }
                    None => (given, Err(error)),
                }
            }
            look => (given, look),
        };
        self.decide(look, || folder.open_file(&relative).ok())
    }

    /// Compares it with a file that somebody named, be it a link.
    fn compare_named(&self, folder: &Path) -> SourceState {
        let path = folder.join(&self.relative);
        self.decide(open::look(&path), || {
            open::open_regular(&path, Links::Follow).ok()
        })
    }

    fn decide(
        &self,
        look: io::Result<Look>,
        open: impl FnOnce() -> Option<std::fs::File>,
    ) -> SourceState {
        let look = match look {
            Ok(look) => look,
            Err(error) if is_missing(&error) => return SourceState::Deleted,
            Err(_) => return SourceState::Unknown,
        };
        if look.kind != Kind::File {
            return SourceState::Deleted;
        }
        if look.size_bytes != self.size_bytes {
            return SourceState::Changed;
        }
        if look.modified_ms == self.modified_ms {
            return SourceState::Unchanged;
        }
        // A checkout or a copy sets the time alone.
        let is_same = look.size_bytes <= HASHED_LIMIT_BYTES
            && open().is_some_and(|file| {
                let mut hasher = blake3::Hasher::new();
                let mut bytes = io::Read::take(file, look.size_bytes.saturating_add(1));
                io::copy(&mut bytes, &mut hasher).is_ok()
                    && *hasher.finalize().as_bytes() == self.hash
            });
        if is_same {
            SourceState::Unchanged
        } else {
            SourceState::Changed
        }
    }

    /// Whether the disk may have the name in other bytes: another normal form, or bytes that are no UTF-8.
    fn may_be_spelled_otherwise(&self) -> bool {
        !self.relative.is_ascii() || self.relative.contains("\\x")
    }
}

/// Whether no file is there.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// The path on disk that a document path below a folder stands for, looked for name by name.
fn on_disk(folder: &SourceFolder, relative: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for wanted in relative.split('/') {
        let mut found = None;
        let mut seen = 0;
        let mut entries = folder.open_folder(&path).ok()?;
        let read = entries.entries(|name, _| {
            seen += 1;
            if document_name(name) == wanted {
                found = Some(name.to_owned());
            }
            if found.is_some() || seen == LISTED_LIMIT {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        });
        read.ok()?;
        path.push(found?);
    }
    Some(path)
}

#[cfg(test)]
mod tests;
