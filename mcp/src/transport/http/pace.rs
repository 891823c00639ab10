//! How many requests of one token are begun at once.
//!
//! The threads of the network take what is ready in turn. A client with a hundred requests ready
//! would make every step of another one's request wait for a hundred of its own.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::transport::work::reads;

/// How long a request counts as just begun. What takes longer waits for something, as a write or a
/// stream does, and keeps nobody busy meanwhile.
const BEGUN: Duration = Duration::from_millis(100);

/// The requests that were begun, by what they show.
#[derive(Debug)]
pub(super) struct Pace {
    each: usize,
    hasher: RandomState,
    begun: Mutex<BTreeMap<u64, Arc<Semaphore>>>,
}

impl Pace {
    /// As many of each token as there are cores, which is half of the turns for reading.
    pub(super) fn new() -> Pace {
        Pace::of((reads() / 2).max(1))
    }

    fn of(each: usize) -> Pace {
        Pace {
            each,
            hasher: RandomState::new(),
            begun: Mutex::default(),
        }
    }

    /// Does the work of whoever shows that token when it is its turn.
    pub(super) async fn run<T>(&self, token: &str, work: impl Future<Output = T>) -> T {
        let turn = self.turn(token).await;
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(BEGUN) => {}
        }
        drop(turn);
        work.await
    }

    /// `None` never comes, as nothing is closed.
    async fn turn(&self, token: &str) -> Option<OwnedSemaphorePermit> {
        let key = self.hasher.hash_one(token);
        let turns = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun.retain(|other, turns| *other == key || Arc::strong_count(turns) > 1);
            let turns = begun.entry(key);
            Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(self.each))))
        };
        turns.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{PATIENCE, block_on};

    #[test]
    fn so_many_requests_of_a_token_begin_at_once_and_another_one_does_not_wait() {
        block_on(async {
            let pace = Pace::of(2);
            let first = pace.turn("a").await;
            let _second = pace.turn("a").await;
            let wait = Duration::from_millis(20);
            assert!(tokio::time::timeout(wait, pace.turn("a")).await.is_err());
            assert_eq!(pace.run("b", async { 7 }).await, 7);
            drop(first);
            let third = tokio::time::timeout(PATIENCE, pace.turn("a")).await;
            assert!(third.is_ok());
        });
    }

    #[test]
    fn requests_that_last_do_not_hold_up_those_that_follow() {
        block_on(async {
            let pace = Pace::of(2);
            let lasting = || pace.run("a", std::future::pending::<()>());
            let lasting = async { tokio::join!(lasting(), lasting(), lasting()) };
            let next = async {
                tokio::task::yield_now().await;
                pace.run("a", async { 7 }).await
            };
            let done = tokio::select! {
                _ = lasting => 0,
                done = tokio::time::timeout(PATIENCE, next) => done.unwrap(),
            };
            assert_eq!(done, 7);
        });
    }
}
