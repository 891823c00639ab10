//! Headings of a document: table `outline`; of a program, its symbols.

use std::fmt::Write as _;

use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{MAX_SEQUENCE_BYTES, decode_record, encode_record, u32_at};
use crate::container::{Key, MAX_VALUE_BYTES, Snapshot, Table};
use crate::error::{Error, Result};
use crate::store::decoder::decode_frame;
use crate::store::symbols::SymbolsTable;
use crate::store::tables;
use crate::types::syntax::nesting;
use crate::types::{DocumentId, Heading, HeadingSymbol, Span, Symbol};

const OUTLINE_VERSION: u8 = 1;

/// Version of a row that is the zstd frame of a record.
const PACKED_VERSION: u8 = 2;

/// Bytes before the frame: version and length of the record.
const PACKED_HEAD_BYTES: usize = 5;

/// Level 19 takes 2 % fewer bytes.
#[cfg(feature = "ingest")]
const ZSTD_LEVEL: i32 = 9;

/// Stands between the titles of a path of sections, as in `Guide > Install`.
pub const SECTION_SEPARATOR: &str = " > ";

/// What a heading takes at most beside its title, in a row and in the memory of a reader.
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

/// A [`Heading`] whose title is not copied.
#[derive(Debug, Clone, Copy)]
pub struct OutlineEntry<'a> {
    level: u8,
    title: &'a str,
    start: u32,
    symbol: Option<HeadingSymbol>,
}

impl OutlineEntry<'_> {
    /// Whether the section of a symbol ends at or before a byte. That of a heading goes on.
    fn has_ended(&self, byte: u32) -> bool {
        self.symbol.is_some_and(|symbol| symbol.end <= byte)
    }
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
    let row = pack(encode(outline)?)?;
    transaction.put(tables::OUTLINE, Key::U64(u64::from(id.0)), &row)
}

/// A record as a row: compressed where that is shorter.
#[cfg(feature = "ingest")]
fn pack(record: Vec<u8>) -> Result<Vec<u8>> {
    let frame = zstd::bulk::compress(&record, ZSTD_LEVEL).map_err(Error::storage)?;
    let Ok(len_bytes) = u32::try_from(record.len()) else {
        return Ok(record);
    };
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
    if row.first() != Some(&PACKED_VERSION) {
        return Ok(row);
    }
    let len_bytes = u32_at(&row, 1)? as usize;
    let frame = row.get(PACKED_HEAD_BYTES..).unwrap_or_default();
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
pub fn remove(transaction: &mut Transaction<'_>, id: DocumentId) -> Result<()> {
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
            return self.of_symbols(snapshot, id);
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

    /// The headings of a document, to be read without copying titles that are stored.
    pub fn stored(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<StoredOutline> {
        Ok(match self.row(snapshot, id)? {
            Some(row) => StoredOutline::Row(row),
            None => {
                let symbols = self.symbols.get(snapshot, id, u32::MAX)?;
                StoredOutline::Symbols(nesting::outline(&symbols), symbols)
            }
        })
    }

    /// Which byte of the text a symbol may have is not known here.
    fn of_symbols(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<Vec<Heading>> {
        let symbols = self.symbols.get(snapshot, id, u32::MAX)?;
        Ok(nesting::outline(&symbols))
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

fn read(row: &[u8]) -> Result<OutlineRecord<'_>> {
    decode_record("an outline", OUTLINE_VERSION, row)
}

/// The headings of one document.
#[derive(Debug)]
pub enum StoredOutline {
    /// The record of a document with headings.
    Row(Vec<u8>),
    /// Those of a program, and its symbols; none of a text without headings.
    Symbols(Vec<Heading>, Vec<Symbol>),
}

impl StoredOutline {
    /// Bytes that were read of it.
    pub fn len_bytes(&self) -> usize {
        match self {
            StoredOutline::Row(row) => row.len(),
            StoredOutline::Symbols(headings, symbols) => {
                let titles: usize = headings.iter().map(|heading| heading.title.len()).sum();
                2 * titles + headings.len() * size_of::<Heading>() + size_of_val(&**symbols)
            }
        }
    }

    /// The symbols of a program, one a heading.
    pub fn symbols(&self) -> &[Symbol] {
        match self {
            StoredOutline::Row(_) => &[],
            StoredOutline::Symbols(_, symbols) => symbols,
        }
    }

    /// The headings in reading order.
    pub fn headings(&self) -> Result<Vec<OutlineEntry<'_>>> {
        Ok(match self {
            StoredOutline::Row(row) => {
                let headings = read(row)?.headings.into_iter();
                let entries = headings.map(|heading| OutlineEntry {
                    level: heading.level,
                    title: heading.title,
                    start: heading.start,
                    symbol: None,
                });
                entries.collect()
            }
            StoredOutline::Symbols(headings, _) => {
                headings.iter().map(OutlineEntry::from).collect()
            }
        })
    }
}

impl<'a> From<&'a Heading> for OutlineEntry<'a> {
    fn from(heading: &'a Heading) -> OutlineEntry<'a> {
        OutlineEntry {
            level: heading.level,
            title: &heading.title,
            start: heading.start,
            symbol: heading.symbol,
        }
    }
}

/// Where the headings within a span begin, ascending; one at its first byte is not among them.
pub fn starts_within(headings: &[OutlineEntry<'_>], span: Span) -> Vec<u32> {
    let mut starts: Vec<u32> = headings
        .iter()
        .map(|heading| heading.start)
        .filter(|start| span.start < *start && *start < span.end)
        .collect();
    starts.sort_unstable();
    starts
}

/// The innermost section that a byte of a document lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionAt {
    /// Titles of its heading and those above, outermost first; empty before the first heading.
    pub titles: Vec<String>,
    /// Its number: `2.1` is the first section directly under the second. Empty before the first heading.
    pub number: String,
    /// From its heading to the next one of its level or above, or where that goes back in the text, to the next
    /// heading there; before the first heading, up to that.
    pub span: Span,
    /// Whether the titles do not tell it from the other sections: another one has the same, or they begin
    /// like the number of another one.
    pub is_ambiguous: bool,
}

/// What to call a section by: its titles, after its number where they are ambiguous; empty before the
/// first heading.
pub fn section_name(section: &SectionAt) -> String {
    let titles = section.titles.join(SECTION_SEPARATOR);
    if section.is_ambiguous {
        format!("{} {titles}", section.number)
    } else {
        titles
    }
}

/// How many headings there are up to the one that a byte lies under: that which begins nearest before it, of
/// several at one place the last; where that is a symbol that has ended, the nearest around it that has not.
/// Bookmarks of pages may go back in the text; all others ascend.
fn count_to(headings: &[OutlineEntry<'_>], byte: u32) -> usize {
    let before = (1usize..).zip(headings).filter(|(_, it)| it.start <= byte);
    let nearest = before.max_by_key(|(_, heading)| heading.start);
    let mut count = nearest.map_or(0, |(count, _)| count);
    let mut level = u8::MAX;
    while let Some(heading) = count.checked_sub(1).and_then(|at| headings.get(at)) {
        // Those of its level lie beside it.
        let is_around = level == u8::MAX || heading.level < level;
        if is_around && !heading.has_ended(byte) {
            break;
        }
        level = level.min(heading.level);
        count -= 1;
    }
    count
}

/// The sections that a byte lies in, and how many headings there are up to the innermost.
fn open_at<'h>(headings: &[OutlineEntry<'h>], byte: u32) -> (OpenSections<'h>, usize) {
    let mut open = OpenSections::default();
    let count = count_to(headings, byte);
    for heading in headings.iter().take(count) {
        open.push(heading.level, heading.title);
    }
    (open, count)
}

/// Titles of the headings that a byte lies under, outermost first.
pub fn titles_at<'h>(headings: &[OutlineEntry<'h>], byte: u32) -> Vec<&'h str> {
    open_at(headings, byte).0.titles().collect()
}

/// The section of a byte of a text of `text_bytes` bytes. Linear in the number of headings.
pub fn section_at(headings: &[OutlineEntry<'_>], byte: u32, text_bytes: u32) -> SectionAt {
    let (open, count) = open_at(headings, byte);
    let (before, after) = headings.split_at(count);
    let start = match before.last() {
        Some(own) => own.start,
        // Behind symbols that have ended, or before all headings.
        None => {
            let begun = headings.iter().filter(|heading| heading.start <= byte);
            let ends = begun.filter_map(|heading| heading.symbol.map(|symbol| symbol.end));
            ends.max().unwrap_or(0)
        }
    };
    let mut next = after.iter().filter(|next| match before.last() {
        Some(own) => next.level <= own.level,
        None => true,
    });
    let mut end = next.next().map_or(text_bytes, |next| next.start);
    let symbol = before.last().and_then(|own| own.symbol);
    if let Some(symbol) = symbol {
        end = symbol.end.min(text_bytes);
    } else if count == 0 || end < start {
        let starts = headings.iter().map(|heading| heading.start);
        end = starts.filter(|it| *it > byte).min().unwrap_or(text_bytes);
    }
    let number = open.number();
    SectionAt {
        is_ambiguous: !number.is_empty() && is_ambiguous(headings, &open.path(), &number),
        span: Span {
            start,
            end: end.max(start),
        },
        titles: open.titles().map(str::to_owned).collect(),
        number,
    }
}

/// Where the heading above the one of a byte begins; `None` for a section at the top.
pub fn start_of_parent(headings: &[OutlineEntry<'_>], byte: u32) -> Option<u32> {
    let count = count_to(headings, byte);
    let (own, before) = headings.get(..count)?.split_last()?;
    let mut above = before.iter().rev();
    let parent = above.find(|above| above.level < own.level && above.start < own.start)?;
    Some(parent.start)
}

/// Whether `path`, the joined titles of the section of `number`, also means another one: its own path ends
/// with it, or it has the number that `path` begins with. So does a path that begins like the mark of a path
/// from the top.
fn is_ambiguous(headings: &[OutlineEntry<'_>], path: &str, number: &str) -> bool {
    if path.starts_with(SECTION_SEPARATOR.trim_start()) {
        return true;
    }
    let first = path.split(' ').next();
    let like_a_number = first.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let mut open = OpenSections::default();
    headings.iter().any(|heading| {
        open.push(heading.level, heading.title);
        let has_number = like_a_number.is_some_and(|word| word != number && open.number() == word);
        let may_end = path.ends_with(heading.title) || heading.title.ends_with(path);
        let ends = || {
            let other = open.path();
            let before = other.strip_suffix(path);
            before.is_some_and(|before| before.is_empty() || before.ends_with(SECTION_SEPARATOR))
        };
        has_number || (may_end && ends() && open.number() != number)
    })
}

/// The sections that are open at a place of a document, each with its number among those beside it.
#[derive(Debug, Default)]
pub struct OpenSections<'h> {
    /// Outermost first; levels ascend.
    open: Vec<OpenSection<'h>>,
    /// Sections at the top so far.
    at_top: u32,
}

#[derive(Debug)]
struct OpenSection<'h> {
    level: u8,
    title: &'h str,
    /// Number among the sections directly under the one above, from 1.
    number: u32,
    /// Sections directly under it so far.
    below: u32,
}

impl<'h> OpenSections<'h> {
    /// Opens the next section in reading order, which closes those of its level and below.
    pub fn push(&mut self, level: u8, title: &'h str) {
        while self.open.last().is_some_and(|last| last.level >= level) {
            self.open.pop();
        }
        let count = match self.open.last_mut() {
            Some(above) => &mut above.below,
            None => &mut self.at_top,
        };
        *count = count.saturating_add(1);
        let number = *count;
        self.open.push(OpenSection {
            level,
            title,
            number,
            below: 0,
        });
    }

    /// Their titles, outermost first.
    pub fn titles(&self) -> impl Iterator<Item = &'h str> + use<'_, 'h> {
        self.open.iter().map(|section| section.title)
    }

    /// The number of the innermost: `2.1` is the first section directly under the second, even if the levels
    /// of their headings differ by more than one. Empty before the first heading.
    pub fn number(&self) -> String {
        let mut number = String::new();
        for section in &self.open {
            let dot = if number.is_empty() { "" } else { "." };
            // Writing to a String does not fail.
            let _ = write!(number, "{dot}{}", section.number);
        }
        number
    }

    /// Their titles, joined.
    fn path(&self) -> String {
        self.titles().collect::<Vec<_>>().join(SECTION_SEPARATOR)
    }
}

/// Follows the headings of a document from its start to its end.
#[derive(Debug)]
pub struct SectionPath<'o> {
    outline: &'o [Heading],
    /// The heading above each.
    above: Vec<Option<usize>>,
    /// The headings in the order of the text, which that of bookmarks need not be.
    order: Vec<usize>,
    /// How many of `order` were reached.
    reached: usize,
}

impl<'o> SectionPath<'o> {
    /// Before the first byte.
    pub fn new(outline: &'o [Heading]) -> SectionPath<'o> {
        let mut open: Vec<(u8, usize)> = Vec::new();
        let above = outline.iter().enumerate().map(|(position, heading)| {
            while open
                .last()
                .is_some_and(|(level, _)| *level >= heading.level)
            {
                open.pop();
            }
            let above = open.last().map(|(_, above)| *above);
            open.push((heading.level, position));
            above
        });
        let above = above.collect();
        let mut order: Vec<usize> = (0..outline.len()).collect();
        order.sort_by_key(|position| outline.get(*position).map(|heading| heading.start));
        SectionPath {
            outline,
            above,
            order,
            reached: 0,
        }
    }

    /// Titles of the headings that `start` lies under, outermost first, without symbols that end before; `start` never
    /// goes back.
    pub fn at(&mut self, start: u32) -> impl Iterator<Item = &'o str> + use<'o> {
        let outline = self.outline;
        let is_before = |position: &usize| {
            let heading = outline.get(*position);
            heading.is_some_and(|heading| heading.start <= start)
        };
        let rest = self.order.iter().skip(self.reached);
        self.reached += rest.take_while(|position| is_before(position)).count();
        let nearest = self.reached.checked_sub(1);
        let mut next = nearest.and_then(|nearest| self.order.get(nearest).copied());
        let mut titles = Vec::new();
        while let Some(position) = next {
            let heading = outline.get(position).filter(|heading| {
                let symbol = heading.symbol;
                symbol.is_none_or(|symbol| start < symbol.end)
            });
            titles.extend(heading.map(|heading| heading.title.as_str()));
            next = self.above.get(position).copied().flatten();
        }
        titles.into_iter().rev()
    }
}

#[cfg(test)]
mod tests;
