//! Why a file yields no document.

use std::borrow::Cow;
use std::fmt;

/// Stored text of one document, in bytes.
// Positions in a text are u32, and the indexer, which holds the text of a document in memory, must
// stay within some hundred megabytes with all its threads.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Why a file yields no document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// A format that is not text; the word names it.
    Binary(&'static str),
    /// Encrypted; the words name the format.
    Encrypted(&'static str),
    /// A format that is read, and a file of it that cannot be.
    Damaged {
        /// The format.
        format: &'static str,
        /// What is wrong, as a sentence without its end.
        what: Cow<'static, str>,
    },
    /// More of something than one document may have.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: u64,
    },
    /// Neither a known binary format nor text in any encoding that is read.
    NotText,
    /// Written by a machine for a machine: more than half of it in very long lines.
    MachineMade {
        /// Longest line in bytes.
        longest_line_bytes: usize,
    },
    /// A format that is not read, though its kin is; the words name it.
    Unsupported(&'static str),
    /// More text than [`MAX_TEXT_BYTES`].
    TooLong {
        /// Bytes of text.
        text_bytes: usize,
    },
}

impl SkipReason {
    /// A file of a format that cannot be read; `what` is a sentence without its end.
    pub(super) fn damaged(format: &'static str, what: impl Into<Cow<'static, str>>) -> SkipReason {
        SkipReason::Damaged {
            format,
            what: what.into(),
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Binary(format) => write!(f, "binary file ({format})"),
            SkipReason::Encrypted(format) => write!(f, "encrypted ({format})"),
            SkipReason::Damaged { format, what } => write!(f, "damaged ({format}): {what}"),
            SkipReason::Limit { what, limit } => write!(f, "more than {limit} {what}"),
            SkipReason::NotText => f.write_str("binary file, or text in an unknown encoding"),
            SkipReason::MachineMade { longest_line_bytes } => write!(
                f,
                "machine-made (minified or generated): a line of {longest_line_bytes} bytes"
            ),
            SkipReason::Unsupported(format) => write!(f, "a format that is not read ({format})"),
            SkipReason::TooLong { text_bytes } => {
                write!(f, "{text_bytes} bytes of text, more than {MAX_TEXT_BYTES}")
            }
        }
    }
}
