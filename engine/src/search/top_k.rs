//! The one order of candidates and hits: best score first, then document path, then start byte, then
//! file.

use kb_types::error::Result;

use crate::search::sources::ChunkAddress;

/// Sorts by descending `score`, then by tie-break key, and keeps the first `k`. Within a segment rows are
/// in the order of their keys, so `tie_break_key`, which reads records, is called only for equal scores
/// in different segments.
///
/// # Errors
/// Those of `tie_break_key`.
pub(crate) fn top_k<T: Copy, P: Ord>(
    mut list: Vec<T>,
    k: usize,
    score: impl Fn(&T) -> f32,
    address: impl Fn(&T) -> ChunkAddress,
    mut tie_break_key: impl FnMut(ChunkAddress) -> Result<P>,
) -> Result<Vec<T>> {
    let key = |entry: &T| score_key(score(entry));
    list.sort_unstable_by_key(|entry| (std::cmp::Reverse(key(entry)), address(entry)));
    let mut start = 0;
    while start < list.len().min(k) {
        let rest = list.get(start..).unwrap_or_default();
        let Some(first) = rest.first().map(&key) else {
            break;
        };
        let tied = rest.iter().take_while(|entry| key(entry) == first).count();
        let group = list.get_mut(start..start + tied).unwrap_or_default();
        let mut segments = group.iter().map(|entry| address(entry).segment);
        let several = segments
            .next()
            .is_some_and(|first| segments.any(|other| other != first));
        if several {
            let mut placed = Vec::with_capacity(tied);
            for entry in group.iter() {
                placed.push((tie_break_key(address(entry))?, *entry));
            }
            placed.sort_by(|a, b| a.0.cmp(&b.0));
            for (slot, (_, entry)) in group.iter_mut().zip(placed) {
                *slot = entry;
            }
        }
        start += tied;
    }
    list.truncate(k);
    Ok(list)
}

/// An integer in the order of the scores; scores below 0 count as 0.
fn score_key(score: f32) -> u32 {
    score.max(0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entry = (f32, usize, u32);
    type Key = (&'static str, u32);

    fn order(
        list: Vec<Entry>,
        k: usize,
        key: fn(ChunkAddress) -> Result<Key>,
    ) -> Vec<(usize, u32)> {
        let address = |entry: &Entry| ChunkAddress {
            segment: entry.1,
            row: entry.2,
        };
        let best = top_k(list, k, |entry| entry.0, address, key).unwrap();
        best.into_iter()
            .map(|(_, segment, row)| (segment, row))
            .collect()
    }

    #[test]
    fn equal_scores_are_in_the_order_of_path_then_start() {
        let key = |address: ChunkAddress| {
            Ok(match (address.segment, address.row) {
                (1, 0) => ("a", 0),
                (2, 0) => ("b", 0),
                _ => ("b", 8),
            })
        };
        let mut list = vec![(0.5, 2, 0), (0.5, 1, 1), (0.5, 1, 0), (0.7, 2, 9)];
        for _ in 0..2 {
            assert_eq!(order(list.clone(), 3, key), [(2, 9), (1, 0), (2, 0)]);
            list.reverse();
        }
    }

    #[test]
    fn tie_break_keys_are_read_only_between_segments() {
        let list = vec![(0.5, 1, 3), (0.5, 1, 1), (0.4, 2, 0)];
        let rows = order(list, 10, |_| panic!("no tie between segments"));
        assert_eq!(rows, [(1, 1), (1, 3), (2, 0)]);
    }
}
