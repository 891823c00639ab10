//! The body of a row of version 2: a symbol as what it leaves of the room that its neighbours have.
//!
//! ```text
//! body = symbols as varint, labels as varint, labels times (kind u8, keyword as varint length and UTF-8),
//!        then the columns, each with a varint for every symbol:
//!        label, closed, gap, comment, comment length, head, name, head length, tail, line, further lines;
//!        then the names as UTF-8 with a byte 0xff between them
//! ```
//! Symbols that follow each other are a few bytes apart, and most of what holds symbols ends right behind the
//! last of them, so nearly all of these numbers are small and often the same. All differences are taken modulo
//! 2^32 and written as zigzag: any list comes back as it was, and any numbers are some list.

use crate::error::Result;
use crate::store::documents::symbols::fields::{
    Labels, damaged, put_varint, take_labels, take_number, take_varint,
};
use crate::types::{Lines, Span, Symbol};

/// Stands between two names: no byte of UTF-8.
const SEPARATOR: u8 = 0xff;

/// What a symbol takes in a body at least, beside its name: a byte in each column but that of the lengths of
/// comments.
const MIN_SYMBOL_BYTES: usize = COLUMNS - 1;

const COLUMNS: usize = 11;

/// Where the next symbol is measured from, and what is still open.
#[derive(Debug)]
struct Reference {
    /// Positions of the last symbol and of those that hold it, the outermost first, each with what its end is
    /// measured from: the end of its head or of the last symbol that it holds, and the last line of that.
    open: Vec<(usize, u32, u32)>,
    /// The end of the symbol that was closed last, or of the head of the one that is open.
    byte: u32,
    /// The last line of the symbol that was closed last, or the first of the one that is open.
    line: u32,
}

impl Reference {
    fn new() -> Reference {
        let open = Vec::new();
        Reference {
            open,
            byte: 0,
            line: 1,
        }
    }

    /// Opens a symbol.
    fn open(&mut self, position: usize, symbol: &Symbol) {
        let (byte, line) = (symbol.head.end, symbol.lines.first);
        self.open.push((position, byte, line));
        (self.byte, self.line) = (byte, line);
    }

    /// Closes the innermost symbol, whose end `ends` tells by its position and by what that is measured from;
    /// none where nothing is open.
    fn close(&mut self, ends: impl FnOnce(usize, u32, u32) -> (u32, u32)) -> Option<()> {
        let (position, byte, line) = self.open.pop()?;
        let (end, last) = ends(position, byte, line);
        if let Some((_, byte, line)) = self.open.last_mut() {
            (*byte, *line) = (end.max(*byte), last.max(*line));
        }
        (self.byte, self.line) = (end, last);
        Some(())
    }
}

/// The body of these symbols.
pub(super) fn encode(symbols: &[Symbol]) -> Vec<u8> {
    let mut labels = Labels::default();
    let mut columns: [Vec<u8>; COLUMNS] = Default::default();
    // Known only once the symbols that it holds are.
    let mut tails = vec![[0; 2]; symbols.len()];
    let mut reference = Reference::new();
    let close = |reference: &mut Reference, tails: &mut Vec<[u32; 2]>| {
        reference.close(|position, byte, line| {
            let symbol = symbols.get(position);
            let (end, last) = symbol.map_or((0, 0), |it| (it.span.end, it.lines.last));
            if let Some(tail) = tails.get_mut(position) {
                *tail = [zigzag(byte, end), zigzag(line, last)];
            }
            (end, last)
        })
    };
    for (position, symbol) in symbols.iter().enumerate() {
        let parent = symbol.parent.map(|parent| parent as usize);
        let mut closed = 0;
        while reference.open.last().map(|(last, ..)| *last) != parent
            && close(&mut reference, &mut tails).is_some()
        {
            closed += 1;
        }
        let start = symbol.span.start;
        let before = symbol.doc.filter(|doc| doc.end <= start);
        let begin = before.map_or(start, |doc| doc.start);
        let comment = symbol.doc.map_or(0, |doc| match before {
            Some(doc) => 1 + 2 * u64::from(start - doc.end),
            None => 2 + 2 * u64::from(zigzag(symbol.head.end, doc.start)),
        });
        let numbers = [
            Some(labels.number(symbol) as u64),
            Some(closed),
            Some(u64::from(zigzag(reference.byte, begin))),
            Some(comment),
            symbol.doc.map(|doc| u64::from(zigzag(doc.start, doc.end))),
            Some(u64::from(zigzag(start, symbol.head.start))),
            Some(u64::from(zigzag(symbol.head.start, symbol.name_start))),
            Some(u64::from(zigzag(name_end(symbol), symbol.head.end))),
            None,
            Some(u64::from(zigzag(reference.line, symbol.lines.first))),
            None,
        ];
        for (column, number) in columns.iter_mut().zip(numbers) {
            number.into_iter().for_each(|it| put_varint(column, it));
        }
        reference.open(position, symbol);
    }
    while close(&mut reference, &mut tails).is_some() {}
    let [.., tail_bytes, _, tail_lines] = &mut columns;
    for [bytes, lines] in tails {
        put_varint(tail_bytes, u64::from(bytes));
        put_varint(tail_lines, u64::from(lines));
    }
    let mut body = labels.head(symbols.len());
    columns
        .iter()
        .for_each(|column| body.extend_from_slice(column));
    let names: Vec<&[u8]> = symbols.iter().map(|it| it.name.as_bytes()).collect();
    body.extend_from_slice(&names.join(&SEPARATOR));
    body
}

/// What the end of a head is measured from.
fn name_end(symbol: &Symbol) -> u32 {
    let bytes = u32::try_from(symbol.name.len()).unwrap_or(u32::MAX);
    symbol.name_start.wrapping_add(bytes)
}

/// The symbols of a body. Whether they suit each other is not looked at.
///
/// # Errors
/// [`crate::error::Error::Damaged`].
pub(super) fn decode(body: &[u8]) -> Result<Vec<Symbol>> {
    let mut rest = body;
    let count = take_number(&mut rest)? as usize;
    let labels = take_labels(&mut rest)?;
    if count.saturating_mul(MIN_SYMBOL_BYTES) > rest.len() {
        return Err(damaged("is cut off"));
    }
    let label = take_column(&mut rest, count)?;
    let closed = take_column(&mut rest, count)?;
    let gaps = take_column(&mut rest, count)?;
    let comments: Result<Vec<u64>> = (0..count).map(|_| take_varint(&mut rest)).collect();
    let comments = comments?;
    let with_comment = comments.iter().filter(|comment| **comment != 0).count();
    let mut comment_lengths = take_column(&mut rest, with_comment)?.into_iter();
    let heads = take_column(&mut rest, count)?;
    let names = take_column(&mut rest, count)?;
    let head_lengths = take_column(&mut rest, count)?;
    let tails = take_column(&mut rest, count)?;
    let lines = take_column(&mut rest, count)?;
    let tail_lines = take_column(&mut rest, count)?;
    let mut own_names = rest.split(|byte| *byte == SEPARATOR);
    let mut symbols: Vec<Symbol> = Vec::with_capacity(count);
    let mut reference = Reference::new();
    let close = |reference: &mut Reference, symbols: &mut Vec<Symbol>| {
        reference.close(|position, byte, line| {
            let number = |column: &[u32]| column.get(position).copied().unwrap_or_default();
            let end = plus(byte, number(&tails));
            let last = plus(line, number(&tail_lines));
            if let Some(symbol) = symbols.get_mut(position) {
                (symbol.span.end, symbol.lines.last) = (end, last);
            }
            (end, last)
        })
    };
    for position in 0..count {
        let number = |column: &[u32]| column.get(position).copied().unwrap_or_default();
        let (kind, keyword) = labels
            .get(number(&label) as usize)
            .ok_or_else(|| damaged("has an unknown label"))?;
        for _ in 0..number(&closed) {
            let done = close(&mut reference, &mut symbols);
            done.ok_or_else(|| damaged("closes more symbols than are open"))?;
        }
        let name = own_names
            .next()
            .ok_or_else(|| damaged("has names that end early"))?;
        let name =
            std::str::from_utf8(name).map_err(|_| damaged("has names that are not UTF-8"))?;
        let begin = plus(reference.byte, number(&gaps));
        let comment = comments.get(position).copied().unwrap_or_default();
        let comment_length = match comment {
            0 => 0,
            _ => comment_lengths.next().unwrap_or_default(),
        };
        let distance = comment.saturating_sub(1) / 2;
        let distance = u32::try_from(distance).map_err(|_| damaged("has a number out of range"))?;
        let is_before = comment % 2 == 1;
        let start = if is_before {
            plus(begin, comment_length).wrapping_add(distance)
        } else {
            begin
        };
        let head_start = plus(start, number(&heads));
        let mut symbol = Symbol {
            kind: *kind,
            name: name.to_owned(),
            keyword: keyword.clone(),
            head: Span {
                start: head_start,
                end: 0,
            },
            parent: None,
            doc: None,
            // Both ends follow when it is closed.
            span: Span { start, end: start },
            lines: Lines {
                first: plus(reference.line, number(&lines)),
                last: 0,
            },
            name_start: plus(head_start, number(&names)),
        };
        symbol.head.end = plus(name_end(&symbol), number(&head_lengths));
        let doc_start = if is_before {
            begin
        } else {
            plus(symbol.head.end, distance)
        };
        symbol.doc = (comment != 0).then_some(Span {
            start: doc_start,
            end: plus(doc_start, comment_length),
        });
        let parent = reference.open.last().map(|(parent, ..)| *parent);
        symbol.parent = parent.and_then(|parent| u32::try_from(parent).ok());
        reference.open(position, &symbol);
        symbols.push(symbol);
    }
    if own_names
        .next()
        .is_some_and(|name| count > 0 || !name.is_empty())
    {
        return Err(damaged("goes on behind its names"));
    }
    while close(&mut reference, &mut symbols).is_some() {}
    Ok(symbols)
}

fn take_column(rest: &mut &[u8], count: usize) -> Result<Vec<u32>> {
    (0..count).map(|_| take_number(rest)).collect()
}

/// From one number to another, modulo 2^32: even ones lie behind it, odd ones before.
fn zigzag(from: u32, to: u32) -> u32 {
    let distance = to.wrapping_sub(from);
    (distance << 1) ^ 0u32.wrapping_sub(distance >> 31)
}

/// The number at a zigzag distance from another one.
fn plus(from: u32, distance: u32) -> u32 {
    from.wrapping_add((distance >> 1) ^ 0u32.wrapping_sub(distance & 1))
}
