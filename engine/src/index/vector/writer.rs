//! Vectors -> columns.

use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::error::{Error, Result};
use crate::index::vector::quantise::quantise;
use crate::index::vector::reader::{Reader, row_sum};
use crate::index::vector::{CODEC_I8, ROW_SUMS, ROWS, VectorRecord, stride};
use crate::types::SegmentId;

/// Writes the vectors of a segment.
#[derive(Debug)]
pub struct Writer {
    /// Rows of signed bytes.
    rows: ColumnWriter,
    /// Their sums.
    sums: ColumnWriter,
    /// What the segment will say of them.
    record: VectorRecord,
    /// The row being written, as unsigned bytes.
    bytes: Vec<u8>,
}

impl Writer {
    /// Empty columns for vectors of `dim` numbers, quantised with `range`.
    pub fn new(segment: SegmentId, dim: u32, range: f32) -> Writer {
        let stride = stride(dim);
        Writer {
            rows: ColumnWriter::rows(segment, ROWS, stride),
            sums: ColumnWriter::rows(segment, ROW_SUMS, 4),
            record: VectorRecord {
                codec: CODEC_I8,
                dim,
                stride,
                rows: 0,
                range,
            },
            bytes: Vec::new(),
        }
    }

    /// A quantised row, as [`Writer::push`] takes it: work for other threads.
    pub fn row(vector: &[f32], range: f32) -> Vec<i8> {
        let mut row = vec![0; stride(vector.len() as u32) as usize];
        quantise(vector, range, &mut row);
        row
    }

    /// Appends the next row, `stride` bytes.
    pub fn push(&mut self, sink: &mut dyn ExtentSink, row: &[i8]) -> Result<()> {
        self.bytes.clear();
        self.bytes
            .extend(row.iter().map(|byte| byte.cast_unsigned()));
        self.rows.push(sink, &self.bytes)?;
        self.sums.push(sink, &row_sum(row).to_le_bytes())?;
        self.record.rows += 1;
        Ok(())
    }

    /// Appends a row of another segment as it is: what a merge does for each row that it keeps, in
    /// their new order. The columns are the same to the byte as those of a fresh segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row, or the other segment has other dimensions or
    /// another quantiser, which no file has. What the sink says.
    pub fn copy(&mut self, sink: &mut dyn ExtentSink, source: &Reader<'_>, row: u32) -> Result<()> {
        let (dim, range) = source.quantiser();
        if dim != self.record.dim || range.to_bits() != self.record.range.to_bits() {
            return Err(Error::damaged(format!(
                "segments of one file differ in vectors: {} and {dim} dimensions, range {} and {range}",
                self.record.dim, self.record.range
            )));
        }
        self.push(sink, source.row(row)?)
    }

    /// Writes what is left.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<(VectorRecord, [ColumnRecord; 2])> {
        let columns = [self.rows.finish(sink)?, self.sums.finish(sink)?];
        Ok((self.record, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{ColumnView, MemoryExtents, extent_starts};

    fn row(seed: u32) -> Vec<i8> {
        let vector: Vec<f32> = (0..100)
            .map(|i| ((seed * 31 + i * 7) % 101) as f32 / 200.0 - 0.25)
            .collect();
        Writer::row(&vector, 0.305)
    }

    #[test]
    fn rows_copied_in_another_order_are_those_of_a_fresh_segment() {
        let mut segments = Vec::new();
        for segment in 0..3u32 {
            let mut sink = MemoryExtents::default();
            let mut writer = Writer::new(SegmentId(segment), 100, 0.305);
            for i in 0..9000 {
                writer.push(&mut sink, &row(segment * 10_000 + i)).unwrap();
            }
            let (record, columns) = writer.finish(&mut sink).unwrap();
            segments.push((sink, record, extent_starts(&columns[0])));
        }
        let readers: Vec<Reader<'_>> = segments
            .iter()
            .map(|(sink, record, starts)| {
                let view = ColumnView::new(starts, record.stride, &sink.columns[&ROWS]);
                Reader::new(record, view).unwrap()
            })
            .collect();
        let (mut copied, mut fresh) = (MemoryExtents::default(), MemoryExtents::default());
        let mut copier = Writer::new(SegmentId(9), 100, 0.305);
        let mut writer = Writer::new(SegmentId(9), 100, 0.305);
        for i in (0..9000).filter(|i| i % 4 != 1) {
            let segment = i * 7 % 3;
            copier
                .copy(&mut copied, &readers[segment as usize], i)
                .unwrap();
            writer.push(&mut fresh, &row(segment * 10_000 + i)).unwrap();
        }
        let error = copier.copy(&mut copied, &readers[0], 9000).unwrap_err();
        assert_eq!(error.code(), "DAMAGED");
        let (copied_facts, fresh_facts) = (
            copier.finish(&mut copied).unwrap(),
            writer.finish(&mut fresh).unwrap(),
        );
        assert_eq!(copied_facts, fresh_facts);
        assert!(copied.columns == fresh.columns);
    }

    #[test]
    fn rows_of_another_quantiser_are_refused() {
        let mut sink = MemoryExtents::default();
        let mut writer = Writer::new(SegmentId(1), 100, 0.305);
        writer.push(&mut sink, &row(1)).unwrap();
        let (record, columns) = writer.finish(&mut sink).unwrap();
        let starts = extent_starts(&columns[0]);
        let view = ColumnView::new(&starts, record.stride, &sink.columns[&ROWS]);
        let reader = Reader::new(&record, view).unwrap();
        for (dim, range) in [(100, 0.304), (101, 0.305), (228, 0.305)] {
            let mut other = Writer::new(SegmentId(2), dim, range);
            let mut sink = MemoryExtents::default();
            let error = other.copy(&mut sink, &reader, 0).unwrap_err();
            assert_eq!(error.code(), "DAMAGED", "{dim} {range}");
        }
    }
}
