//! Subscriptions to resources: `subscriptions/listen` of protocol 2026-07-28, a request whose response
//! stays open, and `resources/subscribe` of older protocols, which lasts as long as the session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::Notify;

use super::quota::Owner;
use super::server::Server;
use super::subscriber::{Revisions, Subscriber, revisions};
use crate::limits::ADDRESS_LIMIT_BYTES;
use crate::response::uri;

/// Most resources of one subscriber.
const URIS_LIMIT: usize = 1000;

/// Most bytes of the URIs of one subscriber: 1000 of a usual length. They are kept for the whole
/// session, and each is looked up after every commit.
const URIS_LIMIT_BYTES: usize = 64 << 10;

/// How often the server checks whether a client is still connected.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(30);

/// The part of a filter that the server honours: changes of the list, and resources of open files
/// within the limits.
pub(super) fn accepted(server: &Server, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    if let Some(uris) = &requested.resource_subscriptions {
        let mut remaining_bytes = URIS_LIMIT_BYTES;
        let served = uris.iter().filter(|uri| {
            let fits = uri.len() <= ADDRESS_LIMIT_BYTES.min(remaining_bytes);
            let is_accepted = fits && is_served(server, uri);
            if is_accepted {
                remaining_bytes -= uri.len();
            }
            is_accepted
        });
        accepted.resource_subscriptions = Some(served.take(URIS_LIMIT).cloned().collect());
    }
    accepted
}

/// Whether a URI names a resource of an open file, which need not exist.
fn is_served(server: &Server, uri: &str) -> bool {
    #[cfg(feature = "conformance")]
    if super::conformance::is_address(uri) {
        return true;
    }
    let indexes = server.indexes.list();
    uri::parse(uri).is_some_and(|uri| indexes.iter().any(|index| index.name() == uri.index))
}

/// Serves one `subscriptions/listen` until the client cancels it or the server shuts down.
pub(super) async fn listen(
    server: &Arc<Server>,
    owner: Owner,
    cx: SubscriptionContext,
) -> Result<(), ErrorData> {
    let uris = cx.accepted().resource_subscriptions.clone();
    let uris = uris.unwrap_or_default();
    let wants_list = cx.accepted().resources_list_changed == Some(true);
    let mut subscriber = tokio::select! {
        () = cx.cancelled() => return Ok(()),
        () = server.shutdown.cancelled() => return Ok(()),
        subscriber = Subscriber::new(server, owner, &uris) => subscriber,
    };
    loop {
        tokio::select! {
            () = cx.cancelled() => return Ok(()),
            () = server.shutdown.cancelled() => return Ok(()),
            () = subscriber.changed() => {}
        }
        let revisions = subscriber.revisions();
        let changes = tokio::select! {
            () = cx.cancelled() => return Ok(()),
            () = server.shutdown.cancelled() => return Ok(()),
            changes = subscriber.take_changes(&revisions) => changes,
        };
        if wants_list
            && changes.list_changed
            && cx.sink().notify_resource_list_changed().await.is_err()
        {
            return Ok(());
        }
        for uri in changes.updated {
            if cx.sink().notify_resource_updated(uri).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// The `resources/subscribe` subscriptions of one session.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    state: Mutex<State>,
    /// Notified after each new subscription.
    added: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Subscribed URIs, with the revision that each had when it was added.
    revisions: Revisions,
    /// Whether the task that sends notifications runs.
    is_delivering: bool,
}

impl Subscriptions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to one resource.
    pub(super) async fn add(
        self: &Arc<Subscriptions>,
        server: &Arc<Server>,
        owner: Owner,
        peer: &Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        if !is_served(server, &uri) {
            let data = serde_json::json!({ "uri": uri });
            return Err(ErrorData::resource_not_found(
                "Resource not found",
                Some(data),
            ));
        }
        // Read before the response is sent: every commit after the response is notified.
        let revisions = revisions(server, owner, std::slice::from_ref(&uri)).await;
        let mut state = self.state();
        if !state.revisions.contains_key(&uri) {
            let count = state.revisions.len();
            let bytes: usize = state.revisions.keys().map(String::len).sum();
            if count >= URIS_LIMIT || bytes.saturating_add(uri.len()) > URIS_LIMIT_BYTES {
                let message = format!(
                    "{count} resources with URIs of {bytes} bytes are subscribed to, and the limit \
                     is {URIS_LIMIT} of {URIS_LIMIT_BYTES} bytes: unsubscribe from some"
                );
                return Err(ErrorData::invalid_params(message, None));
            }
            state.revisions.extend(revisions);
        }
        // A commit since the look-up was published before this resource was subscribed to.
        self.added.notify_one();
        if !std::mem::replace(&mut state.is_delivering, true) {
            let (subscriptions, server) = (Arc::clone(self), Arc::clone(server));
            tokio::spawn(deliver(subscriptions, server, owner, peer.clone()));
        }
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.state().revisions.remove(uri);
    }

    /// The subscribed resources. `None` ends delivery: there are none, or the client is gone.
    fn revisions(&self, peer: &Peer<RoleServer>) -> Option<Revisions> {
        let mut state = self.state();
        state.is_delivering = !state.revisions.is_empty() && !peer.is_transport_closed();
        state.is_delivering.then(|| state.revisions.clone())
    }
}

/// Sends the notifications of one session.
async fn deliver(
    subscriptions: Arc<Subscriptions>,
    server: Arc<Server>,
    owner: Owner,
    peer: Peer<RoleServer>,
) {
    let mut subscriber = Subscriber::new(&server, owner, &[]).await;
    loop {
        let may_have_changed = tokio::select! {
            () = server.shutdown.cancelled() => return,
            () = tokio::time::sleep(LIVENESS_INTERVAL) => false,
            () = subscriptions.added.notified() => true,
            () = subscriber.changed() => true,
        };
        let Some(revisions) = subscriptions.revisions(&peer) else {
            return;
        };
        if !may_have_changed {
            continue;
        }
        let disconnected = async {
            while !peer.is_transport_closed() {
                tokio::time::sleep(LIVENESS_INTERVAL).await;
            }
        };
        let changes = tokio::select! {
            changes = subscriber.take_changes(&revisions) => changes,
            () = disconnected => return,
        };
        if changes.list_changed {
            // A client that is gone is noticed in the next round.
            let _ = peer.notify_resource_list_changed().await;
        }
        for uri in changes.updated {
            let updated = ResourceUpdatedNotificationParam::new(uri);
            let _ = peer.notify_resource_updated(updated).await;
        }
    }
}
