//! What a vector index of ours is to this bench, and the index as it is today: all rows of a table as one
//! segment, written into one file and mapped.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kb_engine::SegmentId;
use kb_engine::testing::container::column::{
    ColumnId, ColumnRecord, ColumnView, ExtentSink, ExtentSource, extent_starts,
};
use kb_engine::testing::index::vector::query::Query;
use kb_engine::testing::index::vector::reader::Reader;
use kb_engine::testing::index::vector::writer::Writer;
use kb_engine::testing::index::vector::{
    CODEC_I4, CODEC_I8, KnnSegment, ROWS, Scan, VectorRecord, knn,
};
use memmap2::Mmap;
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

    /// The settings for so many rows, from fast to thorough.
    fn settings(rows: usize) -> Vec<Self::Setting>;

    /// The numbers of the nearest rows, best first.
    fn search(&self, query: &[f32], k: usize, setting: &Self::Setting) -> Result<Vec<u64>>;
}

/// Rows that are read at once.
const BLOCK: usize = 8192;

/// Rows by which the quantiser is chosen, and the share of their numbers that it spans.
const RANGE_ROWS: usize = 65_536;
const RANGE_QUANTILE: f64 = 0.9999;

/// Payloads begin at multiples of this.
const ALIGNMENT: usize = 64;

/// Today's index: every search reads all sign bits or all rows.
pub(crate) struct FlatIndex {
    record: VectorRecord,
    rows: Column,
    codes: Column,
}

/// One column in a mapped file.
struct Column {
    map: Arc<Mmap>,
    /// Where each extent lies: first byte and length.
    extents: Vec<(usize, usize)>,
    starts: Vec<u64>,
    width: u32,
}

impl ExtentSource for Column {
    fn payload(&self, number: usize) -> kb_engine::Result<&[u8]> {
        let payload = self.extents.get(number).and_then(|(first, length)| {
            let end = first.checked_add(*length)?;
            self.map.get(*first..end)
        });
        Ok(payload.unwrap_or_default())
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
    rows: Vec<(usize, usize)>,
    codes: Vec<(usize, usize)>,
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
        let place = (first, payload.len());
        match column {
            ROWS => self.rows.push(place),
            _ => self.codes.push(place),
        }
        Ok(())
    }
}

/// How all rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared(Scan);

impl Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Scan::Exact => "all rows",
            Scan::Rescored => "all sign bits",
            Scan::Auto => "as it chooses",
        })
    }
}

impl VectorIndex for FlatIndex {
    type Setting = Compared;

    fn build(npy: &Path, path: &Path, options: &Options) -> Result<Report> {
        let mut table = npy::Table::of_floats(npy)?;
        let range = range(&mut table)?;
        let mut extents = Extents {
            path: path.to_path_buf(),
            output: export::create(path)?,
            length: 0,
            rows: Vec::new(),
            codes: Vec::new(),
        };
        let dim = u32::try_from(table.dim)?;
        let mut writer = Writer::new(SegmentId(1), options.codec, dim, range);
        for first in (0..table.rows).step_by(BLOCK) {
            let numbers = table.floats(first, BLOCK.min(table.rows - first))?;
            for row in numbers.chunks(table.dim) {
                writer.push(&mut extents, &Writer::row(row, range))?;
            }
        }
        let (record, columns) = writer.finish(&mut extents)?;
        let tail = json!({
            "codec": record.codec, "dim": record.dim, "stride": record.stride, "rows": record.rows,
            "range": record.range, "row_extents": extents.rows, "code_extents": extents.codes,
            "widths": columns.each_ref().map(|column: &ColumnRecord| column.width),
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

    fn open(path: &Path) -> Result<FlatIndex> {
        let file = File::open(path)?;
        // SAFETY: a file of this bench alone, which nothing changes while it is open.
        let map = Arc::new(unsafe { Mmap::map(&file) }?);
        let tail = tail(&map).context("no index of this bench")?;
        let number = |name: &str| {
            let number = tail[name].as_u64().context("a tail without a number")?;
            Ok::<u32, anyhow::Error>(u32::try_from(number)?)
        };
        let column = |name: &str, at: usize| {
            let extents: Vec<(usize, usize)> = serde_json::from_value(tail[name].clone())?;
            let width = tail["widths"][at].as_u64().context("no width")?;
            let payload_lens = extents.iter().map(|(_, length)| u32::try_from(*length));
            let record = ColumnRecord {
                column: 0,
                width: u32::try_from(width)?,
                payload_lens: payload_lens.collect::<Result<_, _>>()?,
            };
            Ok::<Column, anyhow::Error>(Column {
                map: Arc::clone(&map),
                starts: extent_starts(&record),
                width: record.width,
                extents,
            })
        };
        Ok(FlatIndex {
            record: VectorRecord {
                codec: u8::try_from(number("codec")?)?,
                dim: number("dim")?,
                stride: number("stride")?,
                rows: number("rows")?,
                range: tail["range"].as_f64().context("no range")? as f32,
            },
            rows: column("row_extents", 0)?,
            codes: column("code_extents", 1)?,
        })
    }

    fn settings(_rows: usize) -> Vec<Compared> {
        vec![Compared(Scan::Rescored), Compared(Scan::Exact)]
    }

    fn search(&self, query: &[f32], k: usize, setting: &Compared) -> Result<Vec<u64>> {
        let reader = Reader::new(&self.record, self.rows.view(), self.codes.view())?;
        let query = Query::new(query, self.record.range).context("a query of zeros")?;
        let segment = KnnSegment {
            reader: &reader,
            filter: None,
            deleted: None,
        };
        let found = knn(&[segment], &query, k, setting.0)?;
        let rows = found.iter().take(k);
        Ok(rows.map(|neighbour| u64::from(neighbour.row)).collect())
    }
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
            let report = FlatIndex::build(&npy, &path, &options).unwrap();
            assert_eq!(report.rows, 5000);
            let index = FlatIndex::open(&path).unwrap();
            for setting in FlatIndex::settings(5000) {
                for row in [0, 63, 4999] {
                    let query = table.floats(row, 1).unwrap();
                    let found = index.search(&query, 10, &setting).unwrap();
                    assert_eq!(found.len(), 10);
                    assert_eq!(found[0], row as u64, "{variant} {setting}");
                }
            }
        }
        assert!(FlatIndex::open(&npy).is_err());
        assert!(Options::of_variant("i2").is_err());
    }
}
