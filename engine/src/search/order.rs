//! The one order of candidates and hits: best score first, then document path, then start byte.

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::error::{Error, Result};
use crate::types::ChunkId;

/// Where a chunk stands: path of its document, first byte.
pub type Place = (String, u32);

/// Sorts by descending `key`, then by place, and keeps the first `k`. Within a segment the order of
/// rows is the order of places, so `place_of` is asked only for equal keys in several segments.
///
/// # Errors
/// What `place_of` says.
pub fn best<T: Copy>(
    mut list: Vec<T>,
    k: usize,
    key: impl Fn(&T) -> i64,
    chunk: impl Fn(&T) -> ChunkId,
    mut place_of: impl FnMut(ChunkId) -> Result<Place>,
) -> Result<Vec<T>> {
    list.sort_unstable_by_key(|entry| (std::cmp::Reverse(key(entry)), chunk(entry)));
    let mut start = 0;
    while start < list.len().min(k) {
        let rest = list.get(start..).unwrap_or_default();
        let Some(first) = rest.first().map(&key) else {
            break;
        };
        let tied = rest.iter().take_while(|entry| key(entry) == first).count();
        let group = list.get_mut(start..start + tied).unwrap_or_default();
        let mut segments = group.iter().map(|entry| chunk(entry).segment);
        let several = segments
            .next()
            .is_some_and(|first| segments.any(|other| other != first));
        if several {
            let mut placed = Vec::with_capacity(tied);
            for entry in group.iter() {
                placed.push((place_of(chunk(entry))?, *entry));
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

/// A score, at least 0, as a key that orders the same way.
pub fn score_key(score: f32) -> i64 {
    i64::from(score.max(0.0).to_bits())
}

/// The place of a chunk of this commit.
///
/// # Errors
/// [`Error::Damaged`] when its segment, row or document is missing.
pub fn place(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    bound: &[BoundSegment<'_>],
    chunk: ChunkId,
) -> Result<Place> {
    let segment = bound
        .iter()
        .find(|bound| bound.segment.id == chunk.segment)
        .ok_or_else(|| Error::damaged(format!("segment {} is not live", chunk.segment.0)))?;
    let row = segment.chunks().get(chunk.row)?;
    let document = catalog.documents.get(snapshot, row.document)?;
    Ok((document.path, row.at.span.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SegmentId;

    type Entry = (f32, u32, u32);

    fn order(list: Vec<Entry>, k: usize, place: fn(ChunkId) -> Result<Place>) -> Vec<(u32, u32)> {
        let chunk = |entry: &Entry| ChunkId {
            segment: SegmentId(entry.1),
            row: entry.2,
        };
        let best = best(list, k, |entry| score_key(entry.0), chunk, place).unwrap();
        best.into_iter()
            .map(|(_, segment, row)| (segment, row))
            .collect()
    }

    #[test]
    fn equal_scores_are_in_the_order_of_path_then_start_also_at_the_cut() {
        let place = |chunk: ChunkId| {
            Ok(match (chunk.segment.0, chunk.row) {
                (1, 0) => ("a".to_owned(), 0),
                (2, 0) => ("b".to_owned(), 0),
                _ => ("b".to_owned(), 8),
            })
        };
        let mut list = vec![(0.5, 2, 0), (0.5, 1, 1), (0.5, 1, 0), (0.7, 2, 9)];
        for _ in 0..2 {
            assert_eq!(order(list.clone(), 3, place), [(2, 9), (1, 0), (2, 0)]);
            list.reverse();
        }
    }

    #[test]
    fn places_are_asked_only_between_segments() {
        let list = vec![(0.5, 1, 3), (0.5, 1, 1), (0.4, 2, 0)];
        let rows = order(list, 10, |_| panic!("no tie between segments"));
        assert_eq!(rows, [(1, 1), (1, 3), (2, 0)]);
    }
}
