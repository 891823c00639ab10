//! Symbols of a program: tables `symbols` and `symbol_groups`.
//!
//! Its row is the list of them as columns of varints, which zstd makes smaller where that pays. The outline of the
//! program follows from it, so it has no row in table `outline`. A row alone is small, so a file that is written
//! whole has a dictionary for all of them, under a number that no document has. A long list is divided into groups,
//! each in a row of table `symbol_groups`, so that a hit in a header of 60 000 macros is shown without reading them
//! all.

mod excerpt;
mod fields;
mod groups;
mod nested;
mod record;
mod stored;

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use kb_types::error::{Error, Result};
use kb_types::syntax::nesting;
use kb_types::{DocumentId, Span, Symbol};
#[cfg(feature = "ingest")]
use zstd::bulk::Compressor;

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::u64_at;
use crate::container::{Key, Snapshot, Table};
use crate::store::documents::symbols::fields::damaged;
use crate::store::documents::symbols::groups::{Group, Head, List};
use crate::store::documents::symbols::record::Row;
use crate::store::tables;

pub(crate) use excerpt::Excerpt;
#[cfg(test)]
pub(crate) use excerpt::excerpts_of;
pub(crate) use record::encode;
#[cfg(feature = "ingest")]
pub(crate) use record::sample_of;
#[cfg(test)]
pub(crate) use record::stored;
pub(crate) use stored::StoredSymbols;

/// Key of the dictionary: documents are numbered from 1.
const DICTIONARY_KEY: u64 = 0;

/// The key of the first document.
pub(crate) const FIRST_DOCUMENT_KEY: u64 = DICTIONARY_KEY + 1;

/// Longest list of symbols that is stored whole.
#[cfg(feature = "ingest")]
// Reading a list of 2,048 symbols takes 0.2 ms. Longer ones are divided, so that a lookup reads one
// group.
const MAX_WHOLE_SYMBOLS: usize = 2048;

/// Symbols of a group.
#[cfg(feature = "ingest")]
// With 256 the symbols of the Linux source take a third more, because names repeat over long
// distances.
const GROUP_SYMBOLS: usize = 1024;

/// zstd level of rows in files that change.
#[cfg(feature = "ingest")]
// Level 9 takes a third more time than level 3, and 4 % fewer bytes.
const ZSTD_LEVEL: i32 = 9;

/// zstd level of rows in sealed files.
#[cfg(feature = "ingest")]
// 3 % fewer bytes than level 9. A sealed file is written once.
const BEST_ZSTD_LEVEL: i32 = 19;

/// Writes the symbols of a document in the place of older ones; a document without symbols has no row.
///
/// # Errors
/// [`Error::TooLarge`] for more than 16 MiB; what storage says.
#[cfg(feature = "ingest")]
pub(crate) fn put(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    symbols: &[Symbol],
) -> Result<()> {
    remove(transaction, id)?;
    let mut compressor = compressor(ZSTD_LEVEL, &[])?;
    write(transaction, id, symbols, (&mut compressor, false))
}

/// Writes the rows of a document that has none; none for one without symbols.
#[cfg(feature = "ingest")]
fn write(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    symbols: &[Symbol],
    (compressor, has_dictionary): (&mut Compressor<'_>, bool),
) -> Result<()> {
    if symbols.is_empty() {
        return Ok(());
    }
    let key = Key::U64(u64::from(id.0));
    let is_long = symbols.len() > MAX_WHOLE_SYMBOLS;
    let divided = is_long.then(|| groups::divide(symbols, std::iter::repeat(GROUP_SYMBOLS)));
    let divided = divided.flatten().map(|new| {
        let bodies: Vec<Vec<u8>> = new.iter().map(|group| group.body(symbols)).collect();
        (new, bodies)
    });
    let fits = |bodies: &[Vec<u8>]| {
        bodies.iter().map(Vec::len).sum::<usize>() <= record::MAX_SYMBOLS_BYTES
    };
    let Some((new, bodies)) = divided.filter(|(_, bodies)| fits(bodies)) else {
        let row = record::row(symbols, compressor, has_dictionary)?;
        return transaction.put(tables::SYMBOLS, key, &row);
    };
    let row = groups::row(record::DIVIDED_VERSION, &new);
    transaction.put(tables::SYMBOLS, key, &row)?;
    for (number, body) in (0u32..).zip(&bodies) {
        let row = record::group_row(body, compressor, has_dictionary)?;
        transaction.put(tables::SYMBOL_GROUPS, Key::U64(group_key(id, number)), &row)?;
    }
    Ok(())
}

/// The key of a group of a document.
fn group_key(id: DocumentId, number: u32) -> u64 {
    u64::from(id.0) << 32 | u64::from(number)
}

/// The document that the key of a group belongs to, and the number of the group.
pub(crate) fn owner_of(key: u64) -> (DocumentId, u32) {
    (DocumentId((key >> 32) as u32), key as u32)
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
pub(crate) struct SymbolsWriter {
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
    pub(crate) fn new(
        transaction: &mut Transaction<'_>,
        dictionary: &[u8],
    ) -> Result<SymbolsWriter> {
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
    pub(crate) fn put(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        symbols: &[Symbol],
    ) -> Result<()> {
        let how = (&mut self.compressor, self.has_dictionary);
        write(transaction, id, symbols, how)
    }
}

/// Removes the symbols of a document.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    let key = Key::U64(u64::from(id.0));
    let Some(row) = transaction.get(tables::SYMBOLS, key)? else {
        return Ok(());
    };
    transaction.remove(tables::SYMBOLS, key)?;
    if row.first() == Some(&record::DIVIDED_VERSION) {
        // Also those behind one that is lost.
        let (first, last) = (group_key(id, 0), group_key(id, u32::MAX));
        transaction.remove_numbers(tables::SYMBOL_GROUPS, first..=last)?;
    }
    Ok(())
}

/// Refuses symbols that are not as [`nesting::fault`] wants them.
fn checked(symbols: StoredSymbols, id: DocumentId, text_bytes: u32) -> Result<StoredSymbols> {
    match nesting::fault(symbols.iter(), text_bytes) {
        Some(fault) => Err(Error::damaged(format!("document {}: {fault}", id.0))),
        None => Ok(symbols),
    }
}

/// Tables `symbols` and `symbol_groups` in one commit.
#[derive(Debug, Clone)]
pub struct SymbolsTable {
    /// None before the first program with symbols.
    table: Option<Table>,
    /// None before the first program with symbols in groups.
    groups: Option<Table>,
    /// What the rows of both may refer to, once one that does was read.
    dictionary: Arc<OnceLock<Vec<u8>>>,
}

impl SymbolsTable {
    /// Finds the tables.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<SymbolsTable> {
        Ok(SymbolsTable {
            table: snapshot.table(tables::SYMBOLS)?,
            groups: snapshot.table(tables::SYMBOL_GROUPS)?,
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
        let symbols = match self.row(snapshot, id)? {
            None => return Ok(StoredSymbols::default()),
            Some(Row::Whole(symbols)) => symbols,
            Some(Row::Divided(groups)) => {
                let numbers = 0..groups.len();
                self.read_groups(snapshot, id, &groups, numbers)?.1
            }
        };
        checked(symbols, id, text_bytes)
    }

    /// Those of the same symbols that a byte of `span` can belong to, with all that hold them and others beside them,
    /// and what of the rest an outline of them needs; `None` where they are all. Of a long list one group is read as a
    /// rule, and another for each that begins in `span`: some 0.1 milliseconds each.
    ///
    /// # Errors
    /// As [`stored`](SymbolsTable::stored), of what is read.
    pub fn around(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        text_bytes: u32,
        span: Span,
    ) -> Result<(StoredSymbols, Option<Excerpt>)> {
        let groups = match self.row(snapshot, id)? {
            None => return Ok(Default::default()),
            Some(Row::Whole(symbols)) => return Ok((checked(symbols, id, text_bytes)?, None)),
            Some(Row::Divided(groups)) => groups,
        };
        let numbers = groups::around(&groups, span);
        let (head, symbols) = self.read_groups(snapshot, id, &groups, numbers.clone())?;
        let symbols = checked(symbols, id, text_bytes)?;
        Ok((symbols, Some(Excerpt::new(&groups, numbers, head))))
    }

    /// What the row of a document has; `None` for one without symbols.
    fn row(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Option<Row>> {
        let Some(table) = &self.table else {
            return Ok(None);
        };
        let row = snapshot.get(table, Key::U64(u64::from(id.0)))?;
        let decode = |row: Vec<u8>| record::decode(&row, || self.dictionary(snapshot));
        row.map(decode).transpose()
    }

    /// The symbols of the groups with these numbers, behind those that hold the first one; what the first group says
    /// of places, and each of its symbols.
    fn read_groups(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        groups: &[Group],
        mut numbers: Range<usize>,
    ) -> Result<(Head, StoredSymbols)> {
        let Some(table) = &self.groups else {
            return Err(damaged("lacks a group"));
        };
        let key_of = |number: usize| group_key(id, u32::try_from(number).unwrap_or(u32::MAX));
        let mut list = List::default();
        let mut left = record::MAX_SYMBOLS_BYTES;
        let first = Key::U64(key_of(numbers.start));
        snapshot.range(table, first, |key, row| {
            let Some((number, group)) = numbers.next().and_then(|at| Some((at, groups.get(at)?)))
            else {
                return Ok(ControlFlow::Break(()));
            };
            if u64_at(key, 0)? != key_of(number) {
                return Err(damaged("lacks a group"));
            }
            let dictionary = || self.dictionary(snapshot);
            let (head, symbols) = record::decode_group(row, dictionary, group.symbols, &mut left)?;
            list.push((number, group), head, symbols)?;
            Ok(match numbers.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        if !numbers.is_empty() {
            return Err(damaged("lacks a group"));
        }
        list.finish().ok_or_else(|| damaged("lacks a group"))
    }

    /// How many groups the row of a document has; 0 where it is not divided.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn groups(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<usize> {
        Ok(match self.row(snapshot, id)? {
            Some(Row::Divided(groups)) => groups.len(),
            _ => 0,
        })
    }

    /// What is wrong with what the groups of a document say beside its `symbols`, in a few words.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn fault_of_groups(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        symbols: &[Symbol],
    ) -> Result<Option<&'static str>> {
        let Some(Row::Divided(groups)) = self.row(snapshot, id)? else {
            return Ok(None);
        };
        let sizes = groups.iter().map(|group| group.symbols as usize);
        let Some(expected) = groups::divide(symbols, sizes) else {
            return Ok(Some("its symbols cannot be read in groups"));
        };
        for (number, expected) in expected.iter().enumerate() {
            if groups.get(number) != Some(&expected.group) {
                return Ok(Some("a group of symbols does not lie where its row says"));
            }
            let (head, _) = self.read_groups(snapshot, id, &groups, number..number + 1)?;
            if head != expected.head {
                return Ok(Some("a group of symbols has other numbers or paths"));
            }
        }
        Ok(None)
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
