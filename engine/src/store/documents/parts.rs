//! Pages, sheets or slides of a document: table `parts`.

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, Page, PageSource, Part, PartContent, PartKind, Sheet, Slide};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{MAX_SEQUENCE_BYTES, decode_record, encode_record};
use crate::container::{Key, MAX_VALUE_BYTES, Snapshot, Table};
use crate::store::tables;

const PARTS_VERSION: u8 = 1;

/// What errors call the record.
const WHAT: &str = "the parts of a document";

/// What a part takes at most beside its texts and runs, in a row and in the memory of a reader.
// An upper bound, checked by the two assertions below, so that `check_size` encodes only rows near
// the limit.
const MAX_PART_OVERHEAD_BYTES: usize = 96;
const _: () = assert!(size_of::<SheetRecord>() <= MAX_PART_OVERHEAD_BYTES);
const _: () = assert!(size_of::<SlideRecord>() <= MAX_PART_OVERHEAD_BYTES);

/// What a run of rows takes at most: two varints.
// A u32 takes at most five bytes as a varint.
const MAX_RUN_BYTES: usize = 10;

/// The parts of a document as they are stored: one list is filled. [`PartsTable::count`] reads the lengths that
/// come first.
#[derive(Debug, Default, SchemaRead, SchemaWrite)]
struct PartsRecord {
    pages: Vec<PageRecord>,
    sheets: Vec<SheetRecord>,
    slides: Vec<SlideRecord>,
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct PageRecord {
    start: u32,
    line: u32,
    source: u8,
    label: String,
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct SheetRecord {
    start: u32,
    line: u32,
    name: String,
    rows: u32,
    columns: u32,
    header_row: Option<u32>,
    is_hidden: bool,
    uncalculated: u32,
    runs: Vec<(u32, u32)>,
}

#[derive(Debug, SchemaRead, SchemaWrite)]
struct SlideRecord {
    start: u32,
    line: u32,
    title: String,
    notes: Option<u32>,
    is_hidden: bool,
}

/// Refuses parts that no row can hold. Linear in their number; only what is near the limit is encoded.
///
/// # Errors
/// [`Error::TooLarge`].
pub(crate) fn check_size(parts: &[Part]) -> Result<()> {
    let most = |part: &Part| {
        let others = match &part.content {
            PartContent::Page(page) => page.label.len(),
            PartContent::Sheet(sheet) => sheet.name.len() + MAX_RUN_BYTES * sheet.runs.len(),
            PartContent::Slide(slide) => slide.title.len(),
        };
        others + MAX_PART_OVERHEAD_BYTES
    };
    let limit = MAX_VALUE_BYTES.min(MAX_SEQUENCE_BYTES);
    // As for outlines: a bound by addition, and only what is near the limit is encoded.
    if parts.iter().map(most).sum::<usize>() < limit {
        return Ok(());
    }
    let size = match encode(parts) {
        Ok(row) if row.len() <= MAX_VALUE_BYTES => return Ok(()),
        Ok(row) => row.len() as u64,
        Err(Error::TooLarge { size, .. }) => size,
        Err(error) => return Err(error),
    };
    Err(Error::TooLarge {
        what: "the list of its pages, sheets or slides".to_owned(),
        size,
        limit: limit as u64,
    })
}

/// Writes the parts of a document in the place of older ones; a document without parts has no row.
#[cfg(feature = "ingest")]
pub fn put(transaction: &mut Transaction<'_>, id: DocumentId, parts: &[Part]) -> Result<()> {
    if parts.is_empty() {
        return remove(transaction, id);
    }
    let row = encode(parts)?;
    transaction.put(tables::PARTS, Key::U64(u64::from(id.0)), &row)
}

/// Removes the parts of a document.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
    transaction
        .remove(tables::PARTS, Key::U64(u64::from(id.0)))
        .map(|_| ())
}

/// The row of these parts: one version byte, then the record.
///
/// # Errors
/// [`Error::TooLarge`].
pub(crate) fn encode(parts: &[Part]) -> Result<Vec<u8>> {
    let mut record = PartsRecord::default();
    for part in parts {
        let (start, line) = (part.start, part.line);
        match &part.content {
            PartContent::Page(page) => record.pages.push(PageRecord {
                start,
                line,
                source: page.source as u8,
                label: page.label.clone(),
            }),
            PartContent::Sheet(sheet) => record.sheets.push(SheetRecord {
                start,
                line,
                name: sheet.name.clone(),
                rows: sheet.rows,
                columns: sheet.columns,
                header_row: sheet.header_row,
                is_hidden: sheet.is_hidden,
                uncalculated: sheet.uncalculated,
                runs: sheet.runs.clone(),
            }),
            PartContent::Slide(slide) => record.slides.push(SlideRecord {
                start,
                line,
                title: slide.title.clone(),
                notes: slide.notes,
                is_hidden: slide.is_hidden,
            }),
        }
    }
    encode_record(PARTS_VERSION, &record)
}

fn decode(row: &[u8]) -> Result<Vec<Part>> {
    let PartsRecord {
        pages,
        sheets,
        slides,
    } = decode_record(WHAT, PARTS_VERSION, row)?;
    let mut parts = Vec::with_capacity(pages.len() + sheets.len() + slides.len());
    for page in pages {
        let source = PageSource::from_number(page.source)
            .ok_or_else(|| Error::damaged(format!("a page has source {}", page.source)))?;
        parts.push(Part {
            start: page.start,
            line: page.line,
            content: PartContent::Page(Page {
                source,
                label: page.label,
            }),
        });
    }
    parts.extend(sheets.into_iter().map(|sheet| Part {
        start: sheet.start,
        line: sheet.line,
        content: PartContent::Sheet(Sheet {
            name: sheet.name,
            rows: sheet.rows,
            columns: sheet.columns,
            header_row: sheet.header_row,
            is_hidden: sheet.is_hidden,
            uncalculated: sheet.uncalculated,
            runs: sheet.runs,
        }),
    }));
    parts.extend(slides.into_iter().map(|slide| Part {
        start: slide.start,
        line: slide.line,
        content: PartContent::Slide(Slide {
            title: slide.title,
            notes: slide.notes,
            is_hidden: slide.is_hidden,
        }),
    }));
    Ok(parts)
}

/// Table `parts` in one commit.
#[derive(Debug, Clone)]
pub struct PartsTable {
    /// None before the first document with parts.
    table: Option<Table>,
}

impl PartsTable {
    /// Finds the table.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<PartsTable> {
        let table = snapshot.table(tables::PARTS)?;
        Ok(PartsTable { table })
    }

    /// The parts of a document whose text has `text_bytes`; empty when it has none.
    ///
    /// # Errors
    /// [`Error::Damaged`] where they are not as [`Part`] says.
    pub fn get(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
        text_bytes: u32,
    ) -> Result<Vec<Part>> {
        let Some(row) = self.row(snapshot, id)? else {
            return Ok(Vec::new());
        };
        // Checked at reading, not at opening: a file of a million documents opens without a look at
        // them.
        let parts = decode(&row)?;
        match kb_types::part::fault(&parts, text_bytes) {
            Some(fault) => Err(Error::damaged(format!("document {}: {fault}", id.0))),
            None => Ok(parts),
        }
    }

    /// Where the parts of a document begin in its text, ascending; empty when it has none. What else they say is
    /// not checked.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn starts(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<u32>> {
        let parts = match self.row(snapshot, id)? {
            Some(row) => decode(&row)?,
            None => Vec::new(),
        };
        Ok(parts.into_iter().map(|part| part.start).collect())
    }

    fn row(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Option<Vec<u8>>> {
        match &self.table {
            Some(table) => snapshot.get(table, Key::U64(u64::from(id.0))),
            None => Ok(None),
        }
    }

    /// What kind of parts a document has, and how many, not zero; `None` without parts. Reads the row, and of
    /// it only the lengths of the lists.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn count(
        &self,
        snapshot: &Snapshot<'_>,
        id: DocumentId,
    ) -> Result<Option<(PartKind, u32)>> {
        match self.row(snapshot, id)? {
            Some(row) => count_in(&row),
            None => Ok(None),
        }
    }
}

/// Which list of a record is filled, and its length.
fn count_in(row: &[u8]) -> Result<Option<(PartKind, u32)>> {
    // An empty list is its length alone. Behind one that is not, there are at least two numbers more.
    let (pages, sheets, slides): (u64, u64, u64) = decode_record(WHAT, PARTS_VERSION, row)?;
    let found = match (pages, sheets, slides) {
        (0, 0, 0) => return Ok(None),
        (0, 0, slides) => (PartKind::Slide, slides),
        (0, sheets, _) => (PartKind::Sheet, sheets),
        (pages, ..) => (PartKind::Page, pages),
    };
    Ok(Some((found.0, u32::try_from(found.1).unwrap_or(u32::MAX))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts() -> impl Strategy<Value = Vec<Part>> {
        let content = |kind: u8| {
            ("[a-z]{0,5}", any::<Option<u32>>(), 1u8..5, any::<bool>()).prop_map(
                move |(name, number, source, flag)| match kind {
                    1 => PartContent::Page(Page {
                        source: PageSource::from_number(source).unwrap(),
                        label: name,
                    }),
                    2 => PartContent::Sheet(Sheet {
                        name,
                        rows: 7,
                        columns: number.unwrap_or(0),
                        header_row: number,
                        is_hidden: flag,
                        uncalculated: 3,
                        runs: vec![(0, 2), (3, 90)],
                    }),
                    _ => PartContent::Slide(Slide {
                        title: name,
                        notes: number,
                        is_hidden: flag,
                    }),
                },
            )
        };
        (1u8..4).prop_flat_map(move |kind| {
            let part =
                (any::<u32>(), any::<u32>(), content(kind)).prop_map(|(start, line, content)| {
                    Part {
                        start,
                        line,
                        content,
                    }
                });
            prop::collection::vec(part, 0..5)
        })
    }

    proptest! {
        #[test]
        fn parts_come_back_as_they_were_written(parts in parts()) {
            let row = encode(&parts).unwrap();
            let kind = parts.first().map(|part| part.content.kind());
            prop_assert_eq!(count_in(&row).unwrap(), kind.map(|kind| (kind, parts.len() as u32)));
            prop_assert_eq!(decode(&row).unwrap(), parts);
        }

        #[test]
        fn any_bytes_give_parts_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&bytes);
            let _ = count_in(&bytes);
        }
    }
}
