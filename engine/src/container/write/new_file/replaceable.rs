//! Whether a new .kb may take the place of what is at its path: of nothing, of an empty file, of
//! another .kb; never of anything else, and of nothing that would be lost without a word.

use std::fs::{File, Metadata};
use std::path::Path;

use kb_types::error::{Error, Result};

use crate::container::layout::commit_slot::{CommitSlot, REDB_MAGIC};
use crate::container::layout::signature::{BLOCK, HEADER_KEY, HEADER_TABLE, Signature};
use crate::container::layout::table::Key;
use crate::container::read::map::Map;
use crate::container::read::snapshot::Snapshot;

/// # Errors
/// [`Error::NotAKb`] when there is something at `path` that is no .kb; [`Error::NotReplaceable`] when
/// it is a .kb that cannot be told from another program's file, or has names that would keep the old
/// content.
pub(crate) fn check_replaceable(path: &Path, file: &File) -> Result<()> {
    let opening = |source| Error::io("open", path, source);
    let metadata = file.metadata().map_err(opening)?;
    if !metadata.is_file() {
        return Err(Error::NotAKb {
            reason: "a folder or a device is where the .kb shall be",
        });
    }
    let refused = |reason: String| {
        let path = path.to_owned();
        Err(Error::NotReplaceable { path, reason })
    };
    match ownership(&Map::of_file(file).map_err(opening)?) {
        Ownership::Empty | Ownership::Kb => {}
        Ownership::Foreign => {
            return Err(Error::NotAKb {
                reason: "another file is where the .kb shall be, and would be lost",
            });
        }
        Ownership::Unclear => {
            return refused(
                "its signature is damaged, so it may be the file of another program".to_owned(),
            );
        }
    }
    // A rename replaces one name. Backup tools and `cp -l` make further names, whose readers would
    // miss the new content.
    match link_count(&metadata) {
        0 | 1 => Ok(()),
        links => refused(format!(
            "it has {links} names (hard links), and the others would keep the old content"
        )),
    }
}

/// Whose file is at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    /// It is empty.
    Empty,
    /// A .kb, perhaps of a newer format or damaged elsewhere.
    Kb,
    /// A database with something where a .kb has its signature.
    Unclear,
    /// Anything else.
    Foreign,
}

fn ownership(map: &Map) -> Ownership {
    if map.len() == 0 {
        return Ownership::Empty;
    }
    let block = map.copy(BLOCK.start as u64, BLOCK.len() as u64);
    let block = block.and_then(|block| <[u8; BLOCK.end - BLOCK.start]>::try_from(block).ok());
    let of_block = block.as_ref().map(Signature::from_block);
    // A block of a format that this program cannot read is whole all the same.
    let has_signature = matches!(
        of_block,
        Some(Ok(Some(_)) | Err(Error::FormatUnsupported { .. }))
    );
    if has_signature || has_header_row(map) {
        return Ownership::Kb;
    }
    let is_redb = map
        .slice(0, REDB_MAGIC.len() as u64)
        .is_some_and(|magic| magic == REDB_MAGIC);
    // redb itself leaves these bytes zero.
    let has_block = block.is_some_and(|block| {
        Signature::looks_like_block(&block) || is_redb && block.iter().any(|byte| *byte != 0)
    });
    if has_block {
        Ownership::Unclear
    } else {
        Ownership::Foreign
    }
}

/// Whether the authoritative copy of the signature is in the tables.
fn has_header_row(map: &Map) -> bool {
    let row = || -> Result<Option<Vec<u8>>> {
        let snapshot = Snapshot::new(map, CommitSlot::read(map)?, 0);
        match snapshot.table(HEADER_TABLE)? {
            Some(table) => snapshot.get(&table, Key::Str(HEADER_KEY)),
            None => Ok(None),
        }
    };
    row().is_ok_and(|row| row.is_some_and(|row| Signature::is_record(&row)))
}

/// Names of a file in its file system.
#[cfg(unix)]
fn link_count(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

/// Not known on Windows.
#[cfg(not(unix))]
fn link_count(_: &Metadata) -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::container::testing::fixture::{build, fill, temp_path};

    #[test]
    fn a_kb_is_told_from_other_files() {
        let (_folder, path) = temp_path();
        build(&path, |transaction| fill(transaction, 1));
        let good = fs::read(&path).unwrap();
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            ownership(&Map::Bytes(bytes.into()))
        };
        assert_eq!(of(&|_| {}), Ownership::Kb);
        assert_eq!(of(&Vec::clear), Ownership::Empty);
        assert_eq!(of(&|bytes| bytes.truncate(10)), Ownership::Foreign);
        // Either copy of the signature is enough, whatever else is damaged.
        assert_eq!(of(&|bytes| bytes[BLOCK].fill(0)), Ownership::Kb);
        assert_eq!(of(&|bytes| bytes[BLOCK.start + 70] ^= 1), Ownership::Kb);
        assert_eq!(of(&|bytes| bytes[..9].fill(0)), Ownership::Kb);
        assert_eq!(of(&|bytes| bytes[1024..].fill(7)), Ownership::Kb);
        // Without either it is not clear.
        let unclear = of(&|bytes| {
            bytes[BLOCK.start + 70] ^= 1;
            bytes[4096..].fill(7);
        });
        assert_eq!(unclear, Ownership::Unclear);
        let newer = of(&|bytes| {
            let block: [u8; 512] = bytes[BLOCK].try_into().unwrap();
            let mut signature = Signature::from_block(&block).unwrap().unwrap();
            signature.major = 9;
            bytes[BLOCK].copy_from_slice(&signature.to_block());
            bytes[4096..].fill(7);
        });
        assert_eq!(newer, Ownership::Kb);
        let foreign = of(&|bytes| {
            bytes[BLOCK].fill(0);
            bytes[4096..].fill(7);
        });
        assert_eq!(foreign, Ownership::Foreign);
        assert_eq!(of(&|bytes| bytes[..1024].fill(b' ')), Ownership::Foreign);
    }
}
