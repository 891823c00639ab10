//! Vectors -> columns.

use crate::container::column::{ColumnRecord, ColumnWriter, ExtentSink};
use crate::error::Result;
use crate::index::vector::quantise::quantise;
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
        let sum: i32 = row.iter().map(|byte| i32::from(*byte)).sum();
        let bytes: Vec<u8> = row.iter().map(|byte| byte.cast_unsigned()).collect();
        self.rows.push(sink, &bytes)?;
        self.sums.push(sink, &sum.to_le_bytes())?;
        self.record.rows += 1;
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<(VectorRecord, [ColumnRecord; 2])> {
        let columns = [self.rows.finish(sink)?, self.sums.finish(sink)?];
        Ok((self.record, columns))
    }
}
