//! A file that is mapped for reading: its bytes, its signature, and which file it is.

use std::fs;
use std::fs::{File, Metadata};
use std::path::Path;

use kb_types::error::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::container::layout::signature::{BLOCK, OLDEST_READABLE, Signature};
use crate::container::read::map::{HasMap, Map};
use crate::container::read::page_cache::PageCache;
use crate::container::read::signature::read_signature;

/// One file under the path, as long as it was when it was mapped.
#[derive(Debug)]
pub(crate) struct MappedFile {
    /// Its bytes.
    pub(crate) map: Map,
    /// Its signature.
    pub(crate) signature: Signature,
    /// Hash of the bytes that the signature was read from.
    pub(crate) block_hash: u64,
    /// Counts the files that the container has followed.
    pub(crate) generation: u64,
    /// The file, to map it again when it has grown, and which file it is; `None` for bytes.
    pub(crate) file: Option<(File, Metadata)>,
    /// Pages of its trees.
    pub(crate) pages: PageCache,
}

impl HasMap for MappedFile {
    fn map(&self) -> &Map {
        &self.map
    }
}

impl MappedFile {
    /// Bytes of the file now. A writer may have made it longer since it was mapped, or taken back room that no
    /// commit uses.
    pub(crate) fn len_now(&self) -> u64 {
        let file = self.file.as_ref();
        let metadata = file.and_then(|(file, _)| file.metadata().ok());
        metadata.map_or(self.map.len(), |metadata| metadata.len())
    }

    /// Whether the signature block changed: a writer announces a new feature there before it uses it.
    pub(crate) fn has_other_signature(&self) -> bool {
        let block = self.map.slice(BLOCK.start as u64, BLOCK.len() as u64);
        block.is_some_and(|block| xxh3_64(block) != self.block_hash)
    }

    pub(crate) fn of_map(
        map: Map,
        generation: u64,
        file: Option<(File, Metadata)>,
        oldest: (u16, u16),
    ) -> Result<MappedFile> {
        let signature = read_signature(&map, oldest)?;
        let block = map
            .slice(BLOCK.start as u64, BLOCK.len() as u64)
            .unwrap_or(&[]);
        // Kept to notice a writer that adds a feature bit: comparing 8 bytes is enough on each
        // request.
        let block_hash = xxh3_64(block);
        Ok(MappedFile {
            map,
            signature,
            block_hash,
            generation,
            file,
            pages: PageCache::default(),
        })
    }

    pub(crate) fn of_path(path: &Path, generation: u64) -> Result<MappedFile> {
        let metadata = fs::metadata(path).map_err(|source| Error::io("open", path, source))?;
        // Opening a pipe would wait for its other end.
        if !metadata.is_file() {
            return Err(Error::NotAKb {
                reason: "it is a folder or a device",
            });
        }
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        MappedFile::of_file(file, path, generation, OLDEST_READABLE)
    }

    /// `path` is for messages; a file of a version before `oldest` is refused.
    pub(crate) fn of_file(
        file: File,
        path: &Path,
        generation: u64,
        oldest: (u16, u16),
    ) -> Result<MappedFile> {
        let mapping = |source| Error::io("map", path, source);
        // Of the open file: another may have taken the name since.
        let metadata = file.metadata().map_err(mapping)?;
        let map = Map::of_file(&file).map_err(mapping)?;
        MappedFile::of_map(map, generation, Some((file, metadata)), oldest)
    }

    /// The file mapped again if it is longer than the map; `None` when it is not, or was opened from
    /// bytes.
    pub(crate) fn remapped(&self, path: &Path) -> Result<Option<MappedFile>> {
        let Some((file, metadata)) = &self.file else {
            return Ok(None);
        };
        let mapping = |source| Error::io("map", path, source);
        let len = file.metadata().map_err(mapping)?.len();
        if len <= self.map.len() {
            return Ok(None);
        }
        Ok(Some(MappedFile {
            // The old map stays for requests that hold it; both maps share the page cache.
            map: Map::of_file(file).map_err(mapping)?,
            signature: self.signature,
            block_hash: self.block_hash,
            generation: self.generation,
            file: Some((file.try_clone().map_err(mapping)?, metadata.clone())),
            pages: PageCache::default(),
        }))
    }
}

/// Whether both describe one file and not two of the same name.
#[cfg(unix)]
pub(crate) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// A mapped file cannot be replaced on Windows.
#[cfg(not(unix))]
pub(crate) fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}
