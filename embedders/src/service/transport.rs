//! Sends requests, and sends them again where that can help.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::Duration;

use kb_types::EmbedError;
use ureq::Agent;

use super::address::{Address, KEY};
use super::answer;
use crate::tls;

/// Bytes of an answer for each number of its vectors, with commas and white space.
const NUMBER_BYTES: u64 = 40;
/// Bytes of an answer beside its vectors.
const ANSWER_BYTES: u64 = 1 << 20;
/// Numbers of a vector whose length is not known.
const LONGEST_VECTOR: u32 = 4096;

/// How long to wait for a service.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    /// Longest time of a request of passages.
    pub(super) passages: Duration,
    /// Longest time of a request of a query: a search waits for it.
    pub(super) query: Duration,
    /// Requests of the same passages.
    pub(super) attempts: u32,
    /// The wait before the second request; it doubles with each.
    pub(super) first_wait: Duration,
    /// The longest wait, also if the service asks for more.
    pub(super) longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            passages: Duration::from_secs(60),
            query: Duration::from_secs(10),
            attempts: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
        }
    }
}

/// Requests to one service.
pub(super) struct Transport {
    agent: Agent,
    endpoint: String,
    /// The header of the key.
    authorization: Option<String>,
    patience: Patience,
}

/// Why a request failed.
struct Refused {
    reason: String,
    /// When to ask again; `None`: never.
    again: Option<Duration>,
}

impl Transport {
    pub(super) fn new(address: &Address, patience: Patience) -> Result<Transport, EmbedError> {
        if address.is_https() && cfg!(not(feature = "tls")) {
            return Err(tls::missing());
        }
        let key = address.key().map_err(|reason| EmbedError::Service {
            service: address.url.clone(),
            reason: reason.to_owned(),
        })?;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirection would take texts to an address that nobody named.
            .max_redirects(0)
            .user_agent(concat!("kb/", env!("CARGO_PKG_VERSION")));
        // A proxy of the environment would see texts that do not leave this machine.
        let config = match address.is_local() {
            true => config.proxy(None),
            false => config,
        };
        let config = config.build();
        Ok(Transport {
            agent: config.into(),
            endpoint: address.endpoint(),
            authorization: key.map(|key| format!("Bearer {key}")),
            patience,
        })
    }

    /// Asks for the vectors of texts: `[texts.len(), dimension]`, row-major.
    pub(super) fn ask(
        &self,
        model: &str,
        texts: &[&str],
        dimension: Option<u32>,
        is_query: bool,
    ) -> Result<Vec<f32>, EmbedError> {
        let body = serde_json::json!({
            "model": model,
            "input": texts,
            "encoding_format": "float",
        });
        let body = body.to_string();
        let (timeout, attempts) = match is_query {
            true => (self.patience.query, 2),
            false => (self.patience.passages, self.patience.attempts),
        };
        let mut wait = self.patience.first_wait;
        let mut attempt = 1;
        loop {
            let refused = match self.request(&body, texts.len(), dimension, timeout) {
                Ok(vectors) => return Ok(vectors),
                Err(refused) => refused,
            };
            let asked = match refused.again {
                Some(asked) if attempt < attempts && asked <= self.patience.longest_wait => asked,
                _ => return Err(self.error(refused.reason)),
            };
            thread::sleep(asked.max(spread(wait)));
            wait = (wait * 2).min(self.patience.longest_wait);
            attempt += 1;
        }
    }

    fn request(
        &self,
        body: &str,
        texts: usize,
        dimension: Option<u32>,
        timeout: Duration,
    ) -> Result<Vec<f32>, Refused> {
        let failed = |error: ureq::Error| Refused {
            again: match error {
                ureq::Error::BodyExceedsLimit(_) | ureq::Error::BadUri(_) => None,
                _ => Some(Duration::ZERO),
            },
            reason: error.to_string(),
        };
        let request = self.agent.post(&self.endpoint).config();
        let mut request = request
            .timeout_global(Some(timeout))
            .build()
            .header("Content-Type", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.send(body).map_err(failed)?;
        let status = response.status().as_u16();
        let asked = response.headers().get("retry-after");
        let asked = asked.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let asked = Duration::from_secs(asked.unwrap_or(0));
        let numbers = u64::from(dimension.unwrap_or(LONGEST_VECTOR)).saturating_mul(texts as u64);
        let limit = numbers
            .saturating_mul(NUMBER_BYTES)
            .saturating_add(ANSWER_BYTES);
        let content = response.body_mut().with_config().limit(limit).read_to_vec();
        let content = content.map_err(failed)?;
        if status == 200 {
            return answer::vectors(&content, texts, dimension).map_err(|reason| Refused {
                reason,
                again: None,
            });
        }
        let (said, is_final) = answer::refusal(&content);
        let may_help = matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504) && !is_final;
        let meaning = match status {
            300..=399 => ": a redirection, which is not followed".to_owned(),
            401 | 403 => format!(": the key in {KEY} is missing or wrong"),
            _ if said.is_empty() => String::new(),
            _ => format!(": {said}"),
        };
        Err(Refused {
            reason: format!("status {status}{meaning}"),
            again: may_help.then_some(asked),
        })
    }

    fn error(&self, mut reason: String) -> EmbedError {
        // A service could send the key back.
        let key = self.authorization.as_deref();
        if let Some(key) = key.and_then(|header| header.strip_prefix("Bearer ")) {
            reason = reason.replace(key, "[key]");
        }
        EmbedError::Service {
            service: self.endpoint.clone(),
            reason,
        }
    }
}

/// A random part of a wait, from the half on: clients that were refused together do not come back together.
fn spread(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) >> 11;
    wait.mul_f64(0.5 + random as f64 / (1u64 << 54) as f64)
}
