//! Behaviour through the public doors. One line per module.

mod cli;
mod rooms;
mod support;
