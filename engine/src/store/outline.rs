//! Headings of a document: table `outline`.

use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{MAX_SEQUENCE_BYTES, decode_record, encode_record};
use crate::container::{Key, MAX_VALUE_BYTES, Snapshot, Table};
use crate::error::{Error, Result};
use crate::store::tables;
use crate::types::{DocumentId, Heading};

const OUTLINE_VERSION: u8 = 1;

/// What a heading takes at most beside its title, in a row and in the memory of a reader.
const MAX_HEADING_OVERHEAD_BYTES: usize = 48;
const _: () = assert!(size_of::<HeadingRecord<'_>>() <= MAX_HEADING_OVERHEAD_BYTES);

#[derive(Debug, SchemaRead, SchemaWrite)]
struct OutlineRecord<'a> {
    headings: Vec<HeadingRecord<'a>>,
}

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
pub fn check_size(outline: &[Heading]) -> Result<()> {
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
        return remove(transaction, id);
    }
    let row = encode(outline)?;
    transaction.put(tables::OUTLINE, Key::U64(u64::from(id.0)), &row)
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
pub fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    transaction
        .remove(tables::OUTLINE, Key::U64(u64::from(id.0)))
        .map(|_| ())
}

/// The headings of a document in reading order; empty when it has none.
pub fn get(snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
    Outlines::locate(snapshot)?.get(snapshot, id)
}

/// Table `outline` in one commit.
#[derive(Debug, Clone)]
pub struct Outlines {
    /// None before the first heading.
    table: Option<Table>,
}

impl Outlines {
    /// Finds the table.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<Outlines> {
        let table = snapshot.table(tables::OUTLINE)?;
        Ok(Outlines { table })
    }

    /// The headings of a document in reading order; empty when it has none.
    pub fn get(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
        let Some(row) = self.row(snapshot, id)? else {
            return Ok(Vec::new());
        };
        let headings = read(&row)?.headings.into_iter();
        let owned = headings.map(|heading| Heading {
            level: heading.level,
            title: heading.title.to_owned(),
            start: heading.start,
            line: heading.line,
        });
        Ok(owned.collect())
    }

    /// Titles of the headings that a byte of a document lies under, outermost first, and how many bytes
    /// of records were read for them.
    pub fn section_at(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        start: u32,
    ) -> Result<(Vec<String>, usize)> {
        let Some(row) = self.row(snapshot, id)? else {
            return Ok((Vec::new(), 0));
        };
        let mut open = Vec::new();
        for heading in read(&row)?.headings {
            if heading.start > start {
                break;
            }
            open_heading(&mut open, heading.level, heading.title);
        }
        let titles = open.into_iter().map(|(_, title)| title.to_owned());
        Ok((titles.collect(), row.len()))
    }

    fn row(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Option<Vec<u8>>> {
        match &self.table {
            Some(table) => snapshot.get(table, Key::U64(u64::from(id.0))),
            None => Ok(None),
        }
    }
}

fn read(row: &[u8]) -> Result<OutlineRecord<'_>> {
    decode_record("an outline", OUTLINE_VERSION, row)
}

/// Opens a heading, which closes those of its level and below.
fn open_heading<'h>(open: &mut Vec<(u8, &'h str)>, level: u8, title: &'h str) {
    open.retain(|(above, _)| *above < level);
    open.push((level, title));
}

/// Follows the headings of a document from its start to its end.
#[derive(Debug)]
pub struct SectionPath<'o> {
    /// Headings not yet reached.
    rest: &'o [Heading],
    /// Levels and titles that the last byte lies under, outermost first.
    open: Vec<(u8, &'o str)>,
}

impl<'o> SectionPath<'o> {
    /// Before the first byte.
    pub fn new(outline: &'o [Heading]) -> SectionPath<'o> {
        SectionPath {
            rest: outline,
            open: Vec::new(),
        }
    }

    /// Titles of the headings that `start` lies under, outermost first; `start` never goes back.
    pub fn at(&mut self, start: u32) -> impl Iterator<Item = &'o str> {
        while let Some((heading, rest)) = self.rest.split_first()
            && heading.start <= start
        {
            open_heading(&mut self.open, heading.level, &heading.title);
            self.rest = rest;
        }
        self.open.iter().map(|(_, title)| *title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(level: u8, title: &str, start: u32) -> Heading {
        Heading {
            level,
            title: title.to_owned(),
            start,
            line: 1,
        }
    }

    #[test]
    fn a_byte_lies_under_the_nearest_heading_of_each_level() {
        let outline = [
            heading(1, "Guide", 0),
            heading(2, "Install", 10),
            heading(3, "Linux", 20),
            heading(2, "Use", 30),
        ];
        let section_at = |outline: &[Heading], start| -> Vec<String> {
            let mut sections = SectionPath::new(outline);
            sections.at(start).map(str::to_owned).collect()
        };
        assert_eq!(section_at(&outline, 5), ["Guide"]);
        assert_eq!(section_at(&outline, 25), ["Guide", "Install", "Linux"]);
        assert_eq!(section_at(&outline, 30), ["Guide", "Use"]);
        assert!(section_at(&outline[1..], 3).is_empty());
    }
}
