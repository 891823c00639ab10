//! Answers a request: request -> plan -> retrieve -> rank -> render.
//!
//! | stage | modules | in -> out |
//! |---|---|---|
//! | request | `request`, `filters`, `options`, `show` | what a caller wants -> a checked [`Request`] |
//! | plan | `plan`, `query`, `filter`, `given_vector`, `contextual` | query text and filters -> analysed terms, embeddings, bitmaps of rows |
//! | retrieve | `retrieve` | plan -> the best chunks of both indexes, in layers |
//! | rank | `rank`, `top_k` | chunks with two scores -> rows of evidence -> one order, joined to passages |
//! | render | `render` | passages -> hits with text, highlights and snippet |
//!
//! `pipeline` runs the stages on `sources`; [`calibration`] makes scores of fused scores and judges the best,
//! which [`relevance`] names; `response` and `explanation` hold what comes out. `regex` searches for patterns and
//! `symbols` for definitions, beside these stages. This is the only room where keyword index, vector index and
//! stored text meet for reading. It does not write, does not know where files lie, and formats nothing
//! for a front.

pub(crate) mod calibration;
mod contextual;
mod defined;
mod explanation;
mod filter;
mod filters;
mod given_vector;
mod many;
pub(crate) mod models;
mod options;
mod pipeline;
mod plan;
mod query;
mod rank;
mod read_cache;
#[cfg(feature = "regex")]
mod regex;
pub(crate) mod relevance;
mod render;
mod request;
mod response;
mod retrieve;
mod show;
mod sources;
mod symbols;
mod timer;
mod top_k;

pub use calibration::{Calibration, shown_score};
pub(crate) use contextual::columns::embedded as embedded_for;
pub use explanation::{Bonus, Explanation, Step, TermScore, TermStatistics};
pub(crate) use filter::evaluation::documents_where;
pub use filters::Filters;
pub(crate) use many::search_many;
pub use models::install_models;
pub use options::{Mode, RERANK_LIMIT, RERANK_TOP, Rerank, Scope, Sort};
pub use pipeline::rerank::install_reranker;
pub(crate) use pipeline::search;
pub(crate) use plan::embedded;
#[cfg(feature = "testing")]
pub use rank::weights::{RANK_WEIGHTS, RankWeights};
#[cfg(feature = "regex")]
pub(crate) use regex::search_regex;
#[cfg(feature = "regex")]
pub use regex::{
    PATTERN_LIMIT_BYTES, RegexMatch, RegexOutput, RegexRequest, RegexResponse, SHOWN_LINE_BYTES,
};
pub use relevance::{RELEVANT_SCORE, Relevance, RelevanceSignals};
pub use render::window::LINE_BYTES;
pub(crate) use request::check_threads;
pub use request::{FACETS_LIMIT, K_LIMIT, QUERY_LIMIT_BYTES, Request, THREADS_LIMIT};
pub use response::{Correction, FacetCounts, Hit, HitSymbol, Response};
pub use show::{CONTEXT_LIMIT_CHARS, CONTEXT_LIMIT_LINES, ContextLines, Show, TextContext};
pub(crate) use sources::Source;
pub(crate) use symbols::symbols;
pub use symbols::{FoundSymbol, SymbolRelation, SymbolsRequest, SymbolsResponse};
