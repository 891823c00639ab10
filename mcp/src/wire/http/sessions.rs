//! The conversations of older clients, which a server keeps between two requests: whose they are,
//! and how many there may be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// Most conversations at once. One more ends the one that was silent for longest.
const SESSIONS_LIMIT: usize = 256;

/// Who has which conversation.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Debug)]
struct Known {
    /// Name of the token that began it; empty without tokens.
    owner: String,
    last_request: Instant,
}

impl Sessions {
    /// The conversations themselves, as rmcp keeps them.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody may go on with a conversation; to others than its owner it does not exist.
    pub(super) fn goes_on(&self, id: &str, owner: &str) -> bool {
        match self.known().get_mut(id) {
            Some(known) if known.owner == owner => {
                known.last_request = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// A conversation began; another one may end for it.
    pub(super) async fn began(&self, id: &str, owner: &str) {
        let ended = {
            let open = self.manager.sessions.read().await;
            let mut known = self.known();
            // Those that ended by themselves.
            known.retain(|id, _| open.contains_key(id.as_str()));
            let oldest = known.iter().min_by_key(|(_, known)| known.last_request);
            let oldest = oldest
                .map(|(id, _)| id.clone())
                .filter(|_| known.len() >= SESSIONS_LIMIT);
            if let Some(oldest) = &oldest {
                known.remove(oldest);
            }
            let fresh = Known {
                owner: owner.to_owned(),
                last_request: Instant::now(),
            };
            known.insert(id.to_owned(), fresh);
            oldest
        };
        if let Some(ended) = ended {
            let manager = Arc::clone(&self.manager);
            // Its worker may be busy; the new client need not wait for it.
            tokio::spawn(async move {
                let _ = manager.close_session(&ended.into()).await;
            });
        }
    }
}
