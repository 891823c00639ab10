//! The entry points: which scan to run, over which segments.

use kb_types::error::Result;

use super::effort::{Effort, oversample};
use super::exact;
use super::rescoring;
use super::segments::{KnnSegment, Neighbor, Segments};
use crate::index::vector::kernels::layout::LANES;
use crate::index::vector::query::Query;
use crate::metric::Metric;

/// How the nearest rows are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scan {
    /// Whichever is faster for the number of rows that may answer. By dot product and distance always exact: sign bits
    /// tell nothing of the lengths of vectors.
    #[default]
    Auto,
    /// By the product with every row that may answer.
    Exact,
    /// By the sign bits of every row that may answer, then the product with the best of them.
    Rescored,
}

/// Which scan, and how much it reads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Method {
    /// The scan.
    pub scan: Scan,
    /// What a rescored one reads.
    pub effort: Effort,
}

impl From<Scan> for Method {
    fn from(scan: Scan) -> Method {
        Method {
            scan,
            effort: Effort::default(),
        }
    }
}

/// How many rows a search read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Whether candidates were chosen by their sign bits first.
    pub rescored: bool,
    /// Rows that could answer.
    pub rows: u64,
    /// Rows whose product was estimated.
    pub estimated: u64,
    /// Rows whose exact product was taken.
    pub scored: u64,
}

impl ScanStats {
    /// Share of the rows that were looked at, by an estimate or exactly, 0 to 1.
    pub fn share_read(&self) -> f64 {
        let read = self.estimated.max(self.scored);
        (read as f64 / self.rows.max(1) as f64).min(1.0)
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &ScanStats) {
        self.rescored |= other.rescored;
        self.rows += other.rows;
        self.estimated += other.estimated;
        self.scored += other.scored;
    }
}

/// Up to this many allowed rows, every row is compared.
// 4,096 adjacent rows cost about as much as 400 scattered candidates, and the result is exact.
const EXACT_ROWS: u64 = 4096;

/// With inverted lists, up to this many allowed rows are compared one by one, if a filter allows no more than one in
/// [`SELECTIVE`]. The unit is the cost of a row that lies beside others.
// The lists that a search reads hold too few of the rows of a selective filter. Of 1.17 million
// rows, 39,000 rows of one folder take 0.2 ms this way and 0.5 ms by lists; 48,000 rows of
// scattered documents take 1.0 ms either way; 82,000 take 1.4 ms and 0.8 ms.
const EXACT_FILTERED_ROWS: u64 = 131_072;

/// See [`EXACT_FILTERED_ROWS`].
const SELECTIVE: u64 = 12;

/// Cost of a row that lies alone, in rows that lie beside others: 20 ns against 5 to 10 ns.
const LONELY: u64 = 2;

fn is_selective(segments: &Segments<'_>) -> bool {
    let cost: u64 = segments
        .iter()
        .map(|(_, _, filter)| {
            let (rows, room) = (filter.count(), filter.room());
            // Those that fill a third of where they are lie beside each other.
            let lonely = room.saturating_sub(3 * rows).min(room);
            rows + rows * (LONELY - 1) * lonely / room.max(1)
        })
        .sum();
    cost <= EXACT_FILTERED_ROWS && cost * SELECTIVE <= segments.all_rows()
}

/// Whether [`Scan::Auto`] rescores when `rows` rows may answer. A candidate lies anywhere in the
/// file and costs as much as a few adjacent rows.
pub fn uses_rescoring(rows: u64, k: usize) -> bool {
    // With fewer than four rows for each candidate, most rows would be rescored after all.
    rows > EXACT_ROWS.max(4u64.saturating_mul(oversample(k) as u64))
}

/// The `k` nearest rows of all segments, best first; equal scores by segment, then row.
///
/// All rows that tie with the k-th score are returned, but at most `k` of each segment, the lower
/// rows first: the caller may order ties between segments. By cosine rows with a score of 0 are left out.
///
/// Exact: about 20 ns a row of 192 dimensions. Rescored: about 1 ns a row and 50 ns for each of
/// [`oversample`] candidates.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged) when a filter has rows beyond its segment, the query has another width than
/// the rows, segments differ in codec, or an extent fails its checks.
pub fn knn(
    segments: &[KnnSegment<'_>],
    query: &Query,
    k: usize,
    how: impl Into<Method>,
) -> Result<Vec<Neighbor>> {
    Ok(knn_with_stats(segments, query, k, how)?.0)
}

/// As [`knn`], with how many rows were read.
///
/// # Errors
/// As [`knn`].
pub fn knn_with_stats(
    segments: &[KnnSegment<'_>],
    query: &Query,
    k: usize,
    how: impl Into<Method>,
) -> Result<(Vec<Neighbor>, ScanStats)> {
    let how = how.into();
    let segments = Segments::new(segments, std::slice::from_ref(query))?;
    let rescored = rescores(&segments, query.metric(), k, how.scan);
    let mut stats = ScanStats {
        rescored,
        rows: segments.rows,
        ..ScanStats::default()
    };
    let list = if rescored {
        let queries = std::slice::from_ref(query);
        let mut found = rescoring::scan(&segments, queries, k, &how.effort)?;
        let (list, scanned) = found.pop().unwrap_or_default();
        (stats.estimated, stats.scored) = (scanned.estimated, scanned.rescored);
        list
    } else {
        stats.scored = segments.rows;
        exact::scan(&segments, query, k)?
    };
    Ok((list, stats))
}

/// As [`knn`] for each query.
///
/// An exact scan reads each row once for sixteen queries: 0.4 ms a query instead of 2.4 on 114 641
/// rows. A rescored scan compares centroids with sixteen queries at once and shares nothing else, since
/// each query has its own tables: it takes about as long as separate calls.
///
/// # Errors
/// As [`knn`].
pub fn knn_batch(
    segments: &[KnnSegment<'_>],
    queries: &[Query],
    k: usize,
    how: impl Into<Method>,
) -> Result<Vec<Vec<Neighbor>>> {
    let how = how.into();
    let segments = Segments::new(segments, queries)?;
    let mut lists = Vec::with_capacity(queries.len());
    let metric = queries.first().map_or(Metric::Cosine, Query::metric);
    let rescored = rescores(&segments, metric, k, how.scan);
    // Lanes of the kernels.
    for some in queries.chunks(LANES) {
        match some {
            some if rescored => {
                let found = rescoring::scan(&segments, some, k, &how.effort)?;
                lists.extend(found.into_iter().map(|(list, _)| list));
            }
            [query] => lists.push(exact::scan(&segments, query, k)?),
            some => lists.extend(exact::scan_batch(&segments, some, k)?),
        }
    }
    Ok(lists)
}

fn rescores(segments: &Segments<'_>, metric: Metric, k: usize, how: Scan) -> bool {
    match how {
        Scan::Exact => false,
        Scan::Rescored => segments.can_rescore(),
        Scan::Auto => {
            metric == Metric::Cosine
                && segments.can_rescore()
                && uses_rescoring(segments.rows, k)
                && !(segments.has_lists() && is_selective(segments))
        }
    }
}
