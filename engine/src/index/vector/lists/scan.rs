//! Reads lists for a query.
//!
//! Several queries do not share what they read: lists in the order of the file, each for all queries that want
//! it, gave 4 600 queries a second instead of 6 600 on 999 998 rows, whatever their number, and no more on ten
//! million. The tables and the candidates of one query stay in the cache of a core while its lists are read, and
//! the best lists, read first, keep most rows of the others from being candidates.

use super::block::StoredBlock;
use super::probe::{EstimateScale, Probe};
use super::reader::ListsReader;
use crate::error::{Error, Result};
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::query::Query;

/// So many lists are brought into memory while as many before them are read.
const LISTS_AHEAD: usize = 32;

/// Takes the rows of lists that reach a threshold.
pub trait Sink {
    /// The estimate that rows must reach now.
    fn threshold(&self) -> u16;
    /// Whether no row below the threshold is needed.
    fn is_full(&self) -> bool;
    /// Whether it is not worth while to go on after so many rows.
    fn is_starved(&self, read: u64) -> bool;
    /// Offers rows: `reached` has a bit for each.
    fn offer(&mut self, reached: u64, block: &StoredBlock<'_>, estimates: &[u16; BLOCK_ROWS]);
}

/// Reads lists, the best first, but for those of which no row is expected to reach the threshold. Returns how
/// many rows were read.
///
/// # Errors
/// [`Error::Damaged`] when a list lies outside its column. Rows that it names may not be there.
pub fn scan(
    lists: &ListsReader<'_>,
    query: &Query,
    probes: &[Probe],
    scale: &EstimateScale,
    sink: &mut impl Sink,
) -> Result<u64> {
    let mut cursor = lists.block_cursor();
    let mut estimates = [0; BLOCK_ROWS];
    let mut read = 0;
    let mut ahead = probes.chunks(LISTS_AHEAD);
    let mut will_read = |sink: &_| {
        let some = ahead.next().unwrap_or_default().iter();
        let some = some.filter(|probe| may_reach(probe, scale, sink));
        lists.will_read(some.map(|probe| probe.list));
    };
    will_read(&*sink);
    for (number, probe) in probes.iter().enumerate() {
        if number.is_multiple_of(LISTS_AHEAD) {
            will_read(&*sink);
        }
        // Lists that follow may reach further, if their rows lie further apart.
        if !may_reach(probe, scale, sink) {
            continue;
        }
        if sink.is_starved(read) {
            break;
        }
        let how = scale.of(probe);
        let mut left = probe.list.rows;
        let mut number = u64::from(probe.list.first_block);
        read += u64::from(left);
        while left > 0 {
            let block = StoredBlock::of(cursor.from(number)?, lists.dim())
                .ok_or_else(|| Error::damaged("a block of an inverted list is cut off"))?;
            let here = left.min(BLOCK_ROWS as u32);
            let all = u64::MAX >> (BLOCK_ROWS as u32 - here);
            let reached = kernels().estimates(
                query.tables(),
                block.signs,
                block.factors,
                how,
                sink.threshold(),
                &mut estimates,
            ) & all;
            if reached != 0 {
                sink.offer(reached, &block, &estimates);
            }
            left -= here;
            number += 1;
        }
    }
    Ok(read)
}

/// Whether a row of a list may become a candidate now.
fn may_reach(probe: &Probe, scale: &EstimateScale, sink: &impl Sink) -> bool {
    !sink.is_full() || scale.level(probe.most()) >= i32::from(sink.threshold())
}
