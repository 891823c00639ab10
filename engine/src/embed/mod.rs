//! Embedding: text to vector. The trait of embedding models, and the built-in models, which need no
//! network, no file and no runtime. Ingestion embeds chunks and search embeds queries.
//!
//! A `.kb` file names its model by id and hash, and stores a few [`Probe`]s: texts with their
//! vectors. A reader finds the model with [`by_id`] and checks it with [`verify_probes`].

pub(crate) mod embedder;
mod models;
mod probe;
#[cfg(feature = "model")]
mod slot;
#[cfg(feature = "model")]
mod static_model;
mod text_embedder;
#[cfg(feature = "model")]
mod texts;
#[cfg(feature = "model")]
mod wordpiece;

pub use self::embedder::{BUILT_IN_MODEL, Embedder};
pub use self::models::by_id;
pub(crate) use self::models::{likeness, word_number, word_weight};
pub(crate) use self::probe::{Probe, probes, verify_probes};
#[cfg(feature = "model")]
pub use self::static_model::built_in;
pub(crate) use self::text_embedder::{changed, find, query, unavailable, verify_text_probes};
#[cfg(feature = "ingest")]
pub(crate) use self::text_embedder::{passages, text_probes};
#[cfg(feature = "model")]
pub use self::texts::{TextRole, embed_texts};
