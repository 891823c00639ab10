//! Files of an older format than this program reads.

use std::ops::Range;
use std::path::Path;

use kb_engine::{FORMAT_VERSION, Kb};
use xxhash_rust::xxh3::xxh3_64;

/// Where the signature block and its checksum lie.
const BLOCK: Range<usize> = 512..1024;
const CHECKSUM: Range<usize> = 1016..1024;

/// Gives a file the version before the current one; its bytes.
pub(crate) fn make_older(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[522..524].copy_from_slice(&(FORMAT_VERSION.1 - 1).to_le_bytes());
    let sum = xxh3_64(&bytes[BLOCK.start..CHECKSUM.start]);
    bytes[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(path, &bytes).unwrap();
    assert!(Kb::open(path).is_err());
    bytes
}

/// What messages call that version.
pub(crate) fn older_version() -> String {
    let (major, minor) = FORMAT_VERSION;
    format!("format version {major}.{}", minor - 1)
}
