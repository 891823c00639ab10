//! Excel workbooks of 1993 to 2003: records of the format BIFF in a stream of a compound file.
//!
//! The crate calamine aborts on 16 of 160 mutated files, and gives values but not the text that a cell shows. This
//! reader has an F1 of words of 1.000 against other programs (docs/decisions/17-own-readers.md).

mod protection;
mod records;
mod strings;

use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;

use encoding_rs::WINDOWS_1252;
use kb_types::cell_text::{Cell, CellValue};

use self::records::{BEGIN, BOUND_SHEET, FILE_PASS, Record, records};
use self::strings::{Strings, Text};
use crate::extracted::Extracted;
use crate::package::code_pages::encoding_of;
use crate::package::compound_file::CompoundFile;
use crate::package::little_endian::{place_at, u16_at, u32_at};
use crate::package::property_set;
use crate::sheets::number_format::{CodeReader, NumberFormat};
use crate::sheets::workbook::{SheetWriter, Workbook};
use crate::skip_reason::SkipReason;

pub(crate) const FORMAT: &str = "Excel 97-2003 workbook";

// Types of records. Numbers of MS-XLS, 2.3.
const FORMULA: u16 = 0x06;
const END: u16 = 0x0A;
const DATE_MODE: u16 = 0x22;
const CONTINUE: u16 = 0x3C;
const CODE_PAGE: u16 = 0x42;
const MULTIPLE_RK: u16 = 0xBD;
const RICH_STRING: u16 = 0xD6;
const STYLE: u16 = 0xE0;
const SHARED_STRINGS: u16 = 0xFC;
const LABEL_SHARED: u16 = 0xFD;
const NUMBER: u16 = 0x203;
const LABEL: u16 = 0x204;
const BOOLEAN_OR_ERROR: u16 = 0x205;
const STRING: u16 = 0x207;
const RK: u16 = 0x27E;
const FORMAT_CODE: u16 = 0x41E;

/// Whether a file is a workbook of Excel 2 to 4, which is records without a compound file.
pub(crate) fn is_bare(bytes: &[u8]) -> bool {
    matches!(bytes, [9, 0 | 2 | 4 | 8, 4..=8, 0, ..])
}

/// Reads a compound file with a workbook.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let file = CompoundFile::open(bytes)
        .ok_or_else(|| SkipReason::damaged(FORMAT, "it has no directory"))?;
    let stream = file
        .read("Workbook")
        .or_else(|| file.read("Book"))
        .ok_or_else(|| SkipReason::damaged(FORMAT, "it has no workbook"))?;
    let stream = protection::opened(&stream).unwrap_or(stream);
    let mut found = read(&stream)?;
    property_set::read_properties(&file, &mut found);
    Ok(found)
}

/// The sheets of a stream.
fn read(stream: &[u8]) -> Result<Extracted, SkipReason> {
    let globals = Globals::read(stream)?;
    // The records of a sheet go up to those of the one that begins next. Of several sheets that begin at one place
    // the last has them: every record is read once, however often the list names it.
    let entries = globals.sheets.iter().enumerate();
    let starts: BTreeMap<usize, usize> = entries
        .map(|(number, entry)| (entry.start, number))
        .collect();
    let mut workbook = Workbook::new();
    for (number, entry) in globals.sheets.iter().enumerate() {
        let mut sheet = workbook.sheet(&entry.name, entry.is_hidden)?;
        if starts.get(&entry.start) == Some(&number) {
            let next = starts.range(entry.start.saturating_add(1)..).next();
            let end = next.map_or(stream.len(), |(start, _)| *start);
            let end = end.min(stream.len());
            globals.read_sheet(stream.get(entry.start..end).unwrap_or_default(), &mut sheet)?;
        }
        sheet.finish()?;
    }
    workbook.finish()
}

/// A sheet with cells.
struct Entry {
    name: String,
    is_hidden: bool,
    /// Where its records begin.
    start: usize,
}

/// What the workbook says for all sheets.
struct Globals {
    text: Text,
    is_1904: bool,
    sheets: Vec<Entry>,
    strings: Strings,
    codes: HashMap<u16, String>,
    /// The format of each style, by its number.
    styles: Vec<u16>,
    formats: HashMap<u16, NumberFormat>,
    general: NumberFormat,
}

impl Globals {
    fn read(stream: &[u8]) -> Result<Globals, SkipReason> {
        let mut records = records(stream).peekable();
        let version = match records.next() {
            Some(first) if first.kind == BEGIN => u16_at(first.data, 0).unwrap_or(0),
            _ => {
                return Err(SkipReason::damaged(
                    FORMAT,
                    "its workbook does not begin as one",
                ));
            }
        };
        let mut globals = Globals {
            text: Text {
                is_unicode: version == 0x600,
                encoding: WINDOWS_1252,
            },
            is_1904: false,
            sheets: Vec::new(),
            strings: Strings::default(),
            codes: HashMap::new(),
            styles: Vec::new(),
            formats: HashMap::new(),
            general: NumberFormat::default(),
        };
        while let Some(Record { kind, data }) = records.next() {
            match kind {
                END => break,
                FILE_PASS => return Err(SkipReason::Encrypted(FORMAT)),
                CODE_PAGE => {
                    let page = u16_at(data, 0).map(u32::from);
                    if let Some(encoding) = page.and_then(encoding_of) {
                        globals.text.encoding = encoding;
                    }
                }
                DATE_MODE => globals.is_1904 = u16_at(data, 0) == Some(1),
                FORMAT_CODE => {
                    if let Some(id) = u16_at(data, 0) {
                        let code = data.get(2..).unwrap_or_default();
                        let code = match globals.text.is_unicode {
                            true => globals.text.long(code),
                            false => globals.text.short(code),
                        };
                        globals.codes.insert(id, code);
                    }
                }
                STYLE => globals.styles.extend(u16_at(data, 2)),
                BOUND_SHEET => {
                    // 0 has cells, 1 the macros of old; charts have none.
                    let (Some(start), Some(state), Some(0 | 1)) =
                        (place_at(data, 0), data.get(4), data.get(5))
                    else {
                        continue;
                    };
                    globals.sheets.push(Entry {
                        name: globals.text.short(data.get(6..).unwrap_or_default()),
                        is_hidden: state & 3 != 0,
                        start,
                    });
                }
                SHARED_STRINGS => {
                    globals.strings = Strings::read(with_continuations(data, &mut records));
                }
                _ => {}
            }
        }
        let mut codes = CodeReader::new();
        for id in &globals.styles {
            let code = globals.codes.get(id).map(String::as_str);
            let format = globals.formats.entry(*id);
            format.or_insert_with(|| codes.read(u32::from(*id), code));
        }
        Ok(globals)
    }

    fn format(&self, style: u16) -> &NumberFormat {
        let format = self.styles.get(usize::from(style));
        format
            .and_then(|id| self.formats.get(id))
            .unwrap_or(&self.general)
    }

    fn read_sheet(&self, stream: &[u8], sheet: &mut SheetWriter<'_>) -> Result<(), SkipReason> {
        let mut depth = 0u32;
        // The cell of a formula whose text is in the next record.
        let mut waits: Option<Place> = None;
        let mut records = records(stream).peekable();
        while let Some(Record { kind, data }) = records.next() {
            match kind {
                BEGIN => depth += 1,
                END if depth <= 1 => return Ok(()),
                END => depth -= 1,
                // A chart within the sheet.
                _ if depth > 1 => {}
                STRING => {
                    let pieces = with_continuations(data, &mut records);
                    if let Some(place) = waits.take() {
                        self.put_text(place, &self.text.long_in(pieces), sheet)?;
                    }
                }
                MULTIPLE_RK => self.read_multiple(data, sheet)?,
                NUMBER | LABEL | RICH_STRING | LABEL_SHARED | BOOLEAN_OR_ERROR | RK | FORMULA
                | 0x206 | 0x406 => {
                    let Some(place) = Place::of(data) else {
                        continue;
                    };
                    let rest = data.get(6..).unwrap_or_default();
                    match kind {
                        NUMBER => self.put_number(place, f64_at(rest, 0), sheet)?,
                        RK => self.put_number(place, u32_at(rest, 0).map(rk), sheet)?,
                        LABEL | RICH_STRING => {
                            let pieces = with_continuations(rest, &mut records);
                            self.put_text(place, &self.text.long_in(pieces), sheet)?;
                        }
                        LABEL_SHARED => {
                            let text = place_at(rest, 0).and_then(|at| self.strings.get(at));
                            self.put_text(place, text.unwrap_or_default(), sheet)?;
                        }
                        BOOLEAN_OR_ERROR => {
                            let is_error = rest.get(1) == Some(&1);
                            let number = rest.first().copied().unwrap_or(0);
                            sheet.push(place.row, place.column, flag(is_error, number))?;
                        }
                        _ => match (u16_at(rest, 6), rest.first(), rest.get(2)) {
                            (Some(0xFFFF), Some(0), _) => waits = Some(place),
                            (Some(0xFFFF), Some(kind @ (1 | 2)), Some(number)) => {
                                sheet.push(place.row, place.column, flag(*kind == 2, *number))?;
                            }
                            (Some(0xFFFF), ..) => {}
                            _ => self.put_number(place, f64_at(rest, 0), sheet)?,
                        },
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Numbers of neighbours in a row.
    fn read_multiple(&self, data: &[u8], sheet: &mut SheetWriter<'_>) -> Result<(), SkipReason> {
        let (Some(row), Some(first)) = (u16_at(data, 0), u16_at(data, 2)) else {
            return Ok(());
        };
        let pairs = data.get(4..).unwrap_or_default().chunks_exact(6);
        for (column, pair) in (u32::from(first) + 1..).zip(pairs) {
            let place = Place {
                row: u32::from(row) + 1,
                column,
                style: u16_at(pair, 0).unwrap_or(0),
            };
            self.put_number(place, u32_at(pair, 2).map(rk), sheet)?;
        }
        Ok(())
    }

    fn put_number(
        &self,
        place: Place,
        number: Option<f64>,
        sheet: &mut SheetWriter<'_>,
    ) -> Result<(), SkipReason> {
        match number.filter(|number| number.is_finite()) {
            Some(number) => {
                let cell = self.format(place.style).cell(number, self.is_1904);
                sheet.push(place.row, place.column, cell)
            }
            None => Ok(()),
        }
    }

    fn put_text(
        &self,
        place: Place,
        text: &str,
        sheet: &mut SheetWriter<'_>,
    ) -> Result<(), SkipReason> {
        if text.is_empty() {
            return Ok(());
        }
        let cell = Cell {
            shown: self.format(place.style).text(text),
            value: CellValue::Text(text.to_owned()),
        };
        sheet.push(place.row, place.column, cell)
    }
}

/// A record and those that continue it.
fn with_continuations<'s>(
    data: &'s [u8],
    records: &mut Peekable<impl Iterator<Item = Record<'s>>>,
) -> Vec<&'s [u8]> {
    let mut pieces = vec![data];
    while let Some(more) = records.next_if(|record| record.kind == CONTINUE) {
        pieces.push(more.data);
    }
    pieces
}

/// Where a cell stands, from 1, and its style.
struct Place {
    row: u32,
    column: u32,
    style: u16,
}

impl Place {
    fn of(data: &[u8]) -> Option<Place> {
        Some(Place {
            row: u32::from(u16_at(data, 0)?) + 1,
            column: u32::from(u16_at(data, 2)?) + 1,
            style: u16_at(data, 4)?,
        })
    }
}

fn f64_at(bytes: &[u8], at: usize) -> Option<f64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(f64::from_le_bytes(bytes.try_into().ok()?))
}

/// A number in four bytes: an integer of 30 bits or the upper half of a float, in hundredths if bit 0 is set.
fn rk(number: u32) -> f64 {
    let value = if number & 2 != 0 {
        f64::from(number.cast_signed() >> 2)
    } else {
        f64::from_bits(u64::from(number & !3) << 32)
    };
    if number & 1 != 0 {
        value / 100.0
    } else {
        value
    }
}

fn flag(is_error: bool, number: u8) -> Cell {
    if !is_error {
        return Cell::plain(CellValue::Boolean(number != 0));
    }
    let name = match number {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0F => "#VALUE!",
        0x17 => "#REF!",
        0x1D => "#NAME?",
        0x24 => "#NUM!",
        0x2B => "#GETTING_DATA",
        _ => "#N/A",
    };
    Cell::plain(CellValue::Error(name.to_owned()))
}

#[cfg(test)]
pub(crate) mod tests;
