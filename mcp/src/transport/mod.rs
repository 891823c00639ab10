//! Carries requests to the tools: the only room that knows tokio, rmcp and hyper.
//!
//! `handler` speaks the protocol, `work` runs what it asks for on threads of their own, `changes` and
//! `listen` tell subscribers of commits, `line` and `stdio` bring messages over a pair of pipes,
//! `http` over the network. `scan` looks at a message before it is parsed, `hello` shortens what a
//! client says of itself, `flight` knows which requests are not answered, `unread` which
//! answers nobody took, `share` what each client
//! may take, and `held` lets a request keep that until it is done.

mod changes;
mod flight;
mod handler;
mod held;
mod hello;
mod http;
mod line;
mod listen;
mod scan;
mod server;
mod share;
mod stdio;
mod unread;
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
