//! Bootstrap: 95 % intervals of means, and whether a difference between two rankings goes beyond chance.

use crate::metrics::mean;

const RESAMPLES: usize = 10_000;
const SEED: u64 = 0x6b62_2d65_7661_6c31;

/// A mean and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// Whether a difference says that the first ranking is worse beyond chance.
    pub(crate) fn is_loss(self) -> bool {
        self.high < 0.0
    }
}

/// `left - right`, question by question; both have one value per question, in the same order.
pub(crate) fn paired(left: &[f64], right: &[f64]) -> Interval {
    of_macro_mean(&[left.iter().zip(right).map(|(l, r)| l - r).collect()])
}

/// The mean of the means of groups, such as those of repositories. Values are drawn again within their group, and a
/// group without values does not count.
pub(crate) fn of_macro_mean(groups: &[Vec<f64>]) -> Interval {
    let groups: Vec<&[f64]> = groups
        .iter()
        .map(Vec::as_slice)
        .filter(|group| !group.is_empty())
        .collect();
    if groups.is_empty() {
        return Interval {
            mean: 0.0,
            low: 0.0,
            high: 0.0,
        };
    }
    let mut random = SplitMix(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| macro_mean(&groups, |group| resampled_mean(group, &mut random)))
        .collect();
    means.sort_by(f64::total_cmp);
    Interval {
        mean: macro_mean(&groups, mean),
        low: means[RESAMPLES * 25 / 1000],
        high: means[RESAMPLES * 975 / 1000 - 1],
    }
}

fn macro_mean(groups: &[&[f64]], mean_of: impl FnMut(&[f64]) -> f64) -> f64 {
    let means: Vec<f64> = groups.iter().copied().map(mean_of).collect();
    mean(&means)
}

fn resampled_mean(values: &[f64], random: &mut SplitMix) -> f64 {
    let sum: f64 = (0..values.len())
        .map(|_| values[random.below(values.len())])
        .sum();
    sum / values.len() as f64
}

/// The SplitMix64 generator: small, and the same numbers on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; the bias of the multiplication is far below what 10 000 draws show.
    fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_in_nearly_every_question_is_beyond_chance() {
        let right: Vec<f64> = (0..100).map(|n| 0.5 + f64::from(n % 7) / 100.0).collect();
        let left: Vec<f64> = right.iter().map(|value| value - 0.1).collect();
        let difference = paired(&left, &right);
        assert!((difference.mean + 0.1).abs() < 1e-9);
        assert!(difference.is_loss());
    }

    #[test]
    fn gains_and_losses_that_cancel_are_chance() {
        let right = vec![0.5; 100];
        let left: Vec<f64> = (0..100)
            .map(|n| if n % 2 == 0 { 0.7 } else { 0.29 })
            .collect();
        let difference = paired(&left, &right);
        assert!(difference.mean < 0.0);
        assert!(difference.low < difference.mean && difference.mean < difference.high);
        assert!(!difference.is_loss());
    }

    #[test]
    fn the_interval_has_the_width_that_theory_predicts() {
        // 400 differences of +-0.2: standard error 0.01, 95 % half-width 0.0196.
        let left: Vec<f64> = (0..400)
            .map(|n| if n % 2 == 0 { 0.2 } else { -0.2 })
            .collect();
        let difference = paired(&left, &vec![0.0; 400]);
        assert!((difference.high - 0.0196).abs() < 0.001, "{difference:?}");
        assert!((difference.low + 0.0196).abs() < 0.001, "{difference:?}");
    }

    #[test]
    fn the_same_numbers_give_the_same_interval() {
        let left = [0.1, 0.9, 0.4, 0.3];
        let right = [0.2, 0.5, 0.4, 0.1];
        assert_eq!(paired(&left, &right), paired(&left, &right));
    }

    #[test]
    fn a_small_group_weighs_as_much_as_a_large_one() {
        let (large, small) = (vec![0.0; 90], vec![1.0; 10]);
        let even = of_macro_mean(&[large.clone(), small, Vec::new()]);
        // Values are drawn within their group, so groups without spread leave none.
        assert_eq!((even.low, even.mean, even.high), (0.5, 0.5, 0.5));
        assert_eq!(of_macro_mean(&[large]).mean, 0.0);
        assert_eq!(of_macro_mean(&[Vec::new()]).high, 0.0);
    }

    #[test]
    fn no_question_is_no_difference() {
        assert!(!paired(&[], &[]).is_loss());
    }
}
