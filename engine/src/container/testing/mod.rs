//! For unit tests: files to test with, and a disk that fails.

#[cfg(unix)]
mod faults;
pub(crate) mod fixture;
