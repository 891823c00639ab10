//! The C library `libkb`. Its documentation is `include/kb.h`, made of what is written here and of `cbindgen.toml`.
//!
//! `base` has what every function needs, `reader` the functions that read, `writer` those that write, and `call` the one
//! that takes and gives JSON. Functions translate: what they offer are methods of `Kb` and `KbWriter`.
#![deny(missing_docs)]

pub mod base;
pub mod call;
pub mod reader;
pub mod writer;
