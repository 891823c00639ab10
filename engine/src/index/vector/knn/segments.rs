//! The segments of one search, and how their best rows become one list.

use std::cmp::Reverse;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use super::top_k::TopK;
use crate::index::vector::query::Query;
use crate::index::vector::reader::Reader;
use crate::index::vector::row_filter::RowFilter;

/// A segment to search, and which of its rows may answer.
#[derive(Debug, Clone, Copy)]
pub struct KnnSegment<'a> {
    /// Its vector index.
    pub reader: &'a Reader<'a>,
    /// The rows that may answer; `None`: all.
    pub filter: Option<&'a RoaringBitmap>,
    /// Rows that never answer.
    pub deleted: Option<&'a RoaringBitmap>,
}

/// A row near the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Its segment: an index into the searched segments.
    pub segment: usize,
    /// The row.
    pub row: u32,
    /// The score, 0..1; by cosine that itself, above 0.
    pub score: f32,
}

/// Segments with their filters expanded to bits.
pub(super) struct Segments<'s> {
    segments: &'s [KnnSegment<'s>],
    /// Which rows may answer, by segment.
    filters: Vec<RowFilter>,
    /// Rows that may answer, over all segments.
    pub(super) rows: u64,
    /// The codec of all segments.
    codec: u8,
}

/// A row of the result before it is ranked: key, segment, row.
pub(super) type Kept = (i64, usize, u32);

impl<'s> Segments<'s> {
    /// # Errors
    /// [`Error::Damaged`] when segments differ in codec, a query has another width than the rows,
    /// or a filter has rows beyond its segment.
    pub(super) fn new(segments: &'s [KnnSegment<'s>], queries: &[Query]) -> Result<Segments<'s>> {
        let codec = segments.first().map_or(0, |segment| segment.reader.codec());
        let mut filters = Vec::with_capacity(segments.len());
        for segment in segments {
            // Keys of two codecs are in different units and could not be compared.
            if segment.reader.codec() != codec {
                return Err(Error::damaged("segments of one file differ in codec"));
            }
            for query in queries {
                segment.reader.check_query(query)?;
            }
            let rows = segment.reader.rows();
            filters.push(RowFilter::new(rows, segment.filter, segment.deleted)?);
        }
        Ok(Segments {
            segments,
            rows: filters.iter().map(RowFilter::count).sum(),
            filters,
            codec,
        })
    }

    /// The number, reader and filter of each segment.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &'s Reader<'s>, &RowFilter)> {
        let segments = self.segments.iter().zip(&self.filters).enumerate();
        segments.map(|(number, (segment, filter))| (number, segment.reader, filter))
    }

    /// Those of segments without inverted lists.
    pub(super) fn flat(&self) -> impl Iterator<Item = (usize, &'s Reader<'s>, &RowFilter)> {
        self.iter()
            .filter(|(_, reader, _)| reader.lists().is_none())
    }

    /// Those of segments with inverted lists.
    pub(super) fn listed(&self) -> impl Iterator<Item = (usize, &'s Reader<'s>, &RowFilter)> {
        self.iter()
            .filter(|(_, reader, _)| reader.lists().is_some())
    }

    /// Whether a segment has no inverted lists.
    pub(super) fn has_flat(&self) -> bool {
        self.flat().next().is_some()
    }

    /// Whether a segment has inverted lists.
    pub(super) fn has_lists(&self) -> bool {
        self.listed().next().is_some()
    }

    /// Rows that may answer of segments without inverted lists.
    pub(super) fn flat_rows(&self) -> u64 {
        self.flat().map(|(.., filter)| filter.count()).sum()
    }

    /// Rows of all segments, also those that may not answer.
    pub(super) fn all_rows(&self) -> u64 {
        self.iter()
            .map(|(_, reader, _)| u64::from(reader.rows()))
            .sum()
    }

    /// Whether every segment has what candidates are chosen by.
    pub(super) fn can_rescore(&self) -> bool {
        self.iter()
            .all(|(_, reader, _)| reader.has_codes() || reader.lists().is_some())
    }

    /// Ranks the rows that segments kept, and drops those that score less than the `k`-th.
    pub(super) fn rank(&self, query: &Query, k: usize, mut kept: Vec<Kept>) -> Vec<Neighbor> {
        kept.sort_unstable_by_key(|(key, segment, row)| (Reverse(*key), *segment, *row));
        let mut list: Vec<Neighbor> = kept
            .into_iter()
            .map(|(key, segment, row)| Neighbor {
                segment,
                row,
                score: query.score(self.codec, key),
            })
            .collect();
        // Different keys may be one score, as above a cosine of 1: order these rows again.
        list.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then((a.segment, a.row).cmp(&(b.segment, b.row)))
        });
        if let Some(last) = k.checked_sub(1).and_then(|last| list.get(last)) {
            let least = last.score;
            list.truncate(list.partition_point(|neighbor| neighbor.score >= least));
        }
        list
    }
}

/// Adds the best rows of a segment. Returns the key that rows of later segments must exceed:
/// one less than that of the `k`-th best row, because rows that tie with it are returned too.
pub(super) fn keep(kept: &mut Vec<Kept>, segment: usize, top: TopK, k: usize, floor: i64) -> i64 {
    let best = top.finish();
    let last = k.checked_sub(1).and_then(|last| best.get(last));
    let reached = last.map_or(floor, |(key, _)| key.saturating_sub(1));
    kept.extend(best.iter().map(|(key, row)| (*key, segment, *row)));
    floor.max(reached)
}

/// The numbers of the bits that are set, ascending.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let one = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        one
    })
}
