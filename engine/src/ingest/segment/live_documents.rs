//! The documents that are left in some segments, in the order of paths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::store::documents::DocumentRecord;

/// The documents of some segments that are not deleted and have chunks, in the order of their paths.
///
/// Rows of a segment are in that order, so one record of each segment is held.
pub(crate) struct LiveDocuments<'b> {
    snapshot: &'b Snapshot<'b>,
    catalog: &'b Catalog,
    bound: &'b [BoundSegment<'b>],
    /// For each segment, the first row that was not looked at.
    next_rows: Vec<u32>,
    /// The next document of each segment that has one.
    heads: BinaryHeap<Reverse<Head>>,
    /// Path of the last document.
    last_path: Option<String>,
}

/// A document that waits for its turn.
struct Head {
    id: DocumentId,
    record: DocumentRecord,
    /// Position of its segment.
    source: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        let key = |head: &Head| head.source;
        let paths = self.record.path.cmp(&other.record.path);
        paths.then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl<'b> LiveDocuments<'b> {
    /// Before the first document.
    ///
    /// # Errors
    /// As [`LiveDocuments::advance`].
    pub(crate) fn new(
        snapshot: &'b Snapshot<'b>,
        catalog: &'b Catalog,
        bound: &'b [BoundSegment<'b>],
    ) -> Result<LiveDocuments<'b>> {
        let mut documents = LiveDocuments {
            snapshot,
            catalog,
            bound,
            next_rows: vec![0; bound.len()],
            heads: BinaryHeap::with_capacity(bound.len()),
            last_path: None,
        };
        for source in 0..bound.len() {
            documents.load_head(source)?;
        }
        Ok(documents)
    }

    /// The next document; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Damaged`] when rows and records contradict each other, or paths do not ascend.
    pub(crate) fn advance(&mut self) -> Result<Option<(DocumentId, DocumentRecord)>> {
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.load_head(head.source)?;
        let path = &head.record.path;
        if self.last_path.as_ref().is_some_and(|last| last >= path) {
            return Err(Error::damaged(format!(
                "document {path:?} is not in its place in the order of paths"
            )));
        }
        self.last_path = Some(path.clone());
        Ok(Some((head.id, head.record)))
    }

    /// Finds the next document of a segment.
    fn load_head(&mut self, source: usize) -> Result<()> {
        let (Some(bound), Some(next_row)) =
            (self.bound.get(source), self.next_rows.get_mut(source))
        else {
            return Ok(());
        };
        let segment = bound.segment;
        let deleted = segment.deleted_rows();
        let mut row = *next_row;
        while row < segment.rows() && deleted.is_some_and(|deleted| deleted.contains(row)) {
            row += 1;
        }
        if row >= segment.rows() {
            return Ok(());
        }
        let id = bound.chunks().document(row)?;
        let record = self.catalog.documents.get(self.snapshot, id)?;
        let end = record.first_row.checked_add(record.rows);
        let end = end.filter(|end| *end > row && *end <= segment.rows());
        let is_its = record.segment() == segment.id && record.first_row == row;
        let (Some(end), true) = (end, is_its) else {
            return Err(Error::damaged(format!(
                "row {row} of segment {} names document {:?}, whose rows are others",
                segment.id.0, record.path
            )));
        };
        if deleted.is_some_and(|deleted| deleted.range_cardinality(row..end) > 0) {
            return Err(Error::damaged(format!(
                "some rows of document {:?} are deleted",
                record.path
            )));
        }
        *next_row = end;
        self.heads.push(Reverse(Head { id, record, source }));
        Ok(())
    }
}
