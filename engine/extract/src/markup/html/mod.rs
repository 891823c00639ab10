//! HTML: the readable text is stored, block by block, with the original line of each line.
//!
//! The scanner knows tags, attributes, comments and raw-text elements as browsers do, but
//! builds no tree: what text means follows from the tags around it alone. That makes it linear in
//! the size of the page, whatever its nesting or number of attributes (a tree builder is quadratic
//! in both), and needs no stack.

mod character_references;
mod hidden;
mod page;
mod tag;

pub(super) use character_references::decode_into;
#[cfg(feature = "office")]
pub(super) use page::extract_xhtml;
pub(super) use page::{CDATA, Page};
pub(crate) use page::{extract, is_page};
pub(super) use tag::{Tag, declaration_len};
