//! The places of connections. Who says nothing does not keep a place that somebody else wants, and
//! one token does not take the places of all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::unsent::Unsent;
use crate::transport::share::{Owner, Share, Shares};

/// Until it is looked again whether a connection became idle.
const PAUSE: Duration = Duration::from_millis(100);

/// Places that each token has for itself.
const RESERVED: usize = 16;

/// Places that are given up where the system has no more descriptors: the files need some, too.
const MARGIN: usize = 16;

/// Places that are kept even then.
const FEWEST: usize = 32;

/// How long connections are let be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// How long a new connection may take for its first request.
    pub(super) first: Duration,
    /// How long it may where others wait for a place.
    pub(super) fresh: Duration,
}

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    /// Who has how many, of those who said who they are.
    shares: Arc<Shares>,
    times: Times,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    connections: BTreeMap<u64, Connection>,
    /// Places that are given up when they become free.
    surplus: usize,
}

#[derive(Debug)]
struct Connection {
    /// Since when it is between two requests; `None`: one is being answered.
    idle_since: Option<Instant>,
    has_asked: bool,
    /// Whose it is; `None`: nobody said so yet.
    share: Option<Share>,
    closed: CancellationToken,
}

impl Connection {
    fn owner(&self) -> Option<Owner> {
        self.share.as_ref().map(Share::owner)
    }

    /// Since when it is idle, if it is not closed already.
    fn idle(&self) -> Option<Instant> {
        self.idle_since.filter(|_| !self.closed.is_cancelled())
    }
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    closed: CancellationToken,
    permit: Option<OwnedSemaphorePermit>,
    /// What it was given and has not written.
    unsent: Arc<Unsent>,
}

/// A request is being answered.
#[derive(Debug)]
pub(super) struct Busy(Arc<Place>);

impl Places {
    pub(super) fn new(count: usize, asks_for_tokens: bool, times: Times) -> Arc<Places> {
        Arc::new(Places {
            free: Arc::new(Semaphore::new(count)),
            shares: Shares::new(count, RESERVED, asks_for_tokens),
            times,
            taken: Mutex::default(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place; where all are taken, a connection that asks nothing is closed for it. Waits where
    /// there is none.
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
            share: None,
            closed: closed.clone(),
        };
        taken.connections.insert(number, connection);
        Some(Place {
            places: Arc::clone(self),
            number,
            closed,
            permit: Some(permit),
            unsent: Arc::default(),
        })
    }

    /// Closes one that asked nothing for too long, else the one that is idle for longest of whoever
    /// has most. One that just came is let be: its request is on its way.
    fn close_idle(&self) -> bool {
        let taken = self.taken();
        let open = || taken.connections.values();
        let silent = open().filter(|connection| !connection.has_asked);
        let silent = silent.filter_map(|connection| Some((connection.idle()?, connection)));
        let oldest = silent.min_by_key(|(since, _)| *since);
        if let Some((since, connection)) = oldest
            && since.elapsed() >= self.times.fresh
        {
            connection.closed.cancel();
            return true;
        }
        let mut counts = BTreeMap::<Option<Owner>, usize>::new();
        for connection in open() {
            *counts.entry(connection.owner()).or_default() += 1;
        }
        let idle = open().filter(|connection| connection.has_asked);
        let idle = idle.filter_map(|connection| Some((connection.idle()?, connection)));
        let most = |connection: &Connection| counts.get(&connection.owner()).copied();
        let oldest = idle.max_by(|(one, of_one), (other, of_other)| {
            let by_count = most(of_one).cmp(&most(of_other));
            by_count.then(other.cmp(one))
        });
        match oldest {
            Some((_, connection)) => connection.closed.cancel(),
            None => return false,
        }
        true
    }

    /// The system has no descriptor for one more connection: there are fewer places from now on, and
    /// idle connections end.
    pub(super) fn lower(&self) {
        let mut closing = {
            let mut taken = self.taken();
            let open = taken.connections.len();
            let surplus = open.saturating_sub(open.saturating_sub(MARGIN).max(FEWEST));
            taken.surplus = surplus;
            let keep = FEWEST.saturating_sub(open);
            let free = self.free.available_permits().saturating_sub(keep);
            self.free.forget_permits(free);
            surplus.max(1)
        };
        while closing > 0 && self.close_idle() {
            closing -= 1;
        }
    }

    /// Closes the connections of a token that is gone.
    pub(super) fn close_of(&self, owner: Owner) {
        for connection in self.taken().connections.values() {
            if connection.owner() == Some(owner) {
                connection.closed.cancel();
            }
        }
    }
}

impl Place {
    /// What the connection was given and has not written.
    pub(super) fn unsent(&self) -> Arc<Unsent> {
        Arc::clone(&self.unsent)
    }

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

    /// Whose the request is that came. False: too many connections are his already, and none of them
    /// is idle, else that one ends.
    pub(super) fn claim(&self, owner: Owner) -> bool {
        let mut taken = self.places.taken();
        let connections = &mut taken.connections;
        match connections.get_mut(&self.number) {
            Some(connection) if connection.owner() != Some(owner) => connection.share = None,
            _ => return true,
        }
        let share = self.places.shares.take(owner, 1).or_else(|| {
            let his = connections.values_mut();
            let his = his.filter(|connection| connection.owner() == Some(owner));
            let idle = his.filter_map(|connection| Some((connection.idle()?, connection)));
            let (_, oldest) = idle.min_by_key(|(since, _)| *since)?;
            oldest.closed.cancel();
            oldest.share.take()
        });
        let is_there = share.is_some();
        if let Some(connection) = connections.get_mut(&self.number) {
            connection.share = share;
        }
        is_there
    }

    /// Ends when the connection has to: it asked nothing in time, or somebody else needs the place.
    pub(super) async fn over(&self) {
        let first = self.places.times.first;
        let first = tokio::time::timeout(first, self.closed.cancelled()).await;
        let mut has_asked = false;
        self.set(|connection| has_asked = connection.has_asked);
        if first.is_err() && has_asked {
            self.closed.cancelled().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.connections.remove(&self.number);
        if taken.surplus > 0
            && let Some(permit) = self.permit.take()
        {
            taken.surplus -= 1;
            permit.forget();
        }
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
    use crate::tokens::Tokens;
    use crate::transport::{PATIENCE, block_on};

    const LONG: Duration = Duration::from_secs(3600);

    fn places(count: usize, first: Duration, fresh: Duration) -> Arc<Places> {
        Places::new(count, false, Times { first, fresh })
    }

    async fn is_full(places: &Arc<Places>) -> bool {
        let next = tokio::time::timeout(PAUSE * 3, places.take()).await;
        next.is_err()
    }

    #[test]
    fn the_connection_that_is_idle_for_longest_makes_place_and_a_busy_one_does_not() {
        block_on(async {
            let places = places(3, LONG, Duration::ZERO);
            let busy = Arc::new(places.take().await.unwrap());
            let answering = busy.busy();
            let oldest = places.take().await.unwrap();
            let _younger = places.take().await.unwrap();
            let oldest = tokio::spawn(async move { oldest.over().await });
            let _next = tokio::time::timeout(PATIENCE, places.take()).await.unwrap();
            oldest.await.unwrap();
            assert!(!busy.closed.is_cancelled());
            drop(answering);
            for _ in 0..3 {
                places.close_idle();
            }
            assert!(busy.closed.is_cancelled(), "it is idle now");
        });
    }

    #[test]
    fn a_connection_that_just_came_is_not_closed_for_another() {
        block_on(async {
            let places = places(2, LONG, LONG);
            let first = Arc::new(places.take().await.unwrap());
            let second = places.take().await.unwrap();
            assert!(is_full(&places).await);
            assert!(!first.closed.is_cancelled() && !second.closed.is_cancelled());
            // When its request is answered, it makes place.
            drop(first.busy());
            let closed = first.closed.clone();
            let over = tokio::spawn(async move { first.over().await });
            let _third = tokio::time::timeout(PATIENCE, places.take()).await.unwrap();
            over.await.unwrap();
            assert!(closed.is_cancelled() && !second.closed.is_cancelled());
        });
    }

    #[test]
    fn a_connection_that_asks_nothing_is_over_soon() {
        block_on(async {
            let places = places(2, Duration::from_millis(20), LONG);
            let silent = places.take().await.unwrap();
            let asking = Arc::new(places.take().await.unwrap());
            drop(asking.busy());
            let over = tokio::time::timeout(PATIENCE, silent.over()).await;
            assert!(over.is_ok(), "it said nothing");
            let over = tokio::time::timeout(Duration::from_millis(100), asking.over()).await;
            assert!(over.is_err(), "it may wait for its next request");
        });
    }

    #[test]
    fn one_token_has_its_share_of_the_connections_and_ends_only_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        for name in ["greedy", "other"] {
            tokens.create(name, false).unwrap();
        }
        let owners: Vec<Owner> = tokens.hashes().into_iter().map(Some).collect();
        let times = Times {
            first: LONG,
            fresh: LONG,
        };
        let places = Places::new(256, true, times);
        block_on(async {
            let mut greedy = Vec::new();
            for number in 0..112 {
                let place = Arc::new(places.take().await.unwrap());
                let busy = place.busy();
                assert!(place.claim(owners[0]) && place.claim(owners[0]), "{number}");
                greedy.push((place, busy));
            }
            let more = Arc::new(places.take().await.unwrap());
            assert!(!more.claim(owners[0]), "all of its share is busy");
            let mut others = Vec::new();
            for _ in 0..16 {
                let place = places.take().await.unwrap();
                assert!(place.claim(owners[1]));
                others.push(place);
            }
            assert!(!places.take().await.unwrap().claim(owners[0]));
            let (place, busy) = greedy.swap_remove(7);
            drop(busy);
            assert!(more.claim(owners[0]) && place.closed.is_cancelled());
            assert!(others.iter().all(|place| !place.closed.is_cancelled()));
            places.close_of(owners[0]);
            assert!(greedy.iter().all(|(place, _)| place.closed.is_cancelled()));
            assert!(others.iter().all(|place| !place.closed.is_cancelled()));
        });
    }

    #[test]
    fn without_descriptors_there_are_fewer_places_and_idle_ones_end() {
        block_on(async {
            let places = places(200, LONG, Duration::ZERO);
            let mut open = Vec::new();
            for _ in 0..64 {
                open.push(places.take().await.unwrap());
            }
            places.lower();
            let closed = |open: &[Place]| {
                let closed = open.iter().filter(|place| place.closed.is_cancelled());
                closed.count()
            };
            assert_eq!(closed(&open), MARGIN);
            open.retain(|place| !place.closed.is_cancelled());
            assert_eq!(places.free.available_permits(), 0);
            drop(open);
            assert_eq!(places.free.available_permits(), 64 - MARGIN);
            // Not below what a server needs.
            for _ in 0..9 {
                places.lower();
            }
            assert_eq!(places.free.available_permits(), FEWEST);
        });
    }
}
