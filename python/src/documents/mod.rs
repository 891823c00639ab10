//! Documents of a file, and their parts.

pub(crate) mod document;
pub(crate) mod iterator;
mod page_text;
mod sheet;
mod table;

pub(crate) use page_text::{Page, Slide};
pub(crate) use sheet::Sheet;
