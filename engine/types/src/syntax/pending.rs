//! Programs that are stored as text and not parsed yet: their symbols are pending.
//!
//! The mark is a pair of metadata. A file needs no other format for it, a filter finds the documents by it, and a run
//! that parses a program writes its metadata anew, without the mark.

use crate::Document;

/// Name of the pair.
pub const NAME: &str = "symbols_pending";
/// Its value.
pub const VALUE: &str = "true";

/// Whether metadata has the mark.
pub fn is_marked(metadata: &[(String, String)]) -> bool {
    let mut pairs = metadata.iter();
    pairs.any(|(name, value)| name == NAME && value == VALUE)
}

impl Document {
    /// Says that the document is a program that is not parsed yet.
    pub fn mark_symbols_pending(&mut self) {
        let pair = (NAME.to_owned(), VALUE.to_owned());
        self.metadata.push(pair);
    }
}
