//! Tags of answers (RFC 9110, 8.8.3): a client that has the answer already is told so before anything is read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode};

use crate::answer::{Answer, Problem, answer};

/// How long the tag of a search holds. Its hits say which of their sources changed on the disk since they were indexed,
/// and no commit tells of that.
const SEARCH_PERIOD: Duration = Duration::from_secs(60);

/// What a client says that it has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known(Option<String>);

impl Known {
    /// What the headers of a request for reading say.
    pub(crate) fn of(method: &Method, headers: &HeaderMap) -> Known {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let given = headers.get_all(IF_NONE_MATCH).into_iter();
        let given: Vec<&str> = given.filter_map(|value| value.to_str().ok()).collect();
        Known(reads.then(|| given.join(",")))
    }

    fn has(&self, tag: &str) -> bool {
        let given = self.0.as_deref().unwrap_or_default();
        // The weak comparison; tags of this server have no comma.
        given
            .split(',')
            .map(|given| given.trim())
            .any(|given| given == "*" || given == tag || given.strip_prefix("W/") == Some(tag))
    }
}

/// What an answer depends on, beside the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depends {
    /// Nothing else.
    OnFiles,
    /// The sources on the disk, as hits do.
    OnSources,
}

impl Known {
    /// The answer of `job`, with its tag; 304 without an answer if the client has that of the same tag. Without a tag,
    /// the answer.
    pub(crate) fn or(
        &self,
        tag: impl FnOnce() -> Option<String>,
        job: impl FnOnce() -> Result<Answer, Problem>,
    ) -> Result<Answer, Problem> {
        let tag = self.0.as_ref().and_then(|_| tag());
        let Some(tag) = tag else {
            return job();
        };
        let mut made = if self.has(&tag) {
            let mut same = answer(StatusCode::NOT_MODIFIED, "", "");
            // What it says of the kind of the answer would take the place of what the client knows.
            same.headers_mut().remove(CONTENT_TYPE);
            same
        } else {
            job()?
        };
        let is_tagged = matches!(made.status(), StatusCode::OK | StatusCode::NOT_MODIFIED);
        if is_tagged && let Ok(tag) = HeaderValue::from_str(&format!("W/{tag}")) {
            made.headers_mut().insert(ETAG, tag);
        }
        Ok(made)
    }
}

/// The tag of answers that depend on what `parts` hold. `commit` is for people who read it.
pub(crate) fn tag(depends: Depends, commit: u64, parts: &[&[u8]]) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    if depends == Depends::OnSources {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let period = now.as_secs() / SEARCH_PERIOD.as_secs();
        hasher.update(&period.to_le_bytes());
    }
    for part in parts {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part);
    }
    let hash: String = hasher.finalize().to_hex().chars().take(16).collect();
    Some(format!("\"{commit}-{hash}\""))
}

/// A text that differs from process to process: another program makes other answers of the same files.
pub(crate) fn mark_of_process() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    format!("{now}-{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_in_all_forms_of_the_header() {
        let known = |value: &str, method| {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, value.parse().unwrap())]);
            Known::of(&method, &headers).has("\"3-ab\"")
        };
        for value in ["\"3-ab\"", "W/\"3-ab\"", "\"x\", W/\"3-ab\" ,\"y\"", "*"] {
            assert!(known(value, Method::GET), "{value}");
            assert!(!known(value, Method::POST), "{value}");
        }
        for value in ["", "3-ab", "\"3-a\"", "w/\"3-ab\"", ","] {
            assert!(!known(value, Method::GET), "{value}");
        }
        assert!(Known::of(&Method::HEAD, &HeaderMap::new()).0.is_some());
    }
}
