//! What a search asks of a keyword index: best rows, phrases, filters and highlights.

mod character_rows;
pub(super) mod deletes;
pub(super) mod highlight;
mod kernels;
pub(super) mod keyword_query;
pub(super) mod phrase;
pub(super) mod phrase_matcher;
pub(super) mod similar_terms;
mod stem_terms;
mod symbol_rows;
mod term_filter;
mod term_scorer;
mod top_k;
