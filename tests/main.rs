//! Behaviour through the public doors. One line per module. A target of the package `kb-cli`, because
//! cargo tells only those where the binary is.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    unreachable_pub
)]

mod cli;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod fork;
mod golden;
mod hostile;
mod make_golden;
#[cfg(unix)]
mod mcp;
mod model;
#[cfg(unix)]
mod moves;
#[cfg(unix)]
mod outputs;
#[cfg(unix)]
mod processes;
mod refuse;
mod rooms;
mod seal;
mod search;
mod spec;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod trials;
mod verify;
