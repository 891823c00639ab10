//! Bytes that wait in a file without a name, where memory would grow with them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};

use crate::container::write::disk::{create_new, read_at, write_at};

/// Bytes of one write, and of one read of items in sequence.
// 1 MiB makes a system call cheap beside the copy of its bytes; two buffers of it are all the
// memory of a spool.
const BUFFER_BYTES: usize = 1 << 20;

/// Names that are tried for the file.
// One process has a few spools. A thousand taken names mean that something else fails, such as a
// full folder.
const MAX_NAMES: u32 = 1000;

/// A temporary file that is its owner's alone and has lost its name already: it is gone with the process, however
/// that ends.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    /// The name that it had, for errors.
    path: PathBuf,
    /// Bytes in the file.
    len: u64,
    /// Bytes that come after them.
    tail: Vec<u8>,
    /// What was read last.
    read: Vec<u8>,
    /// Where that begins.
    read_start: u64,
}

impl Spool {
    /// An empty one in the folder of the file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn beside(path: &Path) -> Result<Spool> {
        let mut tries = 0;
        loop {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}-{tries}.tmp", std::process::id()));
            let path = path.with_file_name(name);
            match create_new(&path) {
                Ok(file) => {
                    // Removed while it is open, so the space is freed when the process ends, even
                    // by SIGKILL.
                    fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
                    return Ok(Spool {
                        file,
                        path,
                        len: 0,
                        tail: Vec::new(),
                        read: Vec::new(),
                        read_start: 0,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MAX_NAMES => {
                    tries += 1;
                }
                Err(error) => return Err(Error::io("create", path, error)),
            }
        }
    }

    /// Appends bytes, which reach the file in pieces of [`BUFFER_BYTES`].
    ///
    /// # Errors
    /// [`Error::Io`] when the disk refuses.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let written = write_at(&self.file, &self.tail, self.len);
        written.map_err(|source| Error::io("write", &self.path, source))?;
        self.len += self.tail.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// `len` bytes from `offset`. In sequence many are read at once.
    ///
    /// # Errors
    /// [`Error::Io`], also when there are not so many.
    pub(crate) fn read(&mut self, offset: u64, len: usize) -> Result<&[u8]> {
        if !self.tail.is_empty() {
            self.flush()?;
        }
        let in_read = |spool: &Spool| {
            let start = usize::try_from(offset.checked_sub(spool.read_start)?).ok()?;
            let end = start.checked_add(len)?;
            (end <= spool.read.len()).then_some(start..end)
        };
        if in_read(self).is_none() {
            let follows = offset == self.read_start + self.read.len() as u64;
            let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
            // Whole items, as far as they are of one length.
            let many = BUFFER_BYTES / len.max(1) * len;
            let wanted = if follows {
                many.min(left).max(len)
            } else {
                len
            };
            self.read.resize(wanted, 0);
            self.read_start = offset;
            let read = read_at(&self.file, &mut self.read, offset);
            read.map_err(|source| Error::io("read", &self.path, source))?;
        }
        let range = in_read(self).unwrap_or_default();
        Ok(self.read.get(range).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_in_any_order_and_no_name_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::beside(&folder.path().join("a.kb")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let item = |number: u32| number.to_le_bytes().repeat(25);
        for number in 0..40_000 {
            spool.append(&item(number)).unwrap();
        }
        let order = (0..40_000).chain((0..40_000).rev().step_by(7));
        for number in order.chain([5, 39_999, 0]) {
            let read = spool.read(u64::from(number) * 100, 100).unwrap();
            assert!(read == item(number), "{number}");
        }
        spool.append(&[7; 3]).unwrap();
        assert_eq!(spool.read(4_000_000, 3).unwrap(), [7; 3]);
        assert_eq!(spool.read(4_000_000, 4).unwrap_err().code(), "IO");
    }
}
