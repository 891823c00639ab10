//! Room 3a: files -> documents -> chunks -> terms and vectors -> store.
//!
//! ```text
//! roots -> walk -> changes -> extract -> chunk -> prepare -> segment
//! ```
//! Each step is a function with a plain struct on both sides. It ranks nothing and prints nothing.

pub mod changes;
pub mod chunk;
pub mod clock;
pub mod extract;
mod gitignore;
#[cfg(test)]
mod growth;
pub mod options;
pub mod prepare;
pub mod report;
pub mod roots;
pub mod run;
pub mod secrets;
pub mod segment;
mod source;
pub mod tags;
pub mod walk;
pub mod worker;
