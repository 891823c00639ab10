//! Why a file yields no document.

use std::fmt;

/// Stored text of one document, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 64 << 20;

/// Why a file yields no document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// A format that is not text; the word names it.
    Binary(&'static str),
    /// Neither a known binary format nor text in any encoding that is read.
    NotText,
    /// Written by a machine for a machine: more than half of it in very long lines.
    MachineMade {
        /// Longest line in bytes.
        longest_line_bytes: usize,
    },
    /// More text than [`MAX_TEXT_BYTES`].
    TooLong {
        /// Bytes of text.
        text_bytes: usize,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Binary(format) => write!(f, "binary file ({format})"),
            SkipReason::NotText => f.write_str("binary file, or text in an unknown encoding"),
            SkipReason::MachineMade { longest_line_bytes } => write!(
                f,
                "machine-made (minified or generated): a line of {longest_line_bytes} bytes"
            ),
            SkipReason::TooLong { text_bytes } => {
                write!(f, "{text_bytes} bytes of text, more than {MAX_TEXT_BYTES}")
            }
        }
    }
}
