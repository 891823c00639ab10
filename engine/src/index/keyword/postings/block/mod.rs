//! The layout of a postings list: ascending rows, each with a frequency.
//!
//! A list of two or more postings starts with their number as a varint. A list of fewer than
//! [`BLOCK_POSTINGS`] is written as pairs of varints (a *tail*). A longer list is split into blocks
//! of that many, the last one a tail, and [`PART_BLOCKS`] blocks make a part, which is one item of
//! the column:
//!
//! ```text
//! first item   varint postings
//!              per part, when there is more than one: u32 last row, u32 bytes of the part
//!              part 0
//! other items  part 1, part 2, ...
//! part         per block 9 bytes: u32 last row, u16 impact, u8 row width, u8 frequency width,
//!                                 u8 exception bytes
//!                                 (a tail: u16 bytes of the tail and u8 0 instead of the last three)
//!              per block: packed rows, packed frequencies, exceptions, or a tail
//! ```
//!
//! A packed block holds 128 numbers of `width` bits in four lanes: number `4i+lane` is at bit
//! `i*width` of the lane, and the 32-bit words of the four lanes alternate. Rows are stored as the
//! distance to the previous row less one, frequencies less one. Numbers too wide for their block
//! keep their low bits in place and the rest in an exception: a byte with the position (bit 7 set
//! for a frequency), then the high bits as a varint.
//!
//! The entries at the head of a part let a reader skip blocks by row and by impact without decoding
//! them (block-max indexes: Ding and Suel 2011).

use kb_types::error::{Error, Result};

use super::encoding::{
    BLOCK_POSTINGS, Block, MAX_NUMBER, MAX_WIDTH, best_width, pack, put_varint, take_array,
    take_varint, unpack,
};

/// Blocks of a part.
// A block has at most 128 * 2 * 24 bits, 255 bytes of exceptions and an entry of 9: 1,032 bytes. So
// a part stays below 600 KB and fits an extent of 1 MiB. A reader checksums the extents of a part
// when it opens it; smaller parts would make more items and longer directories.
pub(crate) const PART_BLOCKS: usize = 512;

/// Bytes of the entry of a block at the head of its part.
// 4 + 2 + 3: see the layout above. Entries lie together at the head of a part, so skipping reads no
// blocks.
pub(crate) const ENTRY_BYTES: usize = 9;

/// Appends one posting of a tail. `distance` is the distance to the previous row less one, or the
/// row itself for the first posting of a list.
pub(crate) fn put_posting(out: &mut Vec<u8>, distance: u32, frequency: u32) {
    let one = frequency == 1;
    // Most frequencies are 1: a flag bit saves their byte.
    put_varint(out, u64::from(distance) << 1 | u64::from(one));
    if !one {
        put_varint(out, u64::from(frequency));
    }
}

/// Reads one posting of a tail: distance and frequency.
///
/// # Errors
/// [`Error::Damaged`] when a number is cut off or out of range.
#[inline]
pub(crate) fn take_posting(bytes: &mut &[u8]) -> Result<(u32, u32)> {
    let code = take_varint(bytes)?;
    let frequency = if code & 1 == 1 {
        1
    } else {
        take_varint(bytes)?
    };
    let limit = u64::from(MAX_NUMBER);
    // The sums of up to 128 such distances stay below 2^32, so callers add without checks.
    if code >> 1 >= limit || frequency == 0 || frequency > limit {
        return Err(Error::damaged("a posting is out of range"));
    }
    Ok(((code >> 1) as u32, frequency as u32))
}

/// The shape of a packed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockShape {
    /// Bits of a row distance.
    pub(crate) row_width: u8,
    /// Bits of a frequency.
    pub(crate) frequency_width: u8,
    /// Bytes of exceptions after the packed numbers.
    pub(crate) exception_bytes: u8,
}

impl BlockShape {
    /// Bytes of the block.
    pub(crate) fn len_bytes(self) -> usize {
        (usize::from(self.row_width) + usize::from(self.frequency_width)) * (BLOCK_POSTINGS / 8)
            + usize::from(self.exception_bytes)
    }
}

/// Appends a block of row distances (less one) and frequencies (less one), all below
/// [`MAX_NUMBER`].
pub(crate) fn put_block(out: &mut Vec<u8>, distances: &Block, frequencies: &Block) -> BlockShape {
    let mut exceptions = Vec::new();
    let mut widths = [0; 2];
    for (kind, (numbers, chosen)) in [distances, frequencies].iter().zip(&mut widths).enumerate() {
        let width = best_width(numbers);
        pack(out, numbers, width);
        for (position, number) in numbers.iter().enumerate() {
            if number >> width > 0 {
                // A position is below 128, so bit 7 is free for the kind.
                exceptions.push(position as u8 | (kind as u8) << 7);
                put_varint(&mut exceptions, u64::from(number >> width));
            }
        }
        *chosen = width as u8;
    }
    out.extend_from_slice(&exceptions);
    BlockShape {
        row_width: widths[0],
        frequency_width: widths[1],
        // `best_width` keeps each kind within 127 bytes.
        exception_bytes: exceptions.len() as u8,
    }
}

/// Replaces the distances (less one) of a block by its rows: a prefix sum. `first` is the smallest
/// row it can have. Returns one past the last row.
#[inline]
pub(crate) fn rows_of_distances(first: u32, rows: &mut Block) -> u32 {
    let mut next = first;
    // Groups of four shorten the chain of dependent additions.
    for four in rows.as_chunks_mut::<4>().0 {
        let [a, b, c, d] = *four;
        let (ab, cd) = (a + b + 1, c + d + 1);
        *four = [next + a, next + ab, next + ab + c + 1, next + ab + cd + 1];
        next += ab + cd + 2;
    }
    next
}

/// The packed frequencies of a block whose rows were decoded. They are decoded on demand, because
/// most queries need few of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedFrequencies<'a> {
    /// The packed numbers.
    packed: &'a [u8],
    /// Their width.
    width: u8,
    /// The exceptions from the first one of a frequency on; they were checked.
    exceptions: &'a [u8],
}

/// Decodes the rows of a block. `first` is the smallest row it can have: one past the last row of
/// the previous block, or 0.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not give 128 rows that ascend to `last_row`, or have
/// another length.
pub(crate) fn read_rows<'a>(
    bytes: &'a [u8],
    shape: BlockShape,
    first: u32,
    last_row: u32,
    rows: &mut Block,
) -> Result<PackedFrequencies<'a>> {
    let damaged = || Error::damaged("a block of postings contradicts its entry");
    let row_bytes = usize::from(shape.row_width) * (BLOCK_POSTINGS / 8);
    let packed_bytes = row_bytes + usize::from(shape.frequency_width) * (BLOCK_POSTINGS / 8);
    let (packed, mut exceptions) = bytes
        .get(..shape.len_bytes())
        .and_then(|bytes| bytes.split_at_checked(packed_bytes))
        .ok_or_else(damaged)?;
    let (packed_rows, packed) = packed.split_at_checked(row_bytes).ok_or_else(damaged)?;
    if !unpack(packed_rows, shape.row_width, rows) || u32::from(shape.frequency_width) > MAX_WIDTH {
        return Err(damaged());
    }
    let mut of_frequencies: &[u8] = &[];
    while let Some((position, _)) = exceptions.split_first() {
        let of_frequency = position & 0x80 != 0;
        if of_frequency && of_frequencies.is_empty() {
            of_frequencies = exceptions;
        }
        let width = if of_frequency {
            shape.frequency_width
        } else {
            shape.row_width
        };
        let (at, high) = take_exception(&mut exceptions)?;
        // So that the shifted high bits stay below 2^24.
        if high >= u64::from(MAX_NUMBER) >> width {
            return Err(damaged());
        }
        if let (false, Some(number)) = (of_frequency, rows.get_mut(at)) {
            *number |= (high as u32) << width;
        }
    }
    // 128 distances below 2^24 after a row below 2^24 cannot overflow.
    if first > MAX_NUMBER {
        return Err(damaged());
    }
    if rows_of_distances(first, rows) != last_row.wrapping_add(1) {
        return Err(damaged());
    }
    Ok(PackedFrequencies {
        packed,
        width: shape.frequency_width,
        exceptions: of_frequencies,
    })
}

/// Reads an exception: position in the block and high bits.
#[inline]
fn take_exception(exceptions: &mut &[u8]) -> Result<(usize, u64)> {
    let [position] = *take_array::<1>(exceptions)?;
    Ok((usize::from(position & 0x7f), take_varint(exceptions)?))
}

impl PackedFrequencies<'_> {
    /// Decodes all of them.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the bytes contradict the format.
    pub(crate) fn read(self, frequencies: &mut Block) -> Result<()> {
        if !unpack(self.packed, self.width, frequencies) {
            return Err(Error::damaged("frequencies of a block are cut off"));
        }
        let mut exceptions = self.exceptions;
        while let Some((position, _)) = exceptions.split_first() {
            let (at, high) = take_exception(&mut exceptions)?;
            if let (true, Some(number)) = (position & 0x80 != 0, frequencies.get_mut(at)) {
                *number |= (high as u32) << self.width;
            }
        }
        for frequency in frequencies.iter_mut() {
            *frequency += 1;
        }
        Ok(())
    }

    /// The frequency of one posting of the block.
    ///
    /// # Errors
    /// As [`PackedFrequencies::read`].
    pub(crate) fn one(self, at: usize) -> Result<u32> {
        let width = usize::from(self.width);
        let bit = at / 4 * width;
        let word = |number: usize| {
            let start = (number * 4 + at % 4) * 4;
            let bytes = self.packed.get(start..start + 4);
            bytes.and_then(|bytes| bytes.first_chunk::<4>().copied())
        };
        let low = word(bit / 32).map_or(0, u32::from_le_bytes);
        // Missing for the last word of the block, where no number reaches beyond it.
        let high = word(bit / 32 + 1).map_or(0, u32::from_le_bytes);
        let both = u64::from(high) << 32 | u64::from(low);
        let mut number = (both >> (bit % 32)) as u32 & (((1u64 << width) - 1) as u32);
        let mut exceptions = self.exceptions;
        while let Some((position, _)) = exceptions.split_first() {
            let (there, high) = take_exception(&mut exceptions)?;
            if position & 0x80 != 0 && there == at {
                number |= (high as u32) << self.width;
            }
        }
        Ok(number + 1)
    }
}

/// Encodes the least [`impact`](crate::index::keyword::bm25::impact) of a block in 16 bits, rounded
/// down: the upper half of an f32. The mean length is that of the segment when it was written.
pub(crate) fn encode_impact(impact: f32) -> u16 {
    // Positive floats compare like their bits, and cutting bits rounds down. A lower impact only
    // makes a bound looser: no hit is lost. 8 bits of mantissa cost 1/256 of tightness.
    (impact.to_bits() >> 16) as u16
}

/// The impact that [`encode_impact`] stored; never above the original.
pub(crate) fn decode_impact(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests;
