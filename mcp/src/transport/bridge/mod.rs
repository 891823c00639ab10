//! A client on stdin and stdout, its server over HTTP: `kb mcp --connect URL`.
//!
//! Messages pass as they are, in either era of the protocol; what HTTP says beside a message (session,
//! revision, method) is taken from it. `relay` carries them, over the connections of a `client`;
//! `check` asks at the start whether there is a server;
//! `session` is what a server before 2026-07-28 keeps of this client and what is needed to open it
//! again. `message` reads as much of a message as that takes, and
//! `headers` says it; `events` reads the streams of a server, `answer` what is in them.

mod answer;
mod check;
mod client;
mod events;
mod failure;
mod headers;
mod message;
mod relay;
mod serve;
mod session;
mod url;

pub use serve::connect_stdio;
