//! Documents found by what is known of them: by title, or by the signs of a query without words.

use std::cmp::Reverse;

use roaring::RoaringBitmap;

use crate::error::Result;
use crate::search::files::{At, Files};
use crate::search::fuse::Scored;
use crate::search::passages::{self, Passage};
use crate::search::plan::Plan;
use crate::search::request::{Request, Sort};
use crate::search::title;

/// All documents of the answer, in the order asked for: of titles the best first, of a mere list by
/// path. Each is shown by its first chunk that passes.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub fn passages(plan: &Plan<'_>, request: &Request, files: &Files<'_>) -> Result<Vec<Passage>> {
    if plan.parsed.is_list() {
        let mut found = all(plan, files)?;
        found.retain(|_| request.min_score <= 0.0);
        let sort = match request.sort {
            Sort::Score => Sort::Path,
            sort => sort,
        };
        passages::sort(&mut found, sort, files)?;
        return Ok(found);
    }
    let mut found = titled(plan, files)?;
    found.retain(|passage| passage.best.score >= request.min_score);
    passages::sort(&mut found, request.sort, files)?;
    Ok(found)
}

/// The documents with a row that passes.
fn all(plan: &Plan<'_>, files: &Files<'_>) -> Result<Vec<Passage>> {
    let mut found = Vec::new();
    for (file, part) in files.parts.iter().enumerate() {
        let first = files.positions(file).start;
        for document in part.catalog.directory(part.snapshot)?.iter() {
            let segment = first + document.segment();
            let Some(rows) = plan.filter(segment) else {
                continue;
            };
            let matches = rows.range_cardinality(document.rows());
            let Some(row) = first_row(rows, document.rows().start).filter(|_| matches > 0) else {
                continue;
            };
            let at = At { segment, row };
            found.push(Passage {
                best: scored(at, 0.0),
                rows: row..row.saturating_add(1),
                document: Some(document.id()),
                matches: u32::try_from(matches).unwrap_or(u32::MAX),
            });
        }
    }
    Ok(found)
}

fn first_row(rows: &RoaringBitmap, from: u32) -> Option<u32> {
    let mut rows = rows.iter();
    rows.advance_to(from);
    rows.next()
}

/// The documents whose names have every word of the query, best first; equal ones newest first, then
/// by handle, then in the order of files.
fn titled(plan: &Plan<'_>, files: &Files<'_>) -> Result<Vec<Passage>> {
    let mut found = Vec::new();
    for (file, part) in files.parts.iter().enumerate() {
        let positions = files.positions(file);
        let first = positions.start;
        let rows = plan.rows.as_ref().and_then(|rows| rows.get(positions));
        for hit in title::find(part.snapshot, part.catalog, &plan.parsed.plain, rows)? {
            let passes = rows.and_then(|rows| rows.get(hit.segment));
            let row = passes.and_then(|rows| first_row(rows, hit.rows.start));
            let row = row.unwrap_or(hit.rows.start);
            let at = At {
                segment: first + hit.segment,
                row,
            };
            let passage = Passage {
                best: scored(at, hit.score),
                rows: row..row.saturating_add(1).min(hit.rows.end.max(row)),
                document: Some(hit.document),
                matches: 1,
            };
            found.push((Reverse(hit.modified_ms), hit.handle, file, passage));
        }
    }
    found.sort_by(|a, b| {
        let by_score = b.3.best.score.total_cmp(&a.3.best.score);
        by_score.then_with(|| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)))
    });
    Ok(found
        .into_iter()
        .map(|(_, _, _, passage)| passage)
        .collect())
}

fn scored(at: At, score: f32) -> Scored {
    Scored {
        at,
        keyword: 0.0,
        vector: 0.0,
        score,
    }
}
