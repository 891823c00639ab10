//! Creates tokens, and compares them by their hashes.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The prefix of every token, by which secret scanners find one that leaked.
const PREFIX: &str = "kb_";

/// Random bytes of a token.
const RANDOM_BYTES: usize = 32;

/// SHA-256 of a whole token. Tokens have 256 random bits, so a salt or a slow hash would add nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    pub(crate) fn of(token: &str) -> Hash {
        Hash(Sha256::digest(token.as_bytes()).into())
    }

    pub(crate) fn hex(self) -> String {
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

    /// Whether both are equal, in constant time.
    pub(crate) fn is_same(self, other: Hash) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        pairs.fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
    }
}

/// A new random token.
pub(super) fn generate() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", random_secret()?))
}

/// 256 random bits, in 43 letters, digits, `-` and `_`.
pub(crate) fn random_secret() -> io::Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_have_the_prefix() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        assert!(one.starts_with("kb_"));
        assert_eq!(one.len(), 46);
    }

    #[test]
    fn hashes_are_sha_256_and_round_trip_through_hex() {
        let hash = Hash::of("abc");
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.hex(), hex);
        assert_eq!(Hash::from_hex(hex), Some(hash));
        for wrong in ["", &hex[1..], &format!("{hex}0"), &hex.replace('b', "g")] {
            assert_eq!(Hash::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hashes_that_differ_in_one_bit_are_not_equal() {
        let hash = Hash::of("abc");
        assert!(hash.is_same(hash));
        for at in [0, 31] {
            let mut other = hash;
            other.0[at] ^= 1;
            assert!(!hash.is_same(other));
        }
    }
}
