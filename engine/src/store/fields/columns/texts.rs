//! The texts of a column, each once, in the order of their bytes.
//!
//! ```text
//! block     64 texts, the last block the rest: per text varint bytes shared with the text before in the block, varint
//!           further bytes, these bytes
//! varint    seven bits a byte, low bits first, high bit set on all but the last
//! ```

use kb_types::error::{Error, Result};

use crate::container::column::ColumnView;

/// Texts of a block.
pub const BLOCK_TEXTS: usize = 64;

/// The blocks of some texts, which ascend.
pub(super) fn pack<'t>(texts: &'t [&'t str]) -> impl Iterator<Item = Vec<u8>> + 't {
    texts.chunks(BLOCK_TEXTS).map(|texts| {
        let mut block = Vec::new();
        let mut before = "";
        for text in texts {
            let both = before.bytes().zip(text.bytes());
            let shared = both.take_while(|(a, b)| a == b).count();
            let further = text.as_bytes().get(shared..).unwrap_or_default();
            put_varint(&mut block, shared);
            put_varint(&mut block, further.len());
            block.extend(further);
            before = text;
        }
        block
    })
}

fn put_varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A number of at most 21 bits: texts are short.
fn take_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let byte = *bytes.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Reads texts by their places.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    pub(super) column: ColumnView<'a>,
    /// Position and bytes of each block.
    pub(super) blocks: Vec<(u64, usize)>,
    /// How many texts there are.
    pub(super) count: usize,
}

impl Texts<'_> {
    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The texts of a block; `at_most` of them.
    fn block(&self, number: usize, at_most: usize) -> Result<Vec<String>> {
        let wrong = || Error::damaged("texts of a field");
        let (position, len) = *self.blocks.get(number).ok_or_else(wrong)?;
        let mut bytes = self.column.bytes(position, len)?;
        let left = self
            .count
            .saturating_sub(number.saturating_mul(BLOCK_TEXTS));
        let mut texts: Vec<String> = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        for _ in 0..left.min(BLOCK_TEXTS).min(at_most) {
            let shared = take_varint(&mut bytes).ok_or_else(wrong)?;
            let further = take_varint(&mut bytes).ok_or_else(wrong)?;
            if shared > text.len() {
                return Err(wrong());
            }
            text.truncate(shared);
            text.extend(bytes.split_off(..further).ok_or_else(wrong)?);
            texts.push(str::from_utf8(&text).map_err(|_| wrong())?.to_owned());
        }
        Ok(texts)
    }

    /// How many texts `is_before` holds for, which come before all others.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn partition_point(&self, is_before: impl Fn(&str) -> bool) -> Result<usize> {
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let first = self.block(middle, 1)?;
            if first.first().is_some_and(|text| is_before(text)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(number) = low.checked_sub(1) else {
            return Ok(0);
        };
        let texts = self.block(number, BLOCK_TEXTS)?;
        Ok(number * BLOCK_TEXTS + texts.partition_point(|text| is_before(text)))
    }

    /// Visits all texts in their order.
    ///
    /// # Errors
    /// [`Error::Damaged`]; what `visit` says.
    pub(crate) fn each(&self, mut visit: impl FnMut(String) -> Result<()>) -> Result<()> {
        for number in 0..self.blocks.len() {
            for text in self.block(number, BLOCK_TEXTS)? {
                visit(text)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_texts(texts: &[&str], run: impl FnOnce(Texts<'_>)) {
        let packed: Vec<Vec<u8>> = pack(texts).collect();
        let mut blocks = Vec::new();
        let mut position = 0u64;
        for block in &packed {
            blocks.push((position, block.len()));
            position += block.len() as u64;
        }
        let payloads = vec![packed.concat()];
        let starts = [0, position];
        run(Texts {
            column: ColumnView::new(&starts, 0, &payloads),
            blocks,
            count: texts.len(),
        });
    }

    #[test]
    fn texts_are_found_by_their_order() {
        let names: Vec<String> = (0..500)
            .map(|n| format!("Name \u{e9} {:04}", n * 3))
            .collect();
        let long = "x".repeat(300);
        let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
        all.push(&long);
        with_texts(&all, |texts| {
            let mut read = Vec::new();
            texts
                .each(|text| {
                    read.push(text);
                    Ok(())
                })
                .unwrap();
            assert_eq!(read, all);
            for asked in [
                "",
                "Name",
                "Name \u{e9} 0003",
                "Name \u{e9} 0191",
                "Name \u{e9} 1497",
                "z",
            ] {
                let found = texts.partition_point(|text| text < asked).unwrap();
                assert_eq!(found, all.partition_point(|text| *text < asked), "{asked}");
            }
        });
    }

    #[test]
    fn damaged_texts_are_refused() {
        for bytes in [
            &[1, 1, b'a'][..],
            &[0, 2, b'a'],
            &[0, 1, 0xff],
            &[0x80, 0x80, 0x80, 1],
            &[],
        ] {
            let payloads = vec![bytes.to_vec()];
            let starts = [0, bytes.len() as u64];
            let texts = Texts {
                column: ColumnView::new(&starts, 0, &payloads),
                blocks: vec![(0, bytes.len())],
                count: 1,
            };
            assert!(texts.each(|_| Ok(())).is_err(), "{bytes:?}");
        }
    }
}
