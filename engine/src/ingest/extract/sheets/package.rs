//! The parts of a zip package, under limits.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::ingest::extract::skip_reason::SkipReason;

/// Bytes of one part.
const MAX_PART_BYTES: u64 = 128 << 20;
/// Bytes of all parts that are read.
const MAX_PACKAGE_BYTES: u64 = 512 << 20;

/// A zip package.
pub(super) struct Package<'b> {
    archive: zip::ZipArchive<Cursor<&'b [u8]>>,
    format: &'static str,
    /// Bytes that may still be read.
    left: u64,
}

impl<'b> Package<'b> {
    /// # Errors
    /// [`SkipReason::Damaged`] for what is no zip archive.
    pub(super) fn open(bytes: &'b [u8], format: &'static str) -> Result<Package<'b>, SkipReason> {
        match zip::ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => Ok(Package {
                archive,
                format,
                left: MAX_PACKAGE_BYTES,
            }),
            Err(error) => Err(damaged(format, error.to_string())),
        }
    }

    /// The bytes of a part; `None` when there is none of that name. Names are equal whatever their case and
    /// their slashes.
    ///
    /// # Errors
    /// [`SkipReason::Damaged`] or [`SkipReason::Limit`].
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, SkipReason> {
        let Some(index) = self.position(name) else {
            return Ok(None);
        };
        let format = self.format;
        let fails = |error: String| damaged(format, format!("{name}: {error}"));
        let part = self
            .archive
            .by_index(index)
            .map_err(|error| fails(error.to_string()))?;
        let limit = MAX_PART_BYTES.min(self.left);
        let mut bytes = Vec::new();
        part.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| fails(error.to_string()))?;
        let read = bytes.len() as u64;
        if read > limit {
            return Err(SkipReason::Limit {
                what: "bytes when unpacked",
                limit,
            });
        }
        self.left -= read;
        Ok(Some(bytes))
    }

    /// The text of an XML part.
    ///
    /// # Errors
    /// As [`Package::read`].
    pub(super) fn xml(&mut self, name: &str) -> Result<Option<String>, SkipReason> {
        Ok(self.read(name)?.map(decode))
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    fn position(&self, name: &str) -> Option<usize> {
        let name = name.trim_start_matches('/');
        if let Some(index) = self.archive.index_for_name(name) {
            return Some(index);
        }
        let is_same = |other: &str| {
            other.len() == name.len()
                && std::iter::zip(other.bytes(), name.bytes()).all(|(other, byte)| {
                    other.eq_ignore_ascii_case(&byte) || (other == b'\\' && byte == b'/')
                })
        };
        let mut names = self.archive.file_names();
        names.position(|other| other.is_ok_and(|other| is_same(&other)))
    }
}

pub(super) fn damaged(format: &'static str, what: impl Into<Cow<'static, str>>) -> SkipReason {
    SkipReason::Damaged {
        format,
        what: what.into(),
    }
}

/// XML as text: by its byte order mark or its form, else by the encoding that it states, else UTF-8.
fn decode(bytes: Vec<u8>) -> String {
    let stated = || {
        let head = bytes.get(..bytes.len().min(200)).unwrap_or_default();
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let (_, label) = head.split_once("encoding=")?;
        let label = label.trim_start_matches(['"', '\'']);
        let end = label.find(['"', '\'', '?', '>', ' '])?;
        Encoding::for_label(label.get(..end)?.as_bytes())
    };
    let is_marked = Encoding::for_bom(&bytes).is_some();
    let encoding = match bytes.as_slice() {
        _ if is_marked => UTF_8,
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => stated().unwrap_or(UTF_8),
    };
    if encoding == UTF_8 && !is_marked {
        return match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
    }
    // A mark wins over the encoding.
    let (text, ..) = encoding.decode(&bytes);
    text.into_owned()
}

/// A package for tests.
#[cfg(test)]
pub(super) fn made_of(parts: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write;

    let mut bytes = Vec::new();
    let mut writer = zip::ZipWriter::new(Cursor::new(&mut bytes));
    for (name, content) in parts {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_whatever_their_case_and_slashes() {
        let bytes = made_of(&[("XL\\Workbook.xml", "\u{feff}<a/>")]);
        let mut package = Package::open(&bytes, "x").unwrap();
        assert_eq!(package.xml("/xl/workbook.xml").unwrap().unwrap(), "<a/>");
        assert_eq!(package.xml("xl/other.xml").unwrap(), None);
    }

    #[test]
    fn text_is_decoded_by_what_it_states() {
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?>\xE9".to_vec();
        assert!(decode(latin).ends_with('\u{e9}'));
        let wide: Vec<u8> = "<a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(wide), "<a>");
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let bytes = made_of(&[("a", &"x".repeat(1000))]);
        let mut package = Package::open(&bytes, "x").unwrap();
        package.left = 999;
        assert_eq!(
            package.read("a").unwrap_err().to_string(),
            "more than 999 bytes when unpacked"
        );
    }
}
