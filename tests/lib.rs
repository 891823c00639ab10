//! Tests of the public doors live in `main.rs`. Here only the Rust of the README is compiled, as
//! documentation tests.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
