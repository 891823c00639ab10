//! What a commit survives: power loss, killed processes, forks and refused system calls.

mod crash;
mod fork;
mod processes;
