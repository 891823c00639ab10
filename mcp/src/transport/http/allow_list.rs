//! The hosts and origins that requests may have.
//!
//! A web page can make a browser send requests to this machine, also under a host name of the page's own
//! that resolves to it (DNS rebinding). Both are refused before anything else of the request is read.

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::uri::{Authority, Uri};

/// Host names of the loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The hosts and origins that are allowed.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowList {
    /// Hosts beside [`LOOPBACK`]; one without a port allows all ports.
    hosts: Vec<Authority>,
    /// Origins beside those of pages on this machine.
    origins: Vec<Origin>,
    /// The port that pages on this machine must come from: that of the server. `None` allows all, where requests
    /// need a token that other programs on this machine do not have.
    own_port: Option<u16>,
}

/// The header of a request that is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forbidden {
    /// `Host`.
    Host,
    /// `Origin`.
    Origin,
}

/// What sent an allowed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sender {
    /// A program, or a browser that was sent here: there is no origin.
    Nothing,
    /// A page of this server: its origin is the host that the request is for.
    OwnPage,
    /// A page of this machine, from another port.
    OtherPage,
    /// A page that was allowed by name: only such a page gets CORS headers.
    Named(HeaderValue),
}

/// The origin of a page, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// `None` allows any.
    port: Option<u16>,
}

impl AllowList {
    /// Allows the loopback and these, origins as `scheme://host`, `scheme://host:port` or
    /// `scheme://host:*`.
    ///
    /// # Errors
    /// The first entry that cannot be parsed.
    pub(super) fn new(hosts: &[String], origins: &[String]) -> Result<AllowList, String> {
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
        Ok(AllowList {
            hosts: hosts.collect::<Result<_, String>>()?,
            origins: origins.collect::<Result<_, String>>()?,
            own_port: None,
        })
    }

    /// The same, without pages on this machine that another server than that of `port` sent.
    pub(super) fn of_port(mut self, port: u16) -> AllowList {
        self.own_port = Some(port);
        self
    }

    /// Checks host and origin of a request.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Sender, Forbidden> {
        let mut hosts = headers.get_all(HOST).into_iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => authority(host),
            (None, None) => uri.authority().cloned(),
            _ => None,
        };
        let host = host.filter(|host| self.allow_host(host));
        let host = host.ok_or(Forbidden::Host)?;
        let mut sender = Sender::Nothing;
        for header in headers.get_all(ORIGIN) {
            let origin = header.to_str().ok().and_then(Origin::parse);
            let origin = origin.ok_or(Forbidden::Origin)?;
            let next = if origin.is_of(&host) {
                Sender::OwnPage
            } else if self.is_named(&origin) {
                Sender::Named(header.clone())
            } else if self.is_here(&origin) {
                Sender::OtherPage
            } else {
                return Err(Forbidden::Origin);
            };
            // One header is all that browsers send. Of several none is believed.
            sender = match sender {
                Sender::Nothing => next,
                _ => Sender::OtherPage,
            };
        }
        Ok(sender)
    }

    fn allow_host(&self, host: &Authority) -> bool {
        let matches = |allowed: &Authority| {
            allowed.host().eq_ignore_ascii_case(host.host())
                && allowed.port_u16().is_none_or(|port| match host.port_u16() {
                    Some(requested) => requested == port,
                    // The default port of the scheme, which may be https in front of a proxy.
                    None => port == 80 || port == 443,
                })
        };
        is_loopback(host.host()) || self.hosts.iter().any(matches)
    }

    /// Whether it is a page on this machine that may send requests.
    fn is_here(&self, origin: &Origin) -> bool {
        let is_port = self.own_port.is_none() || origin.port == self.own_port;
        origin.scheme == "http" && is_loopback(&origin.host) && is_port
    }

    fn is_named(&self, origin: &Origin) -> bool {
        let matches = |allowed: &Origin| {
            allowed.scheme == origin.scheme
                && allowed.host == origin.host
                && (allowed.port.is_none() || allowed.port == origin.port)
        };
        self.origins.iter().any(matches)
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
    /// Whether pages of this origin come from the host of a request. The scheme may be that of a proxy.
    fn is_of(&self, host: &Authority) -> bool {
        let is_port = match host.port_u16() {
            Some(port) => self.port == Some(port),
            None => self.port == Some(80) || self.port == Some(443),
        };
        // No proxy with TLS goes by a name of the loopback.
        let is_scheme = self.scheme == "http" || !is_loopback(host.host());
        is_port && is_scheme && self.host.eq_ignore_ascii_case(host.host())
    }

    /// Parses `scheme://host[:port]`, with the default port of the scheme.
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.split_once("://")?;
        let authority: Authority = rest.parse().ok()?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let host = authority.host().to_ascii_lowercase();
        (!host.is_empty() && !rest.contains('@')).then_some(Origin {
            scheme,
            host,
            port: Some(authority.port_u16().unwrap_or(default_port)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(list: &AllowList, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        list.check(&"/mcp".parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn by_default_only_this_machine_is_allowed() {
        let list = AllowList::default();
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:9"] {
            assert!(allows(&list, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "a@localhost",
            "[::2]",
            "",
        ] {
            assert!(!allows(&list, host, None), "{host}");
        }
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "HTTP://[::1]:9",
        ] {
            assert!(allows(&list, "localhost", Some(origin)), "{origin}");
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
            assert!(!allows(&list, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn hosts_and_origins_are_allowed_by_port() {
        let hosts = ["kb.example".to_owned(), "other.example:99".to_owned()];
        let origins = [
            "https://app.example".to_owned(),
            "http://dev.example:*".to_owned(),
        ];
        let list = AllowList::new(&hosts, &origins).unwrap();
        assert!(allows(
            &list,
            "KB.example:1",
            Some("https://app.example:443")
        ));
        assert!(allows(
            &list,
            "other.example:99",
            Some("http://dev.example:7")
        ));
        assert!(!allows(&list, "other.example", None));
        assert!(!allows(
            &list,
            "kb.example",
            Some("https://app.example:444")
        ));
        assert!(!allows(&list, "kb.example", Some("http://app.example")));
        assert_eq!(AllowList::new(&[], &["app".to_owned()]).unwrap_err(), "app");
        assert_eq!(AllowList::new(&["a b".to_owned()], &[]).unwrap_err(), "a b");
    }

    #[test]
    fn without_tokens_pages_of_other_ports_are_refused() {
        let list = AllowList::new(&[], &["http://localhost:3000".to_owned()]);
        let list = list.unwrap().of_port(8765);
        for origin in [
            "http://localhost:8765",
            "http://127.0.0.1:8765",
            "http://localhost:3000",
        ] {
            assert!(allows(&list, "localhost:8765", Some(origin)), "{origin}");
        }
        for origin in [
            "http://localhost:3001",
            "http://127.0.0.1",
            "http://[::1]:9",
        ] {
            assert!(!allows(&list, "localhost:8765", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn two_host_headers_are_refused() {
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        headers.append(HOST, "evil.example".parse().unwrap());
        let checked = AllowList::default().check(&"/mcp".parse().unwrap(), &headers);
        assert_eq!(checked, Err(Forbidden::Host));
    }

    #[test]
    fn a_host_without_a_port_has_the_default_ports() {
        let hosts = ["a.example:80", "b.example:443", "c.example:8080"].map(str::to_owned);
        let list = AllowList::new(&hosts, &[]).unwrap();
        for host in ["a.example", "a.example:80", "b.example", "c.example:8080"] {
            assert!(allows(&list, host, None), "{host}");
        }
        for host in ["c.example", "a.example:81"] {
            assert!(!allows(&list, host, None), "{host}");
        }
    }

    #[test]
    fn only_origins_allowed_by_name_are_returned() {
        let list = AllowList::new(&[], &["https://app.example".to_owned()]).unwrap();
        let check = |origin: &str| {
            let headers = [(HOST, "localhost"), (ORIGIN, origin)];
            let headers = headers.map(|(name, value)| (name, value.parse().unwrap()));
            list.check(&"/mcp".parse().unwrap(), &HeaderMap::from_iter(headers))
        };
        let app = HeaderValue::from_static("https://app.example");
        assert_eq!(check("https://app.example"), Ok(Sender::Named(app)));
        assert_eq!(check("http://localhost:3000"), Ok(Sender::OtherPage));
        assert_eq!(check("https://evil.example"), Err(Forbidden::Origin));
    }

    #[test]
    fn a_page_of_the_server_is_told_from_others_of_the_same_host() {
        let list = AllowList::new(&["kb.example".to_owned()], &[]).unwrap();
        let sender = |host: &str, origins: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            for origin in origins {
                headers.append(ORIGIN, origin.parse().unwrap());
            }
            list.check(&"/".parse().unwrap(), &headers)
        };
        assert_eq!(sender("localhost:80", &[]), Ok(Sender::Nothing));
        assert_eq!(
            sender("localhost:8000", &["http://localhost:8000"]),
            Ok(Sender::OwnPage)
        );
        assert_eq!(
            sender("localhost:8000", &["http://localhost:3000"]),
            Ok(Sender::OtherPage)
        );
        assert_eq!(
            sender("localhost:8000", &["http://127.0.0.1:8000"]),
            Ok(Sender::OtherPage)
        );
        // Behind a proxy with TLS the page has another scheme than the request.
        assert_eq!(
            sender("kb.example", &["https://kb.example"]),
            Ok(Sender::OwnPage)
        );
        assert_eq!(
            sender("kb.example", &["https://other.example"]),
            Err(Forbidden::Origin)
        );
        let own = "http://localhost:8000";
        assert_eq!(sender("localhost:8000", &[own, own]), Ok(Sender::OtherPage));
    }
}
