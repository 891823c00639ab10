//! `cargo xtask bench mcp`: what the server adds to the time of the engine, how soon it answers after
//! its start, and how much memory it keeps.

mod wire;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use kb_engine::{Class, Kb, Mode, PageOptions, Request, Scope, Show, search_files};
use serde_json::{Value, json};
use wire::{Http, Pipes};
use xtask::http_server::HttpServer;

use crate::latency::Summary;
use crate::table::Table;
use crate::{child, corpus, shipped_build};

/// Calls of each kind that are timed.
const CALLS: usize = 1000;

/// Servers that are started to time their first answer.
const STARTS: usize = 20;

/// Clients that search at once.
const CLIENTS: usize = 64;

/// Runs the verb.
pub(super) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(argument) = arguments.first() {
        bail!("bench mcp takes no arguments; {argument:?} was given");
    }
    let parts = corpus::fetch()?;
    shipped_build::build()?;
    let part = parts.first().context("the corpus has a first part")?;
    let file = file_of(&part.folder)?;
    let queries = corpus::queries()?;
    let mut table = Table::default();
    let info = Kb::open(&file)?.info()?;
    table.add(
        "chunks of the file",
        info.chunks.to_string(),
        "10 000 or more",
    );
    searches(&mut table, &file, &queries)?;
    starts(&mut table, &file)?;
    definitions(&mut table, &file)?;
    memory(&mut table, &file, &queries)?;
    table.write("mcp", "The MCP server", "cargo xtask bench mcp")?;
    Ok(true)
}

/// The file of the first part of the corpus.
fn file_of(folder: &Path) -> Result<PathBuf> {
    let file = corpus::bench_folder().join("mcp.kb");
    if !file.exists() {
        shipped_build::index(&file, &[folder])?;
    }
    Ok(file)
}

fn server(file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(shipped_build::program());
    command.arg("mcp").arg(file).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// A tool that searches, with what it answers by default.
struct SearchTool {
    name: &'static str,
    classes: &'static [Class],
    scope: Scope,
    /// What the tool first gives the engine of the budget.
    max_tokens: u32,
    /// Where the result has the path of the first hit.
    first_path: &'static str,
}

const SEARCH_TOOLS: [SearchTool; 3] = [
    SearchTool {
        name: "search_docs",
        classes: &[Class::Doc, Class::Data],
        scope: Scope::Chunks,
        max_tokens: 1416,
        first_path: "/structuredContent/results/0/path",
    },
    SearchTool {
        name: "search_code",
        classes: &[Class::Code, Class::Data],
        scope: Scope::Chunks,
        max_tokens: 1344,
        first_path: "/structuredContent/results/0/file_path",
    },
    SearchTool {
        name: "search",
        classes: &[],
        scope: Scope::Documents,
        max_tokens: 2000,
        first_path: "/structuredContent/data/results/0/document_id",
    },
];

impl SearchTool {
    /// What the tool asks the engine: five hits of their best lines, fewer and shorter where nothing is relevant.
    fn request(&self, query: &str) -> Request {
        let mut request = Request::new(query);
        request.mode = Mode::Hybrid;
        request.scope = self.scope;
        request.filters.classes = self.classes.to_vec();
        request.k = 5;
        request.join = false;
        request.show = Show::lines(40);
        request.previews = Some((3, 3));
        request.page = PageOptions::default().max_tokens(self.max_tokens);
        request
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn over(served: &Summary, engine: &Summary) -> String {
    let more = |a: Duration, b: Duration| milliseconds(a.saturating_sub(b));
    format!(
        "{} (p95 {}); {} over the engine",
        milliseconds(served.p50),
        milliseconds(served.p95),
        more(served.p50, engine.p50)
    )
}

/// The same questions to the engine in this process and through each transport, in turns, so that a
/// busy moment of the machine hits all of them.
fn searches(table: &mut Table, file: &Path, queries: &[String]) -> Result<()> {
    let kb = Kb::open(file)?;
    let mut pipes = Pipes::start(server(file, &[]))?;
    let http_server = HttpServer::start(server(file, &["--http", "127.0.0.1:0"]))?;
    let mut modern = Http::connect(http_server.address, None)?;
    let mut session = Http::connect(http_server.address, Some("2025-11-25"))?;
    for tool in SEARCH_TOOLS {
        let mut times: [Vec<Duration>; 4] = Default::default();
        let rounds = CALLS.div_ceil(queries.len());
        for round in 0..=rounds {
            for query in queries {
                let params = call(tool.name, json!({"query": query}));
                let asked = Instant::now();
                let found = search_files(&[&kb], &tool.request(query))?;
                let engine = asked.elapsed();
                let mut timed = [engine; 4];
                let asked = Instant::now();
                let answer = pipes.ask("tools/call", params.clone())?;
                timed[1] = asked.elapsed();
                let asked = Instant::now();
                modern.ask("tools/call", params.clone())?;
                timed[2] = asked.elapsed();
                let asked = Instant::now();
                session.ask("tools/call", params)?;
                timed[3] = asked.elapsed();
                let first = found.hits.first().map(|hit| hit.document.as_str());
                let served = answer.pointer(tool.first_path);
                if served.and_then(Value::as_str) != first {
                    bail!(
                        "{}: {query:?}: the server finds {served:?}, the engine {first:?}",
                        tool.name
                    );
                }
                // The first round fills caches.
                if round > 0 {
                    times
                        .iter_mut()
                        .zip(timed)
                        .for_each(|(all, one)| all.push(one));
                }
            }
        }
        let [engine, stdio, modern, session] = times.map(Summary::of);
        table.add(
            format!("engine alone as {}, {} calls, p50", tool.name, engine.runs),
            format!(
                "{} (p95 {})",
                milliseconds(engine.p50),
                milliseconds(engine.p95)
            ),
            "",
        );
        for (transport, served, threshold) in [
            ("stdio", stdio, "<= 1 ms over"),
            ("HTTP, 2026-07-28, kept connection", modern, "<= 2 ms over"),
            (
                "HTTP, session of 2025-11-25 (events)",
                session,
                "<= 2 ms over",
            ),
        ] {
            let what = format!("{} over {transport}, p50", tool.name);
            table.add(what, over(&served, &engine), threshold);
        }
    }
    Ok(())
}

/// From the start of the process to the first answers.
fn starts(table: &mut Table, file: &Path) -> Result<()> {
    let (mut discovered, mut searched) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let asked = Instant::now();
        let mut pipes = Pipes::start(server(file, &[]))?;
        pipes.ask("server/discover", json!({}))?;
        discovered.push(asked.elapsed());
        pipes.ask(
            "tools/call",
            call("search_docs", json!({"query": "how are files locked"})),
        )?;
        searched.push(asked.elapsed());
    }
    for (what, times) in [
        ("the first answer", discovered),
        ("the first search answered", searched),
    ] {
        let most = times.iter().max().copied().unwrap_or_default();
        let summary = Summary::of(times);
        let measured = format!(
            "p50 {}, most {}",
            milliseconds(summary.p50),
            milliseconds(most)
        );
        table.add(
            format!("start to {what}, {STARTS} processes"),
            measured,
            "<= 50 ms",
        );
    }
    Ok(())
}

/// Characters / 4 of name, description and input schema of every tool.
fn definitions(table: &mut Table, file: &Path) -> Result<()> {
    for (what, more) in [
        ("read only", &[][..]),
        ("with --allow-write", &["--allow-write"][..]),
    ] {
        let mut pipes = Pipes::start(server(file, more))?;
        let list = pipes.ask("tools/list", json!({}))?;
        let tools = list["tools"].as_array().context("a list of tools")?;
        let mut characters = 0;
        for tool in tools {
            let texts = [&tool["name"], &tool["description"]];
            let texts = texts.map(|text| text.as_str().unwrap_or_default().chars().count());
            characters +=
                texts.iter().sum::<usize>() + tool["inputSchema"].to_string().chars().count();
        }
        let measured = format!("{} tools, {} tokens", tools.len(), characters / 4);
        table.add(format!("definitions, {what}"), measured, "<= 3 830");
    }
    Ok(())
}

/// Dirty private memory of the server, as the system tells it.
fn private_memory(pid: u32) -> Result<String> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let bytes = child::field_bytes(&rollup, "Private_Dirty:");
    ensure!(bytes > 0, "no Private_Dirty of process {pid}");
    Ok(format!("{:.1} MB", bytes as f64 / 1e6))
}

fn memory(table: &mut Table, file: &Path, queries: &[String]) -> Result<()> {
    let threshold = "<= 30 MB";
    let mut pipes = Pipes::start(server(file, &[]))?;
    pipes.ask("server/discover", json!({}))?;
    table.add(
        "private memory over stdio, started",
        private_memory(pipes.id())?,
        threshold,
    );
    for query in queries.iter().cycle().take(CALLS) {
        pipes.ask("tools/call", call("search_docs", json!({"query": query})))?;
        pipes.ask("tools/call", call("search_code", json!({"query": query})))?;
    }
    let name = format!("private memory after {} searches", CALLS * 2);
    table.add(name, private_memory(pipes.id())?, threshold);
    let listening = HttpServer::start(server(file, &["--http", "127.0.0.1:0"]))?;
    std::thread::scope(|scope| -> Result<()> {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let address = listening.address;
                scope.spawn(move || -> Result<Http> {
                    let mut client = Http::connect(address, None)?;
                    for query in queries.iter().take(20) {
                        client.ask("tools/call", call("search_docs", json!({"query": query})))?;
                    }
                    Ok(client)
                })
            })
            .collect();
        let clients: Result<Vec<Http>> = clients
            .into_iter()
            .map(|client| {
                client
                    .join()
                    .map_err(|_| anyhow::anyhow!("a client failed"))?
            })
            .collect();
        let name = format!("private memory with {CLIENTS} HTTP clients connected");
        table.add(name, private_memory(listening.id())?, threshold);
        drop(clients?);
        Ok(())
    })?;
    let copy = corpus::bench_folder().join("mcp-written.kb");
    fs::copy(file, &copy)?;
    let mut pipes = Pipes::start(server(&copy, &["--allow-write"]))?;
    let text = "Ten megabytes of one sentence, again and again.\n".repeat(210_000);
    pipes.ask(
        "tools/call",
        call(
            "upload_document",
            json!({"fileName": "large.txt", "content": text}),
        ),
    )?;
    loop {
        let status = pipes.ask(
            "tools/call",
            call("get_status", json!({"document_id": "large.txt"})),
        )?;
        match status
            .pointer("/structuredContent/status")
            .and_then(Value::as_str)
        {
            Some("processing") => std::thread::sleep(Duration::from_millis(100)),
            Some("ready") => break,
            other => bail!("the upload is {other:?}: {status}"),
        }
    }
    table.add(
        "private memory after an upload of 10 MB",
        private_memory(pipes.id())?,
        threshold,
    );
    drop(pipes);
    fs::remove_file(copy)?;
    Ok(())
}
