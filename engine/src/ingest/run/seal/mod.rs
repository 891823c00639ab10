//! Seal: the file to ship. One order of documents, as few segments as possible, the best compression,
//! nothing deleted or unused, and the content root.

mod options;
mod plan;
#[expect(
    clippy::module_inception,
    reason = "the folder holds what sealing needs, the file the operation"
)]
mod seal;
mod symbols;
mod writer;

pub use options::{PackedModel, SealOptions, SealReport};
