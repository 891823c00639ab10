//! `kb serve` as a browser and as a program see it.

mod api;
mod described;
mod export;
mod hostile;
mod load;
mod pages;
mod remote;
mod sign_in;
mod tokens;
mod writing;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::mcp::http::{Connection, Reply};
use crate::support::{Folder, PATIENCE};

/// A server that listens; killed when dropped.
struct Site {
    child: Child,
    address: SocketAddr,
    said: Receiver<String>,
    /// What it said before it listened.
    before: Vec<String>,
}

impl Site {
    /// `kb serve ARGUMENTS --listen 127.0.0.1:0` in a folder.
    #[track_caller]
    fn start(folder: &Folder, arguments: &[&str]) -> Site {
        let mut command = folder.command();
        command.arg("serve").args(arguments);
        command.args(["--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut site = Site {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            said,
            before: Vec::new(),
        };
        let line = loop {
            let line = site.line_with("");
            if line.contains("(MCP: http://") {
                break line;
            }
            site.before.push(line);
        };
        let address = line.split("http://").nth(1).unwrap();
        site.address = address.split('/').next().unwrap().parse().unwrap();
        site
    }

    /// The next line that the server says with that text.
    #[track_caller]
    fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.said.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the server did not say {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut connection = Connection::open(self.address);
        let host = self.address.to_string();
        let mut all = vec![("host", host.as_str())];
        all.extend(headers);
        connection.send(method, path, &all, body);
        connection.reply().expect("an answer")
    }

    /// The head of an answer, which has no body.
    #[track_caller]
    fn head(&self, path: &str) -> Reply {
        let mut connection = Connection::open(self.address);
        let host = self.address.to_string();
        connection.send("HEAD", path, &[("host", &host)], b"");
        connection.head().expect("an answer")
    }

    /// As a browser asks.
    #[track_caller]
    fn page(&self, path: &str) -> Reply {
        self.send("GET", path, &[("accept", "text/html")], b"")
    }

    #[track_caller]
    fn json(&self, path: &str) -> (u16, Value) {
        read(&self.send("GET", path, &[], b""))
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let headers = [("content-type", "application/json")];
        read(&self.send("POST", path, &headers, body.to_string().as_bytes()))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn read(reply: &Reply) -> (u16, Value) {
    let body = serde_json::from_slice(&reply.body);
    (
        reply.status,
        body.unwrap_or_else(|error| panic!("{error}: {reply:?}")),
    )
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.clone()).unwrap()
}
