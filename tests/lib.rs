//! Tests of the public doors live in `main.rs`; this library is empty so that the package has a target.
