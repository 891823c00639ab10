//! What kernels read: one query, sixteen interleaved queries, and the sizes of a block of sign
//! bits.

/// Queries that are multiplied with a row at the same time.
// Sixteen i32 sums are one AVX-512 register. The number of centroids in a file is a multiple of it.
pub const LANES: usize = 16;

/// Rows of a block of sign bits.
// Part of the format. One bit a row makes a u64, and 64 rows of one group are one or two registers.
pub const BLOCK_ROWS: usize = 64;

/// Dimensions that share one table of 16 sums.
// Four sign bits select one of 16 sums, which is the size of a shuffle's table.
pub(crate) const GROUP_DIMS: usize = 4;

/// Bytes of a group of dimensions in a block of sign bits: 64 rows, 4 bits each.
pub(crate) const GROUP_BYTES: usize = BLOCK_ROWS * GROUP_DIMS / 8;

/// The largest number in a table: the sum of four fits an unsigned byte.
// 4 * 63 = 252. A larger limit would be more exact, but sums would have to be widened after fewer
// groups.
pub(crate) const TABLE_LIMIT: u8 = 63;

/// Groups whose sums are widened together; blocks and tables have a multiple of this many groups.
// Two groups fill an AVX-512 register, and four registers are added before they are widened.
pub(crate) const GROUPS_AT_ONCE: usize = 8;

/// One query.
#[derive(Debug, Clone, Copy)]
pub struct OneQuery<'q> {
    /// The bytes, -127..=127, a multiple of 64.
    pub row: &'q [i8],
    /// Sum of these bytes.
    pub sum: i32,
}

/// Up to sixteen queries of one width, interleaved by groups of four bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// Bytes `4 * (16 * group + lane)` and the next three: dimensions `4 * group` and the next
    /// three of query `lane`. Lanes without a query are 0.
    pub(super) packed: Vec<i8>,
    /// Sum of the bytes of each query.
    pub(super) sums: [i32; LANES],
}

impl Lanes {
    /// Interleaves the first sixteen queries; all must be as wide as the first.
    pub fn new(queries: &[OneQuery<'_>]) -> Lanes {
        let width = queries.first().map_or(0, |query| query.row.len());
        let mut packed = vec![0; width * LANES];
        let mut sums = [0; LANES];
        for (lane, (query, sum)) in queries.iter().zip(&mut sums).enumerate() {
            *sum = query.sum;
            let groups = packed.chunks_exact_mut(GROUP_DIMS * LANES);
            for (group, bytes) in groups.zip(query.row.chunks_exact(GROUP_DIMS)) {
                let target = group.chunks_exact_mut(GROUP_DIMS).nth(lane);
                target
                    .unwrap_or_default()
                    .iter_mut()
                    .zip(bytes)
                    .for_each(|(target, byte)| *target = *byte);
            }
        }
        Lanes { packed, sums }
    }

    /// Bytes of one query.
    pub fn width(&self) -> usize {
        self.packed.len() / LANES
    }
}

/// How the sums over a block of signs of residuals become estimates of products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The estimate of a row at the centroid.
    pub base: i32,
    /// The sum of a row whose residual is at right angles to the query.
    pub bias: i32,
    /// What a sum less the bias, times a factor, is shifted right by, modulo 32.
    pub shift: u32,
}

/// The nearest centroid of a row so far, in each of sixteen lanes: twice the product less the squared
/// length of the centroid, which falls with the distance, and the number of the sixteen that had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// The largest so far; [`i32::MIN`] before the first.
    pub score: [i32; LANES],
    /// The group of sixteen that had it: with its lane the number of the centroid is `16 * group + lane`.
    pub group: [i32; LANES],
}

impl Best {
    /// Before the first centroid.
    pub const NONE: Best = Best {
        // Below every score of a real centroid.
        score: [i32::MIN; LANES],
        group: [0; LANES],
    };

    /// The number of the nearest centroid; of equal ones the lowest.
    pub fn centroid(&self) -> u32 {
        let lanes = self.score.iter().zip(&self.group).zip(0..);
        let best =
            lanes.map(|((score, group), lane)| (-i64::from(*score), group * LANES as i32 + lane));
        best.min()
            .map_or(0, |(_, centroid)| centroid.unsigned_abs())
    }
}

/// The estimates of 64 sums. It is inlined into each form, so that the compiler uses its instructions.
#[inline(always)]
pub(super) fn scale_sums(
    sums: &[u16; BLOCK_ROWS],
    factors: &[u8; BLOCK_ROWS],
    how: Estimate,
    estimates: &mut [u16; BLOCK_ROWS],
) {
    for ((sum, factor), estimate) in sums.iter().zip(factors).zip(estimates) {
        // At most 65 535 times 255: no overflow.
        let more =
            (i32::from(*sum) - how.bias).wrapping_mul(i32::from(*factor)) >> (how.shift & 31);
        *estimate = how.base.wrapping_add(more).clamp(0, i32::from(u16::MAX)) as u16;
    }
}

/// A bit for each number that is at least `threshold`.
pub(super) fn reached(numbers: &[u16; BLOCK_ROWS], threshold: u16) -> u64 {
    let reached = numbers.iter().zip(0..);
    let reached = reached.filter(|(number, _)| **number >= threshold);
    reached.fold(0, |bits, (_, row)| bits | 1 << row)
}
