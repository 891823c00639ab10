//! What the disk has against what the file has.
//!
//! [`comparison`] merges the walk with the rows of a commit, which [`indexed`] reads; [`coverage`] says
//! which documents a run is about; [`survey`] counts the differences before anything is written.

pub mod comparison;
pub mod coverage;
pub mod indexed;
pub mod survey;
