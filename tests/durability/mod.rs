//! Commits survive power loss, killed processes, forks and failing system calls.

mod crash;
mod embedding;
mod fork;
mod processes;
