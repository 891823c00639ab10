//! Reads the rows of one segment that may answer, neighbours together: documents are neighbours, so a filter that knows
//! nothing of rows lets through some beside each other.

use kb_types::error::Result;

use super::top_k::TopK;
use crate::index::vector::cursor::Cursor;
use crate::index::vector::kernels::layout::BLOCK_ROWS;
use crate::index::vector::kernels::prefetch::prefetch;
use crate::index::vector::query::Query;
use crate::index::vector::reader::Reader;

/// Least length of a run that is scored in place. Shorter runs are gathered into one call.
// The kernels take four rows at a time; a call for one or two rows costs more than copying them.
const MIN_RUN: u32 = 3;

/// Rows that are read before they are offered.
// The products of a window are 4 KiB, and 1,024 rows of 192 bytes stay in a second-level cache.
const WINDOW_ROWS: usize = 1024;

/// Prefetch distance, in rows.
// 24 rows take longer to score than memory takes to answer. Smaller distances stall, larger ones
// push lines out of the cache that are not read yet.
const ROWS_AHEAD: usize = 24;

/// Rows of a run that are prefetched. Hardware prefetchers follow with the others.
const FIRST_ROWS: u32 = 4;

/// Rows beside each other, none in another block than the first.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    rows: u32,
}

/// Some runs, ascending.
pub(super) struct Window<'r, 'q> {
    reader: &'r Reader<'r>,
    query: &'q Query,
    cursor: Cursor<'r>,
    cursor_ahead: Cursor<'r>,
    norms: Option<Cursor<'r>>,
    runs: Vec<Run>,
    /// The products of all their rows, in order.
    products: Vec<i32>,
    /// Rows of all of them.
    rows: usize,
}

impl<'r, 'q> Window<'r, 'q> {
    pub(super) fn new(reader: &'r Reader<'r>, query: &'q Query) -> Window<'r, 'q> {
        Window {
            reader,
            query,
            cursor: reader.row_cursor(),
            cursor_ahead: reader.row_cursor(),
            norms: reader.norm_cursor(),
            runs: Vec::new(),
            products: Vec::new(),
            rows: 0,
        }
    }

    /// Adds the rows of a block of 64 whose bits are set.
    pub(super) fn push(&mut self, block: u32, mut bits: u64) {
        self.rows += bits.count_ones() as usize;
        let mut first = block * BLOCK_ROWS as u32;
        while bits != 0 {
            let gap = bits.trailing_zeros();
            let rows = (bits >> gap).trailing_ones();
            first += gap;
            self.runs.push(Run { first, rows });
            first += rows;
            // A shift by all bits is none.
            bits = bits.checked_shr(gap + rows).unwrap_or(0);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= WINDOW_ROWS
    }

    /// Reads its rows, offers them, and empties it.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged).
    pub(super) fn read(&mut self, top: &mut TopK) -> Result<()> {
        self.products.clear();
        self.products.resize(self.rows, 0);
        let (mut at, mut asked, mut asked_rows) = (0, 0, 0);
        let mut lonely = Vec::new();
        for run in &self.runs {
            while asked_rows <= at + ROWS_AHEAD
                && let Some(next) = self.runs.get(asked)
            {
                if next.rows >= MIN_RUN {
                    for row in next.first..next.first + next.rows.min(FIRST_ROWS) {
                        prefetch(self.cursor_ahead.row(u64::from(row))?);
                    }
                }
                asked += 1;
                asked_rows += next.rows as usize;
            }
            let end = at + run.rows as usize;
            if run.rows >= MIN_RUN {
                let products = self.products.get_mut(at..end).unwrap_or_default();
                let reader = self.reader;
                reader.products_beside(&mut self.cursor, self.query, run.first, products)?;
            } else {
                lonely.extend((run.first..run.first + run.rows).zip(at..));
            }
            at = end;
        }
        let mut places = lonely.iter().map(|(_, at)| *at);
        let rows = lonely.iter().map(|(row, _)| *row);
        self.reader.products(self.query, rows, |_, product| {
            if let Some(place) = places.next().and_then(|at| self.products.get_mut(at)) {
                *place = product;
            }
        })?;
        let mut products = self.products.iter();
        for run in &self.runs {
            // Rows are offered in ascending order.
            for (row, product) in (run.first..run.first + run.rows).zip(products.by_ref()) {
                let norms = self.norms.as_mut();
                let key = self.reader.key(norms, self.query, row, *product)?;
                if key > top.threshold() {
                    top.offer(key, row);
                }
            }
        }
        self.runs.clear();
        self.rows = 0;
        Ok(())
    }
}
