//! Authenticates requests by their bearer token, and ends the sessions and streams of a revoked token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use super::limits::rate::RateLimiter;
use crate::tokens::{Access, Hash, Tokens};

/// How often the token file is checked for revoked tokens.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Checks tokens and their rate.
pub(super) struct Authenticator {
    /// `None`: no token is required.
    tokens: Option<Arc<Tokens>>,
    rates: RateLimiter,
    /// Cancelled when their token is revoked.
    revocations: Mutex<BTreeMap<Hash, CancellationToken>>,
}

impl Authenticator {
    pub(super) fn new(tokens: Option<Arc<Tokens>>) -> Authenticator {
        if let Some(tokens) = &tokens {
            // Read now, so that no valid token counts as unknown at first.
            let _ = tokens.hashes();
        }
        Authenticator {
            tokens,
            rates: RateLimiter::default(),
            revocations: Mutex::default(),
        }
    }

    /// Whether requests must carry a token.
    pub(super) fn requires_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// The token that a request carries, if it was valid when the file was last read.
    pub(super) fn known_token<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let header = authorization(headers)?;
        let is_known = self.tokens.as_ref()?.is_known(Some(header));
        // The case of the scheme differs between requests of one client, the token does not.
        is_known.then(|| header.split_whitespace().next_back().unwrap_or_default())
    }

    /// The access of a request; `None` where no token is required.
    ///
    /// # Errors
    /// 401 for a token that is not valid, 429 for too many requests with an unknown one.
    pub(super) async fn authenticate(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Access>, StatusCode> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let header = authorization(headers);
        if !tokens.is_known(header) && !self.rates.allow_unknown(Instant::now()) {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let (tokens, header) = (Arc::clone(tokens), header.map(str::to_owned));
        // Reads the file if it has changed.
        let checked = tokio::task::spawn_blocking(move || tokens.check(header.as_deref())).await;
        match checked {
            Ok(Some(access)) => Ok(Some(access)),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }

    /// Takes a request from the rate of its token.
    ///
    /// # Errors
    /// 429 if there are too many.
    pub(super) fn check_rate(&self, access: Option<&Access>) -> Result<(), StatusCode> {
        let name = access.map_or("", |access| &access.name);
        if self.rates.allow(name, Instant::now()) {
            Ok(())
        } else {
            Err(StatusCode::TOO_MANY_REQUESTS)
        }
    }

    fn revocations(&self) -> MutexGuard<'_, BTreeMap<Hash, CancellationToken>> {
        self.revocations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The access of the token of that hash, as it is now.
    ///
    /// # Errors
    /// 401 if it was revoked.
    pub(super) async fn access_of(&self, owner: Hash) -> Result<Access, StatusCode> {
        let Some(tokens) = self.tokens.clone() else {
            return Err(StatusCode::UNAUTHORIZED);
        };
        // Reads the file if it has changed.
        let found = tokio::task::spawn_blocking(move || tokens.access_of(owner)).await;
        found.ok().flatten().ok_or(StatusCode::UNAUTHORIZED)
    }

    /// Takes a request from the rate of those without a valid token.
    ///
    /// # Errors
    /// 429 if there are too many.
    pub(super) fn check_unknown_rate(&self) -> Result<(), StatusCode> {
        if self.tokens.is_none() || self.rates.allow_unknown(Instant::now()) {
            Ok(())
        } else {
            Err(StatusCode::TOO_MANY_REQUESTS)
        }
    }

    /// Cancelled when that token is revoked.
    pub(super) fn revocation_of(&self, owner: Hash) -> CancellationToken {
        self.revocations().entry(owner).or_default().clone()
    }

    /// Watches the token file until `shutdown`, and calls `on_revoked` for each token that was used and
    /// is gone.
    pub(super) async fn watch(&self, shutdown: &CancellationToken, on_revoked: impl Fn(Hash)) {
        let Some(tokens) = &self.tokens else {
            return;
        };
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            // Before the file is read: a token that is used only afterwards may be newer than that.
            let used: Vec<Hash> = self.revocations().keys().copied().collect();
            let tokens = Arc::clone(tokens);
            // Read even if none was used, so that a new token is known at its first request.
            let Ok(valid) = tokio::task::spawn_blocking(move || tokens.hashes()).await else {
                continue;
            };
            for owner in used.into_iter().filter(|owner| !valid.contains(owner)) {
                if let Some(revocation) = self.revocations().remove(&owner) {
                    revocation.cancel();
                }
                on_revoked(owner);
            }
        }
    }

    /// Uses up the rate of unknown tokens.
    #[cfg(test)]
    pub(super) fn exhaust_unknown_rate(&self) {
        while self.rates.allow_unknown(Instant::now()) {}
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()
}
