//! Embedding models that are not built into `kb`.
//!
//! [`parse`] turns a specification such as `onnx:models/minilm` into a [`TextEmbedder`]. The engine knows models by
//! this trait alone; it links none of the code here.
//!
//! Nothing here uses the network, except services that a specification names by their address, and [`Hub`]. Folders of models are
//! read once, when the model is loaded. What they hold is not trusted: sizes are checked before bytes are read,
//! operators and shapes before a graph is built, and each vector before it is returned.

mod cache;
mod compiled_in;
mod files;
mod folder;
mod hub;
mod model2vec;
mod onnx;
mod pooling;
mod registry;
mod service;
mod tls;
mod tokenizer;

/// The trait of models, and what comes with it.
pub use kb_types::{
    EmbedError, EmbedderResolver, ModelCard, ModelFile, Pooling, Reranker, TextEmbedder,
};

pub use cache::{Addition, Cache, Entry, Kind};
pub use compiled_in::compiled_in;
pub use hub::{Hub, Listing};
pub use registry::{
    Choice, Destination, Model, OneNamed, Options, Resolver, Specification, destination, load,
    parse, parse_with, reranker,
};
