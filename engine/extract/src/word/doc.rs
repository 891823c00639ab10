//! Word documents of Word 6 to 2003: text in pieces, paragraph styles in pages of 512 bytes. After [MS-DOC].
//!
//! Notes and comments stand behind the paragraph that refers to them, text boxes at the end.
//!
//! No crate of documents says where pages begin, which addresses of parts need. This reader has an F1 of words of 0.999
//! against other programs (docs/decisions/17-own-readers.md).

use std::iter::Peekable;
use std::ops::Range;
use std::vec;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::extracted::Extracted;
use crate::package::code_pages::encoding_of_language;
use crate::package::compound_file::CompoundFile;
use crate::package::little_endian::{place_at, stretch, u16_at, u32_at, utf_16};
use crate::package::property_set;
use crate::skip_reason::SkipReason;
use crate::word::doc_notes::{self, Characters, Note};
use crate::word::doc_paragraphs::{Paragraphs, Properties};
use crate::word::flow::{Break, Flow};

pub(crate) const FORMAT: &str = "Word 97-2003 document";

/// Signature of Word 6 and later; Word 2 has other numbers.
// `wIdent` of the FIB ([MS-DOC] 2.5.2): Word 97 and later write 0xA5EC, older versions the other
// two.
const SIGNATURES: [u16; 3] = [0xA5EC, 0xA5DC, 0xA699];
/// The first version whose text lies in pieces that a table stream lists: Word 97.
const WORD_97: u16 = 0x69;
// Bits of FibBase (MS-DOC, 2.5.2).
const ENCRYPTED: u16 = 0x100;
const SECOND_TABLE: u16 = 0x200;

/// Reads a compound file with a stream `WordDocument`.
///
/// # Errors
/// Damaged, encrypted or beyond a limit.
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let damaged = |what: &'static str| SkipReason::damaged(FORMAT, what);
    let file = CompoundFile::open(bytes).ok_or(damaged("its directory is missing"))?;
    let stream = file.read("WordDocument");
    let stream = stream.ok_or(damaged("its text is missing"))?;
    let signature = u16_at(&stream, 0).filter(|found| SIGNATURES.contains(found));
    let (Some(signature), Some(flags)) = (signature, u16_at(&stream, 10)) else {
        return Err(damaged("its header is missing or broken"));
    };
    if flags & ENCRYPTED != 0 {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let version = u16_at(&stream, 2).unwrap_or(0);
    let mut flow = Flow::default();
    let encoding = encoding_of_language(u16_at(&stream, 6).unwrap_or(0));
    if version < WORD_97 || signature != 0xA5EC {
        let text = old_text(&stream, encoding).ok_or(damaged("its text is missing"))?;
        write(
            &mut flow,
            &text,
            |_| Properties::default(),
            Following::none(),
        );
    } else {
        let (first, second) = ("0Table", "1Table");
        let names = match flags & SECOND_TABLE {
            0 => [first, second],
            _ => [second, first],
        };
        let table = names.into_iter().find_map(|name| file.read(name));
        let table = table.ok_or(damaged("its tables are missing"))?;
        let pieces = Pieces::read(&stream, &table, encoding);
        let pieces = pieces.ok_or(damaged("the list of its pieces is missing or broken"))?;
        let paragraphs = Paragraphs::read(&stream, &table);
        let place = |at: usize| paragraphs.at(pieces.place(at));
        pieces.write(&mut flow, &stream, &table, place);
    }
    let mut found = Extracted::default();
    property_set::read_properties(&file, &mut found);
    flow.finish(found)
}

/// The text of Word 6 and 95, and of files without pieces: one stretch in a code page.
fn old_text(stream: &[u8], encoding: &'static Encoding) -> Option<Vec<char>> {
    let (start, end) = (place_at(stream, 0x18)?, place_at(stream, 0x1C)?);
    let bytes = stretch(stream, start, end.checked_sub(start)?);
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Some(text.chars().collect())
}

/// The text of a document, character by character.
#[derive(Debug, Default)]
struct Pieces {
    body: Characters,
    /// Footnotes, comments, endnotes, text boxes.
    notes: Characters,
    /// The places of the first three.
    areas: [Range<u32>; 3],
    /// Stretches of the body: its first character, the place in the stream where that lies, and the bytes of one.
    places: Vec<(usize, u32, u32)>,
}

impl Pieces {
    fn read(stream: &[u8], table: &[u8], encoding: &'static Encoding) -> Option<Pieces> {
        let list = stretch(table, place_at(stream, 0x1A2)?, place_at(stream, 0x1A6)?);
        let Some(list) = piece_list(list).filter(|list| list.len() >= 16) else {
            let mut pieces = Pieces::default();
            pieces.body.text = old_text(stream, encoding)?;
            return Some(pieces);
        };
        let count = (list.len() - 4) / 12;
        let body_end = u32_at(stream, 0x4C)?;
        let notes_end = body_end.saturating_add(u32_at(stream, 0x50)?);
        // Headers lie between the notes, comments and endnotes.
        let headers_end = notes_end.saturating_add(u32_at(stream, 0x54)?);
        let macros_end = headers_end.saturating_add(u32_at(stream, 0x58)?);
        let comments_end = macros_end.saturating_add(u32_at(stream, 0x5C)?);
        let endnotes_end = comments_end.saturating_add(u32_at(stream, 0x60)?);
        let boxes_end = endnotes_end.saturating_add(u32_at(stream, 0x64)?);
        let mut pieces = Pieces {
            areas: [
                body_end..notes_end,
                macros_end..comments_end,
                comments_end..endnotes_end,
            ],
            ..Pieces::default()
        };
        // No more characters than the stream has bytes, however often pieces overlap.
        let mut left = stream.len();
        for piece in 0..count {
            let (Some(start), Some(end), Some(place)) = (
                u32_at(list, 4 * piece),
                u32_at(list, 4 * piece + 4),
                u32_at(list, 4 * (count + 1) + 8 * piece + 2),
            ) else {
                break;
            };
            let Some(length) = end.checked_sub(start).filter(|length| *length > 0) else {
                continue;
            };
            let is_narrow = place & 0x4000_0000 != 0;
            let (width, place) = match is_narrow {
                true => (1, (place & 0x3FFF_FFFF) / 2),
                false => (2, place & 0x3FFF_FFFF),
            };
            let bytes = usize::try_from(length).ok()?.saturating_mul(width);
            let bytes = stretch(stream, usize::try_from(place).ok()?, bytes.min(left));
            left -= bytes.len();
            let text = match is_narrow {
                true => {
                    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
                    text.into_owned()
                }
                false => utf_16(bytes),
            };
            let width = u32::try_from(width).ok()?;
            let mut position = start;
            if start < body_end {
                let first = pieces.body.text.len();
                pieces.places.push((first, place, width));
            }
            for character in text.chars() {
                // A piece may reach over the end of the body.
                if position < body_end {
                    pieces.body.push(position, character);
                } else if position < notes_end || (macros_end..boxes_end).contains(&position) {
                    pieces.notes.push(position, character);
                }
                let units = u32::try_from(character.len_utf16()).unwrap_or(1);
                position = position.saturating_add(units);
            }
        }
        Some(pieces)
    }

    /// Writes the body with its notes, then what nothing refers to.
    fn write(
        &self,
        flow: &mut Flow,
        stream: &[u8],
        table: &[u8],
        properties: impl Fn(usize) -> Properties,
    ) {
        let notes = doc_notes::read(stream, table, &self.areas, &self.body, &self.notes);
        let rest = doc_notes::rest(&notes, self.notes.text.len());
        let following = Following {
            notes: notes.into_iter().peekable(),
            text: &self.notes.text,
        };
        write(flow, &self.body.text, properties, following);
        for range in rest {
            let text = self.notes.text.get(range).unwrap_or_default();
            write(flow, text, |_| Properties::default(), Following::none());
        }
    }

    /// Where the character `at` of the body lies in the stream. Characters of two units shift those behind them in
    /// their piece, by less than a paragraph.
    fn place(&self, at: usize) -> u32 {
        let after = self.places.partition_point(|(first, _, _)| *first <= at);
        let piece = after.checked_sub(1).and_then(|last| self.places.get(last));
        let Some((first, place, width)) = piece else {
            return 0;
        };
        let offset = u32::try_from(at - first).unwrap_or(u32::MAX);
        place.saturating_add(offset.saturating_mul(*width))
    }
}

/// The list of pieces behind the properties that come first.
fn piece_list(mut list: &[u8]) -> Option<&[u8]> {
    loop {
        match list.first()? {
            1 => {
                let length = usize::from(u16_at(list, 1)?);
                list = list.get(length.checked_add(3)?..)?;
            }
            2 => return Some(stretch(list, 5, place_at(list, 1)?)),
            _ => return None,
        }
    }
}

/// Notes that are not yet written, by reference.
struct Following<'a> {
    notes: Peekable<vec::IntoIter<Note>>,
    /// The text of all notes.
    text: &'a [char],
}

impl Following<'_> {
    fn none() -> Self {
        Following {
            notes: Vec::new().into_iter().peekable(),
            text: &[],
        }
    }

    /// Whether a character before the one at `end` refers to one.
    fn is_due(&mut self, end: usize) -> bool {
        self.notes.peek().is_some_and(|note| note.reference < end)
    }

    /// Writes those that the paragraph before the character at `end` refers to.
    fn write(&mut self, flow: &mut Flow, end: usize) {
        while let Some(note) = self.notes.next_if(|note| note.reference < end) {
            let text = self.text.get(note.text).unwrap_or_default();
            write(flow, text, |_| Properties::default(), Following::none());
        }
    }
}

/// Writes text with its control characters: ends of paragraphs, cells, sections, fields.
fn write(
    flow: &mut Flow,
    text: &[char],
    properties: impl Fn(usize) -> Properties,
    mut following: Following<'_>,
) {
    let mut fields: Vec<bool> = Vec::new();
    let mut codes = 0usize;
    let mut paragraph = String::new();
    let mut breaks = Vec::new();
    let mut in_row = false;
    for (at, character) in text.iter().enumerate() {
        match u32::from(*character) {
            0x13 => {
                fields.push(false);
                codes += 1;
            }
            0x14 => {
                if let Some(has_result) = fields.last_mut()
                    && !std::mem::replace(has_result, true)
                {
                    codes -= 1;
                }
            }
            0x15 => {
                if fields.pop() == Some(false) {
                    codes -= 1;
                }
            }
            end @ (0x07 | 0x0D) => {
                let found = properties(at);
                // A field cannot reach over the end of a cell.
                if codes > 0 && end == 0x0D && !found.ends_row {
                    continue;
                }
                if found.begins_page && !in_row {
                    flow.begin_page(Break::NewPage);
                }
                if (found.in_table || end == 0x07) && !in_row && !found.ends_row {
                    flow.begin_row();
                    in_row = true;
                }
                flow.paragraph(&paragraph, found.level, &breaks);
                paragraph.clear();
                breaks.clear();
                following.write(flow, at);
                if found.ends_row {
                    flow.end_row();
                    in_row = false;
                } else if end == 0x07 {
                    flow.end_cell();
                } else if in_row && !found.in_table {
                    flow.end_row();
                    in_row = false;
                }
            }
            _ if codes > 0 => {}
            0x0C => {
                // Its notes stand on the page that ends.
                if !in_row && following.is_due(at) {
                    flow.paragraph(&paragraph, properties(at).level, &breaks);
                    paragraph.clear();
                    breaks.clear();
                    following.write(flow, at);
                }
                // The end of a section; at the end of the text it begins no page.
                if at + 1 < text.len() {
                    breaks.push((paragraph.len(), Break::Page));
                }
            }
            0x09 => paragraph.push('\t'),
            0x0B => paragraph.push('\n'),
            0x1E => paragraph.push('-'),
            0..=0x1F => {}
            _ => paragraph.push(*character),
        }
    }
    flow.paragraph(&paragraph, None, &breaks);
    following.write(flow, text.len());
    if in_row {
        flow.end_row();
    }
}
