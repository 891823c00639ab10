//! The session that a server with a protocol before 2026-07-28 keeps for a client, and how to reopen it after the server
//! restarts.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;

/// The session of the client, if it has one.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    state: Mutex<State>,
    /// Held while a session is opened again.
    pub(super) renewing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Session>,
    /// The message that opened it.
    initialize: Option<Bytes>,
    /// Addresses that the client subscribed to.
    subscribed: BTreeSet<String>,
}

/// A session, as headers name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    /// `None` where a server has none.
    pub(super) id: Option<String>,
    /// The revision that was agreed on.
    pub(super) revision: Option<String>,
}

impl Sessions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn current(&self) -> Option<Session> {
        self.state().current.clone()
    }

    /// Begins a session with the answer to `initialize`.
    pub(super) fn begin(&self, initialize: Bytes, session: Session) {
        let mut state = self.state();
        state.initialize = Some(initialize);
        state.current = Some(session);
    }

    /// The message that opened the session, and what was subscribed to in it.
    pub(super) fn opening(&self) -> Option<(Bytes, Vec<String>)> {
        let state = self.state();
        let initialize = state.initialize.clone()?;
        Some((initialize, state.subscribed.iter().cloned().collect()))
    }

    /// Remembers a subscription, or forgets it.
    pub(super) fn subscribe(&self, uri: &str, is_wanted: bool) {
        let mut state = self.state();
        if is_wanted {
            state.subscribed.insert(uri.to_owned());
        } else {
            state.subscribed.remove(uri);
        }
    }

    /// Ends the session; gives it, to be closed.
    pub(super) fn end(&self) -> Option<Session> {
        self.state().current.take()
    }
}
