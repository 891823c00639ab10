//! Which files of roots index runs take: row `selection` of table `kb`.

use kb_types::error::Result;
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, Snapshot};
use crate::store::tables;

const SELECTION_VERSION: u8 = 1;

/// Which files of one root are taken, where it is not the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub(crate) struct RootSelection {
    /// Number of the root.
    pub root: u32,
    /// Whether hidden files and folders are taken in that git does not track.
    pub hidden: bool,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Patterns of which a file must match one; none: every file is taken.
    pub include: Vec<String>,
    /// Patterns of files and folders that are left out.
    pub exclude: Vec<String>,
}

impl RootSelection {
    /// Whether it says no more than a root without a selection.
    pub(crate) fn is_default(&self) -> bool {
        let nothing = RootSelection {
            root: self.root,
            ..RootSelection::default()
        };
        *self == nothing
    }
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct SelectionRecord {
    roots: Vec<RootSelection>,
}

/// Reads the row: no selection where there is none.
///
/// # Errors
/// [`crate::Error::Damaged`] when it does not decode.
pub(crate) fn read(snapshot: &Snapshot<'_>) -> Result<Vec<RootSelection>> {
    let Some(table) = snapshot.table(tables::KB)? else {
        return Ok(Vec::new());
    };
    let Some(row) = snapshot.get(&table, Key::Str(tables::KB_SELECTION))? else {
        return Ok(Vec::new());
    };
    let record: SelectionRecord = decode_record("row selection", SELECTION_VERSION, &row)?;
    Ok(record.roots)
}

/// Writes the row, or removes it where nothing is selected.
#[cfg(feature = "ingest")]
pub(crate) fn write(transaction: &mut Transaction<'_>, roots: &[RootSelection]) -> Result<()> {
    if roots.is_empty() {
        let removed = transaction.remove(tables::KB, Key::Str(tables::KB_SELECTION));
        return removed.map(|_| ());
    }
    let record = SelectionRecord {
        roots: roots.to_vec(),
    };
    let row = encode_record(SELECTION_VERSION, &record)?;
    transaction.put(tables::KB, Key::Str(tables::KB_SELECTION), &row)
}
