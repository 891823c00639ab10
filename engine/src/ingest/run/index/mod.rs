//! Index runs.
//!
//! [`update`] changes a file in place and sends what cannot be changed so to [`rebuild`]; both apply
//! what [`plan`] found, and [`recorder`] counts. [`compare`] stops after the plan.

mod compare;
mod plan;
mod rebuild;
mod recorder;
mod update;

pub(crate) use compare::{check_sources, compare_sources};
