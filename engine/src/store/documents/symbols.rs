//! Symbols of a program: table `symbols`.
//!
//! Its row is the list of them as columns of varints, which zstd makes smaller where that pays. The outline of the
//! program follows from it, so it has no row in table `outline`.

mod record;

use std::ops::ControlFlow;

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::{Key, Snapshot, Table};
use crate::error::{Error, Result};
use crate::store::tables;
use crate::types::syntax::nesting;
use crate::types::{DocumentId, Symbol};

pub use record::encode;

/// Writes the symbols of a document in the place of older ones; a document without symbols has no row.
///
/// # Errors
/// [`Error::TooLarge`] for more than 16 MiB; what storage says.
#[cfg(feature = "ingest")]
pub fn put(transaction: &mut Transaction<'_>, id: DocumentId, symbols: &[Symbol]) -> Result<()> {
    if symbols.is_empty() {
        return remove(transaction, id);
    }
    let row = record::compress(&encode(symbols)?)?;
    transaction.put(tables::SYMBOLS, Key::U64(u64::from(id.0)), &row)
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
}

impl SymbolsTable {
    /// Finds the table.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<SymbolsTable> {
        let table = snapshot.table(tables::SYMBOLS)?;
        Ok(SymbolsTable { table })
    }

    /// The symbols of a document whose text has `text_bytes`, in the order in which they begin; empty when it has
    /// none. A look-up and about 0.1 microseconds a symbol.
    ///
    /// # Errors
    /// [`Error::Damaged`] where they are not as [`nesting::fault`] wants them.
    pub fn get(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        text_bytes: u32,
    ) -> Result<Vec<Symbol>> {
        let Some(table) = &self.table else {
            return Ok(Vec::new());
        };
        let Some(row) = snapshot.get(table, Key::U64(u64::from(id.0)))? else {
            return Ok(Vec::new());
        };
        let symbols = record::decode(&row)?;
        match nesting::fault(&symbols, text_bytes) {
            Some(fault) => Err(Error::damaged(format!("document {}: {fault}", id.0))),
            None => Ok(symbols),
        }
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
        snapshot.range(table, Key::U64(0), |_, _| {
            has_any = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(has_any)
    }
}
