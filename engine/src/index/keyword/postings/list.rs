//! A postings list after its head was read.

/// The postings of one term: their number and location.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The number of postings, `1..=rows`.
    pub(crate) count: u32,
    /// The bytes, or the only posting.
    pub(crate) kind: PostingsKind<'a>,
}

/// The form of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PostingsKind<'a> {
    /// One posting, stored in the dictionary.
    Single { row: u32, frequency: u32 },
    /// Fewer than a block: pairs of varints.
    Short(&'a [u8]),
    /// Blocks in parts.
    Blocks {
        /// Last row and bytes of each part; empty when there is only one.
        directory: &'a [[u8; 8]],
        /// Logical position of the first part.
        first_part: u64,
        /// Bytes of the first part.
        first_part_bytes: usize,
    },
}

impl Postings<'_> {
    /// The number of rows that have the term, deleted ones included.
    pub fn count(&self) -> u32 {
        self.count
    }
}
