//! Products of rows of signed bytes: a scalar reference, and SIMD behind the same function.

use simsimd::SpatialSimilarity;

/// The sum of products of two rows of the same length, at most [`super::DIM_LIMIT`] bytes, so that
/// it fits an i32. The fastest kernel of this machine; always equal to [`dot_scalar`].
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    match i8::dot(a, b) {
        // Every product of signed bytes up to the limit is a whole number that f64 holds exactly.
        Some(product) => product as i32,
        None => dot_scalar(a, b),
    }
}

/// The reference: one product after the other.
pub fn dot_scalar(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(x, y)| i32::from(*x) * i32::from(*y))
        .sum()
}

/// A row of bytes from the map as signed bytes.
pub fn as_signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: u8 and i8 have the same size, alignment and validity; the lifetime is kept.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<i8>(), bytes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_equals_the_reference(
            pairs in proptest::collection::vec((any::<i8>(), any::<i8>()), 0..700)
        ) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            prop_assert_eq!(dot(&a, &b), dot_scalar(&a, &b));
        }
    }

    #[test]
    fn extremes_and_tails_equal_the_reference() {
        for len in [0, 1, 15, 16, 17, 31, 63, 64, 65, 127, 192, 4095, 8192] {
            for (x, y) in [(127, 127), (-128, -128), (-128, 127), (0, -1)] {
                let (a, b) = (vec![x; len], vec![y; len]);
                assert_eq!(dot(&a, &b), dot_scalar(&a, &b), "{len} x {x} {y}");
            }
        }
    }
}
