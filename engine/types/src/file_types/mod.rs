//! The one table of file types: file name or extension -> type word, language and class, and the
//! other words that filters accept for them. Plain data, used when indexing and when searching.

mod mime;
mod table;

pub use mime::{from_mime, mime};
pub use table::{
    FileType, TEXT, UNKNOWN, canonical_language, canonical_type, from_first_line, from_name,
    from_type, is_packed, known_languages, known_types, part_kind, short,
};
