//! The slots of the hash table over the vocabulary. The build script includes this file too: it
//! fills the table that the tokenizer reads.
//!
//! A slot has 64 bits: id (16), offset of the piece in vocab.txt (20), length in bytes (5), whether
//! the piece is inside a word (1), and 22 bits of the hash. The upper 28 bits are compared at once,
//! and the bytes of the piece only if they agree. A slot of zeros is empty. Linear probing.

/// Slots of the hash table.
// 49,513 tokens fill 55 % of them, so probe sequences are short. The table is part of the model
// file, and a fuller one would be smaller and slower.
pub(crate) const COUNT: usize = 90_000;

/// Length of the longest piece of the vocabulary, in bytes.
// The search for the longest piece of a word starts there, so no longer prefix is hashed.
pub(crate) const LONGEST_PIECE_BYTES: usize = 23;

/// The position of a piece in its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// At the start of the word.
    Start = 0,
    /// After another piece.
    Inside = 1,
}

impl Position {
    /// The hash of no bytes.
    pub(crate) const fn seed(self) -> u64 {
        match self {
            Position::Start => 0x9e37_79b9_7f4a_7c15,
            Position::Inside => 0xd1b5_4a32_d192_ed03,
        }
    }
}

/// Extends a hash by one byte, so that the hashes of all prefixes of a word are cheap.
#[inline]
pub(crate) const fn extend(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0xf135_7aea_2e62_a9c5)
}

/// The indices to probe, in order, each below [`COUNT`]. The upper bits of the hash are mixed best.
#[inline]
pub(crate) fn probe(hash: u64) -> impl Iterator<Item = usize> {
    let home = (((hash >> 32) * COUNT as u64) >> 32) as usize;
    (home..COUNT).chain(0..home)
}

/// The upper 28 bits of the slot of a piece.
#[inline]
pub(crate) const fn mark(hash: u64, position: Position, len_bytes: usize) -> u64 {
    ((hash >> 20) & 0xfff_ffc0) | ((position as u64) << 5) | len_bytes as u64
}

/// The slot of a piece; `None` if a number does not fit.
#[allow(
    dead_code,
    reason = "the build script writes slots, the engine only reads them"
)]
pub(crate) fn pack(
    hash: u64,
    position: Position,
    len_bytes: usize,
    offset_bytes: usize,
    id: usize,
) -> Option<u64> {
    let fits = (1..=LONGEST_PIECE_BYTES).contains(&len_bytes)
        && offset_bytes < 1 << 20
        && (1..1 << 16).contains(&id);
    fits.then(|| mark(hash, position, len_bytes) << 36 | (offset_bytes as u64) << 16 | id as u64)
}

/// Mark, offset in vocab.txt and id of a filled slot.
#[inline]
#[allow(
    dead_code,
    reason = "the engine reads slots, the build script only writes them"
)]
pub(crate) const fn unpack(slot: u64) -> (u64, usize, u16) {
    (slot >> 36, (slot >> 16) as usize & 0xf_ffff, slot as u16)
}
