//! Maximum lengths of tool arguments. The limits are published in the schemas and enforced before any lookup.
//!
//! The cost of a lookup grows with the length of the argument, in some cases once for each of many thousand names, and a
//! lookup cannot be cancelled. So an argument that is longer than any possible name is refused first.

pub(crate) use crate::options::NAME_LIMIT;

/// Characters of the name of a document or a folder: as many as the longest path that a .kb can hold
/// has bytes.
pub(crate) const DOCUMENT_LIMIT: usize = 16 << 10;

/// Bytes of an address, and of what is typed of one: addresses are looked up, repeated, and kept for
/// subscribers. A document with a longer one is read by its handle.
pub(crate) const ADDRESS_LIMIT_BYTES: usize = 4096;

/// Characters of a query: four times what is searched; a warning says so for longer ones.
pub(crate) const QUERY_LIMIT: usize = 32 << 10;

/// Characters of a pattern; the engine takes no longer ones.
pub(crate) const PATTERN_LIMIT: usize = kb_engine::PATTERN_LIMIT_BYTES;

/// Characters of a list in one text: of languages, or of pages.
pub(crate) const LIST_LIMIT: usize = 1024;

/// Characters of the name of a symbol, or a pattern of names; the engine takes no longer ones.
pub(crate) const SYMBOL_LIMIT: usize = 200;

/// Characters of a tag; the engine takes no longer ones.
pub(crate) const TAG_LIMIT: usize = 64;

/// Tags of a document; the engine keeps no more.
pub(crate) const TAGS_LIMIT: usize = 1000;

/// Characters of the name of a file type, which is a short word.
pub(crate) const FILE_TYPE_LIMIT: usize = 64;

/// Characters of a section: its number and the titles above it. An extracted title has at most 300.
/// A section with a longer path has a number.
pub(crate) const SECTION_LIMIT: usize = 2048;

/// Characters of the name of a sheet: Excel allows 31, other programs more.
pub(crate) const SHEET_LIMIT: usize = 1024;

/// Characters of a range of cells: `$XFD$1048576:$XFD$1048576` has 25.
pub(crate) const CELLS_LIMIT: usize = 64;

/// Characters of a continuation token, which has the arguments of its first call.
pub(crate) const TOKEN_LIMIT: usize = 6000;

/// Characters of the path of an upload; its bytes are limited too.
pub(crate) const FILE_NAME_LIMIT: usize = 1024;

/// Characters of a media type: two names of at most 127 (RFC 6838).
pub(crate) const MIME_LIMIT: usize = 255;

/// Characters of a path on this machine: the longest that Linux and macOS take.
pub(crate) const PATH_LIMIT: usize = 4096;

/// Numbers of a vector; no column of a file has more dimensions.
pub(crate) const VECTOR_LIMIT: usize = kb_engine::VECTOR_DIM_LIMIT as usize;

/// Characters of a text to embed.
pub(crate) const TEXT_LIMIT: usize = 8000;
