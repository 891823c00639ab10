//! Segments in memory, for the tests of this room.

use kb_types::SegmentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use super::lists::layout::{CENTROIDS, LIST_BLOCKS, LISTS};
use super::lists::present::PresentRows;
use super::lists::sample::sample;
use super::lists::train::train;
use super::reader::Reader;
use super::record::{CODES, ROWS, VectorRecord, stride};
use super::writer::Writer;
use crate::container::column::{ColumnId, ColumnRecord, ColumnView, MemoryExtents, extent_starts};

/// The quantiser of all of them.
pub(super) const RANGE: f32 = 0.305;

/// A segment.
pub(super) struct Segment {
    pub(super) sink: MemoryExtents,
    pub(super) record: VectorRecord,
    pub(super) columns: Vec<ColumnRecord>,
    starts: Vec<Vec<u64>>,
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
        columns: Vec<ColumnRecord>,
    ) -> Segment {
        for column in [ROWS, CODES] {
            sink.columns.entry(column).or_default();
        }
        let starts = columns.iter().map(extent_starts).collect();
        Segment {
            sink,
            record,
            columns,
            starts,
        }
    }

    /// The same rows in `count` inverted lists, in the place of the sign bits.
    pub(super) fn with_lists(self, count: usize) -> Segment {
        self.with_lists_of(count, None)
    }

    /// The same where only some rows have a vector; `None`: all.
    pub(super) fn with_lists_of(
        mut self,
        count: usize,
        present: Option<&RoaringBitmap>,
    ) -> Segment {
        let width = stride(self.record.dim) as usize;
        let mut sink = MemoryExtents::default();
        let columns = {
            let reader = self.reader();
            let rows = present.map_or(PresentRows::all(reader), |present| {
                PresentRows::some(reader, present)
            });
            let sample = sample(&[rows], 64 * count).unwrap();
            let centroids = train(&sample, width, count, 2, &mut |_| Ok(())).unwrap();
            let mut check = |_| Ok(());
            super::lists::writer::write(
                0,
                SegmentId(1),
                &rows,
                &centroids,
                2,
                &mut sink,
                &mut check,
            )
            .unwrap()
        };
        self.sink.columns.remove(&CODES);
        self.sink.columns.extend(sink.columns);
        self.columns.retain(|column| column.column != CODES.0);
        self.columns.extend(columns);
        self.record.lists = count as u32;
        self.starts = self.columns.iter().map(extent_starts).collect();
        self
    }

    fn view(&self, id: ColumnId) -> Option<ColumnView<'_>> {
        let at = self
            .columns
            .iter()
            .position(|column| column.column == id.0)?;
        let width = self.columns[at].width;
        Some(ColumnView::new(
            &self.starts[at],
            width,
            self.sink.columns.get(&id)?,
        ))
    }

    pub(super) fn try_reader(&self) -> Result<Reader<'_>> {
        let lists = self.view(CENTROIDS).map(|centroids| {
            let view = |column| self.view(column).unwrap();
            [centroids, view(LISTS), view(LIST_BLOCKS)]
        });
        Reader::new(
            &self.record,
            self.view(ROWS).unwrap(),
            self.view(CODES),
            lists,
        )
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        self.try_reader().unwrap()
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
