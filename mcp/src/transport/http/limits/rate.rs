//! Limits the rate of requests, by token buckets.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How fast a bucket fills, in requests per second, and how many requests it holds.
#[derive(Debug, Clone, Copy)]
struct RateLimit {
    rate: f64,
    burst: f64,
}

/// The limit of each access token. More than this server can answer on a large machine, so that only
/// clients that do not wait for their responses reach it.
const REQUESTS: RateLimit = RateLimit {
    rate: 20_000.0,
    burst: 40_000.0,
};

/// The limit of all requests with an unknown token together: each costs a read of the token file, and
/// a valid token is known after its first request.
const UNKNOWN: RateLimit = RateLimit {
    rate: 50.0,
    burst: 100.0,
};

/// A bucket for each token by its name, and one for all unknown tokens. Valid tokens are few, so no
/// bucket is ever removed.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    buckets: Mutex<BTreeMap<String, TokenBucket>>,
    unknown: Mutex<Option<TokenBucket>>,
}

#[derive(Debug)]
struct TokenBucket {
    /// Requests that it holds.
    level: f64,
    updated: Instant,
}

impl TokenBucket {
    fn full(limit: RateLimit, now: Instant) -> TokenBucket {
        TokenBucket {
            level: limit.burst,
            updated: now,
        }
    }

    fn try_take(&mut self, limit: RateLimit, now: Instant) -> bool {
        let passed: Duration = now.saturating_duration_since(self.updated);
        self.level = (self.level + passed.as_secs_f64() * limit.rate).min(limit.burst);
        self.updated = now;
        let is_allowed = self.level >= 1.0;
        if is_allowed {
            self.level -= 1.0;
        }
        is_allowed
    }
}

impl RateLimiter {
    /// Takes a request of that token. Returns false if there are too many.
    pub(crate) fn allow(&self, name: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(name) {
            return bucket.try_take(REQUESTS, now);
        }
        let bucket = buckets.entry(name.to_owned());
        let bucket = bucket.or_insert_with(|| TokenBucket::full(REQUESTS, now));
        bucket.try_take(REQUESTS, now)
    }

    /// Takes a request with an unknown token. Returns false if there are too many.
    pub(crate) fn allow_unknown(&self, now: Instant) -> bool {
        let bucket = self.unknown.lock();
        let mut bucket = bucket.unwrap_or_else(PoisonError::into_inner);
        let bucket = bucket.get_or_insert_with(|| TokenBucket::full(UNKNOWN, now));
        bucket.try_take(UNKNOWN, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_a_burst_and_then_the_rate() {
        let limiter = RateLimiter::default();
        let start = Instant::now();
        let taken =
            |name: &str, at: Instant| (0..100_000).filter(|_| limiter.allow(name, at)).count();
        assert_eq!(taken("a", start), 40_000);
        assert_eq!(taken("b", start), 40_000);
        assert_eq!(taken("a", start + Duration::from_millis(500)), 10_000);
        assert_eq!(taken("a", start + Duration::from_secs(60)), 40_000);
    }

    #[test]
    fn unknown_tokens_share_one_small_bucket() {
        let limiter = RateLimiter::default();
        let start = Instant::now();
        let taken = |at: Instant| (0..1000).filter(|_| limiter.allow_unknown(at)).count();
        assert_eq!(taken(start), 100);
        assert_eq!(taken(start + Duration::from_secs(1)), 50);
        assert!(limiter.allow("a", start));
    }
}
