//! The conversations of older clients, which a server keeps between two requests: whose they are,
//! and how many there may be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use crate::tokens::Hash;

/// Most conversations at once. One more ends the one that was silent for longest.
const SESSIONS_LIMIT: usize = 256;

type Error = <LocalSessionManager as SessionManager>::Error;

/// Who has a conversation: a token, or anybody where none are asked for. Not the name of the token,
/// which another one may have later.
pub(super) type Owner = Option<Hash>;

/// Who has which conversation. A conversation counts from the moment it is made: a client that
/// leaves before it hears its number has used up one all the same.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The conversations themselves, as rmcp keeps them.
    manager: Arc<LocalSessionManager>,
    known: Mutex<HashMap<SessionId, Known>>,
}

#[derive(Debug)]
struct Known {
    /// Who began it; `None`: the answer that tells the number is not made yet, and nobody may go on.
    owner: Option<Owner>,
    last_request: Instant,
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody may go on with a conversation; to others than its owner it does not exist.
    pub(super) fn goes_on(&self, id: &str, owner: Owner) -> bool {
        match self.known().get_mut(id) {
            Some(known) if known.owner == Some(owner) => {
                known.last_request = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Whose the conversation is that just began.
    pub(super) fn began(&self, id: &str, owner: Owner) {
        if let Some(known) = self.known().get_mut(id) {
            known.owner = Some(owner);
        }
    }

    /// Ends the conversations of tokens that are gone.
    pub(super) async fn end_of(&self, is_gone: impl Fn(Hash) -> bool) {
        let ended: Vec<SessionId> = {
            let known = self.known();
            let of_gone = known.iter().filter(|(_, known)| {
                let owner = known.owner.flatten();
                owner.is_some_and(&is_gone)
            });
            of_gone.map(|(id, _)| id.clone()).collect()
        };
        for id in ended {
            let _ = self.close_session(&id).await;
        }
    }

    /// Counts a conversation; gives the one that has to end for it.
    fn count(&self, id: SessionId) -> Option<SessionId> {
        let mut known = self.known();
        let oldest = known.iter().min_by_key(|(_, known)| known.last_request);
        let oldest = oldest
            .map(|(id, _)| id.clone())
            .filter(|_| known.len() >= SESSIONS_LIMIT);
        if let Some(oldest) = &oldest {
            known.remove(oldest);
        }
        let fresh = Known {
            owner: None,
            last_request: Instant::now(),
        };
        known.insert(id, fresh);
        oldest
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let made = self.manager.create_session().await?;
        if let Some(oldest) = self.count(made.0.clone()) {
            let manager = Arc::clone(&self.manager);
            // Its worker may be busy; the new client need not wait for it.
            tokio::spawn(async move {
                let _ = manager.close_session(&oldest).await;
            });
        }
        Ok(made)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        self.manager.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.manager.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.known().remove(id);
        self.manager.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.manager.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        self.manager.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.manager.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.manager.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_whose_clients_left_early_are_counted_too() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let sessions = Sessions::default();
            let mut made = Vec::new();
            for number in 0..SESSIONS_LIMIT + 44 {
                let (id, transport) = sessions.create_session().await.unwrap();
                made.push((id, transport));
                if number == 0 {
                    assert!(!sessions.goes_on(&made[0].0, None), "it is nobody's yet");
                    sessions.began(&made[0].0, None);
                }
                // The first one is used again and again.
                assert!(sessions.goes_on(&made[0].0, None));
            }
            let open = || async { sessions.manager.sessions.read().await.len() };
            for _ in 0..1000 {
                if open().await <= SESSIONS_LIMIT {
                    break;
                }
                tokio::task::yield_now().await;
            }
            assert_eq!(open().await, SESSIONS_LIMIT);
            assert!(sessions.goes_on(&made[0].0, None));
            assert!(!sessions.has_session(&made[1].0).await.unwrap());
            sessions.close_session(&made[0].0).await.unwrap();
            assert!(!sessions.goes_on(&made[0].0, None));
        });
    }
}
