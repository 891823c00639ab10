//! Writes the vector index of a segment.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use super::quantise::{as_signed, to_i4};
use super::reader::Reader;
use super::record::{CODEC_I4, CODEC_I8, CODES, ROWS, VectorRecord, row_bytes};
use super::sign_bits::{Block, block_bytes};
use crate::container::column::{
    ColumnId, ColumnRecord, ColumnWriter, ExtentSink, MAX_ORDER, SCATTERED_ORDER,
};

/// Writes the vectors of a segment.
#[derive(Debug)]
pub struct Writer {
    /// Rows.
    rows: ColumnWriter,
    /// Blocks of the sign bits; `None` where inverted lists will be in their place.
    codes: Option<ColumnWriter>,
    /// The block that is not full.
    block: Block,
    /// The record of the index.
    record: VectorRecord,
    /// The stored form of a row; the buffer is reused.
    bytes: Vec<u8>,
}

impl Writer {
    /// A writer of vectors of `dim` numbers, quantised with `range` and stored in `codec`.
    pub fn new(segment: SegmentId, codec: u8, dim: u32, range: f32) -> Writer {
        Writer::at(0, segment, codec, dim, range)
    }

    /// The same into columns whose numbers are larger by `base`: those of the vectors of another model.
    pub fn at(base: u16, segment: SegmentId, codec: u8, dim: u32, range: f32) -> Writer {
        let stride = row_bytes(codec, dim);
        let column = |column: ColumnId| ColumnId(base.saturating_add(column.0));
        Writer {
            // Rescoring reads rows here and there; sign bits are scanned whole.
            rows: ColumnWriter::rows(segment, column(ROWS), stride, SCATTERED_ORDER),
            codes: Some(ColumnWriter::rows(
                segment,
                column(CODES),
                block_bytes(dim),
                MAX_ORDER,
            )),
            block: Block::new(dim),
            record: VectorRecord {
                codec,
                dim,
                stride,
                rows: 0,
                range,
                lists: 0,
            },
            bytes: Vec::new(),
        }
    }

    /// Without sign bits, for a segment that gets inverted lists.
    #[must_use]
    pub fn without_codes(mut self) -> Writer {
        self.codes = None;
        self
    }

    /// Quantises a vector for [`Writer::push`]; this can be done on other threads.
    #[cfg(any(test, feature = "testing"))]
    pub fn row(vector: &[f32], range: f32) -> Vec<i8> {
        let mut row = vec![0; super::record::stride(vector.len() as u32) as usize];
        super::quantise::quantise(vector, range, &mut row);
        row
    }

    /// Appends a row of signed bytes, as long as `dim` rounded up to a multiple of 64.
    pub fn push(&mut self, sink: &mut dyn ExtentSink, row: &[i8]) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        if self.record.codec == CODEC_I4 {
            to_i4(row, self.record.dim as usize, &mut bytes);
        } else {
            bytes.clear();
            bytes.extend(row.iter().map(|byte| byte.cast_unsigned()));
        }
        let pushed = self.push_stored(sink, &bytes);
        self.bytes = bytes;
        pushed
    }

    /// Appends a row of zeros: of a chunk that has no vector.
    pub fn push_absent(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        let zeros = vec![0; self.record.stride as usize];
        self.push_stored(sink, &zeros)
    }

    /// Appends a row that is encoded already.
    fn push_stored(&mut self, sink: &mut dyn ExtentSink, bytes: &[u8]) -> Result<()> {
        let dim = self.record.dim as usize;
        self.rows.push(sink, bytes)?;
        if let Some(codes) = &mut self.codes {
            self.block.push(self.record.codec, bytes, dim);
            if self.block.is_full() {
                codes.push(sink, self.block.bytes())?;
                self.block.clear();
            }
        }
        self.record.rows += 1;
        Ok(())
    }

    /// Appends a row of another segment, for a merge. The columns are byte for byte those of a
    /// segment that was written from the vectors.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row, or the other segment has other dimensions or
    /// another quantiser, which no valid file has; [`Error::InvalidArgument`] when rows of nibbles
    /// are to become signed bytes, because the lost precision is not stored. Errors of the sink.
    pub fn copy(&mut self, sink: &mut dyn ExtentSink, source: &Reader<'_>, row: u32) -> Result<()> {
        let (dim, range) = source.quantiser();
        if dim != self.record.dim || range.to_bits() != self.record.range.to_bits() {
            return Err(Error::damaged(format!(
                "segments of one file differ in vectors: {} and {dim} dimensions, range {} and {range}",
                self.record.dim, self.record.range
            )));
        }
        match (source.codec(), self.record.codec) {
            (CODEC_I8, CODEC_I4) => self.push(sink, as_signed(source.row(row)?)),
            (from, to) if from == to => self.push_stored(sink, source.row(row)?),
            _ => Err(Error::InvalidArgument {
                argument: "vectors",
                reason: "rows of 4 bits cannot become rows of 8".to_owned(),
            }),
        }
    }

    /// Writes the last extents.
    pub fn finish(self, sink: &mut dyn ExtentSink) -> Result<(VectorRecord, Vec<ColumnRecord>)> {
        let mut columns = vec![self.rows.finish(sink)?];
        if let Some(mut codes) = self.codes {
            if !self.block.is_empty() {
                codes.push(sink, self.block.bytes())?;
            }
            columns.push(codes.finish(sink)?);
        }
        Ok((self.record, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::MemoryExtents;
    use crate::index::vector::fixture::{RANGE, Segment, unit};

    fn row(seed: u32) -> Vec<i8> {
        Writer::row(&unit(u64::from(seed), 100), RANGE)
    }

    #[test]
    fn rows_copied_in_another_order_are_those_of_a_fresh_segment() {
        for (from, to) in [
            (CODEC_I8, CODEC_I8),
            (CODEC_I8, CODEC_I4),
            (CODEC_I4, CODEC_I4),
        ] {
            let segments: Vec<Segment> = (0..3u32)
                .map(|segment| {
                    let rows: Vec<_> = (0..9000).map(|i| row(segment * 10_000 + i)).collect();
                    Segment::of(from, 100, rows.iter())
                })
                .collect();
            let (mut copied, mut fresh) = (MemoryExtents::default(), MemoryExtents::default());
            let mut copier = Writer::new(SegmentId(9), to, 100, RANGE);
            let mut writer = Writer::new(SegmentId(9), to, 100, RANGE);
            for i in (0..9000).filter(|i| i % 4 != 1) {
                let segment = i * 7 % 3;
                let source = segments[segment as usize].reader();
                copier.copy(&mut copied, &source, i).unwrap();
                writer.push(&mut fresh, &row(segment * 10_000 + i)).unwrap();
            }
            let source = segments[0].reader();
            let error = copier.copy(&mut copied, &source, 9000).unwrap_err();
            assert_eq!(error.code(), "DAMAGED");
            let (copied_record, fresh_record) = (
                copier.finish(&mut copied).unwrap(),
                writer.finish(&mut fresh).unwrap(),
            );
            assert_eq!(copied_record, fresh_record);
            assert!(copied.columns == fresh.columns);
        }
    }

    #[test]
    fn rows_of_another_quantiser_are_refused() {
        let segment = Segment::of(CODEC_I8, 100, [row(1)].iter());
        for (dim, range) in [(100, 0.304), (101, 0.305), (228, 0.305)] {
            let mut other = Writer::new(SegmentId(2), CODEC_I8, dim, range);
            let mut sink = MemoryExtents::default();
            let error = other.copy(&mut sink, &segment.reader(), 0).unwrap_err();
            assert_eq!(error.code(), "DAMAGED", "{dim} {range}");
        }
    }

    #[test]
    fn nibbles_do_not_become_bytes_again() {
        let segment = Segment::of(CODEC_I4, 100, [row(1)].iter());
        let mut writer = Writer::new(SegmentId(2), CODEC_I8, 100, RANGE);
        let mut sink = MemoryExtents::default();
        let error = writer.copy(&mut sink, &segment.reader(), 0).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}
