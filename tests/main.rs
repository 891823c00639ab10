//! Behaviour through the public doors. One line per module.

mod cli;
#[cfg(unix)]
mod crash;
mod golden;
mod hostile;
mod make_golden;
#[cfg(unix)]
mod mcp;
mod model;
#[cfg(unix)]
mod processes;
mod refuse;
mod rooms;
mod seal;
mod search;
mod spec;
mod support;
mod verify;
