//! Programs as trees: symbols, places to cut, names that are used. It knows texts and file types, no store and no
//! search; what it returns is plain data of [`kb_types`].
//!
//! A language is a table of node kinds in `languages` and one line of its registry. Any text gives a result: a
//! program that is broken, half written or hostile gives the symbols that stand in what can be read of it, one that
//! exceeds a limit gives none and the reason.

#[cfg(feature = "syntax")]
mod grammar;
#[cfg(feature = "syntax")]
mod kinds;
#[cfg(feature = "syntax")]
mod languages;
#[cfg(feature = "syntax")]
mod lead;
#[cfg(feature = "syntax")]
mod parser;
#[cfg(feature = "syntax")]
mod preprocessor;
#[cfg(feature = "syntax")]
mod walk;

#[cfg(feature = "syntax")]
pub use languages::has_grammar;
#[cfg(feature = "syntax")]
pub use parser::{SyntaxOptions, SyntaxParser};

/// Whether programs in a language, a word of [`kb_types::file_types`], are parsed: none without grammars.
#[cfg(not(feature = "syntax"))]
pub fn has_grammar(_: &str) -> bool {
    false
}
