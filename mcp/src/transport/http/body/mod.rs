//! Bodies of requests and responses, and the memory that they may take.
//!
//! `budget` reads requests, `response` wraps the bodies of responses, `unflushed` has what a connection
//! was given and has not written, `offload` keeps long parsing off the network threads.

pub(crate) mod budget;
pub(crate) mod offload;
pub(crate) mod response;
pub(crate) mod unflushed;
