//! Chunk rows of a forged file: read as the format text specifies, written as a writer writes them.

use std::collections::BTreeMap;

use kb_engine::testing::container::Transaction;
use kb_engine::testing::container::column::{ColumnId, ColumnRecord, ExtentSink};
use kb_engine::testing::store::chunks::ChunkWriter;
use kb_engine::testing::store::tables::{CHUNK_BLOCKS, CHUNK_HEADS};
use kb_engine::{ChunkSpan, DocumentId, Lines, Result, SegmentId, Span};

use super::forgery::Stored;

/// Document, end, first and last line of a row, or none where the text of the format has no row.
pub(crate) type Row = [u32; 4];

/// The rows that columns 5 and 6 hold.
fn unpack(heads: &[u8], blocks: &[u8], rows: usize) -> Vec<Row> {
    let mut unpacked: Vec<Row> = Vec::new();
    for (head, count) in heads.chunks_exact(28).zip((0..rows).step_by(64)) {
        let count = (rows - count).min(64);
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("a number"));
        let firsts = u64::from_le_bytes(head[4..12].try_into().expect("a number"));
        let mut bit = word(0) as usize * 8;
        let mut take = |width: u8| {
            let mut number = 0;
            for place in 0..width {
                number |= u32::from(blocks[bit / 8] >> (bit % 8) & 1) << place;
                bit += 1;
            }
            number
        };
        let is_first = |row: usize| firsts >> row & 1 == 1;
        let mut before = [word(16), word(20)];
        let first = unpacked.len();
        for row in 0..count {
            if is_first(row) {
                before = [0, 0];
            }
            let (end, last, gap) = (take(head[25]), take(head[26]), take(head[27]));
            unpacked.push([0, end, before[1].wrapping_add(gap), last]);
            before = [end, last];
        }
        let mut document = 0;
        for row in 0..count {
            if row == 0 || is_first(row) {
                document = word(12) + take(head[24]);
            }
            unpacked[first + row][0] = document;
        }
    }
    unpacked
}

/// Payloads of extents by column.
#[derive(Default)]
struct Payloads(BTreeMap<u16, Vec<Vec<u8>>>);

impl ExtentSink for Payloads {
    fn put_extent(
        &mut self,
        _segment: SegmentId,
        column: ColumnId,
        _number: u32,
        _first: u64,
        payload: &[u8],
    ) -> Result<()> {
        self.0.entry(column.0).or_default().push(payload.to_vec());
        Ok(())
    }
}

fn write(sink: &mut dyn ExtentSink, segment: SegmentId, rows: &[Row]) -> [ColumnRecord; 2] {
    let mut writer = ChunkWriter::new(segment);
    for [document, end, first, last] in rows {
        let at = ChunkSpan {
            span: Span {
                start: 0,
                end: *end,
            },
            lines: Lines {
                first: *first,
                last: *last,
            },
        };
        writer.push(sink, DocumentId(*document), &at).expect("row");
    }
    writer.finish(sink).expect("columns")
}

impl Stored {
    /// Rows of chunks of the first segment.
    pub(crate) fn chunk_rows(&self) -> Vec<Row> {
        let (segment, record) = self.segments.first_key_value().expect("a segment");
        let bytes = |column: ColumnId| self.columns[&(*segment, column.0)].concat();
        let rows = record.rows as usize;
        unpack(&bytes(CHUNK_HEADS), &bytes(CHUNK_BLOCKS), rows)
    }

    /// Puts these in the place of the rows of chunks of the first segment.
    pub(crate) fn set_chunk_rows(&mut self, rows: &[Row]) {
        let segment = *self.segments.keys().next().expect("a segment");
        let mut payloads = Payloads::default();
        let records = write(&mut payloads, segment, rows);
        for record in records {
            let extents = payloads.0.remove(&record.column).unwrap_or_default();
            self.columns.insert((segment, record.column), extents);
            let mut columns = self.first_segment().columns.iter_mut();
            let stored = columns.find(|stored| stored.column == record.column);
            *stored.expect("a column") = record;
        }
    }

    /// Changes rows of chunks of the first segment.
    pub(crate) fn chunks(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut [Row]),
    ) {
        let mut rows = self.chunk_rows();
        change(&mut rows);
        let segment = *self.segments.keys().next().expect("a segment");
        let records = write(transaction, segment, &rows);
        self.segment(transaction, |segment| {
            for record in records {
                let mut columns = segment.columns.iter_mut();
                let stored = columns.find(|stored| stored.column == record.column);
                *stored.expect("a column") = record;
            }
        });
    }
}

#[test]
fn rows_are_read_as_they_were_written() {
    let mut stored = Stored::of_golden();
    let rows = stored.chunk_rows();
    assert!(rows.len() > 20);
    for (path, (id, record)) in &stored.documents {
        let first = stored.segments.keys().next();
        if record.rows > 0 && first == Some(&record.segment()) {
            let own = &rows[record.first_row as usize..][..record.rows as usize];
            assert!(own.iter().all(|row| row[0] == id.0), "{path}");
            assert_eq!(own.last().expect("a row")[1], record.text_bytes, "{path}");
        }
    }
    let before = stored.columns.clone();
    stored.set_chunk_rows(&rows);
    assert_eq!(stored.columns, before);
}
