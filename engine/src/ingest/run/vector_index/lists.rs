//! Inverted lists for the large segments of a large file, in a commit of their own: a reader never
//! waits, a crash costs the lists, and no commit that somebody waits for trains anything.

use std::collections::{BTreeMap, BTreeSet};

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::catalog::{BoundSegment, Catalog, CatalogCache, Segment};
use crate::container::column::ColumnRecord;
use crate::container::{Container, ContainerWriter, Snapshot, Transaction, watched};
use crate::index::vector::lists::centroids::Centroids;
use crate::index::vector::lists::present::PresentRows;
use crate::index::vector::lists::sample::sample;
use crate::index::vector::lists::train::{sample_rows, train, wanted_centroids};
use crate::index::vector::lists::writer;
use crate::index::vector::{CODES, VectorRecord, stride};
use crate::ingest::run::vector_index::columns;
use crate::metric::Metric;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::segments::SegmentRecord;
use crate::store::tables;
use crate::store::vector_columns::BUILT_IN;

/// Which segments get lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListLimits {
    /// Fewest chunks of a file: with fewer all sign bits are read as fast.
    pub(crate) chunks: u64,
    /// Fewest rows of a segment that have a vector.
    pub(crate) rows: u32,
}

impl Default for ListLimits {
    fn default() -> ListLimits {
        ListLimits {
            chunks: 200_000,
            rows: 32_768,
        }
    }
}

impl ListLimits {
    /// Whether a segment with so many vectors gets lists, in a file of so many chunks.
    pub(in crate::ingest::run) fn include(&self, chunks: u64, rows: u32) -> bool {
        chunks >= self.chunks && rows >= self.rows
    }
}

/// Which columns of vectors get lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest::run) enum Columns {
    /// All of them.
    All,
    /// Those of other models.
    Imported,
}

/// Centroids of another segment are reused if their number differs from the wanted one by at most this factor.
// Training is most of the work of building lists, and the number of lists changes the cost of a
// search little around the best one.
const REUSE_FACTOR: usize = 2;

/// Makes the lists that are missing, and measures those of other models. `base` is the file that `writer` has open.
///
/// Cost: with AVX-512 8 s of processor time for a million rows of 192 dimensions, shared by all cores, half of it for
/// the centroids, which a file trains once until it is sealed.
///
/// # Errors
/// [`Error::Damaged`]; what storage and `reporter` say. Nothing was changed then.
pub(in crate::ingest::run) fn build(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    wanted: (ListLimits, Columns),
    reporter: &Reporter<'_>,
) -> Result<()> {
    let built: BTreeSet<u16> = base.read(|snapshot| {
        let catalog = catalogs.get(snapshot)?;
        let missing = missing(&catalog, wanted);
        Ok(missing.iter().map(|missing| missing.column).collect())
    })?;
    if !built.is_empty() {
        build_missing(writer, base, catalogs, wanted, reporter)?;
    }
    columns::record_efforts(writer, base, catalogs, &built, reporter)
}

fn build_missing(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    wanted: (ListLimits, Columns),
    reporter: &Reporter<'_>,
) -> Result<()> {
    base.map_growth()?;
    let mut open = Some(writer.begin()?);
    let mut is_repeated = false;
    let built = base.read(|snapshot| match &mut open {
        Some(transaction) if !is_repeated => {
            is_repeated = true;
            build_in(
                transaction,
                snapshot,
                &*catalogs.get(snapshot)?,
                wanted,
                reporter,
            )
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

/// Vectors of a segment that shall have lists and have none.
#[derive(Debug, Clone, Copy)]
struct Missing<'c> {
    segment: &'c Segment,
    /// Number of the column of vectors.
    column: u16,
    record: &'c VectorRecord,
    /// Rows with a vector.
    rows: u32,
}

/// All of them. Only of what is compared by the cosine: the others are compared one by one.
fn missing(catalog: &Catalog, (limits, columns): (ListLimits, Columns)) -> Vec<Missing<'_>> {
    let mut all = Vec::new();
    for segment in &catalog.segments {
        all.push(Missing {
            segment,
            column: BUILT_IN,
            record: &segment.records.vectors,
            rows: segment.rows(),
        });
        let more = segment.records.more_vectors.iter();
        let more = more.filter(|index| index.metric == Metric::Cosine);
        all.extend(more.map(|index| Missing {
            segment,
            column: index.number,
            record: &index.record,
            rows: u32::try_from(index.present.len()).unwrap_or(index.record.rows),
        }));
    }
    let chunks = catalog.meta.chunks;
    all.retain(|missing| columns == Columns::All || missing.column != BUILT_IN);
    all.retain(|missing| missing.record.lists == 0 && limits.include(chunks, missing.rows));
    all
}

fn build_in(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    wanted: (ListLimits, Columns),
    reporter: &Reporter<'_>,
) -> Result<()> {
    let mut missing = missing(catalog, wanted);
    missing.sort_by_key(|missing| missing.column);
    let rows = missing.iter().map(|missing| u64::from(missing.rows));
    // Training counts as much as assigning.
    let mut progress = Progress {
        bytes_total: 3 * rows.sum::<u64>(),
        ..Progress::new(Stage::Lists)
    };
    reporter.report(progress)?;
    let mut changed: BTreeMap<SegmentId, SegmentRecord> = BTreeMap::new();
    for of_column in missing.chunk_by(|a, b| a.column == b.column) {
        let of_column = Column {
            missing: of_column,
            snapshot,
            catalog,
        };
        of_column.build(transaction, &mut changed, &mut progress, reporter)?;
    }
    for (segment, record) in changed {
        record.write(transaction, segment)?;
    }
    Ok(())
}

/// One column of vectors in all segments that need lists of it.
struct Column<'c> {
    missing: &'c [Missing<'c>],
    snapshot: &'c Snapshot<'c>,
    catalog: &'c Catalog,
}

impl Column<'_> {
    /// Makes the lists, and notes them in `changed`.
    fn build(
        &self,
        transaction: &mut Transaction<'_>,
        changed: &mut BTreeMap<SegmentId, SegmentRecord>,
        progress: &mut Progress,
        reporter: &Reporter<'_>,
    ) -> Result<()> {
        let bound = self
            .missing
            .iter()
            .map(|missing| missing.segment.bind(self.snapshot));
        let bound = bound.collect::<Result<Vec<BoundSegment<'_>>>>()?;
        let present = bound.iter().zip(self.missing);
        let present = present
            .map(|(bound, missing)| rows_of(bound, missing.column))
            .collect::<Result<Vec<PresentRows<'_>>>>()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let rows: u64 = present.iter().map(|rows| u64::from(rows.count())).sum();
        let mut done = progress.bytes_done;
        let centroids = self.centroids(&present, threads, &mut |percent| {
            progress.bytes_done = done + rows * u64::from(percent) / 100;
            reporter.report(*progress)
        })?;
        done += rows;
        for (missing, present) in self.missing.iter().zip(&present) {
            let columns = writer::write(
                tables::vector_columns_base(missing.column),
                missing.segment.id,
                present,
                &centroids,
                threads,
                transaction,
                &mut |of_segment| {
                    progress.bytes_done = done + of_segment;
                    reporter.report(*progress)
                },
            )?;
            done += 2 * u64::from(present.count());
            let record = changed
                .entry(missing.segment.id)
                .or_insert_with(|| missing.segment.records.segment.clone());
            let lists = centroids.count() as u32;
            replace_codes(transaction, missing, record, columns, lists)?;
        }
        progress.bytes_done = done;
        Ok(())
    }

    /// Those of another segment of the file, where they fit; else new ones from all over these segments.
    fn centroids(
        &self,
        present: &[PresentRows<'_>],
        threads: usize,
        check: &mut dyn FnMut(u32) -> Result<()>,
    ) -> Result<Centroids> {
        let (Some(first), Some(rows)) = (
            self.missing.first(),
            present.iter().map(PresentRows::count).max(),
        ) else {
            return Err(Error::damaged("lists of no segment"));
        };
        let wanted = wanted_centroids(u64::from(rows));
        let width = stride(first.record.dim) as usize;
        for segment in &self.catalog.segments {
            let bound = segment.bind(self.snapshot)?;
            if let Ok(rows) = rows_of(&bound, first.column)
                && let Some(lists) = rows.reader().lists()
                && lists.count() as usize * REUSE_FACTOR >= wanted
                && lists.count() as usize <= wanted * REUSE_FACTOR
            {
                return Ok(Centroids::new(width, lists.centroid_bytes()?));
            }
        }
        let sample = sample(present, sample_rows(wanted, width))?;
        train(&sample, width, wanted, threads, check)
    }
}

/// The vectors of a column in a segment.
fn rows_of<'b>(bound: &'b BoundSegment<'_>, column: u16) -> Result<PresentRows<'b>> {
    if column == BUILT_IN {
        return bound.vectors().map(PresentRows::all);
    }
    let vectors = bound.more_vectors(column);
    let vectors = vectors
        .ok_or_else(|| Error::damaged(format!("a segment without column of vectors {column}")))?;
    let present = &vectors.index.present;
    Ok(PresentRows::some(vectors.reader()?, present))
}

/// Notes the lists of a segment, and removes its sign bits.
fn replace_codes(
    transaction: &mut Transaction<'_>,
    missing: &Missing<'_>,
    record: &mut SegmentRecord,
    columns: [ColumnRecord; 3],
    lists: u32,
) -> Result<()> {
    let codes = tables::vector_columns_base(missing.column).saturating_add(CODES.0);
    if let Some(at) = record
        .columns
        .iter()
        .position(|column| column.column == codes)
    {
        transaction.remove_column(missing.segment.id, &record.columns.remove(at))?;
    }
    record.columns.extend(columns);
    record.columns.sort_by_key(|column| column.column);
    let vectors = VectorRecord {
        lists,
        ..missing.record.clone()
    };
    let encoded = vectors.encode()?;
    if missing.column == BUILT_IN {
        record.vector_index = encoded;
    } else if let Some(more) = record
        .more_vectors
        .iter_mut()
        .find(|more| more.number == missing.column)
    {
        more.vector_index = encoded;
    }
    Ok(())
}
