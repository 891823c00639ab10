//! The deep check: everything that a file says twice is compared.
//!
//! [`contents`] runs the parts: [`documents`] compares the tables of documents, [`rows`] the chunks and
//! text of a segment with a [`document_checker`] for each document, [`segments`], [`facets`], [`fields`] and
//! [`vectors`] the rest of a segment, [`orphans`] and [`seal`] the whole file.

mod block_text;
pub(super) mod contents;
mod context;
mod document_checker;
mod documents;
mod facets;
mod fields;
mod orphans;
mod rows;
mod seal;
mod segments;
mod trigrams;
mod vectors;
