//! Vectors of numbers to rows of signed bytes.

/// Largest value of a stored component.
const LEVELS: f32 = 127.0;

/// Writes `vector` as signed bytes: `round(x / range * 127)`, ties to even, clipped to -127..=127,
/// `row` filled up with zeros. The same bits on every machine.
pub fn quantise(vector: &[f32], range: f32, row: &mut [i8]) {
    row.fill(0);
    for (byte, x) in row.iter_mut().zip(vector) {
        *byte = (x / range * LEVELS)
            .round_ties_even()
            .clamp(-LEVELS, LEVELS) as i8;
    }
}

/// A query as signed bytes on its own scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The bytes, padded to the stride of the rows.
    pub row: Vec<i8>,
    /// Multiplies the integer product with a stored row into a cosine.
    pub scale: f32,
}

impl Query {
    /// Quantises a unit vector for rows stored with `range`: the scale of the query is its own
    /// largest component over 127. `None` for the zero vector, which is near nothing.
    pub fn new(vector: &[f32], range: f32, stride: usize) -> Option<Query> {
        let largest = vector
            .iter()
            .fold(0.0f32, |largest, x| largest.max(x.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return None;
        }
        let mut row = vec![0; stride];
        quantise(vector, largest, &mut row);
        Some(Query {
            row,
            scale: largest / LEVELS * (range / LEVELS),
        })
    }

    /// The score of an integer product: the cosine, at least 0 and at most 1.
    pub fn score(&self, product: i32) -> f32 {
        (product as f32 * self.scale).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_round_to_the_nearest_level_and_clip_beyond_the_range() {
        let mut row = [9i8; 8];
        quantise(
            &[0.0, 0.305, -0.305, 1.0, -1.0, 0.305 / 254.0],
            0.305,
            &mut row,
        );
        assert_eq!(row, [0, 127, -127, 127, -127, 0, 0, 0]);
    }

    #[test]
    fn the_product_of_a_vector_with_itself_scores_nearly_one() {
        let mut vector: Vec<f32> = (0..192)
            .map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0)
            .collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
        let mut row = vec![0; 192];
        quantise(&vector, 0.305, &mut row);
        let query = Query::new(&vector, 0.305, 192).unwrap();
        let product: i32 = row
            .iter()
            .zip(&query.row)
            .map(|(a, b)| i32::from(*a) * i32::from(*b))
            .sum();
        assert!(
            (query.score(product) - 1.0).abs() < 0.01,
            "{}",
            query.score(product)
        );
        assert_eq!(Query::new(&[0.0; 192], 0.305, 192), None);
    }
}
