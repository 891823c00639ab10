//! Segments in memory, for the tests of this room.

use super::reader::Reader;
use super::record::{CODES, ROWS, VectorRecord};
use super::writer::Writer;
use crate::container::column::{ColumnRecord, ColumnView, MemoryExtents, extent_starts};
use crate::types::SegmentId;

/// The quantiser of all of them.
pub(super) const RANGE: f32 = 0.305;

/// A segment.
pub(super) struct Segment {
    pub(super) sink: MemoryExtents,
    pub(super) record: VectorRecord,
    pub(super) columns: [ColumnRecord; 2],
    starts: [Vec<u64>; 2],
}

impl Segment {
    /// Of rows as [`Writer::push`] takes them.
    pub(super) fn of<'r>(codec: u8, dim: u32, rows: impl Iterator<Item = &'r Vec<i8>>) -> Segment {
        let mut sink = MemoryExtents::default();
        let mut writer = Writer::new(SegmentId(1), codec, dim, RANGE);
        for row in rows {
            writer.push(&mut sink, row).unwrap();
        }
        let (record, columns) = writer.finish(&mut sink).unwrap();
        Segment::new(sink, record, columns)
    }

    pub(super) fn new(
        mut sink: MemoryExtents,
        record: VectorRecord,
        columns: [ColumnRecord; 2],
    ) -> Segment {
        for column in [ROWS, CODES] {
            sink.columns.entry(column).or_default();
        }
        let starts = columns.each_ref().map(extent_starts);
        Segment {
            sink,
            record,
            columns,
            starts,
        }
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        let view = |at: usize, column| {
            let width = self.columns[at].width;
            ColumnView::new(&self.starts[at], width, &self.sink.columns[&column])
        };
        Reader::new(&self.record, view(0, ROWS), view(1, CODES)).unwrap()
    }
}

/// A unit vector, the same for the same seed.
pub(super) fn unit(seed: u64, dim: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut vector: Vec<f32> = (0..dim)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) as f32 / (1u64 << 31) as f32) - 0.5
        })
        .collect();
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}
