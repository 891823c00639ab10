//! Percentiles of many times.

use std::time::Duration;

/// Median, 95th percentile (nearest rank) and mean, in microseconds; zero of nothing.
pub(crate) fn microseconds(mut times: Vec<Duration>) -> [f64; 3] {
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times
            .get(place)
            .map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let total: Duration = times.iter().sum();
    [
        at(50),
        at(95),
        total.as_secs_f64() * 1e6 / times.len().max(1) as f64,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let times = (1..=20).map(Duration::from_millis).collect();
        assert_eq!(microseconds(times), [10_000.0, 19_000.0, 10_500.0]);
    }
}
