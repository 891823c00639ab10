//! Packages made byte by byte: with contents that are repeated a million times without being there once,
//! and with lists that no honest program writes.

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Bytes as deflate writes them, and the sums over what they stand for.
pub(super) struct Deflated {
    bytes: Vec<u8>,
    crc: Crc,
    /// The two sums of Adler-32.
    adler: (u64, u64),
    length: u64,
}

/// The modulus of Adler-32.
const ADLER_BASE: u64 = 65_521;

impl Deflated {
    pub(super) fn new() -> Deflated {
        Deflated {
            bytes: Vec::new(),
            crc: Crc::new(),
            adler: (1, 0),
            length: 0,
        }
    }

    /// Adds `block` this many times. It is deflated once: after a full flush nothing refers back, so the
    /// result may stand anywhere and any number of times.
    pub(super) fn repeat(mut self, block: &[u8], times: usize) -> Deflated {
        let mut compress = Compress::new(Compression::best(), false);
        let mut deflated = Vec::with_capacity(block.len() + 1024);
        let end = compress.compress_vec(block, &mut deflated, FlushCompress::Full);
        debug_assert!(end.is_ok() && compress.total_in() == block.len() as u64);
        let mut crc = Crc::new();
        crc.update(block);
        let length = block.len() as u64;
        let (mut sum, mut weighted) = (0_u64, 0_u64);
        for (position, byte) in (0_u64..).zip(block) {
            sum = (sum + u64::from(*byte)) % ADLER_BASE;
            weighted =
                (weighted + (length - position) % ADLER_BASE * u64::from(*byte)) % ADLER_BASE;
        }
        for _ in 0..times {
            self.bytes.extend_from_slice(&deflated);
            self.crc.combine(&crc);
            let (a, b) = self.adler;
            self.adler = (
                (a + sum) % ADLER_BASE,
                (b + length % ADLER_BASE * a + weighted) % ADLER_BASE,
            );
            self.length += length;
        }
        self
    }

    /// Adds `text` once.
    pub(super) fn add(self, text: &[u8]) -> Deflated {
        self.repeat(text, 1)
    }

    /// The stream without a frame, as in archives.
    fn raw(&self) -> Vec<u8> {
        // A last block without content.
        [self.bytes.as_slice(), &[3, 0]].concat()
    }

    /// The stream as zlib frames it, as in PDF.
    pub(super) fn zlib(&self) -> Vec<u8> {
        let (a, b) = self.adler;
        let adler = u32::try_from(b << 16 | a).unwrap_or(0);
        [&[0x78, 0xDA], self.raw().as_slice(), &adler.to_be_bytes()].concat()
    }
}

/// An archive in the making.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: usize,
}

impl Archive {
    pub(super) fn new() -> Archive {
        Archive::default()
    }

    /// Adds a part as it is.
    pub(super) fn store(mut self, name: &str, content: &[u8]) -> Archive {
        let mut crc = Crc::new();
        crc.update(content);
        self.entry(name, content, 0, crc.sum(), content.len() as u64);
        self
    }

    /// Adds a part that is deflated.
    pub(super) fn deflate(mut self, name: &str, content: &Deflated) -> Archive {
        self.entry(name, &content.raw(), 8, content.crc.sum(), content.length);
        self
    }

    fn entry(&mut self, name: &str, bytes: &[u8], method: u16, crc: u32, length: u64) {
        let field = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let name_length = u16::try_from(name.len()).unwrap_or(0).to_le_bytes();
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        // Version 2.0, no flags, the method, no time; the sums; no extra field.
        let common = [
            &[20, 0, 0, 0],
            method.to_le_bytes().as_slice(),
            &[0, 0, 0x21, 0],
            &crc.to_le_bytes(),
            &field(bytes.len()),
            &length,
            &name_length,
            &[0, 0],
        ]
        .concat();
        let offset = field(self.bytes.len());
        self.bytes
            .extend([b"PK\x03\x04", common.as_slice(), name.as_bytes(), bytes].concat());
        let entry = [
            b"PK\x01\x02\x14\0",
            common.as_slice(),
            &[0; 10],
            &offset,
            name.as_bytes(),
        ];
        self.directory.extend(entry.concat());
        self.entries += 1;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let count = u16::try_from(self.entries)
            .unwrap_or(u16::MAX)
            .to_le_bytes();
        let field = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let mut end = Vec::new();
        if self.entries >= usize::from(u16::MAX) {
            // An archive with more entries has a second record, and says where it is.
            let wide = |number: usize| (number as u64).to_le_bytes();
            let entries = wide(self.entries);
            end = [
                b"PK\x06\x06".as_slice(),
                &44_u64.to_le_bytes(),
                &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                &entries,
                &entries,
                &wide(self.directory.len()),
                &wide(self.bytes.len()),
                b"PK\x06\x07\0\0\0\0",
                &wide(self.bytes.len() + self.directory.len()),
                &[1, 0, 0, 0],
            ]
            .concat();
        }
        end.extend(
            [
                b"PK\x05\x06\0\0\0\0".as_slice(),
                &count,
                &count,
                &field(self.directory.len()),
                &field(self.bytes.len()),
                &[0, 0],
            ]
            .concat(),
        );
        [self.bytes, self.directory, end].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use flate2::read::ZlibDecoder;
    use zip::ZipArchive;

    use super::*;

    #[test]
    fn others_count_100_000_parts() {
        let mut archive = Archive::new();
        for number in 0..100_000 {
            archive = archive.store(&number.to_string(), b"");
        }
        let archive = ZipArchive::new(Cursor::new(archive.finish())).unwrap();
        assert_eq!(archive.len(), 100_000);
    }

    #[test]
    fn others_read_what_is_repeated() {
        let deflated = Deflated::new()
            .add(b"<a>")
            .repeat(b"some words ", 1000)
            .add(b"</a>");
        let expected = [b"<a>", "some words ".repeat(1000).as_bytes(), b"</a>"].concat();
        let mut read = Vec::new();
        ZlibDecoder::new(deflated.zlib().as_slice())
            .read_to_end(&mut read)
            .unwrap();
        assert_eq!(read, expected);
        let bytes = Archive::new()
            .store("a", b"as it is")
            .deflate("b/c", &deflated)
            .finish();
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        for (name, expected) in [("a", b"as it is".to_vec()), ("b/c", expected)] {
            let mut read = Vec::new();
            // The sum over the content is checked as it is read.
            archive
                .by_name(name)
                .unwrap()
                .read_to_end(&mut read)
                .unwrap();
            assert_eq!(read, expected);
        }
    }
}
