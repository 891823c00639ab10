//! The server as a child process, one message a line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kb_engine::escape::is_hidden;
use serde_json::Value;

use super::client::Carrier;
use crate::support::{Folder, PATIENCE};

/// A server on pipes.
pub(crate) struct Stdio {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Lines on stdout that are no messages.
    stray: Arc<Mutex<Vec<String>>>,
    stderr: Arc<Mutex<String>>,
}

/// How a server ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) after: Duration,
    pub(crate) stderr: String,
    pub(crate) stray: Vec<String>,
}

impl Stdio {
    /// `kb mcp ARGUMENTS` in a folder.
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Stdio {
        Stdio::start_with(folder, arguments, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn start_with(
        folder: &Folder,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Stdio {
        let mut command = folder.command();
        command.envs(variables.iter().copied());
        Stdio::start_command(command, arguments)
    }

    /// The same of a command that is `kb` with all that it needs but arguments.
    pub(crate) fn start_command(mut command: Command, arguments: &[&str]) -> Stdio {
        command.arg("mcp").args(arguments);
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let mut said = child.stderr.take().unwrap();
        let (sender, messages) = channel();
        let stray = Arc::new(Mutex::new(Vec::new()));
        let stderr = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&stray);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                // The test then gets no answer, and its output says why.
                assert!(
                    !line.contains(is_hidden),
                    "not one line for all readers: {line:?}"
                );
                match serde_json::from_str::<Value>(&line) {
                    Ok(message) if message["jsonrpc"] == "2.0" => {
                        // Nobody listens any more when the test has ended.
                        let _ = sender.send(message);
                    }
                    _ => kept.lock().unwrap().push(line),
                }
            }
        });
        let kept = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = said.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                kept.lock().unwrap().push_str(&text);
            }
        });
        Stdio {
            child,
            stdin,
            messages,
            stray,
            stderr,
        }
    }

    /// Sends bytes as they are, with an end of line.
    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// What it said on stderr so far.
    pub(crate) fn said(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Closes stdin and waits for the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let asked = Instant::now();
        drop(self.stdin.take());
        while asked.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                let after = asked.elapsed();
                // What it said last is still on its way through the threads.
                while self.messages.recv().is_ok() {}
                return Ended {
                    code: status.code(),
                    after,
                    stderr: self.stderr.lock().unwrap().clone(),
                    stray: self.stray.lock().unwrap().clone(),
                };
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("the server goes on after the end of its input");
    }
}

impl Carrier for Stdio {
    fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    fn receive(&mut self, patience: Duration) -> Option<Value> {
        self.messages.recv_timeout(patience).ok()
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
