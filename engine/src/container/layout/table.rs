//! Tables of redb: their definitions and their keys.

use std::cmp::Ordering;

use kb_types::error::{Error, Result};

use crate::container::layout::codec::{u8_at, u32_at, u64_at};
use crate::container::layout::page::Root;

/// Longest key.
// A path is at most 16 KiB (docs/limits.md), and paths are the longest keys. A branch page repeats
// keys, so longer ones would make trees high.
pub const MAX_KEY_BYTES: usize = 16 << 10;

/// Longest value. What is larger belongs into extents.
// A value is copied to the heap when it is read. 16 MiB bounds what one lookup in a hostile file
// can allocate.
pub const MAX_VALUE_BYTES: usize = 16 << 20;

/// Width of keys and values of a table; `None`: each has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Widths {
    /// Bytes of a key.
    pub(crate) key: Option<usize>,
    /// Bytes of a value.
    pub(crate) value: Option<usize>,
}

/// How the keys of a table are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// u64, by value.
    U64,
    /// Text, by bytes.
    Str,
    /// Bytes.
    Bytes,
    /// A type that we never write.
    Other,
}

/// A key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// Ordered by value.
    U64(u64),
    /// Ordered by UTF-8 bytes.
    Str(&'a str),
    /// Ordered bytewise.
    Bytes(&'a [u8]),
}

impl Key<'_> {
    /// Bytes of the stored key.
    pub(crate) fn len_bytes(self) -> usize {
        match self {
            Key::U64(_) => 8,
            Key::Str(text) => text.len(),
            Key::Bytes(bytes) => bytes.len(),
        }
    }

    pub(crate) fn kind(self) -> KeyKind {
        match self {
            Key::U64(_) => KeyKind::U64,
            Key::Str(_) => KeyKind::Str,
            Key::Bytes(_) => KeyKind::Bytes,
        }
    }

    /// Order of a stored key relative to this one.
    pub(crate) fn compare_stored(self, stored: &[u8]) -> Result<Ordering> {
        Ok(match self {
            Key::U64(number) => u64_at(stored, 0)?.cmp(&number),
            Key::Str(text) => stored.cmp(text.as_bytes()),
            Key::Bytes(bytes) => stored.cmp(bytes),
        })
    }
}

/// What the file says of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its tree; `None` when it is empty.
    pub(crate) root: Option<Root>,
    /// Width of keys and values.
    pub(crate) widths: Widths,
    /// Order of keys.
    pub(crate) key_kind: KeyKind,
}

impl Table {
    /// Number of pairs.
    pub fn len(&self) -> u64 {
        self.root.map_or(0, |root| root.length)
    }

    /// The tree of table names.
    pub(crate) fn of_names(root: Option<Root>) -> Table {
        Table {
            root,
            widths: Widths::default(),
            key_kind: KeyKind::Str,
        }
    }

    /// Reads a table definition: type, length, root, widths, alignments, type names.
    pub(crate) fn from_definition(name: &str, definition: &[u8]) -> Result<Table> {
        // Offsets of redb's table definition (`tree_store/table_tree_base.rs`): type at 0, length
        // at 1, root at 9, key width at 42, value width at 47, alignments at 52 and 56, length of
        // the key type's name at 60, names from 64.
        let width = |offset: usize| -> Result<Option<usize>> {
            let width = u32_at(definition, offset + 1)?;
            Ok((u8_at(definition, offset)? != 0).then_some(width as usize))
        };
        // 3 is a plain table of file format 3; 4 would be a multimap, which we never write.
        if u8_at(definition, 0)? != 3 {
            return Err(Error::damaged(format!("table {name:?} is no plain table")));
        }
        let root = match u8_at(definition, 9)? {
            0 => None,
            _ => Some(Root::at(definition, 10)?),
        };
        let widths = Widths {
            key: width(42)?,
            value: width(47)?,
        };
        let key_type_len = u32_at(definition, 60)? as usize;
        let key_type = definition
            .get(64..)
            .and_then(|rest| rest.get(..key_type_len));
        let key_kind = match (key_type, widths.key) {
            // redb puts a byte 1 before the names of its own types and 2 before those of users.
            (Some(b"\x01u64"), Some(8)) => KeyKind::U64,
            (Some(b"\x01&str"), None) => KeyKind::Str,
            (Some(b"\x01&[u8]"), None) => KeyKind::Bytes,
            _ => KeyKind::Other,
        };
        Ok(Table {
            root,
            widths,
            key_kind,
        })
    }

    /// # Errors
    /// [`Error::Damaged`] when the table has keys of another type.
    pub(crate) fn check_key(&self, key: Key<'_>) -> Result<()> {
        // Comparing keys by another order would lead down a wrong branch and report a key as
        // missing.
        if self.key_kind == key.kind() {
            return Ok(());
        }
        Err(Error::damaged(format!(
            "a table has keys of kind {:?} where {:?} is expected",
            self.key_kind,
            key.kind()
        )))
    }
}
