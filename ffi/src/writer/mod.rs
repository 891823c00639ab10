//! Writing. The functions are the same in every build; what is behind them is `engine.rs`, or `absent.rs` in a build
//! that only reads.

#[cfg(not(feature = "write"))]
mod absent;
pub mod add;
pub mod change;
pub mod document;
#[cfg(feature = "write")]
mod engine;
pub mod index;
pub mod numbers;
pub mod open;
pub mod options;
pub mod report;

#[cfg(not(feature = "write"))]
use absent as behind;
#[cfg(feature = "write")]
use engine as behind;

pub(crate) use behind::{Report, Writer};
