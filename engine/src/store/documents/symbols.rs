//! Symbols of a program: table `symbols`.
//!
//! Its row is the list of them as columns of varints, which zstd makes smaller where that pays. The outline of the
//! program follows from it, so it has no row in table `outline`. A row alone is small, so a file that is written
//! whole has a dictionary for all of them, under a number that no document has.

mod fields;
mod nested;
mod record;
mod stored;

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "ingest")]
use zstd::bulk::Compressor;

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::{Key, Snapshot, Table};
use crate::error::{Error, Result};
use crate::store::tables;
use crate::types::syntax::nesting;
use crate::types::{DocumentId, Symbol};

pub use record::encode;
#[cfg(feature = "ingest")]
pub use record::sample_of;
#[cfg(test)]
pub use record::stored_in_each_version;
pub use stored::StoredSymbols;

/// Key of the dictionary: documents are numbered from 1.
const DICTIONARY_KEY: u64 = 0;

/// The key of the first document.
pub const FIRST_DOCUMENT_KEY: u64 = DICTIONARY_KEY + 1;

/// Level 9 takes a third more time than 3 and 4 % fewer bytes.
#[cfg(feature = "ingest")]
const ZSTD_LEVEL: i32 = 9;

/// Of rows that are written once, to be read for long: 3 % fewer bytes than level 9.
#[cfg(feature = "ingest")]
const BEST_ZSTD_LEVEL: i32 = 19;

/// Writes the symbols of a document in the place of older ones; a document without symbols has no row.
///
/// # Errors
/// [`Error::TooLarge`] for more than 16 MiB; what storage says.
#[cfg(feature = "ingest")]
pub fn put(transaction: &mut Transaction<'_>, id: DocumentId, symbols: &[Symbol]) -> Result<()> {
    if symbols.is_empty() {
        return remove(transaction, id);
    }
    let mut compressor = compressor(ZSTD_LEVEL, &[])?;
    let row = record::row(symbols, &mut compressor, false)?;
    transaction.put(tables::SYMBOLS, Key::U64(u64::from(id.0)), &row)
}

#[cfg(feature = "ingest")]
fn compressor(level: i32, dictionary: &[u8]) -> Result<Compressor<'static>> {
    let make = || {
        let mut compressor = Compressor::with_dictionary(level, dictionary)?;
        // The row says how long the body is, and there is one dictionary.
        compressor.include_contentsize(false)?;
        compressor.include_dictid(false)?;
        Ok(compressor)
    };
    make().map_err(Error::storage)
}

/// Writes the symbols of a file that is written whole.
#[cfg(feature = "ingest")]
pub struct SymbolsWriter {
    compressor: Compressor<'static>,
    has_dictionary: bool,
}

#[cfg(feature = "ingest")]
impl std::fmt::Debug for SymbolsWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SymbolsWriter")
            .field("has_dictionary", &self.has_dictionary)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "ingest")]
impl SymbolsWriter {
    /// Stores the dictionary, unless it is empty, for the rows that follow.
    ///
    /// # Errors
    /// What storage says.
    pub fn new(transaction: &mut Transaction<'_>, dictionary: &[u8]) -> Result<SymbolsWriter> {
        let has_dictionary = !dictionary.is_empty();
        if has_dictionary {
            let row = record::dictionary_row(dictionary);
            transaction.put(tables::SYMBOLS, Key::U64(DICTIONARY_KEY), &row)?;
        }
        Ok(SymbolsWriter {
            compressor: compressor(BEST_ZSTD_LEVEL, dictionary)?,
            has_dictionary,
        })
    }

    /// Writes the symbols of a document that has no row yet; none for a document without symbols.
    ///
    /// # Errors
    /// As [`put`].
    pub fn put(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        symbols: &[Symbol],
    ) -> Result<()> {
        if symbols.is_empty() {
            return Ok(());
        }
        let row = record::row(symbols, &mut self.compressor, self.has_dictionary)?;
        transaction.put(tables::SYMBOLS, Key::U64(u64::from(id.0)), &row)
    }
}

/// Removes the symbols of a document.
#[cfg(feature = "ingest")]
pub fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    transaction
        .remove(tables::SYMBOLS, Key::U64(u64::from(id.0)))
        .map(|_| ())
}

/// Table `symbols` in one commit.
#[derive(Debug, Clone)]
pub struct SymbolsTable {
    /// None before the first program with symbols, and in files before 0.9.
    table: Option<Table>,
    /// What its rows may refer to, once one that does was read.
    dictionary: Arc<OnceLock<Vec<u8>>>,
}

impl SymbolsTable {
    /// Finds the table.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<SymbolsTable> {
        let table = snapshot.table(tables::SYMBOLS)?;
        Ok(SymbolsTable {
            table,
            dictionary: Arc::default(),
        })
    }

    /// The symbols of a document whose text has `text_bytes`, in the order in which they begin; empty when it has
    /// none. As [`stored`](SymbolsTable::stored), and copies of all their texts.
    ///
    /// # Errors
    /// As [`stored`](SymbolsTable::stored).
    pub fn get(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        text_bytes: u32,
    ) -> Result<Vec<Symbol>> {
        let symbols = self.stored(snapshot, id, text_bytes)?;
        Ok(symbols.to_symbols())
    }

    /// The same symbols without copies of their texts, for those who look at a few of them. A look-up and about
    /// 0.03 microseconds a symbol.
    ///
    /// # Errors
    /// [`Error::Damaged`] where they are not as [`nesting::fault`] wants them.
    pub fn stored(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        text_bytes: u32,
    ) -> Result<StoredSymbols> {
        let Some(table) = &self.table else {
            return Ok(StoredSymbols::default());
        };
        let Some(row) = snapshot.get(table, Key::U64(u64::from(id.0)))? else {
            return Ok(StoredSymbols::default());
        };
        let symbols = record::decode(&row, || self.dictionary(snapshot))?;
        match nesting::fault(symbols.iter(), text_bytes) {
            Some(fault) => Err(Error::damaged(format!("document {}: {fault}", id.0))),
            None => Ok(symbols),
        }
    }

    /// Whether a document has symbols.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    #[cfg(feature = "ingest")]
    pub fn contains(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<bool> {
        match &self.table {
            Some(table) => Ok(snapshot.get(table, Key::U64(u64::from(id.0)))?.is_some()),
            None => Ok(false),
        }
    }

    /// What rows may refer to; empty when the table has nothing of the kind.
    ///
    /// # Errors
    /// [`Error::Damaged`] where it is no dictionary.
    pub fn dictionary(&self, snapshot: &Snapshot<'_>) -> Result<&[u8]> {
        if let Some(dictionary) = self.dictionary.get() {
            return Ok(dictionary);
        }
        let row = match &self.table {
            Some(table) => snapshot.get(table, Key::U64(DICTIONARY_KEY))?,
            None => None,
        };
        let read = row.map_or(Ok(Vec::new()), |row| record::dictionary(&row))?;
        Ok(self.dictionary.get_or_init(|| read))
    }

    /// Whether a document of the file has symbols.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn has_any(&self, snapshot: &Snapshot<'_>) -> Result<bool> {
        let Some(table) = &self.table else {
            return Ok(false);
        };
        let mut has_any = false;
        snapshot.range(table, Key::U64(FIRST_DOCUMENT_KEY), |_, _| {
            has_any = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(has_any)
    }
}
