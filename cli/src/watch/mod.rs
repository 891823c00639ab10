//! Keeps .kb files up to date while their sources change. `events` groups file system events into bursts of changes.
//! `follower` runs an index run after each burst and reports to a listener. `kb watch` is one listener; `serve` has one
//! for every file that `kb mcp --watch` serves.
//! `embedding` has the models of the columns embed what changed.

pub(crate) mod embedding;
pub(crate) mod events;
pub(crate) mod follower;
pub(crate) mod serve;
