//! Plan -> candidates: the best of each index, every one with both parts.

use std::collections::BTreeSet;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::error::Result;
use crate::index::text::Query as WordQuery;
use crate::index::vector::quantise::Query as VectorQuery;
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
    let (from_keyword, from_vector) = (by_keyword.len(), by_vector.len());
    let list = match (&plan.words, &plan.vector) {
        (Some(words), Some(_)) => both_parts(plan, words, &by_keyword, &by_vector, bound)?,
        (Some(words), None) => scored_by_keyword(words, &by_keyword, plan.vector_weight),
        (None, Some(query)) => scored_by_vector(query, &by_vector, plan.vector_weight),
        (None, None) => Vec::new(),
    };
    Ok(Candidates {
        list,
        from_keyword,
        from_vector,
    })
}

/// The union of both lists, both parts computed for every chunk.
fn both_parts(
    plan: &Plan<'_>,
    words: &WordQuery<'_>,
    by_keyword: &[(f32, ChunkId)],
    by_vector: &[(i32, ChunkId)],
    bound: &[BoundSegment<'_>],
) -> Result<Vec<Scored>> {
    let chunks = by_keyword.iter().map(|(_, chunk)| *chunk);
    let union: BTreeSet<ChunkId> = chunks
        .chain(by_vector.iter().map(|(_, chunk)| *chunk))
        .collect();
    let mut list = Vec::with_capacity(union.len());
    for (position, segment) in bound.iter().enumerate() {
        let id = segment.segment.id;
        let of_segment = union.iter().filter(|chunk| chunk.segment == id);
        let rows: Vec<u32> = of_segment.map(|chunk| chunk.row).collect();
        let keywords = words.score_rows(position, &rows)?;
        let vectors = segment.vectors()?;
        for (row, keyword) in rows.into_iter().zip(keywords) {
            let vector = match &plan.vector {
                Some(query) => query.score(vectors.product(query, row)?),
                None => 0.0,
            };
            let keyword = share(keyword, words);
            let score = fused(keyword, vector, plan.vector_weight);
            list.push(Scored {
                chunk: ChunkId { segment: id, row },
                keyword,
                vector,
                score,
            });
        }
    }
    Ok(list)
}

/// The keyword part: BM25 over the most that the query could reach.
fn share(score: f32, words: &WordQuery<'_>) -> f32 {
    let most = words.idf_sum();
    if most > 0.0 {
        (score / most).min(1.0)
    } else {
        0.0
    }
}

fn scored_by_keyword(words: &WordQuery<'_>, list: &[(f32, ChunkId)], weight: f32) -> Vec<Scored> {
    let scored = list.iter().map(|(score, chunk)| {
        let keyword = share(*score, words);
        Scored {
            chunk: *chunk,
            keyword,
            vector: 0.0,
            score: fused(keyword, 0.0, weight),
        }
    });
    scored.collect()
}

fn scored_by_vector(query: &VectorQuery, list: &[(i32, ChunkId)], weight: f32) -> Vec<Scored> {
    let scored = list.iter().map(|(product, chunk)| {
        let vector = query.score(*product);
        Scored {
            chunk: *chunk,
            keyword: 0.0,
            vector,
            score: fused(0.0, vector, weight),
        }
    });
    scored.collect()
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
        let top = segment.vectors()?.top_k(
            query,
            plan.candidates,
            plan.filter(position),
            segment.segment.deleted_rows(),
        )?;
        let id = segment.segment.id;
        found.extend(
            top.into_iter()
                .map(|(product, row)| (product, ChunkId { segment: id, row })),
        );
    }
    Ok(found)
}
