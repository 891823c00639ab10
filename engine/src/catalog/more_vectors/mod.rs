//! The vectors of other models in a segment: their records, checked, and their columns over a snapshot.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::bound_columns::{BoundColumns, Wanted};
use crate::catalog::columns::{Column, ColumnGroup, Facts};
use crate::container::codec::decode_rows_below;
use crate::container::column::ColumnId;
use crate::container::{SegmentExtents, Snapshot};
use crate::index::vector;
use crate::metric::Metric;
use crate::store::segments::SegmentRecord;
use crate::store::tables;
use crate::store::vector_columns::VectorColumns;

/// The vectors of one column in a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct MoreVectorIndex {
    /// Number of the column.
    pub number: u16,
    /// Header of the vector index.
    pub record: vector::VectorRecord,
    /// Rows with a vector; others are zeros and never answer.
    pub present: RoaringBitmap,
    /// How they are compared.
    pub metric: Metric,
}

impl MoreVectorIndex {
    /// All of a segment, by ascending number.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a record contradicts itself, the segment or the table of columns, or they do not ascend;
    /// [`Error::FormatUnsupported`] for a codec that this program does not read.
    pub(super) fn all_of(
        record: &SegmentRecord,
        id: SegmentId,
        columns: &VectorColumns,
    ) -> Result<Vec<MoreVectorIndex>> {
        let more = &record.more_vectors;
        if !more.is_sorted_by(|a, b| a.number < b.number) {
            return Err(Error::damaged(format!(
                "columns of vectors of segment {} do not ascend",
                id.0
            )));
        }
        let mut all = Vec::with_capacity(more.len());
        for more in more {
            let wrong = |what: &str| {
                let number = more.number;
                Error::damaged(format!(
                    "column of vectors {number} of segment {} {what}",
                    id.0
                ))
            };
            let column = columns.numbered(more.number);
            let column = column.ok_or_else(|| wrong("is no column of the file"))?;
            let index = MoreVectorIndex {
                number: more.number,
                record: vector::VectorRecord::decode(&more.vector_index)?,
                present: decode_rows_below(
                    "the bitmap of chunks with a vector",
                    &more.present,
                    record.rows,
                )?,
                metric: column.metric,
            };
            // A column without any vector is not written, so that each has one form.
            if index.record.rows != record.rows || index.present.is_empty() {
                return Err(wrong("has other rows than it"));
            }
            all.push(index);
        }
        Ok(all)
    }

    /// Whether the table of columns says the same.
    pub(super) fn agrees(&self, columns: &VectorColumns) -> bool {
        columns.numbered(self.number).is_some_and(|column| {
            let (told, is) = (&column.record, &self.record);
            column.metric == self.metric
                && (told.codec, told.dim) == (is.codec, is.dim)
                // By bits, as rows are copied between segments without quantising them again.
                && told.range.to_bits() == is.range.to_bits()
        })
    }

    /// The number of a column of the segment that is `column` for the built-in model.
    pub fn column(&self, column: ColumnId) -> ColumnId {
        ColumnId(tables::vector_columns_base(self.number).saturating_add(column.0))
    }

    /// What its columns depend on, in a segment of which these are the facts.
    pub fn facts<'r>(&'r self, of_segment: &Facts<'r>) -> Facts<'r> {
        Facts {
            vectors: &self.record,
            metric: self.metric,
            ..*of_segment
        }
    }

    /// Live chunks with a vector.
    pub fn live_rows(&self, deleted: Option<&RoaringBitmap>) -> u64 {
        let gone = deleted.map_or(0, |deleted| self.present.intersection_len(deleted));
        self.present.len() - gone
    }
}

/// The columns of one [`MoreVectorIndex`] over one snapshot.
#[derive(Debug)]
pub struct BoundVectors<'s> {
    /// What the record says.
    pub index: &'s MoreVectorIndex,
    columns: BoundColumns<'s>,
}

impl<'s> BoundVectors<'s> {
    /// `facts` are those of the segment with the built-in model.
    pub(super) fn bind(
        index: &'s MoreVectorIndex,
        facts: &Facts<'_>,
        extents: &'s SegmentExtents,
        snapshot: &'s Snapshot<'_>,
    ) -> Result<BoundVectors<'s>> {
        let wanted = |column: &Column| match column.group {
            ColumnGroup::Vectors => Wanted::Always,
            _ => Wanted::Never,
        };
        let facts = index.facts(facts);
        let number = |id| index.column(id);
        let columns = BoundColumns::bind(extents, snapshot, &facts, wanted, number)?;
        Ok(BoundVectors { index, columns })
    }

    /// The vector index.
    ///
    /// # Errors
    /// [`Error::Damaged`] when record and columns differ in rows.
    pub fn reader(&self) -> Result<vector::reader::Reader<'_>> {
        let reader = bound_vectors(&self.index.record, &self.columns)?;
        match self.columns.get(vector::NORMS) {
            Some(norms) => reader.with_norms(norms),
            None => Ok(reader),
        }
    }
}

/// The vector index that has this record.
///
/// # Errors
/// [`Error::Damaged`] when record and columns differ in rows.
pub(super) fn bound_vectors<'b>(
    record: &vector::VectorRecord,
    columns: &'b BoundColumns<'_>,
) -> Result<vector::reader::Reader<'b>> {
    let lists = [vector::CENTROIDS, vector::LISTS, vector::LIST_BLOCKS];
    vector::reader::Reader::new(
        record,
        columns.view(vector::ROWS),
        columns.get(vector::CODES),
        columns.all_or_none(lists),
    )
}

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests;
