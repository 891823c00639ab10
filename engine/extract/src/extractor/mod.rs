//! One file -> one document.

use std::borrow::Cow;

use kb_types::file_types::{self, FileType};
use kb_types::syntax::nesting;
use kb_types::{Class, Document, PartContent, Syntax, SyntaxFallback};
use unicode_normalization::UnicodeNormalization;

#[cfg(any(feature = "office", feature = "sheets"))]
use crate::default_password;
use crate::extracted::{Extracted, MAX_TITLE_CHARS, tidy};
use crate::formats::{self, Reader};
use crate::markup::data_uris::without_base64;
use crate::recognise;
use crate::skip_reason::{MAX_TEXT_BYTES, SkipReason};
use crate::{code, text};

/// Markup that is stored as it is, but for the pictures in it.
const STORED_MARKUP: [&str; 3] = ["markdown", "rst", "asciidoc"];

/// Characters of base64 from which on it is a picture, and no example.
const LEAST_DATA_CHARS: usize = 100;

/// The document in `bytes`, under the name `document_path`. Linear in the size of the file, but
/// for the usual small factor of decoding.
///
/// # Errors
/// Why the file cannot be a document; the caller reports it and goes on.
pub fn extract(document_path: &str, bytes: &[u8]) -> Result<Document, SkipReason> {
    extract_with(document_path, bytes, Parsing::Now)
}

/// As [`extract`], without parsing programs: for one whose parser failed as `fallback` says.
///
/// # Errors
/// As [`extract`].
pub fn extract_without_syntax(
    document_path: &str,
    bytes: &[u8],
    fallback: SyntaxFallback,
) -> Result<Document, SkipReason> {
    extract_with(document_path, bytes, Parsing::Failed(fallback))
}

/// As [`extract`], without parsing programs: those that would be parsed are marked as
/// [pending](kb_types::syntax::pending).
///
/// # Errors
/// As [`extract`].
pub fn extract_before_parsing(document_path: &str, bytes: &[u8]) -> Result<Document, SkipReason> {
    extract_with(document_path, bytes, Parsing::Later)
}

/// What becomes of the syntax of a program.
#[derive(Debug, Clone, Copy)]
enum Parsing {
    Now,
    Later,
    /// Its parser failed before.
    Failed(SyntaxFallback),
}

fn extract_with(
    document_path: &str,
    bytes: &[u8],
    parsing: Parsing,
) -> Result<Document, SkipReason> {
    #[cfg(any(feature = "office", feature = "sheets"))]
    let opened = default_password::opened(bytes);
    #[cfg(any(feature = "office", feature = "sheets"))]
    let bytes = opened.as_deref().unwrap_or(bytes);
    if let Some(format) = recognise::recognise(document_path, bytes)? {
        format.check_size(bytes.len())?;
        let Reader::Bytes(read) = format.reader else {
            return Err(SkipReason::Unsupported(format.label));
        };
        let file_type = file_types::from_type(format.name).unwrap_or(file_types::UNKNOWN);
        let extracted = read(bytes)?;
        return document(document_path, file_type, extracted, String::new(), parsing);
    }
    if let Some(format) = text::binary_format(bytes) {
        return Err(SkipReason::Binary(format));
    }
    // A page or a plain text under the name of an office format is what it is.
    let named = file_types::from_name(document_path);
    let named = named.filter(|found| !file_types::is_packed(found.name));
    let format = named.and_then(|named| formats::of_text(named.name));
    if let Some(format) = format {
        format.check_size(bytes.len())?;
    }
    let is_html = named.is_some_and(|found| found.name == "html");
    let decoded = text::decode_counting(bytes, is_html)?;
    let (mut source, invalid) = (decoded.text, decoded.invalid);
    if source.len() > MAX_TEXT_BYTES {
        return Err(SkipReason::TooLong {
            text_bytes: source.len(),
        });
    }
    let mut file_type = choose_type(document_path, named, &source);
    if STORED_MARKUP.contains(&file_type.name)
        && let Cow::Owned(shorter) = without_base64(&source, LEAST_DATA_CHARS)
    {
        source = shorter;
    }
    if code::is_machine_made(&source, file_type)? {
        file_type.class = Class::Data;
    }
    let mut extracted = match formats::of_text(file_type.name).map(|format| format.reader) {
        Some(Reader::Text(read)) => read(&source)?,
        _ => Extracted::default(),
    };
    if invalid > 0 {
        extracted.add_metadata("invalid_bytes", &invalid.to_string());
    }
    document(document_path, file_type, extracted, source, parsing)
}

/// The document of what was extracted; `source` is its text where nothing else was extracted.
fn document(
    document_path: &str,
    file_type: FileType,
    mut extracted: Extracted,
    source: String,
    parsing: Parsing,
) -> Result<Document, SkipReason> {
    let text = extracted.text.take().unwrap_or(source);
    if text.len() > MAX_TEXT_BYTES {
        return Err(SkipReason::TooLong {
            text_bytes: text.len(),
        });
    }
    let path: String = document_path.nfc().collect();
    let stated = extracted
        .title
        .take()
        .map(|title| tidy(&title, MAX_TITLE_CHARS));
    // The name of the first sheet is no title.
    let is_workbook =
        (extracted.parts.first()).is_some_and(|part| matches!(part.content, PartContent::Sheet(_)));
    let first_heading = || {
        let mut headings = extracted.outline.iter().filter(|_| !is_workbook);
        let outermost = headings.find(|heading| heading.level == 1);
        outermost.map(|heading| heading.title.clone())
    };
    let title = stated
        .filter(|title| !title.is_empty())
        .or_else(first_heading);
    let has_outline = !extracted.outline.is_empty();
    let mut is_pending = false;
    let syntax = match parsing {
        Parsing::Now if !has_outline => code::syntax(&path, file_type, &text),
        Parsing::Now => Syntax::default(),
        Parsing::Later => {
            is_pending = !has_outline && !text.is_empty() && code::has_syntax(file_type);
            Syntax::default()
        }
        Parsing::Failed(fallback) => Syntax {
            fallback: Some(fallback),
            ..Syntax::default()
        },
    };
    if !syntax.symbols.is_empty() {
        extracted.outline = nesting::outline(&syntax.symbols);
    }
    extracted.fit_outline();
    let mut document = Document {
        title: title.unwrap_or_else(|| file_name(&path).to_owned()),
        path,
        file_type: file_type.name.to_owned(),
        language: extracted.language.unwrap_or(file_type.language).to_owned(),
        class: file_type.class,
        text,
        outline: extracted.outline,
        line_numbers: extracted.line_numbers,
        parts: extracted.parts,
        metadata: extracted.metadata,
        syntax,
    };
    if is_pending {
        document.mark_symbols_pending();
    }
    Ok(document)
}

fn choose_type(path: &str, named: Option<FileType>, source: &str) -> FileType {
    let first_line = || source.lines().next().unwrap_or_default();
    match named {
        // The same extension serves another format: translations of Qt.
        Some(found) if found.name == "typescript" && first_line().starts_with("<?xml") => {
            file_types::from_name("translation.ui").unwrap_or(found)
        }
        Some(found) => found,
        None => {
            if let Some(format) = recognise::of_text_start(source) {
                return file_types::from_type(format.name).unwrap_or(file_types::UNKNOWN);
            }
            let has_extension = file_name(path).contains('.');
            let by_line = file_types::from_first_line(first_line());
            match by_line {
                Some(found) => found,
                None if has_extension => file_types::UNKNOWN,
                None => file_types::TEXT,
            }
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
