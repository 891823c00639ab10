//! The range of the quantiser of a column, from all vectors of its first import.

use kb_types::error::Result;

/// Bits of the absolute value of an f32 that are counted in a second pass.
const LOW_BITS: u32 = 15;

/// Counts the absolute components of vectors by their high bits, in the order of their size: the bits of numbers from
/// 0 up ascend with them. So the quantile is exact, and needs 800 KB, not the numbers.
#[derive(Debug)]
pub(super) struct RangeSample {
    counts: Vec<u64>,
    components: u64,
    largest: f32,
}

impl RangeSample {
    pub(super) fn new() -> RangeSample {
        RangeSample {
            counts: vec![0; 1 << (31 - LOW_BITS)],
            components: 0,
            largest: 0.0,
        }
    }

    /// Counts the components of a vector, which are finite.
    pub(super) fn add(&mut self, vector: &[f32]) {
        for x in vector {
            let bits = x.abs().to_bits();
            if let Some(count) = self.counts.get_mut((bits >> LOW_BITS) as usize) {
                *count += 1;
            }
            self.largest = self.largest.max(x.abs());
        }
        self.components += vector.len() as u64;
    }

    /// The 0.9999 quantile of the absolute components: the smallest one that so many of them do not exceed. Where it is
    /// 0 the largest; where all are 0, 1. With how many of them exceed it. `again` shows the same vectors a second
    /// time.
    ///
    /// # Errors
    /// Those of `again`.
    pub(super) fn range(
        &self,
        again: impl FnOnce(&mut dyn FnMut(&[f32])) -> Result<()>,
    ) -> Result<(f32, u64)> {
        // As many as lie at or below the quantile.
        let wanted = (self.components * 9999).div_ceil(10_000);
        let mut below = 0;
        let mut high = 0;
        for (bucket, count) in (0u32..).zip(&self.counts) {
            high = bucket;
            if below + count >= wanted {
                break;
            }
            below += count;
        }
        let mut lows = vec![0u64; 1 << LOW_BITS];
        again(&mut |vector| {
            for x in vector {
                let bits = x.abs().to_bits();
                let low = bits & ((1 << LOW_BITS) - 1);
                if bits >> LOW_BITS == high
                    && let Some(count) = lows.get_mut(low as usize)
                {
                    *count += 1;
                }
            }
        })?;
        let mut quantile = 0.0;
        for (low, count) in (0u32..).zip(&lows) {
            below += count;
            if below >= wanted {
                quantile = f32::from_bits(high << LOW_BITS | low);
                break;
            }
        }
        Ok(match (quantile, self.largest) {
            (quantile, _) if quantile > 0.0 => (quantile, self.components.saturating_sub(below)),
            (_, largest) if largest > 0.0 => (largest, 0),
            _ => (1.0, 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(vectors: &[Vec<f32>]) -> (f32, u64) {
        let mut sample = RangeSample::new();
        for vector in vectors {
            sample.add(vector);
        }
        let again = |each: &mut dyn FnMut(&[f32])| {
            vectors.iter().for_each(|vector| each(vector));
            Ok(())
        };
        sample.range(again).unwrap()
    }

    #[test]
    fn the_range_is_the_quantile_of_a_full_sort() {
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0).powi(5)
        };
        for count in [1usize, 2, 9_999, 10_000, 10_001, 123_456] {
            let numbers: Vec<f32> = (0..count).map(|_| random()).collect();
            let mut sorted: Vec<f32> = numbers.iter().map(|x| x.abs()).collect();
            sorted.sort_by(f32::total_cmp);
            let expected = sorted[(count * 9999).div_ceil(10_000) - 1];
            let vectors: Vec<Vec<f32>> = numbers.chunks(100).map(<[f32]>::to_vec).collect();
            let beyond = numbers.iter().filter(|x| x.abs() > expected).count();
            assert_eq!(range_of(&vectors), (expected, beyond as u64), "{count}");
        }
    }

    #[test]
    fn a_range_is_never_zero() {
        assert_eq!(range_of(&[vec![0.0, -0.0]]), (1.0, 0));
        let mut few = vec![0.0; 50_000];
        few[7] = -3.0;
        assert_eq!(range_of(&[few]), (3.0, 0));
        let least = f32::MIN_POSITIVE;
        assert_eq!(range_of(&[vec![least]]), (least, 0));
    }
}
