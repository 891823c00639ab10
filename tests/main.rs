//! Tests of behaviour through the public interfaces. One line per module. This is a target of the package `kb-cli`,
//! because cargo tells only its targets where the binary is.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    unreachable_pub
)]

mod cli;
mod corruption;
mod documents;
#[cfg(unix)]
mod durability;
mod format;
#[cfg(unix)]
mod mcp;
mod model;
#[cfg(unix)]
mod moves;
mod rooms;
mod seal;
mod search;
#[cfg(unix)]
mod serve;
mod support;
#[cfg(target_os = "linux")]
mod trials;
#[cfg(target_os = "linux")]
mod worker;
