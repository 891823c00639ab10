//! The requests of one conversation that are not answered yet.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, RequestId};

/// Most requests of one conversation at once. Hosts wait for the answers of a few; each holds what
/// it asked.
const REQUESTS_LIMIT: usize = 256;

/// Longest number of a request, in bytes. It is kept, and repeated in the answer.
const ID_LIMIT: usize = 256;

/// Those of one conversation.
#[derive(Debug, Default)]
pub(super) struct Flight {
    ids: Mutex<BTreeSet<String>>,
}

/// One that is not answered yet. It is when this is dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    flight: Arc<Flight>,
    id: String,
}

impl Flight {
    fn ids(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request. A number that is in use would leave its first request without an answer.
    pub(super) fn begin(self: &Arc<Flight>, id: &RequestId) -> Result<InFlight, ErrorData> {
        let refused = |what: String| Err(ErrorData::invalid_request(what, None));
        // A number and a string of the same digits are two.
        let id = match id {
            RequestId::Number(number) => number.to_string(),
            RequestId::String(text) => format!("\"{text}"),
        };
        if id.len() > ID_LIMIT {
            return refused(format!("id over {ID_LIMIT} bytes"));
        }
        let mut ids = self.ids();
        if ids.contains(&id) {
            return refused("id: a request of this id is not answered yet".to_owned());
        }
        if ids.len() >= REQUESTS_LIMIT {
            let what = format!("{REQUESTS_LIMIT} requests are not answered yet: wait for answers");
            return refused(what);
        }
        ids.insert(id.clone());
        Ok(InFlight {
            flight: Arc::clone(self),
            id,
        })
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.flight.ids().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_again_when_its_request_is_answered() {
        let flight = Arc::new(Flight::default());
        let first = flight.begin(&RequestId::Number(1)).unwrap();
        assert!(flight.begin(&RequestId::Number(1)).is_err());
        let other = flight.begin(&RequestId::String("1".into()));
        assert!(other.is_ok(), "not the same");
        drop(first);
        assert!(flight.begin(&RequestId::Number(1)).is_ok());
        let long = RequestId::String("1".repeat(1000).into());
        assert!(flight.begin(&long).is_err());
    }

    #[test]
    fn there_are_so_many_requests_at_once_and_no_more() {
        let flight = Arc::new(Flight::default());
        let begin = |number| flight.begin(&RequestId::Number(number));
        let mut held: Vec<_> = (0..REQUESTS_LIMIT as i64).map(begin).collect();
        assert!(held.iter().all(Result::is_ok) && begin(-1).is_err());
        held.pop();
        assert!(begin(-1).is_ok());
    }
}
