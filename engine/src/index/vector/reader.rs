//! Columns -> nearest rows.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::container::column::ColumnView;
use crate::error::{Error, Result};
use crate::index::vector::VectorRecord;
use crate::index::vector::distance::{as_signed, dot};
use crate::index::vector::quantise::Query;
use crate::index::vector::topk::{Candidate, TopK};

/// The vectors of one segment.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// Rows of signed bytes.
    rows: ColumnView<'a>,
    /// How many.
    count: u32,
    /// Dimensions.
    dim: u32,
    /// Bytes of a row.
    stride: usize,
    /// The quantiser.
    range: f32,
}

impl<'a> Reader<'a> {
    /// Over the column written by [`super::writer::Writer`].
    ///
    /// # Errors
    /// [`Error::Damaged`] when record and column disagree about the number of rows.
    pub fn new(record: &VectorRecord, rows: ColumnView<'a>) -> Result<Reader<'a>> {
        if rows.rows() != u64::from(record.rows) {
            return Err(Error::damaged(format!(
                "a vector index of {} rows has a column of {}",
                record.rows,
                rows.rows()
            )));
        }
        Ok(Reader {
            rows,
            count: record.rows,
            dim: record.dim,
            stride: record.stride as usize,
            range: record.range,
        })
    }

    /// Number of rows, deleted ones included.
    pub fn rows(&self) -> u32 {
        self.count
    }

    /// Dimensions and range of the quantiser: rows of readers that agree in both can be compared.
    pub(super) fn quantiser(&self) -> (u32, f32) {
        (self.dim, self.range)
    }

    /// The bytes of one row, padded to a multiple of 64.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row.
    pub fn row(&self, row: u32) -> Result<&'a [i8]> {
        self.rows.row(u64::from(row)).map(as_signed)
    }

    /// The k rows of the largest product above 0 among those in `filter` (all rows without one) that
    /// are not in `deleted`, best first; of equal products the lower row.
    ///
    /// Reads every such row once: about 0.01 ms per thousand rows of 192 bytes, and no longer for
    /// a dense filter than without one.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the filter has rows beyond the segment, the query has another width,
    /// or an extent fails its checks.
    pub fn top_k(
        &self,
        query: &Query,
        k: usize,
        filter: Option<&RoaringBitmap>,
        deleted: Option<&RoaringBitmap>,
    ) -> Result<Vec<Candidate>> {
        if query.row.len() != self.stride {
            return Err(Error::damaged("query and rows have different widths"));
        }
        let beyond = |filter: &RoaringBitmap| filter.max().is_some_and(|row| row >= self.count);
        if filter.is_some_and(beyond) {
            return Err(Error::damaged("a filter names a row beyond the segment"));
        }
        let mut scan = Scan {
            reader: self,
            query: &query.row,
            top: TopK::new(k, 0),
            first: 0,
            piece: &[],
        };
        match (filter, deleted) {
            (None, None) => scan.run(0..self.count, |_| true)?,
            (Some(filter), None) => scan.runs(runs_of(filter), |row| filter.contains(row))?,
            (Some(filter), Some(deleted)) => {
                let both = filter - deleted;
                scan.runs(runs_of(&both), |row| both.contains(row))?;
            }
            (None, Some(deleted)) => scan.runs(runs_outside(deleted, self.count), |row| {
                !deleted.contains(row)
            })?,
        }
        Ok(scan.top.finish())
    }

    /// The product of the query with one row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row.
    pub fn product(&self, query: &Query, row: u32) -> Result<i32> {
        Ok(dot(&query.row, self.row(row)?))
    }

    /// Reads all rows and compares what is told twice: the bytes after the last dimension are 0,
    /// no byte is -128, and `sums`, the column [`super::ROW_SUMS`], has the sum of each row.
    ///
    /// # Errors
    /// [`Error::Damaged`] naming the first row where this does not hold.
    pub fn check(&self, sums: ColumnView<'_>) -> Result<()> {
        if sums.rows() != u64::from(self.count) {
            return Err(Error::damaged(format!(
                "a vector index of {} rows has {} row sums",
                self.count,
                sums.rows()
            )));
        }
        for row in 0..self.count {
            let damaged = |what| Error::damaged(format!("vector of row {row}: {what}"));
            let bytes = self.row(row)?;
            let padding = bytes.get(self.dim as usize..).unwrap_or_default();
            if padding.iter().any(|byte| *byte != 0) {
                return Err(damaged("bytes after the last dimension are not 0"));
            }
            if bytes.contains(&i8::MIN) {
                return Err(damaged("a byte is below -127"));
            }
            let stored = sums.row(u64::from(row))?.first_chunk::<4>();
            if stored.map(|sum| i32::from_le_bytes(*sum)) != Some(row_sum(bytes)) {
                return Err(damaged("the stored sum is another one"));
            }
        }
        Ok(())
    }
}

/// Walks over runs of rows, ascending.
struct Scan<'r, 'a> {
    /// The rows.
    reader: &'r Reader<'a>,
    /// What they are compared with.
    query: &'r [i8],
    /// The best so far.
    top: TopK,
    /// First row of `piece`.
    first: u32,
    /// Rows up to the end of an extent.
    piece: &'a [u8],
}

/// Runs of the rows of a bitmap.
fn runs_of(rows: &RoaringBitmap) -> impl Iterator<Item = Range<u32>> {
    let mut rows = rows.iter();
    let runs = std::iter::from_fn(move || rows.next_range());
    runs.map(|run| *run.start()..run.end().saturating_add(1))
}

/// Runs of the rows below `count` that are not in a bitmap; some may be empty.
fn runs_outside(rows: &RoaringBitmap, count: u32) -> impl Iterator<Item = Range<u32>> {
    let mut next = 0;
    let end = std::iter::once(count..count);
    runs_of(rows).chain(end).map_while(move |run| {
        let start = next;
        next = run.end;
        (start <= count).then(|| start..run.start.min(count))
    })
}

/// Gaps of up to that many rows between two runs are scanned with them: a processor cannot foresee
/// where short runs end, and reads memory best in one stream.
const SCANNED_GAP: u32 = 8;

impl Scan<'_, '_> {
    /// Offers the rows of ascending runs. `allowed` tells whether a row is in one of them.
    fn runs(
        &mut self,
        runs: impl Iterator<Item = Range<u32>>,
        allowed: impl Fn(u32) -> bool,
    ) -> Result<()> {
        let mut joined = 0..0;
        for run in runs {
            if run.start <= joined.end + SCANNED_GAP {
                joined.end = run.end;
            } else {
                self.run(joined, &allowed)?;
                joined = run;
            }
        }
        self.run(joined, &allowed)
    }

    #[inline]
    fn run(&mut self, rows: Range<u32>, allowed: impl Fn(u32) -> bool) -> Result<()> {
        let stride = self.reader.stride;
        let mut next = rows.start;
        while next < rows.end {
            let skip = (next - self.first) as usize * stride;
            let Some(piece) = self.piece.get(skip..).filter(|piece| piece.len() >= stride) else {
                self.open_piece(next)?;
                continue;
            };
            let wanted = (rows.end - next) as usize;
            for bytes in piece.chunks_exact(stride).take(wanted) {
                let product = dot(self.query, as_signed(bytes));
                if product > self.top.threshold() && allowed(next) {
                    self.top.offer(product, next);
                }
                next += 1;
            }
        }
        Ok(())
    }

    /// Makes `row` the first of the piece.
    #[cold]
    fn open_piece(&mut self, row: u32) -> Result<()> {
        let stride = self.reader.stride;
        self.piece = self.reader.rows.from(u64::from(row) * stride as u64)?;
        self.first = row;
        if self.piece.len() < stride {
            return Err(Error::damaged("a vector is cut off"));
        }
        Ok(())
    }
}

/// What the column [`super::ROW_SUMS`] says of a row.
pub(super) fn row_sum(row: &[i8]) -> i32 {
    row.iter().map(|byte| i32::from(*byte)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{ColumnId, ColumnRecord, MemoryExtents, extent_starts};
    use crate::index::vector::writer::Writer;
    use crate::index::vector::{ROW_SUMS, ROWS};
    use crate::types::SegmentId;
    use proptest::prelude::*;

    const RANGE: f32 = 0.305;

    fn unit(seed: u64, dim: usize) -> Vec<f32> {
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

    fn index(vectors: &[Vec<f32>], dim: u32) -> (MemoryExtents, VectorRecord, [ColumnRecord; 2]) {
        let mut sink = MemoryExtents::default();
        let mut writer = Writer::new(SegmentId(1), dim, RANGE);
        for vector in vectors {
            writer.push(&mut sink, &Writer::row(vector, RANGE)).unwrap();
        }
        let (record, columns) = writer.finish(&mut sink).unwrap();
        (sink, record, columns)
    }

    #[test]
    fn the_nearest_rows_are_those_of_an_exact_search_with_and_without_a_filter() {
        let vectors: Vec<_> = (0..12_000).map(|seed| unit(seed, 100)).collect();
        let (sink, record, columns) = index(&vectors, 100);
        assert_eq!(record.stride, 128);
        let starts = extent_starts(&columns[0]);
        let view = ColumnView::new(&starts, record.stride, &sink.columns[&ROWS]);
        let reader = Reader::new(&record, view).unwrap();
        let filter: RoaringBitmap = (0..12_000).filter(|row| row % 7 == 3).collect();
        for seed in 0..5 {
            let target = unit(seed * 1000, 100);
            let query = Query::new(&target, RANGE, 128).unwrap();
            let found = reader.top_k(&query, 10, None, None).unwrap();
            assert_eq!(
                found[0].1,
                (seed * 1000) as u32,
                "a vector is nearest to itself"
            );
            let mut all: Vec<Candidate> = (0..12_000)
                .map(|row| (reader.product(&query, row).unwrap(), row))
                .filter(|(product, _)| *product > 0)
                .collect();
            all.sort_by_key(|(product, row)| (-product, *row));
            assert_eq!(found, all[..10]);
            all.retain(|(_, row)| filter.contains(*row));
            assert_eq!(
                reader.top_k(&query, 10, Some(&filter), None).unwrap(),
                all[..10]
            );
        }
    }

    #[test]
    fn row_sums_are_stored_beside_the_rows() {
        let (sink, _, columns) = index(&[unit(1, 64), unit(2, 64)], 64);
        let starts = extent_starts(&columns[1]);
        let sums = ColumnView::new(&starts, 4, &sink.columns[&ROW_SUMS]);
        for (row, vector) in [unit(1, 64), unit(2, 64)].iter().enumerate() {
            let expected: i32 = Writer::row(vector, RANGE)
                .iter()
                .map(|b| i32::from(*b))
                .sum();
            let stored = sums.row(row as u64).unwrap();
            assert_eq!(i32::from_le_bytes(stored.try_into().unwrap()), expected);
        }
    }

    fn view<'s>(sink: &'s MemoryExtents, column: ColumnId, starts: &'s [u64]) -> ColumnView<'s> {
        let width = if column == ROW_SUMS { 4 } else { 64 };
        ColumnView::new(starts, width, &sink.columns[&column])
    }

    #[test]
    fn a_filter_with_rows_beyond_the_segment_is_refused_and_deleted_ones_are_not() {
        let vectors: Vec<_> = (0..10).map(|seed| unit(seed, 64)).collect();
        let (sink, record, columns) = index(&vectors, 64);
        let starts = extent_starts(&columns[0]);
        let reader = Reader::new(&record, view(&sink, ROWS, &starts)).unwrap();
        let query = Query::new(&vectors[3], RANGE, 64).unwrap();
        let rows: RoaringBitmap = [3, 10, u32::MAX].into_iter().collect();
        let error = reader.top_k(&query, 5, Some(&rows), None).unwrap_err();
        assert_eq!(error.code(), "DAMAGED");
        let best = reader.top_k(&query, 5, None, Some(&rows)).unwrap();
        assert!(!best.is_empty() && best.iter().all(|(_, row)| *row != 3));
    }

    #[test]
    fn each_lie_about_a_vector_is_named() {
        let vectors: Vec<_> = (0..50).map(|seed| unit(seed, 60)).collect();
        let lie = |column: ColumnId, at: usize, byte: u8| {
            let (mut sink, record, columns) = index(&vectors, 60);
            let payload = &mut sink.columns.get_mut(&column).unwrap()[0];
            payload[at] = byte;
            let starts = columns.each_ref().map(extent_starts);
            let reader = Reader::new(&record, view(&sink, ROWS, &starts[0])).unwrap();
            reader.check(view(&sink, ROW_SUMS, &starts[1]))
        };
        let (sink, _, _) = index(&vectors, 60);
        let sums = &sink.columns[&ROW_SUMS][0];
        lie(ROW_SUMS, 0, sums[0]).unwrap();
        for (column, at, byte, what) in [
            (
                ROWS,
                64 * 7 + 60,
                1,
                "row 7: bytes after the last dimension",
            ),
            (ROWS, 64 * 8 - 1, 1, "row 7: bytes after the last dimension"),
            (ROWS, 64 * 9 + 5, 0x80, "row 9: a byte is below"),
            (ROWS, 64 * 9 + 5, 0x7f, "row 9: the stored sum"),
            (ROW_SUMS, 4 * 49, sums[4 * 49] ^ 1, "row 49: the stored sum"),
        ] {
            let error = lie(column, at, byte).unwrap_err();
            assert_eq!(error.code(), "DAMAGED");
            assert!(error.to_string().contains(what), "{what}: {error}");
        }
        let (sink, record, columns) = index(&vectors, 60);
        let starts = extent_starts(&columns[0]);
        let reader = Reader::new(&record, view(&sink, ROWS, &starts)).unwrap();
        let error = reader
            .check(view(&sink, ROW_SUMS, &[0, 49 * 4]))
            .unwrap_err();
        assert!(error.to_string().contains("49 row sums"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn filters_and_deleted_rows_give_what_looking_at_each_row_gives(
            components in prop::collection::vec(-0.3f32..0.3, 64),
            count in 1u32..40_000,
            k in prop_oneof![1usize..30, 1usize..50_000],
            keep in prop::option::of(prop_oneof![Just(1u64), Just(10), Just(50), Just(99), Just(100)]),
            gone in prop::option::of(prop_oneof![Just(0u64), Just(1), Just(50), Just(100)]),
            run in prop_oneof![Just(1u32), 1u32..3000],
            seed in any::<u64>(),
        ) {
            // A few vectors over and over: there are many ties.
            let vectors: Vec<_> = (0..97).map(|seed| Writer::row(&unit(seed, 64), RANGE)).collect();
            let mut sink = MemoryExtents::default();
            let mut writer = Writer::new(SegmentId(1), 64, RANGE);
            for row in 0..count {
                writer.push(&mut sink, &vectors[row as usize * 31 % 97]).unwrap();
            }
            let (record, columns) = writer.finish(&mut sink).unwrap();
            let starts = extent_starts(&columns[0]);
            let reader = Reader::new(&record, view(&sink, ROWS, &starts)).unwrap();
            let Some(query) = Query::new(&components, RANGE, 64) else { return Ok(()) };
            let some = |share: u64, salt: u64| -> RoaringBitmap {
                let random = |row: u32| {
                    (u64::from(row / run) ^ seed ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
                };
                (0..count).filter(|row| random(*row) % 100 < share).collect()
            };
            let filter = keep.map(|share| some(share, 1));
            let deleted = gone.map(|share| some(share, 2));
            let mut expected: Vec<Candidate> = (0..count)
                .filter(|row| filter.as_ref().is_none_or(|rows| rows.contains(*row)))
                .filter(|row| !deleted.as_ref().is_some_and(|rows| rows.contains(*row)))
                .map(|row| (reader.product(&query, row).unwrap(), row))
                .filter(|(product, _)| *product > 0)
                .collect();
            expected.sort_by_key(|(product, row)| (-product, *row));
            expected.truncate(k);
            let found = reader.top_k(&query, k, filter.as_ref(), deleted.as_ref()).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}
