//! What kernels read: one query, sixteen interleaved queries, and the sizes of a block of sign
//! bits.

/// Queries that are multiplied with a row at the same time.
pub const LANES: usize = 16;

/// Rows of a block of sign bits.
pub const BLOCK_ROWS: usize = 64;

/// Dimensions that share one table of 16 sums.
pub const GROUP_DIMS: usize = 4;

/// Bytes of a group of dimensions in a block of sign bits: 64 rows, 4 bits each.
pub const GROUP_BYTES: usize = BLOCK_ROWS * GROUP_DIMS / 8;

/// The largest number in a table: the sum of four fits an unsigned byte.
pub const TABLE_LIMIT: u8 = 63;

/// Groups whose sums are widened together; blocks and tables have a multiple of this many groups.
pub const GROUPS_AT_ONCE: usize = 8;

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
