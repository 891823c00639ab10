//! The `k` rows of the largest keys.

/// A row and its key: the integer product with the query, or what the metric makes of it.
pub type ScoredRow = (i64, u32);

/// Keeps the `k` rows of the largest keys; of equal keys the lower row.
///
/// Rows must be offered in ascending order: then a row that ties with the worst kept one is never
/// kept, and the threshold alone decides ties.
#[derive(Debug)]
pub struct TopK {
    /// The number of rows to keep.
    k: usize,
    /// At most `2 * k` rows that passed the threshold when they were offered.
    kept: Vec<ScoredRow>,
    /// Keys up to this are not kept.
    threshold: i64,
}

impl TopK {
    /// Keeps keys above `floor` only.
    pub fn new(k: usize, floor: i64) -> TopK {
        TopK {
            k,
            // Bounded, because `k` comes from the caller.
            kept: Vec::with_capacity(2 * k.min(1 << 16)),
            threshold: floor,
        }
    }

    /// The key that the next row must exceed.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Offers the next row.
    pub fn offer(&mut self, key: impl Into<i64>, row: u32) {
        let key = key.into();
        if key <= self.threshold || self.k == 0 {
            return;
        }
        self.kept.push((key, row));
        // Selecting the best half of 2 k rows costs O(k) for each k rows: constant time a row,
        // where a heap takes log k.
        if self.kept.len() >= 2 * self.k {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.kept.len() < self.k {
            return;
        }
        let (_, worst, _) = self.kept.select_nth_unstable_by(self.k - 1, best_first);
        self.threshold = worst.0;
        self.kept.truncate(self.k);
    }

    /// The kept rows, best first.
    pub fn finish(mut self) -> Vec<ScoredRow> {
        self.kept.sort_unstable_by(best_first);
        self.kept.truncate(self.k);
        self.kept
    }
}

fn best_first(a: &ScoredRow, b: &ScoredRow) -> std::cmp::Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            products in proptest::collection::vec(-20i64..20, 0..400),
            k in 0usize..50,
            floor in -5i64..5,
        ) {
            let mut top = TopK::new(k, floor);
            for (row, product) in products.iter().enumerate() {
                top.offer(*product, row as u32);
            }
            let mut all: Vec<ScoredRow> =
                products.iter().enumerate().map(|(row, p)| (*p, row as u32)).collect();
            all.retain(|(product, _)| *product > floor);
            all.sort_by(best_first);
            all.truncate(k);
            prop_assert_eq!(top.finish(), all);
        }
    }
}
