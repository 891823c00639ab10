//! The signature of a mapped file.

use kb_types::error::{Error, Result};

use crate::container::layout::codec::array_at;
use crate::container::layout::commit_slot::{CommitSlot, REDB_MAGIC};
use crate::container::layout::signature::{BLOCK, HEADER_KEY, HEADER_TABLE, Signature};
use crate::container::layout::table::Key;
use crate::container::read::map::Map;
use crate::container::read::snapshot::Snapshot;

/// Returns the signature of a mapped file. Three failures are kept apart, because users act differently on each: the
/// file is no .kb, it needs a newer program or is older than `oldest`, or it is damaged.
pub(crate) fn read_signature(map: &Map, oldest: (u16, u16)) -> Result<Signature> {
    let magic = map.slice(0, REDB_MAGIC.len() as u64).unwrap_or(&[]);
    let block = map.copy(BLOCK.start as u64, BLOCK.len() as u64);
    if magic != REDB_MAGIC {
        return match block {
            // Our block behind a foreign start: a .kb whose first bytes were overwritten, not
            // another kind of file.
            Some(block) if Signature::looks_like_block(&block) => {
                Err(Error::damaged("the first bytes of redb's header"))
            }
            _ => Err(Error::NotAKb {
                reason: "the first bytes are not those of a .kb",
            }),
        };
    }
    let block = block.ok_or_else(|| Error::damaged("the file ends inside its first page"))?;
    let from_block = Signature::from_block_since(&array_at(&block, 0)?, oldest)?;
    // Read before the signature is used: a file without a readable slot is refused at opening, not
    // at the first request.
    let slot = CommitSlot::read(map)?;
    match from_block {
        Some(signature) => Ok(signature),
        // The block is a copy for a quick look; a tool that does not know it may lose it.
        None => {
            let snapshot = Snapshot::new(map, slot, 0);
            let record = match snapshot.table(HEADER_TABLE)? {
                Some(table) => snapshot.get(&table, Key::Str(HEADER_KEY))?,
                None => None,
            };
            let record = record.ok_or(Error::NotAKb {
                reason: "a redb file without the header of a .kb",
            })?;
            Signature::from_record_since(&record, oldest)
        }
    }
}
