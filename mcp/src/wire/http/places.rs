//! The places of connections. Who says nothing does not keep a place that somebody else wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Until it is looked again whether a connection became idle.
const PAUSE: Duration = Duration::from_millis(100);

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    /// How long a new connection may take for its first request.
    first_time: Duration,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    connections: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    /// Since when it is between two requests; `None`: one is being answered.
    idle_since: Option<Instant>,
    has_asked: bool,
    closed: CancellationToken,
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    closed: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

/// A request is being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Place>);

impl Places {
    pub(super) fn new(places: usize, first_time: Duration) -> Arc<Places> {
        Arc::new(Places {
            free: Arc::new(Semaphore::new(places)),
            first_time,
            taken: Mutex::default(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place; where all are taken, the connection that has been idle for longest is closed.
    pub(super) async fn take(self: &Arc<Places>) -> Option<Place> {
        let permit = loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                break permit;
            }
            self.close_idle();
            let freed = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = tokio::time::timeout(PAUSE, freed).await {
                break permit.ok()?;
            }
        };
        let closed = CancellationToken::new();
        let mut taken = self.taken();
        let number = taken.next;
        taken.next += 1;
        let connection = Connection {
            idle_since: Some(Instant::now()),
            has_asked: false,
            closed: closed.clone(),
        };
        taken.connections.insert(number, connection);
        Some(Place {
            places: Arc::clone(self),
            number,
            closed,
            _permit: permit,
        })
    }

    fn close_idle(&self) {
        let taken = self.taken();
        let open = taken.connections.values();
        let open = open.filter(|connection| !connection.closed.is_cancelled());
        let idle = open.filter_map(|connection| Some((connection.idle_since?, connection)));
        if let Some((_, oldest)) = idle.min_by_key(|(since, _)| *since) {
            oldest.closed.cancel();
        }
    }
}

impl Place {
    fn set(&self, change: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.places.taken().connections.get_mut(&self.number) {
            change(connection);
        }
    }

    /// A request came; it is being answered until what this gives is dropped.
    pub(super) fn busy(self: &Arc<Place>) -> Busy {
        self.set(|connection| {
            connection.idle_since = None;
            connection.has_asked = true;
        });
        Busy(Arc::clone(self))
    }

    /// Ends when the connection has to: it asked nothing in time, or somebody else needs the place.
    pub(super) async fn over(&self) {
        let first = tokio::time::timeout(self.places.first_time, self.closed.cancelled()).await;
        let mut has_asked = false;
        self.set(|connection| has_asked = connection.has_asked);
        if first.is_err() && has_asked {
            self.closed.cancelled().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().connections.remove(&self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = Instant::now();
        self.0.set(|connection| connection.idle_since = Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{PATIENCE, block_on};

    #[test]
    fn the_connection_that_is_idle_for_longest_makes_place_and_a_busy_one_does_not() {
        block_on(async {
            let places = Places::new(3, Duration::from_secs(60));
            let busy = Arc::new(places.take().await.unwrap());
            let answering = busy.busy();
            let oldest = places.take().await.unwrap();
            let _younger = places.take().await.unwrap();
            let oldest = tokio::spawn(async move { oldest.over().await });
            let _next = tokio::time::timeout(PATIENCE, places.take()).await.unwrap();
            oldest.await.unwrap();
            assert!(!busy.closed.is_cancelled());
            drop(answering);
            places.close_idle();
            places.close_idle();
            places.close_idle();
            assert!(busy.closed.is_cancelled(), "it is idle now");
        });
    }

    #[test]
    fn a_connection_that_asks_nothing_is_over_soon() {
        block_on(async {
            let places = Places::new(2, Duration::from_millis(20));
            let silent = places.take().await.unwrap();
            let asking = Arc::new(places.take().await.unwrap());
            drop(asking.busy());
            let over = tokio::time::timeout(PATIENCE, silent.over()).await;
            assert!(over.is_ok(), "it said nothing");
            let over = tokio::time::timeout(Duration::from_millis(100), asking.over()).await;
            assert!(over.is_err(), "it may wait for its next request");
        });
    }
}
