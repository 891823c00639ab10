//! Subscriptions: those of the newer protocol, which are a request that stays open, and those of the
//! older one, which last as long as their conversation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::Notify;

use super::changes::{Revisions, Subscriber, revisions};
use super::server::Server;
use super::share::Owner;
use crate::definitions::limits::ADDRESS_LIMIT_BYTES;
use crate::response::uri;

/// Most addresses of one subscriber.
const ADDRESSES_LIMIT: usize = 1000;

/// Most bytes of the addresses of one subscriber together: 1000 of a usual length. They are kept for
/// as long as the conversation lasts, and looked up after each commit.
const ADDRESSES_BYTES: usize = 64 << 10;

/// How often it is looked whether a client is still there.
const PULSE: Duration = Duration::from_secs(30);

/// The part of a subscription that can be had: changes of the resources, and addresses of files that
/// are open.
pub(super) fn accepted(server: &Server, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    if let Some(addresses) = &requested.resource_subscriptions {
        let mut left = ADDRESSES_BYTES;
        let ours = addresses.iter().filter(|address| {
            address.len() <= ADDRESS_LIMIT_BYTES
                && address.len() <= left
                && is_ours(server, address)
                && {
                    left -= address.len();
                    true
                }
        });
        let ours = ours.take(ADDRESSES_LIMIT).cloned().collect();
        accepted.resource_subscriptions = Some(ours);
    }
    accepted
}

fn is_ours(server: &Server, address: &str) -> bool {
    #[cfg(feature = "conformance")]
    if crate::conformance::is_address(address) {
        return true;
    }
    let found = uri::parse(address);
    let mut all = server.indexes.list().into_iter();
    found.is_some_and(|found| all.any(|index| index.name() == found.index))
}

/// Tells of changes until the client or the server has enough.
pub(super) async fn listen(
    server: &Arc<Server>,
    owner: Owner,
    cx: SubscriptionContext,
) -> Result<(), ErrorData> {
    let addresses = cx.accepted().resource_subscriptions.clone();
    let addresses = addresses.unwrap_or_default();
    let wants_list = cx.accepted().resources_list_changed == Some(true);
    let mut subscriber = tokio::select! {
        () = cx.cancelled() => return Ok(()),
        () = server.over.cancelled() => return Ok(()),
        subscriber = Subscriber::new(server, owner, &addresses) => subscriber,
    };
    loop {
        tokio::select! {
            () = cx.cancelled() => return Ok(()),
            () = server.over.cancelled() => return Ok(()),
            () = subscriber.changed() => {}
        }
        let addresses = subscriber.revisions();
        let news = tokio::select! {
            () = cx.cancelled() => return Ok(()),
            () = server.over.cancelled() => return Ok(()),
            news = subscriber.news(&addresses) => news,
        };
        if wants_list
            && news.list_changed
            && cx.sink().notify_resource_list_changed().await.is_err()
        {
            return Ok(());
        }
        for address in news.updated {
            if cx.sink().notify_resource_updated(address).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// The addresses that a conversation of the older protocol subscribed to.
#[derive(Debug, Default)]
pub(super) struct Subscribed {
    state: Mutex<State>,
    /// Told of every address that is added.
    added: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// With the revision that each had when it was subscribed to.
    addresses: Revisions,
    /// Whether somebody tells the client of changes.
    is_followed: bool,
}

impl Subscribed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the client of changes of that address from now on.
    pub(super) async fn add(
        self: &Arc<Subscribed>,
        server: &Arc<Server>,
        owner: Owner,
        peer: &Peer<RoleServer>,
        address: String,
    ) -> Result<(), ErrorData> {
        if !is_ours(server, &address) {
            let data = serde_json::json!({ "uri": address });
            return Err(ErrorData::resource_not_found(
                "Resource not found",
                Some(data),
            ));
        }
        // Before the answer: every change after it is told, and is one to this.
        let revisions = revisions(server, owner, std::slice::from_ref(&address)).await;
        let mut state = self.state();
        let is_new = !state.addresses.contains_key(&address);
        let bytes: usize = state.addresses.keys().map(String::len).sum();
        let is_full = state.addresses.len() >= ADDRESSES_LIMIT
            || bytes.saturating_add(address.len()) > ADDRESSES_BYTES;
        if is_full && is_new {
            let message = format!(
                "{} addresses of {bytes} bytes are subscribed to, and more than {ADDRESSES_LIMIT} \
                 of {ADDRESSES_BYTES} bytes cannot be: unsubscribe from some",
                state.addresses.len()
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        if is_new {
            state.addresses.extend(revisions);
        }
        // Something may have been committed since, which is no news to who follows already.
        self.added.notify_one();
        if !std::mem::replace(&mut state.is_followed, true) {
            let (subscribed, server) = (Arc::clone(self), Arc::clone(server));
            tokio::spawn(follow(subscribed, server, owner, peer.clone()));
        }
        Ok(())
    }

    pub(super) fn remove(&self, address: &str) {
        self.state().addresses.remove(address);
    }

    /// Those subscribed to; `None` ends the telling, as nobody listens any more.
    fn addresses(&self, peer: &Peer<RoleServer>) -> Option<Revisions> {
        let mut state = self.state();
        state.is_followed = !state.addresses.is_empty() && !peer.is_transport_closed();
        state.is_followed.then(|| state.addresses.clone())
    }
}

async fn follow(
    subscribed: Arc<Subscribed>,
    server: Arc<Server>,
    owner: Owner,
    peer: Peer<RoleServer>,
) {
    let mut subscriber = Subscriber::new(&server, owner, &[]).await;
    loop {
        let is_news = tokio::select! {
            () = server.over.cancelled() => return,
            () = tokio::time::sleep(PULSE) => false,
            () = subscribed.added.notified() => true,
            () = subscriber.changed() => true,
        };
        let Some(addresses) = subscribed.addresses(&peer) else {
            return;
        };
        if !is_news {
            continue;
        }
        let gone = async {
            while !peer.is_transport_closed() {
                tokio::time::sleep(PULSE).await;
            }
        };
        let news = tokio::select! {
            news = subscriber.news(&addresses) => news,
            () = gone => return,
        };
        if news.list_changed {
            // That the client is gone is seen the next time.
            let _ = peer.notify_resource_list_changed().await;
        }
        for address in news.updated {
            let updated = ResourceUpdatedNotificationParam::new(address);
            let _ = peer.notify_resource_updated(updated).await;
        }
    }
}
