//! What a vector index of ours is to this bench, and the index: all rows of a table as one segment with
//! inverted lists, written into one file and mapped.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use kb_engine::SegmentId;
use kb_engine::testing::container::column::{
    ColumnId, ColumnRecord, ColumnView, ExtentSink, ExtentSource, extent_starts,
};
use kb_engine::testing::index::vector::query::Query;
use kb_engine::testing::index::vector::reader::Reader;
use kb_engine::testing::index::vector::writer::Writer;
use kb_engine::testing::index::vector::{
    CENTROIDS, CODEC_I4, CODEC_I8, Effort, KnnSegment, LIST_BLOCKS, LISTS, Method, Neighbor, ROWS,
    Scan, VectorRecord, WHOLE_REACH, knn, knn_batch, lists,
};
use memmap2::{Advice, Mmap};
use serde_json::{Value, json};

use crate::export;
use crate::peers::npy;

/// How an index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// How rows are stored.
    pub(crate) codec: u8,
}

impl Options {
    /// What a variant on the command line stands for.
    pub(crate) fn of_variant(variant: &str) -> Result<Options> {
        let codec = match variant {
            "i8" => CODEC_I8,
            "i4" => CODEC_I4,
            other => anyhow::bail!("kb has no variant {other}"),
        };
        Ok(Options { codec })
    }
}

/// What was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) rows: u64,
}

/// A vector index of ours.
pub(crate) trait VectorIndex: Sized {
    /// One way to search, named as in the tables.
    type Setting: Display;

    /// Builds the index of a table of unit rows into one file.
    fn build(npy: &Path, path: &Path, options: &Options) -> Result<Report>;

    /// Opens what was built.
    fn open(path: &Path) -> Result<Self>;

    /// The settings for this many rows, from fast to thorough.
    fn settings(rows: usize) -> Vec<Self::Setting>;

    /// The numbers of the nearest rows, best first.
    fn search(&self, query: &[f32], k: usize, setting: &Self::Setting) -> Result<Vec<u64>>;

    /// The same for several queries at once.
    fn search_many(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        setting: &Self::Setting,
    ) -> Result<Vec<Vec<u64>>>;
}

/// Rows that are read at once.
const BLOCK: usize = 8192;

/// Rows by which the quantiser is chosen, and the share of their numbers that it spans.
const RANGE_ROWS: usize = 65_536;
const RANGE_QUANTILE: f64 = 0.9999;

/// Payloads begin at multiples of this.
const ALIGNMENT: usize = 64;

/// The index as a sealed file has it.
pub(crate) struct ListedIndex {
    record: VectorRecord,
    columns: BTreeMap<u16, Column>,
}

/// One column in a mapped file.
struct Column {
    map: Arc<Mmap>,
    /// Where each extent lies: first byte and length.
    extents: Vec<(usize, usize)>,
    starts: Vec<u64>,
    width: u32,
    /// Whether each extent was read, or is being.
    read: Vec<AtomicBool>,
}

impl ExtentSource for Column {
    fn payload(&self, number: usize) -> kb_engine::Result<&[u8]> {
        let payload = self.extents.get(number).and_then(|(first, length)| {
            let end = first.checked_add(*length)?;
            self.map.get(*first..end)
        });
        self.will_read(number);
        Ok(payload.unwrap_or_default())
    }

    fn will_read(&self, number: usize) {
        if let (Some((first, length)), Some(read)) =
            (self.extents.get(number), self.read.get(number))
            && !read.swap(true, Ordering::Relaxed)
        {
            // What is not read ahead is read when it is needed.
            let _ = self.map.advise_range(Advice::WillNeed, *first, *length);
        }
    }
}

impl Column {
    fn view(&self) -> ColumnView<'_> {
        ColumnView::new(&self.starts, self.width, self)
    }
}

/// Extents one after the other in a file.
struct Extents {
    path: PathBuf,
    output: BufWriter<File>,
    length: usize,
    /// By column: where its extents lie.
    columns: BTreeMap<u16, Vec<(usize, usize)>>,
}

impl Extents {
    fn write(&mut self, payload: &[u8]) -> std::io::Result<usize> {
        let first = self.length.next_multiple_of(ALIGNMENT);
        self.output.write_all(&vec![0; first - self.length])?;
        self.output.write_all(payload)?;
        self.length = first + payload.len();
        Ok(first)
    }
}

impl ExtentSink for Extents {
    fn put_extent(
        &mut self,
        _: SegmentId,
        column: ColumnId,
        _: u32,
        _: u64,
        payload: &[u8],
    ) -> kb_engine::Result<()> {
        let first = self.write(payload).map_err(|source| kb_engine::Error::Io {
            action: "write",
            path: self.path.clone(),
            source,
        })?;
        let places = self.columns.entry(column.0).or_default();
        places.push((first, payload.len()));
        Ok(())
    }
}

/// How much of the index is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Read(Method);

impl Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Effort { reach, candidates } = self.0.effort;
        match self.0.scan {
            Scan::Exact => f.write_str("all rows"),
            _ if reach >= WHOLE_REACH => write!(f, "all lists, candidates x {candidates}"),
            _ => write!(f, "reach {reach}, candidates x {candidates}"),
        }
    }
}

/// What is tried: how far rows reach above their centroids, multiples of the candidates.
const EFFORTS: [(f32, f32); 19] = [
    (2.0, 1.0),
    (3.0, 1.0),
    (4.0, 1.0),
    (4.5, 1.0),
    (5.0, 1.0),
    (5.5, 1.0),
    (6.0, 1.0),
    (6.5, 1.0),
    (7.0, 1.0),
    (7.5, 1.0),
    (8.0, 1.0),
    (6.0, 2.0),
    (7.0, 2.0),
    (7.5, 2.0),
    (8.0, 2.0),
    (9.0, 2.0),
    (9.0, 4.0),
    (10.0, 6.0),
    (WHOLE_REACH, 16.0),
];

impl ListedIndex {
    fn column(&self, number: u16) -> Result<ColumnView<'_>> {
        Ok(self.columns.get(&number).context("no such column")?.view())
    }

    fn query(&self, query: &[f32]) -> Result<Query> {
        Query::new(query, self.record.range).context("a query of zeros")
    }

    fn reader(&self) -> Result<Reader<'_>> {
        let lists = match self.record.lists {
            0 => None,
            _ => Some([
                self.column(CENTROIDS.0)?,
                self.column(LISTS.0)?,
                self.column(LIST_BLOCKS.0)?,
            ]),
        };
        Ok(Reader::new(
            &self.record,
            self.column(ROWS.0)?,
            None,
            lists,
        )?)
    }

    /// The columns of what was written so far.
    fn mapped(
        record: VectorRecord,
        columns: &[ColumnRecord],
        extents: &BTreeMap<u16, Vec<(usize, usize)>>,
        map: &Arc<Mmap>,
    ) -> ListedIndex {
        let columns = columns.iter().map(|column| {
            let places = extents.get(&column.column).cloned().unwrap_or_default();
            let mapped = Column {
                map: Arc::clone(map),
                starts: extent_starts(column),
                width: column.width,
                read: places.iter().map(|_| AtomicBool::new(false)).collect(),
                extents: places,
            };
            (column.column, mapped)
        });
        ListedIndex {
            record,
            columns: columns.collect(),
        }
    }
}

fn map(path: &Path) -> Result<Arc<Mmap>> {
    let file = File::open(path)?;
    // SAFETY: a file of this bench alone, which only grows while it is mapped.
    let map = unsafe { Mmap::map(&file) }?;
    // As the engine does.
    map.advise(Advice::Random)?;
    Ok(Arc::new(map))
}

impl VectorIndex for ListedIndex {
    type Setting = Read;

    fn build(npy: &Path, path: &Path, options: &Options) -> Result<Report> {
        let mut table = npy::Table::of_floats(npy)?;
        let range = range(&mut table)?;
        let mut extents = Extents {
            path: path.to_path_buf(),
            output: export::create(path)?,
            length: 0,
            columns: BTreeMap::new(),
        };
        let dim = u32::try_from(table.dim)?;
        let writer = Writer::new(SegmentId(1), options.codec, dim, range);
        let mut writer = writer.without_codes();
        for first in (0..table.rows).step_by(BLOCK) {
            let numbers = table.floats(first, BLOCK.min(table.rows - first))?;
            for row in numbers.chunks(table.dim) {
                writer.push(&mut extents, &Writer::row(row, range))?;
            }
        }
        let (mut record, mut columns) = writer.finish(&mut extents)?;
        extents.output.flush()?;
        let index = ListedIndex::mapped(record.clone(), &columns, &extents.columns, &map(path)?);
        let reader = index.reader()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let count = lists::wanted_centroids(u64::from(record.rows));
        let width = dim.next_multiple_of(64) as usize;
        let rows = lists::PresentRows::all(reader);
        let sample = lists::sample(&[rows], lists::sample_rows(count, width))?;
        let centroids = lists::train(&sample, width, count, threads, &mut |_| Ok(()))?;
        drop(sample);
        let mut go_on = |_| Ok(());
        columns.extend(lists::write(
            0,
            SegmentId(1),
            &rows,
            &centroids,
            threads,
            &mut extents,
            &mut go_on,
        )?);
        record.lists = u32::try_from(count)?;
        let described: Vec<Value> = columns
            .iter()
            .map(|column| {
                let places = extents.columns.get(&column.column);
                json!({"column": column.column, "width": column.width, "extents": places})
            })
            .collect();
        let tail = json!({
            "codec": record.codec, "dim": record.dim, "stride": record.stride, "rows": record.rows,
            "range": record.range, "lists": record.lists, "columns": described,
        });
        let tail = tail.to_string();
        extents.write(tail.as_bytes())?;
        extents
            .output
            .write_all(&(tail.len() as u64).to_le_bytes())?;
        extents.output.flush()?;
        Ok(Report {
            rows: u64::from(record.rows),
        })
    }

    fn open(path: &Path) -> Result<ListedIndex> {
        let map = map(path)?;
        let tail = tail(&map).context("no index of this bench")?;
        let number = |name: &str| {
            let number = tail[name].as_u64().context("a tail without a number")?;
            Ok::<u32, anyhow::Error>(u32::try_from(number)?)
        };
        let (mut columns, mut places) = (Vec::new(), BTreeMap::new());
        for column in tail["columns"].as_array().context("no columns")? {
            let extents: Vec<(usize, usize)> = serde_json::from_value(column["extents"].clone())?;
            let number = |name: &str| column[name].as_u64().context("no number");
            let payload_lens = extents.iter().map(|(_, length)| u32::try_from(*length));
            let record = ColumnRecord {
                column: u16::try_from(number("column")?)?,
                width: u32::try_from(number("width")?)?,
                payload_lens: payload_lens.collect::<Result<_, _>>()?,
            };
            places.insert(record.column, extents);
            columns.push(record);
        }
        let record = VectorRecord {
            codec: u8::try_from(number("codec")?)?,
            dim: number("dim")?,
            stride: number("stride")?,
            rows: number("rows")?,
            range: tail["range"].as_f64().context("no range")? as f32,
            lists: number("lists")?,
        };
        Ok(ListedIndex::mapped(record, &columns, &places, &map))
    }

    fn settings(_rows: usize) -> Vec<Read> {
        let of_effort = |(reach, candidates)| Method {
            scan: Scan::Rescored,
            effort: Effort { reach, candidates },
        };
        let some = EFFORTS.into_iter().map(of_effort);
        some.chain([Method::from(Scan::Exact)]).map(Read).collect()
    }

    fn search(&self, query: &[f32], k: usize, setting: &Read) -> Result<Vec<u64>> {
        let reader = self.reader()?;
        let query = self.query(query)?;
        Ok(numbers(&knn(&[whole(&reader)], &query, k, setting.0)?, k))
    }

    fn search_many(&self, queries: &[Vec<f32>], k: usize, setting: &Read) -> Result<Vec<Vec<u64>>> {
        let reader = self.reader()?;
        let queries: Result<Vec<Query>> = queries.iter().map(|query| self.query(query)).collect();
        let found = knn_batch(&[whole(&reader)], &queries?, k, setting.0)?;
        Ok(found.iter().map(|found| numbers(found, k)).collect())
    }
}

/// A segment in which every row may be a result.
fn whole<'r>(reader: &'r Reader<'r>) -> KnnSegment<'r> {
    KnnSegment {
        reader,
        filter: None,
        deleted: None,
    }
}

fn numbers(found: &[Neighbor], k: usize) -> Vec<u64> {
    let rows = found.iter().take(k);
    rows.map(|neighbour| u64::from(neighbour.row)).collect()
}

fn tail(map: &[u8]) -> Option<Value> {
    let (rest, length) = map.split_last_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    serde_json::from_slice(rest.get(rest.len().checked_sub(length)?..)?).ok()
}

/// The quantiser of a table: what nearly all numbers of some rows, spread evenly, lie within.
fn range(table: &mut npy::Table) -> Result<f32> {
    ensure!(table.rows > 0 && table.dim > 0, "a table without rows");
    let step = table.rows.div_ceil(RANGE_ROWS);
    let mut sizes = Vec::new();
    for row in (0..table.rows).step_by(step) {
        sizes.extend(table.floats(row, 1)?.iter().map(|number| number.abs()));
    }
    let place = ((sizes.len() - 1) as f64 * RANGE_QUANTILE) as usize;
    let (_, range, _) = sizes.select_nth_unstable_by(place, f32::total_cmp);
    Ok(*range)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table of rows that point in all directions.
    pub(crate) fn write_table(path: &Path, rows: usize, dim: usize) {
        let mut writer = npy::Writer::create(path, dim).unwrap();
        let mut state = 1u64;
        for _ in 0..rows {
            let mut row: Vec<f32> = (0..dim)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
                })
                .collect();
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            row.iter_mut().for_each(|x| *x /= norm);
            writer.push(&row).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn a_row_is_nearest_to_itself_in_either_codec() {
        let folder = tempfile::tempdir().unwrap();
        let npy = folder.path().join("rows.npy");
        write_table(&npy, 5000, 48);
        let mut table = npy::Table::of_floats(&npy).unwrap();
        for variant in ["i8", "i4"] {
            let path = folder.path().join(variant);
            let options = Options::of_variant(variant).unwrap();
            let report = ListedIndex::build(&npy, &path, &options).unwrap();
            assert_eq!(report.rows, 5000);
            let index = ListedIndex::open(&path).unwrap();
            let thorough = ListedIndex::settings(5000).split_off(8);
            for setting in thorough {
                for row in [0, 63, 4999] {
                    let query = table.floats(row, 1).unwrap();
                    let found = index.search(&query, 10, &setting).unwrap();
                    assert_eq!(found.len(), 10);
                    assert_eq!(found[0], row as u64, "{variant} {setting}");
                }
            }
        }
        assert!(ListedIndex::open(&npy).is_err());
        assert!(Options::of_variant("i2").is_err());
    }
}
