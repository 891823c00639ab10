//! The content of an upload: text as it is, or base64 of a file. The bytes decide, not the media type.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kb_engine::{Sniffed, document_of, file_types, sniff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::response::ToolError;

/// Most bytes of a document: 10 MB.
pub(super) const LIMIT_BYTES: usize = 10_485_760;

/// A shorter text is not taken for base64 unless the caller says so: words are valid base64 too.
const SHORTEST_BASE64: usize = 32;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Encoding {
    // Base64 where the whole content is base64 of something that makes sense.
    #[default]
    Auto,
    Text,
    Base64,
}

/// The bytes of a document that text can be extracted from. `mime` only if the caller gave it.
pub(super) fn bytes_of<'c>(
    content: &'c str,
    encoding: Encoding,
    mime: Option<&str>,
) -> Result<Cow<'c, [u8]>, ToolError> {
    let bytes = match encoding {
        Encoding::Text => Cow::Borrowed(content.as_bytes()),
        Encoding::Base64 => Cow::Owned(decoded(content)?),
        Encoding::Auto => match guessed(content)? {
            Some(bytes) => Cow::Owned(bytes),
            None if mime.is_some_and(is_binary) => Cow::Owned(decoded(content)?),
            None => Cow::Borrowed(content.as_bytes()),
        },
    };
    check_size(bytes.len())?;
    match sniff(&bytes) {
        Sniffed::Binary(format) => Err(ToolError::new(
            "UNSUPPORTED_MIME_TYPE",
            format!("content: {format} is not read yet"),
        )
        .with_hint("Send its text; Markdown, HTML, plain text and source code are read")),
        // Content that was sent as text is text; decoded bytes may be anything.
        Sniffed::Unknown if matches!(bytes, Cow::Owned(_)) && !is_readable(&bytes) => {
            Err(ToolError::new(
                "UNSUPPORTED_MIME_TYPE",
                "content: it is no text in any encoding that is read",
            )
            .with_hint("Send its text; Markdown, HTML, plain text and source code are read"))
        }
        Sniffed::Text | Sniffed::Unknown => Ok(bytes),
    }
}

/// Whether bytes are a text in an older encoding.
fn is_readable(bytes: &[u8]) -> bool {
    document_of("content.txt", bytes).is_ok()
}

fn check_size(bytes: usize) -> Result<(), ToolError> {
    if bytes <= LIMIT_BYTES {
        return Ok(());
    }
    let sentence = format!("content has {bytes} bytes, and the limit is {LIMIT_BYTES} (10 MB)");
    Err(ToolError::new("FILE_TOO_LARGE", sentence)
        .with_hint("Split the document, or index the file with index_codebase")
        .with_fact("size", bytes)
        .with_fact("limit", LIMIT_BYTES))
}

/// The decoded bytes; too many are refused before they are decoded.
fn decoded(content: &str) -> Result<Vec<u8>, ToolError> {
    let letters = content.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let letters: Vec<u8> = letters.collect();
    let padding = letters
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    check_size(letters.len().saturating_sub(padding) * 3 / 4)?;
    BASE64.decode(letters).map_err(|error| {
        ToolError::new("INVALID_BASE64", format!("content is not base64: {error}"))
            .with_hint("Send base64 with the standard alphabet, or encoding=text for plain text")
    })
}

/// The bytes of a content that is base64 as a whole and makes sense decoded.
fn guessed(content: &str) -> Result<Option<Vec<u8>>, ToolError> {
    let is_letter = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'=')
            || byte.is_ascii_whitespace()
    };
    if content.len() < SHORTEST_BASE64 || !content.bytes().all(is_letter) {
        return Ok(None);
    }
    let bytes = match decoded(content) {
        Ok(bytes) => bytes,
        Err(error) if error.code == "FILE_TOO_LARGE" => return Err(error),
        Err(_) => return Ok(None),
    };
    let makes_sense = matches!(sniff(&bytes), Sniffed::Binary(_)) || str::from_utf8(&bytes).is_ok();
    Ok(makes_sense.then_some(bytes))
}

/// Whether files of a media type are no text.
fn is_binary(mime: &str) -> bool {
    let mime = mime
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let texts = [
        "json",
        "xml",
        "yaml",
        "toml",
        "javascript",
        "script",
        "markdown",
        "sql",
    ];
    let is_text = mime.starts_with("text/")
        || file_types::from_mime(&mime).is_some()
        || texts.iter().any(|text| mime.contains(text))
        || mime.is_empty();
    !is_text
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn code(content: &str, encoding: Encoding, mime: Option<&str>) -> &'static str {
        bytes_of(content, encoding, mime).unwrap_err().code
    }

    #[test]
    fn base64_is_recognised_by_its_content() {
        let text = "# Notes\n\nThe pole star stands over the north.\n";
        let coded = STANDARD.encode(text);
        for coded in [
            coded.clone(),
            coded.trim_end_matches('=').to_owned(),
            coded[..20].to_owned() + "\n" + &coded[20..],
        ] {
            assert_eq!(
                &*bytes_of(&coded, Encoding::Auto, None).unwrap(),
                text.as_bytes()
            );
        }
        assert_eq!(
            &*bytes_of(&coded, Encoding::Text, None).unwrap(),
            coded.as_bytes()
        );
        assert_eq!(
            &*bytes_of("# Notes", Encoding::Auto, None).unwrap(),
            b"# Notes"
        );
        // Letters only, but nothing that makes sense decoded.
        let words = "AbcdefghijklmnopqrstuvwxyzAbcdefghijklmnopqrstuvwxyz";
        assert_eq!(
            &*bytes_of(words, Encoding::Auto, None).unwrap(),
            words.as_bytes()
        );
        assert_eq!(
            &*bytes_of("dGV4dA==", Encoding::Base64, None).unwrap(),
            b"text"
        );
        assert_eq!(
            &*bytes_of("dGV4dA==", Encoding::Auto, None).unwrap(),
            b"dGV4dA=="
        );
    }

    #[test]
    fn the_bytes_decide_the_type() {
        let pdf = STANDARD.encode(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n");
        for mime in [None, Some("text/plain"), Some("application/pdf")] {
            let error = bytes_of(&pdf, Encoding::Auto, mime).unwrap_err();
            assert_eq!(error.code, "UNSUPPORTED_MIME_TYPE");
            assert!(error.text().contains("PDF"), "{}", error.text());
        }
        assert_eq!(
            code("not base64!", Encoding::Base64, None),
            "INVALID_BASE64"
        );
        assert_eq!(
            code("not base64!", Encoding::Auto, Some("application/pdf")),
            "INVALID_BASE64"
        );
        bytes_of(
            "{\"a\": 1}",
            Encoding::Auto,
            Some("application/json; charset=utf-8"),
        )
        .unwrap();
    }

    #[test]
    fn a_document_has_at_most_ten_megabytes() {
        let most = "a b ".repeat(LIMIT_BYTES / 4);
        assert_eq!(
            bytes_of(&most, Encoding::Auto, None).unwrap().len(),
            LIMIT_BYTES
        );
        let error = bytes_of(&(most.clone() + "x"), Encoding::Auto, None).unwrap_err();
        assert_eq!(error.code, "FILE_TOO_LARGE");
        assert!(error.text().contains("10485761 bytes") && error.text().contains("10485760"));
        let coded = STANDARD.encode(&most);
        assert_eq!(
            bytes_of(&coded, Encoding::Auto, None).unwrap().len(),
            LIMIT_BYTES
        );
        let coded = STANDARD.encode(most + "xxxx");
        for encoding in [Encoding::Auto, Encoding::Base64] {
            assert_eq!(code(&coded, encoding, None), "FILE_TOO_LARGE");
        }
    }

    #[test]
    fn base64_of_other_than_text_is_refused() {
        let bytes: Vec<u8> = (0..=255).collect();
        let coded = STANDARD.encode(&bytes);
        for (encoding, mime) in [
            (Encoding::Base64, None),
            (Encoding::Auto, Some("application/octet-stream")),
        ] {
            assert_eq!(code(&coded, encoding, mime), "UNSUPPORTED_MIME_TYPE");
        }
        // Text in an older encoding is text.
        let latin = STANDARD.encode(b"na\xefve caf\xe9 fa\xe7ade");
        bytes_of(&latin, Encoding::Base64, None).unwrap();
    }
}
