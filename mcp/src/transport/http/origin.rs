//! Which names a server answers to, and which web pages may ask it.
//!
//! A page of a stranger can make a browser send requests to this machine, also under a name of its
//! own that leads here. Both are refused before anything of the request is looked at.

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::uri::{Authority, Uri};

/// Names that lead to this machine wherever it is.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What is let in.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Names beside those of the loopback, each with a port or for all ports.
    hosts: Vec<Authority>,
    /// `scheme://host` with a port, in lower case; `*` is any port.
    origins: Vec<Origin>,
}

/// What of a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// The name that it asks for.
    Host,
    /// The page that it comes from.
    Origin,
}

/// Where a page comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// `None`: any.
    port: Option<u16>,
}

impl Names {
    /// Those of the loopback and these. `Err` is the one that is none.
    pub(super) fn new(hosts: &[String], origins: &[String]) -> Result<Names, String> {
        let hosts = hosts.iter().map(|host| {
            let authority: Option<Authority> = host.parse().ok();
            authority
                .filter(|authority| !authority.host().is_empty() && !host.contains('@'))
                .ok_or_else(|| host.clone())
        });
        let origins = origins.iter().map(|origin| {
            let (text, any_port) = match origin.strip_suffix(":*") {
                Some(text) => (text, true),
                None => (origin.as_str(), false),
            };
            let mut parsed = Origin::parse(text).ok_or_else(|| origin.clone())?;
            if any_port {
                parsed.port = None;
            }
            Ok(parsed)
        });
        Ok(Names {
            hosts: hosts.collect::<Result<_, String>>()?,
            origins: origins.collect::<Result<_, String>>()?,
        })
    }

    /// Whether a request is for a name of ours, and from nowhere or a page that may ask. Gives the
    /// page where it is one that was allowed by name.
    pub(super) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Option<HeaderValue>, Denied> {
        let mut hosts = headers.get_all(HOST).into_iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => authority(host),
            (None, None) => uri.authority().cloned(),
            _ => None,
        };
        if !host.is_some_and(|host| self.allow_host(&host)) {
            return Err(Denied::Host);
        }
        let mut page = None;
        for header in headers.get_all(ORIGIN) {
            let origin = header.to_str().ok().and_then(Origin::parse);
            let origin = origin.ok_or(Denied::Origin)?;
            if self.is_named(&origin) {
                page = Some(header.clone());
            } else if origin.scheme != "http" || !is_loopback(&origin.host) {
                return Err(Denied::Origin);
            }
        }
        Ok(page)
    }

    fn allow_host(&self, host: &Authority) -> bool {
        let is_one = |allowed: &Authority| {
            allowed.host().eq_ignore_ascii_case(host.host())
                && allowed.port_u16().is_none_or(|port| match host.port_u16() {
                    Some(asked) => asked == port,
                    // That of the scheme, which a proxy before this server may know better.
                    None => port == 80 || port == 443,
                })
        };
        is_loopback(host.host()) || self.hosts.iter().any(is_one)
    }

    fn is_named(&self, origin: &Origin) -> bool {
        let is_one = |allowed: &Origin| {
            allowed.scheme == origin.scheme
                && allowed.host == origin.host
                && (allowed.port.is_none() || allowed.port == origin.port)
        };
        self.origins.iter().any(is_one)
    }
}

fn authority(header: &HeaderValue) -> Option<Authority> {
    let text = header.to_str().ok()?;
    text.parse().ok().filter(|_| !text.contains('@'))
}

fn is_loopback(host: &str) -> bool {
    LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(host))
}

impl Origin {
    /// Reads `scheme://host[:port]`; the port is that of the scheme when none is said.
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.split_once("://")?;
        let authority: Authority = rest.parse().ok()?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let host = authority.host().to_ascii_lowercase();
        (!host.is_empty() && !rest.contains('@')).then_some(Origin {
            scheme,
            host,
            port: Some(authority.port_u16().unwrap_or(usual)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(names: &Names, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        names.check(&"/mcp".parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn without_a_word_only_this_machine_is_let_in() {
        let names = Names::default();
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:9"] {
            assert!(allows(&names, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "a@localhost",
            "[::2]",
            "",
        ] {
            assert!(!allows(&names, host, None), "{host}");
        }
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "HTTP://[::1]:9",
        ] {
            assert!(allows(&names, "localhost", Some(origin)), "{origin}");
        }
        let foreign = [
            "null",
            "",
            "http://evil.example",
            "https://localhost",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "file://localhost",
        ];
        for origin in foreign {
            assert!(!allows(&names, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn names_and_pages_that_are_allowed_are_let_in_by_their_port() {
        let hosts = ["kb.example".to_owned(), "other.example:99".to_owned()];
        let origins = [
            "https://app.example".to_owned(),
            "http://dev.example:*".to_owned(),
        ];
        let names = Names::new(&hosts, &origins).unwrap();
        assert!(allows(
            &names,
            "KB.example:1",
            Some("https://app.example:443")
        ));
        assert!(allows(
            &names,
            "other.example:99",
            Some("http://dev.example:7")
        ));
        assert!(!allows(&names, "other.example", None));
        assert!(!allows(
            &names,
            "kb.example",
            Some("https://app.example:444")
        ));
        assert!(!allows(&names, "kb.example", Some("http://app.example")));
        assert_eq!(Names::new(&[], &["app".to_owned()]).unwrap_err(), "app");
        assert_eq!(Names::new(&["a b".to_owned()], &[]).unwrap_err(), "a b");
    }

    #[test]
    fn two_names_at_once_are_refused() {
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        headers.append(HOST, "evil.example".parse().unwrap());
        let checked = Names::default().check(&"/mcp".parse().unwrap(), &headers);
        assert_eq!(checked, Err(Denied::Host));
    }

    #[test]
    fn a_name_without_a_port_has_that_of_its_scheme() {
        let hosts = ["a.example:80", "b.example:443", "c.example:8080"].map(str::to_owned);
        let names = Names::new(&hosts, &[]).unwrap();
        for host in ["a.example", "a.example:80", "b.example", "c.example:8080"] {
            assert!(allows(&names, host, None), "{host}");
        }
        for host in ["c.example", "a.example:81"] {
            assert!(!allows(&names, host, None), "{host}");
        }
    }

    #[test]
    fn only_pages_that_were_named_are_given() {
        let names = Names::new(&[], &["https://app.example".to_owned()]).unwrap();
        let page = |origin: &str| {
            let headers = [(HOST, "localhost"), (ORIGIN, origin)];
            let headers = headers.map(|(name, value)| (name, value.parse().unwrap()));
            names.check(&"/mcp".parse().unwrap(), &HeaderMap::from_iter(headers))
        };
        let app = HeaderValue::from_static("https://app.example");
        assert_eq!(page("https://app.example"), Ok(Some(app)));
        assert_eq!(page("http://localhost:3000"), Ok(None));
        assert_eq!(page("https://evil.example"), Err(Denied::Origin));
    }
}
