//! Headings of a document: table `outline`.

use wincode::{SchemaRead, SchemaWrite};

use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, Snapshot, Transaction};
use crate::error::Result;
use crate::store::tables;
use crate::types::{DocumentId, Heading};

const OUTLINE_VERSION: u8 = 1;

#[derive(Debug, SchemaRead, SchemaWrite)]
struct OutlineRecord {
    headings: Vec<HeadingRecord>,
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct HeadingRecord {
    level: u8,
    title: String,
    start: u32,
    line: u32,
}

/// Writes the headings of a document in the place of older ones; a document without headings has no
/// row.
pub fn put(transaction: &mut Transaction<'_>, id: DocumentId, outline: &[Heading]) -> Result<()> {
    if outline.is_empty() {
        return remove(transaction, id);
    }
    let headings = outline
        .iter()
        .map(|heading| HeadingRecord {
            level: heading.level,
            title: heading.title.clone(),
            start: heading.start,
            line: heading.line,
        })
        .collect();
    let row = encode_record(OUTLINE_VERSION, &OutlineRecord { headings })?;
    transaction.put(tables::OUTLINE, Key::U64(u64::from(id.0)), &row)
}

/// Removes the headings of a document.
pub fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    transaction
        .remove(tables::OUTLINE, Key::U64(u64::from(id.0)))
        .map(|_| ())
}

/// The headings of a document in reading order; empty when it has none.
pub fn get(snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
    let Some(table) = snapshot.table(tables::OUTLINE)? else {
        return Ok(Vec::new());
    };
    let Some(row) = snapshot.get(&table, Key::U64(u64::from(id.0)))? else {
        return Ok(Vec::new());
    };
    let record: OutlineRecord = decode_record("an outline", OUTLINE_VERSION, &row)?;
    Ok(record
        .headings
        .into_iter()
        .map(|heading| Heading {
            level: heading.level,
            title: heading.title,
            start: heading.start,
            line: heading.line,
        })
        .collect())
}

/// Titles of the headings that a byte lies under, outermost first.
pub fn section_at(outline: &[Heading], start: u32) -> Vec<&str> {
    Sections::new(outline).at(start).collect()
}

/// Follows the headings of a document from its start to its end.
#[derive(Debug)]
pub struct Sections<'o> {
    /// Headings not yet reached.
    rest: &'o [Heading],
    /// Headings that the last byte lies under, outermost first.
    open: Vec<&'o Heading>,
}

impl<'o> Sections<'o> {
    /// Before the first byte.
    pub fn new(outline: &'o [Heading]) -> Sections<'o> {
        Sections {
            rest: outline,
            open: Vec::new(),
        }
    }

    /// Titles of the headings that `start` lies under, outermost first; `start` never goes back.
    pub fn at(&mut self, start: u32) -> impl Iterator<Item = &'o str> {
        while let Some((heading, rest)) = self.rest.split_first()
            && heading.start <= start
        {
            self.open.retain(|above| above.level < heading.level);
            self.open.push(heading);
            self.rest = rest;
        }
        self.open.iter().map(|heading| heading.title.as_str())
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
        assert_eq!(section_at(&outline, 5), ["Guide"]);
        assert_eq!(section_at(&outline, 25), ["Guide", "Install", "Linux"]);
        assert_eq!(section_at(&outline, 30), ["Guide", "Use"]);
        assert!(section_at(&outline[1..], 3).is_empty());
    }
}
