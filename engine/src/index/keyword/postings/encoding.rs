//! Integer codes: varints, and blocks of 128 bit-packed numbers.
//!
//! A block is packed in four interleaved lanes, so that SIMD instructions unpack four numbers at a
//! time: the layout of SIMD-BP128 (Lemire and Boytsov 2015, "Decoding billions of integers per
//! second through vectorization"). Numbers too wide for their block keep their low bits in place
//! and the rest apart, as in PForDelta (Zukowski et al. 2006, "Super-Scalar RAM-CPU Cache
//! Compression").

use kb_types::error::{Error, Result};

/// Postings of a packed block.
// As in Lucene and tantivy. 128 numbers of `w` bits fill `4 w` words of 32 bits, so every width
// packs without a remainder.
pub(crate) const BLOCK_POSTINGS: usize = 128;

/// The largest width of a packed number in bits.
// A segment has at most 2^24 chunks (docs/limits.md), so a row fits, and whole numbers up to it are
// exact in an f32.
pub(crate) const MAX_WIDTH: u32 = 24;

/// The limit of rows and frequencies.
pub(crate) const MAX_NUMBER: u32 = 1 << MAX_WIDTH;

/// The numbers of one block.
pub(crate) type Block = [u32; BLOCK_POSTINGS];

/// Appends a number as LEB128: seven bits a byte, low bits first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
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
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Result<u64> {
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
        // The tenth byte has room for one bit.
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
pub(crate) fn take_bytes<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
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
pub(crate) fn take_array<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N]> {
    match bytes.split_first_chunk::<N>() {
        Some((taken, rest)) => {
            *bytes = rest;
            Ok(taken)
        }
        None => Err(Error::damaged("a part of the keyword index ends too early")),
    }
}

/// The number of bits that `number` needs.
fn width_of(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

/// The width for which the packed block and its exceptions take the fewest bytes.
pub(crate) fn best_width(numbers: &Block) -> u32 {
    let mut by_width = [0usize; 33];
    for number in numbers {
        if let Some(count) = by_width.get_mut(width_of(*number) as usize) {
            *count += 1;
        }
    }
    let widest = by_width.iter().rposition(|count| *count > 0).unwrap_or(0);
    let bytes_at = |width: usize| {
        // An exception takes its position and seven high bits in each further byte.
        let exceptions: usize = (width + 1..=widest)
            .map(|wide| by_width.get(wide).unwrap_or(&0) * (1 + (wide - width).div_ceil(7)))
            .sum();
        (exceptions, exceptions + width * BLOCK_POSTINGS / 8)
    };
    // Rows and frequencies share 255 bytes of exceptions; each may use half of them.
    (0..=widest)
        // `widest` itself has no exceptions, so some width always passes.
        .filter(|width| bytes_at(*width).0 <= 127)
        .min_by_key(|width| bytes_at(*width).1)
        .unwrap_or(widest) as u32
}

pub(crate) fn pack(out: &mut Vec<u8>, numbers: &Block, width: u32) {
    let mask = (1u64 << width) - 1;
    // 128 numbers in four lanes: 32 numbers of `width` bits are `width` words a lane.
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
    // One word more than needed: a number that ends at a word boundary looks at the next one.
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

/// Unpacks a block of that width; false when there is no such width or the bytes are too few.
pub(crate) fn unpack(bytes: &[u8], width: u8, out: &mut Block) -> bool {
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
    // One function for each width: the compiler unrolls loops whose shifts are constants. 24 copies
    // are the price.
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
}
