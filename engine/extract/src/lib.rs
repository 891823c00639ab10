//! Turns the bytes of one file into a [`Document`](kb_types::Document): text, outline, title, what it says of itself.
//!
//! ```
//! let document = kb_extract::extract("tides.md", b"# Tides\n\nThe moon pulls the sea.").unwrap();
//! assert_eq!(document.title, "Tides");
//! assert_eq!(document.outline[0].line, 1);
//! ```
//!
//! [`extract`] reads in the calling process. [`worker`] does the same in a child process with limits of
//! time, memory and system calls, for files that nobody vouches for. [`syntax`] finds the symbols of
//! programs, [`secrets`] the keys and credentials in what was read.
//!
//! The kind is chosen by file name ([`kb_types::file_types`]), then by the first line of a script.
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
#[cfg(unix)]
mod growth;
pub mod links;
mod markup;
#[cfg(feature = "office")]
mod outlook;
#[cfg(any(feature = "office", feature = "pdf", feature = "sheets"))]
mod package;
#[cfg(feature = "pdf")]
mod pdf;
pub mod readers;
mod recognise;
pub mod secrets;
#[cfg(feature = "sheets")]
mod sheets;
mod skip_reason;
#[cfg(feature = "office")]
mod slides;
mod sniff;
pub mod syntax;
pub mod tags;
pub mod text;
mod text_builder;
#[cfg(feature = "office")]
mod word;
pub mod worker;

pub use extractor::{extract, extract_before_parsing, extract_without_syntax};
#[cfg(feature = "testing")]
pub use recognise::TRIAL_SIGNATURE;
pub use recognise::{Isolation, is_program_by_name, is_refused_by_start, isolation_of};
pub use skip_reason::{MAX_TEXT_BYTES, SkipReason};
pub use sniff::{Sniffed, sniff};
