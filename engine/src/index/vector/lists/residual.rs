//! The residual of a row from its centroid, and what is kept of it: its signs and a factor.
//!
//! The product of a query with a residual `r` is estimated as `f` times the product with the signs
//! of `r`, with `f = |r|^2 / (|r_1| + ... + |r_n|)`: unbiased where query and residual are not
//! related (Gao and Long 2024, "RaBitQ", without its rotation, which changed nothing on vectors of
//! the built-in model: recall@10 of 400 candidates is .983 with it and .980 without, and .960 by the
//! signs of the rows themselves).

/// Steps of a stored factor in one step of the signed bytes.
// A byte then holds factors up to 63.75 steps; larger ones are cut.
pub(crate) const FACTOR_STEPS: u32 = 4;

/// What is kept of a residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The stored factor.
    pub factor: u8,
    /// Squared length of the residual.
    pub squared: u64,
}

/// The residual of a row, number by number; both in signed bytes.
pub(crate) fn of<'r>(row: &'r [i8], centroid: &'r [i8]) -> impl Iterator<Item = i16> + 'r {
    let pairs = row.iter().zip(centroid);
    pairs.map(|(x, c)| i16::from(*x) - i16::from(*c))
}

/// Factor and length of the residual of a row.
pub(crate) fn keep(row: &[i8], centroid: &[i8]) -> Kept {
    let (mut squared, mut sum) = (0u64, 0u64);
    for number in of(row, centroid) {
        let size = u64::from(number.unsigned_abs());
        squared += size * size;
        sum += size;
    }
    let factor = (squared * u64::from(FACTOR_STEPS) + sum / 2).checked_div(sum);
    Kept {
        factor: u8::try_from(factor.unwrap_or(0)).unwrap_or(u8::MAX),
        squared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_the_squared_length_by_the_sum() {
        let kept = keep(&[10, -10, 4, 0], &[7, -6, 4, 0]);
        // Residual 3, -4, 0, 0: 25 / 7 = 3.571, in quarters 14.29.
        assert_eq!((kept.factor, kept.squared), (14, 25));
        assert_eq!(keep(&[5; 4], &[5; 4]).factor, 0);
        let far = keep(&[127; 64], &[-127; 64]);
        assert_eq!((far.factor, far.squared), (255, 254 * 254 * 64));
    }
}
