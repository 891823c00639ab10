//! What the disk has against what the file has: size and time first, and only where they differ the
//! content.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use crate::container::Snapshot;
use crate::error::{Error, Result};
use crate::ingest::report::{IndexOptions, Skipped};
use crate::ingest::roots::Root;
use crate::ingest::walk::{SourceFile, Walked};
use crate::store::documents::{DocumentRecord, Documents};
use crate::store::skipped::{self, SkippedRecord};
use crate::types::DocumentId;

/// A file that was changed so shortly before it was read may have been changed again within the same
/// tick of the file system's clock (2 s on FAT): its content is compared, whatever its time says.
const TICK_MS: i64 = 2000;

/// A file that must be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub file: SourceFile,
    /// Its document in the .kb; none for a file that the .kb does not have.
    pub known: Option<KnownDocument>,
    /// Whether the .kb remembers it as left out.
    pub was_skipped: bool,
}

/// What the .kb has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownDocument {
    /// The document.
    pub id: DocumentId,
    /// blake3 of the bytes it was made from.
    pub hash: [u8; 32],
}

/// The difference between roots on disk and in the file.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// What must be read, by path.
    pub candidates: Vec<Candidate>,
    /// Documents whose files are as they were.
    pub unchanged: u64,
    /// Documents whose files are gone, by path.
    pub removed: Vec<(String, DocumentId)>,
    /// What is left out without being read.
    pub skipped: Vec<Skipped>,
    /// Paths that the .kb remembers as left out and that are gone.
    pub forgotten: Vec<String>,
}

impl Changes {
    /// Everything is to be read: the .kb holds nothing of it.
    pub fn all(walked: Walked) -> Changes {
        let candidates = walked.files.into_iter().map(|file| Candidate {
            file,
            known: None,
            was_skipped: false,
        });
        Changes {
            candidates: candidates.collect(),
            skipped: walked.skipped,
            ..Changes::default()
        }
    }

    /// Compares what a walk over `roots` found with what the commit has of them.
    ///
    /// # Errors
    /// [`Error::RootVanished`] when nothing is left of a part of a root that the file has documents
    /// of, unless `options.prune`.
    pub fn find(
        held: Held,
        roots: &[Root],
        walked: Walked,
        options: &IndexOptions,
    ) -> Result<Changes> {
        if !options.prune {
            refuse_vanished(roots, &held, &walked)?;
        }
        Ok(held.compare(roots, walked, options))
    }

    /// Whether nothing must be read, removed or forgotten.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.removed.is_empty() && self.forgotten.is_empty()
    }
}

/// What a commit has of some roots, and which paths are taken by others.
#[derive(Debug)]
pub struct Held {
    /// Documents of the roots that are looked at.
    documents: HashMap<String, (DocumentId, DocumentRecord)>,
    /// Paths of all other documents.
    others: HashMap<String, Option<u32>>,
    /// Files that were left out.
    skipped: BTreeMap<String, SkippedRecord>,
}

impl Held {
    /// Reads all document records.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn read(snapshot: &Snapshot<'_>, documents: &Documents, roots: &[Root]) -> Result<Held> {
        let mut held = Held {
            documents: HashMap::new(),
            others: HashMap::new(),
            skipped: skipped::all(snapshot)?,
        };
        documents.each(snapshot, |id, record| {
            if is_covered(roots, record.root, &record.path) {
                held.documents.insert(record.path.clone(), (id, record));
            } else {
                held.others.insert(record.path, record.root);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        held.skipped
            .retain(|path, record| is_covered(roots, Some(record.root), path));
        Ok(held)
    }

    fn compare(mut self, roots: &[Root], walked: Walked, options: &IndexOptions) -> Changes {
        let mut changes = Changes {
            skipped: walked.skipped,
            ..Changes::default()
        };
        for file in walked.files {
            let indexed_ms = roots
                .iter()
                .find(|root| root.id == file.root)
                .map_or(0, |root| root.indexed_ms);
            let as_it_was = |size_bytes: u64, modified_ms: i64| {
                !options.force_hash
                    && (size_bytes, modified_ms) == (file.size_bytes, file.modified_ms)
                    && modified_ms.saturating_add(TICK_MS) < indexed_ms
            };
            let path = &file.document_path;
            if let Some(root) = self.others.get(path) {
                changes.skipped.push(taken(path, *root));
                continue;
            }
            let was_skipped = self.skipped.remove(path);
            if let Some(record) = &was_skipped
                && as_it_was(record.size_bytes, record.modified_ms)
            {
                changes.skipped.push(Skipped {
                    path: path.clone(),
                    reason: record.reason.clone(),
                });
                continue;
            }
            let known = self.documents.remove(path);
            if let Some((_, record)) = &known
                && as_it_was(record.size_bytes, record.modified_ms)
            {
                changes.unchanged += 1;
                continue;
            }
            changes.candidates.push(Candidate {
                known: known.map(|(id, record)| KnownDocument {
                    id,
                    hash: record.hash,
                }),
                was_skipped: was_skipped.is_some(),
                file,
            });
        }
        let gone = self.documents.into_iter();
        changes.removed = gone.map(|(path, (id, _))| (path, id)).collect();
        changes.removed.sort();
        changes.forgotten = self.skipped.into_keys().collect();
        changes
    }
}

fn is_covered(roots: &[Root], root: Option<u32>, path: &str) -> bool {
    roots
        .iter()
        .any(|looked_at| Some(looked_at.id) == root && looked_at.covers(path))
}

fn taken(path: &str, root: Option<u32>) -> Skipped {
    let reason = match root {
        Some(_) => "a document from another folder has this path",
        None => "a document that was added by name has this path",
    };
    Skipped {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// An empty folder may be a disk that is not mounted.
fn refuse_vanished(roots: &[Root], held: &Held, walked: &Walked) -> Result<()> {
    for root in roots {
        let documents = held
            .documents
            .values()
            .filter(|(_, record)| is_covered(std::slice::from_ref(root), record.root, &record.path))
            .count();
        let is_there = walked.files.iter().any(|file| file.root == root.id);
        if documents > 0 && !is_there {
            return Err(Error::RootVanished {
                root: root.folder.clone(),
                documents: documents as u64,
            });
        }
    }
    Ok(())
}
