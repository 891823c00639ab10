//! Bounds the sessions of clients that speak a protocol before 2026-07-28, which the server keeps from
//! one request to the next.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionError};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use crate::tokens::Hash;
use crate::transport::client_info::truncate_client_info;
use crate::transport::in_flight::InFlightRequests;
use crate::transport::quota::{Owner, Quota, QuotaPermit};
use crate::transport::request_guard::RequestGuard;

/// Most sessions, and how many of them each token can always have. Beyond that, the least recently used
/// session of the same token is closed.
const SESSIONS_LIMIT: usize = 256;
const SESSIONS_RESERVED: usize = 16;

/// How long closing a session may take. After that it ends when its client reads, or its connection is
/// closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// The owner of the request that is served: rmcp creates sessions without telling for whom.
    pub(super) static OWNER: Owner;
}

type Error = <LocalSessionManager as SessionManager>::Error;

/// The session manager of rmcp, with an owner for each session and a limit on their number. A session
/// counts from its creation, even if its client leaves before it learns the id.
#[derive(Debug)]
pub(super) struct LimitedSessionManager {
    manager: Arc<LocalSessionManager>,
    quota: Arc<Quota>,
    sessions: Mutex<HashMap<SessionId, SessionEntry>>,
}

#[derive(Debug)]
struct SessionEntry {
    permit: QuotaPermit,
    in_flight: Arc<InFlightRequests>,
    last_used: Instant,
}

impl LimitedSessionManager {
    pub(super) fn new(requires_token: bool) -> LimitedSessionManager {
        LimitedSessionManager {
            manager: Arc::default(),
            quota: Quota::new(SESSIONS_LIMIT, SESSIONS_RESERVED, requires_token),
            sessions: Mutex::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, SessionEntry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a session as used. Returns false if there is none of that id; for anybody but its owner
    /// there is none.
    pub(super) fn touch(&self, id: &str, owner: Owner) -> bool {
        match self.sessions().get_mut(id) {
            Some(session) if session.permit.owner() == owner => {
                session.last_used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Closes the sessions of a revoked token.
    pub(super) fn close_all_of(&self, owner: Hash) {
        let mut closed = Vec::new();
        self.sessions().retain(|id, session| {
            let is_owned = session.permit.owner() == Some(owner);
            if is_owned {
                closed.push(id.clone());
            }
            !is_owned
        });
        for id in closed {
            self.close_in_background(id);
        }
    }

    /// Closes a session that was removed here. Its task may wait for a client that does not read, so
    /// nothing waits for it.
    fn close_in_background(&self, id: SessionId) {
        let manager = Arc::clone(&self.manager);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, manager.close_session(&id)).await;
        });
    }

    /// A permit for one more session. If the owner cannot have more, his least recently used session is
    /// closed for it.
    fn acquire(&self, owner: Owner) -> Option<QuotaPermit> {
        if let Some(permit) = self.quota.try_acquire(owner, 1) {
            return Some(permit);
        }
        let (id, session) = {
            let mut sessions = self.sessions();
            let (oldest, _) = sessions
                .iter()
                .filter(|(_, session)| session.permit.owner() == owner)
                .min_by_key(|(_, session)| session.last_used)?;
            let oldest = oldest.clone();
            sessions.remove_entry(&oldest)?
        };
        self.close_in_background(id);
        Some(session.permit)
    }

    /// Adds a request to those in flight until its work has ended.
    ///
    /// # Errors
    /// The error to answer it with.
    fn track(
        &self,
        id: &SessionId,
        message: &mut ClientJsonRpcMessage,
    ) -> Result<(), Box<ServerJsonRpcMessage>> {
        let JsonRpcMessage::Request(request) = message else {
            return Ok(());
        };
        let in_flight = match self.sessions().get(id) {
            Some(session) => Arc::clone(&session.in_flight),
            // It was closed meanwhile, for which rmcp has an error.
            None => return Ok(()),
        };
        let guard = in_flight.start(&request.id).map_err(|error| {
            Box::new(ServerJsonRpcMessage::error(error, Some(request.id.clone())))
        })?;
        let extensions = request.request.extensions_mut();
        extensions.insert(RequestGuard::new(guard));
        Ok(())
    }
}

/// The messages that answer a request: one rejection, or the stream of rmcp.
enum ResponseStream<S> {
    Rejected(Option<ServerSseMessage>),
    Accepted(Pin<Box<S>>),
}

impl<S: Stream<Item = ServerSseMessage>> Stream for ResponseStream<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut *self {
            ResponseStream::Rejected(message) => Poll::Ready(message.take()),
            ResponseStream::Accepted(stream) => stream.as_mut().poll_next(cx),
        }
    }
}

impl SessionManager for LimitedSessionManager {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let owner = OWNER.try_with(|owner| *owner).unwrap_or_default();
        let permit = self.acquire(owner).ok_or_else(|| {
            let error = io::Error::other("too many sessions are open");
            SessionError::Io(error)
        })?;
        let created = self.manager.create_session().await?;
        let session = SessionEntry {
            permit,
            in_flight: Arc::default(),
            last_used: Instant::now(),
        };
        self.sessions().insert(created.0.clone(), session);
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        truncate_client_info(&mut message);
        self.manager.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.manager.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.sessions().remove(id);
        self.manager.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        if let Err(error) = self.track(id, &mut message) {
            let error = ServerSseMessage::from_message(*error);
            return Ok(ResponseStream::Rejected(Some(error)));
        }
        let stream = self.manager.create_stream(id, message).await?;
        Ok(ResponseStream::Accepted(Box::pin(stream)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        // This server sends clients no requests, so a response belongs to none, and rmcp would keep it.
        // The tools of the conformance suite do send requests.
        let is_response = matches!(
            message,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
        );
        if is_response && !cfg!(feature = "conformance") {
            return Ok(());
        }
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
    use serde_json::json;

    use super::*;
    use crate::tokens::Tokens;
    use crate::transport::testing::{PATIENCE, block_on};

    fn owners() -> [Owner; 2] {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        for name in ["one", "other"] {
            tokens.create(name, false).unwrap();
        }
        let hashes = tokens.hashes();
        [Some(hashes[0]), Some(hashes[1])]
    }

    async fn begin(
        sessions: &LimitedSessionManager,
        owner: Owner,
    ) -> (
        SessionId,
        <LimitedSessionManager as SessionManager>::Transport,
    ) {
        let created = OWNER.scope(owner, sessions.create_session()).await;
        created.unwrap()
    }

    fn message(value: serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    async fn open(sessions: &LimitedSessionManager) -> usize {
        sessions.manager.sessions.read().await.len()
    }

    async fn wait_for(sessions: &LimitedSessionManager, count: usize) {
        let waiting = async {
            while open(sessions).await != count {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{} are open", open(sessions).await);
    }

    #[test]
    fn sessions_whose_clients_left_early_are_counted() {
        block_on(async {
            let sessions = LimitedSessionManager::new(false);
            let mut created = Vec::new();
            for _ in 0..SESSIONS_LIMIT + 44 {
                created.push(begin(&sessions, None).await);
                // The first one is used again and again.
                assert!(sessions.touch(&created[0].0, None));
            }
            wait_for(&sessions, SESSIONS_LIMIT).await;
            assert!(sessions.touch(&created[0].0, None));
            assert!(!sessions.touch(&created[1].0, None));
            sessions.close_session(&created[0].0).await.unwrap();
            assert!(!sessions.touch(&created[0].0, None));
            assert_eq!(sessions.quota.in_use(), SESSIONS_LIMIT - 1);
        });
    }

    #[test]
    fn a_session_is_closed_only_for_another_of_its_owner() {
        let [greedy, other] = owners();
        block_on(async {
            let sessions = LimitedSessionManager::new(true);
            let first = begin(&sessions, other).await;
            assert!(
                !sessions.touch(&first.0, greedy),
                "it belongs to another owner"
            );
            let mut created = Vec::new();
            for _ in 0..2 * SESSIONS_LIMIT {
                created.push(begin(&sessions, greedy).await);
            }
            let of_greedy = SESSIONS_LIMIT - 9 * SESSIONS_RESERVED;
            wait_for(&sessions, of_greedy + 1).await;
            for _ in 1..SESSIONS_RESERVED {
                created.push(begin(&sessions, other).await);
            }
            assert!(sessions.touch(&first.0, other));
            assert_eq!(open(&sessions).await, of_greedy + SESSIONS_RESERVED);
        });
    }

    #[test]
    fn a_session_that_is_stuck_delays_no_other() {
        let [stuck_owner, other] = owners();
        block_on(async {
            let sessions = LimitedSessionManager::new(true);
            // Nothing serves its transport, so its task waits for a response for ever.
            let stuck = Arc::new(begin(&sessions, stuck_owner).await);
            let initialize = message(
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}}),
            );
            let wait = Duration::from_millis(20);
            let answer = sessions.initialize_session(&stuck.0, initialize);
            assert!(tokio::time::timeout(wait, answer).await.is_err());
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            loop {
                let accepted = sessions.accept_message(&stuck.0, message(initialized.clone()));
                if tokio::time::timeout(wait, accepted).await.is_err() {
                    break;
                }
            }
            let fine = begin(&sessions, other).await;
            // Neither call waits, and both sessions end.
            sessions.close_all_of(stuck_owner.unwrap());
            sessions.close_all_of(other.unwrap());
            wait_for(&sessions, 0).await;
            assert!(!sessions.touch(&stuck.0, stuck_owner) && !sessions.touch(&fine.0, other));
            assert_eq!(sessions.quota.in_use(), 0);
        });
    }

    #[test]
    fn an_id_in_flight_is_rejected_within_a_session() {
        block_on(async {
            let sessions = LimitedSessionManager::new(false);
            let (id, _transport) = begin(&sessions, None).await;
            let (other, _transport) = begin(&sessions, None).await;
            let list = || message(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}));
            let mut first = list();
            sessions.track(&id, &mut first).unwrap();
            let rejected = sessions.track(&id, &mut list()).unwrap_err();
            let text = serde_json::to_string(&rejected).unwrap();
            assert!(
                text.contains("-32600") && text.contains(r#""id":7"#),
                "{text}"
            );
            sessions.track(&other, &mut list()).unwrap();
            drop(first);
            sessions.track(&id, &mut list()).unwrap();
        });
    }

    #[test]
    fn responses_of_clients_are_dropped() {
        block_on(async {
            let sessions = LimitedSessionManager::new(false);
            let (id, _transport) = begin(&sessions, None).await;
            let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
            for _ in 0..100 {
                let accepted = sessions.accept_message(&id, message(answer.clone()));
                let accepted = tokio::time::timeout(PATIENCE, accepted).await;
                accepted.expect("it does not wait").unwrap();
            }
        });
    }
}
