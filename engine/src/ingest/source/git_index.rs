//! Which hidden files git tracks in a work tree, read from its index file without running git.
//!
//! The format is git's index, versions 2 to 4 (`Documentation/gitformat-index.txt` of git). An index is not
//! trusted: reading is bounded by its size, and what is kept by [`MAX_PATHS`] and [`MAX_PATH_BYTES`].

use std::path::PathBuf;

/// Largest index that is read. Linux, with 90,000 files, has one of 10 MB.
pub(super) const MAX_INDEX_BYTES: u64 = 32 << 20;
/// Most hidden paths of one work tree. They are held in memory during the walk.
const MAX_PATHS: usize = 50_000;
/// Longest path that a system opens.
const MAX_PATH_BYTES: usize = 4096;
/// Bytes of the hashes of a repository: SHA-1 and SHA-256.
const HASH_BYTES: [usize; 2] = [20, 32];
/// Bytes of an entry before its hash: times, device, inode, mode, owner, size.
const STAT_BYTES: usize = 40;
/// An entry has a second word of flags.
const EXTENDED: u16 = 0x4000;

/// Why an index is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexFault {
    /// It is none, or damaged.
    NotAnIndex,
    /// A newer version, or one that is split over two files.
    Unknown,
    /// More hidden files than are kept.
    TooMany,
}

/// The tracked paths that have a hidden name in them, relative to the work tree.
pub(super) fn hidden_paths(bytes: &[u8]) -> Result<Vec<PathBuf>, IndexFault> {
    let mut fault = IndexFault::NotAnIndex;
    for hash_bytes in HASH_BYTES {
        match read(bytes, hash_bytes) {
            Err(IndexFault::NotAnIndex) => {}
            Err(other) => fault = other,
            Ok(paths) => return Ok(paths),
        }
    }
    Err(fault)
}

fn read(bytes: &[u8], hash_bytes: usize) -> Result<Vec<PathBuf>, IndexFault> {
    let mut rest = Bytes(bytes);
    if rest.take(4)? != b"DIRC" {
        return Err(IndexFault::NotAnIndex);
    }
    let version = rest.u32()?;
    if !(2..=4).contains(&version) {
        return Err(IndexFault::Unknown);
    }
    let count = rest.u32()?;
    let mut paths = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let before = rest.0.len();
        rest.take(STAT_BYTES + hash_bytes)?;
        let flags = rest.u16()?;
        if flags & EXTENDED != 0 {
            if version == 2 {
                return Err(IndexFault::NotAnIndex);
            }
            rest.u16()?;
        }
        if version == 4 {
            let dropped = rest.varint()?;
            let kept = path.len().checked_sub(dropped);
            path.truncate(kept.ok_or(IndexFault::NotAnIndex)?);
            path.extend_from_slice(rest.until_zero()?);
        } else {
            path.clear();
            path.extend_from_slice(rest.until_zero()?);
            // Zeros until the entry takes a multiple of 8 bytes, one at least.
            let used = before - rest.0.len();
            let padding = used.next_multiple_of(8) - used;
            if rest.take(padding)?.iter().any(|byte| *byte != 0) {
                return Err(IndexFault::NotAnIndex);
            }
        }
        if path.is_empty() || path.len() > MAX_PATH_BYTES {
            return Err(IndexFault::NotAnIndex);
        }
        if is_hidden(&path) {
            if paths.len() == MAX_PATHS {
                return Err(IndexFault::TooMany);
            }
            paths.extend(on_disk(&path));
        }
    }
    // Extensions up to the hash of the whole: this is how a wrong length of hashes is noticed.
    while rest.0.len() > hash_bytes {
        let name = rest.take(4)?;
        if name == b"link" {
            return Err(IndexFault::Unknown);
        }
        let bytes = rest.u32()?;
        rest.take(usize::try_from(bytes).map_err(|_| IndexFault::NotAnIndex)?)?;
    }
    if rest.0.len() == hash_bytes {
        Ok(paths)
    } else {
        Err(IndexFault::NotAnIndex)
    }
}

fn is_hidden(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .any(|name| name.starts_with(b"."))
}

#[cfg(unix)]
fn on_disk(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
fn on_disk(path: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(path).ok().map(PathBuf::from)
}

/// What is left to read.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], IndexFault> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(IndexFault::NotAnIndex)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, IndexFault> {
        let bytes = self.take(2)?.try_into();
        bytes
            .map(u16::from_be_bytes)
            .map_err(|_| IndexFault::NotAnIndex)
    }

    fn u32(&mut self) -> Result<u32, IndexFault> {
        let bytes = self.take(4)?.try_into();
        bytes
            .map(u32::from_be_bytes)
            .map_err(|_| IndexFault::NotAnIndex)
    }

    /// The bytes up to a zero, which is read too.
    fn until_zero(&mut self) -> Result<&'b [u8], IndexFault> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or(IndexFault::NotAnIndex)?)?;
        self.take(1)?;
        Ok(text)
    }

    /// The numbers of git's pack files: seven bits a byte, the highest first, one added at each step.
    fn varint(&mut self) -> Result<usize, IndexFault> {
        let mut value = 0usize;
        for step in 0..4 {
            let [byte] = self.take(1)? else {
                return Err(IndexFault::NotAnIndex);
            };
            if step > 0 {
                value += 1;
            }
            value = (value << 7) | usize::from(byte & 0x7F);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(IndexFault::NotAnIndex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of these paths, as git writes it.
    fn index(version: u32, hash_bytes: usize, paths: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((paths.len() as u32).to_be_bytes());
        let mut last = "";
        for path in paths {
            let from = bytes.len();
            bytes.extend(vec![7; STAT_BYTES + hash_bytes]);
            bytes.extend((path.len().min(0xFFF) as u16).to_be_bytes());
            if version == 4 {
                let same = last.bytes().zip(path.bytes()).take_while(|(a, b)| a == b);
                let same = same.count();
                assert!(last.len() - same < 128);
                bytes.push((last.len() - same) as u8);
                bytes.extend(path[same..].bytes());
                bytes.push(0);
                last = path;
            } else {
                bytes.extend(path.bytes());
                let used = bytes.len() - from;
                bytes.extend(vec![0; 8 - used % 8]);
            }
        }
        bytes.extend(b"TREE\0\0\0\x03abc");
        bytes.extend(vec![9; hash_bytes]);
        bytes
    }

    #[test]
    fn hidden_paths_of_every_version_are_found() {
        let paths = [
            ".github/workflows/a.yml",
            ".github/workflows/build.yml",
            "docs/.vale.ini",
            "docs/read.me",
            "src/lib.rs",
        ];
        let hidden: Vec<PathBuf> = paths.iter().take(3).map(PathBuf::from).collect();
        for version in [2, 3, 4] {
            for hash_bytes in HASH_BYTES {
                let bytes = index(version, hash_bytes, &paths);
                assert_eq!(
                    hidden_paths(&bytes),
                    Ok(hidden.clone()),
                    "{version} {hash_bytes}"
                );
            }
        }
    }

    #[test]
    fn damage_is_refused_and_never_read_past_the_end() {
        let whole = index(2, 20, &[".a/b", "c"]);
        for end in 0..whole.len() {
            // Where what is left looks like a hash, all entries were there.
            let read = hidden_paths(&whole[..end]);
            let all = Ok(vec![PathBuf::from(".a/b")]);
            assert!(read.is_err() || read == all, "{end}");
        }
        let mut many = whole.clone();
        many[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(hidden_paths(&many), Err(IndexFault::NotAnIndex));
        let mut newer = whole.clone();
        newer[7] = 9;
        assert_eq!(hidden_paths(&newer), Err(IndexFault::Unknown));
        let split = whole.windows(4).position(|four| four == b"TREE").unwrap();
        let mut other = whole.clone();
        other[split..split + 4].copy_from_slice(b"link");
        assert_eq!(hidden_paths(&other), Err(IndexFault::Unknown));
        // A prefix that is longer than the path before.
        let mut cut = index(4, 20, &["a", ".b"]);
        let at = 12 + STAT_BYTES + 20 + 2;
        cut[at] = 100;
        assert_eq!(hidden_paths(&cut), Err(IndexFault::NotAnIndex));
    }
}
