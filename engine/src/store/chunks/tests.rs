//! Chunk rows come back as they were written, and no bytes do harm.

use proptest::prelude::*;

use kb_types::Lines;

use super::*;
use crate::container::column::{MemoryExtents, extent_starts};

/// Columns 5 and 6 in memory.
struct Written {
    heads: Vec<Vec<u8>>,
    blocks: Vec<Vec<u8>>,
    starts: [Vec<u64>; 2],
    rows: u32,
}

impl Written {
    fn of(rows: &[(u32, ChunkSpan)]) -> Written {
        let mut sink = MemoryExtents::default();
        let mut writer = ChunkWriter::new(SegmentId(1));
        for (document, at) in rows {
            writer.push(&mut sink, DocumentId(*document), at).unwrap();
        }
        let rows = writer.rows();
        let starts = writer
            .finish(&mut sink)
            .unwrap()
            .each_ref()
            .map(extent_starts);
        let mut payloads = |column| sink.columns.remove(&column).unwrap_or_default();
        Written {
            heads: payloads(tables::CHUNK_HEADS),
            blocks: payloads(tables::CHUNK_BLOCKS),
            starts,
            rows,
        }
    }

    fn reader(&self) -> ChunkReader<'_> {
        let [heads, blocks] = &self.starts;
        ChunkReader::new(
            ColumnView::new(heads, HEAD_BYTES, &self.heads),
            ColumnView::new(blocks, 0, &self.blocks),
            self.rows,
        )
    }

    /// What a reader says of every row: any answer or error will do.
    fn read_all(&self) {
        let reader = self.reader();
        for row in 0..self.rows + 2 {
            let _ = (reader.get(row), reader.row(row), reader.document(row));
        }
        let rows: Vec<u32> = (0..self.rows + 2).collect();
        let _ = reader.first_rows_of_whole(&rows);
        let _ = reader.is_canonical();
    }
}

fn chunk(start: u32, end: u32, first: u32, last: u32) -> ChunkSpan {
    ChunkSpan {
        span: Span { start, end },
        lines: Lines { first, last },
    }
}

/// Documents in any order, each with some chunks.
fn documents() -> impl Strategy<Value = Vec<(u32, ChunkSpan)>> {
    let step = prop_oneof![8 => 0u32..3000, 1 => any::<u32>()];
    let line = prop_oneof![8 => 0u32..60, 1 => any::<u32>()];
    let chunks = prop::collection::vec((step, line.clone(), line), 1..90);
    let number = prop_oneof![4 => 1u32..40, 1 => any::<u32>()];
    let documents = prop::collection::vec((number, chunks), 0..12);
    documents.prop_map(|documents| {
        let mut rows: Vec<(u32, ChunkSpan)> = Vec::new();
        for (number, chunks) in documents {
            if rows.last().is_some_and(|(last, _)| *last == number) {
                continue;
            }
            let (mut start, mut line) = (0u32, 1u32);
            for (step, further, gap) in chunks {
                let end = start.saturating_add(step);
                let last = line.wrapping_add(further);
                rows.push((number, chunk(start, end, line, last)));
                (start, line) = (end, last.wrapping_add(gap));
            }
        }
        rows
    })
}

proptest! {
    #[test]
    fn chunks_come_back_as_they_were_written(rows in documents()) {
        let written = Written::of(&rows);
        let reader = written.reader();
        for (row, (document, at)) in (0..).zip(&rows) {
            let read = reader.get(row).unwrap();
            prop_assert_eq!((read.document, read.at), (DocumentId(*document), *at));
            prop_assert_eq!(reader.document(row).unwrap(), read.document);
        }
        prop_assert!(reader.get(written.rows).is_err());
        prop_assert!(reader.is_canonical().unwrap());
    }

    #[test]
    fn documents_are_whole_when_all_their_rows_are_there(
        rows in documents(),
        gaps in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let written = Written::of(&rows);
        let gaps: Vec<usize> = gaps.iter().map(|gap| gap.index(rows.len().max(1))).collect();
        let (mut there, mut whole, mut first) = (Vec::new(), Vec::new(), 0);
        for of_document in rows.chunk_by(|(a, _), (b, _)| a == b) {
            let all = first..first + of_document.len();
            there.extend(all.clone().filter(|row| !gaps.contains(row)).map(|row| row as u32));
            if !gaps.iter().any(|gap| all.contains(gap)) {
                whole.push(first as u32);
            }
            first = all.end;
        }
        prop_assert_eq!(written.reader().first_rows_of_whole(&there).unwrap(), whole);
    }

    #[test]
    fn any_other_byte_is_another_row_or_not_canonical(
        rows in documents().prop_filter("rows", |rows| !rows.is_empty()),
        is_head in any::<bool>(),
        at in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let mut written = Written::of(&rows);
        let before: Vec<_> = (0..written.rows).map(|row| written.reader().row(row).unwrap()).collect();
        let column = if is_head { &mut written.heads } else { &mut written.blocks };
        let Some(bytes) = column.first_mut().filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        written.read_all();
        let reader = written.reader();
        let is_other = (0..).zip(&before).any(|(row, before)| {
            reader.row(row).ok() != Some(*before)
        });
        prop_assert!(is_other || !reader.is_canonical().unwrap_or(false));
    }

    #[test]
    fn any_bytes_give_rows_or_an_error(
        rows in documents(),
        changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 1..9),
    ) {
        let mut written = Written::of(&rows);
        for (is_head, at, byte) in changes {
            let column = if is_head { &mut written.heads } else { &mut written.blocks };
            if let Some(bytes) = column.first_mut().filter(|bytes| !bytes.is_empty()) {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        written.read_all();
        written.rows += 70;
        written.read_all();
    }
}

#[test]
fn a_chunk_starts_where_the_one_before_it_in_its_document_ends() {
    let rows = [
        (4, chunk(0, 10, 1, 2)),
        (4, chunk(10, 25, 3, 3)),
        (9, chunk(0, 7, 1, 1)),
    ];
    let written = Written::of(&rows);
    for (row, (document, at)) in (0..).zip(rows) {
        let chunk = written.reader().get(row).unwrap();
        assert_eq!((chunk.document, chunk.at), (DocumentId(document), at));
    }
    assert!(written.reader().get(3).is_err());
    // The example of the format's text.
    assert_eq!(
        written.heads.concat(),
        [
            [0, 0, 0, 0].as_slice(),
            &[0b101, 0, 0, 0, 0, 0, 0, 0],
            &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[3, 5, 2, 1],
        ]
        .concat()
    );
    assert_eq!(written.blocks.concat(), [0xca, 0xf9, 0xa7, 0x28]);
}

#[test]
fn spans_that_run_backwards_and_numbers_too_wide_are_refused() {
    let rows = [(4, chunk(0, 10, 1, 2)), (4, chunk(10, 25, 3, 3))];
    let mut written = Written::of(&rows);
    // The ends change places.
    let (first, second) = (10u8, 25);
    written.blocks[0][0] ^= (first ^ second) & 31;
    assert_eq!(written.reader().row(0).unwrap().end, 25);
    written.blocks[0][1] = 0;
    assert!(written.reader().get(1).is_err());
    let mut written = Written::of(&rows);
    written.heads[0][25] = 33;
    let error = written.reader().get(0).unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
}
