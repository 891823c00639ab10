//! Extraction in child processes: files of formats that a hostile file could abuse are read where an
//! abort, a hang or a flood of memory costs one document.
//!
//! ```text
//! a thread of the indexer            the worker: the same executable, `kb extract-worker`
//!   extractor -> process  --stdin-->   limits, sandbox, then serve: extractor::extract
//!                         <-stdout--   a document, or why there is none
//! ```
//! [`extraction`] is what a host decides, [`extractor`] does it for one thread, `process` is one child
//! with its time limit, `cpu_time` tells whether it used that, `protocol` and `document_codec` are what
//! goes through the pipes. [`serve`], `limits` and `sandbox` run in the child. Which formats need a worker is decided by
//! [`crate::isolation_of`].
//!
//! A worker limits itself before it reads the first byte of a document: address space, CPU time of each
//! document, open files, no core, no writing to files, and on Linux a filter of system calls under which it
//! can compute, read stdin, write stdout, and nothing else. macOS has the same limits but no filter, and its
//! kernel does not hold the one of address space; Windows has neither. Everywhere the parent ends a worker
//! that takes longer than the time limit, and believes nothing that a worker says before it is checked.

mod cpu_time;
mod document_codec;
pub mod extraction;
pub mod extractor;
#[cfg(unix)]
mod limits;
mod process;
pub mod protection;
mod protocol;
pub mod refusal;
mod sandbox;
pub mod serve;
#[cfg(feature = "testing")]
mod trial;
