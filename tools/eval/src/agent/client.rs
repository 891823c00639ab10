//! A client of the MCP server over stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

/// A running server; it ends with this value.
pub(crate) struct Server {
    child: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
    last_id: u64,
    /// Name of the index that the server has open.
    pub(crate) index: String,
    /// Whether `get_documents` is there, which reads lines of several documents in one call.
    pub(crate) reads_many: bool,
    /// Whether `search_code` takes a `continuation_token`.
    pub(crate) continues: bool,
}

/// The answer to one call.
pub(crate) struct Answer {
    /// The structured result, or the contents of a resource.
    pub(crate) value: Value,
    /// The text that a model reads.
    pub(crate) text: String,
}

impl Answer {
    /// Tokens of the text, 4 bytes each.
    pub(crate) fn tokens(&self) -> usize {
        self.text.len().div_ceil(4)
    }
}

impl Server {
    /// Starts `kb mcp FILE` and shakes hands.
    pub(crate) fn start(program: &Path, file: &Path) -> Result<Server> {
        let mut child = Command::new(program)
            .arg("mcp")
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let requests = child.stdin.take().context("no stdin")?;
        let responses = BufReader::new(child.stdout.take().context("no stdout")?);
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let mut server = Server {
            child,
            requests,
            responses,
            last_id: 0,
            index: name.into_owned(),
            reads_many: false,
            continues: false,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "kb-eval", "version": "1" },
        });
        server.request("initialize", hello)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let tools = server.request("tools/list", json!({}))?;
        let has = |name: &str, parameter: &str| {
            let of_tool = tools["tools"].as_array().into_iter().flatten();
            let mut of_tool = of_tool.filter(|tool| tool["name"] == name);
            of_tool.any(|tool| !tool["inputSchema"]["properties"][parameter].is_null())
        };
        server.reads_many = has("get_documents", "documents");
        server.continues = has("search_code", "continuation_token");
        Ok(server)
    }

    /// Calls a tool; an error result is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer> {
        let call = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", call)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true {
            bail!("{tool} {arguments}: {text}");
        }
        Ok(Answer {
            text: text.to_owned(),
            value: result["structuredContent"].clone(),
        })
    }

    /// Reads a resource.
    pub(crate) fn read(&mut self, uri: &str) -> Result<Answer> {
        let result = self.request("resources/read", json!({ "uri": uri }))?;
        let contents = result["contents"][0].clone();
        let text = contents["text"].as_str().unwrap_or_default().to_owned();
        Ok(Answer {
            text,
            value: contents,
        })
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.responses.read_line(&mut line)? == 0 {
                bail!("the server ended during {method}");
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                if let Some(error) = message.get("error") {
                    return Err(anyhow!("{method}: {error}"));
                }
                return Ok(message["result"].clone());
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.requests, "{message}")?;
        Ok(self.requests.flush()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
