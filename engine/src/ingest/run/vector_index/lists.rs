//! Inverted lists for the large segments of a large file, in a commit of their own: a reader never
//! waits, a crash costs the lists, and no commit that somebody waits for trains anything.

use crate::catalog::{BoundSegment, Catalog, CatalogCache, Segment};
use crate::container::column::ColumnRecord;
use crate::container::{Container, ContainerWriter, Snapshot, Transaction, watched};
use crate::error::{Error, Result};
use crate::index::vector::lists::centroids::Centroids;
use crate::index::vector::lists::sample::sample;
use crate::index::vector::lists::train::{sample_rows, train, wanted_centroids};
use crate::index::vector::lists::writer;
use crate::index::vector::reader::Reader;
use crate::index::vector::{CODES, VectorRecord, stride};
use crate::progress::{Progress, Reporter, Stage};
use crate::store::segments::SegmentRecord;

/// Files with fewer chunks have no inverted lists: all sign bits are read as fast.
const FILE_CHUNKS: u64 = 200_000;

/// Segments with fewer rows have none.
const SEGMENT_ROWS: u32 = 32_768;

/// Centroids of another segment are used again where they are between half and twice as many as wanted.
const REUSE_FACTOR: usize = 2;

/// Makes the lists that are missing. `base` is the file that `writer` has open.
///
/// Cost: about 8 s for a million rows of 192 dimensions on two threads, half of it for the centroids, which
/// a file trains once until it is sealed.
///
/// # Errors
/// [`Error::Damaged`]; what storage and `reporter` say. Nothing was changed then.
pub(in crate::ingest::run) fn build(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let is_needed = base.read(|snapshot| Ok(!missing(&*catalogs.get(snapshot)?).is_empty()))?;
    if !is_needed {
        return Ok(());
    }
    base.map_growth()?;
    let mut open = Some(writer.begin()?);
    let mut is_repeated = false;
    let built = base.read(|snapshot| match &mut open {
        Some(transaction) if !is_repeated => {
            is_repeated = true;
            build_in(transaction, snapshot, &*catalogs.get(snapshot)?, reporter)
        }
        // Half of it is in the transaction already.
        _ => Err(Error::SnapshotExpired),
    });
    let transaction = open.take().ok_or(Error::WriterFailed)?;
    built?;
    reporter
        .wait_for(watched(|| transaction.commit()))
        .map(|_| ())
}

/// The segments that shall have lists and have none.
fn missing(catalog: &Catalog) -> Vec<&Segment> {
    let segments = catalog.segments.iter();
    segments
        .filter(|segment| {
            let is_wanted = wants_lists(catalog.meta.chunks, segment.rows());
            is_wanted && segment.records.vectors.lists == 0
        })
        .collect()
}

/// Whether a segment of so many rows gets lists, in a file of so many chunks.
pub(in crate::ingest::run) fn wants_lists(chunks: u64, rows: u32) -> bool {
    chunks >= FILE_CHUNKS && rows >= SEGMENT_ROWS
}

fn build_in(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let segments = missing(catalog);
    let bound = segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let readers = bound.iter().map(BoundSegment::vectors);
    let readers = readers.collect::<Result<Vec<Reader<'_>>>>()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Training counts as much as assigning.
    let rows: u64 = readers.iter().map(|reader| u64::from(reader.rows())).sum();
    let mut progress = Progress {
        bytes_total: 3 * rows,
        ..Progress::new(Stage::Lists)
    };
    reporter.report(progress)?;
    let centroids = centroids(snapshot, catalog, &readers, threads, &mut |percent| {
        progress.bytes_done = rows * u64::from(percent) / 100;
        reporter.report(progress)
    })?;
    let mut done = rows;
    for (segment, reader) in segments.iter().zip(&readers) {
        let columns = writer::write(
            segment.id,
            reader,
            &centroids,
            threads,
            transaction,
            &mut |of_segment| {
                progress.bytes_done = done + of_segment;
                reporter.report(progress)
            },
        )?;
        done += 2 * u64::from(reader.rows());
        let lists = centroids.len() as u32;
        replace_codes(transaction, segment, columns, lists)?;
    }
    Ok(())
}

/// Those of another segment of the file, where they fit; else new ones from all over these segments.
fn centroids(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    readers: &[Reader<'_>],
    threads: usize,
    check: &mut dyn FnMut(u32) -> Result<()>,
) -> Result<Centroids> {
    let rows = readers.iter().map(Reader::rows).max().unwrap_or(0);
    let wanted = wanted_centroids(u64::from(rows));
    let record = &catalog.meta.embedder;
    let width = stride(record.dim) as usize;
    for segment in &catalog.segments {
        let count = segment.records.vectors.lists as usize;
        if count * REUSE_FACTOR < wanted || count > wanted * REUSE_FACTOR {
            continue;
        }
        if let Some(lists) = segment.bind(snapshot)?.vectors()?.lists() {
            return Ok(Centroids::new(width, lists.centroid_bytes()?));
        }
    }
    let sample = sample(readers, sample_rows(wanted, width))?;
    train(&sample, width, wanted, threads, check)
}

/// Notes the lists of a segment, and removes its sign bits.
fn replace_codes(
    transaction: &mut Transaction<'_>,
    segment: &Segment,
    columns: [ColumnRecord; 3],
    lists: u32,
) -> Result<()> {
    let mut record: SegmentRecord = segment.records.segment.clone();
    if let Some(at) = record
        .columns
        .iter()
        .position(|column| column.column == CODES.0)
    {
        transaction.remove_column(segment.id, &record.columns.remove(at))?;
    }
    record.columns.extend(columns);
    record.columns.sort_by_key(|column| column.column);
    let vectors = VectorRecord {
        lists,
        ..segment.records.vectors.clone()
    };
    record.vector_index = vectors.encode()?;
    record.write(transaction, segment.id)
}
