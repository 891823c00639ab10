//! Makes tokens, and compares them by their hashes.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// How every token begins, so that scanners find one that leaked.
const PREFIX: &str = "kb_";

/// Bytes of chance in a token.
const RANDOM_BYTES: usize = 32;

/// SHA-256 of a whole token. Tokens are random: there is nothing to guess that salt or slowness
/// would protect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    pub(super) fn of(token: &str) -> Hash {
        Hash(Sha256::digest(token.as_bytes()).into())
    }

    pub(super) fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn from_hex(hex: &str) -> Option<Hash> {
        let mut bytes = [0; 32];
        let mut digits = hex.chars();
        for byte in &mut bytes {
            let mut digit = || digits.next().and_then(|digit| digit.to_digit(16));
            *byte = u8::try_from(digit()? << 4 | digit()?).ok()?;
        }
        digits.next().is_none().then_some(Hash(bytes))
    }

    /// Whether both are the same, in a time that does not tell where they differ.
    pub(super) fn is_same(self, other: Hash) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        pairs.fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
    }
}

/// A new token.
pub(super) fn make() -> io::Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_marked_and_never_the_same() {
        let (one, other) = (make().unwrap(), make().unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with("kb_"));
        assert_eq!(one.len(), 46);
    }

    #[test]
    fn hashes_are_those_of_sha_256_and_come_back_from_hex() {
        let hash = Hash::of("abc");
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.hex(), hex);
        assert_eq!(Hash::from_hex(hex), Some(hash));
        for wrong in ["", &hex[1..], &format!("{hex}0"), &hex.replace('b', "g")] {
            assert_eq!(Hash::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hashes_that_differ_in_one_bit_are_not_the_same() {
        let hash = Hash::of("abc");
        assert!(hash.is_same(hash));
        for at in [0, 31] {
            let mut other = hash;
            other.0[at] ^= 1;
            assert!(!hash.is_same(other));
        }
    }
}
