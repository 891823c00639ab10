//! Behaviour through the public doors. One line per module.

mod cli;
mod golden;
mod make_golden;
mod rooms;
mod support;
