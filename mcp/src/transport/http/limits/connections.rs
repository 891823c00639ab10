//! Limits the connections. When all slots are taken, an idle connection is closed for a new one, and no
//! token may take the slots of all others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::transport::http::body::unflushed::Unflushed;
use crate::transport::quota::{Owner, Quota, QuotaPermit};

/// How often a new connection retries to close an idle one.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Slots that each token can always have.
const RESERVED: usize = 16;

/// Slots that are given up when the system runs out of file descriptors: the .kb files need some.
const DESCRIPTOR_MARGIN: usize = 16;

/// Slots that are never given up.
const MIN_SLOTS: usize = 32;

/// How long a new connection may be silent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstRequestTimeouts {
    /// Until its first request, in any case.
    pub(crate) always: Duration,
    /// While other connections wait for a slot.
    pub(crate) when_full: Duration,
}

/// The slots of all connections.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    free: Arc<Semaphore>,
    /// Slots of authorized connections, by owner.
    quota: Arc<Quota>,
    timeouts: FirstRequestTimeouts,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next_id: u64,
    by_id: BTreeMap<u64, Connection>,
    /// Slots to give up when their connections close.
    surplus: usize,
}

#[derive(Debug)]
struct Connection {
    /// When its last response was sent, or it was opened. `None` while a request is served.
    idle_since: Option<Instant>,
    has_requested: bool,
    /// `None` until a request was authorized.
    permit: Option<QuotaPermit>,
    closed: CancellationToken,
}

impl Connection {
    fn owner(&self) -> Option<Owner> {
        self.permit.as_ref().map(QuotaPermit::owner)
    }

    /// Since when it is idle, unless it is being closed.
    fn idle_since(&self) -> Option<Instant> {
        self.idle_since.filter(|_| !self.closed.is_cancelled())
    }
}

/// The slot of one connection, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    limit: Arc<ConnectionLimit>,
    id: u64,
    closed: CancellationToken,
    slot: Option<OwnedSemaphorePermit>,
    unflushed: Arc<Unflushed>,
}

/// Marks its connection as serving a request, until this is dropped.
#[derive(Debug)]
pub(crate) struct ActiveRequest(Arc<ConnectionSlot>);

impl ConnectionLimit {
    pub(crate) fn new(
        count: usize,
        requires_token: bool,
        timeouts: FirstRequestTimeouts,
    ) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit {
            free: Arc::new(Semaphore::new(count)),
            quota: Quota::new(count, RESERVED, requires_token),
            timeouts,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a slot. While all are taken, idle connections are closed. Never `None`, because the
    /// semaphore is never closed.
    pub(crate) async fn acquire(self: &Arc<ConnectionLimit>) -> Option<ConnectionSlot> {
        let slot = loop {
            if let Ok(slot) = Arc::clone(&self.free).try_acquire_owned() {
                break slot;
            }
            self.close_idle();
            let freed = Arc::clone(&self.free).acquire_owned();
            if let Ok(slot) = tokio::time::timeout(RETRY_INTERVAL, freed).await {
                break slot.ok()?;
            }
        };
        let closed = CancellationToken::new();
        let mut open = self.open();
        let id = open.next_id;
        open.next_id += 1;
        let connection = Connection {
            idle_since: Some(Instant::now()),
            has_requested: false,
            permit: None,
            closed: closed.clone(),
        };
        open.by_id.insert(id, connection);
        Some(ConnectionSlot {
            limit: Arc::clone(self),
            id,
            closed,
            slot: Some(slot),
            unflushed: Arc::default(),
        })
    }

    /// Closes the connection that has been without a first request for too long, else the one that has
    /// been idle longest of the owner with most connections. A new connection is spared, as its
    /// request is on its way. Returns whether there was one to close.
    fn close_idle(&self) -> bool {
        let open = self.open();
        let idle = || {
            let connections = open.by_id.values();
            connections.filter_map(|connection| Some((connection.idle_since()?, connection)))
        };
        let silent = idle().filter(|(_, connection)| !connection.has_requested);
        if let Some((since, connection)) = silent.min_by_key(|(since, _)| *since)
            && since.elapsed() >= self.timeouts.when_full
        {
            connection.closed.cancel();
            return true;
        }
        let mut counts = BTreeMap::<Option<Owner>, usize>::new();
        for connection in open.by_id.values() {
            *counts.entry(connection.owner()).or_default() += 1;
        }
        let count = |connection: &Connection| counts.get(&connection.owner()).copied();
        let oldest = idle()
            .filter(|(_, connection)| connection.has_requested)
            .max_by(|(since_a, a), (since_b, b)| {
                let by_count = count(a).cmp(&count(b));
                by_count.then(since_b.cmp(since_a))
            });
        if let Some((_, connection)) = oldest {
            connection.closed.cancel();
        }
        oldest.is_some()
    }

    /// Reduces the number of slots and closes idle connections, because the system had no file
    /// descriptor for another one.
    pub(crate) fn reduce(&self) {
        let mut to_close = {
            let mut open = self.open();
            let count = open.by_id.len();
            let keep = count.saturating_sub(DESCRIPTOR_MARGIN).max(MIN_SLOTS);
            open.surplus = count.saturating_sub(keep);
            let keep_free = MIN_SLOTS.saturating_sub(count);
            let free = self.free.available_permits().saturating_sub(keep_free);
            self.free.forget_permits(free);
            open.surplus.max(1)
        };
        while to_close > 0 && self.close_idle() {
            to_close -= 1;
        }
    }

    /// Closes the connections of a token.
    pub(crate) fn close_all_of(&self, owner: Owner) {
        for connection in self.open().by_id.values() {
            if connection.owner() == Some(owner) {
                connection.closed.cancel();
            }
        }
    }
}

impl ConnectionSlot {
    /// What the connection was given and has not written.
    pub(crate) fn unflushed(&self) -> Arc<Unflushed> {
        Arc::clone(&self.unflushed)
    }

    fn update(&self, change: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.limit.open().by_id.get_mut(&self.id) {
            change(connection);
        }
    }

    /// Begins a request, which is served until the result is dropped.
    pub(crate) fn begin_request(self: &Arc<ConnectionSlot>) -> ActiveRequest {
        self.update(|connection| {
            connection.idle_since = None;
            connection.has_requested = true;
        });
        ActiveRequest(Arc::clone(self))
    }

    /// Charges the connection to the owner of its request. If the owner has no connection left, the
    /// one of his that has been idle longest is closed for it. Returns false if all are in use.
    pub(crate) fn charge_to(&self, owner: Owner) -> bool {
        let mut open = self.limit.open();
        let connections = &mut open.by_id;
        match connections.get_mut(&self.id) {
            Some(connection) if connection.owner() != Some(owner) => connection.permit = None,
            _ => return true,
        }
        let permit = self.limit.quota.try_acquire(owner, 1).or_else(|| {
            let (_, oldest) = connections
                .values_mut()
                .filter(|connection| connection.owner() == Some(owner))
                .filter_map(|connection| Some((connection.idle_since()?, connection)))
                .min_by_key(|(since, _)| *since)?;
            oldest.closed.cancel();
            oldest.permit.take()
        });
        let is_charged = permit.is_some();
        if let Some(connection) = connections.get_mut(&self.id) {
            connection.permit = permit;
        }
        is_charged
    }

    /// Completes when the connection must close: its first request did not come in time, or its slot
    /// is needed.
    pub(crate) async fn closed(&self) {
        let timeout = self.limit.timeouts.always;
        let early = tokio::time::timeout(timeout, self.closed.cancelled()).await;
        let mut has_requested = false;
        self.update(|connection| has_requested = connection.has_requested);
        if early.is_err() && has_requested {
            self.closed.cancelled().await;
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.limit.open();
        open.by_id.remove(&self.id);
        if open.surplus > 0
            && let Some(slot) = self.slot.take()
        {
            open.surplus -= 1;
            slot.forget();
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let now = Instant::now();
        self.0
            .update(|connection| connection.idle_since = Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokens;
    use crate::transport::testing::{PATIENCE, block_on};

    const LONG: Duration = Duration::from_secs(3600);

    fn limit(count: usize, always: Duration, when_full: Duration) -> Arc<ConnectionLimit> {
        ConnectionLimit::new(count, false, FirstRequestTimeouts { always, when_full })
    }

    async fn is_full(limit: &Arc<ConnectionLimit>) -> bool {
        let next = tokio::time::timeout(RETRY_INTERVAL * 3, limit.acquire()).await;
        next.is_err()
    }

    #[test]
    fn the_longest_idle_connection_is_closed_and_no_busy_one() {
        block_on(async {
            let limit = limit(3, LONG, Duration::ZERO);
            let busy = Arc::new(limit.acquire().await.unwrap());
            let request = busy.begin_request();
            let oldest = limit.acquire().await.unwrap();
            let _younger = limit.acquire().await.unwrap();
            let closing = tokio::spawn(async move { oldest.closed().await });
            let _next = tokio::time::timeout(PATIENCE, limit.acquire())
                .await
                .unwrap();
            closing.await.unwrap();
            assert!(!busy.closed.is_cancelled());
            drop(request);
            for _ in 0..3 {
                limit.close_idle();
            }
            assert!(busy.closed.is_cancelled(), "it is idle now");
        });
    }

    #[test]
    fn a_new_connection_is_not_closed_for_another() {
        block_on(async {
            let limit = limit(2, LONG, LONG);
            let first = Arc::new(limit.acquire().await.unwrap());
            let second = limit.acquire().await.unwrap();
            assert!(is_full(&limit).await);
            assert!(!first.closed.is_cancelled() && !second.closed.is_cancelled());
            // When its request was served, it may be closed.
            drop(first.begin_request());
            let closed = first.closed.clone();
            let closing = tokio::spawn(async move { first.closed().await });
            let _third = tokio::time::timeout(PATIENCE, limit.acquire())
                .await
                .unwrap();
            closing.await.unwrap();
            assert!(closed.is_cancelled() && !second.closed.is_cancelled());
        });
    }

    #[test]
    fn a_connection_without_a_first_request_is_closed() {
        block_on(async {
            let limit = limit(2, Duration::from_millis(20), LONG);
            let silent = limit.acquire().await.unwrap();
            let asking = Arc::new(limit.acquire().await.unwrap());
            drop(asking.begin_request());
            let over = tokio::time::timeout(PATIENCE, silent.closed()).await;
            assert!(over.is_ok(), "it was silent");
            let over = tokio::time::timeout(Duration::from_millis(100), asking.closed()).await;
            assert!(over.is_err(), "it may wait for its next request");
        });
    }

    #[test]
    fn one_token_has_its_share_and_closes_only_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        for name in ["greedy", "other"] {
            tokens.create(name, false).unwrap();
        }
        let owners: Vec<Owner> = tokens.hashes().into_iter().map(Some).collect();
        let timeouts = FirstRequestTimeouts {
            always: LONG,
            when_full: LONG,
        };
        let limit = ConnectionLimit::new(256, true, timeouts);
        block_on(async {
            let mut greedy = Vec::new();
            for number in 0..112 {
                let slot = Arc::new(limit.acquire().await.unwrap());
                let busy = slot.begin_request();
                assert!(
                    slot.charge_to(owners[0]) && slot.charge_to(owners[0]),
                    "{number}"
                );
                greedy.push((slot, busy));
            }
            let more = Arc::new(limit.acquire().await.unwrap());
            assert!(
                !more.charge_to(owners[0]),
                "all of its connections are in use"
            );
            let mut others = Vec::new();
            for _ in 0..16 {
                let slot = limit.acquire().await.unwrap();
                assert!(slot.charge_to(owners[1]));
                others.push(slot);
            }
            assert!(!limit.acquire().await.unwrap().charge_to(owners[0]));
            let (slot, busy) = greedy.swap_remove(7);
            drop(busy);
            assert!(more.charge_to(owners[0]) && slot.closed.is_cancelled());
            assert!(others.iter().all(|slot| !slot.closed.is_cancelled()));
            limit.close_all_of(owners[0]);
            assert!(greedy.iter().all(|(slot, _)| slot.closed.is_cancelled()));
            assert!(others.iter().all(|slot| !slot.closed.is_cancelled()));
        });
    }

    #[test]
    fn without_descriptors_slots_are_given_up_and_idle_ones_close() {
        block_on(async {
            let limit = limit(200, LONG, Duration::ZERO);
            let mut open = Vec::new();
            for _ in 0..64 {
                open.push(limit.acquire().await.unwrap());
            }
            limit.reduce();
            let closed = |open: &[ConnectionSlot]| {
                let closed = open.iter().filter(|slot| slot.closed.is_cancelled());
                closed.count()
            };
            assert_eq!(closed(&open), DESCRIPTOR_MARGIN);
            open.retain(|slot| !slot.closed.is_cancelled());
            assert_eq!(limit.free.available_permits(), 0);
            drop(open);
            assert_eq!(limit.free.available_permits(), 64 - DESCRIPTOR_MARGIN);
            // Never below the minimum.
            for _ in 0..9 {
                limit.reduce();
            }
            assert_eq!(limit.free.available_permits(), MIN_SLOTS);
        });
    }
}
