//! Embedding models that are not built into `kb`.
//!
//! [`parse`] turns a specification such as `onnx:models/minilm` into a [`TextEmbedder`](kb_types::TextEmbedder). The engine knows models by
//! this trait alone; it links none of the code here.
//!
//! Nothing here uses the network, except services that a specification names by their address. Folders of models are
//! read once, when the model is loaded. What they hold is not trusted: sizes are checked before bytes are read,
//! operators and shapes before a graph is built, and each vector before it is returned.

mod files;
mod folder;
mod onnx;
mod registry;
mod tokenizer;

pub use registry::{Choice, Model, Options, Specification, parse};
