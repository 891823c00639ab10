//! What the parts of a deep check share.

use std::collections::BTreeMap;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::{Catalog, Segment};
use crate::container::BoundColumn;
use crate::container::Snapshot;
use crate::container::column::ColumnId;
use crate::index::keyword::DefinitionSum;
use crate::store::facets::Facet;

/// What live documents add up to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) struct Totals {
    /// Documents.
    pub(in crate::check) documents: u64,
    /// Their chunks.
    pub(in crate::check) chunks: u64,
    /// Bytes of their text.
    pub(in crate::check) text_bytes: u64,
}

impl Totals {
    /// The sum of both; it stays at the largest number when a file states absurd ones.
    pub(super) fn plus(self, other: &Totals) -> Totals {
        Totals {
            documents: self.documents.saturating_add(other.documents),
            chunks: self.chunks.saturating_add(other.chunks),
            text_bytes: self.text_bytes.saturating_add(other.text_bytes),
        }
    }
}

/// One segment of the commit that is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'c> {
    /// The commit that is checked.
    pub(super) snapshot: &'c Snapshot<'c>,
    /// Records of that commit.
    pub(super) catalog: &'c Catalog,
    /// One live segment of it.
    pub(super) segment: &'c Segment,
    /// What the records of its documents say.
    pub(super) live: Totals,
}

impl<'c> Context<'c> {
    /// How problems name the segment.
    pub(super) fn location(&self) -> String {
        format!("segment {}", self.segment.id.0)
    }

    /// A column that binding the segment found.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the segment has no such column.
    pub(super) fn column(&self, id: ColumnId) -> Result<BoundColumn<'c>> {
        let column = self.segment.extents.column(self.snapshot, id);
        column.ok_or_else(|| Error::damaged(format!("{} has no column {}", self.location(), id.0)))
    }
}

/// What the rows of a segment say.
#[derive(Debug, Default)]
pub(super) struct CheckedRows {
    /// Documents whose rows are where their records say, all of them live.
    pub(super) documents: RoaringBitmap,
    /// Rows by attribute, as the records of those documents have it.
    pub(super) facets: BTreeMap<(Facet, String), RoaringBitmap>,
    /// The rows of all definitions, as the symbols of those documents have them.
    pub(super) definitions: DefinitionSum,
    /// Bytes of text, deleted chunks included.
    pub(super) text_bytes: u64,
    /// Whether all rows were looked at.
    pub(super) is_complete: bool,
}
