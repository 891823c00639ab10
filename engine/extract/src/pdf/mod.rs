//! PDF documents by `hayro-syntax` and `hayro-interpret`: their pages as text in reading order, bookmarks, labels of pages.
//!
//! The interpreter of page content bounds neither time nor memory: it knows no limit of what a stream unpacks to, and it can be
//! stopped by what it draws only. `device` does that; the limits of the worker process hold the rest.

mod bookmarks;
mod cid_fonts;
mod columns;
mod destinations;
mod device;
mod forms;
mod line;
mod page_labels;
mod page_text;
mod reader;
mod reading_order;
mod segments;
mod stretch;
mod text_string;
mod words;

pub(super) use reader::{FORMAT, extract, is_pdf};

#[cfg(test)]
pub(super) mod tests;
