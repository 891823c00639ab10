//! Sign bits: one bit for each dimension of a row, which is the sign of the component (Charikar
//! 2002, "Similarity estimation techniques from rounding algorithms"). They are stored in blocks of
//! 64 rows, transposed so that every instruction set reads the same bytes.

use super::kernels::layout::{BLOCK_ROWS, GROUP_BYTES, GROUP_DIMS};
use super::quantise::nibbles;
use super::record::CODEC_I4;

/// Bytes of a block of 64 rows of `dim` dimensions: 512 for each 64 dimensions, rounded up.
pub(crate) fn block_bytes(dim: u32) -> u32 {
    let groups = dim.next_multiple_of(64) / GROUP_DIMS as u32;
    groups * GROUP_BYTES as u32
}

/// The number of blocks for `rows` rows.
pub(crate) fn blocks(rows: u32) -> u32 {
    rows.div_ceil(BLOCK_ROWS as u32)
}

/// A block that is being filled.
#[derive(Debug)]
pub(crate) struct Block {
    /// Byte `32 * group + row % 32` has the bits of dimensions `4 * group` and the next three, the
    /// first lowest: in its low nibble for rows below 32, in its high nibble for the others.
    bytes: Vec<u8>,
    /// Rows in the block.
    rows: usize,
}

impl Block {
    /// An empty block for rows of `dim` dimensions.
    pub(crate) fn new(dim: u32) -> Block {
        Block {
            bytes: vec![0; block_bytes(dim) as usize],
            rows: 0,
        }
    }

    /// Adds the signs of the first `dim` components of a row of `codec`. The block must not be
    /// full.
    pub(crate) fn push(&mut self, codec: u8, row: &[u8], dim: usize) {
        match codec {
            CODEC_I4 => self.push_signs(nibbles(row).take(dim).map(|nibble| nibble >= 8)),
            _ => self.push_signs(row.iter().take(dim).map(|byte| byte.cast_signed() > 0)),
        }
    }

    /// Adds a row of which each component is above 0 or not. The block must not be full.
    pub(super) fn push_signs(&mut self, signs: impl Iterator<Item = bool>) {
        let (byte, shift) = (self.rows % 32, self.rows / 32 * 4);
        for (dim, above) in signs.enumerate() {
            let at = dim / GROUP_DIMS * GROUP_BYTES + byte;
            if let Some(target) = self.bytes.get_mut(at) {
                *target |= u8::from(above) << (shift + dim % GROUP_DIMS);
            }
        }
        self.rows += 1;
    }

    /// Whether it has 64 rows.
    pub(crate) fn is_full(&self) -> bool {
        self.rows == BLOCK_ROWS
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The bytes; missing rows are zeros.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.bytes.fill(0);
        self.rows = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vector::CODEC_I8;
    use crate::index::vector::quantise::to_i4;

    #[test]
    fn a_bit_lies_where_the_specification_says() {
        let mut block = Block::new(70);
        assert_eq!(block.bytes().len(), 1024);
        for row in 0..64usize {
            let mut bytes = [0u8; 128];
            bytes[row] = 5;
            bytes[69] = 0x80;
            bytes[70] = 1;
            block.push(CODEC_I8, &bytes, 70);
        }
        assert!(block.is_full());
        for (at, byte) in block.bytes().iter().enumerate() {
            let (group, row) = (at / 32, at % 32);
            let low = if row / 4 == group { 1 << (row % 4) } else { 0 };
            let row = row + 32;
            let high = if row / 4 == group { 1 << (row % 4) } else { 0 };
            assert_eq!(*byte, low | high << 4, "byte {at}");
        }
        block.clear();
        assert!(block.is_empty() && block.bytes().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn both_codecs_have_the_same_sign_bits() {
        let row: Vec<i8> = (0..128).map(|i| (i * 53 % 255 - 127) as i8).collect();
        let bytes: Vec<u8> = row.iter().map(|byte| byte.cast_unsigned()).collect();
        let mut packed = Vec::new();
        to_i4(&row, 100, &mut packed);
        let (mut of_i8, mut of_i4) = (Block::new(100), Block::new(100));
        for _ in 0..3 {
            of_i8.push(CODEC_I8, &bytes, 100);
            of_i4.push(CODEC_I4, &packed, 100);
        }
        assert_eq!(of_i8.bytes(), of_i4.bytes());
    }
}
