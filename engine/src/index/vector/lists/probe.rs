//! Which lists a search reads, and how it estimates products in them.

use super::layout::List;
use super::reader::ListsReader;
use super::residual::FACTOR_STEPS;
use crate::error::Result;
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::{Estimate, LANES, Lanes};
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
    pub(super) list: List,
    /// The product of the query with the centroid.
    product: i32,
    /// What the best rows of the list are expected to reach, as an integer product.
    reach: i32,
}

impl Probe {
    /// What no row of the list is expected to exceed.
    pub(super) fn most(&self) -> i32 {
        let more = self.reach.saturating_sub(self.product) as f32;
        let more = more * (DEVIATIONS_AT_MOST / DEVIATIONS);
        self.product.saturating_add(more as i32)
    }
}

/// For each query the lists that hold as many rows as `wanted` says of all rows in lists, those first whose rows
/// are expected to be nearest.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged).
pub fn probes(
    lists: &ListsReader<'_>,
    queries: &[Query],
    wanted: impl FnOnce(u64) -> u64,
) -> Result<Vec<Vec<Probe>>> {
    let all = lists.lists()?;
    let wanted = wanted(all.iter().map(|list| u64::from(list.rows)).sum());
    let mut chosen = Vec::with_capacity(queries.len());
    for some in queries.chunks(LANES) {
        let products = products(lists, some)?;
        for (query, products) in some.iter().zip(products) {
            // How much the reach of a list grows with its radius.
            let of_radius = DEVIATIONS * query.norm() / (lists.dim() as f32).sqrt();
            chosen.push(nearest(&all, &products, of_radius, wanted));
        }
    }
    Ok(chosen)
}

/// The products of up to sixteen queries with all centroids.
fn products(lists: &ListsReader<'_>, queries: &[Query]) -> Result<Vec<Vec<i32>>> {
    let count = lists.count() as usize;
    let mut all = vec![vec![0; count]; queries.len()];
    let mut done = 0;
    if let ([query], [products]) = (queries, all.as_mut_slice()) {
        lists.centroid_pieces(|bytes| {
            let rest = products.get_mut(done..).unwrap_or_default();
            done += kernels().products(CODEC_I8, query.one(), bytes, rest);
        })?;
        return Ok(all);
    }
    let rows: Vec<_> = queries.iter().map(Query::one).collect();
    let lanes = Lanes::new(&rows);
    let mut of_lanes = vec![[0; LANES]; count];
    lists.centroid_pieces(|bytes| {
        let rest = of_lanes.get_mut(done..).unwrap_or_default();
        done += kernels().products_of_lanes(CODEC_I8, &lanes, bytes, rest);
    })?;
    for (lane, products) in all.iter_mut().enumerate() {
        for (product, of_lanes) in products.iter_mut().zip(&of_lanes) {
            *product = of_lanes.get(lane).copied().unwrap_or_default();
        }
    }
    Ok(all)
}

/// The lists that hold `wanted` rows, those of the furthest reach first, then by their numbers.
fn nearest(lists: &[List], products: &[i32], of_radius: f32, wanted: u64) -> Vec<Probe> {
    let probe = |list: &List, product: i32| {
        let more = (list.radius as f32 * of_radius) as i32;
        Probe {
            list: *list,
            product,
            reach: product.saturating_add(more),
        }
    };
    // A key that ascends as lists are read, and can be sorted without looking at these.
    let mut order: Vec<u64> = (0u32..)
        .zip(lists.iter().zip(products))
        .filter(|(_, (list, _))| list.rows > 0)
        .map(|(number, (list, product))| {
            let before = i64::from(i32::MAX) - i64::from(probe(list, *product).reach);
            (before as u64) << 32 | u64::from(number)
        })
        .collect();
    let mut chosen = Vec::new();
    let mut rows = 0u64;
    // Only what is read is sorted.
    let mut rest = order.as_mut_slice();
    while !rest.is_empty() && rows < wanted {
        let some = (rest.len() / 8).max(64).min(rest.len());
        if some < rest.len() {
            rest.select_nth_unstable(some);
        }
        let (first, others) = std::mem::take(&mut rest).split_at_mut(some);
        first.sort_unstable();
        rest = others;
        for key in first {
            if rows >= wanted {
                break;
            }
            let number = (*key & u64::from(u32::MAX)) as usize;
            if let (Some(list), Some(product)) = (lists.get(number), products.get(number)) {
                rows += u64::from(list.rows);
                chosen.push(probe(list, *product));
            }
        }
    }
    chosen
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
    pub(super) fn level(&self, product: i32) -> i32 {
        // A call to round would cost more than all else here.
        ((product as f32 - self.least) / self.step + 0.5) as i32
    }

    pub(super) fn of(&self, probe: &Probe) -> Estimate {
        Estimate {
            base: self.level(probe.product),
            bias: self.bias,
            shift: self.shift,
        }
    }
}
