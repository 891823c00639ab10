//! Damages real files as disks, cables and fuzzers do.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Bytes of the parts of a package that is opened to break one of them.
const MAX_PACKAGE_BYTES: u64 = 64 << 20;

/// A generator of numbers that a seed determines (SplitMix64; Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below `limit`; 0 when that is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        match u64::try_from(limit) {
            Ok(limit) if limit > 0 => usize::try_from(self.next() % limit).unwrap_or(0),
            _ => 0,
        }
    }
}

/// How a file is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// One to 32 bytes become others.
    Flips,
    /// The end is missing.
    Cut,
    /// Two ranges change places.
    Swap,
    /// A range is overwritten by one of another file.
    Splice,
    /// Numbers of 16, 32 or 64 bits become ones that programs forget: 0, -1, the largest.
    Lengths,
    /// Bytes are missing, or there twice.
    Shift,
}

impl Damage {
    pub(super) const ALL: [Damage; 6] = [
        Damage::Flips,
        Damage::Cut,
        Damage::Swap,
        Damage::Splice,
        Damage::Lengths,
        Damage::Shift,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Damage::Flips => "flips",
            Damage::Cut => "cut",
            Damage::Swap => "swap",
            Damage::Splice => "splice",
            Damage::Lengths => "lengths",
            Damage::Shift => "shift",
        }
    }
}

/// `bytes` with some damage; `other` is what is spliced in.
pub(super) fn broken(bytes: &[u8], other: &[u8], damage: Damage, random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let length = bytes.len();
    match damage {
        Damage::Flips => {
            for _ in 0..1 << random.below(6) {
                let (at, value) = (random.below(length), random.next().to_le_bytes()[0]);
                if let Some(byte) = bytes.get_mut(at) {
                    // Never the byte that it was.
                    *byte ^= value.max(1);
                }
            }
        }
        Damage::Cut => bytes.truncate(random.below(length)),
        Damage::Swap => {
            let size = 1 + random.below(length / 4);
            let (first, second) = (random.below(length), random.below(length));
            for step in 0..size {
                let (a, b) = (first + step, second + step);
                if a.max(b) < length {
                    bytes.swap(a, b);
                }
            }
        }
        Damage::Splice => {
            let size = 1 + random.below(other.len().min(4096));
            let (from, to) = (random.below(other.len()), random.below(length));
            for (target, source) in bytes
                .iter_mut()
                .skip(to)
                .zip(other.iter().skip(from).take(size))
            {
                *target = *source;
            }
        }
        Damage::Lengths => {
            for _ in 0..1 + random.below(4) {
                let width = [2, 4, 8][random.below(3)];
                let value: u64 = [
                    0,
                    u64::MAX,
                    0x7FFF_FFFF_FFFF_FFFF,
                    0x8000_0000,
                    0x7FFF_FFFF,
                    0xFFFF,
                ][random.below(6)];
                // Fields lie at even places in all formats of records.
                let at = random.below(length) & !1;
                for (target, source) in bytes.iter_mut().skip(at).zip(&value.to_le_bytes()[..width])
                {
                    *target = *source;
                }
            }
        }
        Damage::Shift => {
            let (at, size) = (random.below(length), 1 + random.below(64));
            let end = (at + size).min(length);
            if random.below(2) == 0 {
                bytes.drain(at..end);
            } else {
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
        }
    }
    bytes
}

/// A package with the damage inside one of its parts, which no checksum finds: the archive is written
/// anew. `None` for what is no archive.
pub(super) fn broken_inside(bytes: &[u8], damage: Damage, random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut parts = Vec::new();
    let mut left = MAX_PACKAGE_BYTES;
    for position in 0..archive.len() {
        let part = archive.by_index(position).ok()?;
        if part.is_dir() {
            continue;
        }
        let name = part.name().ok()?.into_owned();
        let mut content = Vec::new();
        part.take(left).read_to_end(&mut content).ok()?;
        left = left.saturating_sub(content.len() as u64);
        parts.push((name, content));
    }
    // Pictures and thumbnails are not read.
    let is_read = |name: &str| [".xml", ".rels"].iter().any(|end| name.ends_with(end));
    let readable: Vec<usize> = parts
        .iter()
        .enumerate()
        .filter(|(_, (name, content))| is_read(name) && !content.is_empty())
        .map(|(position, _)| position)
        .collect();
    let chosen = *readable.get(random.below(readable.len()))?;
    let other = readable
        .get(random.below(readable.len()))
        .and_then(|at| parts.get(*at));
    let other = other
        .map(|(_, content)| content.clone())
        .unwrap_or_default();
    let (_, content) = parts.get_mut(chosen)?;
    *content = broken(content, &other, damage, random);
    archive_of(&parts).ok()
}

/// An archive of parts, without compression.
fn archive_of(parts: &[(String, Vec<u8>)]) -> anyhow::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts {
        writer.start_file(name.as_str(), options)?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_damage_every_time() {
        let bytes: Vec<u8> = (0..=255).cycle().take(4000).collect();
        for damage in Damage::ALL {
            let made = |seed| broken(&bytes, &bytes[7..], damage, &mut Random(seed));
            assert_eq!(made(1), made(1), "{damage:?}");
            assert_ne!(made(1), bytes, "{damage:?}");
            assert_ne!(made(1), made(2), "{damage:?}");
        }
    }

    #[test]
    fn an_empty_file_can_be_broken() {
        for damage in Damage::ALL {
            assert!(broken(&[], &[], damage, &mut Random(3)).is_empty());
        }
    }

    #[test]
    fn a_broken_part_is_in_a_sound_archive() {
        let parts = [
            ("a.xml".to_owned(), b"<a>some words</a>".repeat(20)),
            ("b.png".to_owned(), vec![1; 50]),
        ];
        let package = archive_of(&parts).unwrap();
        for damage in Damage::ALL {
            let broken = broken_inside(&package, damage, &mut Random(5)).unwrap();
            let mut archive = ZipArchive::new(Cursor::new(broken)).unwrap();
            let mut content = Vec::new();
            archive
                .by_name("a.xml")
                .unwrap()
                .read_to_end(&mut content)
                .unwrap();
            assert_ne!(content, parts[0].1, "{damage:?}");
            let mut picture = Vec::new();
            archive
                .by_name("b.png")
                .unwrap()
                .read_to_end(&mut picture)
                .unwrap();
            assert_eq!(picture, parts[1].1);
        }
        assert!(broken_inside(b"no archive", Damage::Cut, &mut Random(5)).is_none());
    }
}
