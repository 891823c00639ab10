//! What the bodies of rows of symbols are made of: varints and labels.

use kb_types::error::{Error, Result};
use kb_types::{Symbol, SymbolKind};

/// Kind and keyword of a symbol, by number.
#[derive(Debug, Default)]
pub(super) struct Labels<'s> {
    labels: Vec<(SymbolKind, &'s str)>,
}

impl<'s> Labels<'s> {
    /// The number of the label of a symbol; labels are numbered in the order in which they first come.
    pub(super) fn number(&mut self, symbol: &'s Symbol) -> usize {
        let label = (symbol.kind, symbol.keyword.as_str());
        // Linear: a language has some dozens of labels.
        let number = self.labels.iter().position(|known| *known == label);
        number.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        })
    }

    /// The start of a body: how many symbols there are, and the labels.
    pub(super) fn head(&self, symbols: usize) -> Vec<u8> {
        let mut body = Vec::new();
        put_varint(&mut body, symbols as u64);
        put_varint(&mut body, self.labels.len() as u64);
        for (kind, keyword) in &self.labels {
            body.push(*kind as u8);
            put_varint(&mut body, keyword.len() as u64);
            body.extend_from_slice(keyword.as_bytes());
        }
        body
    }
}

/// Takes the labels of a list of so many symbols from the front. Each is that of a symbol, so there are no more: empty
/// ones take two bytes of a row, and many more of memory.
pub(super) fn take_labels(rest: &mut &[u8], symbols: usize) -> Result<Vec<(SymbolKind, String)>> {
    let count = take_number(rest)? as usize;
    if count > symbols {
        return Err(damaged("has more labels than symbols"));
    }
    let mut labels = Vec::new();
    for _ in 0..count {
        let (kind, behind) = rest.split_first().ok_or_else(|| damaged("is cut off"))?;
        *rest = behind;
        let kind = SymbolKind::from_number(*kind).ok_or_else(|| damaged("has an unknown kind"))?;
        let length = take_number(rest)? as usize;
        let (keyword, behind) = rest
            .split_at_checked(length)
            .ok_or_else(|| damaged("is cut off"))?;
        *rest = behind;
        let keyword = std::str::from_utf8(keyword);
        let keyword = keyword.map_err(|_| damaged("has a keyword that is not UTF-8"))?;
        labels.push((kind, keyword.to_owned()));
    }
    Ok(labels)
}

pub(super) fn damaged(what: &str) -> Error {
    Error::damaged(format!("a list of symbols {what}"))
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a varint of at most five bytes from the front.
#[inline(always)]
pub(super) fn take_varint(rest: &mut &[u8]) -> Result<u64> {
    match rest.split_first() {
        // Nearly all of them, so without a call.
        Some((byte, behind)) if *byte < 0x80 => {
            *rest = behind;
            Ok(u64::from(*byte))
        }
        _ => take_long_varint(rest),
    }
}

fn take_long_varint(rest: &mut &[u8]) -> Result<u64> {
    let (mut number, mut shift) = (0u64, 0);
    while let Some((byte, behind)) = rest.split_first() {
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
        shift += 7;
        // Five groups of seven bits hold every u32.
        if shift > 28 {
            break;
        }
    }
    Err(damaged("has a number without an end"))
}

/// Takes a varint that fits 32 bits from the front.
#[inline(always)]
pub(super) fn take_number(rest: &mut &[u8]) -> Result<u32> {
    match rest.split_first() {
        Some((byte, behind)) if *byte < 0x80 => {
            *rest = behind;
            Ok(u32::from(*byte))
        }
        _ => take_long_number(rest),
    }
}

fn take_long_number(rest: &mut &[u8]) -> Result<u32> {
    u32::try_from(take_long_varint(rest)?).map_err(|_| damaged("has a number out of range"))
}

/// Takes the bytes of a column of `count` varints from the front. What they are is not looked at, so that all columns
/// can be read side by side, without a copy.
pub(super) fn take_column<'b>(rest: &mut &'b [u8], count: usize) -> Result<&'b [u8]> {
    let (mut left, mut length) = (count, 0);
    let (words, _) = rest.as_chunks::<8>();
    for word in words {
        // So the last varint ends behind this word.
        if left <= word.len() {
            break;
        }
        // The top bit of a byte is 0 where a varint ends.
        let last_bytes = !u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        left -= last_bytes.count_ones() as usize;
        length += word.len();
    }
    let mut behind = rest.get(length..).unwrap_or_default().iter();
    while left > 0 {
        let byte = behind.next().ok_or_else(|| damaged("is cut off"))?;
        left -= usize::from(byte & 0x80 == 0);
        length += 1;
    }
    let (column, behind) = rest
        .split_at_checked(length)
        .ok_or_else(|| damaged("is cut off"))?;
    *rest = behind;
    Ok(column)
}

/// How many varints of a column are not 0.
pub(super) fn count_others_than_0(mut column: &[u8]) -> Result<usize> {
    let mut count = 0;
    while !column.is_empty() {
        count += usize::from(take_varint(&mut column)? != 0);
    }
    Ok(count)
}
