//! Reads lists for a query.
//!
//! Several queries do not share what they read: lists in the order of the file, each for all queries that want
//! it, gave 4 600 queries a second instead of 6 600 on 999 998 rows, whatever their number, and no more on ten
//! million. The tables and the candidates of one query stay in the cache of a core while its lists are read, and
//! the best lists, read first, keep most rows of the others from being candidates.
//!
//! A list is read whole. Blocks of 64 rows that lie near each other, each with a centroid by which it may be left out,
//! were no faster: of 4 076 993 rows .074 were read instead of .121 to find .97 of the nearest, in .65 ms instead of
//! .60, since blocks that lie apart cost more than those of a list, which lie in a row.

use std::collections::VecDeque;

use kb_types::error::{Error, Result};

use super::block::StoredBlock;
use super::probe::{EstimateScale, Probe, Probes};
use super::reader::ListsReader;
use crate::index::vector::cursor::Cursor;
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::{BLOCK_ROWS, Estimate};
use crate::index::vector::query::Query;

/// Prefetch distance, in lists.
// For files that are not in memory: requests for 32 lists keep a disk busy while as many others are
// read.
const LISTS_AHEAD: usize = 32;

/// Prefetch distance, in blocks.
// Lists lie anywhere in the column, so the hardware cannot predict the next one. Requests four
// blocks ahead save a fifth of the time of a search of text.
const BLOCKS_AHEAD: usize = 4;

/// Takes the rows of lists that reach a threshold.
pub(crate) trait Sink {
    /// The estimate that rows must reach now to be candidates.
    fn threshold(&self) -> u16;
    /// The estimate that rows of a list must reach to be among the nearest, behind so many rows; `None` as long as any
    /// may be.
    fn near_threshold(&self, rows: u64) -> Option<u16>;
    /// Whether it is not worth while to go on after so many rows.
    fn is_starved(&self, read: u64) -> bool;
    /// Whether only some rows are wanted.
    fn is_choosy(&self) -> bool;
    /// Whether surely none of the rows between two is wanted.
    fn wants_none(&self, first: u32, last: u32) -> bool;
    /// Offers rows: `reached` has a bit for each.
    fn offer(&mut self, reached: u64, block: &StoredBlock<'_>, estimates: &[u16; BLOCK_ROWS]);
}

/// How far a scan came: it looked at every row of the lists that it began, but for blocks without a row that is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scanned {
    /// Rows that were read.
    pub read: u64,
    /// Whether it ended because it was not worth while to go on: lists that were not read may hold the nearest rows.
    pub is_starved: bool,
}

/// Reads lists, the best first, up to the first of which no row is expected to be among the nearest.
///
/// # Errors
/// [`Error::Damaged`] when a list lies outside its column. Rows that it names may not be there.
pub(crate) fn scan(
    lists: &ListsReader<'_>,
    query: &Query,
    probes: &mut Probes,
    scale: &EstimateScale,
    sink: &mut impl Sink,
) -> Result<Scanned> {
    let mut blocks = Blocks {
        lists: *lists,
        cursor: lists.block_cursor(),
        cursor_ahead: lists.block_cursor(),
        probes,
        scale,
        ahead: VecDeque::with_capacity(2 * LISTS_AHEAD),
        is_done: false,
        current: None,
        scanned: Scanned::default(),
    };
    let mut coming = VecDeque::with_capacity(BLOCKS_AHEAD + 1);
    let mut estimates = [0; BLOCK_ROWS];
    loop {
        while coming.len() <= BLOCKS_AHEAD
            && let Some(block) = blocks.next(sink)?
        {
            coming.push_back(block);
        }
        let Some(NextBlock { block, rows, how }) = coming.pop_front() else {
            return Ok(blocks.scanned);
        };
        let next = coming.back().map_or(&[][..], |next| next.block.signs);
        let all = u64::MAX >> (BLOCK_ROWS as u32 - rows);
        let reached = kernels().estimates(
            query.tables(),
            [block.signs, next],
            block.factors,
            how,
            sink.threshold(),
            &mut estimates,
        ) & all;
        if reached != 0 {
            sink.offer(reached, &block, &estimates);
        }
    }
}

/// A block that will be read.
struct NextBlock<'l> {
    block: StoredBlock<'l>,
    /// Rows of it, 1 to 64.
    rows: u32,
    how: Estimate,
}

/// The blocks of lists one after the other.
struct Blocks<'l, 'p> {
    lists: ListsReader<'l>,
    cursor: Cursor<'l>,
    /// Of blocks that are asked for.
    cursor_ahead: Cursor<'l>,
    probes: &'p mut Probes,
    scale: &'p EstimateScale,
    /// Lists that are read next, and were asked for.
    ahead: VecDeque<Probe>,
    /// Whether no further list is read.
    is_done: bool,
    /// Of the list that is being read: its next block, the rows that are left, and how they are estimated.
    current: Option<(u64, u32, Estimate)>,
    /// Blocks that are skipped do not count.
    scanned: Scanned,
}

impl<'l> Blocks<'l, '_> {
    /// The next one; none behind the last, and where it is not worth while to go on.
    fn next(&mut self, sink: &impl Sink) -> Result<Option<NextBlock<'l>>> {
        loop {
            let current = self.current.take().or_else(|| self.next_list(sink));
            let Some((number, left, how)) = current else {
                return Ok(None);
            };
            let block = StoredBlock::of(self.cursor.from(number)?, self.lists.dim())
                .ok_or_else(|| Error::damaged("a block of an inverted list is cut off"))?;
            let rows = left.min(BLOCK_ROWS as u32);
            self.current = (left > rows).then_some((number + 1, left - rows, how));
            // Rows of a list ascend.
            if sink.is_choosy() && sink.wants_none(block.row(0), block.row(rows - 1)) {
                continue;
            }
            self.scanned.read += u64::from(rows);
            return Ok(Some(NextBlock { block, rows, how }));
        }
    }

    fn next_list(&mut self, sink: &impl Sink) -> Option<(u64, u32, Estimate)> {
        if self.is_done {
            return None;
        }
        if self.ahead.len() <= LISTS_AHEAD {
            self.look_ahead(sink);
        }
        let probe = self.ahead.pop_front()?;
        // None behind it reaches further.
        let read = self.scanned.read;
        self.scanned.is_starved = sink.is_starved(read);
        self.is_done =
            self.scanned.is_starved || !may_reach(&probe, self.scale, sink.near_threshold(read));
        if self.is_done {
            return None;
        }
        let list = probe.list;
        let how = self.scale.of(&probe);
        Some((u64::from(list.first_block), list.rows, how))
    }

    /// Asks for lists until there are [`LISTS_AHEAD`] behind the next that many.
    fn look_ahead(&mut self, sink: &impl Sink) {
        let known = self.ahead.len();
        while self.ahead.len() < 2 * LISTS_AHEAD
            && let Some(probe) = self.probes.next()
            && may_reach(&probe, self.scale, sink.near_threshold(self.scanned.read))
        {
            self.ahead.push_back(probe);
        }
        let new = self.ahead.range(known..);
        self.lists.will_read(new.map(|probe| probe.list));
        if sink.is_choosy() {
            for Probe { list, .. } in self.ahead.range(known..) {
                let mut left = list.rows;
                for number in (u64::from(list.first_block)..).take(list.blocks() as usize) {
                    // What is wrong with a block is said when it is read.
                    let Ok(block) = self.cursor_ahead.from(number) else {
                        break;
                    };
                    if let Some(block) = StoredBlock::of(block, self.lists.dim()) {
                        block.prefetch_rows(left.min(BLOCK_ROWS as u32));
                    }
                    left = left.saturating_sub(BLOCK_ROWS as u32);
                }
            }
        }
    }
}

/// Whether a row of a list may be among the nearest.
fn may_reach(probe: &Probe, scale: &EstimateScale, near: Option<u16>) -> bool {
    near.is_none_or(|near| scale.level(probe.most()) >= i32::from(near))
}
