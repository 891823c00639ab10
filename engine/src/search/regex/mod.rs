//! Regular expressions over stored text: request -> pattern -> targets -> lines.
//!
//! | module | in -> out |
//! |---|---|
//! | `request` | what a caller wants -> a checked [`RegexRequest`] |
//! | `pattern` | the text of a pattern -> an automaton that runs in linear time |
//! | `trigram_query` | pattern -> a condition on the trigrams of a text |
//! | `candidates` | condition -> the rows that it may match in |
//! | `target` | files and filters -> documents in the order of their paths, with the rows to read |
//! | `window` | rows -> the text that is searched, whole lines of one document |
//! | `machine` | the same pattern -> an automaton that can be stopped at any byte |
//! | `finder` | pattern and text -> the next match, by what can be stopped in time |
//! | `line_finder` | matches -> matching lines |
//! | `item` | a matching line -> [`RegexMatch`] |
//! | `run` | all of it, within budgets -> [`RegexResponse`] |
//!
//! Nothing here is ranked: the answer is what a scan of every text would give, in the order of paths and lines.

mod candidates;
mod finder;
mod item;
mod line_finder;
mod machine;
mod pattern;
mod position;
mod request;
mod response;
mod run;
mod target;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests;
mod trigram_query;
mod window;

pub use request::{PATTERN_LIMIT_BYTES, RegexOutput, RegexRequest, SHOWN_LINE_BYTES};
pub use response::{RegexMatch, RegexResponse};
pub(crate) use run::search_regex;
