//! The bytes of a .kb: a memory map of the file, or memory of our own.
//!
//! A writer in another process may change mapped bytes while they are read. Pages of the tree are
//! therefore copied before they are looked at, and their checksum is taken over the copy. Extents
//! are lent in place: who reads them must not index by their content without a bound, and an answer
//! counts only once the snapshot stands.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Where the bytes of a container are.
pub(crate) enum Map {
    /// Memory of this process; nobody changes it.
    Bytes(Arc<[u8]>),
    /// A file that a writer may change and lengthen.
    File(memmap2::Mmap),
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Map::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Map::File(map) => write!(f, "File({})", map.len()),
        }
    }
}

impl Map {
    /// Maps the whole file as long as it is now.
    pub(crate) fn of_file(file: &File) -> io::Result<Map> {
        if file.metadata()?.len() == 0 {
            return Ok(Map::Bytes(Arc::from([])));
        }
        // SAFETY: the map is read-only and owns its range of addresses. Our writer never shortens a
        // file that it did not create under a temporary name, so the range stays backed; a foreign
        // program that truncates the file ends this process with SIGBUS, which the documentation of
        // `Container::open` names. Bytes may change while they are read: see the page above.
        unsafe { memmap2::Mmap::map(file) }.map(Map::File)
    }

    /// Whether another process may change the bytes.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Map::File(_))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Map::Bytes(bytes) => bytes,
            Map::File(map) => map,
        }
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// `len` bytes at `offset` in place; `None` when they lie outside.
    pub(crate) fn lend(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = usize::try_from(offset.checked_add(len)?).ok()?;
        self.bytes().get(start..end)
    }

    /// A copy of `len` bytes at `offset`; `None` when they lie outside. Another process may tear it:
    /// only a checksum over the copy tells.
    pub(crate) fn copy(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        let source = self.lend(offset, len)?;
        let mut copy = Vec::with_capacity(source.len());
        // SAFETY: `source` is readable for its length and `copy` has that capacity, in another
        // allocation. A raw copy makes no promise that the source holds still, and every byte of
        // the target is written before its length is set.
        unsafe {
            std::ptr::copy_nonoverlapping(source.as_ptr(), copy.as_mut_ptr(), source.len());
            copy.set_len(source.len());
        }
        // What is read next must not be older than this copy.
        fence(Ordering::Acquire);
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_outside_are_refused_without_overflow() {
        let map = Map::Bytes(Arc::from([1, 2, 3]));
        assert_eq!(map.lend(1, 2), Some(&[2, 3][..]));
        assert_eq!(map.copy(3, 0), Some(vec![]));
        for (offset, len) in [(2, 2), (4, 0), (u64::MAX, 1), (1, u64::MAX)] {
            assert_eq!(map.lend(offset, len), None);
            assert_eq!(map.copy(offset, len), None);
        }
    }

    #[test]
    fn an_empty_file_is_no_bytes_instead_of_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Map::of_file(&file).unwrap().len(), 0);
    }
}
