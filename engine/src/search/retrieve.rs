//! Plan -> candidates: the best of each index, every one with both parts.

use std::collections::BTreeSet;

use crate::container::Snapshot;
use crate::error::Result;
use crate::search::catalog::{BoundSegment, Catalog};
use crate::search::fuse::{Scored, fused};
use crate::search::order;
use crate::search::plan::Plan;
use crate::types::ChunkId;

/// The candidates of one request.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The union of both lists with both parts computed, in no particular order.
    pub list: Vec<Scored>,
    /// How many came from the keyword index.
    pub from_keyword: usize,
    /// How many came from the vector index.
    pub from_vector: usize,
}

/// Asks both indexes and completes the parts: a part is never taken as 0 because a chunk was missing
/// from the other list.
pub fn retrieve(
    plan: &Plan<'_>,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    bound: &[BoundSegment<'_>],
) -> Result<Candidates> {
    let place = |chunk| order::place(snapshot, catalog, bound, chunk);
    let by_keyword = order::best(
        keyword_lists(plan, bound)?,
        plan.candidates,
        |(score, _)| order::score_key(*score),
        |(_, chunk)| *chunk,
        place,
    )?;
    let by_vector = order::best(
        vector_lists(plan, bound)?,
        plan.candidates,
        |(product, _)| i64::from(*product),
        |(_, chunk)| *chunk,
        place,
    )?;
    let chunks = by_keyword.iter().map(|(_, chunk)| *chunk);
    let union: BTreeSet<ChunkId> = chunks
        .chain(by_vector.iter().map(|(_, chunk)| *chunk))
        .collect();
    let mut list = Vec::with_capacity(union.len());
    for (position, segment) in bound.iter().enumerate() {
        let id = segment.segment.id;
        let rows: Vec<u32> = union
            .iter()
            .filter(|chunk| chunk.segment == id)
            .map(|chunk| chunk.row)
            .collect();
        complete(plan, position, segment, &rows, &mut list)?;
    }
    Ok(Candidates {
        list,
        from_keyword: by_keyword.len(),
        from_vector: by_vector.len(),
    })
}

/// The best rows of every segment by words. What a segment found raises the floor for the next.
fn keyword_lists(plan: &Plan<'_>, bound: &[BoundSegment<'_>]) -> Result<Vec<(f32, ChunkId)>> {
    let mut found: Vec<(f32, ChunkId)> = Vec::new();
    let Some(words) = &plan.words else {
        return Ok(found);
    };
    let mut floor = 0.0;
    for (position, segment) in bound.iter().enumerate() {
        let top = words.top_k(position, plan.candidates, plan.filter(position), floor)?;
        if let Some(last) = top.get(plan.candidates - 1) {
            floor = last.score.max(floor);
        }
        let id = segment.segment.id;
        found.extend(top.into_iter().map(|hit| {
            (
                hit.score,
                ChunkId {
                    segment: id,
                    row: hit.row,
                },
            )
        }));
    }
    Ok(found)
}

/// The nearest rows of every segment.
fn vector_lists(plan: &Plan<'_>, bound: &[BoundSegment<'_>]) -> Result<Vec<(i32, ChunkId)>> {
    let mut found = Vec::new();
    let Some(query) = &plan.vector else {
        return Ok(found);
    };
    for (position, segment) in bound.iter().enumerate() {
        let top = segment
            .vectors()?
            .top_k(query, plan.candidates, plan.filter(position))?;
        let id = segment.segment.id;
        found.extend(
            top.into_iter()
                .map(|(product, row)| (product, ChunkId { segment: id, row })),
        );
    }
    Ok(found)
}

/// Both parts of ascending `rows` of a segment.
fn complete(
    plan: &Plan<'_>,
    position: usize,
    segment: &BoundSegment<'_>,
    rows: &[u32],
    list: &mut Vec<Scored>,
) -> Result<()> {
    let keywords = match &plan.words {
        Some(words) => {
            let most = words.idf_sum();
            let scores = words.score_rows(position, rows)?;
            let share = |score: f32| {
                if most > 0.0 {
                    (score / most).min(1.0)
                } else {
                    0.0
                }
            };
            scores.into_iter().map(share).collect()
        }
        None => vec![0.0; rows.len()],
    };
    let vectors = segment.vectors()?;
    for (row, keyword) in rows.iter().zip(keywords) {
        let vector = match &plan.vector {
            Some(query) => query.score(vectors.product(query, *row)?),
            None => 0.0,
        };
        let chunk = ChunkId {
            segment: segment.segment.id,
            row: *row,
        };
        let score = fused(keyword, vector, plan.vector_weight);
        list.push(Scored {
            chunk,
            keyword,
            vector,
            score,
        });
    }
    Ok(())
}
