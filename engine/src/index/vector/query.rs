//! A query vector in the two forms that kernels read: signed bytes, and tables for sign bits.

use super::kernels::layout::{GROUP_DIMS, GROUPS_AT_ONCE, OneQuery, TABLE_LIMIT};
use super::quantise::{I4_STEP, LEVELS, quantise};
use super::record::{CODEC_I4, stride};
use crate::metric::Metric;

/// A query vector, quantised for the rows and the sign bits of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Signed bytes on the scale of the query, padded with zeros to a multiple of 64.
    row: Vec<i8>,
    /// Sum of the signed bytes.
    sum: i32,
    /// For each 4 dimensions, the sum for each of the 16 patterns of sign bits, stored twice.
    tables: Vec<u8>,
    /// Factor from the integer product with a row of signed bytes to the cosine.
    scale: f32,
    /// A step of the tables, as a component of the signed bytes of the query.
    table_unit: f32,
    /// The sum over the tables of a row whose product with the query is 0.
    table_bias: i32,
    /// The same to the dot product, without rounding: vectors that are not of unit length have any scale.
    factor: f64,
    /// Squared length of the vector.
    norm: f64,
    /// How rows are compared with it.
    metric: Metric,
}

/// [`LEVELS`] in full precision.
const LEVELS_F64: f64 = 127.0;

/// Upper bound of a squared length in units of keys.
// Below 2^62, so a key minus a norm cannot overflow an i64.
const NORM_LIMIT: f64 = 4e18;

impl Query {
    /// Quantises a unit vector for rows stored with `range`. The scale of the query is its own
    /// largest component divided by 127. `None` for the zero vector, which is near nothing.
    pub fn new(vector: &[f32], range: f32) -> Option<Query> {
        Query::by(Metric::Cosine, vector, range)
    }

    /// As [`Query::new`], for rows that are compared by that metric: by dot product and distance also of vectors of
    /// other lengths, the zero vector among them.
    pub fn by(metric: Metric, vector: &[f32], range: f32) -> Option<Query> {
        let largest = vector
            .iter()
            .fold(0.0f32, |largest, x| largest.max(x.abs()));
        let largest = match metric {
            _ if largest > 0.0 => largest,
            Metric::Cosine => return None,
            // Bytes of zero on any scale.
            Metric::Dot | Metric::L2 => 1.0,
        };
        if !largest.is_finite() {
            return None;
        }
        let width = stride(u32::try_from(vector.len()).ok()?) as usize;
        let mut row = vec![0; width];
        quantise(vector, largest, &mut row);
        let (tables, table_scale) = sign_tables(vector, width);
        let sizes: f32 = vector.iter().map(|x| x.abs()).sum();
        Some(Query {
            table_unit: LEVELS / (largest * table_scale),
            table_bias: (sizes * table_scale / 2.0).round_ties_even() as i32,
            sum: row.iter().map(|byte| i32::from(*byte)).sum(),
            row,
            tables,
            scale: largest / LEVELS * (range / LEVELS),
            factor: f64::from(largest) / LEVELS_F64 * (f64::from(range) / LEVELS_F64),
            norm: vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum(),
            metric,
        })
    }

    /// How rows are compared with it.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Factor from the integer product with a row of a codec to the dot product.
    fn factor(&self, codec: u8) -> f64 {
        match codec {
            CODEC_I4 => self.factor * (f64::from(I4_STEP) / 2.0),
            _ => self.factor,
        }
    }

    /// What a key must exceed for the row to answer: by cosine 0, by the other metrics every row answers.
    pub(super) fn floor(&self) -> i64 {
        match self.metric {
            Metric::Cosine => 0,
            Metric::Dot | Metric::L2 => i64::MIN,
        }
    }

    /// What rows are ranked by: the integer product, by distance less half the squared length of the row in the same
    /// unit, which orders rows as `dot(q, x) - |x|^2 / 2` does, and so as `-|q - x|^2`.
    pub(super) fn key(&self, codec: u8, product: i32, norm: f32) -> i64 {
        let key = i64::from(product);
        match self.metric {
            Metric::Cosine | Metric::Dot => key,
            Metric::L2 => {
                let norm = f64::from(norm) / (2.0 * self.factor(codec));
                key - norm.round().clamp(0.0, NORM_LIMIT) as i64
            }
        }
    }

    /// The signed bytes, a multiple of 64.
    pub fn row(&self) -> &[i8] {
        &self.row
    }

    /// Sum of the signed bytes.
    #[cfg(any(test, feature = "testing"))]
    pub fn sum(&self) -> i32 {
        self.sum
    }

    /// The query in the form of the kernels.
    pub fn one(&self) -> OneQuery<'_> {
        OneQuery {
            row: &self.row,
            sum: self.sum,
        }
    }

    /// Length of the vector of signed bytes.
    pub(super) fn norm(&self) -> f32 {
        let squares = self
            .row
            .iter()
            .map(|byte| i64::from(*byte) * i64::from(*byte));
        (squares.sum::<i64>() as f32).sqrt()
    }

    /// What one step of the tables is worth in steps of the signed bytes of the query.
    pub(super) fn table_unit(&self) -> f32 {
        self.table_unit
    }

    /// The sum over the tables of a row whose signs are at right angles to the query.
    pub(super) fn table_bias(&self) -> i32 {
        self.table_bias
    }

    /// The tables for the sums over sign codes.
    pub fn tables(&self) -> &[u8] {
        &self.tables
    }

    /// The integer product with one row of a codec; 0 when it has another width.
    #[cfg(test)]
    pub fn product(&self, codec: u8, row: &[u8]) -> i32 {
        let mut product = [0];
        super::kernels::detect::kernels().products(codec, self.one(), row, &mut product);
        product[0]
    }

    /// The score of a row of that codec by its key, 0..=1: by cosine the integer product stands for the cosine, which
    /// is clamped; see [`Metric`] for the others.
    pub fn score(&self, codec: u8, key: impl Into<i64>) -> f32 {
        let key = key.into();
        match self.metric {
            Metric::Cosine => self.cosine(codec, key),
            Metric::Dot => {
                let dot = key as f64 * self.factor(codec);
                let score = if dot < 0.0 {
                    0.5 / (1.0 - dot)
                } else {
                    1.0 - 0.5 / (1.0 + dot)
                };
                score as f32
            }
            Metric::L2 => {
                let distance = self.norm - 2.0 * self.factor(codec) * key as f64;
                (1.0 / (1.0 + distance.max(0.0))) as f32
            }
        }
    }

    fn cosine(&self, codec: u8, product: i64) -> f32 {
        let scale = match codec {
            CODEC_I4 => self.scale * (f32::from(I4_STEP) / 2.0),
            _ => self.scale,
        };
        (product as f32 * scale).clamp(0.0, 1.0)
    }
}

/// The lookup tables for sign bits. A sign bit tells whether a component of a row is above 0, and
/// then the component of the query is added: 16 sums for each 4 dimensions, offset to start at 0.
/// All are on one scale, on which the widest table reaches [`TABLE_LIMIT`], or less if the sum over
/// all tables would not fit 16 bits. The second result is that scale.
fn sign_tables(vector: &[f32], width: usize) -> (Vec<u8>, f32) {
    let groups = || vector.chunks(GROUP_DIMS);
    let widest = groups()
        .map(|group| group.iter().map(|x| x.abs()).sum::<f32>())
        .fold(0.0f32, f32::max);
    let count = (width / GROUP_DIMS).next_multiple_of(GROUPS_AT_ONCE);
    // From 1,041 tables on, which is 4,164 dimensions, 63 for each table would overflow the 16-bit
    // sum.
    let most = usize::from(u16::MAX) / count.max(1);
    let limit = u8::try_from(most).map_or(TABLE_LIMIT, |most| most.min(TABLE_LIMIT));
    // Of the zero vector all sums are 0.
    let scale = f32::from(limit) / widest.max(f32::MIN_POSITIVE);
    let mut tables = Vec::with_capacity(32 * count);
    for group in groups() {
        let smallest: f32 = group.iter().filter(|x| **x < 0.0).sum();
        let sum_of = |code: usize| -> f32 {
            let above = group.iter().enumerate();
            let above = above.filter(|(bit, _)| code >> bit & 1 == 1);
            above.map(|(_, x)| *x).sum()
        };
        let table: [u8; 16] = std::array::from_fn(|code| {
            let sum = ((sum_of(code) - smallest) * scale).round_ties_even();
            sum.clamp(0.0, f32::from(limit)) as u8
        });
        tables.extend(table);
        tables.extend(table);
    }
    tables.resize(32 * count, 0);
    (tables, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vector::quantise::to_i4;
    use crate::index::vector::record::{CODEC_I8, DIM_LIMIT};

    #[test]
    fn the_product_of_a_vector_with_itself_scores_nearly_one() {
        let mut vector: Vec<f32> = (0..192)
            .map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0)
            .collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
        let mut row = vec![0; 192];
        quantise(&vector, 0.305, &mut row);
        let query = Query::new(&vector, 0.305).unwrap();
        let bytes: Vec<u8> = row.iter().map(|byte| byte.cast_unsigned()).collect();
        let score = query.score(CODEC_I8, query.product(CODEC_I8, &bytes));
        assert!((score - 1.0).abs() < 0.01, "{score}");
        let mut packed = Vec::new();
        to_i4(&row, 192, &mut packed);
        let score = query.score(CODEC_I4, query.product(CODEC_I4, &packed));
        assert!((score - 1.0).abs() < 0.05, "{score}");
        assert_eq!(Query::new(&[0.0; 192], 0.305), None);
    }

    #[test]
    fn tables_never_leave_their_limits() {
        for dim in [1, 3, 64, 191, 192, DIM_LIMIT as usize] {
            let vector: Vec<f32> = (0..dim).map(|i| (i % 7) as f32 - 3.5).collect();
            let query = Query::new(&vector, 1.0).unwrap();
            let (tables, _) = query.tables().as_chunks::<32>();
            assert_eq!(tables.len(), query.row().len() / 4);
            let largest = |table: &[u8; 32]| table.iter().max().copied().unwrap();
            let sum: u32 = tables.iter().map(|table| u32::from(largest(table))).sum();
            assert!(sum <= u32::from(u16::MAX), "{dim}: {sum}");
            assert!(tables.iter().all(|table| largest(table) <= TABLE_LIMIT));
            assert!(tables.iter().all(|table| table[..16] == table[16..]));
        }
    }
}
