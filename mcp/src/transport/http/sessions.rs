//! The conversations of older clients, which a server keeps between two requests: whose they are,
//! and how many there may be.

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
use crate::transport::flight::Flight;
use crate::transport::held::Held;
use crate::transport::hello::shorten;
use crate::transport::share::{Owner, Share, Shares};

/// Most conversations at once, and how many of them each token has for itself. One more ends the one
/// of the same token that was silent for longest.
const SESSIONS_LIMIT: usize = 256;
const SESSIONS_RESERVED: usize = 16;

/// How long a conversation may take to end. After that it is left to end when its client reads, or
/// is cut off.
const CLOSING: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// Whose request is being answered: a conversation that it begins is his.
    pub(super) static OWNER: Owner;
}

type Error = <LocalSessionManager as SessionManager>::Error;

/// Who has which conversation. A conversation counts from the moment it is made: a client that
/// leaves before it hears its number has used up one all the same.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The conversations themselves, as rmcp keeps them.
    manager: Arc<LocalSessionManager>,
    shares: Arc<Shares>,
    known: Mutex<HashMap<SessionId, Known>>,
}

#[derive(Debug)]
struct Known {
    share: Share,
    flight: Arc<Flight>,
    last_request: Instant,
}

impl Sessions {
    pub(super) fn new(asks_for_tokens: bool) -> Sessions {
        Sessions {
            manager: Arc::default(),
            shares: Shares::new(SESSIONS_LIMIT, SESSIONS_RESERVED, asks_for_tokens),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody may go on with a conversation; to others than its owner it does not exist.
    pub(super) fn goes_on(&self, id: &str, owner: Owner) -> bool {
        match self.known().get_mut(id) {
            Some(known) if known.share.owner() == owner => {
                known.last_request = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Ends the conversations of a token that is gone.
    pub(super) fn end_of(&self, owner: Hash) {
        let mut ended = Vec::new();
        self.known().retain(|id, known| {
            let is_his = known.share.owner() == Some(owner);
            if is_his {
                ended.push(id.clone());
            }
            !is_his
        });
        for id in ended {
            self.close_later(id);
        }
    }

    /// Closes a conversation that is not known any more. Its worker may wait for a client that does
    /// not read; nobody waits for that.
    fn close_later(&self, id: SessionId) {
        let manager = Arc::clone(&self.manager);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(CLOSING, manager.close_session(&id)).await;
        });
    }

    /// Room for one more conversation; where the owner has no more, that of his which was silent for
    /// longest ends.
    fn room_of(&self, owner: Owner) -> Option<Share> {
        if let Some(share) = self.shares.take(owner, 1) {
            return Some(share);
        }
        let (id, known) = {
            let mut known = self.known();
            let his = known
                .iter()
                .filter(|(_, known)| known.share.owner() == owner);
            let oldest = his.min_by_key(|(_, known)| known.last_request);
            let oldest = oldest.map(|(id, _)| id.clone())?;
            known.remove_entry(&oldest)?
        };
        self.close_later(id);
        Some(known.share)
    }

    /// Lets a request keep its number until it is done; else what to answer.
    fn take_up(
        &self,
        id: &SessionId,
        message: &mut ClientJsonRpcMessage,
    ) -> Result<(), Box<ServerJsonRpcMessage>> {
        let JsonRpcMessage::Request(request) = message else {
            return Ok(());
        };
        let flight = self.known().get(id).map(|known| Arc::clone(&known.flight));
        let Some(flight) = flight else {
            // It ended meanwhile, which rmcp says.
            return Ok(());
        };
        let in_flight = flight.begin(&request.id).map_err(|error| {
            Box::new(ServerJsonRpcMessage::error(error, Some(request.id.clone())))
        })?;
        request
            .request
            .extensions_mut()
            .insert(Held::new(in_flight));
        Ok(())
    }
}

/// What answers a request of a conversation: one message of ours, or what rmcp says.
enum Answers<S> {
    Ours(Option<ServerSseMessage>),
    Theirs(Pin<Box<S>>),
}

impl<S: Stream<Item = ServerSseMessage>> Stream for Answers<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut *self {
            Answers::Ours(message) => Poll::Ready(message.take()),
            Answers::Theirs(stream) => stream.as_mut().poll_next(cx),
        }
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let owner = OWNER.try_with(|owner| *owner).unwrap_or_default();
        let share = self.room_of(owner).ok_or_else(|| {
            let error = io::Error::other("too many sessions are open");
            SessionError::Io(error)
        })?;
        let made = self.manager.create_session().await?;
        let known = Known {
            share,
            flight: Arc::default(),
            last_request: Instant::now(),
        };
        self.known().insert(made.0.clone(), known);
        Ok(made)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        shorten(&mut message);
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
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        if let Err(answer) = self.take_up(id, &mut message) {
            return Ok(Answers::Ours(Some(ServerSseMessage::from_message(*answer))));
        }
        let answers = self.manager.create_stream(id, message).await?;
        Ok(Answers::Theirs(Box::pin(answers)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        // This server asks clients nothing: an answer is to no question of its, and would be kept
        // until the conversation comes to it. The fixtures of the conformance suite do ask.
        let is_answer = matches!(
            message,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
        );
        if is_answer && !cfg!(feature = "conformance") {
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
    use crate::transport::{PATIENCE, block_on};

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
        sessions: &Sessions,
        owner: Owner,
    ) -> (SessionId, <Sessions as SessionManager>::Transport) {
        let made = OWNER.scope(owner, sessions.create_session()).await;
        made.unwrap()
    }

    fn message(value: serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    async fn open(sessions: &Sessions) -> usize {
        sessions.manager.sessions.read().await.len()
    }

    async fn wait_for(sessions: &Sessions, count: usize) {
        let waiting = async {
            while open(sessions).await != count {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{} are open", open(sessions).await);
    }

    #[test]
    fn conversations_whose_clients_left_early_are_counted_too() {
        block_on(async {
            let sessions = Sessions::new(false);
            let mut made = Vec::new();
            for _ in 0..SESSIONS_LIMIT + 44 {
                made.push(begin(&sessions, None).await);
                // The first one is used again and again.
                assert!(sessions.goes_on(&made[0].0, None));
            }
            wait_for(&sessions, SESSIONS_LIMIT).await;
            assert!(sessions.goes_on(&made[0].0, None));
            assert!(!sessions.goes_on(&made[1].0, None));
            sessions.close_session(&made[0].0).await.unwrap();
            assert!(!sessions.goes_on(&made[0].0, None));
            assert_eq!(sessions.shares.in_use(), SESSIONS_LIMIT - 1);
        });
    }

    #[test]
    fn a_conversation_ends_for_another_of_the_same_owner_only() {
        let [greedy, other] = owners();
        block_on(async {
            let sessions = Sessions::new(true);
            let first = begin(&sessions, other).await;
            assert!(!sessions.goes_on(&first.0, greedy), "it is not his");
            let mut made = Vec::new();
            for _ in 0..2 * SESSIONS_LIMIT {
                made.push(begin(&sessions, greedy).await);
            }
            let of_greedy = SESSIONS_LIMIT - 9 * SESSIONS_RESERVED;
            wait_for(&sessions, of_greedy + 1).await;
            for _ in 1..SESSIONS_RESERVED {
                made.push(begin(&sessions, other).await);
            }
            assert!(sessions.goes_on(&first.0, other));
            assert_eq!(open(&sessions).await, of_greedy + SESSIONS_RESERVED);
        });
    }

    #[test]
    fn a_conversation_that_does_not_move_holds_up_no_end() {
        let [deaf, other] = owners();
        block_on(async {
            let sessions = Sessions::new(true);
            // Nobody serves it: its worker waits for the answer to this for ever.
            let stuck = Arc::new(begin(&sessions, deaf).await);
            let hello = message(
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}}),
            );
            let wait = Duration::from_millis(20);
            let answer = sessions.initialize_session(&stuck.0, hello);
            assert!(tokio::time::timeout(wait, answer).await.is_err());
            let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            loop {
                let accepted = sessions.accept_message(&stuck.0, message(told.clone()));
                if tokio::time::timeout(wait, accepted).await.is_err() {
                    break;
                }
            }
            let fine = begin(&sessions, other).await;
            // Neither waits, and both are over.
            sessions.end_of(deaf.unwrap());
            sessions.end_of(other.unwrap());
            wait_for(&sessions, 0).await;
            assert!(!sessions.goes_on(&stuck.0, deaf) && !sessions.goes_on(&fine.0, other));
            assert_eq!(sessions.shares.in_use(), 0);
        });
    }

    #[test]
    fn a_number_in_use_is_refused_within_a_conversation() {
        block_on(async {
            let sessions = Sessions::new(false);
            let (id, _transport) = begin(&sessions, None).await;
            let (other, _transport) = begin(&sessions, None).await;
            let list = || message(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}));
            let mut first = list();
            sessions.take_up(&id, &mut first).unwrap();
            let refused = sessions.take_up(&id, &mut list()).unwrap_err();
            let text = serde_json::to_string(&refused).unwrap();
            assert!(
                text.contains("-32600") && text.contains(r#""id":7"#),
                "{text}"
            );
            sessions.take_up(&other, &mut list()).unwrap();
            drop(first);
            sessions.take_up(&id, &mut list()).unwrap();
        });
    }

    #[test]
    fn answers_of_clients_are_not_kept() {
        block_on(async {
            let sessions = Sessions::new(false);
            let (id, _transport) = begin(&sessions, None).await;
            let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
            for _ in 0..100 {
                let accepted = sessions.accept_message(&id, message(answer.clone()));
                let accepted = tokio::time::timeout(PATIENCE, accepted).await;
                accepted.expect("it waits for nobody").unwrap();
            }
        });
    }
}
