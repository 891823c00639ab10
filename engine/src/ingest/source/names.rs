//! Names on disk -> names in document paths.

use std::borrow::Cow;
use std::ffi::OsStr;

use unicode_normalization::UnicodeNormalization;

/// A name with its bytes that are not UTF-8 as `\xNN`. A backslash that would read as such an escape
/// is escaped itself, so that different names stay different.
pub(crate) fn escaped(name: &OsStr) -> String {
    let mut escaped = String::new();
    for piece in name.as_encoded_bytes().utf8_chunks() {
        let mut rest = piece.valid();
        while let Some(at) = rest.find("\\x") {
            let (before, after) = rest.split_at(at);
            escaped.push_str(before);
            let digits = after.as_bytes().get(2..4).unwrap_or_default();
            let looks_escaped = digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit);
            escaped.push_str(if looks_escaped { "\\x5C" } else { "\\" });
            rest = after.get(1..).unwrap_or_default();
        }
        escaped.push_str(rest);
        for byte in piece.invalid() {
            escaped.push_str(&format!("\\x{byte:02X}"));
        }
    }
    escaped
}

/// The part of a document path that a name on disk becomes. The names of a path can be taken one by
/// one: nothing composes with `/`, and no mark moves past it.
pub(crate) fn document_name(name: &OsStr) -> Cow<'_, str> {
    match name.to_str() {
        Some(text) if text.is_ascii() && !text.contains("\\x") => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(name).nfc().collect()),
    }
}

/// A .kb, or one that is being written: `x.kb`, `.x.kb.tmp`.
pub(crate) fn is_own_file(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    (name.ends_with(b".kb") && name.len() > 3) || name.ends_with(b".kb.tmp")
}
