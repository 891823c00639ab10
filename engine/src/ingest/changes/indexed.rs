//! What a commit has of some ranges of paths, read a batch at a time in the order of paths.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};
use kb_types::syntax::pending;

use crate::container::{Container, SlotIdentity, Snapshot};
use crate::ingest::changes::coverage::PathRange;
use crate::store::documents::{DocumentRecord, Documents};
use crate::store::skipped::{self, SkippedRecord};

/// Rows of one request to the file.
// Read in some milliseconds, within the 2 s that a writer retains a commit.
const ROWS_AT_ONCE: usize = 1024;

/// Bytes of rows that are read at once, before the last.
const BYTES_AT_ONCE: usize = 1 << 20;

/// The file that rows are read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Base<'b> {
    /// The .kb.
    pub container: &'b Container,
    /// The only commit that counts.
    pub commit: SlotIdentity,
}

impl Base<'_> {
    /// Whether it has an older format, so that no text can be taken from it.
    pub(crate) fn is_older(&self) -> bool {
        self.container.signature().is_older()
    }

    /// Asks the commit that counts.
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when there is another one; what `request` says.
    pub(crate) fn read<T>(&self, mut request: impl FnMut(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        self.container.read(|snapshot| {
            if self.commit != snapshot.identity() {
                return Err(Error::SnapshotExpired);
            }
            request(snapshot)
        })
    }
}

/// What the file has of a document that may be compared with a file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedDocument {
    /// Number of the document.
    pub id: DocumentId,
    /// Document path.
    pub path: String,
    /// Number of its root; none for a document that is no file of a root.
    pub root: Option<u32>,
    /// Bytes of the original.
    pub size_bytes: u64,
    /// When the original was changed, milliseconds since 1970.
    pub modified_ms: i64,
    /// When the document was added, likewise.
    pub added_ms: i64,
    /// blake3 of the original.
    pub hash: [u8; 32],
    /// Whether it is a program that is not parsed yet.
    pub is_pending: bool,
}

impl IndexedDocument {
    fn new(id: DocumentId, record: DocumentRecord) -> IndexedDocument {
        IndexedDocument {
            id,
            is_pending: pending::is_marked(&record.metadata),
            path: record.path,
            root: record.root,
            size_bytes: record.size_bytes,
            modified_ms: record.modified_ms,
            added_ms: record.added_ms,
            hash: record.hash,
        }
    }
}

/// Rows of a table in the order of paths.
#[derive(Debug)]
pub(crate) struct Rows<'b, R> {
    base: Option<Base<'b>>,
    /// Ranges that are left, the next first.
    ranges: VecDeque<PathRange>,
    read: VecDeque<R>,
}

impl<'b, R> Rows<'b, R> {
    /// Those of `ranges`, which ascend; without a base none.
    pub(crate) fn new(base: Option<Base<'b>>, ranges: Vec<PathRange>) -> Rows<'b, R> {
        Rows {
            base,
            ranges: ranges.into(),
            read: VecDeque::new(),
        }
    }

    /// The next row, read with others by `read`: it gives rows of the first ranges, and what is left
    /// of these.
    fn next_of(
        &mut self,
        read: impl Fn(&Snapshot<'_>, &mut VecDeque<PathRange>) -> Result<VecDeque<R>>,
    ) -> Result<Option<R>> {
        while self.read.is_empty() && !self.ranges.is_empty() {
            let Some(base) = self.base else {
                return Ok(None);
            };
            (self.read, self.ranges) = base.read(|snapshot| {
                let mut left = self.ranges.clone();
                let rows = read(snapshot, &mut left)?;
                Ok((rows, left))
            })?;
        }
        Ok(self.read.pop_front())
    }
}

impl Rows<'_, IndexedDocument> {
    /// The next document in the order of paths; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`]; as [`Base::read`].
    pub(crate) fn next_row(&mut self) -> Result<Option<IndexedDocument>> {
        self.next_of(read_documents)
    }
}

impl Rows<'_, (String, SkippedRecord)> {
    /// The next file that was read and left out.
    ///
    /// # Errors
    /// [`Error::Damaged`]; as [`Base::read`].
    pub(crate) fn next_row(&mut self) -> Result<Option<(String, SkippedRecord)>> {
        self.next_of(read_skipped)
    }
}

fn read_documents(
    snapshot: &Snapshot<'_>,
    ranges: &mut VecDeque<PathRange>,
) -> Result<VecDeque<IndexedDocument>> {
    let documents = Documents::locate(snapshot)?;
    let mut rows: Vec<(String, DocumentId)> = Vec::new();
    read_ranges(ranges, |range, batch| {
        documents.each_path(snapshot, &range.from, |path, id| {
            let goes_on = batch.take(range, path, path.len());
            if goes_on.is_continue() {
                rows.push((path.to_owned(), id));
            }
            Ok(goes_on)
        })
    })?;
    // Numbers mostly follow paths, so that records of neighbours are neighbours.
    let mut ids: Vec<DocumentId> = rows.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut records: HashMap<DocumentId, IndexedDocument> = HashMap::with_capacity(ids.len());
    documents.each_of(snapshot, &ids, |id, record| {
        records.insert(id, IndexedDocument::new(id, record));
        Ok(())
    })?;
    rows.into_iter()
        .map(|(path, id)| match records.remove(&id) {
            Some(document) if document.path == path => Ok(document),
            _ => Err(Error::damaged(format!(
                "document {} is named by {path:?}, which is not its path",
                id.0
            ))),
        })
        .collect()
}

fn read_skipped(
    snapshot: &Snapshot<'_>,
    ranges: &mut VecDeque<PathRange>,
) -> Result<VecDeque<(String, SkippedRecord)>> {
    let mut rows = VecDeque::new();
    read_ranges(ranges, |range, batch| {
        skipped::each_from(snapshot, &range.from, |path, record| {
            let goes_on = batch.take(range, path, path.len() + record.reason.len());
            if goes_on.is_continue() {
                rows.push_back((path.to_owned(), record));
            }
            Ok(goes_on)
        })
    })?;
    Ok(rows)
}

/// How much was read at once.
#[derive(Debug, Default)]
struct ReadBatch {
    rows: usize,
    bytes: usize,
    /// Where the next batch begins, if not with the next range.
    next: Option<String>,
}

impl ReadBatch {
    /// Whether a row belongs to the range and there is room for it.
    fn take(&mut self, range: &PathRange, path: &str, bytes: usize) -> ControlFlow<()> {
        if !range.reaches(path) {
            return ControlFlow::Break(());
        }
        if self.is_full() {
            self.next = Some(path.to_owned());
            return ControlFlow::Break(());
        }
        self.rows += 1;
        self.bytes += bytes;
        ControlFlow::Continue(())
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS_AT_ONCE || self.bytes >= BYTES_AT_ONCE
    }
}

/// Calls `read` with range after range until enough was read, and takes away what was.
fn read_ranges(
    ranges: &mut VecDeque<PathRange>,
    mut read: impl FnMut(&PathRange, &mut ReadBatch) -> Result<()>,
) -> Result<()> {
    let mut batch = ReadBatch::default();
    while let Some(range) = ranges.front_mut() {
        read(range, &mut batch)?;
        match batch.next.take() {
            Some(next) => {
                range.from = next;
                break;
            }
            None => {
                ranges.pop_front();
            }
        }
        if batch.is_full() {
            break;
        }
    }
    Ok(())
}
