//! A sample of a sequence whose length is known only at its end.

/// Every n-th item of a sequence, n the smallest power of two for which there are not too many.
#[derive(Debug)]
pub(super) struct EvenSample<T> {
    limit: usize,
    step: usize,
    seen: usize,
    items: Vec<T>,
}

impl<T> EvenSample<T> {
    /// Keeps at most `limit` items, of a longer sequence at least half as many.
    pub(super) fn new(limit: usize) -> EvenSample<T> {
        EvenSample {
            limit,
            step: 1,
            seen: 0,
            items: Vec::new(),
        }
    }

    /// Shows the next item.
    pub(super) fn push(&mut self, item: T) {
        if self.seen.is_multiple_of(self.step) {
            if self.items.len() == self.limit {
                let mut number = 0;
                self.items.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.step *= 2;
            }
            if self.seen.is_multiple_of(self.step) {
                self.items.push(item);
            }
        }
        self.seen += 1;
    }

    /// Whether no item was left out.
    pub(super) fn is_complete(&self) -> bool {
        self.step == 1
    }

    /// What is kept, in order.
    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }
}

/// `count` of the items at equal distances, or all when there are fewer.
pub(super) fn evenly_spaced<T>(items: Vec<T>, count: usize) -> impl Iterator<Item = T> {
    let len = items.len();
    let chosen = move |at: usize| at * count / len.max(1) != (at + 1) * count / len.max(1);
    let items = items.into_iter().enumerate();
    items
        .filter(move |(at, _)| len <= count || chosen(*at))
        .map(|(_, item)| item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_keeps_every_nth_item() {
        let mut sample = EvenSample::new(8);
        for number in 0..100 {
            sample.push(number);
        }
        assert!(!sample.is_complete());
        assert_eq!(sample.into_items(), [0, 16, 32, 48, 64, 80, 96]);
        let items =
            |len: usize, count| evenly_spaced((0..len).collect(), count).collect::<Vec<_>>();
        assert_eq!(items(3, 5), [0, 1, 2]);
        assert_eq!(items(8, 4), [1, 3, 5, 7]);
        assert_eq!(items(0, 4), [0; 0]);
    }
}
