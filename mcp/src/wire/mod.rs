//! Carries requests to the tools: the only room that knows tokio, rmcp and hyper.
//!
//! `handler` speaks the protocol, `work` runs what it asks for on threads of their own, `changes` and
//! `listen` tell subscribers of commits, `line` and `stdio` bring messages over a pair of pipes,
//! `http` over the network.

mod changes;
mod handler;
mod http;
mod line;
mod listen;
mod server;
mod stdio;
mod work;

pub use http::serve_http;
pub use stdio::serve_stdio;

/// Longer than anything takes that a test waits for, on a machine that does other things as well.
#[cfg(test)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// Runs a future to its end, for tests.
#[cfg(test)]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
