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

use kb_types::error::Result;
use kb_types::syntax::SymbolSpans;
use kb_types::{Lines, Span, Symbol};

use crate::store::documents::symbols::fields::{
    Labels, count_others_than_0, damaged, put_varint, take_column, take_labels, take_number,
    take_varint,
};
use crate::store::documents::symbols::stored::{Builder, StoredSymbols};

/// Separates two names. It is no byte of UTF-8.
const SEPARATOR: u8 = 0xff;

/// Least bytes of a symbol in a body beside its name: one in each column except the lengths of comments.
// Bounds the number of symbols that a body of a hostile file can claim, before memory is taken.
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

    /// Opens a symbol, whose head ends at `byte`, and which begins on `line`.
    fn open(&mut self, position: usize, byte: u32, line: u32) {
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
        let name_end = name_end(symbol.name_start, symbol.name.len());
        let numbers = [
            Some(labels.number(symbol) as u64),
            Some(closed),
            Some(u64::from(zigzag(reference.byte, begin))),
            Some(comment),
            symbol.doc.map(|doc| u64::from(zigzag(doc.start, doc.end))),
            Some(u64::from(zigzag(start, symbol.head.start))),
            Some(u64::from(zigzag(symbol.head.start, symbol.name_start))),
            Some(u64::from(zigzag(name_end, symbol.head.end))),
            None,
            Some(u64::from(zigzag(reference.line, symbol.lines.first))),
            None,
        ];
        for (column, number) in columns.iter_mut().zip(numbers) {
            number.into_iter().for_each(|it| put_varint(column, it));
        }
        reference.open(position, symbol.head.end, symbol.lines.first);
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
fn name_end(name_start: u32, name_bytes: usize) -> u32 {
    let bytes = u32::try_from(name_bytes).unwrap_or(u32::MAX);
    name_start.wrapping_add(bytes)
}

/// The numbers of the symbols of a body, each kind of them in a row.
struct Columns<'b> {
    label: &'b [u8],
    /// How many symbols are closed before each.
    closed: &'b [u8],
    gaps: &'b [u8],
    comments: &'b [u8],
    comment_lengths: &'b [u8],
    heads: &'b [u8],
    name_starts: &'b [u8],
    head_lengths: &'b [u8],
    tails: &'b [u8],
    lines: &'b [u8],
    tail_lines: &'b [u8],
}

impl<'b> Columns<'b> {
    /// Those of `count` symbols, in the order in which they are stored.
    fn take(rest: &mut &'b [u8], count: usize) -> Result<Columns<'b>> {
        let label = take_column(rest, count)?;
        let closed = take_column(rest, count)?;
        let gaps = take_column(rest, count)?;
        let comments = take_column(rest, count)?;
        Ok(Columns {
            label,
            closed,
            gaps,
            comments,
            comment_lengths: take_column(rest, count_others_than_0(comments)?)?,
            heads: take_column(rest, count)?,
            name_starts: take_column(rest, count)?,
            head_lengths: take_column(rest, count)?,
            tails: take_column(rest, count)?,
            lines: take_column(rest, count)?,
            tail_lines: take_column(rest, count)?,
        })
    }

    /// Where the next symbol stands. Its span and its lines end with what is left behind the symbols that it holds,
    /// until it is closed.
    fn next_spans(&mut self, reference: &Reference, name_len: usize) -> Result<SymbolSpans> {
        let begin = plus(reference.byte, take_number(&mut self.gaps)?);
        let comment = take_varint(&mut self.comments)?;
        let comment_length = match comment {
            0 => 0,
            _ => take_number(&mut self.comment_lengths)?,
        };
        let distance = comment.saturating_sub(1) / 2;
        let distance = u32::try_from(distance).map_err(|_| damaged("has a number out of range"))?;
        let is_before = comment % 2 == 1;
        let start = if is_before {
            plus(begin, comment_length).wrapping_add(distance)
        } else {
            begin
        };
        let head_start = plus(start, take_number(&mut self.heads)?);
        let name_start = plus(head_start, take_number(&mut self.name_starts)?);
        let head_end = plus(
            name_end(name_start, name_len),
            take_number(&mut self.head_lengths)?,
        );
        let doc_start = if is_before {
            begin
        } else {
            plus(head_end, distance)
        };
        let first = plus(reference.line, take_number(&mut self.lines)?);
        let parent = reference.open.last();
        let parent = parent.and_then(|(parent, ..)| u32::try_from(*parent).ok());
        Ok(SymbolSpans {
            head: Span {
                start: head_start,
                end: head_end,
            },
            parent,
            doc: (comment != 0).then_some(Span {
                start: doc_start,
                end: plus(doc_start, comment_length),
            }),
            span: Span {
                start,
                end: take_number(&mut self.tails)?,
            },
            lines: Lines {
                first,
                last: take_number(&mut self.tail_lines)?,
            },
            name_start,
        })
    }
}

/// The symbols of a body. Whether they suit each other is not looked at.
///
/// # Errors
/// [`kb_types::error::Error::Damaged`].
pub(super) fn decode(body: &[u8]) -> Result<StoredSymbols> {
    let mut rest = body;
    let count = take_number(&mut rest)? as usize;
    if count.saturating_mul(MIN_SYMBOL_BYTES) > rest.len() {
        return Err(damaged("is cut off"));
    }
    let labels = take_labels(&mut rest, count)?;
    let mut columns = Columns::take(&mut rest, count)?;
    let mut separators = memchr::memchr_iter(SEPARATOR, rest);
    let mut is_last_name = false;
    let mut name_at = 0;
    let mut symbols = Builder::new(labels, count);
    let mut reference = Reference::new();
    let close = |reference: &mut Reference, symbols: &mut Builder| {
        reference.close(|position, byte, line| {
            let Some(spans) = symbols.spans_mut(position) else {
                return (byte, line);
            };
            // Until now they were what is left behind the symbols that it holds.
            let (tail, tail_lines) = (spans.span.end, spans.lines.last);
            spans.span.end = plus(byte, tail);
            spans.lines.last = plus(line, tail_lines);
            (spans.span.end, spans.lines.last)
        })
    };
    for position in 0..count {
        for _ in 0..take_number(&mut columns.closed)? {
            let done = close(&mut reference, &mut symbols);
            done.ok_or_else(|| damaged("closes more symbols than are open"))?;
        }
        let name = match separators.next() {
            Some(separator) => name_at..separator,
            None if is_last_name => return Err(damaged("has names that end early")),
            None => {
                is_last_name = true;
                name_at..rest.len()
            }
        };
        name_at = name.end + 1;
        let spans = columns.next_spans(&reference, name.len())?;
        reference.open(position, spans.head.end, spans.lines.first);
        symbols.push(take_number(&mut columns.label)?, name, spans)?;
    }
    if separators.next().is_some() || (!is_last_name && !rest.is_empty()) {
        return Err(damaged("goes on behind its names"));
    }
    while close(&mut reference, &mut symbols).is_some() {}
    // A character that stands alone between two names changes nothing of what they are, and all are checked at once.
    let names = rest.iter().map(|byte| match *byte {
        SEPARATOR => b'\n',
        byte => byte,
    });
    symbols.finish(names.collect())
}

/// From one number to another, modulo 2^32: even ones lie behind it, odd ones before.
pub(super) fn zigzag(from: u32, to: u32) -> u32 {
    let distance = to.wrapping_sub(from);
    (distance << 1) ^ 0u32.wrapping_sub(distance >> 31)
}

/// The number at a zigzag distance from another one.
pub(super) fn plus(from: u32, distance: u32) -> u32 {
    from.wrapping_add((distance >> 1) ^ 0u32.wrapping_sub(distance & 1))
}
