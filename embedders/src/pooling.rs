//! From the vectors of tokens to the vector of a text.

use kb_types::Pooling;

/// Adds the vector of a text to `vectors`: of its `tokens` first rows of `rows`, which have `dimension` numbers each.
/// A text without any token has zeros.
pub(crate) fn pool(pooling: Pooling, rows: &[f32], tokens: usize, vector: &mut [f32]) {
    let dimension = vector.len().max(1);
    let mut rows = rows.chunks_exact(dimension).take(tokens);
    match pooling {
        Pooling::Mean => {
            // The length does not matter: the vector is normalised.
            for row in rows {
                for (sum, number) in vector.iter_mut().zip(row) {
                    *sum += number;
                }
            }
        }
        Pooling::LastToken => copy(rows.next_back(), vector),
        _ => copy(rows.next(), vector),
    }
    normalise(vector);
}

fn copy(row: Option<&[f32]>, vector: &mut [f32]) {
    for (to, from) in vector.iter_mut().zip(row.unwrap_or_default()) {
        *to = *from;
    }
}

/// Gives a vector the length 1; zeros stay.
pub(crate) fn normalise(vector: &mut [f32]) {
    let squares: f64 = vector
        .iter()
        .map(|number| f64::from(*number) * f64::from(*number))
        .sum();
    if squares > 0.0 {
        let scale = 1.0 / squares.sqrt();
        for number in vector {
            *number = (f64::from(*number) * scale) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [f32; 6] = [3.0, 0.0, 0.0, 4.0, 100.0, 100.0];

    fn pooled(pooling: Pooling, tokens: usize) -> [f32; 2] {
        let mut vector = [0.0; 2];
        pool(pooling, &ROWS, tokens, &mut vector);
        vector
    }

    #[test]
    fn rows_of_padding_do_not_count() {
        assert_eq!(pooled(Pooling::Mean, 2), [0.6, 0.8]);
        assert_eq!(pooled(Pooling::Cls, 2), [1.0, 0.0]);
        assert_eq!(pooled(Pooling::LastToken, 2), [0.0, 1.0]);
    }

    #[test]
    fn a_text_without_tokens_has_zeros() {
        for pooling in [Pooling::Mean, Pooling::Cls, Pooling::LastToken] {
            assert_eq!(pooled(pooling, 0), [0.0, 0.0]);
        }
    }
}
