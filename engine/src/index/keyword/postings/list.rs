//! A postings list that the dictionary has located and whose head was read.

/// Where the postings of one term are, and how many there are.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// Number of postings, `1..=rows`.
    pub(crate) count: u32,
    /// The bytes, or the only posting.
    pub(crate) kind: PostingsKind<'a>,
}

/// The form of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PostingsKind<'a> {
    /// One posting, told by the dictionary.
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
    /// How many rows have the term, deleted chunks included.
    pub fn count(&self) -> u32 {
        self.count
    }
}
