//! The bytes of a .kb: a memory map of the file, or memory of our own.
//!
//! A writer in another process may change mapped bytes while they are read. There are two ways to read them:
//!
//! * [`Map::copy`] for everything that decides where to read next: pages of the tree, header, writer
//!   record, signature. The bytes are read once each, as volatile words, into memory of this process;
//!   what a change has torn fails the checksum that is taken over the copy.
//! * [`Map::slice`] for extents, which are too large to copy. A writer changes a page only after no protected
//!   commit refers to it, so the bytes are stable while an answer can still count. A reader can be overtaken: its
//!   commit is no longer retained, or its writer died and another one began. Then it may look at bytes that change.
//!   When it has finished, the commit slot and the writer record show this, and the reader discards the answer.
//!
//! The second way is outside of what the language promises. `&[u8]` says that nobody changes the bytes, and the
//! compiler may read a byte twice and assume equal values. Every program that maps files which others may write relies
//! on what compilers do with plain bytes (see the documentation of `memmap2`; ripgrep and LMDB made the same choice).
//! Four rules keep the risk small:
//!
//! * Borrowed bytes are only ever numbers. Types with invalid values are made from a checked copy.
//! * An index or a length that comes from borrowed bytes is bounded where it is used.
//! * Nothing is done with a result before the snapshot is confirmed.
//! * The one library that reads borrowed bytes is zstd, whose decoder checks every length and offset.
//!
//! So a change costs a wrong number in an answer that is discarded.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Where the bytes of a container are.
pub(crate) enum Map {
    /// Memory of this process; nobody changes it.
    Bytes(Arc<[u8]>),
    /// A file that a writer may change and lengthen. The map itself makes no reference to its bytes.
    File(memmap2::MmapRaw),
}

/// What owns a map, as a file that is open: bytes of it can be kept for as long as the owner is.
pub(crate) trait HasMap: std::fmt::Debug + Send + Sync {
    /// The map.
    fn map(&self) -> &Map;
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
    ///
    /// A foreign program that truncates the file ends this process with SIGBUS when it reads what is
    /// gone; our writer takes back only room at its end that no commit ever used, which no reader looks at.
    pub(crate) fn of_file(file: &File) -> io::Result<Map> {
        // Mapping zero bytes is an error on most systems.
        if file.metadata()?.len() == 0 {
            return Ok(Map::Bytes(Arc::from([])));
        }
        let map = memmap2::MmapOptions::new().map_raw_read_only(file)?;
        // A search reads a few places anywhere in the file. With the system's read-ahead (8 MiB
        // here) a cold search of an 876 MB file read 475 MB in 0.4 s; without it, and with
        // requested extents, 12 MB in 24 ms (docs/decisions/02-page-extents.md). An error of the
        // call costs time only.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Random);
        Ok(Map::File(map))
    }

    /// Says whether the whole map is going to be read in order: then the system reads ahead by itself.
    pub(crate) fn reads_in_order(&self, in_order: bool) {
        #[cfg(unix)]
        if let Map::File(map) = self {
            // An error costs time, nothing else.
            let _ = map.advise(if in_order {
                memmap2::Advice::Normal
            } else {
                memmap2::Advice::Random
            });
        }
        #[cfg(not(unix))]
        let _ = in_order;
    }

    /// Has the system read `len` bytes at `offset` ahead, without waiting for it, where they are not in memory.
    /// Takes about a microsecond.
    pub(crate) fn will_read(&self, offset: u64, len: u64) {
        #[cfg(unix)]
        if let Map::File(map) = self
            && let (Ok(start), Ok(len)) = (usize::try_from(offset), usize::try_from(len))
            // The kernel would answer a range beyond the map with an error; the call is saved.
            && start.checked_add(len).is_some_and(|end| end <= map.len())
        {
            // What is not read ahead is read when it is needed.
            let _ = map.advise_range(memmap2::Advice::WillNeed, start, len);
        }
        #[cfg(not(unix))]
        let _ = (offset, len);
    }

    /// Whether another process may change the bytes.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Map::File(_))
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Map::Bytes(bytes) => bytes.len() as u64,
            Map::File(map) => map.len() as u64,
        }
    }

    /// `len` bytes at `offset` in place; `None` when they lie outside. See the top of this file for
    /// what may be done with them.
    pub(crate) fn slice(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        // On a 32-bit system an offset of the file may not fit `usize`: then the bytes are not
        // mapped either.
        let end = usize::try_from(offset.checked_add(len)?).ok()?;
        match self {
            Map::Bytes(bytes) => bytes.get(start..end),
            Map::File(map) => {
                let inside = start <= end && end <= map.len();
                // SAFETY: the range lies in the map, which is readable as long as `self` is borrowed,
                // and any byte is a valid `u8`. That nobody changes the bytes holds while the commit
                // that refers to them is protected; the top of this file says what is done, and what
                // is not promised, when it no longer is.
                inside.then(|| unsafe {
                    std::slice::from_raw_parts(map.as_ptr().add(start), end - start)
                })
            }
        }
    }

    /// A copy of `len` bytes at `offset`; `None` when they lie outside. Another process may tear it:
    /// only a checksum over the copy tells.
    pub(crate) fn copy(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        let start = usize::try_from(offset).ok()?;
        let len = usize::try_from(len).ok()?;
        let end = start.checked_add(len)?;
        let map = match self {
            Map::Bytes(bytes) => return bytes.get(start..end).map(<[u8]>::to_vec),
            Map::File(map) if end > map.len() => return None,
            Map::File(map) => map,
        };
        let mut copy = Vec::with_capacity(len);
        // SAFETY: `start..end` lies in the map, which is readable while `self` is borrowed, and `copy`
        // has room for `len` bytes, in another allocation. No reference to the mapped bytes is made,
        // and every one of them is read once, by a volatile read, which the compiler can neither
        // repeat nor take for one of memory that holds still. A word that is torn is a word like any
        // other.
        unsafe {
            volatile_copy(map.as_ptr().add(start), copy.as_mut_ptr(), len);
            copy.set_len(len);
        }
        // What is read next must not be older than this copy.
        fence(Ordering::Acquire);
        Some(copy)
    }
}

/// Copies `len` bytes, reading each of them once.
///
/// # Safety
/// `source` must be readable and `target` writable for `len` bytes; the two must not overlap.
unsafe fn volatile_copy(source: *const u8, target: *mut u8, len: usize) {
    const WORD: usize = size_of::<u64>();
    // Words that are written at once: a checksum that follows reads larger pieces than a word, and
    // would wait for single ones.
    const BLOCK: usize = 8;
    // Whole words from where the source is aligned to them: everywhere but for a few bytes of the
    // header.
    // Volatile reads of u64 must be aligned.
    let before = source.align_offset(WORD).min(len);
    let words = (len - before) / WORD;
    let after = before + words * WORD;
    // SAFETY: all offsets are below `len`, for which the caller answers, and `source` is aligned to
    // words after the first bytes.
    unsafe {
        // At most 7 bytes at either end.
        for at in (0..before).chain(after..len) {
            target.add(at).write(source.add(at).read_volatile());
        }
        let from = source.add(before).cast::<u64>();
        let to = target.add(before).cast::<u64>();
        let in_blocks = words - words % BLOCK;
        for first in (0..in_blocks).step_by(BLOCK) {
            let block: [u64; BLOCK] =
                std::array::from_fn(|at| from.add(first + at).read_volatile());
            // `target` is a `Vec<u8>`, which need not be aligned to words.
            to.add(first).cast::<[u64; BLOCK]>().write_unaligned(block);
        }
        for word in in_blocks..words {
            to.add(word).write_unaligned(from.add(word).read_volatile());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_outside_are_refused_without_overflow() {
        let map = Map::Bytes(Arc::from([1, 2, 3]));
        assert_eq!(map.slice(1, 2), Some(&[2, 3][..]));
        assert_eq!(map.copy(3, 0), Some(vec![]));
        for (offset, len) in [(2, 2), (4, 0), (u64::MAX, 1), (1, u64::MAX)] {
            assert_eq!(map.slice(offset, len), None);
            assert_eq!(map.copy(offset, len), None);
        }
    }

    #[test]
    fn an_empty_file_is_no_bytes_instead_of_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Map::of_file(&file).unwrap().len(), 0);
    }

    #[test]
    fn bytes_of_a_file_are_copied_and_borrowed_from_anywhere() {
        let bytes: Vec<u8> = (0..9000u32).map(|n| (n * 7 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let map = Map::of_file(&file).unwrap();
        assert!(map.is_shared());
        for start in (0..20).chain(4090..4100).chain(8980..9001) {
            for len in (0..20).chain(60..150).chain([4096]) {
                let expected = bytes.get(start..start + len);
                let (at, many) = (start as u64, len as u64);
                assert_eq!(map.copy(at, many).as_deref(), expected, "{start} {len}");
                assert_eq!(map.slice(at, many), expected, "{start} {len}");
            }
        }
        for (offset, len) in [(u64::MAX, 1), (1, u64::MAX), (9000, 1)] {
            assert_eq!(map.slice(offset, len), None);
            assert_eq!(map.copy(offset, len), None);
        }
    }
}
