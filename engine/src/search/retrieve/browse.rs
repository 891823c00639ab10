//! Lists documents: by title, or those that pass the operators of a query without words.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::search::calibration::Calibration;
use crate::search::filter::rows::DOCUMENTS_PER_TICK;
use crate::search::options::Sort;
use crate::search::plan::Plan;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::rank::passages::{Passage, SeenDocuments};
use crate::search::rank::scored::Scored;
use crate::search::request::Request;
use crate::search::retrieve::{order, title};
use crate::search::sources::{ChunkAddress, Sources};

/// The first `wanted` documents in the order of the request; [`Sort::Score`] is the best title first, or
/// the order of paths without titles. Each document has its first chunk that passes. With phrases, texts
/// are read until enough documents are verified. Also, how many there are behind these, where that is known.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn passages(
    plan: &Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    wanted: usize,
) -> Result<(Vec<Passage>, u64)> {
    let mut found = if plan.is_browse {
        all(sources, filter)?
    } else {
        titled(plan, sources, filter)?
    };
    let calibration = calibration(plan);
    found.retain(|passage| calibration.score(passage.best.score) >= request.min_score);
    if plan.is_browse && request.sort != Sort::Path {
        // They have no other order for those of one time.
        order::sort(&mut found, &Sort::Path, sources)?;
    }
    order::sort(&mut found, &request.sort, sources)?;
    if filter.has_phrases() {
        // Another document of a group may be the first that is verified.
        let enough = if request.group_by.is_some() {
            usize::MAX
        } else {
            wanted
        };
        let mut found = verified(found, sources, filter, enough)?;
        order::group(&mut found, request, sources)?;
        return Ok((found, 0));
    }
    order::group(&mut found, request, sources)?;
    // With phrases it is not known: it would mean reading the texts of all documents.
    let behind = found.len().saturating_sub(wanted) as u64;
    found.truncate(wanted);
    Ok((found, behind))
}

/// All documents of [`passages`].
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn documents(
    plan: &Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
) -> Result<SeenDocuments> {
    let every = Request {
        sort: Sort::Score,
        group_by: None,
        ..request.clone()
    };
    let (found, _) = passages(plan, &every, sources, filter, usize::MAX)?;
    let of = |passage: Passage| {
        let file = sources.file_of(passage.best.address.segment);
        Some((file, passage.document?))
    };
    Ok(found.into_iter().filter_map(of).collect())
}

/// The scores of the documents.
pub(crate) fn calibration(plan: &Plan<'_>) -> Calibration {
    if plan.is_browse {
        Calibration::listed()
    } else {
        Calibration::titles()
    }
}

/// The first `wanted` of the documents that have a row in which all phrases hold.
fn verified(
    found: Vec<Passage>,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    wanted: usize,
) -> Result<Vec<Passage>> {
    let mut kept = Vec::new();
    for mut passage in found {
        if kept.len() >= wanted {
            break;
        }
        sources.tick()?;
        let segment = passage.best.address.segment;
        let Some(id) = passage.document else {
            continue;
        };
        let record = sources.document(sources.file_of(segment), id)?;
        let rows = record.first_row..record.first_row.saturating_add(record.rows);
        let may_pass: Vec<ChunkAddress> = match filter.rows(segment) {
            Some(passing) => {
                let rows = rows_within(passing, rows).map(|row| ChunkAddress { segment, row });
                rows.collect()
            }
            None => Vec::new(),
        };
        filter.verify(may_pass.iter().copied())?;
        let mut passing = may_pass
            .into_iter()
            .filter(|address| filter.is_verified(*address));
        let Some(first) = passing.next() else {
            continue;
        };
        if passage.matches > 1 {
            let others = u32::try_from(passing.count()).unwrap_or(u32::MAX);
            passage.matches = others.saturating_add(1);
        }
        passage.best.address = first;
        passage.rows = first.row..first.row.saturating_add(1);
        kept.push(passage);
    }
    Ok(kept)
}

/// The documents with a row that may match, in the order of the directory.
fn all(sources: &Sources<'_>, filter: &TwoPhaseFilter<'_>) -> Result<Vec<Passage>> {
    let mut found = Vec::new();
    for (file, source) in sources.files.iter().enumerate() {
        let first = sources.positions(file).start;
        let directory = source.catalog.directory(source.snapshot)?;
        for (number, document) in directory.iter().enumerate() {
            if number % DOCUMENTS_PER_TICK == 0 {
                source.reporter.tick()?;
            }
            let segment = first + document.segment();
            let Some(rows) = filter.rows(segment) else {
                continue;
            };
            let matches = rows.range_cardinality(document.rows());
            let Some(row) = first_row(rows, document.rows().start).filter(|_| matches > 0) else {
                continue;
            };
            let address = ChunkAddress { segment, row };
            found.push(Passage {
                best: scored(address, 0.0),
                rows: row..row.saturating_add(1),
                document: Some(document.id()),
                matches: u32::try_from(matches).unwrap_or(u32::MAX),
                symbol: None,
                more_in_document: 0,
                copied_in: Vec::new(),
                reranked: None,
            });
        }
    }
    Ok(found)
}

fn first_row(rows: &RoaringBitmap, from: u32) -> Option<u32> {
    rows_within(rows, from..u32::MAX).next()
}

fn rows_within(rows: &RoaringBitmap, range: Range<u32>) -> impl Iterator<Item = u32> {
    let mut rows = rows.iter();
    rows.advance_to(range.start);
    rows.take_while(move |row| *row < range.end)
}

/// The documents whose names have every word of the query, best first; ties newest first, then by
/// handle, then in the order of files.
fn titled(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &TwoPhaseFilter<'_>,
) -> Result<Vec<Passage>> {
    let mut found = Vec::new();
    for (file, source) in sources.files.iter().enumerate() {
        let positions = sources.positions(file);
        let first = positions.start;
        let rows = filter.rows_of(positions);
        for hit in title::find(source, &plan.text, rows)? {
            let passes = rows.and_then(|rows| rows.get(hit.segment));
            let row = passes.and_then(|rows| first_row(rows, hit.rows.start));
            let row = row.unwrap_or(hit.rows.start);
            let address = ChunkAddress {
                segment: first + hit.segment,
                row,
            };
            let passage = Passage {
                best: scored(address, hit.score),
                rows: row..row.saturating_add(1).min(hit.rows.end.max(row)),
                document: Some(hit.document),
                matches: 1,
                symbol: None,
                more_in_document: 0,
                copied_in: Vec::new(),
                reranked: None,
            };
            found.push((Reverse(hit.modified_ms), hit.handle, file, passage));
        }
    }
    // Over all files together: each was sorted by itself.
    found.sort_by(|a, b| {
        let by_score = b.3.best.score.total_cmp(&a.3.best.score);
        by_score.then_with(|| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)))
    });
    Ok(found
        .into_iter()
        .map(|(_, _, _, passage)| passage)
        .collect())
}

fn scored(address: ChunkAddress, score: f32) -> Scored {
    Scored::new(address, 0.0, 0.0, score)
}
