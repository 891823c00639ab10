//! Room 3b: request -> plan -> retrieve -> fuse -> render.
//!
//! | stage | where | in -> out |
//! |---|---|---|
//! | request | [`request`] | what a caller wants -> a validated [`Request`] |
//! | plan | [`plan`], [`query`], [`filter`] | query text and filters -> analysed terms, vectors, bitmaps of rows |
//! | retrieve | [`retrieve`] | plan -> the best chunks of both indexes, in layers |
//! | fuse | [`fuse`] | chunks with two scores -> one order, joined to passages |
//! | render | [`render`] | passages -> hits with text, highlights and snippet |
//!
//! [`pipeline`] runs the stages, [`relevance`] judges the best candidates. This is the only room where
//! keyword index, vector index and stored text meet for reading. It does not write, does not know
//! files or folders, and formats nothing for a front.

mod explanation;
mod filter;
mod fuse;
mod model;
mod pipeline;
mod plan;
mod query;
pub mod relevance;
mod render;
mod request;
mod response;
mod retrieve;
mod sample_queries;
mod sources;
mod timer;

pub use explanation::{Explanation, Step, TermScore, TermStatistics};
pub use fuse::score::VECTOR_WEIGHT;
pub(crate) use model::model_of;
pub(crate) use pipeline::{search, search_many};
pub(crate) use plan::{MIN_CANDIDATES, embedded};
pub use relevance::{Relevance, RelevanceSignals};
pub use request::{
    CONTEXT_LIMIT_CHARS, CONTEXT_LIMIT_LINES, Filters, K_LIMIT, Mode, QUERY_LIMIT_BYTES, Request,
    Scope, Sort,
};
pub use response::{HIT_OVERHEAD_BYTES, Hit, Response};
pub(crate) use sample_queries::sample_queries;
pub(crate) use sources::Source;
