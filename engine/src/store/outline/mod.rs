//! Headings of a document: table `outline`; of a program, its symbols.

mod section_at;
mod section_path;
mod stored;

use kb_types::error::{Error, Result};
use kb_types::syntax::nesting;
use kb_types::{DocumentId, Heading, Span};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{MAX_SEQUENCE_BYTES, decode_record, encode_record, u32_at};
use crate::container::{Key, MAX_VALUE_BYTES, Snapshot, Table};
use crate::store::decoder::decode_frame;
use crate::store::symbols::SymbolsTable;
use crate::store::tables;

pub(crate) use section_at::{
    SectionAt, section_at, section_name, start_of_parent, starts_within, titles_at,
};
pub use section_path::SectionPath;
pub(crate) use stored::StoredOutline;

const OUTLINE_VERSION: u8 = 1;

/// Version of a row that is the zstd frame of a record.
const PACKED_VERSION: u8 = 2;

/// Bytes before the frame: version and length of the record.
// The length comes before the frame, so a reader takes memory once and refuses a frame that holds
// more.
const PACKED_HEAD_BYTES: usize = 5;

/// zstd level of packed outlines.
#[cfg(feature = "ingest")]
// Level 19 takes 2 % fewer bytes.
const ZSTD_LEVEL: i32 = 9;

/// What a heading takes at most beside its title, in a row and in the memory of a reader.
// An upper bound, checked below: outlines that may exceed the largest value are cut without being
// encoded first.
const MAX_HEADING_OVERHEAD_BYTES: usize = 48;
const _: () = assert!(size_of::<HeadingRecord<'_>>() <= MAX_HEADING_OVERHEAD_BYTES);

#[derive(Debug, SchemaRead, SchemaWrite)]
struct OutlineRecord<'a> {
    headings: Vec<HeadingRecord<'a>>,
}

/// A heading as it is stored.
#[derive(Debug, SchemaRead, SchemaWrite)]
struct HeadingRecord<'a> {
    level: u8,
    title: &'a str,
    start: u32,
    line: u32,
}

/// Refuses headings that no row can hold. Linear in their number; only what is near the limit is
/// encoded.
///
/// # Errors
/// [`Error::TooLarge`].
pub(crate) fn check_size(outline: &[Heading]) -> Result<()> {
    // A bound by addition first: encoding every outline to learn its size would cost as much as
    // writing it.
    let most = |heading: &Heading| heading.title.len() + MAX_HEADING_OVERHEAD_BYTES;
    if outline.iter().map(most).sum::<usize>() < MAX_VALUE_BYTES.min(MAX_SEQUENCE_BYTES) {
        return Ok(());
    }
    let (size, limit) = match encode(outline) {
        Ok(row) if row.len() <= MAX_VALUE_BYTES => return Ok(()),
        Ok(row) => (row.len() as u64, MAX_VALUE_BYTES as u64),
        Err(Error::TooLarge { size, limit, .. }) => (size, limit),
        Err(error) => return Err(error),
    };
    Err(Error::TooLarge {
        what: "its outline".to_owned(),
        size,
        limit,
    })
}

/// Writes the headings of a document in the place of older ones; a document without headings has no
/// row.
#[cfg(feature = "ingest")]
pub fn put(transaction: &mut Transaction<'_>, id: DocumentId, outline: &[Heading]) -> Result<()> {
    if outline.is_empty() {
        // A document without a row is asked for its symbols, and most documents of a collection of
        // code have no row.
        return remove(transaction, id);
    }
    let row = pack(encode(outline)?)?;
    transaction.put(tables::OUTLINE, Key::U64(u64::from(id.0)), &row)
}

/// A record as a row: compressed where that is shorter.
#[cfg(feature = "ingest")]
fn pack(record: Vec<u8>) -> Result<Vec<u8>> {
    let frame = zstd::bulk::compress(&record, ZSTD_LEVEL).map_err(Error::storage)?;
    // The limit of a value refuses such a record when it is put; it need not be refused twice.
    let Ok(len_bytes) = u32::try_from(record.len()) else {
        return Ok(record);
    };
    // Short outlines do not pay for the head of a frame, and reading them plainly is faster.
    if PACKED_HEAD_BYTES + frame.len() >= record.len() {
        return Ok(record);
    }
    Ok([&[PACKED_VERSION][..], &len_bytes.to_le_bytes(), &frame].concat())
}

/// The record of a row.
///
/// # Errors
/// [`Error::Damaged`] where it is no frame of as many bytes as it says, or of more than a value has.
fn unpack(row: Vec<u8>) -> Result<Vec<u8>> {
    // Both forms stay: the first byte of each is a version, so a reader tells them apart without a
    // flag.
    if row.first() != Some(&PACKED_VERSION) {
        return Ok(row);
    }
    let len_bytes = u32_at(&row, 1)? as usize;
    let frame = row.get(PACKED_HEAD_BYTES..).unwrap_or_default();
    // Checked before memory is taken: five bytes of a forged row could ask for 4 GB.
    if len_bytes > MAX_VALUE_BYTES {
        return Err(Error::damaged("an outline is too long"));
    }
    let record = decode_frame(&[], frame, len_bytes);
    record.map_err(|error| Error::damaged(format!("an outline is no zstd frame: {error}")))
}

fn encode(outline: &[Heading]) -> Result<Vec<u8>> {
    let headings = outline
        .iter()
        .map(|heading| HeadingRecord {
            level: heading.level,
            title: &heading.title,
            start: heading.start,
            line: heading.line,
        })
        .collect();
    encode_record(OUTLINE_VERSION, &OutlineRecord { headings })
}

/// Removes the headings of a document.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    transaction
        .remove(tables::OUTLINE, Key::U64(u64::from(id.0)))
        .map(|_| ())
}

/// The headings of a document in reading order; empty when it has none.
#[cfg(any(test, feature = "testing"))]
pub fn get(snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
    Outlines::locate(snapshot, SymbolsTable::locate(snapshot)?)?.get(snapshot, id)
}

/// Tables `outline` and `symbols` in one commit.
#[derive(Debug, Clone)]
pub struct Outlines {
    /// None before the first heading.
    table: Option<Table>,
    /// What the outlines of programs are made of.
    symbols: SymbolsTable,
}

impl Outlines {
    /// Finds table `outline`; the other one is `symbols`.
    pub fn locate(snapshot: &Snapshot<'_>, symbols: SymbolsTable) -> Result<Outlines> {
        let table = snapshot.table(tables::OUTLINE)?;
        Ok(Outlines { table, symbols })
    }

    /// The headings of a document in reading order; empty when it has none.
    pub fn get(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
        let Some(row) = self.row(snapshot, id)? else {
            let symbols = self.symbols.stored(snapshot, id, u32::MAX)?;
            return Ok(nesting::outline(symbols.iter()));
        };
        let headings = read(&row)?.headings.into_iter();
        let owned = headings.map(|heading| Heading {
            level: heading.level,
            title: heading.title.to_owned(),
            start: heading.start,
            line: heading.line,
            symbol: None,
        });
        Ok(owned.collect())
    }

    /// The headings of a document without a title for each, of a long program only those that a byte of `span` can lie
    /// under or before. Of a program the symbols are decoded and checked, which takes most of the time; which byte of
    /// the text one may have is not known here.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn around(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        span: Span,
    ) -> Result<StoredOutline> {
        let Some(row) = self.row(snapshot, id)? else {
            let (symbols, excerpt) = self.symbols.around(snapshot, id, u32::MAX, span)?;
            return Ok(StoredOutline::of_symbols(symbols, excerpt));
        };
        of_row(&row)
    }

    fn row(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Option<Vec<u8>>> {
        match &self.table {
            Some(table) => {
                let row = snapshot.get(table, Key::U64(u64::from(id.0)))?;
                row.map(unpack).transpose()
            }
            None => Ok(None),
        }
    }
}

fn of_row(row: &[u8]) -> Result<StoredOutline> {
    let headings = read(row)?.headings;
    let headings = headings.iter().map(|it| (it.level, it.title, it.start));
    Ok(StoredOutline::of_titles(headings))
}

fn read(row: &[u8]) -> Result<OutlineRecord<'_>> {
    decode_record("an outline", OUTLINE_VERSION, row)
}

#[cfg(test)]
mod tests;
