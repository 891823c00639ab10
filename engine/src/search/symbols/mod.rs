//! Definitions of programs: by kind and name, and by who uses them. Beside the stages of a search, as `regex` is.
//!
//! Rows come from the keyword index and the facets, symbols from the records of their documents, uses from the text of
//! these rows. Nothing is ranked.

mod calls;
mod lookup;
mod request;
mod response;
mod run;
#[cfg(test)]
#[cfg(all(feature = "ingest", feature = "grammar-python"))]
mod tests;
mod uses;

pub use request::{SymbolRelation, SymbolsRequest};
pub use response::{FoundSymbol, SymbolsResponse};
pub(crate) use run::symbols;
