//! Lines of a document from one of them on, read chunk by chunk.

use kb_types::error::{Error, Result};

use crate::catalog::BoundSegment;
use crate::paging::ANSWER_LIMIT_BYTES;
use crate::store::blocks::BlockReader;
use crate::store::documents::DocumentRecord;

/// Reads lines one after the other. Holds one line and one chunk.
pub(super) struct RowReader<'s> {
    blocks: BlockReader<'s>,
    /// Chunks that were not read yet.
    row: u32,
    end: u32,
    /// Text that was read.
    text: String,
    /// First byte of it that was not returned.
    at: usize,
}

impl<'s> RowReader<'s> {
    /// Reads from the line `line` of the stored text on, counted from 1. Finds its chunk by halving.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(super) fn new(
        segment: &'s BoundSegment<'s>,
        record: &DocumentRecord,
        line: u32,
    ) -> Result<RowReader<'s>> {
        let end = record.first_row.saturating_add(record.rows);
        let chunks = segment.chunks();
        let (mut low, mut high) = (record.first_row, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if chunks.get(middle)?.at.lines.last < line {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut reader = RowReader {
            blocks: segment.blocks()?,
            row: low,
            end,
            text: String::new(),
            at: 0,
        };
        if low < end {
            let before = line.saturating_sub(chunks.get(low)?.at.lines.first);
            for _ in 0..before {
                reader.skip()?;
            }
        }
        Ok(reader)
    }

    /// The next line without its end; `None` behind the last one.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a line that no call returns, [`Error::Damaged`].
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        let mut searched = self.at;
        loop {
            let rest = self.text.as_bytes().get(searched..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', rest) {
                let start = std::mem::replace(&mut self.at, searched + end + 1);
                return Ok(self.text.get(start..searched + end));
            }
            if self.row >= self.end {
                let start = std::mem::replace(&mut self.at, self.text.len());
                let last = self.text.get(start..);
                return Ok(last.filter(|last| !last.is_empty()));
            }
            self.text.drain(..std::mem::take(&mut self.at));
            searched = self.text.len();
            if searched as u64 > ANSWER_LIMIT_BYTES {
                return Err(Error::TooLarge {
                    what: "a row of the sheet".to_owned(),
                    size: searched as u64,
                    limit: ANSWER_LIMIT_BYTES,
                });
            }
            self.blocks.append(self.row, 1, &mut self.text)?;
            self.row += 1;
        }
    }

    /// Passes over a line.
    ///
    /// # Errors
    /// As [`RowReader::next`].
    pub(super) fn skip(&mut self) -> Result<()> {
        self.next().map(|_| ())
    }
}
