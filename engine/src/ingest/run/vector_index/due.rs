//! When what was measured of a file no longer tells of it.

use crate::catalog::Catalog;
use crate::index::vector::{MIN_CANDIDATES, uses_rescoring};
use crate::store::effort::MeasuredRecord;

/// Recall is measured again when the file has more than this many times the chunks of the last measurement.
const STALE_FACTOR: u64 = 2;

/// Whether an index run measures recall: where another one is `wanted` than before, where the file is searched in
/// another way than when it was measured, and where half of it is new. All are rare: a run that only brings a file up to
/// date must not take seconds for it.
pub(in crate::ingest::run) fn is_due(catalog: &Catalog, wanted: Option<f32>) -> bool {
    let Some(record) = &catalog.effort else {
        return wanted.is_some_and(|wanted| wanted > 0.0) || catalog.has_lists();
    };
    let is_other = wanted.is_some_and(|wanted| record.wanted != wish(wanted));
    is_other
        || record
            .measured
            .as_ref()
            .is_none_or(|measured| !tells_of(measured, catalog))
}

/// The recall that is tried for from now on; none: as good as is cheap.
pub(super) fn wish(wanted: f32) -> Option<f32> {
    (wanted > 0.0).then_some(wanted)
}

fn tells_of(measured: &MeasuredRecord, catalog: &Catalog) -> bool {
    let chunks = catalog.meta.chunks;
    let is_rescored = |rows| uses_rescoring(rows, MIN_CANDIDATES);
    let known = catalog.live_rows_before(measured.next_segment);
    chunks <= known.saturating_mul(STALE_FACTOR)
        && is_rescored(measured.rows) == is_rescored(chunks)
        && measured.listed == catalog.has_lists()
}
