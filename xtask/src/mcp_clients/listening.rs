//! `kb mcp --http` as a child process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};

use anyhow::{Context, Result};

/// A server behind a port.
pub(crate) struct Listening {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Listening {
    pub(crate) fn start(mut command: Command) -> Result<Listening> {
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
        Ok(Listening { child, address })
    }

    #[cfg(feature = "measure")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
