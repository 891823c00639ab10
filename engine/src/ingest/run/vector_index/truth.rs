//! What vectors that are not quantised say is near: made again from the text of the chunks that are near
//! by the stored ones.

use std::collections::BTreeMap;

use kb_types::DocumentId;
use kb_types::error::Result;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::index::vector::Neighbor;
use crate::ingest::run::vector_index::embedded::each_embedded;

/// Recall is measured at this many nearest chunks: recall@10.
pub(super) const NEAREST: usize = 10;

/// Scores of rows that are as good as equal: the same text has the same vector.
const EQUAL: f32 = 1e-6;

/// Scores by unquantised vectors, of the rows that are near by quantised ones.
pub(super) struct Truth {
    of_queries: Vec<OfQuery>,
}

/// What one query is near to.
struct OfQuery {
    /// Scores by segment and row.
    scores: BTreeMap<(usize, u32), f32>,
    /// The least score of the nearest, less [`EQUAL`].
    least: f32,
    /// How many are the nearest.
    count: usize,
}

impl Truth {
    /// Embeds the chunks that `near` names, some for each of the query vectors.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(super) fn of(
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        model: &dyn Embedder,
        bound: &[BoundSegment<'_>],
        queries: &[&[f32]],
        near: &[Vec<Neighbor>],
    ) -> Result<Truth> {
        let mut wanted: BTreeMap<(DocumentId, u32), usize> = BTreeMap::new();
        for neighbor in near.iter().flatten() {
            if let Some(bound) = bound.get(neighbor.segment) {
                let document = bound.chunks().document(neighbor.row)?;
                wanted.insert((document, neighbor.row), neighbor.segment);
            }
        }
        let wanted: Vec<((DocumentId, u32), usize)> = wanted.into_iter().collect();
        let mut vectors: BTreeMap<(usize, u32), Vec<f32>> = BTreeMap::new();
        for of_document in wanted.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
            // A document is in one segment.
            let Some(((id, _), segment)) = of_document.first() else {
                continue;
            };
            let first_row = catalog.documents.get(snapshot, *id)?.first_row;
            let numbers = of_document
                .iter()
                .filter_map(|((_, row), _)| row.checked_sub(first_row));
            each_embedded(snapshot, catalog, *id, numbers, |number, text| {
                let mut vector = vec![0.0; model.dim()];
                model.embed_documents(&[text], &mut vector)?;
                vectors.insert((*segment, first_row + number), vector);
                Ok(())
            })?;
        }
        let of_queries = queries.iter().zip(near).map(|(query, near)| {
            let score = |neighbor: &Neighbor| {
                let vector = vectors.get(&(neighbor.segment, neighbor.row))?;
                let products = vector.iter().zip(*query).map(|(a, b)| a * b);
                Some(((neighbor.segment, neighbor.row), products.sum::<f32>()))
            };
            let scores: BTreeMap<(usize, u32), f32> = near.iter().filter_map(score).collect();
            let mut best: Vec<f32> = scores.values().copied().collect();
            best.sort_by(|a, b| b.total_cmp(a));
            best.truncate(NEAREST);
            let least = best.last().map_or(f32::INFINITY, |least| least - EQUAL);
            OfQuery {
                scores,
                least,
                count: best.len(),
            }
        });
        Ok(Truth {
            of_queries: of_queries.collect(),
        })
    }

    /// The share of the nearest by unquantised vectors among the first [`NEAREST`] of each list; a row
    /// that is as near as the last of them is as good. 1 when there is none to find.
    pub(super) fn recall(&self, lists: &[Vec<Neighbor>]) -> f32 {
        let (mut wanted, mut found) = (0, 0);
        for (of_query, list) in self.of_queries.iter().zip(lists) {
            let OfQuery {
                scores,
                least,
                count,
            } = of_query;
            let first = list.iter().take(NEAREST);
            let score = |near: &Neighbor| scores.get(&(near.segment, near.row));
            let reach = first.filter(|near| score(near).is_some_and(|score| score >= least));
            wanted += count;
            found += reach.count().min(*count);
        }
        match wanted {
            0 => 1.0,
            _ => found as f32 / wanted as f32,
        }
    }
}
