//! Rows of symbols, and the canonical body, of which the content root is made. Bodies of version 2 are [`nested`], rows
//! of version 3 [`groups`].
//!
//! ```text
//! row    = version (2; 1 of a group), form (0 plain, 1 zstd, 2 zstd with the dictionary of the table),
//!          bytes of the body as varint, body
//! canonical body
//!        = symbols as varint, labels as varint, labels times (kind u8, keyword as varint length and UTF-8),
//!          then the columns, each with a number for every symbol:
//!          label, closed, start, length, line, further lines, name, head, head length, doc, doc length,
//!          name length; then the names as UTF-8
//! varint = LEB128: seven bits a byte, low bits first
//! ```
//! `closed` counts, of the symbol before and those that hold it, the ones that do not hold this one; `start` and
//! `line` are the distance from the symbol before, the first from 0 and 1; `name` and `head` the distance from the
//! start. `doc` is 0 without a comment, else one more than its distance from the start, zigzag; only those with a
//! comment have a `doc length`.

use kb_types::Symbol;
use kb_types::error::{Error, Result};
#[cfg(feature = "ingest")]
use zstd::bulk::Compressor;

use crate::container::MAX_VALUE_BYTES;
use crate::store::decoder::decode_frame;
use crate::store::dictionary as raw_dictionary;
use crate::store::documents::symbols::fields::{Labels, damaged, put_varint, take_number};
use crate::store::documents::symbols::groups::{self, Group, Head};
use crate::store::documents::symbols::nested;
use crate::store::documents::symbols::stored::StoredSymbols;

// Version 1 had the canonical body, in more bytes. No file that this program reads has it.
const SYMBOLS_VERSION: u8 = 2;

/// Version of rows that say where groups are, and of those of groups.
pub(super) const DIVIDED_VERSION: u8 = 3;
const GROUP_VERSION: u8 = 1;

/// Forms of a body.
// A short body does not pay for the head of a frame.
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
const ZSTD_WITH_DICTIONARY: u8 = 2;

const DICTIONARY_VERSION: u8 = 1;

/// Bytes of a body, also where it is stored compressed, and of those of all groups of a document together.
// A value of a table has at most 16 MiB, and the head of a row takes a few bytes. The same limit
// for compressed bodies bounds what a small row can expand to.
pub(super) const MAX_SYMBOLS_BYTES: usize = MAX_VALUE_BYTES - 16;

/// The canonical body of these symbols, which are as
/// [`nesting::fault`](kb_types::syntax::nesting::fault) wants them.
///
/// # Errors
/// [`Error::TooLarge`].
pub(crate) fn encode(symbols: &[Symbol]) -> Result<Vec<u8>> {
    let mut labels = Labels::default();
    let mut columns: [Vec<u8>; 12] = Default::default();
    let mut names = String::new();
    // Positions of the symbol before and of those that hold it, the outermost first.
    let mut open: Vec<u32> = Vec::new();
    let (mut start, mut line) = (0, 1);
    for (position, symbol) in (0u32..).zip(symbols) {
        let number = labels.number(symbol);
        let before = open.len();
        while open.last().is_some_and(|last| Some(*last) != symbol.parent) {
            open.pop();
        }
        let closed = before - open.len();
        open.push(position);
        let at = symbol.span.start;
        let doc = symbol.doc.map(|doc| zigzag(doc.start, at) + 1);
        let numbers = [
            Some(number as u64),
            Some(closed as u64),
            Some(distance(start, at)),
            Some(u64::from(symbol.span.len())),
            Some(distance(line, symbol.lines.first)),
            Some(distance(symbol.lines.first, symbol.lines.last)),
            Some(distance(at, symbol.name_start)),
            Some(distance(at, symbol.head.start)),
            Some(u64::from(symbol.head.len())),
            Some(doc.unwrap_or(0)),
            symbol.doc.map(|doc| u64::from(doc.len())),
            Some(symbol.name.len() as u64),
        ];
        for (column, number) in columns.iter_mut().zip(numbers) {
            number.into_iter().for_each(|it| put_varint(column, it));
        }
        names.push_str(&symbol.name);
        (start, line) = (at, symbol.lines.first);
    }
    let mut body = labels.head(symbols.len());
    columns
        .iter()
        .for_each(|column| body.extend_from_slice(column));
    body.extend_from_slice(names.as_bytes());
    check_size(&body)?;
    Ok(body)
}

fn check_size(body: &[u8]) -> Result<()> {
    if body.len() <= MAX_SYMBOLS_BYTES {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: "the list of its symbols".to_owned(),
        size: body.len() as u64,
        limit: MAX_SYMBOLS_BYTES as u64,
    })
}

/// The row of these symbols, which are as [`nesting::fault`](kb_types::syntax::nesting::fault) wants them.
///
/// # Errors
/// [`Error::TooLarge`].
#[cfg(feature = "ingest")]
pub(super) fn row(
    symbols: &[Symbol],
    compressor: &mut Compressor<'_>,
    has_dictionary: bool,
) -> Result<Vec<u8>> {
    let body = nested::encode(symbols);
    pack(SYMBOLS_VERSION, &body, compressor, has_dictionary)
}

/// The row of a group with that body.
///
/// # Errors
/// [`Error::TooLarge`].
#[cfg(feature = "ingest")]
pub(super) fn group_row(
    body: &[u8],
    compressor: &mut Compressor<'_>,
    has_dictionary: bool,
) -> Result<Vec<u8>> {
    pack(GROUP_VERSION, body, compressor, has_dictionary)
}

#[cfg(feature = "ingest")]
fn pack(
    version: u8,
    body: &[u8],
    compressor: &mut Compressor<'_>,
    has_dictionary: bool,
) -> Result<Vec<u8>> {
    check_size(body)?;
    let packed = compressor.compress(body).map_err(Error::storage)?;
    let (form, stored) = if packed.len() >= body.len() {
        (PLAIN, body)
    } else if has_dictionary {
        (ZSTD_WITH_DICTIONARY, packed.as_slice())
    } else {
        (ZSTD, packed.as_slice())
    };
    let mut row = vec![version, form];
    put_varint(&mut row, body.len() as u64);
    row.extend_from_slice(stored);
    Ok(row)
}

/// What the row of these symbols adds to a sample for a dictionary: at most `limit_bytes` of its end, where the names
/// are.
#[cfg(feature = "ingest")]
pub(crate) fn sample_of(symbols: &[Symbol], limit_bytes: usize) -> Vec<u8> {
    let mut body = nested::encode(symbols);
    body.drain(..body.len().saturating_sub(limit_bytes));
    body
}

/// The row of a dictionary.
#[cfg(feature = "ingest")]
pub(super) fn dictionary_row(dictionary: &[u8]) -> Vec<u8> {
    [&[DICTIONARY_VERSION], dictionary].concat()
}

/// The dictionary of a row.
///
/// # Errors
/// [`Error::Damaged`]; [`Error::FormatUnsupported`] for another version.
pub(super) fn dictionary(row: &[u8]) -> Result<Vec<u8>> {
    let (version, dictionary) = row
        .split_first()
        .ok_or_else(|| Error::damaged("the dictionary of symbols is empty"))?;
    if *version != DICTIONARY_VERSION {
        return Err(Error::FormatUnsupported {
            needs: format!("version {version} of the dictionary of symbols"),
            reads: format!("version {DICTIONARY_VERSION}"),
        });
    }
    raw_dictionary::check(dictionary)?;
    Ok(dictionary.to_vec())
}

/// What a row has.
#[derive(Debug)]
pub(super) enum Row {
    /// The symbols.
    Whole(StoredSymbols),
    /// Where they are.
    Divided(Vec<Group>),
}

/// What a row has. Numbers that do not fit are refused; whether the symbols suit each other is not looked at.
/// `dictionary` is asked for the dictionary of the table where the row refers to it.
///
/// # Errors
/// [`Error::Damaged`]; [`Error::FormatUnsupported`] for another version.
pub(super) fn decode<'d>(row: &[u8], dictionary: impl FnOnce() -> Result<&'d [u8]>) -> Result<Row> {
    let (version, rest) = row.split_first().ok_or_else(|| damaged("is empty"))?;
    match *version {
        SYMBOLS_VERSION => {
            unpack(rest, dictionary, MAX_SYMBOLS_BYTES, nested::decode).map(Row::Whole)
        }
        DIVIDED_VERSION => groups::groups(rest).map(Row::Divided),
        _ => Err(Error::FormatUnsupported {
            needs: format!("version {version} of the record of symbols"),
            reads: format!("versions {SYMBOLS_VERSION} and {DIVIDED_VERSION}"),
        }),
    }
}

/// Head and list of the row of a group of so many symbols. Its body takes of the bytes that are `left`: frames are
/// much shorter than what they hold, and there may be as many of them as a file has rows.
///
/// # Errors
/// As [`decode`]; [`Error::Damaged`] as well where too few bytes are left.
pub(super) fn decode_group<'d>(
    row: &[u8],
    dictionary: impl FnOnce() -> Result<&'d [u8]>,
    symbols: u32,
    left: &mut usize,
) -> Result<(Head, StoredSymbols)> {
    let (version, rest) = row.split_first().ok_or_else(|| damaged("is empty"))?;
    if *version != GROUP_VERSION {
        return Err(Error::FormatUnsupported {
            needs: format!("version {version} of a group of symbols"),
            reads: format!("version {GROUP_VERSION}"),
        });
    }
    let limit = *left;
    unpack(rest, dictionary, limit, |body| {
        *left = limit.saturating_sub(body.len());
        groups::decode(body, symbols)
    })
}

/// What `decode` makes of the body of a row behind its version, which has at most `limit` bytes.
fn unpack<'d, T>(
    rest: &[u8],
    dictionary: impl FnOnce() -> Result<&'d [u8]>,
    limit: usize,
    decode: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let (form, mut rest) = rest.split_first().ok_or_else(|| damaged("is cut off"))?;
    let body_bytes = take_number(&mut rest)? as usize;
    if body_bytes > limit {
        return Err(damaged("is too long"));
    }
    match *form {
        PLAIN if rest.len() == body_bytes => decode(rest),
        PLAIN => Err(damaged("has another length than it says")),
        ZSTD | ZSTD_WITH_DICTIONARY => {
            let dictionary = match *form {
                ZSTD => &[],
                _ => dictionary()?,
            };
            let body = decode_frame(dictionary, rest, body_bytes);
            let body = body.map_err(|error| damaged(&format!("is no zstd frame: {error}")))?;
            decode(&body)
        }
        _ => Err(damaged("has an unknown form")),
    }
}

/// From one number to a later one; they ascend.
fn distance(from: u32, to: u32) -> u64 {
    u64::from(to.saturating_sub(from))
}

/// The distance to `to` from `from`: even ones lie behind it, odd ones before.
fn zigzag(to: u32, from: u32) -> u64 {
    match to.checked_sub(from) {
        Some(behind) => u64::from(behind) * 2,
        None => u64::from(from - to) * 2 - 1,
    }
}

/// These symbols as they come from their body.
#[cfg(test)]
pub(crate) fn stored(symbols: &[Symbol]) -> StoredSymbols {
    nested::decode(&nested::encode(symbols)).unwrap()
}

#[cfg(test)]
pub(super) mod tests;
