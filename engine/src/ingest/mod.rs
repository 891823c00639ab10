//! Writes a .kb: files -> documents -> chunks -> terms and vectors -> store.
//!
//! ```text
//! roots -> walk -> changes -> extract -> chunk -> prepare -> segment
//! ```
//! Each step is a function with a plain struct on both sides. It ranks nothing and prints nothing.

pub mod changes;
pub mod chunk;
pub mod clock;
mod gitignore;
pub mod options;
pub mod ordered;
pub mod prepare;
pub mod report;
pub mod root;
pub mod roots;
pub mod run;
pub mod segment;
mod source;
pub mod walk;
