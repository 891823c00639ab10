//! Index runs.
//!
//! [`update`] changes a file in place and sends what cannot be changed so to [`rebuild`]; both apply
//! what [`plan`] found, and [`recorder`] counts. [`symbols`] is the
//! second pass of a large first run. [`older`] protects what a file of an older format would lose. [`compare`] stops after the plan.

mod compare;
mod older;
mod plan;
mod rebuild;
mod recorder;
mod symbols;
mod update;

pub(crate) use compare::{check_sources, compare_sources};
