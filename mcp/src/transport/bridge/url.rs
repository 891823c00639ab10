//! The address of a server.

use std::fmt;

use hyper::Uri;

use crate::options::StartError;

/// The path of the endpoint, where the URL names none.
const DEFAULT_PATH: &str = "/mcp";

const DEFAULT_PORT: u16 = 80;

/// `http://HOST:PORT/PATH`, in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerUrl {
    /// Name or address, an IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// What the Host header says.
    pub(super) authority: String,
    /// With the query, if there is one.
    pub(super) path: String,
}

impl ServerUrl {
    /// Parses a URL as a user gives it.
    ///
    /// # Errors
    /// [`StartError::Usage`] for https, which would need TLS, for an invalid port, and for text that is no URL of
    /// a server.
    pub(super) fn parse(text: &str) -> Result<ServerUrl, StartError> {
        let refused = |message: String, hint: &str| StartError::Usage {
            message,
            hint: Some(hint.to_owned()),
        };
        let no_url = || {
            let message = format!("{text:?} is not the URL of a server");
            refused(message, "give it as http://127.0.0.1:8765/mcp")
        };
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        if uri.scheme_str() == Some("https") {
            let message =
                "--connect has no TLS support: the URL must begin with http://".to_owned();
            let hint = "let the client connect to the https URL itself, or run this command on the \
                        machine of the server";
            return Err(refused(message, hint));
        }
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
        let authority = authority.ok_or_else(no_url)?;
        if authority.as_str().contains('@') {
            let message = "a URL with a user or password in it is not supported".to_owned();
            let hint = "pass the token in KB_MCP_TOKEN or --token-file";
            return Err(refused(message, hint));
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        if host.is_empty() {
            return Err(no_url());
        }
        // An invalid port must not become the default port: the token would go there.
        let written = authority.as_str().strip_prefix(authority.host());
        let port = match (written, authority.port_u16()) {
            (Some(""), _) => DEFAULT_PORT,
            (_, Some(port)) if port > 0 => port,
            _ => {
                let message = format!("{authority} has no port from 1 to 65535");
                return Err(refused(message, "give it as http://127.0.0.1:8765/mcp"));
            }
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(ServerUrl {
            host: host.to_owned(),
            port,
            authority: authority.to_string(),
            path: if path == "/" { DEFAULT_PATH } else { path }.to_owned(),
        })
    }

    /// Whether what is sent there leaves this machine.
    pub(super) fn is_remote(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        !(address.is_ok_and(|address| address.is_loopback()) || self.host == "localhost")
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_a_port_and_a_path() {
        for (text, host, port, path, is_remote) in [
            (
                "http://127.0.0.1:8765/mcp",
                "127.0.0.1",
                8765,
                "/mcp",
                false,
            ),
            ("http://[::1]:80/x?y=1", "::1", 80, "/x?y=1", false),
            ("http://localhost", "localhost", 80, "/mcp", false),
            ("http://kb.example:9/", "kb.example", 9, "/mcp", true),
        ] {
            let url = ServerUrl::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!((&*url.host, url.port, &*url.path), (host, port, path));
            assert_eq!(url.is_remote(), is_remote, "{text}");
            assert!(ServerUrl::parse(&url.to_string()).is_ok_and(|again| again == url));
        }
    }

    #[test]
    fn what_cannot_be_connected_to_is_refused_with_the_reason() {
        for (text, reason) in [
            ("https://kb.example/mcp", "no TLS"),
            ("http://me:secret@kb.example/mcp", "user or password"),
            ("kb.example:80", "not the URL"),
            ("ftp://kb.example", "not the URL"),
            ("notes.kb", "not the URL"),
            ("http://127.0.0.1:99999/mcp", "no port"),
            ("http://[::1]:65536", "no port"),
            ("http://localhost:0", "no port"),
            ("http://localhost:/mcp", "no port"),
            ("", "not the URL"),
        ] {
            match ServerUrl::parse(text) {
                Err(StartError::Usage { message, hint }) => {
                    assert!(message.contains(reason) && hint.is_some(), "{message}");
                    assert!(!message.contains("secret"), "{message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
