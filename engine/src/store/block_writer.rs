//! Writes the text of a segment: columns `blocks`, `text` and `text dictionary`.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::container::column::{
    ColumnRecord, ColumnWriter, ExtentSink, MAX_ORDER, SCATTERED_ORDER,
};
use crate::store::blocks::{BLOCK_LIMIT_BYTES, BLOCK_LIMIT_ROWS, ROW_BYTES};
use crate::store::{dictionary, tables};

/// How the text of a segment is cut and what its blocks may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// Of segments with at least so much text.
    from_bytes: u64,
    /// Most bytes of the dictionary; 0 for none.
    dictionary_bytes: usize,
    /// A block is closed when its text has at least that many bytes: a hit decodes one, so less is
    /// faster, and more is smaller in the file.
    block_target_bytes: usize,
    /// The same in sealed files.
    sealed_block_target_bytes: usize,
}

/// Layouts by ascending size of the text.
// Measured in docs/decisions/05-text-blocks.md. The second layout is for a single repository: 4.7
// MB of Python and its manual take 0.286 of themselves instead of 0.288, and a hybrid search, which
// reads 20 texts, takes 0.62 ms instead of 0.75 ms. The third: 141.7 MB of source code and manuals
// take 0.212 of themselves instead of 0.234 with the first when sealed, 0.263 instead of 0.262 when
// just indexed, with half as much to decode for a hit. With the fourth a hit decodes half as much
// again in files that change, and three quarters when sealed, which are no larger.
const LAYOUTS: [Layout; 4] = [
    Layout {
        from_bytes: 0,
        dictionary_bytes: 0,
        // Without a dictionary smaller blocks find less to refer to.
        block_target_bytes: 16 << 10,
        sealed_block_target_bytes: 16 << 10,
    },
    Layout {
        from_bytes: 2 << 20,
        // A dictionary is stored once for each segment, so it must stay small beside 2 MB of text.
        dictionary_bytes: 48 << 10,
        block_target_bytes: 6 << 10,
        sealed_block_target_bytes: 6 << 10,
    },
    Layout {
        from_bytes: 8 << 20,
        dictionary_bytes: 112 << 10,
        // Blocks of 4 to 5 KB would take 1.9 to 4.4 % more.
        block_target_bytes: 8 << 10,
        sealed_block_target_bytes: 8 << 10,
    },
    Layout {
        from_bytes: 16 << 20,
        dictionary_bytes: 256 << 10,
        block_target_bytes: 4 << 10,
        sealed_block_target_bytes: 6 << 10,
    },
];

impl Layout {
    /// That of a segment with so much text.
    fn of(text_bytes: u64) -> Layout {
        let [smallest, larger @ ..] = LAYOUTS;
        let fits = larger
            .into_iter()
            .rfind(|layout| text_bytes >= layout.from_bytes);
        fits.unwrap_or(smallest)
    }
}

/// A sample of the text of a segment, taken before the segment is written.
#[derive(Debug)]
pub struct TextSample {
    /// Pieces from all over the text, [`dictionary::SAMPLE_BYTES`] in all.
    pub pieces: String,
    /// Bytes of the whole text.
    pub text_bytes: u64,
}

impl TextSample {
    /// Of how many chunks one is in a sample of so much text; `None` when it is too little for a
    /// dictionary.
    pub fn step(text_bytes: u64) -> Option<u64> {
        let has_dictionary = Layout::of(text_bytes).dictionary_bytes > 0;
        has_dictionary.then(|| text_bytes.div_ceil(dictionary::SAMPLE_BYTES as u64))
    }
}

/// Bytes that a text takes in a block of its own, as [`Compression::Fast`] compresses without a
/// dictionary. Takes memory for as much, and as long as writing it.
///
/// # Errors
/// [`Error::Storage`] when zstd cannot be set up.
pub(crate) fn frame_bytes(text: &str) -> Result<usize> {
    let frame = zstd::bulk::compress(text.as_bytes(), Compression::Fast.level());
    frame.map(|frame| frame.len()).map_err(zstd_error)
}

/// How hard text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// zstd level 1 without a dictionary, for text that is written anew within the same run.
    Brief,
    /// zstd level 6, for files that change: 55 MB/s. With a dictionary it takes a tenth less than level 3.
    Fast,
    /// zstd level 16 on all cores, for sealed files: a tenth smaller, a fifth where a segment has a
    /// dictionary. Level 19 takes two to three times as long with a large dictionary, for 2 % of the
    /// text.
    Best,
}

impl Compression {
    fn level(self) -> i32 {
        match self {
            Compression::Brief => 1,
            Compression::Fast => 6,
            Compression::Best => 16,
        }
    }

    /// Threads that compress.
    fn threads(self) -> usize {
        match self {
            Compression::Brief | Compression::Fast => 1,
            Compression::Best => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Bytes of one piece of a sample.
// Longer than a run that repeats, and short enough that 256 pieces from all over the text make up a
// sample.
const SAMPLE_PIECE_BYTES: usize = 8 << 10;

/// Blocks that each thread compresses in one round.
// A round starts threads, which costs more than one block. 16 blocks of 8 KB bound the memory to
// 128 KB a thread.
const BLOCKS_PER_THREAD: usize = 16;

/// Writes the text of a segment.
pub struct BlockWriter {
    /// Which segment is written.
    segment: SegmentId,
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
    /// How hard is compressed.
    compression: Compression,
    /// What blocks may refer to; empty for none.
    dictionary: Vec<u8>,
    /// As [`Layout::block_target_bytes`].
    block_target_bytes: usize,
    /// The first texts, until it is known whether there are enough for a dictionary.
    buffered: Option<BufferedTexts>,
}

/// Concatenated texts and where each ends.
#[derive(Default)]
struct BufferedTexts {
    text: String,
    ends: Vec<usize>,
}

impl std::fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockWriter")
            .field("rows", &self.next_row)
            .finish_non_exhaustive()
    }
}

impl BlockWriter {
    /// Empty columns. The first 16 MB of text are held in memory: how much there is decides whether
    /// a dictionary is made from it.
    pub fn new(segment: SegmentId, compression: Compression) -> BlockWriter {
        BlockWriter {
            rows: ColumnWriter::rows(segment, tables::BLOCKS, ROW_BYTES, SCATTERED_ORDER),
            text: ColumnWriter::items(segment, tables::TEXT, SCATTERED_ORDER),
            segment,
            open: Vec::new(),
            first_row: 0,
            next_row: 0,
            closed: Vec::new(),
            compressors: Vec::new(),
            compression,
            dictionary: Vec::new(),
            block_target_bytes: 0,
            buffered: Some(BufferedTexts::default()),
        }
    }

    /// As [`BlockWriter::new`], for a text of which a sample is known; none of it is held back.
    ///
    /// # Errors
    /// [`Error::Storage`] when zstd cannot be set up.
    pub fn with_sample(
        segment: SegmentId,
        compression: Compression,
        sample: &TextSample,
    ) -> Result<BlockWriter> {
        let mut writer = BlockWriter::new(segment, compression);
        writer.buffered = None;
        writer.configure(Layout::of(sample.text_bytes), sample.pieces.as_bytes())?;
        Ok(writer)
    }

    /// Makes the dictionary of a layout from a sample, and what compresses with it.
    fn configure(&mut self, layout: Layout, sample: &[u8]) -> Result<()> {
        let dictionary = match layout.dictionary_bytes {
            0 => Vec::new(),
            _ if self.compression == Compression::Brief => Vec::new(),
            limit_bytes => dictionary::train(sample, limit_bytes),
        };
        let level = self.compression.level();
        let compressors = (0..self.compression.threads()).map(|_| {
            let mut compressor = zstd::bulk::Compressor::with_dictionary(level, &dictionary)?;
            // zstd's checksum lets other tools verify a frame; the extent has one of its own.
            compressor.include_checksum(true)?;
            Ok(compressor)
        });
        self.compressors = compressors
            .collect::<std::io::Result<_>>()
            .map_err(zstd_error)?;
        // Nothing repeats in the sample: then blocks are as large as without a dictionary.
        let layout = if dictionary.is_empty() {
            Layout::of(0)
        } else {
            layout
        };
        self.block_target_bytes = match self.compression {
            Compression::Brief | Compression::Fast => layout.block_target_bytes,
            Compression::Best => layout.sealed_block_target_bytes,
        };
        self.dictionary = dictionary;
        Ok(())
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
        let Some(buffered) = &mut self.buffered else {
            return self.append(sink, text);
        };
        buffered.text.push_str(text);
        buffered.ends.push(buffered.text.len());
        let [.., largest] = LAYOUTS;
        if buffered.text.len() as u64 >= largest.from_bytes {
            self.flush_buffered(sink)
        } else {
            Ok(())
        }
    }

    /// Chooses the layout from the buffered texts and writes them.
    fn flush_buffered(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        let Some(buffered) = self.buffered.take() else {
            return Ok(());
        };
        let text = buffered.text;
        self.configure(Layout::of(text.len() as u64), &sample(text.as_bytes()))?;
        let mut start = 0;
        for end in buffered.ends {
            self.append(sink, text.get(start..end).unwrap_or_default())?;
            start = end;
        }
        Ok(())
    }

    fn append(&mut self, sink: &mut dyn ExtentSink, text: &str) -> Result<()> {
        let full = self.open.len() + text.len() > BLOCK_LIMIT_BYTES
            || self.next_row - self.first_row >= BLOCK_LIMIT_ROWS;
        if full {
            self.close_block(sink)?;
        }
        self.open.extend_from_slice(text.as_bytes());
        self.next_row += 1;
        if self.open.len() >= self.block_target_bytes {
            self.close_block(sink)?;
        }
        Ok(())
    }

    fn close_block(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
        if self.next_row == self.first_row {
            return Ok(());
        }
        let text = std::mem::take(&mut self.open);
        self.closed.push((self.first_row, text));
        self.first_row = self.next_row;
        let threads = self.compressors.len();
        if threads == 1 || self.closed.len() >= threads * BLOCKS_PER_THREAD {
            self.flush_closed(sink)
        } else {
            Ok(())
        }
    }

    /// Compresses the closed blocks on all threads and writes them in order.
    fn flush_closed(&mut self, sink: &mut dyn ExtentSink) -> Result<()> {
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
            for frame in share.map_err(zstd_error)? {
                let Some((first_row, text)) = texts.next() else {
                    break;
                };
                let position = self.text.push(sink, &frame)?;
                let mut row = Vec::with_capacity(ROW_BYTES as usize);
                row.extend_from_slice(&position.to_le_bytes());
                // The last four bytes are unused and keep rows at multiples of 8.
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

    /// Writes what is left: columns `blocks`, `text` and `text dictionary`.
    pub fn finish(mut self, sink: &mut dyn ExtentSink) -> Result<[ColumnRecord; 3]> {
        self.flush_buffered(sink)?;
        self.close_block(sink)?;
        self.flush_closed(sink)?;
        let mut dictionary = ColumnWriter::items(self.segment, tables::TEXT_DICTIONARY, MAX_ORDER);
        if !self.dictionary.is_empty() {
            dictionary.push(sink, &self.dictionary)?;
        }
        Ok([
            self.rows.finish(sink)?,
            self.text.finish(sink)?,
            dictionary.finish(sink)?,
        ])
    }
}

/// Pieces of a text from all over it, [`dictionary::SAMPLE_BYTES`] in all.
fn sample(text: &[u8]) -> Vec<u8> {
    let pieces = text.chunks(SAMPLE_PIECE_BYTES);
    // From all over the text: a dictionary of its beginning would know one project of many.
    let every = text.len().div_ceil(dictionary::SAMPLE_BYTES).max(1);
    pieces.step_by(every).flatten().copied().collect()
}

fn zstd_error(error: std::io::Error) -> Error {
    Error::Storage {
        reason: format!("zstd: {error}"),
        source: Some(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::ColumnView;
    use crate::container::column::{ColumnId, MemoryExtents, extent_starts};
    use crate::store::blocks::BlockReader;
    use crate::store::chunks::ChunkReader;
    use crate::store::chunks::{ChunkWriter, HEAD_BYTES};
    use crate::store::decoder::DecoderPool;
    use kb_types::{ChunkSpan, DocumentId, Lines, Span};

    /// A segment in memory, and where its extents start.
    struct Written {
        sink: MemoryExtents,
        starts: [Vec<u64>; 5],
        /// Rows of chunks.
        rows: u32,
        decoders: DecoderPool,
    }

    impl Written {
        /// Texts of document 7, then a chunk of document 9.
        fn new(texts: &[String], mut blocks: BlockWriter) -> Written {
            let mut sink = MemoryExtents::default();
            let mut rows = ChunkWriter::new(SegmentId(1));
            let mut end = 0;
            for text in texts {
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
            let written = rows.rows();
            let [heads, packed] = rows.finish(&mut sink).unwrap();
            let [rows, text, dictionary] = blocks.finish(&mut sink).unwrap();
            Written {
                sink,
                starts: [&heads, &rows, &text, &dictionary, &packed].map(extent_starts),
                rows: written,
                decoders: DecoderPool::default(),
            }
        }

        fn view(&self, column: usize, width: u32, id: ColumnId) -> ColumnView<'_> {
            static NONE: Vec<Vec<u8>> = Vec::new();
            let extents = self.sink.columns.get(&id).unwrap_or(&NONE);
            ColumnView::new(&self.starts[column], width, extents)
        }

        fn reader(&self) -> BlockReader<'_> {
            let dictionary = self.view(3, 0, tables::TEXT_DICTIONARY);
            BlockReader::new(
                self.view(1, ROW_BYTES, tables::BLOCKS),
                self.view(2, 0, tables::TEXT),
                ChunkReader::new(
                    self.view(0, HEAD_BYTES, tables::CHUNK_HEADS),
                    self.view(4, 0, tables::CHUNK_BLOCKS),
                    self.rows,
                ),
                self.decoders.acquire(dictionary).unwrap(),
                BLOCK_LIMIT_BYTES,
            )
        }

        fn blocks(&self) -> u64 {
            self.view(1, ROW_BYTES, tables::BLOCKS).rows()
        }

        fn text_bytes(&self) -> u64 {
            self.view(2, 0, tables::TEXT).len_bytes()
        }
    }

    #[test]
    fn a_changed_byte_of_a_block_is_noticed() {
        let texts: Vec<String> = (0..30).map(|i| format!("chunk {i} of a text\n")).collect();
        let mut written = Written::new(&texts, writer());
        for at in 0..written.text_bytes() as usize {
            let change = |written: &mut Written| {
                let extents = written.sink.columns.get_mut(&tables::TEXT).unwrap();
                extents[0][at] ^= 1;
            };
            change(&mut written);
            if let Ok(text) = written.reader().chunk(7) {
                assert_eq!(text, texts[7], "byte {at}");
            }
            change(&mut written);
        }
        assert_eq!(written.reader().chunk(7).unwrap(), texts[7]);
    }

    fn writer() -> BlockWriter {
        BlockWriter::new(SegmentId(1), Compression::Fast)
    }

    #[test]
    fn every_chunk_and_every_run_of_chunks_reads_back() {
        let texts: Vec<String> = (0..400usize)
            .map(|i| format!("chunk {i} ").repeat((i * 37) % 230))
            .chain(["x".repeat(300_000), "end".to_owned()])
            .collect();
        let written = Written::new(&texts, writer());
        assert_eq!(written.view(3, 0, tables::TEXT_DICTIONARY).len_bytes(), 0);
        let mut reader = written.reader();
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

    #[test]
    fn a_large_segment_has_a_dictionary_that_makes_its_text_smaller() {
        with_and_without_a_dictionary(3000, LAYOUTS[1]);
        let large = with_and_without_a_dictionary(9000, LAYOUTS[2]);
        let larger = with_and_without_a_dictionary(17_000, LAYOUTS[3]);
        assert!(larger.blocks() > large.blocks() * 2);
    }

    /// Checks the layout of a segment with so many sentences that repeat only in other blocks.
    fn with_and_without_a_dictionary(sentences: u64, layout: Layout) -> Written {
        let texts: Vec<String> = (0..sentences)
            .map(|i| {
                let words = (0..110).map(|n| (i * 131 + n) * (i * 131 + n) % 99_991 + 1_000_000);
                let words = words.map(|word| format!("w{word} ")).collect::<String>();
                format!(
                    "{words} sentence number {} of a hundred, each alike\n",
                    i % 100
                )
            })
            .collect();
        let text_bytes: usize = texts.iter().map(String::len).sum();
        assert_eq!(Layout::of(text_bytes as u64), layout);
        let waited = Written::new(&texts, writer());
        let sample = sample(texts.concat().as_bytes());
        assert!(sample.len() <= dictionary::SAMPLE_BYTES);
        let sample = TextSample {
            pieces: String::from_utf8(sample).unwrap(),
            text_bytes: text_bytes as u64,
        };
        let given = BlockWriter::with_sample(SegmentId(1), Compression::Fast, &sample).unwrap();
        let given = Written::new(&texts, given);
        let mut without = writer();
        without.buffered = None;
        without.configure(Layout::of(0), b"").unwrap();
        let without = Written::new(&texts, without);
        for with in [&waited, &given] {
            let dictionary_bytes = with.view(3, 0, tables::TEXT_DICTIONARY).len_bytes();
            assert!(dictionary_bytes > layout.dictionary_bytes as u64 * 9 / 10);
            assert!(dictionary_bytes <= layout.dictionary_bytes as u64);
            assert!(with.text_bytes() < without.text_bytes());
            assert!(with.blocks() > without.blocks() * 3 / 2);
            let mut reader = with.reader();
            for row in (0..texts.len()).step_by(97).rev() {
                assert_eq!(reader.chunk(row as u32).unwrap(), texts[row]);
            }
            let mut all = String::new();
            reader.append(0, texts.len() as u32, &mut all).unwrap();
            assert!(all == texts.concat());
        }
        // Without it the blocks do not decode, or to other bytes: their checksum says so.
        let mut lost = waited;
        lost.starts[3] = vec![0];
        lost.decoders = DecoderPool::default();
        assert!(lost.reader().chunk(1500).is_err());
        given
    }
}
