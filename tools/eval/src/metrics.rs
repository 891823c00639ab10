//! nDCG and recall with linear gain, as trec_eval and BEIR count them.

use std::collections::{HashMap, HashSet};

/// What is right for one question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judgements {
    /// Gain of each right row; rows that are not named gain nothing.
    gains: HashMap<u32, f64>,
    /// Gains of all judged rows, best first, also of rows that the collection does not hold.
    ideal: Vec<f64>,
}

impl Judgements {
    /// Adds one judgement; `row` is `None` when the collection does not hold what was judged.
    pub(crate) fn add(&mut self, row: Option<u32>, gain: f64) {
        if gain <= 0.0 {
            return;
        }
        let place = self.ideal.partition_point(|other| *other >= gain);
        self.ideal.insert(place, gain);
        if let Some(row) = row {
            self.gains.insert(row, gain);
        }
    }

    /// Whether the collection holds anything that is right.
    pub(crate) fn answerable(&self) -> bool {
        !self.gains.is_empty()
    }

    /// Whether the row is right.
    pub(crate) fn is_right(&self, row: u32) -> bool {
        self.gains.contains_key(&row)
    }

    /// The gain of a row; 0 of one that is not right.
    pub(crate) fn gain(&self, row: u32) -> f64 {
        self.gains.get(&row).copied().unwrap_or(0.0)
    }

    /// The discounted gain of the best possible first `k` rows.
    pub(crate) fn ideal(&self, k: usize) -> f64 {
        discounted(self.ideal.iter().copied(), k)
    }

    /// Normalised discounted cumulative gain of the first `k` rows, 0..1.
    pub(crate) fn ndcg(&self, ranked: &[u32], k: usize) -> f64 {
        let found = ranked.iter().map(|row| self.gain(*row));
        let best = self.ideal(k);
        if best == 0.0 {
            0.0
        } else {
            discounted(found, k) / best
        }
    }

    /// One divided by the place of the first right row among the first `k`, 0..1; 0 without one.
    pub(crate) fn reciprocal_rank(&self, ranked: &[u32], k: usize) -> f64 {
        let first = ranked.iter().take(k).position(|row| self.is_right(*row));
        first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
    }

    /// The same judgements where every row stands `by` further down.
    pub(crate) fn shifted(&self, by: u32) -> Judgements {
        let gains = self.gains.iter();
        Judgements {
            gains: gains.map(|(row, gain)| (row + by, *gain)).collect(),
            ideal: self.ideal.clone(),
        }
    }

    /// Share of all right rows that stand among the first `k`, 0..1.
    pub(crate) fn recall(&self, ranked: &[u32], k: usize) -> f64 {
        if self.ideal.is_empty() {
            return 0.0;
        }
        let found = ranked
            .iter()
            .take(k)
            .filter(|row| self.gains.contains_key(row))
            .count();
        found as f64 / self.ideal.len() as f64
    }
}

fn discounted(gains: impl Iterator<Item = f64>, k: usize) -> f64 {
    gains
        .take(k)
        .enumerate()
        .map(|(place, gain)| gain / (place as f64 + 2.0).log2())
        .sum()
}

/// The first mention of each row, in order: a document stands where its best chunk stands.
pub(crate) fn first_mentions(rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut seen = HashSet::new();
    rows.filter(|row| seen.insert(*row)).collect()
}

/// Arithmetic mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(gains: &[(u32, f64)]) -> Judgements {
        let mut judgements = Judgements::default();
        for (row, gain) in gains {
            judgements.add(Some(*row), *gain);
        }
        judgements
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn ndcg_agrees_with_a_calculation_by_hand() {
        // Gains 3, 2, 0, 1 found in the order 2, 0, 3, 1:
        // DCG = 2/1 + 0 + 3/2 + 1/log2(5), ideal = 3/1 + 2/log2(3) + 1/2.
        let judgements = judged(&[(7, 3.0), (8, 2.0), (9, 1.0)]);
        let found = 2.0 + 1.5 + 1.0 / 5f64.log2();
        let ideal = 3.0 + 2.0 / 3f64.log2() + 0.5;
        assert!(close(judgements.ndcg(&[8, 1, 7, 9], 10), found / ideal));
        assert!(close(judgements.ndcg(&[8, 1, 7, 9], 10), 0.825_449_921_859));
    }

    #[test]
    fn the_reciprocal_rank_is_that_of_the_first_right_row() {
        let judgements = judged(&[(5, 1.0), (6, 1.0)]);
        assert!(close(
            judgements.reciprocal_rank(&[1, 2, 6, 5], 10),
            1.0 / 3.0
        ));
        assert!(close(judgements.reciprocal_rank(&[1, 2, 6, 5], 2), 0.0));
    }

    #[test]
    fn shifted_judgements_gain_the_same_further_down() {
        let judgements = judged(&[(7, 3.0), (8, 2.0)]);
        let shifted = judgements.shifted(100);
        assert!(close(
            shifted.ndcg(&[108, 1, 107], 10),
            judgements.ndcg(&[8, 1, 7], 10)
        ));
        assert!(close(shifted.ndcg(&[8, 7], 10), 0.0));
    }

    #[test]
    fn a_right_row_below_the_cut_gains_nothing() {
        let judgements = judged(&[(5, 1.0)]);
        assert!(close(judgements.ndcg(&[1, 2, 5], 2), 0.0));
        assert!(close(judgements.ndcg(&[1, 2, 5], 3), 0.5));
    }

    #[test]
    fn the_ideal_counts_no_more_rows_than_the_cut() {
        let judgements = judged(&[(1, 1.0), (2, 1.0), (3, 1.0)]);
        assert!(close(judgements.ndcg(&[1, 2], 2), 1.0));
    }

    #[test]
    fn a_missing_judged_row_lowers_the_ideal_score() {
        let mut judgements = judged(&[(1, 1.0)]);
        judgements.add(None, 1.0);
        assert!(close(
            judgements.ndcg(&[1], 10),
            1.0 / (1.0 + 1.0 / 3f64.log2())
        ));
        assert!(close(judgements.recall(&[1], 10), 0.5));
    }

    #[test]
    fn recall_is_the_share_of_right_rows_above_the_cut() {
        let judgements = judged(&[(1, 1.0), (2, 3.0), (3, 1.0), (4, 1.0)]);
        assert!(close(judgements.recall(&[9, 2, 1, 3], 3), 0.5));
    }

    #[test]
    fn a_gain_of_zero_is_no_right_answer() {
        let judgements = judged(&[(1, 0.0)]);
        assert!(close(judgements.ndcg(&[1], 10), 0.0));
        assert!(close(judgements.recall(&[1], 10), 0.0));
    }

    #[test]
    fn a_document_stands_where_its_best_chunk_stands() {
        assert_eq!(first_mentions([4, 2, 4, 4, 1, 2].into_iter()), [4, 2, 1]);
    }
}
