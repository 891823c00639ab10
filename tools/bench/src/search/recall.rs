//! How many of the true nearest an index finds.

use super::collection::Collection;
use crate::peers::{EQUAL, K};

/// Exact scores: for each filter, the first one being none, the score of the last true neighbour
/// of each query.
pub(crate) struct Truth<'c> {
    collection: &'c Collection,
    /// By filter, then query; `None`: the query has no vector, or nothing may answer.
    floors: Vec<Vec<Option<Floor>>>,
}

#[derive(Debug, Clone, Copy)]
struct Floor {
    /// The least score of a true neighbour.
    score: f32,
    /// How many there are: ten, or fewer when fewer may answer.
    neighbours: usize,
}

impl<'c> Truth<'c> {
    /// Compares every query with every chunk.
    pub(crate) fn of(collection: &'c Collection) -> Truth<'c> {
        let filters = collection.allowed.len() + 1;
        let mut floors = vec![Vec::new(); filters];
        for query in 0..collection.queries {
            let scores: Vec<f32> = (0..collection.places.len())
                .map(|row| score(collection, query, row))
                .collect();
            for (filter, floors) in floors.iter_mut().enumerate() {
                floors.push(floor(&scores, |row| allows(collection, filter, row)));
            }
        }
        Truth { collection, floors }
    }

    /// The one of some rows whose vector is most like that of a row.
    pub(crate) fn most_alike(
        &self,
        row: usize,
        among: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        let vector = vector(self.collection, row);
        let likeness = |row: &usize| product(vector, self::vector(self.collection, *row));
        among.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
    }

    /// Mean share of the true ten among the rows found for each query. Rows whose score equals that of
    /// the tenth count too: equal texts are common, and any of them is right.
    pub(crate) fn recall(&self, filter: usize, found: &[Vec<usize>]) -> Option<f64> {
        let floors = self.floors.get(filter)?;
        let mut shares = Vec::new();
        for (query, (floor, rows)) in floors.iter().zip(found).enumerate() {
            let Some(floor) = floor else { continue };
            let mut distinct: Vec<usize> = rows.iter().copied().take(K).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let right = |row: &&usize| {
                **row < self.collection.places.len()
                    && allows(self.collection, filter, **row)
                    && score(self.collection, query, **row) >= floor.score - EQUAL
            };
            let hits = distinct.iter().filter(right).count();
            shares.push(hits.min(floor.neighbours) as f64 / floor.neighbours as f64);
        }
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}

fn allows(collection: &Collection, filter: usize, row: usize) -> bool {
    let Some(facet) = filter.checked_sub(1) else {
        return true;
    };
    collection.allowed[facet][row]
}

fn score(collection: &Collection, query: usize, row: usize) -> f32 {
    let dim = collection.dim;
    let asked = &collection.query_vectors[query * dim..][..dim];
    product(asked, vector(collection, row))
}

fn vector(collection: &Collection, row: usize) -> &[f32] {
    &collection.vectors[row * collection.dim..][..collection.dim]
}

fn product(one: &[f32], other: &[f32]) -> f32 {
    // Eight sums, so that the compiler may use vector registers.
    let mut sums = [0.0f32; 8];
    for (a, b) in one.chunks(8).zip(other.chunks(8)) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    sums.iter().sum()
}

fn floor(scores: &[f32], allowed: impl Fn(usize) -> bool) -> Option<Floor> {
    let mut best: Vec<f32> = scores
        .iter()
        .enumerate()
        .filter(|(row, score)| **score > 0.0 && allowed(*row))
        .map(|(_, score)| *score)
        .collect();
    let neighbours = best.len().min(K);
    let last = neighbours.checked_sub(1)?;
    let (_, score, _) = best.select_nth_unstable_by(last, |a, b| b.total_cmp(a));
    let score = *score;
    Some(Floor { score, neighbours })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection() -> Collection {
        // One dimension that counts: row r has the score 100 - r / 2, so each score comes twice.
        let rows = 40;
        let mut vectors = Vec::new();
        for row in 0..rows {
            vectors.extend([100.0 - (row / 2) as f32, 0.0, 0.0]);
        }
        Collection {
            folder: std::path::PathBuf::new(),
            places: vec![(String::new(), 0); rows],
            vectors,
            query_vectors: vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            dim: 3,
            queries: 2,
            facets: Vec::new(),
            allowed: vec![(0..rows).map(|row| row >= 37).collect()],
            text_bytes: 0,
        }
    }

    #[test]
    fn ties_count_and_queries_without_vectors_do_not() {
        let collection = collection();
        let truth = Truth::of(&collection);
        let ten: Vec<usize> = (0..10).collect();
        assert_eq!(truth.recall(0, &[ten.clone(), Vec::new()]), Some(1.0));
        let some = vec![0, 0, 1, 8, 9, 10, 11, 12];
        assert_eq!(truth.recall(0, &[some, ten]), Some(0.4));
        assert_eq!(
            truth.recall(1, &[vec![37, 38, 39, 1], Vec::new()]),
            Some(1.0)
        );
        assert_eq!(
            truth.recall(1, &[vec![37, 99], Vec::new()]),
            Some(1.0 / 3.0)
        );
        assert_eq!(truth.recall(2, &[]), None);
    }

    #[test]
    fn without_ties_only_the_true_ones_count() {
        let mut collection = collection();
        for (row, number) in collection.vectors.iter_mut().step_by(3).enumerate() {
            *number = 100.0 - row as f32;
        }
        let truth = Truth::of(&collection);
        let found: Vec<usize> = (5..15).collect();
        assert_eq!(truth.recall(0, &[found, Vec::new()]), Some(0.5));
    }
}
