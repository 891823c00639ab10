//! Embedding: text to vector. The trait of embedding models, and the built-in models, which need no
//! network, no file and no runtime. Ingestion embeds chunks and search embeds queries.
//!
//! A `.kb` file names its model by id and hash, and stores a few [`Probe`]s: texts with their
//! vectors. A reader finds the model with [`by_id`] and checks it with [`verify_probes`].

pub(crate) mod embedder;
mod probe;
mod slot;
mod static_model;
mod texts;
mod wordpiece;

pub use self::embedder::Embedder;
pub use self::probe::{Probe, probes, verify_probes};
pub use self::static_model::{BUILT_IN_MODEL, built_in, by_id, is_retired};
pub use self::texts::{TextRole, embed_texts};
