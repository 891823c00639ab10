//! The bytes of a postings list: rows ascending, each with a frequency.
//!
//! A list of two or more postings starts with their number as a varint. Fewer than
//! [`BLOCK_POSTINGS`] follow as pairs of varints (a *tail*). A longer list is cut into blocks of
//! that many, the last one a tail. Blocks are grouped in parts of [`PART_BLOCKS`], each part one
//! item of the column:
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
//! Packed are 128 numbers of `width` bits in four lanes: number `4 i + lane` is at bit `i * width`
//! of the lane, and the words of the four lanes alternate. Rows are packed as distance to the row
//! before, less one; frequencies less one. Numbers too wide for their block keep the low bits in
//! place and the rest in an exception: a byte with the position (bit 7 set for a frequency), and
//! the high bits as a varint.

use crate::error::{Error, Result};

use super::kernels::rows_of_distances;

/// Postings of a packed block.
pub(super) const BLOCK_POSTINGS: usize = 128;

/// Blocks of a part: even at full width a part stays below 600 KB, so it fits one extent.
pub(super) const PART_BLOCKS: usize = 512;

/// Bytes of a block's entry at the head of its part.
pub(super) const ENTRY_BYTES: usize = 9;

/// Largest width of a packed number, and so the limit of rows and frequencies.
pub(super) const MAX_WIDTH: u32 = 24;

/// Rows of a segment and frequencies stay below this.
pub(super) const MAX_NUMBER: u32 = 1 << MAX_WIDTH;

/// Numbers of one block.
pub(super) type Block = [u32; BLOCK_POSTINGS];

/// Appends a number, seven bits a byte, low bits first.
pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number of at most ten bytes and moves `bytes` past it.
///
/// # Errors
/// [`Error::Damaged`] when it does not end or does not fit 64 bits.
#[inline]
pub(super) fn take_varint(bytes: &mut &[u8]) -> Result<u64> {
    match bytes.split_first() {
        // Most numbers are small.
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            Ok(u64::from(*byte))
        }
        _ => take_long_varint(bytes),
    }
}

fn take_long_varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0u64;
    let mut shift = 0;
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        let low = u64::from(byte & 0x7f);
        if shift == 63 && low > 1 {
            break;
        }
        number |= low << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
        shift += 7;
        if shift > 63 {
            break;
        }
    }
    Err(Error::damaged("a number in the keyword index has no end"))
}

/// Reads `len` bytes and moves `bytes` past them.
///
/// # Errors
/// [`Error::Damaged`] when there are fewer.
#[inline]
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    match bytes.split_at_checked(len) {
        Some((taken, rest)) => {
            *bytes = rest;
            Ok(taken)
        }
        None => Err(Error::damaged("a part of the keyword index ends too early")),
    }
}

/// Reads `N` bytes and moves `bytes` past them.
///
/// # Errors
/// [`Error::Damaged`] when there are fewer.
#[inline]
fn take_array<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N]> {
    match bytes.split_first_chunk::<N>() {
        Some((taken, rest)) => {
            *bytes = rest;
            Ok(taken)
        }
        None => Err(Error::damaged("a part of the keyword index ends too early")),
    }
}

/// Appends one posting of a tail; `distance` is to the row before, less one (for the first of a
/// list: the row itself).
pub(super) fn put_posting(out: &mut Vec<u8>, distance: u32, frequency: u32) {
    let one = frequency == 1;
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
pub(super) fn take_posting(bytes: &mut &[u8]) -> Result<(u32, u32)> {
    let code = take_varint(bytes)?;
    let frequency = if code & 1 == 1 {
        1
    } else {
        take_varint(bytes)?
    };
    let limit = u64::from(MAX_NUMBER);
    if code >> 1 >= limit || frequency == 0 || frequency > limit {
        return Err(Error::damaged("a posting is out of range"));
    }
    Ok(((code >> 1) as u32, frequency as u32))
}

/// Bits that hold `number`.
fn width_of(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

/// The width with the fewest bytes for the packed block and its exceptions, and those bytes.
fn best_width(numbers: &Block) -> u32 {
    let mut by_width = [0usize; 33];
    for number in numbers {
        if let Some(count) = by_width.get_mut(width_of(*number) as usize) {
            *count += 1;
        }
    }
    let widest = by_width.iter().rposition(|count| *count > 0).unwrap_or(0);
    let bytes_at = |width: usize| {
        let exceptions: usize = (width + 1..=widest)
            .map(|wide| by_width.get(wide).unwrap_or(&0) * (1 + (wide - width).div_ceil(7)))
            .sum();
        (exceptions, exceptions + width * BLOCK_POSTINGS / 8)
    };
    // Both kinds of number share 255 bytes of exceptions; each may use up half of them.
    (0..=widest)
        .filter(|width| bytes_at(*width).0 <= 127)
        .min_by_key(|width| bytes_at(*width).1)
        .unwrap_or(widest) as u32
}

fn pack(out: &mut Vec<u8>, numbers: &Block, width: u32) {
    let mask = (1u64 << width) - 1;
    let mut words = vec![[0u32; 4]; width as usize];
    for (i, four) in numbers.as_chunks::<4>().0.iter().enumerate() {
        let bit = i as u32 * width;
        let word = (bit / 32) as usize;
        for (lane, number) in four.iter().enumerate() {
            let shifted = (u64::from(*number) & mask) << (bit % 32);
            for (offset, piece) in [shifted as u32, (shifted >> 32) as u32].iter().enumerate() {
                let target = words.get_mut(word + offset).and_then(|w| w.get_mut(lane));
                if let Some(target) = target {
                    *target |= piece;
                }
            }
        }
    }
    for word in words.iter().flatten() {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "all indexes are computed from WIDTH and loop bounds, none from the bytes"
)]
fn unpack_width<const WIDTH: usize>(bytes: &[u8], out: &mut Block) -> bool {
    let Some(bytes) = bytes.get(..WIDTH * 16) else {
        return false;
    };
    let mut words = [[0u32; 4]; MAX_WIDTH as usize + 1];
    for (word, four) in words.iter_mut().zip(bytes.as_chunks::<16>().0) {
        for (lane, quarter) in word.iter_mut().zip(four.as_chunks::<4>().0) {
            *lane = u32::from_le_bytes(*quarter);
        }
    }
    let mask = ((1u64 << WIDTH) - 1) as u32;
    for i in 0..BLOCK_POSTINGS / 4 {
        let bit = i * WIDTH;
        let (word, shift) = (bit / 32, bit % 32);
        for lane in 0..4 {
            let mut number = words[word][lane] >> shift;
            if shift + WIDTH > 32 {
                number |= words[word + 1][lane] << (32 - shift);
            }
            out[i * 4 + lane] = number & mask;
        }
    }
    true
}

/// Reads a packed block of that width; false when the width or the length is impossible.
fn unpack(bytes: &[u8], width: u8, out: &mut Block) -> bool {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => {
                    out.fill(0);
                    true
                }
                $($width => unpack_width::<$width>(bytes, out),)*
                _ => false,
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
}

/// The widths and the exception bytes of a packed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockShape {
    /// Bits of a row distance.
    pub(super) row_width: u8,
    /// Bits of a frequency.
    pub(super) frequency_width: u8,
    /// Bytes of exceptions after the packed numbers.
    pub(super) exception_bytes: u8,
}

impl BlockShape {
    /// Bytes of the block.
    pub(super) fn len_bytes(self) -> usize {
        (usize::from(self.row_width) + usize::from(self.frequency_width)) * (BLOCK_POSTINGS / 8)
            + usize::from(self.exception_bytes)
    }
}

/// Appends a block of row distances (less one) and frequencies (less one), all below
/// [`MAX_NUMBER`].
pub(super) fn put_block(out: &mut Vec<u8>, distances: &Block, frequencies: &Block) -> BlockShape {
    let mut exceptions = Vec::new();
    let mut widths = [0; 2];
    for (kind, (numbers, chosen)) in [distances, frequencies].iter().zip(&mut widths).enumerate() {
        let width = best_width(numbers);
        pack(out, numbers, width);
        for (position, number) in numbers.iter().enumerate() {
            if number >> width > 0 {
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
        exception_bytes: exceptions.len() as u8,
    }
}

/// The frequencies of a block whose rows were read, still packed: few postings of a block need one.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedFrequencies<'a> {
    /// The packed numbers.
    packed: &'a [u8],
    /// Their width.
    width: u8,
    /// Exceptions from the first one of a frequency on, checked.
    exceptions: &'a [u8],
}

/// Reads the rows of a block. `first` is the smallest row that can come: one past the last row
/// before the block, or 0.
///
/// # Errors
/// [`Error::Damaged`] when the bytes do not give 128 rows that ascend to `last_row`, or have
/// another length.
pub(super) fn read_rows<'a>(
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
        let width = match of_frequency {
            true => shape.frequency_width,
            false => shape.row_width,
        };
        let (at, high) = take_exception(&mut exceptions)?;
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

/// Reads an exception: place in the block and high bits.
#[inline]
fn take_exception(exceptions: &mut &[u8]) -> Result<(usize, u64)> {
    let [position] = *take_array::<1>(exceptions)?;
    Ok((usize::from(position & 0x7f), take_varint(exceptions)?))
}

impl PackedFrequencies<'_> {
    /// Reads all of them.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the bytes contradict the format.
    pub(super) fn read(self, frequencies: &mut Block) -> Result<()> {
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
    pub(super) fn one(self, at: usize) -> Result<u32> {
        let width = usize::from(self.width);
        let bit = at / 4 * width;
        let word = |number: usize| {
            let start = (number * 4 + at % 4) * 4;
            let bytes = self.packed.get(start..start + 4);
            bytes.and_then(|bytes| bytes.first_chunk::<4>().copied())
        };
        let low = word(bit / 32).map_or(0, u32::from_le_bytes);
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

/// The least value of `impact` of a block's postings in 16 bits, rounded down: the upper half of
/// an f32.
///
/// The impact of a posting is `(0.25 + 0.75 length / mean) / frequency` with the mean length of the
/// segment; the smaller it is, the higher the posting scores.
pub(super) fn encode_impact(impact: f32) -> u16 {
    (impact.to_bits() >> 16) as u16
}

/// The number that [`encode_impact`] kept; never above the original.
pub(super) fn decode_impact(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(rows: &[u32], frequencies: &[u32]) -> (Vec<u8>, BlockShape) {
        let mut distances = [0; BLOCK_POSTINGS];
        let mut less_one = [0; BLOCK_POSTINGS];
        let mut next = 0;
        for i in 0..BLOCK_POSTINGS {
            distances[i] = rows[i] - next;
            next = rows[i] + 1;
            less_one[i] = frequencies[i] - 1;
        }
        let mut bytes = Vec::new();
        let shape = put_block(&mut bytes, &distances, &less_one);
        (bytes, shape)
    }

    fn read(bytes: &[u8], shape: BlockShape, last_row: u32) -> Result<(Block, Block)> {
        let (mut rows, mut frequencies) = ([0; BLOCK_POSTINGS], [0; BLOCK_POSTINGS]);
        let packed = read_rows(bytes, shape, 0, last_row, &mut rows)?;
        packed.read(&mut frequencies)?;
        for (at, frequency) in frequencies.iter().enumerate() {
            assert_eq!(packed.one(at)?, *frequency, "{at} of {shape:?}");
        }
        Ok((rows, frequencies))
    }

    #[test]
    fn numbers_of_every_width_read_back() {
        for width in 0..=MAX_WIDTH {
            let numbers: Block = std::array::from_fn(|i| {
                (i as u32).wrapping_mul(0x9e37_79b9) >> 8 & ((1 << width) - 1)
            });
            let mut bytes = Vec::new();
            pack(&mut bytes, &numbers, width);
            assert_eq!(bytes.len(), width as usize * 16);
            let mut back = [7; BLOCK_POSTINGS];
            assert!(unpack(&bytes, width as u8, &mut back));
            assert_eq!(back, numbers);
            assert!(width == 0 || !unpack(&bytes[1..], width as u8, &mut back));
        }
        assert!(!unpack(
            &[0; 4096],
            MAX_WIDTH as u8 + 1,
            &mut [0; BLOCK_POSTINGS]
        ));
    }

    #[test]
    fn a_few_wide_numbers_do_not_widen_the_block() {
        let mut rows: Vec<u32> = (0..128).collect();
        rows.iter_mut().skip(60).for_each(|row| *row += 1_000_000);
        rows[127] = MAX_NUMBER - 1;
        let mut frequencies = vec![1; 128];
        frequencies[3] = MAX_NUMBER;
        let (bytes, shape) = written(&rows, &frequencies);
        assert_eq!((shape.row_width, shape.frequency_width), (0, 0));
        assert!(bytes.len() < 16, "{}", bytes.len());
        let (back, back_frequencies) = read(&bytes, shape, MAX_NUMBER - 1).unwrap();
        assert_eq!(
            (&back[..], &back_frequencies[..]),
            (&rows[..], &frequencies[..])
        );
    }

    #[test]
    fn a_block_that_does_not_end_at_its_last_row_is_refused() {
        let rows: Vec<u32> = (0..128).map(|i| i * 3).collect();
        let (bytes, shape) = written(&rows, &[1; 128]);
        assert!(read(&bytes, shape, 381).is_ok());
        for last_row in [0, 380, 382, u32::MAX] {
            assert_eq!(read(&bytes, shape, last_row).unwrap_err().code(), "DAMAGED");
        }
    }

    #[test]
    fn varints_read_back_and_refuse_more_than_64_bits() {
        for number in [0, 1, 127, 128, 1 << 35, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!(take_varint(&mut rest).unwrap(), number);
            assert!(rest.is_empty());
            assert!(take_varint(&mut &bytes[..bytes.len() - 1]).is_err());
        }
        assert!(take_varint(&mut [0xff; 11].as_slice()).is_err());
        assert!(take_varint(&mut [&[0xff; 9][..], &[2]].concat().as_slice()).is_err());
    }

    #[test]
    fn an_impact_is_rounded_down_by_less_than_one_percent() {
        for impact in [0.0, 1e-6, 0.25, 0.3333, 1.0, 17.9, 70_000.0] {
            let kept = decode_impact(encode_impact(impact));
            assert!(
                kept <= impact && kept >= impact * 0.992,
                "{impact} became {kept}"
            );
        }
    }

    fn ascending() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(
            prop_oneof![8 => 0..4u32, 3 => 0..300u32, 1 => 0..100_000u32],
            BLOCK_POSTINGS,
        )
        .prop_map(|distances| {
            let mut next = 0;
            distances
                .iter()
                .map(|distance| {
                    next += distance + 1;
                    next - 1
                })
                .collect()
        })
    }

    fn frequencies() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(
            prop_oneof![9 => 1..4u32, 1 => 1..=MAX_NUMBER],
            BLOCK_POSTINGS,
        )
    }

    proptest! {
        #[test]
        fn blocks_read_back(rows in ascending(), frequencies in frequencies()) {
            let (bytes, shape) = written(&rows, &frequencies);
            prop_assert_eq!(bytes.len(), shape.len_bytes());
            let (back, back_frequencies) = read(&bytes, shape, rows[127]).unwrap();
            prop_assert_eq!(&back[..], &rows[..]);
            prop_assert_eq!(&back_frequencies[..], &frequencies[..]);
        }

        #[test]
        fn changed_bytes_give_an_error_or_ascending_rows(
            rows in ascending(),
            frequencies in frequencies(),
            at in 0..4096usize,
            value in any::<u8>(),
            shape in any::<(u8, u8, u8)>(),
            keep_shape in any::<bool>(),
        ) {
            let (mut bytes, good) = written(&rows, &frequencies);
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] = value;
            }
            let (row_width, frequency_width, exception_bytes) = shape;
            let shape = if keep_shape { good } else {
                BlockShape { row_width, frequency_width, exception_bytes }
            };
            if let Ok((rows, frequencies)) = read(&bytes, shape, rows[127]) {
                prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(frequencies.iter().all(|f| (1..=MAX_NUMBER).contains(f)));
            }
        }
    }
}
