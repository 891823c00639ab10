//! Office Open XML that is encrypted with the password that Excel tries by itself, and nobody is asked for: workbooks
//! whose structure is locked are kept so. What has another password stays encrypted.
//!
//! Both forms of MS-OFFCRYPTO are read: standard (AES in ECB mode) and agile (AES in CBC mode, described in XML).

use aes::cipher::{Array, BlockCipherDecrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha384, Sha512};

use crate::package::compound_file::{self, CompoundFile};
use crate::package::little_endian::{place_at, stretch, u16_at, u32_at};
use crate::package::xml::{Element, XmlEvent, XmlReader};

/// The default password of Excel.
// Excel encrypts a workbook with it when only its structure is protected ([MS-XLS] 2.2.10).
// Everybody can read such a file.
pub(crate) const PASSWORD: &str = "VelvetSweatshop";

/// Bytes of a block of AES, and of a key at most.
const BLOCK_BYTES: usize = 16;
const MAX_KEY_BYTES: usize = 32;
/// Most rounds of hashing the password. Files that state more are refused.
// Programs write 50,000 or 100,000. The number comes from the file, and four billion rounds would
// use up the worker's CPU time.
const MAX_SPINS: u32 = 1_000_000;
const STANDARD_SPINS: u32 = 50_000;
/// Bytes of a piece of an agile package, each with a start of its own.
// [MS-OFFCRYPTO] 2.3.4.15.
const SEGMENT_BYTES: usize = 4096;

// What is hashed with the password for each key of an agile package.
const FOR_VERIFIER: [u8; 8] = [0xFE, 0xA7, 0xD2, 0x76, 0x3B, 0x4B, 0x9E, 0x79];
const FOR_VERIFIER_HASH: [u8; 8] = [0xD7, 0xAA, 0x0F, 0x6D, 0x30, 0x61, 0x34, 0x4E];
const FOR_KEY: [u8; 8] = [0x14, 0x6E, 0x0B, 0xE7, 0xAB, 0xAC, 0xD0, 0xD6];

/// The package in a file that is encrypted with the password; `None` for any other file.
pub(crate) fn opened(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(compound_file::SIGNATURE) {
        return None;
    }
    let file = CompoundFile::open(bytes)?;
    let info = file.read("EncryptionInfo")?;
    let key = match (u16_at(&info, 0)?, u16_at(&info, 2)?) {
        (4, 4) => agile_key(info.get(8..)?)?,
        (2..=4, 2) => standard_key(&info)?,
        _ => return None,
    };
    let package = file.read("EncryptedPackage")?;
    let length = place_at(&package, 0)?;
    let mut content = key.decrypted(package.get(8..)?)?;
    content.truncate(length);
    Some(content)
}

/// UTF-16 of the password.
pub(crate) fn password_bytes() -> Vec<u8> {
    PASSWORD.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The key of a package.
struct PackageKey {
    cipher: Aes,
    /// How each piece of an agile package begins: a hash, and what goes into it beside the number of the piece.
    pieces: Option<(Hash, Vec<u8>)>,
}

impl PackageKey {
    fn decrypted(&self, content: &[u8]) -> Option<Vec<u8>> {
        let mut content = content
            .get(..content.len() / BLOCK_BYTES * BLOCK_BYTES)?
            .to_vec();
        match &self.pieces {
            None => self.cipher.decrypt(&mut content, None)?,
            Some((hash, salt)) => {
                for (number, piece) in (0u32..).zip(content.chunks_mut(SEGMENT_BYTES)) {
                    let start = hash.of(&[salt, &number.to_le_bytes()]);
                    self.cipher
                        .decrypt(piece, Some(&fitted(start, BLOCK_BYTES)))?;
                }
            }
        }
        Some(content)
    }
}

/// AES of any length of key.
enum Aes {
    Of128(Aes128),
    Of192(Aes192),
    Of256(Aes256),
}

impl Aes {
    fn new(key: &[u8]) -> Option<Aes> {
        Some(match key.len() {
            16 => Aes::Of128(Aes128::new_from_slice(key).ok()?),
            24 => Aes::Of192(Aes192::new_from_slice(key).ok()?),
            32 => Aes::Of256(Aes256::new_from_slice(key).ok()?),
            _ => return None,
        })
    }

    /// Decrypts whole blocks, each with the one before it where there is a start.
    fn decrypt(&self, bytes: &mut [u8], start: Option<&[u8]>) -> Option<()> {
        let mut before: Option<[u8; BLOCK_BYTES]> = match start {
            Some(start) => Some(start.try_into().ok()?),
            None => None,
        };
        for place in bytes.chunks_exact_mut(BLOCK_BYTES) {
            let encrypted: [u8; BLOCK_BYTES] = (&*place).try_into().ok()?;
            let mut block = Array::from(encrypted);
            match self {
                Aes::Of128(aes) => aes.decrypt_block(&mut block),
                Aes::Of192(aes) => aes.decrypt_block(&mut block),
                Aes::Of256(aes) => aes.decrypt_block(&mut block),
            }
            place.copy_from_slice(&block);
            if let Some(before) = &mut before {
                for (byte, before) in place.iter_mut().zip(before.iter()) {
                    *byte ^= before;
                }
                *before = encrypted;
            }
        }
        Some(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    fn named(name: &str) -> Option<Hash> {
        Some(match name {
            "SHA1" | "SHA-1" => Hash::Sha1,
            "SHA256" | "SHA-256" => Hash::Sha256,
            "SHA384" | "SHA-384" => Hash::Sha384,
            "SHA512" | "SHA-512" => Hash::Sha512,
            _ => return None,
        })
    }

    fn of(self, pieces: &[&[u8]]) -> Vec<u8> {
        fn hash<D: Digest>(pieces: &[&[u8]]) -> Vec<u8> {
            let mut hash = D::new();
            pieces.iter().for_each(|piece| hash.update(piece));
            hash.finalize().to_vec()
        }
        match self {
            Hash::Sha1 => hash::<Sha1>(pieces),
            Hash::Sha256 => hash::<Sha256>(pieces),
            Hash::Sha384 => hash::<Sha384>(pieces),
            Hash::Sha512 => hash::<Sha512>(pieces),
        }
    }

    /// Of the password, again and again.
    fn of_password(self, salt: &[u8], spins: u32) -> Vec<u8> {
        let first = self.of(&[salt, &password_bytes()]);
        (0..spins).fold(first, |hash, spin| self.of(&[&spin.to_le_bytes(), &hash]))
    }
}

/// A hash with as many bytes as are needed.
fn fitted(mut hash: Vec<u8>, bytes: usize) -> Vec<u8> {
    hash.resize(bytes, 0x36);
    hash
}

fn standard_key(info: &[u8]) -> Option<PackageKey> {
    let header_bytes = place_at(info, 8)?;
    let header = stretch(info, 12, header_bytes);
    // AES of 128, 192 and 256 bits, with SHA-1.
    if !matches!(u32_at(header, 8)?, 0 | 0x660E..=0x6610)
        || !matches!(u32_at(header, 12)?, 0 | 0x8004)
    {
        return None;
    }
    let key_bytes = place_at(header, 16)? / 8;
    let verifier = info.get(12usize.checked_add(header_bytes)?..)?;
    let salt = verifier.get(4..20)?;
    let hash = Hash::Sha1.of_password(salt, STANDARD_SPINS);
    let hash = Hash::Sha1.of(&[&hash, &[0; 4]]);
    let derived = |pad: u8| {
        let mut block = [pad; 64];
        for (byte, hash) in block.iter_mut().zip(&hash) {
            *byte ^= hash;
        }
        Hash::Sha1.of(&[&block])
    };
    let key = [derived(0x36), derived(0x5C)].concat();
    let cipher = Aes::new(key.get(..key_bytes)?)?;
    let mut stated = verifier.get(20..36)?.to_vec();
    cipher.decrypt(&mut stated, None)?;
    let mut stated_hash = verifier.get(40..72)?.to_vec();
    cipher.decrypt(&mut stated_hash, None)?;
    let fits = stated_hash.starts_with(&Hash::Sha1.of(&[&stated]));
    fits.then_some(PackageKey {
        cipher,
        pieces: None,
    })
}

/// What an agile package says of a key.
struct Stated {
    hash: Hash,
    salt: Vec<u8>,
    key_bytes: usize,
}

impl Stated {
    fn of(element: &Element<'_>) -> Option<Stated> {
        let is = |name: &str, value: &str| element.attribute(name).as_deref() == Some(value);
        let key_bytes = usize::try_from(element.number("keyBits")? / 8).ok()?;
        let is_known = is("cipherAlgorithm", "AES") && is("cipherChaining", "ChainingModeCBC");
        if !is_known || !is("blockSize", "16") || key_bytes > MAX_KEY_BYTES {
            return None;
        }
        Some(Stated {
            hash: Hash::named(&element.attribute("hashAlgorithm")?)?,
            salt: base64_of(element, "saltValue")?,
            key_bytes,
        })
    }
}

fn base64_of(element: &Element<'_>, name: &str) -> Option<Vec<u8>> {
    STANDARD.decode(element.attribute(name)?.trim()).ok()
}

fn agile_key(xml: &[u8]) -> Option<PackageKey> {
    let text = String::from_utf8_lossy(xml);
    let mut reader = XmlReader::new(&text);
    let mut content = None;
    while let Some(event) = reader.next().ok()? {
        let XmlEvent::Start(element) = event else {
            continue;
        };
        match element.name() {
            "keyData" => content = Some(Stated::of(&element)?),
            // Another kind of key, of a certificate, may stand before it.
            "encryptedKey" if element.attribute("spinCount").is_some() => {
                let (key, content) = (key_of_password(&element)?, content?);
                return Some(PackageKey {
                    cipher: Aes::new(key.get(..content.key_bytes)?)?,
                    pieces: Some((content.hash, content.salt)),
                });
            }
            _ => {}
        }
    }
    None
}

/// The key of the package, if the password opens it.
fn key_of_password(element: &Element<'_>) -> Option<Vec<u8>> {
    let stated = Stated::of(element)?;
    let spins = element
        .number("spinCount")
        .filter(|spins| *spins <= MAX_SPINS)?;
    let mut values = [
        "encryptedVerifierHashInput",
        "encryptedVerifierHashValue",
        "encryptedKeyValue",
    ]
    .map(|name| base64_of(element, name).filter(|value| value.len() <= 1024));
    let [Some(verifier), Some(verifier_hash), Some(key)] = &mut values else {
        return None;
    };
    let hash = stated.hash.of_password(&stated.salt, spins);
    let start = fitted(stated.salt.clone(), BLOCK_BYTES);
    for (value, purpose) in [
        (&mut *verifier, FOR_VERIFIER),
        (&mut *verifier_hash, FOR_VERIFIER_HASH),
        (&mut *key, FOR_KEY),
    ] {
        let key = fitted(stated.hash.of(&[&hash, &purpose]), stated.key_bytes);
        Aes::new(&key)?.decrypt(value, Some(&start))?;
    }
    let fits = verifier_hash.starts_with(&stated.hash.of(&[verifier]));
    fits.then(|| key.clone())
}

#[cfg(test)]
pub(crate) mod tests {
    use aes::cipher::BlockCipherEncrypt;

    use super::*;
    use crate::package::test_files::compound_file;

    /// As a program encrypts; the inverse of [`Aes::decrypt`].
    fn encrypted(key: &[u8], bytes: &[u8], start: Option<&[u8]>) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(BLOCK_BYTES), 0);
        let mut before = start.map(<[u8]>::to_vec);
        for place in bytes.chunks_exact_mut(BLOCK_BYTES) {
            if let Some(before) = &before {
                place
                    .iter_mut()
                    .zip(before)
                    .for_each(|(byte, before)| *byte ^= before);
            }
            let mut block = Array::from(<[u8; BLOCK_BYTES]>::try_from(&*place).unwrap());
            match Aes::new(key).unwrap() {
                Aes::Of128(aes) => aes.encrypt_block(&mut block),
                Aes::Of192(aes) => aes.encrypt_block(&mut block),
                Aes::Of256(aes) => aes.encrypt_block(&mut block),
            }
            place.copy_from_slice(&block);
            before = before.map(|_| block.to_vec());
        }
        bytes
    }

    fn file(info: Vec<u8>, length: usize, content: Vec<u8>) -> Vec<u8> {
        let package = [&(length as u64).to_le_bytes()[..], &content].concat();
        compound_file(&[("EncryptionInfo", info), ("EncryptedPackage", package)])
    }

    /// An agile package, whose password hashes to `hash`.
    pub(crate) fn agile(package: &[u8], name: &str, key_bytes: usize, spins: u32) -> Vec<u8> {
        let hash = Hash::named(name).unwrap();
        let (salt, content_salt) = ([7; 16], [9; 16]);
        let (key, verifier) = (vec![5; key_bytes], vec![3; 16]);
        let of_password = hash.of_password(&salt, spins);
        let value = |purpose: [u8; 8], value: &[u8]| {
            let key = fitted(hash.of(&[&of_password, &purpose]), key_bytes);
            STANDARD.encode(encrypted(&key, value, Some(&salt)))
        };
        let attributes = format!(
            "blockSize='16' keyBits='{}' cipherAlgorithm='AES' cipherChaining='ChainingModeCBC' hashAlgorithm='{name}'",
            8 * key_bytes
        );
        let xml = format!(
            "<encryption xmlns:p='urn:p'><keyData {attributes} saltValue='{}'/><keyEncryptors><keyEncryptor>\
             <p:encryptedKey {attributes} spinCount='{spins}' saltValue='{}' encryptedVerifierHashInput='{}' \
             encryptedVerifierHashValue='{}' encryptedKeyValue='{}'/></keyEncryptor></keyEncryptors></encryption>",
            STANDARD.encode(content_salt),
            STANDARD.encode(salt),
            value(FOR_VERIFIER, &verifier),
            value(FOR_VERIFIER_HASH, &hash.of(&[&verifier])),
            value(FOR_KEY, &key)
        );
        let pieces = (0u32..)
            .zip(package.chunks(SEGMENT_BYTES))
            .map(|(number, piece)| {
                let start = hash.of(&[&content_salt, &number.to_le_bytes()]);
                encrypted(&key, piece, Some(&fitted(start, BLOCK_BYTES)))
            });
        let content = pieces.collect::<Vec<_>>().concat();
        let info = [&[4, 0, 4, 0, 0x40, 0, 0, 0][..], xml.as_bytes()].concat();
        file(info, package.len(), content)
    }

    fn standard(package: &[u8], key_bytes: u32, algorithm: u32) -> Vec<u8> {
        let salt = [7; 16];
        let hash = Hash::Sha1.of(&[&Hash::Sha1.of_password(&salt, STANDARD_SPINS), &[0; 4]]);
        let derived = |pad: u8| {
            let block: Vec<u8> = (0..64).map(|at| pad ^ hash.get(at).unwrap_or(&0)).collect();
            Hash::Sha1.of(&[&block])
        };
        let key = [derived(0x36), derived(0x5C)].concat();
        let key = &key[..key_bytes as usize];
        let mut info = vec![3, 0, 2, 0, 0x24, 0, 0, 0, 34, 0, 0, 0];
        for number in [0x24, 0, algorithm, 0x8004, 8 * key_bytes, 0x18, 0, 0] {
            info.extend(u32::to_le_bytes(number));
        }
        info.extend([0, 0, 16, 0, 0, 0]);
        info.extend(salt);
        info.extend(encrypted(key, &[3; 16], None));
        info.extend(20u32.to_le_bytes());
        info.extend(encrypted(key, &Hash::Sha1.of(&[&[3; 16]]), None));
        file(info, package.len(), encrypted(key, package, None))
    }

    #[test]
    fn packages_that_open_without_being_asked_for_a_password_are_opened() {
        let package: Vec<u8> = (0..10_001u32).map(|at| (at % 251) as u8).collect();
        for (name, key_bytes) in [("SHA1", 16), ("SHA256", 24), ("SHA384", 32), ("SHA512", 32)] {
            assert_eq!(
                opened(&agile(&package, name, key_bytes, 10)).as_ref(),
                Some(&package),
                "{name}"
            );
        }
        for (key_bytes, algorithm) in [(16, 0x660E), (24, 0x660F), (32, 0x6610)] {
            assert_eq!(
                opened(&standard(&package, key_bytes, algorithm)).as_ref(),
                Some(&package)
            );
        }
    }

    #[test]
    fn what_has_another_password_or_is_damaged_stays_encrypted() {
        let package = vec![1; 500];
        let sound = agile(&package, "SHA512", 32, 3);
        let salt = STANDARD.encode([7; 16]).into_bytes();
        let at = sound
            .windows(salt.len())
            .position(|window| window == salt)
            .unwrap();
        let mut other = sound.clone();
        other[at] = b'A';
        assert_eq!(opened(&other), None);
        let mut other = standard(&package, 16, 0x660E);
        // A byte of the salt, behind the header of the stream.
        let at = other
            .windows(20)
            .position(|window| window == [[16, 0, 0, 0].as_slice(), &[7; 16]].concat())
            .unwrap();
        other[at + 5] ^= 1;
        assert_eq!(opened(&other), None);
        // More hashing than any program does: refused before it begins.
        let xml = b"<e><keyData blockSize='16' keyBits='128' cipherAlgorithm='AES' cipherChaining='ChainingModeCBC' \
            hashAlgorithm='SHA1' saltValue='BwcHBwcHBwcHBwcHBwcHBw=='/><encryptedKey spinCount='4294967295' blockSize='16' \
            keyBits='128' cipherAlgorithm='AES' cipherChaining='ChainingModeCBC' hashAlgorithm='SHA1' \
            saltValue='BwcHBwcHBwcHBwcHBwcHBw==' encryptedVerifierHashInput='BwcHBwcHBwcHBwcHBwcHBw==' \
            encryptedVerifierHashValue='BwcHBwcHBwcHBwcHBwcHBw==' encryptedKeyValue='BwcHBwcHBwcHBwcHBwcHBw=='/></e>";
        assert!(agile_key(xml).is_none());
        for length in (0..sound.len()).step_by(97) {
            let _ = opened(&sound[..length]);
        }
        assert_eq!(opened(b"PK\x03\x04"), None);
    }
}
