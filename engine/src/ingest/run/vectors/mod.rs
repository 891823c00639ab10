//! Columns of vectors that other models made: imported, removed, chosen as the default.
//!
//! `import` reads what the caller gives: `targets` finds the chunks, `rows` keeps the vectors in a temporary file,
//! `range` decides how they are quantised, `loss` measures what that leaves. `change` is the commit around it.
//! `reembed` fills a column by a model, with one import after the other.

mod change;
mod import;
mod loss;
mod options;
mod range;
mod reembed;
mod rows;
mod targets;
#[cfg(test)]
pub(crate) mod tests;

pub use options::{ImportReport, NewVectors, VectorTarget};
pub use reembed::{ColumnUpdate, ReembedOptions, ReembedReport, WaitingTexts};
