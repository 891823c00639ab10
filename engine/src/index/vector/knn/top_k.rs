//! The `k` rows of the largest products.

/// A row and its integer product with the query.
pub type ScoredRow = (i32, u32);

/// Keeps the `k` rows of the largest products; of equal products the lower row.
///
/// Rows must be offered in ascending order: then a row that ties with the worst kept one is never
/// kept, and the threshold alone decides ties.
#[derive(Debug)]
pub struct TopK {
    /// The number of rows to keep.
    k: usize,
    /// At most `2 * k` rows that passed the threshold when they were offered.
    kept: Vec<ScoredRow>,
    /// Products up to this are not kept.
    threshold: i32,
}

impl TopK {
    /// Keeps products above `floor` only.
    pub fn new(k: usize, floor: i32) -> TopK {
        TopK {
            k,
            kept: Vec::with_capacity(2 * k.min(1 << 16)),
            threshold: floor,
        }
    }

    /// The product that the next row must exceed.
    pub fn threshold(&self) -> i32 {
        self.threshold
    }

    /// Offers the next row.
    pub fn offer(&mut self, product: i32, row: u32) {
        if product <= self.threshold || self.k == 0 {
            return;
        }
        self.kept.push((product, row));
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
            products in proptest::collection::vec(-20i32..20, 0..400),
            k in 0usize..50,
            floor in -5i32..5,
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
