//! Documents of a file, and their parts.

pub(crate) mod document;
mod page_text;
mod sheet;

pub(crate) use page_text::{Page, Slide};
pub(crate) use sheet::Sheet;
