//! What a chunk is for, apart from its class: tests, a changelog, examples, declarations, generated text. Decided when
//! a document is written, by its path and the lines of the chunk, so that a search reads no text for it.

mod kind;
mod path;
mod test_functions;
mod test_spans;

pub use kind::Role;
pub use path::is_vendored;
pub use test_spans::TestSpans;
