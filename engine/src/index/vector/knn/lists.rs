//! Candidates of the segments that have inverted lists.

use kb_types::error::{Error, Result};

use super::candidates::{Candidate, Candidates};
use super::effort::Effort;
use super::segments::{Segments, ones};
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::lists::block::StoredBlock;
use crate::index::vector::lists::probe::{EstimateScale, LEVELS, Probes, probes};
use crate::index::vector::lists::reader::ListsReader;
use crate::index::vector::lists::scan::{Sink, scan};
use crate::index::vector::query::Query;
use crate::index::vector::reader::Reader;
use crate::index::vector::row_filter::RowFilter;

/// What the lists give for a query.
pub(super) struct Found {
    /// The rows whose estimate reaches the c-th best of those that were read. A file that lies may name rows that
    /// are not there: reading them fails.
    pub(super) candidates: Vec<Candidate>,
    /// How many rows were read.
    pub(super) read: u64,
    /// Whether the rows that may answer lie far from the query: much was read, and too few of them were there.
    pub(super) is_starved: bool,
}

/// Least number of rows that a search reads in all segments together, as a multiple of the candidates.
// The threshold of the near rows is only known after enough rows: the lists of a few thousand rows
// say little about where the nearest ones are. Reading eight times the candidates costs
// microseconds.
const LEAST_ROWS: u64 = 8;

/// A query is starved when it has read this many times the rows that would hold enough candidates if the allowed rows
/// were spread evenly.
// With a filter that keeps a tenth of 999,998 rows, all beside each other, the lists near the query
// give a recall of 0.86. Queries that count as starved are answered from all allowed rows or all
// lists: 0.98. A smaller number would send merely uneven filters there.
const STARVED: u64 = 4;

/// The candidates of each query: the best `wanted` of the lists that may hold one of the `near` nearest, `k` at least
/// where as many may answer.
///
/// # Errors
/// [`Error::Damaged`].
pub(super) fn find_candidates(
    segments: &Segments<'_>,
    queries: &[Query],
    (wanted, near, k): (usize, usize, usize),
    effort: &Effort,
) -> Result<Vec<Found>> {
    // Of others nothing is read.
    let searched = || {
        let listed = segments.listed();
        listed.filter(|(_, _, filter)| filter.count() > 0)
    };
    // By query: the lists of each segment.
    let mut chosen: Vec<Vec<Probes>> = queries.iter().map(|_| Vec::new()).collect();
    let (mut all_rows, mut allowed_rows) = (0, 0);
    for (_, reader, filter) in searched() {
        let of_segment = probes(lists_of(reader)?, queries, effort.reach)?;
        all_rows += of_segment.first().map_or(0, Probes::rows);
        allowed_rows += filter.count();
        for (chosen, probes) in chosen.iter_mut().zip(of_segment) {
            chosen.push(probes);
        }
    }
    let expected = (wanted as u64).saturating_mul(all_rows) / allowed_rows.max(1);
    // A search of all lists finds all candidates, so it is never starved.
    let most = if effort.is_whole() {
        u64::MAX
    } else {
        expected.saturating_mul(STARVED)
    };
    let enough = usize::try_from(allowed_rows).map_or(k, |allowed| k.min(allowed));
    let mut all = Vec::with_capacity(queries.len());
    for (query, chosen) in queries.iter().zip(&mut chosen) {
        let scale = EstimateScale::new(query, chosen.iter());
        let mut candidates =
            Candidates::up_to(usize::from(LEVELS), wanted, 0).with_near(near, enough);
        let least = LEAST_ROWS.saturating_mul(wanted as u64);
        let (mut read, mut is_starved) = (0, false);
        for ((segment, reader, filter), probes) in searched().zip(chosen) {
            if is_starved {
                break;
            }
            let mut sink = Filtered {
                segment,
                filter,
                least: least.saturating_sub(read),
                left: most.saturating_sub(read),
                candidates: &mut candidates,
            };
            let scanned = scan(lists_of(reader)?, query, probes, &scale, &mut sink)?;
            read += scanned.read;
            is_starved = scanned.is_starved;
        }
        all.push(Found {
            is_starved,
            candidates: candidates.finish(),
            read,
        });
    }
    Ok(all)
}

fn lists_of<'r>(reader: &'r Reader<'_>) -> Result<&'r ListsReader<'r>> {
    let lists = reader.lists();
    lists.ok_or_else(|| Error::damaged("a segment has no inverted lists"))
}

/// Offers the rows that a filter allows.
struct Filtered<'c> {
    segment: usize,
    filter: &'c RowFilter,
    /// Rows that are read wherever those lie that are near.
    least: u64,
    /// Rows that may be read before there are enough candidates.
    left: u64,
    candidates: &'c mut Candidates,
}

impl Sink for Filtered<'_> {
    #[inline]
    fn threshold(&self) -> u16 {
        self.candidates.threshold()
    }

    fn near_threshold(&self, rows: u64) -> Option<u16> {
        (rows >= self.least)
            .then(|| self.candidates.near_threshold())
            .flatten()
    }

    fn is_starved(&self, read: u64) -> bool {
        read > self.left && self.candidates.near_threshold().is_none()
    }

    fn is_choosy(&self) -> bool {
        self.filter.is_filtered()
    }

    #[inline]
    fn wants_none(&self, first: u32, last: u32) -> bool {
        self.filter.has_none(first, last)
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
