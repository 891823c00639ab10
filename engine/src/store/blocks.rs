//! Text blocks: the text of consecutive chunks, about 16 KB, one zstd frame each.
//!
//! Column `blocks` has a row of 24 bytes a block: logical position of its frame in column `text`
//! (u64), bytes of the frame, bytes of its text, first chunk row (u32 each), 4 bytes unused.

use std::cell::RefCell;

use crate::container::codec::{u32_at, u64_at};
use crate::container::column::{
    ColumnRecord, ColumnView, ColumnWriter, ExtentSink, SCATTERED_ORDER,
};
use crate::error::{Error, Result};
use crate::store::chunks::ChunkReader;
use crate::store::tables;
use crate::types::SegmentId;

/// A block is closed when its text has at least that many bytes.
pub const BLOCK_TARGET_BYTES: usize = 16 << 10;

/// Most text bytes of a block; only a single chunk longer than the target comes near.
pub const BLOCK_LIMIT_BYTES: usize = 16 << 20;

/// Most chunks of a block.
const BLOCK_LIMIT_ROWS: u32 = 1 << 16;

/// Bytes of a row of column `blocks`.
pub const ROW_BYTES: u32 = 24;

/// How hard text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// zstd level 3, for files that change: 75 MB/s. Level 9 gains 3 % for six times the time.
    Fast,
    /// zstd level 19 on all cores, for sealed files: 2 MB/s a core, about 10 % smaller.
    Best,
}

impl Compression {
    fn level(self) -> i32 {
        match self {
            Compression::Fast => 3,
            Compression::Best => 19,
        }
    }

    /// Threads that compress.
    fn threads(self) -> usize {
        match self {
            Compression::Fast => 1,
            Compression::Best => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Closed blocks that each thread compresses before they are written.
const BLOCKS_PER_THREAD: usize = 16;

/// Writes the text of a segment.
pub struct BlockWriter {
    /// Column `blocks`.
    rows: ColumnWriter,
    /// Column `text`.
    text: ColumnWriter,
    /// Text of the open block.
    open: Vec<u8>,
    /// First chunk row of the open block.
    first_row: u32,
    /// Rows so far, those of the open block included.
    next_row: u32,
    /// Closed blocks: first row and text.
    closed: Vec<(u32, Vec<u8>)>,
    /// One for each thread, kept between blocks: setting one up costs more than a block.
    compressors: Vec<zstd::bulk::Compressor<'static>>,
}

impl std::fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockWriter")
            .field("rows", &self.next_row)
            .finish_non_exhaustive()
    }
}

impl BlockWriter {
    /// Empty columns.
    ///
    /// # Errors
    /// [`Error::Storage`] when zstd cannot be set up.
    pub fn new(segment: SegmentId, compression: Compression) -> Result<BlockWriter> {
        let compressors = (0..compression.threads()).map(|_| {
            let mut compressor = zstd::bulk::Compressor::new(compression.level())?;
            compressor.include_checksum(true)?;
            Ok(compressor)
        });
        Ok(BlockWriter {
            rows: ColumnWriter::rows(segment, tables::BLOCKS, ROW_BYTES, SCATTERED_ORDER),
            text: ColumnWriter::items(segment, tables::TEXT, SCATTERED_ORDER),
            open: Vec::new(),
            first_row: 0,
            next_row: 0,
            closed: Vec::new(),
            compressors: compressors
                .collect::<std::io::Result<_>>()
                .map_err(zstd_failed)?,
        })
    }

    /// Appends the text of the next chunk row.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a chunk that no block can hold.
    pub fn push(&mut self, sink: &mut dyn ExtentSink, text: &str) -> Result<()> {
        if text.len() > BLOCK_LIMIT_BYTES {
            return Err(Error::TooLarge {
                what: "a chunk".to_owned(),
                size: text.len() as u64,
                limit: BLOCK_LIMIT_BYTES as u64,
            });
        }
        let full = self.open.len() + text.len() > BLOCK_LIMIT_BYTES
            || self.next_row - self.first_row >= BLOCK_LIMIT_ROWS;
        if full {
            self.close(sink)?;
        }
        self.open.extend_from_slice(text.as_bytes());
        self.next_row += 1;
        if self.open.len() >= BLOCK_TARGET_BYTES {
            self.close(sink)?;
        }
        Ok(())
    }

    fn close(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        if self.next_row == self.first_row {
            return Ok(());
        }
        let text = std::mem::take(&mut self.open);
        self.closed.push((self.first_row, text));
        self.first_row = self.next_row;
        let threads = self.compressors.len();
        match threads == 1 || self.closed.len() >= threads * BLOCKS_PER_THREAD {
            true => self.write_closed(sink),
            false => Ok(()),
        }
    }

    /// Compresses the closed blocks on all threads and writes them in order.
    fn write_closed(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        let closed = std::mem::take(&mut self.closed);
        let each = closed.len().div_ceil(self.compressors.len().max(1)).max(1);
        let shares = closed.chunks(each).zip(&mut self.compressors);
        let compress = |share: &[(u32, Vec<u8>)], with: &mut zstd::bulk::Compressor<'static>| {
            let frames = share.iter().map(|(_, text)| with.compress(text));
            frames.collect::<std::io::Result<Vec<Vec<u8>>>>()
        };
        let frames: Vec<std::io::Result<Vec<Vec<u8>>>> = std::thread::scope(|scope| {
            let mut shares: Vec<_> = shares.collect();
            // The last share is this thread's own; a thread that cannot be had is no failure.
            let own = shares.pop();
            let others: Vec<_> = shares
                .into_iter()
                .map(|(share, with)| scope.spawn(move || compress(share, with)))
                .collect();
            let own = own.map(|(share, with)| compress(share, with));
            let panicked = || std::io::Error::other("a thread panicked");
            let others = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|_| Err(panicked())));
            others.collect::<Vec<_>>().into_iter().chain(own).collect()
        });
        let mut texts = closed.iter();
        for share in frames {
            for frame in share.map_err(zstd_failed)? {
                let Some((first_row, text)) = texts.next() else {
                    break;
                };
                let position = self.text.push(sink, &frame)?;
                let mut row = Vec::with_capacity(ROW_BYTES as usize);
                row.extend_from_slice(&position.to_le_bytes());
                for number in [frame.len() as u32, text.len() as u32, *first_row, 0] {
                    row.extend_from_slice(&number.to_le_bytes());
                }
                self.rows.push(sink, &row)?;
            }
        }
        if let Some((_, mut text)) = closed.into_iter().next_back() {
            // Its memory serves the next block.
            text.clear();
            self.open = text;
        }
        Ok(())
    }

    /// Writes what is left: columns `blocks` and `text`.
    pub fn finish(mut self, sink: &mut dyn ExtentSink) -> Result<[ColumnRecord; 2]> {
        self.close(sink)?;
        self.write_closed(sink)?;
        Ok([self.rows.finish(sink)?, self.text.finish(sink)?])
    }
}

/// Where a block lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    position: u64,
    frame_bytes: usize,
    text_bytes: usize,
    first_row: u32,
}

/// Reads text by chunk row; keeps the block it read last.
pub struct BlockReader<'a> {
    /// Column `blocks`.
    rows: ColumnView<'a>,
    /// Column `text`.
    text: ColumnView<'a>,
    /// Column `chunks`.
    chunks: ChunkReader<'a>,
    /// Number and text of the last block read.
    last: Option<(u64, Vec<u8>)>,
    /// A row of a block, and where its text begins there: rows are mostly asked for in order.
    place: Option<Place>,
}

/// Where the text of a row begins.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number of the block.
    block: u64,
    row: u32,
    offset: usize,
}

impl std::fmt::Debug for BlockReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockReader")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'a> BlockReader<'a> {
    /// Over the columns `blocks` and `text`, with the chunk rows that say where chunks end.
    pub fn new(
        rows: ColumnView<'a>,
        text: ColumnView<'a>,
        chunks: ChunkReader<'a>,
    ) -> Result<BlockReader<'a>> {
        Ok(BlockReader {
            rows,
            text,
            chunks,
            last: None,
            place: None,
        })
    }

    /// The text of one chunk.
    ///
    /// # Errors
    /// [`Error::Damaged`] when rows, blocks and text contradict each other.
    pub fn chunk(&mut self, row: u32) -> Result<String> {
        let mut text = String::new();
        self.append(row, 1, &mut text)?;
        Ok(text)
    }

    /// Appends the text of `count` chunks of one document from `first` on. Chunks of a document are
    /// contiguous, so the text is never longer than a span can say.
    ///
    /// # Errors
    /// As [`BlockReader::chunk`]; [`Error::Damaged`] when the chunks are of several documents.
    pub fn append(&mut self, first: u32, count: u32, text: &mut String) -> Result<()> {
        let mut row = first;
        let end = first.checked_add(count).ok_or_else(|| no_block(first))?;
        if row == end {
            return Ok(());
        }
        let document = self.chunks.document(first)?;
        while row < end {
            let number = self.number_of(row)?;
            let block = self.block(number)?;
            let next_first = match number + 1 < self.rows.rows() {
                true => self.block(number + 1)?.first_row,
                false => end,
            };
            if next_first <= row {
                return Err(Error::damaged(format!("block {number} holds no chunk")));
            }
            let chunks = self.chunks;
            self.read(number, block)?;
            let (from, mut offset) = match self.place {
                Some(place) if place.block == number && place.row <= row => {
                    (place.row, place.offset)
                }
                _ => (block.first_row, 0),
            };
            let bytes = self.last.as_ref().map_or(&[][..], |(_, text)| text);
            for at in from..next_first.min(end) {
                let chunk = chunks.get(at)?;
                let len = chunk.at.span.len() as usize;
                if at >= row {
                    if chunk.document != document {
                        return Err(Error::damaged(format!("chunk {at} is of another document")));
                    }
                    let piece = bytes
                        .get(offset..offset + len)
                        .and_then(|piece| std::str::from_utf8(piece).ok())
                        .ok_or_else(|| Error::damaged(format!("text of chunk {at}")))?;
                    text.push_str(piece);
                }
                offset += len;
            }
            self.place = Some(Place {
                block: number,
                row: next_first.min(end),
                offset,
            });
            row = next_first;
        }
        Ok(())
    }

    /// Number of the block that holds a chunk row.
    fn number_of(&self, row: u32) -> Result<u64> {
        let (mut low, mut high) = (0, self.rows.rows());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.block(middle)?.first_row <= row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let number = low.checked_sub(1).ok_or_else(|| no_block(row))?;
        if row - self.block(number)?.first_row > BLOCK_LIMIT_ROWS {
            return Err(no_block(row));
        }
        Ok(number)
    }

    fn block(&self, number: u64) -> Result<Block> {
        let row = self.rows.row(number)?;
        Ok(Block {
            position: u64_at(row, 0)?,
            frame_bytes: u32_at(row, 8)? as usize,
            text_bytes: u32_at(row, 12)? as usize,
            first_row: u32_at(row, 16)?,
        })
    }

    fn read(&mut self, number: u64, block: Block) -> Result<&[u8]> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != number) {
            if block.text_bytes > BLOCK_LIMIT_BYTES {
                return Err(Error::damaged(format!(
                    "block {number} claims too much text"
                )));
            }
            let frame = self.text.bytes(block.position, block.frame_bytes)?;
            let mut text = self.last.take().map(|(_, text)| text).unwrap_or_default();
            decompress(number, frame, block.text_bytes, &mut text)?;
            if text.len() != block.text_bytes {
                return Err(Error::damaged(format!("block {number} has another length")));
            }
            self.last = Some((number, text));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, text)| text))
    }
}

thread_local! {
    /// Its 160 KB come from the system each time one is made and go back with it, so a thread that
    /// reads keeps one.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        const { RefCell::new(None) };
}

/// Replaces `text` by what a frame holds: `text_bytes`, or other bytes but no more than memory was
/// had for.
fn decompress(number: u64, frame: &[u8], text_bytes: usize, text: &mut Vec<u8>) -> Result<()> {
    text.clear();
    text.reserve(text_bytes);
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(zstd::bulk::Decompressor::new().map_err(zstd_failed)?),
        };
        let done = decompressor.decompress_to_buffer(frame, text);
        done.map_err(|error| Error::damaged(format!("block {number}: {error}")))?;
        Ok(())
    })
}

fn no_block(row: u32) -> Error {
    Error::damaged(format!("no text block holds chunk {row}"))
}

fn zstd_failed(error: std::io::Error) -> Error {
    Error::Storage {
        reason: format!("zstd: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::{MemoryExtents, extent_starts};
    use crate::store::chunks::{self, ChunkWriter};
    use crate::types::{ChunkSpan, DocumentId, Lines, Span};

    #[test]
    fn every_chunk_and_every_run_of_chunks_reads_back() {
        let texts: Vec<String> = (0..400usize)
            .map(|i| format!("chunk {i} ").repeat((i * 37) % 230))
            .chain(["x".repeat(300_000), "end".to_owned()])
            .collect();
        let mut sink = MemoryExtents::default();
        let mut blocks = BlockWriter::new(SegmentId(1), Compression::Fast).unwrap();
        let mut rows = ChunkWriter::new(SegmentId(1));
        let mut end = 0;
        for text in &texts {
            let start = end;
            end += text.len() as u32;
            let span = Span { start, end };
            let lines = Lines { first: 1, last: 1 };
            let chunk = ChunkSpan { span, lines };
            rows.push(&mut sink, DocumentId(7), &chunk).unwrap();
            blocks.push(&mut sink, text).unwrap();
        }
        let of_another = ChunkSpan {
            span: Span { start: 0, end: 5 },
            lines: Lines { first: 1, last: 1 },
        };
        rows.push(&mut sink, DocumentId(9), &of_another).unwrap();
        blocks.push(&mut sink, "other").unwrap();
        let chunk_record = rows.finish(&mut sink).unwrap();
        let [block_record, text_record] = blocks.finish(&mut sink).unwrap();
        let starts = [&chunk_record, &block_record, &text_record].map(extent_starts);
        let view = |i: usize, width, id| ColumnView::new(&starts[i], width, &sink.columns[&id]);
        let chunks = ChunkReader::new(view(0, chunks::ROW_BYTES, tables::CHUNKS));
        let mut reader = BlockReader::new(
            view(1, ROW_BYTES, tables::BLOCKS),
            view(2, 0, tables::TEXT),
            chunks,
        )
        .unwrap();
        for (row, text) in texts.iter().enumerate().rev() {
            assert_eq!(&reader.chunk(row as u32).unwrap(), text);
        }
        let mut all = String::new();
        reader.append(0, texts.len() as u32, &mut all).unwrap();
        assert_eq!(all, texts.concat());
        let mut some = String::new();
        reader.append(33, 77, &mut some).unwrap();
        assert_eq!(some, texts[33..110].concat());
        let count = texts.len() as u32;
        assert_eq!(reader.chunk(count).unwrap(), "other");
        assert!(reader.chunk(count + 1).is_err());
        let of_both = reader.append(count - 1, 2, &mut some).unwrap_err();
        assert!(
            of_both.to_string().contains("another document"),
            "{of_both}"
        );
    }
}
