//! Texts of chunks, each decoded and searched for the terms of the query once for a request.

use std::ops::Range;

use kb_types::error::{Error, Result};
use rustc_hash::FxHashMap;

use crate::search::sources::{ChunkAddress, Sources};
use crate::store::blocks::BlockReader;

/// Longest text that is kept within a request, in bytes.
// Only a document that was added as one chunk has a longer one.
const KEPT_LIMIT_BYTES: usize = 64 << 10;

/// A term of the query in a text: its number, and the range of bytes.
pub(crate) type Occurrence = (usize, Range<usize>);

/// A chunk that was read.
#[derive(Default)]
struct KeptChunk {
    text: String,
    /// What [`Analyser::highlights`](crate::index::keyword::Analyser::highlights) finds in it, in its order; `None` where
    /// it was not searched.
    occurrences: Option<Vec<Occurrence>>,
}

/// Reads the texts of chunks and keeps those of single ones.
pub(crate) struct ChunkTexts<'r> {
    sources: &'r Sources<'r>,
    /// A reader of text for each segment used so far.
    blocks: FxHashMap<usize, BlockReader<'r>>,
    /// What was put there by [`ChunkTexts::chunk`] and [`ChunkTexts::keep`].
    kept: FxHashMap<ChunkAddress, KeptChunk>,
}

impl std::fmt::Debug for ChunkTexts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkTexts")
            .field("kept", &self.kept.len())
            .finish_non_exhaustive()
    }
}

impl<'r> ChunkTexts<'r> {
    pub(crate) fn new(sources: &'r Sources<'r>) -> ChunkTexts<'r> {
        ChunkTexts {
            sources,
            blocks: FxHashMap::default(),
            kept: FxHashMap::default(),
        }
    }

    /// Bytes of text decoded so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        self.blocks.values().map(BlockReader::decoded_bytes).sum()
    }

    /// Calls `use_chunk` with the text of a chunk, at most its first [`KEPT_LIMIT_BYTES`], to add the occurrences
    /// in it; keeps both, unless the text is longer.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn chunk<T>(
        &mut self,
        address: ChunkAddress,
        use_chunk: impl FnOnce(&str, &mut Vec<Occurrence>) -> T,
    ) -> Result<T> {
        let mut chunk = KeptChunk::default();
        self.read(address.segment, address.row, 1, &mut chunk.text)?;
        let end = chunk.text.floor_char_boundary(KEPT_LIMIT_BYTES);
        let text = chunk.text.get(..end).unwrap_or_default();
        let used = use_chunk(text, chunk.occurrences.insert(Vec::new()));
        if end == chunk.text.len() {
            self.kept.insert(address, chunk);
        }
        Ok(used)
    }

    /// Reads the texts of some chunks and keeps them; those of more than [`KEPT_LIMIT_BYTES`] are not kept.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn keep<const N: usize>(&mut self, addresses: [ChunkAddress; N]) -> Result<()> {
        for address in addresses {
            if !self.kept.contains_key(&address) {
                let mut chunk = KeptChunk::default();
                self.read(address.segment, address.row, 1, &mut chunk.text)?;
                if chunk.text.len() <= KEPT_LIMIT_BYTES {
                    self.kept.insert(address, chunk);
                }
            }
        }
        Ok(())
    }

    /// The text of a chunk that is kept.
    pub(crate) fn kept(&self, address: ChunkAddress) -> Option<&str> {
        self.kept.get(&address).map(|chunk| chunk.text.as_str())
    }

    /// The occurrences in consecutive rows whose texts were all kept; `None` where a row ends within a line,
    /// which may be within a word.
    pub(crate) fn occurrences(&self, segment: usize, rows: Range<u32>) -> Option<Vec<Occurrence>> {
        let mut all = Vec::new();
        let mut start = 0;
        for row in rows.clone() {
            let kept = self.kept.get(&ChunkAddress { segment, row })?;
            if row + 1 < rows.end && !kept.text.ends_with('\n') {
                return None;
            }
            let occurrences = kept.occurrences.as_ref()?.iter();
            all.extend(
                occurrences.map(|(term, range)| (*term, range.start + start..range.end + start)),
            );
            start += kept.text.len();
        }
        Some(all)
    }

    /// The text of consecutive rows of one document.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn rows(&mut self, segment: usize, rows: Range<u32>) -> Result<String> {
        let mut text = String::new();
        let mut row = rows.start;
        while row < rows.end {
            let kept = self.kept.get(&ChunkAddress { segment, row });
            if let Some(kept) = kept {
                text.push_str(&kept.text);
                row += 1;
                continue;
            }
            // All up to the next that is kept at once.
            let is_kept = |row: &u32| {
                let address = ChunkAddress { segment, row: *row };
                self.kept.contains_key(&address)
            };
            let end = (row..rows.end).find(is_kept).unwrap_or(rows.end);
            self.read(segment, row, end - row, &mut text)?;
            row = end;
        }
        Ok(text)
    }

    fn read(&mut self, segment: usize, first: u32, count: u32, text: &mut String) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if !self.blocks.contains_key(&segment) {
            let reader = self.sources.segment(segment)?.blocks()?;
            self.blocks.insert(segment, reader);
        }
        match self.blocks.get_mut(&segment) {
            Some(reader) => reader.append(first, count, text),
            None => Err(Error::damaged("a segment without text")),
        }
    }
}
