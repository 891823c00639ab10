//! Limits on what clients take of the server: connections, requests per second, requests that start
//! at once, and the time that a write may wait for its reader.

pub(crate) mod concurrency;
pub(crate) mod connections;
pub(crate) mod rate;
pub(crate) mod write_timeout;
