//! Speed of the vector index over rows in memory: 114 600 and a million of 192 numbers, made like
//! those of the built-in model. `bandwidth` is the sum of the same bytes: what no scan can beat.

#![expect(
    clippy::expect_used,
    reason = "without its rows a bench has nothing to measure"
)]

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use kb_engine::SegmentId;
use kb_engine::testing::container::column::{
    ColumnId, ColumnView, ExtentSink, ExtentSource, extent_starts,
};
use kb_engine::testing::index::vector::query::Query;
use kb_engine::testing::index::vector::reader::Reader;
use kb_engine::testing::index::vector::writer::Writer;
use kb_engine::testing::index::vector::{
    CODEC_I4, CODEC_I8, CODES, KnnSegment, ROWS, Scan, VectorRecord, knn, knn_batch,
};
use roaring::RoaringBitmap;

const DIM: u32 = 192;
const RANGE: f32 = 0.305;

fn main() {
    divan::main();
}

/// Extents of one column.
#[derive(Default)]
struct Extents(Vec<Vec<u8>>);

impl ExtentSource for Extents {
    fn payload(&self, number: usize) -> kb_engine::Result<&[u8]> {
        Ok(self.0.get(number).map_or(&[], Vec::as_slice))
    }
}

/// A segment in memory.
#[derive(Default)]
struct Columns {
    rows: Extents,
    codes: Extents,
}

impl ExtentSink for Columns {
    fn put_extent(
        &mut self,
        _: SegmentId,
        column: ColumnId,
        _: u32,
        _: u64,
        payload: &[u8],
    ) -> kb_engine::Result<()> {
        match column {
            ROWS => self.rows.0.push(payload.to_vec()),
            CODES => self.codes.0.push(payload.to_vec()),
            _ => {}
        }
        Ok(())
    }
}

struct Segment {
    columns: Columns,
    record: VectorRecord,
    starts: [Vec<u64>; 2],
    widths: [u32; 2],
}

impl Segment {
    fn new(codec: u8, rows: u32) -> Segment {
        let mut columns = Columns::default();
        let mut writer = Writer::new(SegmentId(1), codec, DIM, RANGE);
        for row in 0..rows {
            let row = Writer::row(&vector(u64::from(row)), RANGE);
            writer.push(&mut columns, &row).expect("memory");
        }
        let (record, written) = writer.finish(&mut columns).expect("memory");
        let written: [_; 2] = written.try_into().expect("rows and sign bits");
        Segment {
            columns,
            record,
            starts: written.each_ref().map(extent_starts),
            widths: written.each_ref().map(|column| column.width),
        }
    }

    fn reader(&self) -> Reader<'_> {
        let rows = ColumnView::new(&self.starts[0], self.widths[0], &self.columns.rows);
        let codes = ColumnView::new(&self.starts[1], self.widths[1], &self.columns.codes);
        Reader::new(&self.record, rows, Some(codes), None).expect("columns")
    }
}

/// About a bell curve in each component, a fifth of it shared by 500 neighbours.
fn vector(seed: u64) -> Vec<f32> {
    let mut own = Numbers(seed);
    let mut shared = Numbers(seed / 500 + (1 << 40));
    (0..DIM)
        .map(|_| 0.064 * own.bell() + 0.032 * shared.bell())
        .collect()
}

struct Numbers(u64);

impl Numbers {
    fn bell(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            sum += (mixed >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
        }
        sum * 1.7
    }
}

static CHUNKS: LazyLock<Segment> = LazyLock::new(|| Segment::new(CODEC_I8, 114_600));
static MILLION: LazyLock<Segment> = LazyLock::new(|| Segment::new(CODEC_I8, 1_000_000));
static NIBBLES: LazyLock<Segment> = LazyLock::new(|| Segment::new(CODEC_I4, 114_600));

const NAMES: [&str; 3] = ["114 600", "million", "114 600 of nibbles"];

fn segment(name: &str) -> &'static Segment {
    match name {
        "million" => &MILLION,
        "114 600" => &CHUNKS,
        _ => &NIBBLES,
    }
}

fn query(seed: u64) -> Query {
    Query::new(&vector(seed * 7_919 + 3), RANGE).expect("a query")
}

fn ask(bencher: Bencher<'_, '_>, name: &str, how: Scan, filter: Option<RoaringBitmap>) {
    let reader = segment(name).reader();
    let parts = [KnnSegment {
        reader: &reader,
        filter: filter.as_ref(),
        deleted: None,
    }];
    let query = query(5);
    bencher.bench_local(|| knn(&parts, divan::black_box(&query), 100, how));
}

#[divan::bench(args = NAMES)]
fn bandwidth(bencher: Bencher, name: &str) {
    let extents = &segment(name).columns.rows.0;
    let bytes: usize = extents.iter().map(Vec::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        let mut sums = [0u64; 32];
        for piece in extents
            .iter()
            .flat_map(|extent| extent.as_chunks::<256>().0)
        {
            for (sum, word) in sums.iter_mut().zip(piece.as_chunks::<8>().0) {
                *sum = sum.wrapping_add(u64::from_le_bytes(*word));
            }
        }
        sums
    });
}

#[divan::bench(args = NAMES)]
fn exact(bencher: Bencher, name: &str) {
    ask(bencher, name, Scan::Exact, None);
}

#[divan::bench(args = NAMES)]
fn sixteen_exact(bencher: Bencher, name: &str) {
    let reader = segment(name).reader();
    let parts = [KnnSegment {
        reader: &reader,
        filter: None,
        deleted: None,
    }];
    let queries: Vec<Query> = (0..16).map(query).collect();
    bencher.bench_local(|| knn_batch(&parts, divan::black_box(&queries), 100, Scan::Exact));
}

#[divan::bench(args = NAMES)]
fn two_stages(bencher: Bencher, name: &str) {
    ask(bencher, name, Scan::Rescored, None);
}

#[divan::bench(args = [(1, 1), (1, 500), (10, 1), (10, 500), (50, 1), (50, 500)])]
fn filtered(bencher: Bencher, (percent, run): (u32, u32)) {
    let kept = |row: &u32| (row / run).wrapping_mul(0x9E37_79B9) >> 16 < percent * 655;
    let filter = (0..114_600).filter(kept).collect();
    ask(bencher, "114 600", Scan::Auto, Some(filter));
}
