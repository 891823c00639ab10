//! Turns the bytes of one file into a [`Document`](crate::Document): text, outline, title, what it says of itself.
//!
//! The kind is chosen by file name ([`crate::file_types`]), then by the first line of a script.
//! Markdown, reStructuredText, AsciiDoc, code and plain text are stored as they are, decoded to UTF-8
//! without a byte order mark and with their line ends; of HTML, and of XML that is a document, the
//! readable text is stored, with the original line of each of its lines. Notebooks, e-mail and books
//! become text with lines of its own. A line ends at `\n` (so `\r\n` is one line end, and a lone
//! `\r` is none).
//!
//! Every extractor is linear in its input, keeps no call stack that grows with it, and works under
//! the limits below.

// Without one of them, some of what formats share is not used.
#![cfg_attr(not(all(feature = "office", feature = "sheets")), allow(dead_code))]

mod code;
#[cfg(any(feature = "office", feature = "sheets"))]
mod default_password;
mod extracted;
mod extractor;
mod formats;
#[cfg(test)]
mod growth;
mod markup;
#[cfg(any(feature = "office", feature = "pdf", feature = "sheets"))]
mod package;
#[cfg(feature = "pdf")]
mod pdf;
pub(crate) mod readers;
mod recognise;
#[cfg(feature = "sheets")]
mod sheets;
mod skip_reason;
#[cfg(feature = "office")]
mod slides;
mod sniff;
pub(in crate::ingest) mod text;
mod text_builder;
#[cfg(feature = "office")]
mod word;

pub use extractor::extract;
pub(in crate::ingest) use extractor::extract_without_syntax;
#[cfg(feature = "testing")]
pub(in crate::ingest) use recognise::TRIAL_SIGNATURE;
pub(in crate::ingest) use recognise::is_refused_by_start;
pub use recognise::{Isolation, isolation_of};
pub(in crate::ingest) use skip_reason::MAX_TEXT_BYTES;
pub use skip_reason::SkipReason;
pub use sniff::{Sniffed, sniff};
