//! How often somebody may ask.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Requests a second, on average: more than this server can answer on a large machine to clients that
/// wait for their answers, so that only those that do not wait meet it.
const RATE: f64 = 20_000.0;

/// Requests at once after a silence.
const BURST: f64 = 40_000.0;

/// A bucket for each name, filled evenly. Names are those of tokens, which are few.
#[derive(Debug, Default)]
pub(super) struct Rates {
    buckets: Mutex<BTreeMap<String, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Takes one request of that name; false: too many.
    pub(super) fn take(&self, name: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(name) {
            let fresh = Bucket {
                left: BURST,
                at: now,
            };
            buckets.insert(name.to_owned(), fresh);
        }
        let Some(bucket) = buckets.get_mut(name) else {
            return false;
        };
        let passed: Duration = now.saturating_duration_since(bucket.at);
        bucket.left = (bucket.left + passed.as_secs_f64() * RATE).min(BURST);
        bucket.at = now;
        let is_allowed = bucket.left >= 1.0;
        if is_allowed {
            bucket.left -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_then_the_rate_and_each_name_has_its_own() {
        let rates = Rates::default();
        let start = Instant::now();
        let taken = |name: &str, at: Instant| (0..100_000).filter(|_| rates.take(name, at)).count();
        assert_eq!(taken("a", start), 40_000);
        assert_eq!(taken("b", start), 40_000);
        assert_eq!(taken("a", start + Duration::from_millis(500)), 10_000);
        assert_eq!(taken("a", start + Duration::from_secs(60)), 40_000);
    }
}
