//! The smallest client that measures a server and not itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// What each request of 2026-07-28 carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn request(method: &str, mut params: Value, is_modern: bool) -> Value {
    if is_modern {
        params["_meta"] = meta();
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn result_of(mut answer: Value) -> Result<Value> {
    let result = answer["result"].take();
    if !result.is_object() || result["isError"] == true {
        bail!("refused: {answer} {result}");
    }
    Ok(result)
}

/// A server on pipes.
pub(super) struct Pipes {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Pipes {
    pub(super) fn start(mut command: Command) -> Result<Pipes> {
        let mut child = command.stderr(std::process::Stdio::null()).spawn()?;
        let stdin = child.stdin.take().context("stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("stdout")?);
        Ok(Pipes {
            child,
            stdin,
            stdout,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let mut line = request(method, params, true).to_string();
        line.push('\n');
        self.stdin.write_all(line.as_bytes())?;
        self.stdin.flush()?;
        let mut answer = String::new();
        if self.stdout.read_line(&mut answer)? == 0 {
            bail!("the server ended");
        }
        result_of(serde_json::from_str(&answer)?)
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One kept connection, of the newest revision or with a session of an older one.
pub(super) struct Http {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    revision: Option<&'static str>,
    session: Option<String>,
}

impl Http {
    pub(super) fn connect(address: SocketAddr, revision: Option<&'static str>) -> Result<Http> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut http = Http {
            stream: BufReader::new(stream),
            address,
            revision,
            session: None,
        };
        if let Some(revision) = revision {
            let hello = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
            http.ask("initialize", hello)?;
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            http.post(&initialized)?;
        }
        Ok(http)
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let message = request(method, params, self.revision.is_none());
        let answer = self.post(&message)?.context("an answer")?;
        result_of(answer)
    }

    /// Sends one message; the answer, if one comes.
    fn post(&mut self, message: &Value) -> Result<Option<Value>> {
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\
             MCP-Protocol-Version: {}\r\n",
            self.address,
            body.len(),
            self.revision.unwrap_or("2026-07-28")
        );
        if self.revision.is_none() {
            head.push_str(&format!("Mcp-Method: {}\r\n", text(&message["method"])));
            head.push_str(&format!(
                "Mcp-Name: {}\r\n",
                text(&message["params"]["name"])
            ));
        }
        if let Some(session) = &self.session {
            head.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
        }
        head.push_str("\r\n");
        head.push_str(&body);
        self.stream.get_mut().write_all(head.as_bytes())?;
        self.read_answer()
    }

    fn read_answer(&mut self) -> Result<Option<Value>> {
        let status = self.line()?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (key, value) = line.split_once(':').context("a header")?;
            match key.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "transfer-encoding" => is_chunked = value.trim() == "chunked",
                "mcp-session-id" => self.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.line()?.trim(), 16)?;
                let start = body.len();
                body.resize(start + size + 2, 0);
                self.stream.read_exact(&mut body[start..])?;
                body.truncate(start + size);
                if size == 0 {
                    break;
                }
            }
        } else {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
        }
        if !status.contains(" 20") {
            bail!("{status}: {}", String::from_utf8_lossy(&body));
        }
        let body = String::from_utf8(body)?;
        let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = events.map(str::trim).rfind(|data| !data.is_empty());
        match last.unwrap_or(body.trim()) {
            "" => Ok(None),
            message => Ok(Some(serde_json::from_str(message)?)),
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the server closed the connection");
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
