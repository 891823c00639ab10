//! What the disk has against what the file has: size and time first, and only where they differ the
//! content.
//!
//! Three lists in the order of document paths are merged: the files that a walk finds, the documents of
//! the file, and the files that it remembers as left out. What is as it was leaves nothing behind but
//! its count, so memory does not grow with the number of documents.

use std::collections::{BTreeMap, BTreeSet};

use kb_extract::readers;
use kb_extract::secrets;
use kb_types::DocumentId;
use kb_types::error::Result;

use crate::ingest::changes::coverage::{Coverage, PathRange, ancestors};
use crate::ingest::changes::emptied::EmptyFolders;
use crate::ingest::changes::indexed::{Base, IndexedDocument, Rows};
use crate::ingest::changes::tally::Tally;
use crate::ingest::options::IndexOptions;
use crate::ingest::report::Skipped;
use crate::ingest::root::Root;
use crate::ingest::walk::{LeftOut, SourceFile, Walk, WalkItem, WalkOptions};
use crate::progress::Reporter;
use crate::store::meta::Settings;
use crate::store::skipped::SkippedRecord;

/// Age below which the time of a file proves nothing.
// The tick of FAT, the coarsest clock in use. A file that was changed so shortly before it was read
// may have been changed again within the same tick, so its content is compared. git calls such
// files racy.
const TICK_MS: i64 = 2000;

/// In place of the hash of a file that was not read.
const UNREAD: [u8; 32] = [0; 32];

/// A file that must be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The file on disk.
    pub file: SourceFile,
    /// Its document in the .kb; none for a file that the .kb does not have.
    pub stored: Option<StoredDocument>,
    /// What the .kb remembers of it as left out.
    pub skipped: Option<SkippedRecord>,
    /// Whether size and time are as they were, and only the content can tell.
    pub same_metadata: bool,
    /// Whether the document is to be searched for secrets though it has the bytes of the file.
    pub is_unsearched: bool,
    /// Whether its document is a program that was indexed without being parsed, and is to be parsed now.
    pub is_pending: bool,
}

impl Candidate {
    /// A file that is read whatever it was.
    fn new(file: SourceFile, stored: Option<IndexedDocument>) -> Candidate {
        let stored = stored.map(|IndexedDocument { id, hash, .. }| StoredDocument { id, hash });
        Candidate {
            file,
            stored,
            skipped: None,
            same_metadata: false,
            is_unsearched: false,
            is_pending: false,
        }
    }

    /// Whether it is read only to be parsed, which a later run can do as well.
    pub(crate) fn may_wait(&self) -> bool {
        let is_known = self.stored.is_some_and(|stored| stored.hash != UNREAD);
        self.is_pending && is_known && !self.is_unsearched
    }

    /// Whether the bytes of the file are those that the .kb knows.
    pub(crate) fn is_same(&self) -> bool {
        let stored = match (&self.stored, &self.skipped) {
            (Some(stored), _) => stored.hash,
            (None, Some(skipped)) => skipped.hash,
            (None, None) => return false,
        };
        let mut hasher = blake3::Hasher::new();
        let read = self.file.open().map_err(|_| ()).and_then(|file| {
            // No more than it had in the walk: a file that grows while it is read would never end.
            let mut bytes = std::io::Read::take(file, self.file.size_bytes.saturating_add(1));
            std::io::copy(&mut bytes, &mut hasher).map_err(|_| ())
        });
        match read {
            Ok(_) => *hasher.finalize().as_bytes() == stored,
            // What could not be read then and cannot be read now.
            Err(()) => stored == [0; 32],
        }
    }
}

/// What the .kb has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredDocument {
    /// Number of the document.
    pub id: DocumentId,
    /// blake3 of the bytes it was made from.
    pub hash: [u8; 32],
}

/// A difference between disk and file, or what may be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A file must be read.
    Read(Box<Candidate>),
    /// The file of a document is gone.
    Remove(String, DocumentId),
    /// A file that the .kb remembers as left out is gone.
    Forget(String),
    /// A file is left out without being read, which the .kb does not remember.
    Note(String, Box<SkippedRecord>),
    /// A document that no file of these roots is, in a file that is rebuilt.
    Preserve(IndexedDocument),
}

/// What is compared, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'s> {
    /// Roots on disk.
    pub roots: &'s [Root],
    /// The file; `None`: there is none yet.
    pub base: Option<Base<'s>>,
    /// Its settings.
    pub settings: &'s Settings,
    /// Whether this program would leave out what the file remembers as left out. What another one left
    /// out is read again.
    pub is_same_program: bool,
    /// Whether the file is rebuilt: every file is read, and all documents that are none of these
    /// roots are preserved.
    pub is_rebuild: bool,
}

/// A comparison under way. `W`: where files come from.
#[derive(Debug)]
pub(crate) struct Comparison<'s, W = Walk<'s>> {
    sides: Sides<'s>,
    force_hash: bool,
    /// Whether every file that is looked at is read.
    reads_all: bool,
    prune: bool,
    include_secrets: bool,
    parse_pending: bool,
    walk: W,
    documents: Rows<'s, IndexedDocument>,
    left_out: Rows<'s, (String, SkippedRecord)>,
    coverage: Coverage,
    /// Document paths that could not be looked at.
    unread: BTreeSet<String>,
    /// Folders that have nothing in them.
    empty: EmptyFolders,
    /// What the walk left out, with what it said otherwise.
    walk_skipped: Vec<Skipped>,
    /// What the walk left out, by path.
    left_out_now: BTreeMap<String, LeftOut>,
    /// What the file remembers as left out without being read, where no file was found: to be compared with
    /// what the walk left out when it is at its end, since that comes in no order.
    unread_records: BTreeMap<String, SkippedRecord>,
    /// Documents that are kept though nothing is known of their files.
    kept: BTreeSet<String>,
    /// The changes that follow the last path, once they are known.
    last_changes: Option<std::vec::IntoIter<Change>>,
    tally: Tally,
    /// The next of each list.
    file: Option<SourceFile>,
    document: Option<IndexedDocument>,
    record: Option<(String, SkippedRecord)>,
}

impl<'s> Comparison<'s> {
    /// Begins a comparison.
    ///
    /// # Errors
    /// As [`Walk::new`] and [`Base::read`].
    pub(crate) fn new(
        sides: Sides<'s>,
        options: &IndexOptions,
        reporter: &'s Reporter<'s>,
    ) -> Result<Comparison<'s>> {
        let walk_options = WalkOptions {
            max_file_bytes: options.max_file_bytes,
            threads: options.threads,
            within: options.within.clone(),
            without_git_index: false,
        };
        let walk = Walk::new(sides.roots, walk_options, reporter)?;
        Comparison::of(sides, walk, options)
    }
}

impl<'s, W: Iterator<Item = Result<WalkItem>>> Comparison<'s, W> {
    /// Begins a comparison with what `walk` finds; it yields as [`Walk`] does.
    ///
    /// # Errors
    /// Those of `walk`; as [`Base::read`].
    pub(crate) fn of(
        sides: Sides<'s>,
        walk: W,
        options: &IndexOptions,
    ) -> Result<Comparison<'s, W>> {
        let coverage = Coverage::new(sides.roots);
        let ranges = if sides.is_rebuild {
            vec![PathRange::all()]
        } else {
            coverage.ranges()
        };
        // A file that is rebuilt remembers nothing.
        let left_out = if sides.is_rebuild {
            Vec::new()
        } else {
            ranges.clone()
        };
        let mut comparison = Comparison {
            sides,
            force_hash: options.force_hash,
            reads_all: options.rebuild,
            prune: options.prune,
            include_secrets: options.include_secrets.unwrap_or(false),
            parse_pending: options.parse_pending,
            walk,
            documents: Rows::new(sides.base, ranges),
            left_out: Rows::new(sides.base, left_out),
            coverage,
            unread: BTreeSet::new(),
            empty: EmptyFolders::default(),
            walk_skipped: Vec::new(),
            left_out_now: BTreeMap::new(),
            unread_records: BTreeMap::new(),
            kept: BTreeSet::new(),
            last_changes: None,
            tally: Tally::default(),
            file: None,
            document: None,
            record: None,
        };
        comparison.next_file()?;
        comparison.document = comparison.documents.next_row()?;
        comparison.next_record()?;
        Ok(comparison)
    }

    fn next_file(&mut self) -> Result<()> {
        self.file = None;
        for found in self.walk.by_ref() {
            match found? {
                WalkItem::Skipped(skipped) => self.walk_skipped.push(skipped),
                WalkItem::LeftOut(left_out) => {
                    let skipped = Skipped::new(&*left_out.path, &*left_out.reason);
                    self.walk_skipped.push(skipped);
                    self.left_out_now.insert(left_out.path.clone(), left_out);
                }
                WalkItem::Unread(path) => {
                    self.coverage.note_unread(&path);
                    self.unread.insert(path);
                }
                WalkItem::Empty(path, folder) => self.empty.note(path, folder),
                WalkItem::File(file) => {
                    self.coverage.note_file(file.root, &file.document_path);
                    self.file = Some(file);
                    break;
                }
            }
        }
        Ok(())
    }

    fn take_file(&mut self) -> Result<Option<SourceFile>> {
        let file = self.file.take();
        self.next_file()?;
        Ok(file)
    }

    fn take_document(&mut self) -> Result<Option<IndexedDocument>> {
        let next = self.documents.next_row()?;
        Ok(std::mem::replace(&mut self.document, next))
    }

    /// Of the files that were left out only those that are looked at count.
    fn next_record(&mut self) -> Result<()> {
        self.record = None;
        while let Some((path, record)) = self.left_out.next_row()? {
            if self.coverage.covers(Some(record.root), &path) {
                self.record = Some((path, record));
                break;
            }
        }
        Ok(())
    }

    fn take_record(&mut self) -> Result<Option<(String, SkippedRecord)>> {
        let record = self.record.take();
        self.next_record()?;
        Ok(record)
    }

    /// The next change in the order of paths, then those of files that are left out unread; `None` at the
    /// end.
    ///
    /// # Errors
    /// Those of the walk; as [`Base::read`].
    pub(crate) fn next_change(&mut self) -> Result<Option<Change>> {
        loop {
            let file = self.file.as_ref().map(|file| file.document_path.as_str());
            let document = self
                .document
                .as_ref()
                .map(|document| document.path.as_str());
            let record = self.record.as_ref().map(|(path, _)| path.as_str());
            let paths = [file, document, record];
            let Some(path) = paths.into_iter().flatten().min() else {
                return Ok(self.last_change());
            };
            let [has_file, has_document, has_record] = paths.map(|other| other == Some(path));
            let change = match (has_file, has_document) {
                (true, _) => self.compare_file(has_document, has_record)?,
                (false, true) => self.document_without_file()?,
                (false, false) => self.record_without_file()?,
            };
            if change.is_some() {
                return Ok(change);
            }
        }
    }

    fn record_without_file(&mut self) -> Result<Option<Change>> {
        let Some((path, record)) = self.take_record()? else {
            return Ok(None);
        };
        // Such a file may be left out again, by its name or size, without having been read; only
        // the end of the walk tells.
        if record.hash == UNREAD {
            self.unread_records.insert(path, record);
            return Ok(None);
        }
        // It may still be there.
        if self.is_unread(&path) {
            return Ok(None);
        }
        Ok(Some(Change::Forget(path)))
    }

    /// The next of the changes of files that are left out unread.
    fn last_change(&mut self) -> Option<Change> {
        if self.last_changes.is_none() {
            let mut changes = Vec::new();
            let mut known = std::mem::take(&mut self.unread_records);
            for (path, left_out) in std::mem::take(&mut self.left_out_now) {
                let record = known.remove(&path);
                // A document of that path is kept, and a whole root has no name.
                if !self.kept.contains(&path) && !path.is_empty() {
                    changes.extend(note(left_out, record.as_ref()));
                }
            }
            let gone = known.into_keys().filter(|path| !self.is_unread(path));
            changes.extend(gone.map(Change::Forget));
            self.last_changes = Some(changes.into_iter());
        }
        self.last_changes.as_mut()?.next()
    }

    /// Compares the next file with what the .kb has under its path.
    fn compare_file(&mut self, has_document: bool, has_record: bool) -> Result<Option<Change>> {
        let stored = if has_document {
            self.take_document()?
        } else {
            None
        };
        let Some(file) = self.take_file()? else {
            return Ok(None);
        };
        let is_covered = stored
            .as_ref()
            .is_some_and(|stored| self.coverage.covers(stored.root, &stored.path));
        if is_covered && let Some(stored) = &stored {
            self.coverage.note_document(stored.root, &stored.path);
        }
        let secret = if self.include_secrets {
            None
        } else {
            secrets::secret_by_name(&file.document_path)
        };
        let is_new = stored.is_none() || (self.sides.is_rebuild && is_covered);
        if let Some(secret) = secret.as_ref().filter(|_| is_new) {
            let record = self.record_of_file(has_record)?;
            return Ok(self.leave_out(file, secret.to_string(), record.as_ref()));
        }
        if self.sides.is_rebuild {
            // Of an older format nothing can be preserved: a rebuild that is asked for takes the file.
            let takes_file = self.reads_all && self.sides.base.is_some_and(|it| it.is_older());
            return Ok(Some(match stored {
                Some(stored) if !is_covered && !takes_file => {
                    let reason = "a document from elsewhere has this path";
                    self.skip(file.document_path, reason.to_owned());
                    Change::Preserve(stored)
                }
                stored => Change::Read(Box::new(Candidate::new(file, stored))),
            }));
        }
        // A document of a root whose folder belongs to another one now is that one's.
        let is_left = stored
            .as_ref()
            .is_some_and(|stored| self.coverage.is_superseded(stored.root));
        if let Some(stored) = &stored
            && stored.root != Some(file.root)
            && !is_left
        {
            let reason = match stored.root {
                Some(_) => "a document from another folder has this path",
                None => "a document that was added by name has this path",
            };
            self.skip(file.document_path, reason.to_owned());
            // What is remembered under this path is forgotten next.
            return Ok(None);
        }
        let record = self.record_of_file(has_record)?;
        let settings = self.sides.settings;
        let is_unsearched = stored.is_some()
            && !self.include_secrets
            && !settings.is_searched(file.root, secrets::RULES);
        let is_rewritten =
            is_left || readers::is_outdated(&file.document_path, settings.readers(file.root));
        let indexed_ms = self.coverage.indexed_ms(file.root);
        // Leave to read a file may come without a new time.
        let was_read = record.as_ref().is_none_or(|record| record.hash != UNREAD);
        let is_certain =
            !self.force_hash && was_read && file.modified_ms.saturating_add(TICK_MS) < indexed_ms;
        let is_pending =
            self.parse_pending && stored.as_ref().is_some_and(|stored| stored.is_pending);
        let is_read_again = is_rewritten || is_unsearched || is_pending || secret.is_some();
        let same_metadata =
            !is_read_again && self.has_same_metadata(&file, stored.as_ref(), record.as_ref());
        if same_metadata && is_certain {
            match (&stored, record) {
                (None, Some(record)) => self.skip(file.document_path, record.reason),
                _ => self.tally.unchanged += 1,
            }
            return Ok(None);
        }
        let stored = stored.map(|stored| IndexedDocument {
            // Written again, under its new root or by other readers.
            hash: if is_rewritten { [0; 32] } else { stored.hash },
            ..stored
        });
        let same_metadata = same_metadata && !self.reads_all;
        Ok(Some(Change::Read(Box::new(Candidate {
            skipped: record,
            same_metadata,
            is_unsearched,
            is_pending,
            ..Candidate::new(file, stored)
        }))))
    }

    /// The record of the path of a file.
    fn record_of_file(&mut self, has_record: bool) -> Result<Option<SkippedRecord>> {
        if !has_record {
            return Ok(None);
        }
        Ok(self.take_record()?.map(|(_, record)| record))
    }

    /// Reports a file that is left out, and notes it unless that is known.
    fn leave_out(
        &mut self,
        file: SourceFile,
        reason: String,
        known: Option<&SkippedRecord>,
    ) -> Option<Change> {
        self.skip(file.document_path.clone(), reason.clone());
        let left_out = LeftOut {
            path: file.document_path,
            reason,
            root: file.root,
            size_bytes: file.size_bytes,
            modified_ms: file.modified_ms,
        };
        note(left_out, known)
    }

    /// Whether size and time of a file are those that the .kb has of its document, or else of its record.
    fn has_same_metadata(
        &self,
        file: &SourceFile,
        stored: Option<&IndexedDocument>,
        record: Option<&SkippedRecord>,
    ) -> bool {
        let now = (file.size_bytes, file.modified_ms);
        match (stored, record) {
            (Some(stored), _) => now == (stored.size_bytes, stored.modified_ms),
            // Left out by another wish.
            (None, Some(record))
                if self.include_secrets && record.reason.starts_with(secrets::REASON_START) =>
            {
                false
            }
            (None, Some(record)) => {
                self.sides.is_same_program && now == (record.size_bytes, record.modified_ms)
            }
            (None, None) => false,
        }
    }

    fn document_without_file(&mut self) -> Result<Option<Change>> {
        let Some(document) = self.take_document()? else {
            return Ok(None);
        };
        if !self.coverage.covers(document.root, &document.path) {
            let preserved = self.sides.is_rebuild.then_some(Change::Preserve(document));
            return Ok(preserved);
        }
        self.coverage.note_document(document.root, &document.path);
        if self.is_unread(&document.path) {
            self.tally.unchanged += 1;
            self.kept.insert(document.path.clone());
            self.tally.unread.get_or_insert(document.path);
            return Ok(None);
        }
        let looked_at = self
            .sides
            .roots
            .iter()
            .find(|r| Some(r.id) == document.root);
        let seen_ms = looked_at.map_or(0, |root| root.indexed_ms.max(document.added_ms));
        if !self.prune && self.empty.keeps(&document.path, seen_ms) {
            self.tally.unchanged += 1;
            self.kept.insert(document.path.clone());
            let preserved = self.sides.is_rebuild.then_some(Change::Preserve(document));
            return Ok(preserved);
        }
        Ok(Some(Change::Remove(document.path, document.id)))
    }

    /// Whether a path or a folder that it lies in could not be looked at.
    fn is_unread(&self, path: &str) -> bool {
        !self.unread.is_empty()
            && (self.unread.contains("") || ancestors(path).any(|path| self.unread.contains(path)))
    }

    fn skip(&mut self, path: String, reason: String) {
        self.tally.skipped.push(Skipped::new(path, reason));
    }

    /// What was counted, once there is no further change.
    ///
    /// # Errors
    /// [`crate::Error::RootVanished`] when nothing is left of a part of a root that the file has documents
    /// of, unless they are to be pruned.
    pub(crate) fn finish(mut self) -> Result<Tally> {
        if !self.prune {
            self.coverage.refuse_vanished()?;
        }
        let mut skipped = self.walk_skipped;
        skipped.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        skipped.dedup();
        skipped.append(&mut self.tally.skipped);
        self.tally.skipped = skipped;
        self.tally.emptied = self.empty.into_kept();
        Ok(self.tally)
    }
}

/// The change for a file that is left out unread, unless the .kb remembers it so.
fn note(left_out: LeftOut, known: Option<&SkippedRecord>) -> Option<Change> {
    let is_known = known.is_some_and(|record| {
        record.root == left_out.root && record.reason == left_out.reason && record.hash == UNREAD
    });
    // Nothing is kept of a path that holds a secret.
    if secrets::has_secret(&left_out.path) {
        return known.map(|_| Change::Forget(left_out.path));
    }
    if is_known {
        return None;
    }
    let record = SkippedRecord {
        root: left_out.root,
        size_bytes: left_out.size_bytes,
        modified_ms: left_out.modified_ms,
        reason: left_out.reason,
        hash: UNREAD,
    };
    Some(Change::Note(left_out.path, Box::new(record)))
}
