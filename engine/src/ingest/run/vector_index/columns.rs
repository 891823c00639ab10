//! How much searches read of the lists of vectors of other models, measured on rows of the column: their models are
//! elsewhere, so no question can be embedded.

use std::collections::BTreeSet;

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::catalog::{BoundSegment, BoundVectors, Catalog, CatalogCache, Segment};
use crate::container::{Container, ContainerWriter, Snapshot, watched};
use crate::index::vector::query::Query;
use crate::index::vector::reader::Reader;
use crate::index::vector::{Effort, KnnSegment, MIN_CANDIDATES, Method, Neighbor, Scan, knn_batch};
use crate::ingest::run::vector_index::recall::{found_share, rows_read};
use crate::ingest::run::vector_index::tries::{AIMED, EFFORTS, least_effort};
use crate::ingest::run::vector_index::truth::NEAREST;
use crate::metric::Metric;
use crate::progress::Reporter;
use crate::store::effort::ColumnEffortRecord;
use crate::store::vector_columns::NumberedColumn;

/// Most and least number of questions of a measurement.
// 1,280 neighbours tell recalls apart that differ by 0.01; 320 still tell those that differ by
// 0.02.
const QUESTIONS: (u64, u64) = (128, 32);

/// Bytes of rows that are compared with questions, above which fewer questions are asked.
// Some seconds: the exact answer compares each question with every row.
const WORK_BYTES: u64 = 64 << 30;

/// Questions between two looks at whether somebody wants to stop.
const QUESTIONS_AT_ONCE: usize = 16;

/// Measures the columns of other models whose lists were `built` or were never measured, and notes in a commit of
/// its own how much searches of each are to read. A column without lists says nothing of that.
///
/// Cost: every row is compared with 32 to 128 of them, and as many searches are made for each effort that is tried.
///
/// # Errors
/// [`crate::Error::Damaged`]; what storage and `reporter` say.
pub(super) fn record_efforts(
    writer: &mut ContainerWriter,
    base: &Container,
    catalogs: &CatalogCache,
    built: &BTreeSet<u16>,
    reporter: &Reporter<'_>,
) -> Result<()> {
    base.map_growth()?;
    let measured = base.read(|snapshot| {
        let catalog = catalogs.get(snapshot)?;
        let mut columns = catalog.vector_columns.clone();
        for column in &mut columns.list {
            let has_lists = has_lists(&catalog, column.number);
            let is_due = built.contains(&column.number) || column.effort.is_none();
            match has_lists {
                true if is_due => column.effort = measure(snapshot, &catalog, column, reporter)?,
                true => {}
                false => column.effort = None,
            }
        }
        Ok((columns != catalog.vector_columns).then_some(columns))
    })?;
    let Some(columns) = measured else {
        return Ok(());
    };
    let mut transaction = writer.begin()?;
    columns.write(&mut transaction)?;
    reporter
        .wait_for(watched(|| transaction.commit()))
        .map(|_| ())
}

fn has_lists(catalog: &Catalog, number: u16) -> bool {
    let more = |segment: &Segment| {
        let mut more = segment.records.more_vectors.iter();
        more.any(|index| index.number == number && index.record.lists > 0)
    };
    catalog.segments.iter().any(more)
}

/// A segment that has vectors of the column.
struct Part<'s> {
    reader: Reader<'s>,
    /// Rows with a vector that may answer.
    live: RoaringBitmap,
}

impl<'s> Part<'s> {
    fn of(bound: &'s BoundSegment<'_>, vectors: &'s BoundVectors<'_>) -> Result<Part<'s>> {
        let mut live = vectors.index.present.clone();
        if let Some(deleted) = bound.segment.deleted_rows() {
            live -= deleted;
        }
        Ok(Part {
            reader: vectors.reader()?,
            live,
        })
    }
}

/// A row of the column that is asked for: its segment, and its number there.
type Own = (usize, u32);

/// `None` where there is no row to ask for.
fn measure(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    column: &NumberedColumn,
    reporter: &Reporter<'_>,
) -> Result<Option<ColumnEffortRecord>> {
    if column.metric != Metric::Cosine {
        return Ok(None);
    }
    let bound = catalog
        .segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let parts = bound.iter().filter_map(|bound| {
        let vectors = bound.more_vectors(column.number)?;
        Some(Part::of(bound, vectors))
    });
    let parts = parts.collect::<Result<Vec<Part<'_>>>>()?;
    let rows: u64 = parts.iter().map(|part| part.live.len()).sum();
    let (own, queries) = questions(&parts, column, rows)?;
    if queries.is_empty() {
        return Ok(None);
    }
    let segments: Vec<KnnSegment<'_>> = parts
        .iter()
        .map(|part| KnnSegment {
            reader: &part.reader,
            filter: Some(&part.live),
            deleted: None,
        })
        .collect();
    // A row finds itself first, which says nothing.
    let others = |how: Method, k: usize| -> Result<Vec<Vec<Neighbor>>> {
        let mut all = Vec::with_capacity(queries.len());
        for some in queries.chunks(QUESTIONS_AT_ONCE) {
            reporter.check()?;
            all.extend(knn_batch(&segments, some, k, how)?);
        }
        for (list, own) in all.iter_mut().zip(&own) {
            list.retain(|near| (near.segment, near.row) != *own);
        }
        Ok(all)
    };
    let exact = others(Scan::Exact.into(), NEAREST + 1)?;
    let (effort, recall) = least_effort(&EFFORTS, AIMED, |effort| {
        let scan = Scan::Rescored;
        // As a search for ten asks.
        let quick = others(Method { scan, effort }, MIN_CANDIDATES)?;
        Ok(found_share(&exact, &quick).unwrap_or(1.0))
    })?;
    let Effort { reach, candidates } = effort;
    let scan = Scan::Rescored;
    let (_, read) = rows_read(&segments, &queries, Method { scan, effort })?;
    Ok(Some(ColumnEffortRecord {
        reach,
        candidates,
        queries: queries.len() as u32,
        k: NEAREST as u32,
        rows,
        recall,
        read,
    }))
}

/// Some live rows from all over the column, the same each time, and what asks for them.
fn questions(
    parts: &[Part<'_>],
    column: &NumberedColumn,
    rows: u64,
) -> Result<(Vec<Own>, Vec<Query>)> {
    let (most, least) = QUESTIONS;
    let bytes = rows.saturating_mul(u64::from(column.record.dim)).max(1);
    let count = (WORK_BYTES / bytes).clamp(least, most).min(rows);
    let (mut own, mut queries) = (Vec::new(), Vec::new());
    for number in 0..count {
        // In the middle of each of `count` equal parts.
        let mut place = (2 * number + 1).saturating_mul(rows) / (2 * count);
        for (segment, part) in parts.iter().enumerate() {
            let here = part.live.len();
            if place >= here {
                place -= here;
                continue;
            }
            let row = u32::try_from(place)
                .ok()
                .and_then(|place| part.live.select(place));
            if let Some(row) = row
                && let Some(query) = Query::new(&part.reader.vector(row)?, column.record.range)
            {
                own.push((segment, row));
                queries.push(query);
            }
            break;
        }
    }
    Ok((own, queries))
}
