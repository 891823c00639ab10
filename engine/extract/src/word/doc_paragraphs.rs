//! Properties of paragraphs in Word 97-2003: style, page break before, place in a table.

use std::collections::HashMap;

use crate::package::little_endian::{place_at, stretch, u16_at, u32_at, utf_16};
use crate::word::docx_styles::{heading_level, level_of_name};

/// Bytes of a page of properties.
// A formatted disk page (FKP) of [MS-DOC].
const PAGE_BYTES: usize = 512;
/// Most styles in a chain of `based on`.
// Word allows 11. The bound ends chains that refer to themselves.
const MAX_BASES: usize = 12;
/// A style that is based on none.
// `istdBase` of StdfBase ([MS-DOC]).
const NO_STYLE: u16 = 0xFFF;

/// What one paragraph says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) level: Option<u8>,
    pub(super) begins_page: bool,
    pub(super) in_table: bool,
    pub(super) ends_row: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Changes {
    /// Outline level, from 0.
    outline_level: Option<u32>,
    begins_page: Option<bool>,
    in_table: bool,
    ends_row: bool,
}

#[derive(Debug)]
struct Stretch {
    start: u32,
    end: u32,
    style: u16,
    changes: Changes,
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    base: u16,
    changes: Changes,
}

/// Properties by place in the stream of the document.
#[derive(Debug, Default)]
pub(super) struct Paragraphs {
    stretches: Vec<Stretch>,
    styles: HashMap<u16, Style>,
}

impl Paragraphs {
    /// Reads as many as are intact.
    pub(super) fn read(stream: &[u8], table: &[u8]) -> Paragraphs {
        let mut paragraphs = Paragraphs::default();
        paragraphs.read_styles(stream, table);
        let part = |at| {
            Some(stretch(
                table,
                place_at(stream, at)?,
                place_at(stream, at + 4)?,
            ))
        };
        let pages = part(0x102).unwrap_or_default();
        let count = pages.len().saturating_sub(4) / 8;
        // No more pages than the stream has room for.
        for page in 0..count.min(stream.len() / PAGE_BYTES + 1) {
            let number = place_at(pages, 4 * (count + 1) + 4 * page).unwrap_or(0) & 0x3F_FFFF;
            let start = number.saturating_mul(PAGE_BYTES);
            paragraphs.read_page(stretch(stream, start, PAGE_BYTES));
        }
        paragraphs.stretches.sort_by_key(|it| (it.start, it.end));
        paragraphs
    }

    /// One page: places of its paragraphs, then where in the page the properties of each lie.
    fn read_page(&mut self, page: &[u8]) -> Option<()> {
        let count = usize::from(*page.get(PAGE_BYTES - 1)?);
        for entry in 0..count {
            let (start, end) = (u32_at(page, 4 * entry)?, u32_at(page, 4 * entry + 4)?);
            let at = usize::from(*page.get(4 * (count + 1) + 13 * entry)?) * 2;
            let (style, changes) = match at {
                0 => (0, Changes::default()),
                at => read_entry(page, at).unwrap_or_default(),
            };
            self.stretches.push(Stretch {
                start,
                end,
                style,
                changes,
            });
        }
        Some(())
    }

    /// The style sheet.
    fn read_styles(&mut self, stream: &[u8], table: &[u8]) -> Option<()> {
        let sheet = stretch(table, place_at(stream, 0xA2)?, place_at(stream, 0xA6)?);
        let header = usize::from(u16_at(sheet, 0)?);
        let count = u16_at(sheet, 2)?;
        let base_bytes = usize::from(u16_at(sheet, 4)?);
        let mut at = header + 2;
        for number in 0..count {
            let length = usize::from(u16_at(sheet, at)?);
            let style = stretch(sheet, at + 2, length);
            if let Some(style) = read_style(style, base_bytes) {
                self.styles.insert(number, style);
            }
            at += 2 + length;
        }
        Some(())
    }

    /// The first that `fact` finds in a style or those that it is based on.
    fn inherited<T>(&self, style: u16, fact: impl Fn(&Style) -> Option<T>) -> Option<T> {
        let mut number = style;
        for _ in 0..MAX_BASES {
            let style = self.styles.get(&number)?;
            if let Some(found) = fact(style) {
                return Some(found);
            }
            number = style.base;
        }
        None
    }

    /// The properties of the paragraph that a place in the stream lies in.
    pub(super) fn at(&self, place: u32) -> Properties {
        let after = self.stretches.partition_point(|it| it.start <= place);
        let found = after
            .checked_sub(1)
            .and_then(|last| self.stretches.get(last));
        let Some(found) = found.filter(|it| place < it.end) else {
            return Properties::default();
        };
        let level = match found.changes.outline_level {
            Some(level) => heading_level(level),
            None => self.style_level(found.style),
        };
        let of_style = || self.inherited(found.style, |style| style.changes.begins_page);
        Properties {
            level,
            begins_page: found.changes.begins_page.or_else(of_style).unwrap_or(false),
            in_table: found.changes.in_table,
            ends_row: found.changes.ends_row,
        }
    }

    fn style_level(&self, style: u16) -> Option<u8> {
        // Styles 1 to 9 are the headings, whatever they are called.
        if let Some(level) = u8::try_from(style).ok().filter(|it| (1..=9).contains(it)) {
            return Some(level);
        }
        let level = |style: &Style| match style.changes.outline_level {
            Some(level) => Some(heading_level(level)),
            None => level_of_name(&style.name).map(Some),
        };
        self.inherited(style, level).flatten()
    }
}

/// The properties at a place of a page.
fn read_entry(page: &[u8], at: usize) -> Option<(u16, Changes)> {
    let (start, length) = match usize::from(*page.get(at)?) {
        0 => (at + 2, usize::from(*page.get(at + 1)?) * 2),
        words => (at + 1, words * 2 - 1),
    };
    let entry = stretch(page, start, length);
    let style = u16_at(entry, 0)?;
    let mut changes = Changes::default();
    read_changes(entry.get(2..)?, &mut changes);
    Some((style, changes))
}

fn read_style(style: &[u8], base_bytes: usize) -> Option<Style> {
    // Kind in the lower four bits of the second word, base in the others.
    let kind_and_base = u16_at(style, 2)?;
    let is_paragraph = kind_and_base & 0xF == 1;
    let base = kind_and_base >> 4;
    let name_chars = usize::from(u16_at(style, base_bytes)?);
    let name = utf_16(stretch(style, base_bytes + 2, name_chars * 2));
    let mut found = Style {
        name,
        base: if base == NO_STYLE { u16::MAX } else { base },
        changes: Changes::default(),
    };
    // Behind the name and its 0 lie the properties of the paragraph, after the number of the style.
    let at = base_bytes + 2 + name_chars * 2 + 2;
    if is_paragraph && let Some(length) = u16_at(style, at) {
        let list = stretch(style, at + 2, usize::from(length));
        if let Some(list) = list.get(2..) {
            read_changes(list, &mut found.changes);
        }
    }
    Some(found)
}

/// Reads modifiers of properties: a number that says how long its operand is, then the operand.
fn read_changes(mut list: &[u8], changes: &mut Changes) -> Option<()> {
    loop {
        let number = u16_at(list, 0)?;
        let operand = list.get(2..)?;
        let first = operand.first().copied();
        let is_on = first == Some(1);
        match number {
            0x2407 => changes.begins_page = Some(is_on),
            0x2416 => changes.in_table |= is_on,
            0x2417 => changes.ends_row |= is_on,
            0x2640 => changes.outline_level = first.map(u32::from),
            _ => {}
        }
        let length = match number >> 13 {
            0 | 1 => 1,
            2 | 4 | 5 => 2,
            3 => 4,
            7 => 3,
            _ if matches!(number, 0xD608 | 0xD606) => usize::from(u16_at(operand, 0)?) + 1,
            // A list of tabs may be longer than its byte can say.
            _ if number == 0xC615 && first == Some(255) => return None,
            _ => usize::from(first?) + 1,
        };
        list = operand.get(length..)?;
    }
}
