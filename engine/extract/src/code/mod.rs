//! Program source and data: stored as they are, with the symbols of programs as their outline. What a machine wrote
//! for a machine is told apart by the length of its lines.

#[cfg(feature = "syntax")]
use std::cell::RefCell;

use kb_types::file_types::FileType;
#[cfg(feature = "syntax")]
use kb_types::syntax::nesting;
use kb_types::{Class, Syntax};

use crate::skip_reason::SkipReason;
use crate::syntax::has_grammar;
#[cfg(feature = "syntax")]
use crate::syntax::{SyntaxOptions, SyntaxParser};

/// Longest line, in bytes, that people write in programs.
// Longer lines are minified or generated code, or data.
const LONG_CODE_LINE_BYTES: usize = 1000;
/// Longest line, in bytes, that most lines of a data file stay below.
const LONG_DATA_LINE_BYTES: usize = 8000;
/// Machine-made files up to this size are kept as data; larger ones would fill an index with noise.
const KEPT_BYTES: usize = 64 << 10;

/// Whether more than half of a text stands in lines that are too long for its kind: minified
/// programs, bundled styles, source maps, serialised data. Prose and tables may have any lines:
/// whole paragraphs and records are usual there, and pictures in notebooks, which are left out.
///
/// # Errors
/// [`SkipReason::MachineMade`] when it is, and larger than is kept.
pub(super) fn is_machine_made(text: &str, file_type: FileType) -> Result<bool, SkipReason> {
    let limit = match (file_type.class, file_type.name) {
        (Class::Doc, _) | (_, "csv" | "tsv" | "ipynb" | "jsonl" | "log" | "text") => {
            return Ok(false);
        }
        (Class::Code, _) => LONG_CODE_LINE_BYTES,
        (Class::Data, _) => LONG_DATA_LINE_BYTES,
    };
    let (mut long_bytes, mut longest_line_bytes) = (0, 0);
    for line in text.split('\n') {
        if line.len() > limit {
            long_bytes += line.len();
            longest_line_bytes = longest_line_bytes.max(line.len());
        }
    }
    if long_bytes * 2 <= text.len() {
        return Ok(false);
    }
    if text.len() <= KEPT_BYTES {
        Ok(true)
    } else {
        Err(SkipReason::MachineMade { longest_line_bytes })
    }
}

#[cfg(feature = "syntax")]
thread_local! {
    /// Kept between files: it reuses the memory of its stacks.
    static PARSER: RefCell<SyntaxParser> = RefCell::new(SyntaxParser::new(SyntaxOptions::default()));
}

/// The structure of a program; nothing of what a machine wrote, which is data.
#[cfg(feature = "syntax")]
pub(super) fn syntax(path: &str, file_type: FileType, text: &str) -> Syntax {
    if !has_syntax(file_type) {
        return Syntax::default();
    }
    let mut syntax = PARSER.with_borrow_mut(|parser| parser.parse(file_type.language, path, text));
    let text_bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    nesting::keep_nested(&mut syntax.symbols, text_bytes);
    syntax
}

/// Nothing: without grammars programs are cut by their lines.
#[cfg(not(feature = "syntax"))]
pub(super) fn syntax(_: &str, _: FileType, _: &str) -> Syntax {
    Syntax::default()
}

/// Whether files of a type are parsed: not what a machine wrote, which is data.
pub(super) fn has_syntax(file_type: FileType) -> bool {
    (file_type.class == Class::Code || file_type.name == "toml") && is_parsed(file_type.language)
}

/// Whether there is a grammar for a language.
pub(super) fn is_parsed(language: &str) -> bool {
    has_grammar(language)
}

#[cfg(all(test, feature = "grammar-python"))]
mod tests;
