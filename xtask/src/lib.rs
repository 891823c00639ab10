//! What the tools of this repository share: where its files are, cargo started on it, a server under
//! test, and the graph of its sources. The verbs are in `main.rs`; benchmarks are in `tools/bench`, judged collections in
//! `tools/eval`.

pub mod http_server;
pub mod repository;
pub mod sources;
