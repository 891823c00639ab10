//! Which lists a search reads, and how it estimates products in them.

use std::rc::Rc;

use kb_types::error::Result;

use super::layout::List;
use super::reader::ListsReader;
use super::residual::FACTOR_STEPS;
use crate::index::vector::kernels::detect::kernels;
use crate::index::vector::kernels::layout::{Estimate, LANES, Lanes};
use crate::index::vector::query::Query;
use crate::index::vector::record::CODEC_I8;

/// Number of levels of an estimate.
// A count for each level is kept, 32 KiB for 8,192 levels: about the size of a first-level cache.
// The levels cover the range of all lists of a search, so fewer would make more rows tie.
pub(crate) const LEVELS: u16 = 1 << 13;

/// Reach from which on all lists are read, in standard deviations.
// The range of the estimates ends there ([`ESTIMATED`]): rows farther out could not be told apart.
pub const WHOLE_REACH: f32 = 12.0;

/// Lists that are sorted before the first one is read.
// A search reads a few hundred lists of thousands. Sorting all of them would take longer than
// reading.
const SORTED_AT_FIRST: usize = 256;

/// The radius of a list counts as at least the mean radius divided by this.
// A list that is mostly copies of one text has a tiny radius, which says nothing about its other
// rows.
const LEAST_RADIUS_SHARE: u32 = 2;

/// Range of the estimates around the centroids, in standard deviations below and above.
// Rows far below a centroid are never candidates and may share a level; those above must be told
// apart up to [`WHOLE_REACH`].
const ESTIMATED: (f32, f32) = (4.0, 12.0);

/// A list that may be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    /// The list.
    pub(super) list: List,
    /// The product of the query with the centroid.
    product: i32,
    /// What no row of the list is expected to exceed.
    most: i32,
}

impl Probe {
    /// What no row of the list is expected to exceed.
    pub(super) fn most(&self) -> i32 {
        self.most
    }
}

/// The lists of a segment that have rows, those first whose rows may lie nearest to the query, then by their numbers.
#[derive(Debug)]
pub(crate) struct Probes {
    lists: Rc<[List]>,
    products: Vec<i32>,
    /// How much a row may exceed the centroid of its list, for each unit of the radius of the list.
    of_radius: f32,
    /// Lists of smaller radius are taken to have this one.
    least_radius: u32,
    is_whole: bool,
    /// Keys that ascend as lists are read, and can be sorted without looking at these.
    order: Vec<u64>,
    /// How many of `order` are in their place.
    sorted: usize,
    next: usize,
    /// Rows of all of them.
    rows: u64,
    /// Products between which estimates tell rows apart.
    range: (f32, f32),
}

impl Probes {
    fn new(lists: Rc<[List]>, products: Vec<i32>, deviation: f32, reach: f32) -> Probes {
        let of_radius = reach.min(WHOLE_REACH) * deviation;
        let least_radius = mean_radius(&lists) / LEAST_RADIUS_SHARE;
        let mut range = (f32::MAX, f32::MIN);
        let mut order = Vec::with_capacity(lists.len());
        let mut rows = 0;
        for (number, (list, product)) in (0u32..).zip(lists.iter().zip(&products)) {
            if list.rows == 0 {
                continue;
            }
            rows += u64::from(list.rows);
            let (at, deviation) = (*product as f32, list.radius as f32 * deviation);
            range.0 = range.0.min(at - ESTIMATED.0 * deviation);
            range.1 = range.1.max(at + ESTIMATED.1 * deviation);
            let before = i64::from(i32::MAX)
                - i64::from(most(list.radius.max(least_radius), *product, of_radius));
            order.push((before as u64) << 32 | u64::from(number));
        }
        Probes {
            lists,
            products,
            of_radius,
            least_radius,
            is_whole: reach >= WHOLE_REACH,
            order,
            sorted: 0,
            next: 0,
            rows,
            range,
        }
    }

    /// Rows of all of them.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the list that follows.
    pub(super) fn next(&mut self) -> Option<Probe> {
        if self.next == self.sorted {
            self.sort_more();
        }
        let key = self.order.get(self.next)?;
        self.next += 1;
        let number = (*key & u64::from(u32::MAX)) as usize;
        let (list, product) = (*self.lists.get(number)?, *self.products.get(number)?);
        Some(Probe {
            list,
            product,
            most: match self.is_whole {
                true => i32::MAX,
                false => most(list.radius.max(self.least_radius), product, self.of_radius),
            },
        })
    }

    /// Puts twice as many in their place.
    fn sort_more(&mut self) {
        let rest = self.order.get_mut(self.sorted..).unwrap_or_default();
        let some = self.sorted.max(SORTED_AT_FIRST).min(rest.len());
        if some < rest.len() {
            rest.select_nth_unstable(some);
        }
        if let Some(some) = rest.get_mut(..some) {
            some.sort_unstable();
        }
        self.sorted += some;
    }
}

fn most(radius: u32, product: i32, of_radius: f32) -> i32 {
    product.saturating_add((radius as f32 * of_radius) as i32)
}

/// The mean radius of the lists that have rows.
fn mean_radius(lists: &[List]) -> u32 {
    let (mut sum, mut count) = (0u64, 0u64);
    for list in lists.iter().filter(|list| list.rows > 0) {
        sum += u64::from(list.radius);
        count += 1;
    }
    u32::try_from(sum / count.max(1)).unwrap_or(u32::MAX)
}

/// The lists of a segment for each query, whose rows lie at most `reach` standard deviations above their centroids. The
/// product of a query with a residual of length `r` that is not related to it has the deviation `r |q| / sqrt(dim)`.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged).
pub(crate) fn probes(
    lists: &ListsReader<'_>,
    queries: &[Query],
    reach: f32,
) -> Result<Vec<Probes>> {
    let all: Rc<[List]> = lists.lists()?.into();
    let mut chosen = Vec::with_capacity(queries.len());
    for some in queries.chunks(LANES) {
        let products = products(lists, some)?;
        for (query, products) in some.iter().zip(products) {
            let deviation = query.norm() / (lists.dim() as f32).sqrt();
            chosen.push(Probes::new(Rc::clone(&all), products, deviation, reach));
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

/// How products become estimates: one scale for all lists of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EstimateScale {
    /// The product that is estimated as 0.
    least: f32,
    /// Products for each step of an estimate.
    step: f32,
    bias: i32,
    shift: u32,
}

impl EstimateScale {
    /// The finest scale that has room for all rows that may be near.
    pub(crate) fn new<'p>(
        query: &Query,
        probes: impl Iterator<Item = &'p Probes>,
    ) -> EstimateScale {
        let (mut least, mut most) = (f32::MAX, f32::MIN);
        for Probes { range, .. } in probes {
            least = least.min(range.0);
            most = most.max(range.1);
        }
        if least >= most {
            (least, most) = (0.0, 1.0);
        }
        // The product of the query with the signs of a residual is twice the sum of the tables less
        // its bias, in units of the tables; a factor is in quarters.
        let unit = 2.0 / FACTOR_STEPS as f32 * query.table_unit();
        let (mut step, mut shift) = (unit, 0);
        // The kernel shifts right by whole bits, so steps are powers of two of the unit of the
        // tables.
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
