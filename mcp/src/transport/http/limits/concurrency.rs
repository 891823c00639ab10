//! Limits how many requests of one token start at once.
//!
//! The runtime polls ready tasks in turn. Without this limit, each step of one client's request would
//! wait for a step of every other client's hundred.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::transport::executor::read_concurrency;

/// How long a request holds its permit. One that takes longer waits for something, as writes and
/// streams do, and keeps no thread busy.
const STARTING: Duration = Duration::from_millis(100);

/// The requests that are starting, by a hash of the token that they carry.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    per_token: usize,
    hasher: RandomState,
    starting: Mutex<BTreeMap<u64, Arc<Semaphore>>>,
}

impl ConcurrencyLimit {
    /// One request per core and token, which is half of the read permits of the executor.
    pub(crate) fn new() -> ConcurrencyLimit {
        ConcurrencyLimit::with_permits((read_concurrency() / 2).max(1))
    }

    fn with_permits(per_token: usize) -> ConcurrencyLimit {
        ConcurrencyLimit {
            per_token,
            hasher: RandomState::new(),
            starting: Mutex::default(),
        }
    }

    /// Runs a request once there is a permit for its token.
    pub(crate) async fn run<T>(&self, token: &str, request: impl Future<Output = T>) -> T {
        let permit = self.acquire(token).await;
        let mut request = std::pin::pin!(request);
        tokio::select! {
            done = &mut request => return done,
            () = tokio::time::sleep(STARTING) => {}
        }
        drop(permit);
        request.await
    }

    /// Never `None`, because the semaphores are never closed.
    async fn acquire(&self, token: &str) -> Option<OwnedSemaphorePermit> {
        let key = self.hasher.hash_one(token);
        let permits = {
            let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            starting.retain(|other, permits| *other == key || Arc::strong_count(permits) > 1);
            let permits = starting.entry(key);
            Arc::clone(permits.or_insert_with(|| Arc::new(Semaphore::new(self.per_token))))
        };
        permits.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::{PATIENCE, block_on};

    #[test]
    fn requests_of_one_token_do_not_delay_those_of_another() {
        block_on(async {
            let limit = ConcurrencyLimit::with_permits(2);
            let first = limit.acquire("a").await;
            let _second = limit.acquire("a").await;
            let wait = Duration::from_millis(20);
            assert!(
                tokio::time::timeout(wait, limit.acquire("a"))
                    .await
                    .is_err()
            );
            assert_eq!(limit.run("b", async { 7 }).await, 7);
            drop(first);
            let third = tokio::time::timeout(PATIENCE, limit.acquire("a")).await;
            assert!(third.is_ok());
        });
    }

    #[test]
    fn requests_that_wait_do_not_delay_those_that_follow() {
        block_on(async {
            let limit = ConcurrencyLimit::with_permits(2);
            let lasting = || limit.run("a", std::future::pending::<()>());
            let lasting = async { tokio::join!(lasting(), lasting(), lasting()) };
            let next = async {
                tokio::task::yield_now().await;
                limit.run("a", async { 7 }).await
            };
            let done = tokio::select! {
                _ = lasting => 0,
                done = tokio::time::timeout(PATIENCE, next) => done.unwrap(),
            };
            assert_eq!(done, 7);
        });
    }
}
