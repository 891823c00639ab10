//! Texts with markup: what their headings are, and what they say of themselves.
//!
//! Markdown, reStructuredText and AsciiDoc are written to be read, and stored as they are. Of pages of HTML and
//! of documents in XML the readable text is stored, with the line of the source of each of its lines.

pub(super) mod asciidoc;
mod front_matter;
pub(super) mod html;
pub(super) mod markdown;
pub(super) mod rst;
pub(super) mod xml;
