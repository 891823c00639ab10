//! A zip archive of named parts, opened under limits.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::skip_reason::SkipReason;

/// How an archive begins that is not empty.
pub(crate) const SIGNATURE: &[u8] = b"PK\x03\x04";

/// Bytes of one part once inflated.
// No real part of 1,400 files came near it. A part of some KB can inflate to gigabytes, so bytes
// are counted while they are inflated; the size in the directory may lie.
const MAX_PART_BYTES: u64 = 128 << 20;
/// Bytes of all parts that are read. No real file of 1,400 came near either limit.
const MAX_PACKAGE_BYTES: u64 = 512 << 20;

/// The parts of one archive, found by name whatever its case and the direction of its slashes.
pub(crate) struct ZipPackage<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    places: HashMap<String, usize>,
    /// What an error calls the file.
    format: &'static str,
    left_bytes: u64,
}

impl<'a> ZipPackage<'a> {
    /// Reads the list of parts.
    ///
    /// # Errors
    /// [`SkipReason::Damaged`] when there is none.
    pub(crate) fn open(
        bytes: &'a [u8],
        format: &'static str,
    ) -> Result<ZipPackage<'a>, SkipReason> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| {
            SkipReason::damaged(format, "the list of its parts is missing or broken")
        })?;
        let mut places = HashMap::new();
        for place in 0..archive.len() {
            if let Some(Ok(name)) = archive.name_for_index(place) {
                // The first entry of a name counts. An archive may list a name twice, and one of
                // them has to win.
                places.entry(key(&name)).or_insert(place);
            }
        }
        Ok(ZipPackage {
            archive,
            places,
            format,
            left_bytes: MAX_PACKAGE_BYTES,
        })
    }

    /// What an error calls the file.
    pub(crate) fn format(&self) -> &'static str {
        self.format
    }

    /// Reads no more than another package may, which may then read so much less: for one that lies inside the other.
    pub(crate) fn share_limit(&mut self, outer: &mut ZipPackage<'_>) {
        self.left_bytes = self.left_bytes.min(outer.left_bytes);
        // One budget for both: a document in a document in a document would multiply the limit
        // otherwise.
        outer.left_bytes = self.left_bytes;
    }

    /// Whether there is such a part.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(&key(name))
    }

    /// The bytes of a part; `None` when there is none of that name.
    ///
    /// # Errors
    /// [`SkipReason::Limit`] for a part that inflates to more than [`MAX_PART_BYTES`], or with the others to more
    /// than [`MAX_PACKAGE_BYTES`]; [`SkipReason::Encrypted`]; [`SkipReason::Damaged`].
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, SkipReason> {
        // Read to one byte beyond the limit: only then it is certain that there is more.
        let limit = MAX_PART_BYTES.min(self.left_bytes);
        let bytes = self.read_up_to(name, limit.saturating_add(1))?;
        let read = bytes.as_ref().map_or(0, Vec::len);
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if read > limit {
            let (what, limit) = if read > MAX_PART_BYTES {
                ("bytes in one of its parts", MAX_PART_BYTES)
            } else {
                ("bytes in its parts", MAX_PACKAGE_BYTES)
            };
            return Err(SkipReason::Limit { what, limit });
        }
        self.left_bytes -= read;
        Ok(bytes)
    }

    /// The first bytes of a part, `most` at most, which count against no limit.
    ///
    /// # Errors
    /// As [`ZipPackage::read`].
    pub(crate) fn read_up_to(
        &mut self,
        name: &str,
        most: u64,
    ) -> Result<Option<Vec<u8>>, SkipReason> {
        let Some(&place) = self.places.get(&key(name)) else {
            return Ok(None);
        };
        let damaged = SkipReason::damaged(self.format, "one of its parts cannot be read");
        let part = match self.archive.by_index(place) {
            Ok(part) => part,
            // Told apart, because the user can do something about it.
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(SkipReason::Encrypted(self.format));
            }
            Err(_) => return Err(damaged),
        };
        let mut bytes = Vec::new();
        // No memory is reserved by the size that the directory states.
        match part.take(most).read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(_) => Err(damaged),
        }
    }
}

/// Names of parts differ in case and slashes only where programs are careless.
fn key(name: &str) -> String {
    let name = name.trim_start_matches(['/', '\\']);
    // Some writers use backslashes or other capitals than in the references (OPC part names ignore
    // ASCII case).
    name.replace('\\', "/").to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn parts_are_found_by_any_spelling_within_the_limit() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["Word\\Document.XML", "other"] {
            writer
                .start_file(name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(b"eleven bytes").unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        let mut package = ZipPackage::open(&bytes, "Word document").unwrap();
        package.left_bytes = 20;
        let name = "/word/document.xml";
        assert!(package.has(name));
        assert_eq!(package.read(name).unwrap().unwrap(), b"eleven bytes");
        assert_eq!(package.read_up_to("other", 6).unwrap().unwrap(), b"eleven");
        assert_eq!(package.read("none").unwrap(), None);
        let limit = SkipReason::Limit {
            what: "bytes in its parts",
            limit: MAX_PACKAGE_BYTES,
        };
        assert_eq!(package.read("OTHER").unwrap_err(), limit);
    }
}
