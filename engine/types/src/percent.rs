//! Percent-encoding of RFC 3986, as in the addresses `kb://notes/doc/a%20b.md`.

use std::fmt::Write as _;

/// Encodes every byte of `text` that is not unreserved (letters, digits, `-._~`); with `keeps_slashes`
/// also `/` stays.
pub fn encode(text: &str, keeps_slashes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            b'/' if keeps_slashes => out.push('/'),
            byte => {
                // Writing to a String does not fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Decodes `text`; `None` when a `%` is not followed by two hexadecimal digits, or the bytes are not
/// UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high << 4 | low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_survives(text in "\\PC{0,40}", keeps_slashes: bool) {
            let encoded = encode(&text, keeps_slashes);
            prop_assert!(encoded.is_ascii());
            prop_assert_eq!(decode(&encoded), Some(text));
        }
    }

    #[test]
    fn malformed_escapes_are_refused() {
        for text in ["%", "%2", "%zz", "a%2", "%FF"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(encode("a/b c", true), "a/b%20c");
        assert_eq!(encode("a/b", false), "a%2Fb");
    }
}
