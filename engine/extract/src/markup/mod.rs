//! Texts with markup: what their headings are, and what they say of themselves.
//!
//! Markdown, reStructuredText and AsciiDoc are written to be read, and stored as they are. Of pages of HTML and
//! of documents in XML the readable text is stored, with the line of the source of each of its lines. Notebooks,
//! messages and books hold such texts in a container; they become text with lines of its own.

pub(super) mod asciidoc;
pub(super) mod data_uris;
#[cfg(feature = "office")]
pub(super) mod epub;
mod front_matter;
pub(super) mod html;
mod inline_tags;
pub(super) mod markdown;
pub(super) mod message;
mod mime;
pub(super) mod notebook;
mod notebook_json;
pub(super) mod rst;
pub(super) mod xml;
