//! Text to terms: segmentation into words, stemming, and counting by chunk.

pub(super) mod document_terms;
pub(super) mod folding;
pub(super) mod interner;
pub(super) mod joined_words;
pub(super) mod language;
pub(super) mod script_class;
pub(super) mod segmenter;
pub(super) mod stemming;
pub(super) mod stop_words;
pub(super) mod symbol_terms;
mod term_counters;
pub(super) mod tokenizer;
