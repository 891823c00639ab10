//! The server behind a port, spoken to in HTTP/1.1 by hand, so that every header can be wrong.

mod attack;
pub(crate) mod authorization;
mod bridge;
mod load;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kb_engine::escape::is_hidden;
use serde_json::Value;

use super::client::{Carrier, MODERN};
use crate::support::{Folder, PATIENCE, wait_until};

/// A server that listens.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl HttpServer {
    /// `kb mcp ARGUMENTS --http 127.0.0.1:0` in a folder.
    #[track_caller]
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> HttpServer {
        HttpServer::start_with(folder, arguments, &[])
    }

    /// The same with variables of the environment.
    #[track_caller]
    pub(crate) fn start_with(
        folder: &Folder,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> HttpServer {
        let mut command = folder.command();
        command.envs(variables.iter().copied());
        HttpServer::start_command(command, arguments, "127.0.0.1:0")
    }

    /// The same at an address, with a command that is `kb` with all that it needs but arguments.
    #[track_caller]
    fn start_command(mut command: Command, arguments: &[&str], address: &str) -> HttpServer {
        command.arg("mcp").args(arguments);
        command.args(["--http", address]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("the server said no address: {said:?}");
            };
            if let Some(rest) = line.split("http://").nth(1)
                && let Some((address, _)) = rest.split_once("/mcp")
            {
                break address.parse().unwrap();
            }
            said.push(line);
        };
        // So that the server never waits for somebody to read what it says.
        std::thread::spawn(move || lines.for_each(drop));
        HttpServer { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Asks it to stop and gives its exit status.
    #[track_caller]
    pub(crate) fn stop(mut self) -> Option<i32> {
        use rustix::process::{Pid, Signal, kill_process};
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        wait_until("the server stops", || !self.is_running());
        self.child.wait().unwrap().code()
    }

    /// A carrier for a client of that revision.
    pub(crate) fn connect(&self, revision: &'static str) -> Http {
        Http {
            address: self.address,
            connection: None,
            revision,
            session: None,
            token: None,
            waiting: VecDeque::new(),
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One HTTP answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The messages in it, from JSON or from events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).unwrap();
        let breaks = |c: char| !matches!(c, '\r' | '\n') && is_hidden(c);
        assert!(
            !text.contains(breaks),
            "not the same lines for all readers: {text:?}"
        );
        match self.header("content-type") {
            Some(kind) if kind.starts_with("text/event-stream") => text
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .filter(|data| !data.trim().is_empty())
                .map(|data| serde_json::from_str(data.trim()).unwrap())
                .collect(),
            _ if text.is_empty() => Vec::new(),
            _ => vec![serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))],
        }
    }
}

/// One kept-alive connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Connection {
            stream: BufReader::new(stream),
            address,
        }
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.stream.get_mut()
    }

    /// Sends a request with these headers beside Host and Content-Length, unless they are given.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let given = |name: &str| {
            headers
                .iter()
                .any(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        if !given("host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if !given("content-length") {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        for (key, value) in headers {
            head.push_str(&format!("{key}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let stream = self.stream();
        // A server may answer and close before it has read everything.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(body);
        let _ = stream.flush();
    }

    /// The next answer; `None` when the server closed the connection.
    pub(crate) fn reply(&mut self) -> Option<Reply> {
        let head = self.head()?;
        self.body_of(head)
    }

    /// The answer with its body.
    pub(crate) fn body_of(&mut self, mut reply: Reply) -> Option<Reply> {
        if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                reply.body.extend_from_slice(&chunk);
            }
        } else {
            let length = reply
                .header("content-length")
                .map_or(0, |text| text.parse().unwrap());
            reply.body.resize(length, 0);
            self.stream.read_exact(&mut reply.body).ok()?;
        }
        Some(reply)
    }

    /// Status and headers of the next answer; its body is left to be read by [`Connection::chunk`].
    pub(crate) fn head(&mut self) -> Option<Reply> {
        let status = self.line()?;
        let status = status.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (key, value) = line.split_once(':')?;
            headers.push((key.to_owned(), value.trim().to_owned()));
        }
        Some(Reply {
            status,
            headers,
            body: Vec::new(),
        })
    }

    /// The next chunk of a body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(self.line()?.trim(), 16).ok()?;
        let mut bytes = vec![0; length + 2];
        self.stream.read_exact(&mut bytes).ok()?;
        bytes.truncate(length);
        (length > 0).then_some(bytes)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(1..) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            _ => None,
        }
    }

    /// Sends a message as a client of that revision does, and gives the answer.
    pub(crate) fn post(
        &mut self,
        revision: &str,
        more: &[(&str, &str)],
        message: &Value,
    ) -> Option<Reply> {
        let headers = headers_of(revision, message);
        let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
        let of_more = |key: &str| {
            more.iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(key))
        };
        let mut headers: Vec<(&str, &str)> = headers.filter(|(key, _)| !of_more(key)).collect();
        headers.extend(more.iter().filter(|(_, value)| !value.is_empty()));
        self.send("POST", "/mcp", &headers, message.to_string().as_bytes());
        self.reply()
    }
}

/// What a client of that revision sends along with a message.
pub(crate) fn headers_of(revision: &str, message: &Value) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
    ];
    if message["method"] != "initialize" {
        headers.push(("MCP-Protocol-Version", revision.to_owned()));
    }
    if revision == MODERN {
        if let Some(method) = message["method"].as_str() {
            headers.push(("Mcp-Method", method.to_owned()));
        }
        let params = &message["params"];
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
            headers.push(("Mcp-Name", name.to_owned()));
        }
    }
    headers
}

/// Messages over one connection, each in a request of its own.
pub(crate) struct Http {
    address: SocketAddr,
    /// Opened with the first message, because the server waits only some seconds for that.
    connection: Option<Connection>,
    revision: &'static str,
    session: Option<String>,
    pub(crate) token: Option<String>,
    waiting: VecDeque<Value>,
}

impl Carrier for Http {
    fn send(&mut self, message: &Value) {
        let token = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut more = Vec::new();
        if let Some(session) = &self.session {
            more.push(("Mcp-Session-Id", session.as_str()));
        }
        if let Some(token) = &token {
            more.push(("Authorization", token.as_str()));
        }
        let address = self.address;
        let connection = self
            .connection
            .get_or_insert_with(|| Connection::open(address));
        let reply = connection.post(self.revision, &more, message);
        let reply = reply.expect("the server closed the connection");
        if let Some(session) = reply.header("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        assert!(reply.status < 500, "{reply:?}");
        self.waiting.extend(reply.messages());
    }

    fn receive(&mut self, _patience: Duration) -> Option<Value> {
        self.waiting.pop_front()
    }
}
