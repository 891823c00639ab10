//! Candidates of the segments that have inverted lists.

use super::candidates::{Candidate, Candidates};
use super::effort::Effort;
use super::segments::{Segments, ones};
use crate::error::{Error, Result};
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::lists::block::StoredBlock;
use crate::index::vector::lists::probe::{EstimateScale, LEVELS, Probe, Sink, probes, scan};
use crate::index::vector::lists::reader::ListsReader;
use crate::index::vector::query::Query;
use crate::index::vector::row_filter::RowFilter;

/// The rows whose estimate reaches the `wanted`-th best of those that were read, and how many these
/// are. A file that lies may name rows that are not there: reading them fails.
///
/// # Errors
/// [`Error::Damaged`].
pub(super) fn find_candidates(
    segments: &Segments<'_>,
    query: &Query,
    wanted: usize,
    effort: &Effort,
) -> Result<(Vec<Candidate>, u64)> {
    let mut chosen: Vec<(usize, &ListsReader<'_>, &RowFilter, Vec<Probe>)> = Vec::new();
    for (segment, reader, filter) in segments.listed() {
        let lists = reader
            .lists()
            .ok_or_else(|| Error::damaged("a segment has no inverted lists"))?;
        let rows = effort.rows_of_lists(u64::from(reader.rows()), wanted);
        let probes = probes(lists, query, rows)?;
        chosen.push((segment, lists, filter, probes));
    }
    let all = chosen.iter().flat_map(|(.., probes)| probes);
    let scale = EstimateScale::new(query, all);
    let mut candidates = Candidates::up_to(usize::from(LEVELS), wanted, 0);
    let mut read = 0;
    for (segment, lists, filter, probes) in &chosen {
        let mut sink = Filtered {
            segment: *segment,
            filter,
            candidates: &mut candidates,
        };
        read += scan(lists, query, probes, &scale, &mut sink)?;
    }
    Ok((candidates.finish(), read))
}

/// Offers the rows that a filter allows.
struct Filtered<'c> {
    segment: usize,
    filter: &'c RowFilter,
    candidates: &'c mut Candidates,
}

impl Sink for Filtered<'_> {
    #[inline]
    fn threshold(&self) -> u16 {
        self.candidates.threshold
    }

    fn is_full(&self) -> bool {
        self.candidates.is_full()
    }

    #[inline]
    fn offer(&mut self, reached: u64, block: &StoredBlock<'_>, estimates: &[u16; BLOCK_ROWS]) {
        let allowed = if self.filter.is_all() {
            reached
        } else {
            // Few rows reach the threshold, so few are looked up.
            let bits = ones(reached).filter(|bit| self.filter.contains(block.row(*bit)));
            bits.fold(0, |bits, bit| bits | 1 << bit)
        };
        self.candidates
            .offer(self.segment, allowed, estimates, |bit| block.row(bit));
    }
}
