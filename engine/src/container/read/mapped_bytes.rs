//! Bytes of a file that stay mapped after the request that found them.

use std::sync::Arc;

use crate::container::layout::commit_slot::CommitSlot;
use crate::container::read::map::HasMap;

/// Bytes of a file in place. They stay readable as long as this value lives, also when the file is closed, replaced or
/// deleted. They belong to one commit as long as [`MappedBytes::is_current`] returns true.
#[derive(Clone)]
pub struct MappedBytes {
    /// Keeps the map.
    file: Arc<dyn HasMap>,
    /// The commit that refers to the bytes.
    slot: CommitSlot,
    /// Where they begin in the map.
    offset_bytes: u64,
    /// How many they are.
    len_bytes: u64,
}

impl std::fmt::Debug for MappedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MappedBytes")
            .field("offset_bytes", &self.offset_bytes)
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}

impl MappedBytes {
    /// `None` when `bytes` is no part of the map of `file`.
    pub(crate) fn new(
        file: &Arc<dyn HasMap>,
        slot: CommitSlot,
        bytes: &[u8],
    ) -> Option<MappedBytes> {
        let map = file.map();
        let whole = map.slice(0, map.len())?;
        // Compared by address: `bytes` may as well be a slice of another map or of the heap, which
        // has no offset here.
        let offset = bytes.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
        let end = offset.checked_add(bytes.len())?;
        (end <= whole.len()).then(|| MappedBytes {
            file: Arc::clone(file),
            slot,
            offset_bytes: offset as u64,
            len_bytes: bytes.len() as u64,
        })
    }

    /// The bytes. A writer in another process may change them once the commit is no longer kept.
    pub fn as_slice(&self) -> &[u8] {
        let map = self.file.map();
        map.slice(self.offset_bytes, self.len_bytes)
            .unwrap_or_default()
    }

    /// Whether the bytes are still those of the commit: it is the newest, or the writer retains it for readers.
    pub fn is_current(&self) -> bool {
        self.slot.is_valid(self.file.map())
    }
}
