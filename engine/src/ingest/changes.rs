//! What the disk has against what the file has: size and time first, and only where they differ the
//! content.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::ops::ControlFlow;

use crate::container::Snapshot;
use crate::error::{Error, Result};
use crate::ingest::report::{IndexOptions, Skipped};
use crate::ingest::root::{Root, Scope};
use crate::ingest::segment::Kept;
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
    /// What the .kb remembers of it as left out.
    pub skipped: Option<SkippedRecord>,
    /// Whether size and time are as they were, and only the content can tell.
    pub looks_same: bool,
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
    /// Paths of documents whose files could not be looked at.
    pub unread: Vec<String>,
}

impl Changes {
    /// Everything is to be read: the .kb holds nothing of it.
    pub fn all(walked: Walked) -> Changes {
        let candidates = walked.files.into_iter().map(|file| Candidate {
            file,
            known: None,
            skipped: None,
            looks_same: false,
        });
        Changes {
            candidates: candidates.collect(),
            skipped: walked.skipped,
            ..Changes::default()
        }
    }

    /// Everything is to be read, and what is known of the documents stays: number, handle, tags and
    /// when each came, by path.
    pub fn anew(held: &Held, walked: Walked) -> (Changes, HashMap<String, (DocumentId, Kept)>) {
        let unread = walked.unread.clone();
        let mut changes = Changes::all(walked);
        let mut kept = HashMap::new();
        for (path, (id, record)) in &held.documents {
            let stays = Kept {
                suffix: record.suffix.clone(),
                tags: record.tags.clone(),
                added_ms: record.added_ms,
            };
            kept.insert(path.clone(), (*id, stays));
        }
        for candidate in &mut changes.candidates {
            let known = held.documents.get(&candidate.file.document_path);
            candidate.known = known.map(|(id, record)| KnownDocument {
                id: *id,
                hash: record.hash,
            });
        }
        let files = changes.candidates.iter();
        let there: HashSet<&str> = files.map(|file| file.file.document_path.as_str()).collect();
        let gone = held
            .documents
            .iter()
            .filter(|(path, _)| !there.contains(path.as_str()));
        let (mut removed, mut unseen) = (Vec::new(), Vec::new());
        for (path, (id, _)) in gone {
            match unread.iter().any(|unread| is_below(path, unread)) {
                true => unseen.push(path.clone()),
                false => removed.push((path.clone(), *id)),
            }
        }
        (changes.removed, changes.unread) = (removed, unseen);
        changes.removed.sort();
        (changes, kept)
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
        held.refuse_vanished(roots, &walked, options)?;
        let mut changes = held.compare(roots, walked, options);
        changes.settle(options);
        Ok(changes)
    }

    /// Compares the content of files whose size and time are as they were, on all cores, so that a
    /// run without changes writes nothing.
    fn settle(&mut self, options: &IndexOptions) {
        let candidates = std::mem::take(&mut self.candidates);
        let (unclear, clear): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|candidate| candidate.looks_same);
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let share = unclear.len().div_ceil(threads).max(1);
        let same: Vec<bool> = std::thread::scope(|scope| {
            let shares: Vec<_> = unclear
                .chunks(share)
                .map(|share| scope.spawn(|| share.iter().map(is_same).collect::<Vec<bool>>()))
                .collect();
            let found = unclear.chunks(share).zip(shares);
            // A share that could not be compared is read again below.
            let found = found.map(|(share, of)| of.join().unwrap_or(vec![false; share.len()]));
            found.flatten().collect()
        });
        self.candidates = clear;
        for (number, candidate) in unclear.into_iter().enumerate() {
            match (same.get(number), candidate.skipped) {
                (Some(true), None) => self.unchanged += 1,
                (Some(true), Some(record)) => self.skipped.push(Skipped {
                    path: candidate.file.document_path,
                    reason: record.reason,
                }),
                (_, skipped) => self.candidates.push(Candidate {
                    skipped,
                    ..candidate
                }),
            }
        }
        let by_path =
            |a: &Candidate, b: &Candidate| a.file.document_path.cmp(&b.file.document_path);
        self.candidates.sort_by(by_path);
    }

    /// Refuses to go on where a folder that could not be read hides documents.
    ///
    /// # Errors
    /// [`Error::Io`] naming the first.
    pub fn refuse_unread(&self) -> Result<()> {
        match self.unread.first() {
            None => Ok(()),
            Some(path) => Err(Error::Io {
                action: "index or compare",
                path: path.into(),
                source: std::io::Error::other("its folder cannot be read"),
            }),
        }
    }

    /// Whether nothing must be read, removed or forgotten.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.removed.is_empty() && self.forgotten.is_empty()
    }
}

/// Whether the bytes of a file are those that the .kb knows.
fn is_same(candidate: &Candidate) -> bool {
    let known = match (&candidate.known, &candidate.skipped) {
        (Some(known), _) => known.hash,
        (None, Some(skipped)) => skipped.hash,
        (None, None) => return false,
    };
    let mut hasher = blake3::Hasher::new();
    let limit = candidate.file.size_bytes.saturating_add(1);
    let opened = candidate.file.open();
    let read = opened.and_then(|file| Ok(std::io::copy(&mut file.take(limit), &mut hasher)?));
    match read {
        Ok(_) => *hasher.finalize().as_bytes() == known,
        // What could not be read then and cannot be read now.
        Err(_) => known == [0; 32],
    }
}

/// What a commit has of some roots, and which paths are taken by others.
#[derive(Debug)]
pub struct Held {
    /// Documents of the roots that are looked at.
    documents: HashMap<String, (DocumentId, DocumentRecord)>,
    /// Paths of all other documents.
    others: HashMap<String, Option<u32>>,
    /// Files that were left out, if this program would leave them out too.
    skipped: BTreeMap<String, SkippedRecord>,
}

impl Held {
    /// Reads all document records. What another program left out, this one may read: with
    /// `same_program` false nothing is remembered as left out.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn read(
        snapshot: &Snapshot<'_>,
        documents: &Documents,
        roots: &[Root],
        same_program: bool,
    ) -> Result<Held> {
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
        if !same_program {
            for record in held.skipped.values_mut() {
                // Like no file: it is read again.
                record.size_bytes = u64::MAX;
            }
        }
        Ok(held)
    }

    /// Refuses to take an empty folder for one whose files were removed: it may be a disk that is
    /// not mounted.
    ///
    /// # Errors
    /// [`Error::RootVanished`], unless `options.prune`.
    pub fn refuse_vanished(
        &self,
        roots: &[Root],
        walked: &Walked,
        options: &IndexOptions,
    ) -> Result<()> {
        if options.prune {
            return Ok(());
        }
        let are_looked_for = roots.iter().filter(|root| root.scope != Scope::Superseded);
        for part in are_looked_for.flat_map(Root::parts) {
            let covered =
                |root: Option<u32>, path: &str| root == Some(part.id) && part.covers(path);
            let held = self.documents.values();
            let documents = held
                .filter(|(_, record)| covered(record.root, &record.path))
                .count();
            let mut files = walked.files.iter();
            let is_there = files.any(|file| covered(Some(file.root), &file.document_path));
            let is_unread = walked.unread.iter().any(|path| part.covers(path));
            if documents > 0 && !is_there && !is_unread {
                return Err(Error::RootVanished {
                    root: part.place(),
                    documents: documents as u64,
                });
            }
        }
        Ok(())
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
            let looks_same = |size_bytes: u64, modified_ms: i64| {
                (size_bytes, modified_ms) == (file.size_bytes, file.modified_ms)
            };
            let is_certain =
                !options.force_hash && file.modified_ms.saturating_add(TICK_MS) < indexed_ms;
            let path = &file.document_path;
            let holder = match self.documents.get(path) {
                Some((_, record)) => Some(record.root),
                None => self.others.get(path).copied(),
            };
            // A document of a root whose folder belongs to another one now is that one's.
            let is_left = |root: Option<u32>| {
                let of = |other: &&Root| Some(other.id) == root;
                let root = roots.iter().find(of);
                root.is_some_and(|root| root.scope == Scope::Superseded)
            };
            if let Some(root) = holder
                && root != Some(file.root)
                && !is_left(root)
            {
                changes.skipped.push(taken(path, root));
                self.documents.remove(path);
                continue;
            }
            let skipped = self.skipped.remove(path);
            let mut seems_same = false;
            if let Some(record) = &skipped {
                seems_same = looks_same(record.size_bytes, record.modified_ms);
            }
            if let Some(record) = &skipped
                && seems_same
                && is_certain
            {
                changes.skipped.push(Skipped {
                    path: path.clone(),
                    reason: record.reason.clone(),
                });
                continue;
            }
            let known = self.documents.remove(path);
            if let Some((_, record)) = &known
                && record.root == Some(file.root)
            {
                seems_same = looks_same(record.size_bytes, record.modified_ms);
                if seems_same && is_certain {
                    changes.unchanged += 1;
                    continue;
                }
            }
            changes.candidates.push(Candidate {
                known: known.map(|(id, record)| KnownDocument {
                    id,
                    hash: match record.root == Some(file.root) {
                        true => record.hash,
                        // Written again, under its new root.
                        false => [0; 32],
                    },
                }),
                skipped,
                looks_same: seems_same && !options.rebuild,
                file,
            });
        }
        let is_unread = |path: &str| walked.unread.iter().any(|unread| is_below(path, unread));
        for (path, (id, _)) in self.documents {
            match is_unread(&path) {
                true => changes.unread.push(path),
                false => changes.removed.push((path, id)),
            }
        }
        changes.unchanged += changes.unread.len() as u64;
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

/// Whether a path is another one or lies below it.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || above.is_empty())
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
