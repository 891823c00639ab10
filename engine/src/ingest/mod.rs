//! Writes a .kb: files -> documents -> chunks -> terms and vectors -> store.
//!
//! ```text
//! roots -> walk -> changes -> extract -> chunk -> prepare -> segment
//! ```
//! Each step is a function with a plain struct on both sides. It ranks nothing and prints nothing.

pub(crate) mod changes;
pub(crate) mod chunk;
pub(crate) mod clock;
mod gitignore;
pub(crate) mod options;
pub(crate) mod ordered;
pub(crate) mod prepare;
pub(crate) mod report;
pub(crate) mod root;
pub(crate) mod roots;
pub(crate) mod run;
pub(crate) mod segment;
mod source;
pub(crate) mod walk;
