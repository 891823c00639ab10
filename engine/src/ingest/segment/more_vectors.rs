//! Vectors of other models on their way into a segment.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::BoundSegment;
use crate::container::Transaction;
use crate::container::column::{ColumnId, ColumnRecord, ColumnWriter, SCATTERED_ORDER};
use crate::index::vector::reader::Reader;
use crate::index::vector::writer::Writer;
use crate::index::vector::{NORM_BYTES, NORMS};
use crate::metric::Metric;
use crate::store::segments::MoreVectors;
use crate::store::tables;
use crate::store::vector_columns::NumberedColumn;

/// Writes the vectors of one column into a segment, row by row.
#[derive(Debug)]
pub(in crate::ingest) struct MoreVectorsWriter {
    number: u16,
    rows: Writer,
    /// Only of a column that is compared by distance.
    norms: Option<ColumnWriter>,
    /// Rows with a vector.
    present: RoaringBitmap,
    /// Rows so far.
    count: u32,
}

impl MoreVectorsWriter {
    /// An empty column of a segment.
    pub(in crate::ingest) fn new(segment: SegmentId, column: &NumberedColumn) -> MoreVectorsWriter {
        let base = tables::vector_columns_base(column.number);
        let record = &column.record;
        let norms = ColumnId(base.saturating_add(NORMS.0));
        MoreVectorsWriter {
            number: column.number,
            rows: Writer::at(base, segment, record.codec, record.dim, record.range),
            norms: (column.metric == Metric::L2)
                .then(|| ColumnWriter::rows(segment, norms, NORM_BYTES as u32, SCATTERED_ORDER)),
            present: RoaringBitmap::new(),
            count: 0,
        }
    }

    /// Appends a row of signed bytes, padded with zeros to a multiple of 64, and the squared length of its vector.
    pub(in crate::ingest) fn push(
        &mut self,
        transaction: &mut Transaction<'_>,
        row: &[i8],
        norm: f32,
    ) -> Result<()> {
        self.rows.push(transaction, row)?;
        self.push_norm(transaction, norm)?;
        self.end_row(true);
        Ok(())
    }

    /// Appends a row of another segment, with its norm.
    ///
    /// # Errors
    /// As [`Writer::copy`].
    pub(in crate::ingest) fn copy(
        &mut self,
        transaction: &mut Transaction<'_>,
        source: &Reader<'_>,
        row: u32,
    ) -> Result<()> {
        self.rows.copy(transaction, source, row)?;
        self.push_norm(transaction, source.norm(row)?)?;
        self.end_row(true);
        Ok(())
    }

    /// Appends the row of a chunk without a vector.
    pub(in crate::ingest) fn push_absent(
        &mut self,
        transaction: &mut Transaction<'_>,
    ) -> Result<()> {
        self.rows.push_absent(transaction)?;
        self.push_norm(transaction, 0.0)?;
        self.end_row(false);
        Ok(())
    }

    fn push_norm(&mut self, transaction: &mut Transaction<'_>, norm: f32) -> Result<()> {
        match &mut self.norms {
            Some(norms) => norms.push(transaction, &norm.to_le_bytes()).map(|_| ()),
            None => Ok(()),
        }
    }

    fn end_row(&mut self, is_present: bool) {
        if is_present {
            self.present.insert(self.count);
        }
        self.count += 1;
    }

    /// Writes the last extents; gives what the segment record says, and the columns.
    pub(in crate::ingest) fn finish(
        mut self,
        transaction: &mut Transaction<'_>,
    ) -> Result<(MoreVectors, Vec<ColumnRecord>)> {
        let (record, columns) = self.rows.finish(transaction)?;
        let mut columns = columns.to_vec();
        if let Some(norms) = self.norms {
            columns.push(norms.finish(transaction)?);
        }
        self.present.optimize();
        let mut present = Vec::with_capacity(self.present.serialized_size());
        let written = self.present.serialize_into(&mut present);
        written.map_err(Error::storage)?;
        let more = MoreVectors {
            number: self.number,
            vector_index: record.encode()?,
            present,
        };
        Ok((more, columns))
    }
}

/// The columns of a segment that is merged from others. One begins with the first row that has a vector in it, so that
/// none is written where no row has.
#[derive(Debug, Default)]
pub(super) struct MergedVectors {
    columns: Vec<MergedColumn>,
    /// Rows so far.
    count: u32,
}

/// Where a column comes from and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct ColumnMove {
    /// Its number in the segments that are merged.
    pub from: u16,
    /// What it is in the segment that is made.
    pub to: NumberedColumn,
}

#[derive(Debug)]
struct MergedColumn {
    column: ColumnMove,
    /// `None` until a row has a vector.
    writer: Option<MoreVectorsWriter>,
}

impl MergedVectors {
    /// For a segment with these columns, by ascending number.
    pub(super) fn new(columns: &[ColumnMove]) -> MergedVectors {
        let columns = columns.iter().map(|column| MergedColumn {
            column: column.clone(),
            writer: None,
        });
        MergedVectors {
            columns: columns.collect(),
            count: 0,
        }
    }

    /// Appends a row of a segment.
    ///
    /// # Errors
    /// As [`Writer::copy`].
    pub(super) fn copy(
        &mut self,
        transaction: &mut Transaction<'_>,
        segment: SegmentId,
        source: &BoundSegment<'_>,
        row: u32,
    ) -> Result<()> {
        for merged in &mut self.columns {
            let vectors = source.more_vectors(merged.column.from);
            let vectors = vectors.filter(|vectors| vectors.index.present.contains(row));
            match (vectors, &mut merged.writer) {
                (None, None) => {}
                (None, Some(writer)) => writer.push_absent(transaction)?,
                (Some(vectors), Some(writer)) => {
                    writer.copy(transaction, &vectors.reader()?, row)?;
                }
                (Some(vectors), writer @ None) => {
                    let mut new = MoreVectorsWriter::new(segment, &merged.column.to);
                    // Made up only now: most columns cover a few documents, and segments without
                    // any need no rows.
                    for _ in 0..self.count {
                        new.push_absent(transaction)?;
                    }
                    new.copy(transaction, &vectors.reader()?, row)?;
                    *writer = Some(new);
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Writes the last extents of all columns that there are.
    pub(super) fn finish(
        self,
        transaction: &mut Transaction<'_>,
    ) -> Result<(Vec<MoreVectors>, Vec<ColumnRecord>)> {
        let (mut more, mut columns) = (Vec::new(), Vec::new());
        for writer in self.columns.into_iter().filter_map(|merged| merged.writer) {
            let (of_column, its_columns) = writer.finish(transaction)?;
            more.push(of_column);
            columns.extend(its_columns);
        }
        Ok((more, columns))
    }
}
