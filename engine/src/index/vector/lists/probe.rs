//! Which lists a search reads, and the candidates that it finds in them.

use super::block::StoredBlock;
use super::layout::List;
use super::reader::ListsReader;
use super::residual::FACTOR_STEPS;
use crate::error::{Error, Result};
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::{BLOCK_ROWS, Estimate};
use crate::index::vector::query::Query;
use crate::index::vector::record::CODEC_I8;

/// Standard deviations that the best rows of a list lie above its centroid. The product of a query
/// with a residual of length `r` that is not related to it has the deviation `r |q| / sqrt(dim)`. With a
/// tenth of 1 021 100 rows of programs 0, 1.4, 2.8, 4.2 and 5.5 find .965, .972, .975, .978 and .978 of
/// the ten nearest.
const DEVIATIONS: f32 = 4.0;

/// Standard deviations that no row of a list is expected to exceed: lists whose rows would have to lie
/// further above their centroid to become candidates are not read. With lists of up to a fifth of those
/// rows 5, 6, 7 and 9 read 50 100, 70 400, 87 000 and 106 200 rows a query, and find .979, .984, .986 and
/// .987.
const DEVIATIONS_AT_MOST: f32 = 6.0;

/// Estimates are numbers below this.
pub const LEVELS: u16 = 1 << 13;

/// A list to be read.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// The list.
    pub list: List,
    /// The product of the query with the centroid.
    product: i32,
    /// What the best rows of the list are expected to reach, as an integer product.
    reach: i32,
}

impl Probe {
    /// What no row of the list is expected to exceed.
    fn most(&self) -> i32 {
        let more = self.reach.saturating_sub(self.product) as f32;
        let more = more * (DEVIATIONS_AT_MOST / DEVIATIONS);
        self.product.saturating_add(more as i32)
    }
}

/// The lists that hold `wanted` rows, those first whose rows are expected to be nearest.
///
/// # Errors
/// [`Error::Damaged`].
pub fn probes(lists: &ListsReader<'_>, query: &Query, wanted: u64) -> Result<Vec<Probe>> {
    let mut products = vec![0i32; lists.count() as usize];
    let mut done = 0;
    lists.centroid_pieces(|bytes| {
        let rest = products.get_mut(done..).unwrap_or_default();
        done += kernels().products(CODEC_I8, query.one(), bytes, rest);
    })?;
    let of_radius = DEVIATIONS * query.norm() / (lists.dim() as f32).sqrt();
    let lists = lists.lists()?;
    let mut probes: Vec<Probe> = lists
        .into_iter()
        .zip(products)
        .filter(|(list, _)| list.rows > 0)
        .map(|(list, product)| {
            let more = (list.radius as f32 * of_radius) as i32;
            Probe {
                list,
                product,
                reach: product.saturating_add(more),
            }
        })
        .collect();
    let by_reach = |a: &Probe, b: &Probe| {
        let by_reach = b.reach.cmp(&a.reach);
        by_reach.then(a.list.first_block.cmp(&b.list.first_block))
    };
    // Only what is read is sorted.
    let (mut sorted, mut rows) = (0, 0u64);
    while sorted < probes.len() && rows < wanted {
        let rest = probes.get_mut(sorted..).unwrap_or_default();
        let some = (rest.len() / 8).max(64).min(rest.len());
        if some < rest.len() {
            rest.select_nth_unstable_by(some, by_reach);
        }
        let chosen = rest.get_mut(..some).unwrap_or_default();
        chosen.sort_unstable_by(by_reach);
        for probe in chosen {
            if rows >= wanted {
                break;
            }
            rows += u64::from(probe.list.rows);
            sorted += 1;
        }
    }
    probes.truncate(sorted);
    Ok(probes)
}

/// How products become estimates: one scale for all lists of a search.
#[derive(Debug, Clone, Copy)]
pub struct EstimateScale {
    /// The product that is estimated as 0.
    least: f32,
    /// Products for each step of an estimate.
    step: f32,
    bias: i32,
    shift: u32,
}

impl EstimateScale {
    /// The finest scale that has room for all rows of some lists that may be near.
    pub fn new<'p>(query: &Query, probes: impl Iterator<Item = &'p Probe>) -> EstimateScale {
        let (mut least, mut most) = (f32::MAX, f32::MIN);
        for probe in probes {
            let (product, reach) = (probe.product as f32, probe.reach as f32);
            // Rows far from their centroid reach further than expected.
            most = most.max(product + 3.0 * (reach - product));
            least = least.min(product - (reach - product));
        }
        let (least, most) = if least < most {
            (least, most)
        } else {
            (0.0, 1.0)
        };
        // The product of the query with the signs of a residual is twice the sum of the tables less
        // its bias, in units of the tables; a factor is in quarters.
        let unit = 2.0 / FACTOR_STEPS as f32 * query.table_unit();
        let (mut step, mut shift) = (unit, 0);
        while shift < 24 && (most - least) / step >= f32::from(LEVELS - 1) {
            (step, shift) = (step * 2.0, shift + 1);
        }
        EstimateScale {
            least,
            step,
            bias: query.table_bias(),
            shift,
        }
    }

    /// The estimate of a product.
    fn level(&self, product: i32) -> i32 {
        ((product as f32 - self.least) / self.step).round_ties_even() as i32
    }

    fn of(&self, probe: &Probe) -> Estimate {
        Estimate {
            base: self.level(probe.product),
            bias: self.bias,
            shift: self.shift,
        }
    }
}

/// Takes the rows of a list that reach a threshold.
pub trait Sink {
    /// The estimate that rows must reach now.
    fn threshold(&self) -> u16;
    /// Whether no row below the threshold is needed.
    fn is_full(&self) -> bool;
    /// Offers rows: `reached` has a bit for each.
    fn offer(&mut self, reached: u64, block: &StoredBlock<'_>, estimates: &[u16; BLOCK_ROWS]);
}

/// Reads lists, the best first, until no more rows are expected to reach the threshold. Returns how
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
    for probe in probes {
        if sink.is_full() && scale.level(probe.most()) < i32::from(sink.threshold()) {
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
