//! Files that follow their sources. `events` turns what the system says of folders into bursts of changes,
//! `follower` runs an index run after each burst and tells a listener; `kb watch` is such a listener, and
//! `serve` has one for every file that `kb mcp --watch` serves.

pub(crate) mod events;
pub(crate) mod follower;
pub(crate) mod serve;
