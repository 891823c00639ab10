//! Private keys as text: PEM (RFC 7468), OpenPGP (RFC 9580) and PuTTY, anywhere in a file.

use memchr::memmem;

use crate::ingest::secrets::placeholder::{entropy, says_so};

/// What PEM and OpenPGP begin with.
pub(super) const PEM_START: &str = "-----BEGIN ";
/// What a key file of PuTTY begins with.
pub(super) const PUTTY_START: &str = "PuTTY-User-Key-File-";

/// Letters of a label, as gitleaks bounds it.
const MAX_LABEL: usize = 100;
/// A key of 16384 bits has 12.5 KB; a keyring of OpenPGP may have more.
const MAX_BODY: usize = 64 << 10;
/// Characters of base64 that the smallest key has (Ed25519 in PKCS #8), and of one of its lines.
const MIN_BODY: usize = 60;
const MIN_LINE: usize = 30;
/// Base64 of random bytes has 5 to 6 bits a character.
const MIN_ENTROPY: f32 = 4.0;

/// Whether a private key is what follows [`PEM_START`]: a label that says so, and a body of base64 that is
/// neither short nor cut by a person. Ends of lines may be written as `\n`, and lines be strings of code.
/// `after` is looked at up to its next five hyphens, at most 64 KiB.
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

/// Whether a text holds the base64 of a key, and nothing that says that it was cut.
fn is_body(body: &[u8]) -> bool {
    let is_cut = memmem::find(body, b"...").is_some()
        || memmem::find(body, "\u{2026}".as_bytes()).is_some()
        || body.iter().any(|byte| matches!(byte, b'<' | b'*'));
    if is_cut {
        return false;
    }
    let mut key = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.iter().position(|byte| is_base64(*byte)) {
        rest = rest.get(at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| is_base64(**byte)).count();
        let (run, after) = rest.split_at_checked(count).unwrap_or_default();
        // The letter of an escape, as in `\nMIIE`, is one more character.
        if run.len() >= MIN_LINE {
            key.extend_from_slice(run);
        }
        rest = after;
    }
    key.len() >= MIN_BODY && entropy(&key) > MIN_ENTROPY && !is_made_up(&key)
}

/// Of a long key, its start decides: random base64 of 2 KB may hold any four letters. Runs of equal characters
/// are in every key of OpenSSH.
fn is_made_up(key: &[u8]) -> bool {
    says_so(key.get(..key.len().min(64)).unwrap_or_default())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}
