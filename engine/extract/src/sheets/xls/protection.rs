//! Workbooks that are encrypted with the password that Excel tries by itself, as it keeps those whose structure is
//! locked: by the obfuscation of Excel 95 (XOR), by RC4 with keys of 40 bits, and by RC4 with those of CryptoAPI.

use md5::Md5;
use sha1::{Digest, Sha1};

use super::records::{BEGIN, BOUND_SHEET, FILE_PASS, Record, records};
use crate::default_password::{PASSWORD, password_bytes};
use crate::package::little_endian::{place_at, stretch, u16_at};

/// Bytes after which RC4 begins anew with another key.
// [MS-XLS] 2.2.10.
const BLOCK_BYTES: usize = 1024;
const HEADER_BYTES: usize = 4;
/// What fills up the password of XOR.
// PadArray of [MS-OFFCRYPTO] 2.3.7.2.
const FILL: [u8; 15] = [
    0xBB, 0xFF, 0xFF, 0xBA, 0xFF, 0xFF, 0xB9, 0x80, 0x00, 0xBE, 0x0F, 0x00, 0xBF, 0x0F, 0x00,
];

/// The stream as it was before it was encrypted; `None` where it is not, or has another password.
pub(super) fn opened(stream: &[u8]) -> Option<Vec<u8>> {
    let mut all = records(stream);
    let version = u16_at(all.next().filter(|first| first.kind == BEGIN)?.data, 0)?;
    let mut before = all.take_while(|record| record.kind != BOUND_SHEET);
    let lock = before.find(|record| record.kind == FILE_PASS)?;
    let cipher = Cipher::of(lock.data, version == 0x600)?;
    Some(cipher.applied(stream))
}

enum Cipher {
    Xor([u8; 16]),
    Rc4(BlockKeys),
}

/// The keys of the blocks of RC4.
enum BlockKeys {
    /// A hash of which five bytes count.
    Md5([u8; 5]),
    /// A hash, and how many bytes of that of a block are its key.
    Sha1(Vec<u8>, usize),
}

impl Cipher {
    /// The cipher that a lock describes, if the password fits it.
    fn of(lock: &[u8], is_unicode: bool) -> Option<Cipher> {
        if !is_unicode {
            return xor(u16_at(lock, 0)?, u16_at(lock, 2)?);
        }
        match (u16_at(lock, 0)?, u16_at(lock, 2)?, u16_at(lock, 4)?) {
            (0, key, verifier) => xor(key, verifier),
            (1, 1, 1) => {
                let salt = lock.get(6..22)?;
                let password = Md5::digest(password_bytes());
                let salted = [password.get(..5)?, salt].concat().repeat(16);
                let keys = BlockKeys::Md5(Md5::digest(salted).get(..5)?.try_into().ok()?);
                keys.fitting(lock.get(22..38)?, lock.get(38..54)?, |verifier| {
                    Md5::digest(verifier).to_vec()
                })
            }
            (1, 2..=4, 2) => {
                let header_bytes = place_at(lock, 10)?;
                let header = stretch(lock, 14, header_bytes);
                let bits = place_at(header, 16)?;
                let verifier = lock.get(14usize.checked_add(header_bytes)?..)?;
                let salted = [verifier.get(4..20)?, &password_bytes()].concat();
                // No number of bits stands for 40.
                let key_bytes = if bits == 0 { 5 } else { bits / 8 };
                let keys = BlockKeys::Sha1(Sha1::digest(salted).to_vec(), key_bytes.min(16));
                keys.fitting(verifier.get(20..36)?, verifier.get(40..60)?, |verifier| {
                    Sha1::digest(verifier).to_vec()
                })
            }
            _ => None,
        }
    }

    /// A stream without what the cipher did to it: to what its records hold, but not to the records that say how it is
    /// read, nor to where a sheet begins. Nothing of it says any more that it is encrypted.
    fn applied(&self, stream: &[u8]) -> Vec<u8> {
        let mut plain = stream.to_vec();
        let mut at = 0;
        let mut is_locked = false;
        let mut rc4 = (usize::MAX, Vec::new());
        for Record { kind, data } in records(stream) {
            let start = at + HEADER_BYTES;
            at = start + data.len();
            // Beginnings, locks of a file, the encoding of the interface, revisions.
            let is_open = matches!(
                kind,
                0x009 | 0x209 | 0x409 | BEGIN | FILE_PASS | 0x0E1 | 0x138 | 0x194..=0x196
            );
            if kind == FILE_PASS {
                is_locked = true;
                if let Some(kind) = plain.get_mut(start - HEADER_BYTES..start - 2) {
                    kind.fill(0xFF);
                }
            }
            if is_open || !is_locked {
                continue;
            }
            let open_bytes = if kind == BOUND_SHEET { 4 } else { 0 };
            for place in start + open_bytes..at {
                let Some(byte) = plain.get_mut(place) else {
                    break;
                };
                match self {
                    Cipher::Xor(key) => {
                        // The place in the key depends on where the record ends.
                        let of_key = (place + data.len()) % key.len();
                        let key = key.get(of_key).copied().unwrap_or_default();
                        *byte = (*byte ^ key).rotate_right(5);
                    }
                    Cipher::Rc4(keys) => {
                        let block = place / BLOCK_BYTES;
                        if rc4.0 != block {
                            rc4 = (block, keys.stream(block, BLOCK_BYTES));
                        }
                        *byte ^= rc4.1.get(place % BLOCK_BYTES).copied().unwrap_or_default();
                    }
                }
            }
        }
        plain
    }
}

impl BlockKeys {
    /// The cipher, if a verifier and its hash fit each other.
    fn fitting(
        self,
        verifier: &[u8],
        hash: &[u8],
        hashed: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Option<Cipher> {
        let mut both = [verifier, hash].concat();
        let stream = self.stream(0, both.len());
        both.iter_mut()
            .zip(stream)
            .for_each(|(byte, key)| *byte ^= key);
        let (verifier, hash) = both.split_at_checked(verifier.len())?;
        (hashed(verifier) == hash).then_some(Cipher::Rc4(self))
    }

    /// What the bytes of a block are combined with.
    fn stream(&self, block: usize, bytes: usize) -> Vec<u8> {
        let number = u32::try_from(block).unwrap_or(u32::MAX).to_le_bytes();
        let key = match self {
            BlockKeys::Md5(hash) => Md5::digest([&hash[..], &number].concat()).to_vec(),
            BlockKeys::Sha1(hash, key_bytes) => {
                let mut key = Sha1::digest([&hash[..], &number].concat()).to_vec();
                key.truncate(*key_bytes);
                // Keys of 40 bits are filled up.
                if *key_bytes == 5 {
                    key.resize(16, 0);
                }
                key
            }
        };
        rc4(&key, bytes)
    }
}

/// So many bytes of the key stream of RC4. A few lines, against one more library for them.
fn rc4(key: &[u8], bytes: usize) -> Vec<u8> {
    let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
    let at =
        |state: &[u8; 256], place: u8| state.get(usize::from(place)).copied().unwrap_or_default();
    let mut other = 0u8;
    for (place, key) in (0..=255u8).zip(key.iter().cycle()) {
        other = other.wrapping_add(at(&state, place)).wrapping_add(*key);
        state.swap(usize::from(place), usize::from(other));
    }
    let (mut place, mut other) = (0u8, 0u8);
    let next = |_| {
        place = place.wrapping_add(1);
        other = other.wrapping_add(at(&state, place));
        state.swap(usize::from(place), usize::from(other));
        at(&state, at(&state, place).wrapping_add(at(&state, other)))
    };
    (0..bytes).map(next).collect()
}

/// The obfuscation, if the password has this verifier; the file states the key as well.
fn xor(key: u16, verifier: u16) -> Option<Cipher> {
    let password = PASSWORD.as_bytes();
    if verifier_of(password) != verifier {
        return None;
    }
    let mut array = [0; 16];
    let filled = password.iter().chain(&FILL);
    for ((place, byte), of_key) in array
        .iter_mut()
        .zip(filled)
        .zip(key.to_le_bytes().into_iter().cycle())
    {
        *place = (byte ^ of_key).rotate_right(1);
    }
    Some(Cipher::Xor(array))
}

fn verifier_of(password: &[u8]) -> u16 {
    let length = u8::try_from(password.len()).unwrap_or(u8::MAX);
    let bytes = [&[length], password].concat();
    let hash = bytes.iter().rev().fold(0u16, |hash, byte| {
        ((hash >> 14 & 1) | (hash << 1 & 0x7FFF)) ^ u16::from(*byte)
    });
    hash ^ 0xCE4B
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::test_files::compound_file;
    use crate::sheets::xls::extract;
    use crate::sheets::xls::tests::{label, record, stream};
    use crate::skip_reason::SkipReason;

    /// A workbook of a few KB with this lock.
    fn plain(lock: Vec<u8>) -> Vec<u8> {
        let cells = (0..300)
            .map(|row| label(row, 0, &format!("word {row}")))
            .collect();
        stream(&[record(0x2F, &lock)], &[("Steps", 0, cells)])
    }

    fn locks() -> Vec<Vec<u8>> {
        let fitting = |keys: BlockKeys, hash: Vec<u8>| -> Vec<u8> {
            let both = [&[3; 16][..], &hash].concat();
            let stream = keys.stream(0, both.len());
            both.iter()
                .zip(stream)
                .map(|(byte, key)| byte ^ key)
                .collect()
        };
        let salt = [7; 16];
        let password = Md5::digest(password_bytes());
        let key = Md5::digest([&password[..5], &salt].concat().repeat(16));
        let both = fitting(
            BlockKeys::Md5(key[..5].try_into().unwrap()),
            Md5::digest([3; 16]).to_vec(),
        );
        let mut locks = vec![[&[1, 0, 1, 0, 1, 0][..], &salt, &both].concat()];
        for (bits, key_bytes) in [(128u32, 16), (40, 5), (0, 5)] {
            let key = Sha1::digest([&salt[..], &password_bytes()].concat()).to_vec();
            let both = fitting(
                BlockKeys::Sha1(key, key_bytes),
                Sha1::digest([3; 16]).to_vec(),
            );
            let header = [4, 0, 0x6801, 0x8004, bits, 1, 0, 0]
                .map(u32::to_le_bytes)
                .concat();
            let head = [&[1, 0, 2, 0, 2, 0, 4, 0, 0, 0, 32, 0, 0, 0][..], &header].concat();
            let verifier = [
                &[16, 0, 0, 0][..],
                &salt,
                &both[..16],
                &[20, 0, 0, 0],
                &both[16..],
            ]
            .concat();
            locks.push([head, verifier].concat());
        }
        let verifier = verifier_of(PASSWORD.as_bytes()).to_le_bytes();
        locks.push([&[0, 0, 0x12, 0x34][..], &verifier].concat());
        locks
    }

    /// As a program encrypts it.
    fn encrypted(stream: &[u8], lock: &[u8]) -> Vec<u8> {
        let cipher = Cipher::of(lock, true).unwrap();
        let mut encrypted = match &cipher {
            // Both ways are one.
            Cipher::Rc4(_) => cipher.applied(stream),
            Cipher::Xor(key) => {
                let mut bytes = stream.to_vec();
                let (mut at, mut is_locked) = (0, false);
                for Record { kind, data } in records(stream) {
                    let start = at + HEADER_BYTES;
                    at = start + data.len();
                    let skipped = if kind == BOUND_SHEET { 4 } else { 0 };
                    if is_locked && kind != BEGIN {
                        for place in start + skipped..at {
                            let key = key[(start + data.len() + place - start) % 16];
                            bytes[place] = bytes[place].rotate_left(5) ^ key;
                        }
                    }
                    is_locked |= kind == FILE_PASS;
                }
                bytes
            }
        };
        let at = records(stream)
            .take_while(|record| record.kind != FILE_PASS)
            .map(|record| record.data.len() + 4)
            .sum::<usize>();
        encrypted[at..at + 2].copy_from_slice(&FILE_PASS.to_le_bytes());
        encrypted
    }

    #[test]
    fn workbooks_that_open_without_being_asked_for_a_password_are_read() {
        for lock in locks() {
            let bytes = encrypted(&plain(lock.clone()), &lock);
            assert!(
                !bytes.windows(6).any(|window| window == b"word 1"),
                "{lock:?}"
            );
            let found = extract(&compound_file(&[("Workbook", bytes)])).unwrap();
            let text = found.text.unwrap();
            assert!(
                text.starts_with("word 0\nword 1\n") && text.ends_with("word 299\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_passwords_stay_and_damaged_locks_are_no_crash() {
        for lock in locks() {
            let bytes = encrypted(&plain(lock.clone()), &lock);
            let mut other = lock.clone();
            // Of the salt, or of the verifier of XOR.
            let place = other.len() - 1;
            other[place] ^= 1;
            let at = bytes
                .windows(lock.len())
                .position(|window| window == lock)
                .unwrap();
            let mut changed = bytes.clone();
            changed[at..at + lock.len()].copy_from_slice(&other);
            let reason = extract(&compound_file(&[("Workbook", changed)])).unwrap_err();
            assert!(matches!(reason, SkipReason::Encrypted(_)));
            for length in 0..lock.len() {
                assert!(Cipher::of(&lock[..length], true).is_none());
            }
        }
    }

    #[test]
    fn the_key_stream_is_that_of_rc4() {
        let stream = rc4(b"Key", 9);
        let encrypted: Vec<u8> = b"Plaintext"
            .iter()
            .zip(stream)
            .map(|(byte, key)| byte ^ key)
            .collect();
        assert_eq!(
            encrypted,
            [0xBB, 0xF3, 0x16, 0xE8, 0xD9, 0x40, 0xAF, 0x0A, 0xD3]
        );
        assert_eq!(verifier_of(b""), 0xCE4B);
    }
}
