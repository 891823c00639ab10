//! How often somebody may ask.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How fast a bucket fills, in requests a second, and how many it holds.
#[derive(Debug, Clone, Copy)]
struct Limit {
    rate: f64,
    burst: f64,
}

/// More than this server can answer on a large machine to clients that wait for their answers, so
/// that only those that do not wait meet it.
const REQUESTS: Limit = Limit {
    rate: 20_000.0,
    burst: 40_000.0,
};

/// All those together whose token is not known: looking it up costs a look at the file, and a client
/// that is to be let in is known after its first request.
const STRANGERS: Limit = Limit {
    rate: 50.0,
    burst: 100.0,
};

/// A bucket for each name, filled evenly, and one for all who have none. Names are those of tokens,
/// which are few.
#[derive(Debug, Default)]
pub(super) struct Rates {
    buckets: Mutex<BTreeMap<String, Bucket>>,
    strangers: Mutex<Option<Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(limit: Limit, now: Instant) -> Bucket {
        Bucket {
            left: limit.burst,
            at: now,
        }
    }

    fn take(&mut self, limit: Limit, now: Instant) -> bool {
        let passed: Duration = now.saturating_duration_since(self.at);
        self.left = (self.left + passed.as_secs_f64() * limit.rate).min(limit.burst);
        self.at = now;
        let is_allowed = self.left >= 1.0;
        if is_allowed {
            self.left -= 1.0;
        }
        is_allowed
    }
}

impl Rates {
    /// Takes one request of that name; false: too many.
    pub(super) fn take(&self, name: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(name) {
            return bucket.take(REQUESTS, now);
        }
        let bucket = buckets.entry(name.to_owned());
        let bucket = bucket.or_insert_with(|| Bucket::full(REQUESTS, now));
        bucket.take(REQUESTS, now)
    }

    /// Takes one request of somebody who is not known; false: too many.
    pub(super) fn take_stranger(&self, now: Instant) -> bool {
        let bucket = self.strangers.lock();
        let mut bucket = bucket.unwrap_or_else(PoisonError::into_inner);
        let bucket = bucket.get_or_insert_with(|| Bucket::full(STRANGERS, now));
        bucket.take(STRANGERS, now)
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

    #[test]
    fn strangers_have_few_requests_together_and_take_none_of_others() {
        let rates = Rates::default();
        let start = Instant::now();
        let taken = |at: Instant| (0..1000).filter(|_| rates.take_stranger(at)).count();
        assert_eq!(taken(start), 100);
        assert_eq!(taken(start + Duration::from_secs(1)), 50);
        assert!(rates.take("a", start));
    }
}
