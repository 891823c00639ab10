//! Private keys as text: PEM (RFC 7468), OpenPGP (RFC 9580) and PuTTY, anywhere in a file.

use memchr::memmem;

use crate::secrets::placeholder::{entropy, says_so};

/// What PEM and OpenPGP begin with.
pub(super) const PEM_START: &str = "-----BEGIN ";
/// What a key file of PuTTY begins with.
pub(super) const PUTTY_START: &str = "PuTTY-User-Key-File-";

/// Letters of a label, as gitleaks bounds it.
// `RSA PRIVATE KEY` and its like are far shorter; the bound keeps the search linear.
const MAX_LABEL: usize = 100;
/// A key of 16384 bits has 12.5 KB; a keyring of OpenPGP may have more.
// Without a limit a text about keys that quotes one line would be searched to its end for another.
const MAX_BODY: usize = 64 << 10;
/// Characters of base64 that the smallest key has (Ed25519 in PKCS #8), and of one of its lines.
const MIN_BODY: usize = 60;
const MIN_LINE: usize = 30;
/// Base64 of random bytes has 5 to 6 bits a character.
// Examples such as `MIIB...AAAA` have less.
const MIN_ENTROPY: f32 = 4.0;

/// Whether a private key is what follows [`PEM_START`]: a label that says so, and a body of base64 that is
/// neither short nor cut by a person. Ends of lines may be written as `\n`, and lines be strings of code, quotations
/// or a comment; the line that ends the key may be missing. `after` is looked at up to its next five hyphens, at most
/// 64 KiB.
pub(super) fn is_pem(after: &[u8]) -> bool {
    let label = after
        .get(..after.len().min(MAX_LABEL + 5))
        .unwrap_or_default();
    let Some(end) = memmem::find(label, b"-----") else {
        return false;
    };
    let label = label.get(..end).unwrap_or_default();
    if !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")) {
        return false;
    }
    let body = after.get(end + 5..).unwrap_or_default();
    // Bounded, so that a file of nothing but BEGIN lines costs time linear in its length.
    let body = body.get(..body.len().min(MAX_BODY)).unwrap_or_default();
    let body = match memmem::find(body, b"-----") {
        Some(end) => body.get(..end).unwrap_or_default(),
        None => body,
    };
    is_body(body)
}

/// Whether a key file of PuTTY is what follows [`PUTTY_START`].
pub(super) fn is_putty(after: &[u8]) -> bool {
    const PRIVATE: &[u8] = b"Private-Lines:";
    let after = after.get(..after.len().min(MAX_BODY)).unwrap_or_default();
    // Up to the next one, so that many cost no more than their text.
    let end = memmem::find(after, PUTTY_START.as_bytes());
    let after = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
    memmem::find(after, PRIVATE)
        .and_then(|at| after.get(at + PRIVATE.len()..))
        .is_some_and(is_body)
}

/// Whether a text begins with the base64 of a key, and nothing in it says that it was cut.
fn is_body(body: &[u8]) -> bool {
    let mut key = Vec::new();
    let mut rest = body;
    loop {
        let (between, line, after) = next_line(rest);
        match meaning(between, !key.is_empty()) {
            Between::Nothing => {}
            Between::Cut => return false,
            Between::End => break,
        }
        if line.is_empty() {
            break;
        }
        key.extend_from_slice(line);
        rest = after;
    }
    key.len() >= MIN_BODY && entropy(&key) > MIN_ENTROPY && !is_made_up(&key)
}

/// The next run of base64 that is a line of a key, what is before it, and what follows. The letter of an escape, as in
/// `\nMIIE`, is one more character of it.
fn next_line(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let count = rest.iter().take_while(|byte| is_base64(**byte)).count();
        if count >= MIN_LINE {
            let (between, rest) = text.split_at_checked(at).unwrap_or_default();
            let (line, after) = rest.split_at_checked(count).unwrap_or_default();
            return (between, line, after);
        }
        at += count.max(1);
    }
    (text, &[], &[])
}

/// What stands between two lines of a key says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    /// Ends of lines, quotes, marks of comments: the key goes on. Before its first line also words, as those of a
    /// header.
    Nothing,
    /// A person took something out.
    Cut,
    /// Other words begin: the key was whole.
    End,
}

/// `has_begun`: whether a line of the key precedes. Linear.
fn meaning(between: &[u8], has_begun: bool) -> Between {
    const ELLIPSIS: &[u8] = "\u{2026}".as_bytes();
    let is_cut = |rest: &[u8]| rest.starts_with(b"...") || rest.starts_with(ELLIPSIS);
    let mut at = 0;
    while let Some(rest) = between.get(at..)
        && let Some(byte) = rest.first()
    {
        if is_cut(rest) {
            return Between::Cut;
        }
        let before = between.get(..at).unwrap_or_default();
        at += match byte {
            b'<' => match Tag::at(rest) {
                Some(Tag::Line(length)) => length,
                Some(Tag::End(_)) if has_begun => return Between::End,
                Some(Tag::End(length)) => length,
                None => return Between::Cut,
            },
            b'*' => {
                let count = rest.iter().take_while(|byte| **byte == b'*').count();
                let after = rest.get(count..).unwrap_or_default();
                let is_comment = after.starts_with(b"/") || begins_line(before, has_begun);
                if count > 2 || !is_comment {
                    return Between::Cut;
                }
                count
            }
            letter if has_begun && letter.is_ascii_alphabetic() => {
                let count = rest.iter().take_while(|byte| is_base64(**byte)).count();
                let after = rest.get(count..).unwrap_or_default();
                if is_cut(after) {
                    return Between::Cut;
                }
                // One letter is that of an escape or before a quote; `&#xA;` and `\u000a` are ends of lines.
                if count > 1 && !before.ends_with(b"\\") && !before.ends_with(b"#") {
                    return Between::End;
                }
                count
            }
            _ => 1,
        };
    }
    Between::Nothing
}

/// A tag of markup, with its bytes. Others stand for what was cut: `<key>`.
enum Tag {
    /// One that stands between the lines of a page.
    Line(usize),
    /// The end of any other element.
    End(usize),
}

impl Tag {
    fn at(rest: &[u8]) -> Option<Tag> {
        const LINES: &[&str] = &["br", "p", "wbr", "span", "div", "li", "td", "code"];
        let length = rest.iter().take(100).position(|byte| *byte == b'>')? + 1;
        let inside = rest.get(1..length)?;
        let (is_end, inside) = match inside.strip_prefix(b"/") {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        let name = inside.split(|byte| !byte.is_ascii_alphanumeric()).next()?;
        let is_line = |tag: &&str| name.eq_ignore_ascii_case(tag.as_bytes());
        match LINES.iter().any(is_line) {
            true => Some(Tag::Line(length)),
            false => is_end.then_some(Tag::End(length)),
        }
    }
}

/// Whether nothing but white space and the start of a comment precedes in the line; `follows_key`: before all of it is a
/// line of the key.
fn begins_line(before: &[u8], follows_key: bool) -> bool {
    let last = before
        .iter()
        .rev()
        .find(|byte| !matches!(byte, b' ' | b'\t'));
    match last {
        Some(last) => matches!(last, b'\n' | b'\r' | b'/'),
        None => !follows_key,
    }
}

/// Of a long key, its start decides: random base64 of 2 KB may hold any four letters. Runs of equal characters
/// are in every key of OpenSSH.
fn is_made_up(key: &[u8]) -> bool {
    says_so(key.get(..key.len().min(64)).unwrap_or_default())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}
