//! `kb mcp --http` as a child process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};

use anyhow::{Context, Result};

/// A server behind a port; killed when dropped.
pub struct HttpServer {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl HttpServer {
    /// Starts `command` and reads the address from its first line with one.
    pub fn start(mut command: Command) -> Result<HttpServer> {
        let mut child = command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr")?).lines();
        let address = loop {
            let line = lines.next().context("the server says no address")??;
            let rest = line.split("http://").nth(1);
            if let Some((address, _)) = rest.and_then(|rest| rest.split_once("/mcp")) {
                break address.parse()?;
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Ok(HttpServer { child, address })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
