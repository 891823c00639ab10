//! The trigram index: which trigrams occur in which units of text, to skip what a pattern cannot match.
//!
//! A *unit* is some consecutive chunk rows of a segment with about 16 KiB of text, that begin with a line or a
//! document and end with one. A *trigram* is three consecutive bytes of the searched text of one document, with
//! upper-case ASCII letters folded to lower case and without line ends among them. For each trigram that occurs, the
//! columns have the list of units that have it, or where that is shorter, of those that lack it. A segment with little text
//! has none of the three columns: reading all of it takes a millisecond.
//!
//! | module | what |
//! |---|---|
//! | `trigrams` | text -> distinct trigrams |
//! | `rice` | ascending numbers <-> bits |
//! | `builder` | chunk rows -> units and their trigrams, in memory |
//! | `writer` | units and lists -> columns |
//! | `merge_builder` | rows of other segments -> units, by their lists where a unit stays whole |
//! | `reader` | columns -> lists |
//!
//! It knows columns, not documents or patterns.

pub(crate) mod builder;
pub(crate) mod merge_builder;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod rice;
pub(crate) mod trigrams;
pub(crate) mod writer;

pub(crate) use reader::Reader;
pub use record::{BLOCK_ROW_BYTES, BLOCKS, LISTS, UNIT_ROW_BYTES, UNITS};
