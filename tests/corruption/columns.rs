//! Columns with wrong values behind valid checksums: chunk rows, block rows, text, words, vectors.

use kb_engine::testing::catalog::COLUMNS;
use kb_engine::testing::container::column::ColumnId;
use kb_engine::testing::store::tables::{BLOCKS, CHUNK_HEADS, TEXT};
use kb_engine::{Kb, PageOptions};

use super::ask::{Numbers, ask};
use super::forgery::Stored;
use crate::format::golden::golden_bytes;

/// Files with random bytes in their columns.
const RANDOM_FILES: u64 = 200;

/// Writes `number` as field `field` of every row, or of one, and asks everything.
#[track_caller]
fn set_field(
    column: u16,
    row_bytes: usize,
    row: Option<usize>,
    field: std::ops::Range<usize>,
    number: u64,
) {
    let what = format!("column {column}, row {row:?}, bytes {field:?}: {number}");
    let mut stored = Stored::of_golden();
    let bytes = stored.first_column(column);
    for (position, bytes) in bytes.chunks_exact_mut(row_bytes).enumerate() {
        if row.is_none_or(|row| row == position) {
            bytes[field.clone()].copy_from_slice(&number.to_le_bytes()[..field.len()]);
        }
    }
    // An answer or an error: `ask` fails on everything else.
    drop(ask(stored.into_bytes(), &what));
}

const NUMBERS: [u64; 8] = [
    0,
    1,
    3,
    1000,
    1 << 16,
    1 << 24,
    u32::MAX as u64 - 1,
    u64::MAX,
];

#[test]
fn chunk_rows_that_lie_are_refused_or_harmless() {
    for number in NUMBERS {
        for row in [None, Some(0), Some(3)] {
            for field in 0..4 {
                let what = format!("rows of chunks, row {row:?}, field {field}: {number}");
                let mut stored = Stored::of_golden();
                let mut rows = stored.chunk_rows();
                for (position, numbers) in rows.iter_mut().enumerate() {
                    if row.is_none_or(|row| row == position) {
                        // As the lowest four bytes.
                        numbers[field] = number as u32;
                    }
                }
                stored.set_chunk_rows(&rows);
                drop(ask(stored.into_bytes(), &what));
            }
        }
    }
}

#[test]
fn heads_of_chunk_rows_that_lie_are_refused_or_harmless() {
    for number in NUMBERS {
        for field in [
            0..4,
            4..12,
            12..16,
            16..20,
            20..24,
            24..25,
            25..26,
            26..27,
            27..28,
        ] {
            set_field(CHUNK_HEADS.0, 28, None, field, number);
        }
    }
}

#[test]
fn reversed_spans_are_refused() {
    let mut stored = Stored::of_golden();
    let mut rows = stored.chunk_rows();
    let ends: Vec<u32> = rows.iter().map(|row| row[1]).collect();
    for (row, end) in rows.iter_mut().zip(ends.into_iter().rev()) {
        row[1] = end;
    }
    stored.set_chunk_rows(&rows);
    let answers = ask(stored.into_bytes(), "reversed").expect("it opens");
    let told = answers
        .iter()
        .find(|(question, _)| question == "chunks docs/log.md");
    let error = told
        .and_then(|(_, told)| told.as_ref().err())
        .expect("an error");
    assert_eq!(error.code(), "DAMAGED");
}

#[test]
fn block_rows_that_lie_are_refused_or_harmless() {
    for number in NUMBERS {
        for row in [None, Some(0), Some(1)] {
            for field in [0..8, 8..12, 12..16, 16..20, 20..24] {
                set_field(BLOCKS.0, 24, row, field, number);
            }
        }
    }
}

#[test]
fn a_block_that_claims_more_text_than_its_frame_has_is_refused() {
    for claimed in [16u32 << 20, u32::MAX] {
        let mut stored = Stored::of_golden();
        for row in stored.first_column(BLOCKS.0).chunks_exact_mut(24) {
            row[12..16].copy_from_slice(&claimed.to_le_bytes());
        }
        let answers = ask(stored.into_bytes(), "claimed").expect("it opens");
        let told = answers
            .iter()
            .find(|(question, _)| question == "text docs/log.md");
        let error = told
            .and_then(|(_, told)| told.as_ref().err())
            .expect("an error");
        assert_eq!(error.code(), "DAMAGED");
    }
}

/// The columns with bytes in the first segment of the golden file.
fn filled_columns() -> Vec<ColumnId> {
    let mut stored = Stored::of_golden();
    let record = stored.first_segment();
    let filled = |id: ColumnId| {
        let mut columns = record.columns.iter();
        columns.any(|column| column.column == id.0 && column.len_bytes() > 0)
    };
    let ids = COLUMNS.iter().map(|column| column.id);
    ids.filter(|id| filled(*id)).collect()
}

#[test]
fn random_bytes_in_any_column_are_refused_or_harmless() {
    let columns = filled_columns();
    let mut refused = 0;
    for seed in 0..RANDOM_FILES {
        let mut numbers = Numbers(seed);
        let mut stored = Stored::of_golden();
        let column = columns[seed as usize % columns.len()];
        let bytes = stored.first_column(column.0);
        match numbers.below(3) {
            0 => bytes.fill_with(|| numbers.below(256) as u8),
            1 => bytes.fill([0, 0x7f, 0x80, 0xff][numbers.below(4)]),
            _ => {
                for _ in 0..1 + numbers.below(40) {
                    let place = numbers.below(bytes.len());
                    bytes[place] = numbers.below(256) as u8;
                }
            }
        }
        let what = format!("column {} with seed {seed}", column.0);
        match ask(stored.into_bytes(), &what) {
            Err(_) => refused += 1,
            Ok(answers) => refused += usize::from(answers.iter().any(|(_, a)| a.is_err())),
        }
    }
    assert!(refused > 40, "only {refused} were noticed");
}

#[test]
fn columns_of_other_sizes_are_refused_or_harmless() {
    for column in filled_columns() {
        for len in [1, 2, 15, 24, 64, 4032] {
            let mut stored = Stored::of_golden();
            stored.first_column(column.0).resize(len, 1);
            let segment = stored.first_segment();
            let record = segment
                .columns
                .iter_mut()
                .find(|record| record.column == column.0);
            record.expect("a column").payload_lens = vec![len as u32];
            drop(ask(
                stored.into_bytes(),
                &format!("column {} of {len} bytes", column.0),
            ));
        }
    }
}

/// What is said of the structure of a document does not need its text.
#[test]
fn outlines_and_metadata_are_read_without_text() {
    let mut stored = Stored::of_golden();
    for ((_, column), extents) in &mut stored.columns {
        if *column == TEXT.0 {
            extents.iter_mut().for_each(|bytes| bytes.fill(0xff));
        }
    }
    let damaged = Kb::from_bytes(stored.into_bytes()).expect("it opens");
    let right = Kb::from_bytes(golden_bytes()).expect("it opens");
    let page = PageOptions::default();
    for name in [
        "docs/handbook.md",
        "ledger.xlsx",
        "pilot-book.pdf",
        "talk.pptx",
    ] {
        assert_eq!(damaged.text(name, None).unwrap_err().code(), "DAMAGED");
        assert_eq!(
            damaged.document(name).unwrap(),
            right.document(name).unwrap()
        );
        let sections = |kb: &Kb| kb.sections(name, &page).unwrap().sections.items;
        assert_eq!(sections(&damaged), sections(&right));
        let parts = |kb: &Kb| kb.parts(name, &page).unwrap();
        assert_eq!(parts(&damaged), parts(&right));
    }
    assert_eq!(right.parts("ledger.xlsx", &page).unwrap().parts.len(), 3);
}
