//! The shape of a token: what its issuer puts before it, then runs of characters of known kind and length.
//!
//! Runs are as long as they can be and are never shortened again, so a match costs at most the length of the
//! longest token (4 KB), whatever the text.

use crate::secrets::placeholder::{entropy, is_placeholder};

/// Kinds of characters, of one byte each.
pub(super) type Alphabet = fn(u8) -> bool;

/// `0-9A-Za-z`
pub(super) fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// `A-Za-z`
pub(super) fn alphabetic(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// `0-9A-Za-z_-`, also that of base64url
pub(super) fn word(byte: u8) -> bool {
    alphanumeric(byte) || matches!(byte, b'_' | b'-')
}

/// `0-9A-Za-z_.=-`
pub(super) fn wide(byte: u8) -> bool {
    word(byte) || matches!(byte, b'.' | b'=')
}

/// `0-9A-Za-z_.~-`
pub(super) fn secret_char(byte: u8) -> bool {
    word(byte) || matches!(byte, b'.' | b'~')
}

/// `0-9A-Za-z+/`
pub(super) fn base64(byte: u8) -> bool {
    alphanumeric(byte) || matches!(byte, b'+' | b'/')
}

/// `=`
pub(super) fn padding(byte: u8) -> bool {
    byte == b'='
}

/// `0-9a-f`
pub(super) fn hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

/// `0-9A-Fa-f`
pub(super) fn any_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// `0-9`
pub(super) fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// `0-9A-Z`
pub(super) fn upper(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

/// `0-9a-z`
pub(super) fn lower(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_lowercase()
}

/// `A-Z2-7` (RFC 4648, base 32)
pub(super) fn base32(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'2'..=b'7')
}

/// A part of a token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// These characters.
    Text(&'static str),
    /// At least and at most so many characters of a kind.
    Run(Alphabet, usize, usize),
}

/// A kind of token.
#[derive(Debug)]
pub(super) struct TokenRule {
    /// Id of the rule of gitleaks that it follows.
    pub(super) id: &'static str,
    /// What it matches.
    pub(super) what: &'static str,
    /// Characters of a kind before `starts`.
    pub(super) lead: Option<(Alphabet, usize)>,
    /// What it begins with, but for `lead`: one of these.
    pub(super) starts: &'static [&'static str],
    /// What follows.
    pub(super) parts: &'static [Part],
    /// Bits of entropy a character that it must exceed.
    pub(super) entropy: f32,
}

impl TokenRule {
    /// Whether a token of this kind, and no placeholder for one, is where one of its starts was found.
    pub(super) fn is_at(&self, text: &[u8], start: usize, after_start: usize) -> bool {
        self.range_at(text, start, after_start)
            .is_some_and(|token| entropy(token) > self.entropy && !is_placeholder(token))
    }

    fn range_at<'t>(&self, text: &'t [u8], start: usize, after_start: usize) -> Option<&'t [u8]> {
        let begin = match self.lead {
            Some((alphabet, count)) => {
                let begin = start.checked_sub(count)?;
                let lead = text.get(begin..start)?;
                lead.iter().all(|byte| alphabet(*byte)).then_some(begin)?
            }
            None => start,
        };
        if !is_border(text.get(..begin)?) {
            return None;
        }
        let mut rest = text.get(after_start..)?;
        for part in self.parts {
            match part {
                Part::Text(words) => rest = rest.strip_prefix(words.as_bytes())?,
                Part::Run(alphabet, min, max) => {
                    let taken = rest.iter().take(*max).take_while(|byte| alphabet(**byte));
                    let count = taken.count();
                    if count < *min {
                        return None;
                    }
                    rest = rest.get(count..)?;
                }
            }
        }
        // A longer run is another thing that only begins like a token: a hash, a path.
        let is_end = !rest.first().is_some_and(|byte| word(*byte));
        let end = text.len() - rest.len();
        is_end.then(|| text.get(begin..end)).flatten()
    }
}

/// Whether a token can begin after `before`: after no letter or digit, but the letter of an escape (`\n`).
fn is_border(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}
