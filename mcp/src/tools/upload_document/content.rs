//! The content of an upload: text as it is, or base64 of a file. The bytes decide, not the media type.

use std::ascii::escape_default as escape_ascii;
use std::borrow::Cow;

use base64::DecodeError;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kb_engine::{Document, Error, Sniffed, document_of, sniff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::media_type;
use crate::response::{ToolError, short};

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

/// The bytes of the file that was sent. `mime` only if the caller gave it.
///
/// # Errors
/// `UNSUPPORTED_MIME_TYPE` for a media type that says something else than the content is; `INVALID_BASE64`; `FILE_TOO_LARGE`.
pub(super) fn bytes_of<'c>(
    content: &'c str,
    encoding: Encoding,
    mime: Option<&str>,
) -> Result<Cow<'c, [u8]>, ToolError> {
    let declared = mime.and_then(media_type::binary_format);
    let (content, encoding) = match of_data_uri(content) {
        Some(payload) if encoding != Encoding::Text => (payload, Encoding::Base64),
        _ => (content, encoding),
    };
    let bytes = match encoding {
        Encoding::Text => Cow::Borrowed(content.as_bytes()),
        Encoding::Base64 => Cow::Owned(decoded(content)?),
        Encoding::Auto => match guessed(content)? {
            Some(bytes) => Cow::Owned(bytes),
            // What is wrong with it is said, rather than that its letters are stored.
            None if begins_as_file(content) => Cow::Owned(decoded(content)?),
            None if declared.is_some() => match decoded(content) {
                Ok(bytes) if makes_sense(&bytes) => Cow::Owned(bytes),
                Err(error) if error.code == "FILE_TOO_LARGE" => return Err(error),
                // It is said below that this is not what was declared.
                _ => Cow::Borrowed(content.as_bytes()),
            },
            None if mime.is_some_and(media_type::is_binary) => Cow::Owned(decoded(content)?),
            None => Cow::Borrowed(content.as_bytes()),
        },
    };
    check_size(bytes.len())?;
    match (sniff(&bytes), declared) {
        (Sniffed::Binary(format), Some(declared)) if !declared.covers(format) => Err(mismatch(
            mime,
            &format!("the content has another format: {format}"),
        )),
        (Sniffed::Binary(_), _) => Ok(bytes),
        // Content that was sent as text is text; decoded bytes may be anything.
        (Sniffed::Unknown, _)
            if matches!(bytes, Cow::Owned(_)) && !is_readable(content, &bytes) =>
        {
            Err(ToolError::new(
                "UNSUPPORTED_MIME_TYPE",
                "content: the decoded base64 is neither text nor a known format",
            )
            .with_hint(
                "If content is plain text, pass encoding=text; else send the text of the file",
            ))
        }
        (_, Some(_)) => Err(mismatch(mime, "the content is plain text")),
        (Sniffed::Text | Sniffed::Unknown, None) => Ok(bytes),
    }
}

/// What to do with a format that is not read.
const SEND_TEXT: &str =
    "Send its text; PDF and office files, Markdown, HTML, plain text and source code are read";

/// The document in the bytes of an upload, read as a file named `read_as`.
///
/// # Errors
/// `UNSUPPORTED_MIME_TYPE` for a format that is not read or a damaged file; `ENCRYPTED`; `EXTRACTION_LIMIT` and
/// `EXTRACTION_FAILED` for what is too much for its reader; `INVALID_ARGUMENT` for what is no text.
pub(super) fn document(read_as: &str, bytes: &[u8]) -> Result<Document, ToolError> {
    document_of(read_as, bytes).map_err(|error| match (error, sniff(bytes)) {
        (Error::InvalidArgument { reason, .. }, Sniffed::Binary(_)) => {
            ToolError::new("UNSUPPORTED_MIME_TYPE", format!("content: {reason}"))
                .with_hint(SEND_TEXT)
        }
        (error, _) => error.into(),
    })
}

/// The error for content that is something else than its media type says.
fn mismatch(mime: Option<&str>, is: &str) -> ToolError {
    let mime = short(mime.unwrap_or_default()).into_owned();
    ToolError::new(
        "UNSUPPORTED_MIME_TYPE",
        format!("mimeType says {mime}, but {is}"),
    )
    .with_hint(
        "Send text with mimeType text/plain or text/markdown, or without mimeType; a binary file as base64 \
         with its own type",
    )
}

/// A warning for a text that is so short that it was not taken for base64, though it could be.
pub(super) fn short_base64(content: &str, encoding: Encoding) -> Option<String> {
    let content = content.trim();
    if encoding != Encoding::Auto || content.len() >= SHORTEST_BASE64 || content.len() < 8 {
        return None;
    }
    // Words are base64 too, but hardly any is padded or decodes to text.
    let decoded = BASE64.decode(content).ok()?;
    let text = str::from_utf8(&decoded).ok()?;
    let is_text = text.chars().all(|c| !c.is_control() || c.is_whitespace());
    is_text.then(|| {
        format!(
            "content of fewer than {SHORTEST_BASE64} characters is taken as text; if it is base64, upload it \
             again with encoding=base64"
        )
    })
}

/// Whether decoded bytes are a text in an older encoding. Words that were sent as base64 decode to bytes
/// that some encoding has letters for; of few bytes, most must be ASCII.
fn is_readable(content: &str, bytes: &[u8]) -> bool {
    let printable = bytes
        .iter()
        .filter(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'));
    let is_long = bytes.len() >= SHORTEST_BASE64;
    // Spaces between words are in no base64.
    let has_words = content.trim().contains(' ');
    !has_words
        && (is_long || printable.count() * 10 >= bytes.len() * 7)
        && document_of("content.txt", bytes).is_ok()
}

fn check_size(bytes: usize) -> Result<(), ToolError> {
    if bytes <= LIMIT_BYTES {
        return Ok(());
    }
    let sentence = format!("content has {bytes} bytes; the limit is {LIMIT_BYTES} (10 MB)");
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
        let reason = match error {
            DecodeError::InvalidByte(at, byte) => {
                let character = escape_ascii(byte);
                format!(
                    "'{character}' at character {} is not in its alphabet",
                    at + 1
                )
            }
            DecodeError::InvalidLength(count) => {
                format!("its {count} characters are not a multiple of four")
            }
            DecodeError::InvalidLastSymbol(..) | DecodeError::InvalidPadding => {
                "its end is not valid base64".to_owned()
            }
        };
        ToolError::new("INVALID_BASE64", format!("content is not base64: {reason}"))
            .with_hint("Send base64 with the standard alphabet, or encoding=text for plain text")
    })
}

/// What a `data:` URI has as base64; programs in browsers give files in this form.
fn of_data_uri(content: &str) -> Option<&str> {
    let (head, payload) = content
        .trim_start()
        .strip_prefix("data:")?
        .split_once(',')?;
    let is_head = head.ends_with(";base64") && !head.contains(char::is_whitespace);
    is_head.then_some(payload)
}

/// Whether a content begins as base64 of a format that is no text, with either alphabet. What is wrong may stand
/// behind that: an invalid letter, or an end that was cut.
fn begins_as_file(content: &str) -> bool {
    /// Of base64: 48 bytes, with the signature of every format that people send.
    const HEAD_CHARS: usize = 64;
    let letters = content.trim_start().bytes();
    // Lines may be divided, but no words.
    let letters = letters.filter(|byte| !matches!(byte, b'\r' | b'\n'));
    let to_standard = |byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let head: Vec<u8> = letters.take(HEAD_CHARS).map(to_standard).collect();
    head.len() == HEAD_CHARS
        && BASE64
            .decode(head)
            .is_ok_and(|bytes| matches!(sniff(&bytes), Sniffed::Binary(_)))
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
    Ok(makes_sense(&bytes).then_some(bytes))
}

/// Whether bytes are of a known format, or UTF-8.
fn makes_sense(bytes: &[u8]) -> bool {
    matches!(sniff(bytes), Sniffed::Binary(_)) || str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn code(content: &str, encoding: Encoding, mime: Option<&str>) -> &'static str {
        bytes_of(content, encoding, mime).unwrap_err().code
    }

    #[test]
    fn base64_that_is_wrong_says_where() {
        for (content, reason) in [
            ("QUJD*A==", "'*' at character 5 is not in its alphabet"),
            ("QU JD\0", "'\\x00' at character 5 is not in its alphabet"),
            ("QUJDR", "its 5 characters are not a multiple of four"),
            ("QUJDRB", "its end is not valid base64"),
        ] {
            let text = bytes_of(content, Encoding::Base64, None)
                .unwrap_err()
                .text();
            let expected = format!(
                "INVALID_BASE64: content is not base64: {reason}. Send base64 with the standard alphabet, \
                 or encoding=text for plain text."
            );
            assert_eq!(text, expected);
        }
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
    fn base64_of_a_file_is_never_stored_as_its_letters() {
        let bytes = [&b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"[..], &[0xfb; 60]].concat();
        let pdf = STANDARD.encode(&bytes);
        assert!(pdf.contains('+'));
        let spoilt = pdf[..70].to_owned() + "!!" + &pdf[70..];
        let of_urls = pdf.replace('+', "-").replace('/', "_");
        let cut = &pdf[..pdf.len() - 3];
        for wrong in [spoilt.as_str(), &of_urls, cut] {
            for mime in [None, Some("text/plain"), Some("application/pdf")] {
                let error = code(wrong, Encoding::Auto, mime);
                assert_eq!(error, "INVALID_BASE64", "{wrong} {mime:?}");
            }
            bytes_of(wrong, Encoding::Text, None).unwrap();
        }
        for encoding in [Encoding::Auto, Encoding::Base64] {
            let uri = format!("data:application/pdf;name=a.pdf;base64,{pdf}");
            assert_eq!(*bytes_of(&uri, encoding, None).unwrap(), bytes);
        }
        let prose = "data: a column of numbers;base64, and what follows from them\n";
        let read = bytes_of(prose, Encoding::Auto, None).unwrap();
        assert_eq!(&*read, prose.as_bytes());
    }

    #[test]
    fn the_bytes_decide_the_type() {
        let pdf = STANDARD.encode(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n");
        for mime in [None, Some("text/plain"), Some("application/pdf")] {
            let bytes = bytes_of(&pdf, Encoding::Auto, mime).unwrap();
            assert!(bytes.starts_with(b"%PDF-1.7\n"), "{mime:?}");
        }
        assert_eq!(
            code("not base64!", Encoding::Base64, None),
            "INVALID_BASE64"
        );
        assert_eq!(
            code(
                "not base64!",
                Encoding::Auto,
                Some("application/octet-stream")
            ),
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

    const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

    #[test]
    fn text_that_is_declared_as_a_binary_format_is_refused() {
        let text = "# Notes\n\nThe pole star stands over the north.\n";
        let coded = STANDARD.encode(text);
        for (content, encoding) in [
            (text, Encoding::Auto),
            (text, Encoding::Text),
            ("words", Encoding::Auto),
            (coded.as_str(), Encoding::Auto),
            (coded.as_str(), Encoding::Base64),
        ] {
            for mime in [DOCX, "application/pdf", "image/png; q=1"] {
                let error = bytes_of(content, encoding, Some(mime)).unwrap_err();
                let said = error.text();
                let expected = "UNSUPPORTED_MIME_TYPE: mimeType says ";
                assert!(said.starts_with(expected), "{said}");
                assert!(said.contains(mime) && said.contains("plain text"), "{said}");
            }
        }
        let png = STANDARD.encode([&b"\x89PNG\r\n\x1a\n"[..], &[0; 40]].concat());
        let said = bytes_of(&png, Encoding::Auto, Some(DOCX))
            .unwrap_err()
            .text();
        assert!(said.contains("another format: PNG image"), "{said}");
        let png = bytes_of(&png, Encoding::Auto, Some("image/png")).unwrap();
        let error = document("a.png", &png).unwrap_err();
        assert_eq!(error.code, "UNSUPPORTED_MIME_TYPE");
        let said = error.text();
        assert!(said.contains("binary file (PNG image)"), "{said}");
    }

    #[test]
    fn words_that_are_declared_as_base64_are_refused() {
        for words in ["dogs", "The walrus sleeps", "walrusesandtheirfriends!"] {
            let error = bytes_of(words, Encoding::Base64, None).unwrap_err();
            let said = error.text();
            assert!(said.contains("encoding=text"), "{words}: {said}");
        }
    }

    #[test]
    fn short_base64_is_text_with_a_warning() {
        let warned = |content| short_base64(content, Encoding::Auto).is_some();
        assert!(warned("SGVsbG8gd29ybGQ="));
        assert!(warned("SGVsbG8gd29ybGQ"));
        assert!(short_base64("SGVsbG8gd29ybGQ=", Encoding::Text).is_none());
        for words in [
            "walruses",
            "password",
            "Hello world",
            "# Notes",
            "internationalisation",
        ] {
            assert!(!warned(words), "{words}");
        }
    }
}
