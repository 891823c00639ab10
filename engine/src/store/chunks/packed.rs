//! Chunk rows in blocks of 64, as many bits a number as the largest of a block needs.
//!
//! ```text
//! head   = first byte of the block in column 6 u32, first rows of documents u64, least document u32,
//!          end of the row before the block u32, its last line u32, widths u8 of document, end, last line, gap
//! block  = per row end, last line, gap; then per document its number less the least; bits fill bytes from the
//!          lowest up, the last byte with zeros
//! ```
//! Bit n of the rows that are first is 1 where row n is the first of its document. The number of a document is
//! stored once for the first row of the block and once for each further one that is first. A row begins at the
//! end of the row before in its document, `gap` lines from the last line of that; the first of a document begins
//! at byte 0, `gap` lines from line 0. Gaps are taken modulo 2^32.

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, Lines};

use crate::container::codec::{array_at, u32_at, u64_at};
use crate::container::column::ColumnView;
use crate::store::chunks::row::ChunkRow;

/// Rows of a block but the last one, which may have fewer: one bit each in the u64 of a head.
// One bit a row fits the u64 of a head. Larger blocks would pack as well, but one long number
// widens all rows of its block.
pub const BLOCK_ROWS: u32 = 64;

/// Bytes of a head: less than half a byte for each row of a full block.
pub const HEAD_BYTES: u32 = 28;

/// Bits of a number at most.
// `bits` reads a word of 64 bits: a number of 32 bits and up to 7 before it.
const MAX_WIDTH: u8 = 32;

/// What a row is told by: where the one before it ends, if that is of the same document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Before {
    end: u32,
    last_line: u32,
}

impl Before {
    /// What the row behind `row` in its document is told by.
    pub(super) fn of(row: &ChunkRow) -> Before {
        Before {
            end: row.end,
            last_line: row.lines.last,
        }
    }
}

/// What tells where the numbers of a block lie.
#[derive(Debug)]
struct Head {
    position: u32,
    /// Bit n: row n is the first of its document.
    firsts: u64,
    least_document: u32,
    before: Before,
    /// Bits of the number of a document, of an end, a last line and a gap.
    widths: [u8; 4],
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Head> {
        let widths: [u8; 4] = array_at(bytes, 24)?;
        if widths.iter().any(|width| *width > MAX_WIDTH) {
            return Err(Error::damaged("a block of chunk rows has too wide numbers"));
        }
        Ok(Head {
            position: u32_at(bytes, 0)?,
            firsts: u64_at(bytes, 4)?,
            least_document: u32_at(bytes, 12)?,
            before: Before {
                end: u32_at(bytes, 16)?,
                last_line: u32_at(bytes, 20)?,
            },
            widths,
        })
    }

    fn to_bytes(&self) -> [u8; HEAD_BYTES as usize] {
        let mut bytes = [0; HEAD_BYTES as usize];
        let numbers = [
            &self.position.to_le_bytes()[..],
            &self.firsts.to_le_bytes(),
            &self.least_document.to_le_bytes(),
            &self.before.end.to_le_bytes(),
            &self.before.last_line.to_le_bytes(),
            &self.widths,
        ];
        for (byte, stored) in bytes.iter_mut().zip(numbers.into_iter().flatten()) {
            *byte = *stored;
        }
        bytes
    }

    /// Bits of a row: its end, last line and gap; documents come behind all rows.
    fn row_bits(&self) -> usize {
        let [_, end, line, gap] = self.widths;
        usize::from(end) + usize::from(line) + usize::from(gap)
    }

    fn is_first(&self, row: u32) -> bool {
        (self.firsts >> row) & 1 == 1
    }

    /// Which of the documents of the block has a row.
    fn document_of(&self, row: u32) -> usize {
        // Row 0 has the first one, whether or not it is first in it. Shifted first: with `row` at
        // 63 a mask that includes the row itself would be a shift by 64.
        let further = (self.firsts >> 1) & ((1u64 << row) - 1);
        further.count_ones() as usize
    }

    /// Bytes of a block of so many rows.
    fn len_bytes(&self, rows: u32) -> usize {
        let documents = self.document_of(rows.saturating_sub(1)) + 1;
        let [document, ..] = self.widths;
        let bits = rows as usize * self.row_bits() + documents * usize::from(document);
        bits.div_ceil(8)
    }
}

/// One block with its head.
struct Block<'a> {
    head: Head,
    bytes: &'a [u8],
    rows: u32,
}

impl Block<'_> {
    /// The number of `width` bits from bit `at` on.
    fn bits(&self, at: usize, width: u8) -> u32 {
        let rest = self.bytes.get(at / 8..).unwrap_or_default();
        // 32 bits and up to 7 before them.
        let word = match rest.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => {
                let mut word = [0; 8];
                for (byte, stored) in word.iter_mut().zip(rest) {
                    *byte = *stored;
                }
                u64::from_le_bytes(word)
            }
        };
        // A missing word reads as zeros; the length of the block was checked when its bytes were
        // taken.
        // `width` is at most 32, checked when the head was read, so that neither shift overflows.
        let number = (word >> (at % 8)) & ((1 << width) - 1);
        number as u32
    }

    fn document(&self, row: u32) -> Result<DocumentId> {
        let [width, ..] = self.head.widths;
        let at = self.rows as usize * self.head.row_bits()
            + self.head.document_of(row) * usize::from(width);
        let number = self.head.least_document.checked_add(self.bits(at, width));
        number
            .map(DocumentId)
            .ok_or_else(|| Error::damaged("a chunk is of a document that cannot be"))
    }

    /// End and last line of a row.
    fn end(&self, row: u32) -> Before {
        let [_, end, line, _] = self.head.widths;
        let at = row as usize * self.head.row_bits();
        Before {
            end: self.bits(at, end),
            last_line: self.bits(at + usize::from(end), line),
        }
    }

    /// A row, and the byte at which it begins.
    fn row(&self, row: u32) -> Result<(ChunkRow, u32)> {
        let [_, end, line, gap] = self.head.widths;
        let before = match row.checked_sub(1) {
            _ if self.head.is_first(row) => Before::default(),
            Some(before) => self.end(before),
            None => self.head.before,
        };
        let own = self.end(row);
        let at = row as usize * self.head.row_bits() + usize::from(end) + usize::from(line);
        let lines = Lines {
            first: before.last_line.wrapping_add(self.bits(at, gap)),
            last: own.last_line,
        };
        let row = ChunkRow {
            document: self.document(row)?,
            end: own.end,
            lines,
        };
        Ok((row, before.end))
    }
}

/// Reads rows out of blocks; a look-up reads one head and at most two rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedRows<'a> {
    heads: ColumnView<'a>,
    blocks: ColumnView<'a>,
    pub(super) rows: u32,
}

impl<'a> PackedRows<'a> {
    pub(super) fn new(heads: ColumnView<'a>, blocks: ColumnView<'a>, rows: u32) -> PackedRows<'a> {
        PackedRows {
            heads,
            blocks,
            rows,
        }
    }

    /// The block of a row.
    fn block(&self, row: u32) -> Result<Block<'a>> {
        let number = row / BLOCK_ROWS;
        let first = number.saturating_mul(BLOCK_ROWS);
        if row >= self.rows {
            return Err(Error::damaged(format!("there is no chunk {row}")));
        }
        let rows = (self.rows - first).min(BLOCK_ROWS);
        let head = Head::read(self.heads.row(u64::from(number))?)?;
        let len_bytes = head.len_bytes(rows);
        // Of a block without bits there is nothing to read, maybe not even a column.
        let bytes = match len_bytes {
            0 => &[],
            _ => self.blocks.bytes(u64::from(head.position), len_bytes)?,
        };
        Ok(Block { head, bytes, rows })
    }

    /// A row, and the byte at which it begins.
    pub(super) fn get(&self, row: u32) -> Result<(ChunkRow, u32)> {
        self.block(row)?.row(row % BLOCK_ROWS)
    }

    /// The document of a row.
    pub(super) fn document(&self, row: u32) -> Result<DocumentId> {
        self.block(row)?.document(row % BLOCK_ROWS)
    }

    /// Which rows of a block are the first of their document, one bit each.
    pub(super) fn firsts(&self, block: u32) -> Result<u64> {
        Ok(Head::read(self.heads.row(u64::from(block))?)?.firsts)
    }

    /// Whether blocks and heads are, byte for byte, those of the rows that they say, one after the other and
    /// nothing else.
    pub(super) fn is_canonical(&self) -> Result<bool> {
        let (mut position, mut before) = (0, None);
        let mut row = 0;
        while row < self.rows {
            let block = self.block(row)?;
            let mut rows = Vec::with_capacity(block.rows as usize);
            for row in 0..block.rows {
                rows.push(block.row(row)?.0);
            }
            let (head, bytes) = pack(position, before.as_ref(), &rows);
            let number = u64::from(row / BLOCK_ROWS);
            if self.heads.row(number)? != head || block.bytes != bytes {
                return Ok(false);
            }
            position = position.saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            before = rows.pop();
            row += block.rows;
        }
        Ok(self.blocks.len_bytes() == u64::from(position))
    }
}

/// Head and bytes of a block of rows, of which there is at least one; `before` is the row before them.
pub(super) fn pack(
    position: u32,
    before: Option<&ChunkRow>,
    rows: &[ChunkRow],
) -> ([u8; HEAD_BYTES as usize], Vec<u8>) {
    let mut head = Head {
        position,
        firsts: 0,
        least_document: rows.iter().map(|row| row.document.0).min().unwrap_or(0),
        before: before.map(Before::of).unwrap_or_default(),
        widths: [0; 4],
    };
    let mut documents = Vec::new();
    let mut numbers = Vec::with_capacity(rows.len());
    let mut last = before;
    for (number, row) in rows.iter().enumerate() {
        let is_first = last.is_none_or(|last| last.document != row.document);
        if is_first {
            // `number` is below 64.
            head.firsts |= 1 << number;
        }
        if is_first || number == 0 {
            documents.push(row.document.0 - head.least_document);
        }
        let line = match last {
            Some(last) if !is_first => last.lines.last,
            _ => 0,
        };
        // Modulo 2^32 every pair of lines can be stored, also one that goes back, without a bit for
        // a sign.
        let gap = row.lines.first.wrapping_sub(line);
        numbers.push([row.end, row.lines.last, gap]);
        last = Some(row);
    }
    // The row before is then not needed. One form for the same rows is what `is_canonical`
    // compares.
    if head.firsts & 1 == 1 {
        head.before = Before::default();
    }
    let width = |most: Option<u32>| (u32::BITS - most.unwrap_or(0).leading_zeros()) as u8;
    let column = |column: usize| {
        numbers
            .iter()
            .filter_map(move |row| row.get(column).copied())
    };
    head.widths = [
        width(documents.iter().copied().max()),
        width(column(0).max()),
        width(column(1).max()),
        width(column(2).max()),
    ];
    let [document, widths @ ..] = head.widths;
    let mut bits = BitWriter::default();
    for row in numbers {
        row.into_iter()
            .zip(widths)
            .for_each(|(number, width)| bits.push(number, width));
    }
    for number in documents {
        bits.push(number, document);
    }
    (head.to_bytes(), bits.finish())
}

/// Writes numbers of some bits, from the lowest bit of the first byte up.
#[derive(Debug, Default)]
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that fill no byte yet.
    word: u64,
    /// How many these are: less than 8.
    bits: u8,
}

impl BitWriter {
    fn push(&mut self, number: u32, width: u8) {
        self.word |= u64::from(number) << self.bits;
        self.bits += width;
        while self.bits >= 8 {
            self.bytes.push(self.word as u8);
            self.word >>= 8;
            self.bits -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.bits > 0 {
            self.bytes.push(self.word as u8);
        }
        self.bytes
    }
}
