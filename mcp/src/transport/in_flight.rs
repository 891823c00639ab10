//! The requests of one session that have no response yet.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, RequestId};

/// Most requests of one session in flight. Hosts have a few; each holds the memory of its parameters.
const REQUESTS_LIMIT: usize = 256;

/// Longest id of a request, in bytes. It is kept, and repeated in the response.
const ID_LIMIT: usize = 256;

/// The ids of the requests in flight of one session.
#[derive(Debug, Default)]
pub(super) struct InFlightRequests {
    ids: Mutex<BTreeSet<String>>,
}

/// A request in flight, until this is dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard {
    requests: Arc<InFlightRequests>,
    id: String,
}

impl InFlightRequests {
    fn ids(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request.
    ///
    /// # Errors
    /// Refuses an id that is in flight: rmcp would send only one of the two responses.
    pub(super) fn start(
        self: &Arc<InFlightRequests>,
        id: &RequestId,
    ) -> Result<InFlightGuard, ErrorData> {
        let reject = |message: String| Err(ErrorData::invalid_request(message, None));
        // JSON-RPC has numbers and strings as ids: 1 and "1" are different.
        let id = match id {
            RequestId::Number(number) => number.to_string(),
            RequestId::String(text) => format!("\"{text}"),
        };
        if id.len() > ID_LIMIT {
            return reject(format!("id over {ID_LIMIT} bytes"));
        }
        let mut ids = self.ids();
        if ids.contains(&id) {
            return reject("id: a request with this id is still in progress".to_owned());
        }
        if ids.len() >= REQUESTS_LIMIT {
            return reject(format!(
                "{REQUESTS_LIMIT} requests are in progress: wait for their responses"
            ));
        }
        ids.insert(id.clone());
        Ok(InFlightGuard {
            requests: Arc::clone(self),
            id,
        })
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.requests.ids().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_when_its_request_has_ended() {
        let requests = Arc::new(InFlightRequests::default());
        let first = requests.start(&RequestId::Number(1)).unwrap();
        assert!(requests.start(&RequestId::Number(1)).is_err());
        let other = requests.start(&RequestId::String("1".into()));
        assert!(other.is_ok(), "not the same");
        drop(first);
        assert!(requests.start(&RequestId::Number(1)).is_ok());
        let long = RequestId::String("1".repeat(1000).into());
        assert!(requests.start(&long).is_err());
    }

    #[test]
    fn the_number_of_requests_in_flight_is_limited() {
        let requests = Arc::new(InFlightRequests::default());
        let begin = |number| requests.start(&RequestId::Number(number));
        let mut held: Vec<_> = (0..REQUESTS_LIMIT as i64).map(begin).collect();
        assert!(held.iter().all(Result::is_ok) && begin(-1).is_err());
        held.pop();
        assert!(begin(-1).is_ok());
    }
}
