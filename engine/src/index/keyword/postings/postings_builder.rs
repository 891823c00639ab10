//! Postings lists of a segment that is being written: compressed, in growing slices of one arena
//! (byte slices as in Lucene's `ByteBlockPool`).

use kb_types::error::Result;

use super::block::{put_posting, take_posting};

/// Bytes of an arena page. Slices never cross a page.
// A page is allocated zeroed and in one piece; half a page is wasted on average, which is nothing
// beside the memory of a segment.
const PAGE_BYTES: usize = 1 << 20;

/// Bytes of the first slice of a list, and of the largest one; each slice is twice the previous
/// one.
// Most terms have a few postings, so the first slice is small. Doubling keeps the links of a long
// list few; 16 KiB bounds what the last slice wastes.
const SLICE_BYTES: [usize; 2] = [16, 16 << 10];

/// Bytes at the end of a slice that hold the position of the next one.
// A u32 position: an arena stays below 4 GiB.
const LINK_BYTES: usize = 4;

/// The memory of all lists of a segment.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Pages of [`PAGE_BYTES`]; a position counts bytes over all pages.
    pages: Vec<Box<[u8]>>,
    /// First free position.
    free: usize,
    /// One encoded posting; the buffer is reused.
    scratch: Vec<u8>,
}

/// The postings list of one term. The last posting is kept here, so that a list of one posting
/// needs no arena.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PostingsBuilder {
    /// Postings so far.
    pub(crate) count: u32,
    /// One past the row before the last posting.
    next_row: u32,
    /// Row of the last posting.
    row: u32,
    /// Its frequency.
    frequency: u32,
    /// First slice; meaningful when `slice_bytes` is not 0.
    first: u32,
    /// Position of the next byte.
    at: u32,
    /// One past the last byte of the open slice, without the link.
    end: u32,
    /// Bytes of the open slice; 0 when there is none.
    slice_bytes: u32,
}

impl PostingsBuilder {
    /// Appends a posting; rows ascend.
    #[inline]
    pub(crate) fn push(&mut self, arena: &mut Arena, row: u32, frequency: u32) {
        debug_assert!(self.count == 0 || self.row < row);
        if self.count > 0 {
            // The last posting waits in the builder, so a term of one posting, the most frequent
            // case, takes no arena.
            self.write_waiting(arena);
            self.next_row = self.row + 1;
        }
        self.row = row;
        self.frequency = frequency;
        self.count += 1;
    }

    fn write_waiting(&mut self, arena: &mut Arena) {
        let mut scratch = std::mem::take(&mut arena.scratch);
        scratch.clear();
        put_posting(&mut scratch, self.row - self.next_row, self.frequency);
        for byte in &scratch {
            if self.at == self.end {
                self.open_slice(arena);
            }
            arena.put(self.at, &[*byte]);
            self.at += 1;
        }
        arena.scratch = scratch;
    }

    #[cold]
    fn open_slice(&mut self, arena: &mut Arena) {
        let [smallest, largest] = SLICE_BYTES;
        let len = (self.slice_bytes as usize * 2).clamp(smallest, largest);
        let start = arena.take_slice(len);
        if self.slice_bytes == 0 {
            self.first = start;
        } else {
            arena.put(self.end, &start.to_le_bytes());
        }
        self.at = start;
        self.end = start + (len - LINK_BYTES) as u32;
        self.slice_bytes = len as u32;
    }

    /// Appends the postings of the list to `rows` and `frequencies`; `bytes` is scratch memory.
    ///
    /// # Errors
    /// None on lists that were only pushed to.
    pub(crate) fn read(
        &self,
        arena: &Arena,
        bytes: &mut Vec<u8>,
        rows: &mut Vec<u32>,
        frequencies: &mut Vec<u32>,
    ) -> Result<()> {
        bytes.clear();
        let [smallest, largest] = SLICE_BYTES;
        let (mut start, mut len) = (self.first, smallest);
        let mut end = start + (len - LINK_BYTES) as u32;
        // Sizes of slices follow from their order, so the chain needs no lengths.
        while self.slice_bytes > 0 && end != self.end {
            bytes.extend_from_slice(arena.get(start, end));
            let link = arena.get(end, end + LINK_BYTES as u32).first_chunk::<4>();
            start = link.map_or(0, |link| u32::from_le_bytes(*link));
            len = (len * 2).min(largest);
            end = start + (len - LINK_BYTES) as u32;
        }
        if self.slice_bytes > 0 {
            bytes.extend_from_slice(arena.get(start, self.at));
        }
        let mut rest = bytes.as_slice();
        let mut next = 0;
        while !rest.is_empty() {
            let (distance, frequency) = take_posting(&mut rest)?;
            rows.push(next + distance);
            frequencies.push(frequency);
            next += distance + 1;
        }
        if self.count > 0 {
            rows.push(self.row);
            frequencies.push(self.frequency);
        }
        Ok(())
    }
}

impl Arena {
    /// Bytes of memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pages.len() * PAGE_BYTES
    }

    /// A free slice. All slices of an arena stay below 4 GiB together.
    fn take_slice(&mut self, len: usize) -> u32 {
        let left = self.pages.len() * PAGE_BYTES - self.free;
        if left < len {
            self.free += left;
            self.pages.push(vec![0; PAGE_BYTES].into_boxed_slice());
        }
        let start = self.free as u32;
        self.free += len;
        start
    }

    #[inline]
    fn put(&mut self, position: u32, bytes: &[u8]) {
        let (page, offset) = (
            position as usize / PAGE_BYTES,
            position as usize % PAGE_BYTES,
        );
        let target = self
            .pages
            .get_mut(page)
            .and_then(|page| page.get_mut(offset..offset + bytes.len()));
        if let Some(target) = target {
            target.copy_from_slice(bytes);
        }
    }

    fn get(&self, start: u32, end: u32) -> &[u8] {
        let (page, offset) = (start as usize / PAGE_BYTES, start as usize % PAGE_BYTES);
        let len = (end - start) as usize;
        self.pages
            .get(page)
            .and_then(|page| page.get(offset..offset + len))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_grow_side_by_side_read_back() {
        let mut arena = Arena::default();
        let mut lists = vec![PostingsBuilder::default(); 50];
        let mut expected = vec![(Vec::new(), Vec::new()); 50];
        for row in 0..60_000u32 {
            for (i, (list, expected)) in lists.iter_mut().zip(&mut expected).enumerate() {
                if row.wrapping_mul(2_654_435_761) >> 16 < 65_536 >> (i % 17) {
                    let frequency = row % 7 * (row % 300) + 1;
                    list.push(&mut arena, row, frequency);
                    expected.0.push(row);
                    expected.1.push(frequency);
                }
            }
        }
        assert!(arena.memory_bytes() >= 2 * PAGE_BYTES);
        for (list, expected) in lists.iter().zip(expected) {
            let (mut bytes, mut rows, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
            list.read(&arena, &mut bytes, &mut rows, &mut frequencies)
                .unwrap();
            assert_eq!(list.count as usize, rows.len());
            assert_eq!((rows, frequencies), expected);
        }
    }

    #[test]
    fn a_list_of_one_needs_no_arena() {
        let mut arena = Arena::default();
        let mut list = PostingsBuilder::default();
        list.push(&mut arena, 5, 9);
        assert_eq!(arena.memory_bytes(), 0);
        let (mut bytes, mut rows, mut frequencies) = (Vec::new(), Vec::new(), Vec::new());
        list.read(&arena, &mut bytes, &mut rows, &mut frequencies)
            .unwrap();
        assert_eq!((rows, frequencies), (vec![5], vec![9]));
    }
}
