//! Where a service is, and which key it may see.

use std::env;
use std::net::IpAddr;

/// The environment variable of the key for any service.
pub(super) const KEY: &str = "KB_EMBEDDER_KEY";
/// The environment variable of the key for OpenAI itself. Many programs set it: no other service gets to see it.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A model and its service: `MODEL@URL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The model as the service calls it.
    pub(crate) model: String,
    /// As given, without a slash at its end.
    pub(crate) url: String,
    is_https: bool,
    host: String,
}

impl Address {
    /// Reads `MODEL@URL`; an error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Address, &'static str> {
        let at = text
            .rfind("@http")
            .ok_or("the address is missing: openai:MODEL@URL")?;
        let (model, url) = text.split_at(at);
        let url = url.get(1..).unwrap_or_default();
        if model.is_empty() || model.len() > 200 {
            return Err("the name of the model is missing, or longer than 200 bytes");
        }
        let (is_https, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err("the address begins with http:// or https://"),
        };
        let url = url.trim_end_matches('/');
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the address has characters that no address has");
        }
        if rest.contains(['?', '#']) {
            return Err("the address has neither ? nor #; a key belongs into KB_EMBEDDER_KEY");
        }
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') {
            return Err("the address has no user; a key belongs into KB_EMBEDDER_KEY");
        }
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next(),
            None => authority.split(':').next(),
        };
        let host = host.unwrap_or_default();
        if host.is_empty() {
            return Err("the address has no host");
        }
        Ok(Address {
            model: model.to_owned(),
            url: url.to_owned(),
            is_https,
            host: host.to_ascii_lowercase(),
        })
    }

    /// The host, in small letters.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The address as cards store it.
    pub(crate) fn location(&self) -> String {
        format!("{}@{}", self.model, self.url)
    }

    /// Whether the service is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Whether the address needs TLS.
    pub(super) fn is_https(&self) -> bool {
        self.is_https
    }

    /// Where requests go: the address itself, or `/embeddings` below it.
    pub(super) fn endpoint(&self) -> String {
        let has_path = self.url.splitn(4, '/').nth(3).is_some();
        match (self.url.ends_with("/embeddings"), has_path) {
            (true, _) => self.url.clone(),
            (false, true) => format!("{}/embeddings", self.url),
            (false, false) => format!("{}/v1/embeddings", self.url),
        }
    }

    /// The key for this service out of the environment; an error if it would travel readable for others.
    pub(super) fn key(&self) -> Result<Option<String>, &'static str> {
        let set = |name: &str| env::var(name).ok().filter(|key| !key.trim().is_empty());
        self.key_of(&set)
    }

    fn key_of(&self, set: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, &'static str> {
        let is_openai = self.host == "openai.com" || self.host.ends_with(".openai.com");
        let key = set(KEY).or_else(|| set(OPENAI_KEY).filter(|_| is_openai));
        if key.is_some() && !self.is_https && !self.is_local() {
            return Err("a key is sent by https:// only, or to this machine");
        }
        if key
            .as_ref()
            .is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err("the key has characters that no key has");
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_is_wrong_with_them() {
        for (text, expected) in [
            ("model", "openai:MODEL@URL"),
            ("@http://a", "name of the model"),
            ("m@httpx://a", "http:// or https://"),
            ("m@http://", "no host"),
            ("m@http://user:secret@a", "no user"),
            ("m@https://a/v1?key=secret", "neither ?"),
            ("m@http://a b", "characters"),
        ] {
            let error = Address::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn requests_go_below_the_address() {
        for (text, endpoint) in [
            (
                "m@http://localhost:11434",
                "http://localhost:11434/v1/embeddings",
            ),
            ("m@http://localhost/v1/", "http://localhost/v1/embeddings"),
            (
                "a@b@https://[::1]:8/x/embeddings",
                "https://[::1]:8/x/embeddings",
            ),
        ] {
            assert_eq!(Address::parse(text).unwrap().endpoint(), endpoint);
        }
        assert_eq!(Address::parse("a@b@https://c").unwrap().model, "a@b");
    }

    #[test]
    fn keys_go_to_whom_they_belong() {
        let own = |name: &str| (name == KEY).then(|| "own".to_owned());
        let openai = |name: &str| (name == OPENAI_KEY).then(|| "theirs".to_owned());
        let key = |url: &str, set: &dyn Fn(&str) -> Option<String>| {
            Address::parse(&format!("m@{url}")).unwrap().key_of(set)
        };
        assert_eq!(key("https://example.com", &own), Ok(Some("own".to_owned())));
        assert_eq!(key("http://127.0.0.1:80", &own), Ok(Some("own".to_owned())));
        assert_eq!(key("http://[::1]:80/v1", &own), Ok(Some("own".to_owned())));
        key("http://example.com", &own).unwrap_err();
        key("http://localhost.example.com", &own).unwrap_err();
        assert_eq!(
            key("https://api.openai.com/v1", &openai),
            Ok(Some("theirs".to_owned()))
        );
        assert_eq!(key("https://example.com", &openai), Ok(None));
        assert_eq!(key("https://openai.com.example.com", &openai), Ok(None));
        let broken = |_: &str| Some("a\nb".to_owned());
        key("https://example.com", &broken).unwrap_err();
    }
}
