//! Behaviour through the public doors. One line per module.

mod cli;
mod golden;
mod hostile;
mod make_golden;
mod model;
mod refuse;
mod rooms;
mod spec;
mod support;
