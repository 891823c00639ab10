//! A segment as its records tell it: columns, sums, what is deleted.

use kb_types::error::Result;

use crate::catalog::MoreVectorIndex;
use crate::check::deep::context::{CheckedRows, Context};
use crate::check::problems::Problems;
use crate::container::column::{ColumnId, ColumnRecord};
use crate::index::{keyword, trigram, vector};
use crate::metric::Metric;
use crate::store::vector_columns::BUILT_IN;
use crate::store::{blocks, chunks, tables};

/// Compares the record of a segment with those of its indexes, of its columns and of the file.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check_record(context: &Context<'_>, problems: &mut Problems) -> Result<()> {
    let records = &context.segment.records;
    let (columns, rows) = (&records.segment.columns, records.segment.rows);
    let mut wrong = Vec::new();
    if !columns.is_sorted_by(|a, b| a.column < b.column) {
        wrong.push("its columns do not ascend".to_owned());
    }
    let find = |number: u16| columns.iter().find(|column| column.column == number);
    for of_text in records.text.columns() {
        if find(of_text.column) != Some(of_text) {
            wrong.push(format!(
                "column {} is another one in the record of the keyword index",
                of_text.column
            ));
        }
    }
    // All three columns of trigrams, or none.
    let has = |number: ColumnId| find(number.0).is_some();
    let may_lack = |number: ColumnId| match number {
        trigram::UNITS | trigram::BLOCKS | trigram::LISTS => !has(trigram::UNITS),
        vector::CODES => records.vectors.lists > 0,
        vector::CENTROIDS | vector::LISTS | vector::LIST_BLOCKS => records.vectors.lists == 0,
        _ => false,
    };
    if has(vector::CODES) && has(vector::LIST_BLOCKS) {
        wrong.push("it has sign bits beside inverted lists".to_owned());
    }
    let lengths = records.text.lengths.width;
    let block_bytes = vector::sign_bits::block_bytes(records.vectors.dim);
    let mut expected = vec![
        (
            tables::CHUNK_HEADS,
            chunks::HEAD_BYTES,
            Some(rows.div_ceil(chunks::BLOCK_ROWS)),
        ),
        (tables::CHUNK_BLOCKS, 0, None),
        (tables::BLOCKS, blocks::ROW_BYTES, None),
        (tables::TEXT, 0, None),
        (tables::TEXT_DICTIONARY, 0, None),
        (keyword::DICTIONARY, 0, None),
        (keyword::POSTINGS, 0, None),
        (keyword::LENGTHS, lengths, Some(rows)),
        (vector::ROWS, records.vectors.stride, Some(rows)),
        (
            vector::CODES,
            block_bytes,
            Some(vector::sign_bits::blocks(rows)),
        ),
        (trigram::UNITS, trigram::UNIT_ROW_BYTES, None),
        (trigram::BLOCKS, trigram::BLOCK_ROW_BYTES, None),
        (trigram::LISTS, 0, None),
    ];
    expected.extend(list_columns(&records.vectors));
    for index in &records.more_vectors {
        expected.extend(columns_of(index));
    }
    let is_expected = |column: u16| expected.iter().any(|(number, ..)| number.0 == column);
    for column in columns.iter().map(|column| column.column) {
        let (number, _) = tables::vector_column_of(ColumnId(column));
        if number != BUILT_IN && !is_expected(column) {
            wrong.push(format!("column {column} is of no column of vectors"));
        }
    }
    for (number, width, rows) in expected {
        let is_right = |column: &ColumnRecord| {
            let len_bytes = rows.map(|rows| u64::from(rows) * u64::from(width));
            column.width == width
                && len_bytes.is_none_or(|len_bytes| len_bytes == column.len_bytes())
                && column
                    .len_bytes()
                    .checked_rem(u64::from(width))
                    .unwrap_or(0)
                    == 0
        };
        match find(number.0) {
            None if may_lack(number) => {}
            None => wrong.push(format!("it has no column {}", number.0)),
            Some(column) if !is_right(column) => wrong.push(format!(
                "column {} has {} bytes in rows of {}",
                number.0,
                column.len_bytes(),
                column.width
            )),
            Some(_) => {}
        }
    }
    let embedder = &context.catalog.meta.embedder;
    let of_file = (embedder.dim, embedder.quantiser_range.to_bits());
    if (records.vectors.dim, records.vectors.range.to_bits()) != of_file {
        wrong.push("its vectors are not of the model of the file".to_owned());
    }
    if context.segment.id.0 >= context.catalog.manifest.next_segment {
        wrong.push(format!(
            "the next segment would be {}",
            context.catalog.manifest.next_segment
        ));
    }
    for what in wrong {
        problems.add(format!("{}: {what}", context.location()));
    }
    Ok(())
}

/// The columns of vectors of another model: number, bytes of a row, rows.
fn columns_of(index: &MoreVectorIndex) -> Vec<(ColumnId, u32, Option<u32>)> {
    let record = &index.record;
    let block_bytes = vector::sign_bits::block_bytes(record.dim);
    let blocks = vector::sign_bits::blocks(record.rows);
    let mut columns = vec![(index.column(vector::ROWS), record.stride, Some(record.rows))];
    match record.lists {
        0 => columns.push((index.column(vector::CODES), block_bytes, Some(blocks))),
        _ => {
            let of_lists = list_columns(record).into_iter();
            columns
                .extend(of_lists.map(|(column, width, rows)| (index.column(column), width, rows)));
        }
    }
    if index.metric == Metric::L2 {
        let norms = index.column(vector::NORMS);
        columns.push((norms, vector::NORM_BYTES as u32, Some(record.rows)));
    }
    columns
}

/// The columns of inverted lists, with the bytes of a row and the rows that they must have.
fn list_columns(record: &vector::VectorRecord) -> [(ColumnId, u32, Option<u32>); 3] {
    let block_bytes = vector::lists::layout::list_block_bytes(record.dim);
    [
        (
            vector::CENTROIDS,
            vector::stride(record.dim),
            Some(record.lists),
        ),
        (
            vector::LISTS,
            vector::lists::layout::LIST_BYTES,
            Some(record.lists),
        ),
        (vector::LIST_BLOCKS, block_bytes, None),
    ]
}

/// Compares what a segment holds, what of it is deleted, and what its documents say.
pub(super) fn check_totals(context: &Context<'_>, rows: &CheckedRows, problems: &mut Problems) {
    let record = &context.segment.records.segment;
    let (live, deleted) = (context.live, context.segment.deleted.as_ref());
    let gone = deleted.map_or((0, 0), |gone| (u64::from(gone.documents), gone.text_bytes));
    let mut compare = |what: &str, stated: u64, is: u64| {
        if stated != is {
            problems.add(format!(
                "{}: its record states {stated} {what}, there are {is}",
                context.location()
            ));
        }
    };
    let documents = live.documents.saturating_add(gone.0);
    compare("documents", u64::from(record.documents), documents);
    let text_bytes = live.text_bytes.saturating_add(gone.1);
    compare("bytes of text", record.text_bytes, text_bytes);
    if rows.is_complete {
        compare("bytes of text", record.text_bytes, rows.text_bytes);
    }
    let gone = deleted.map_or(0, |deleted| deleted.rows.len());
    compare(
        "rows",
        u64::from(record.rows),
        live.chunks.saturating_add(gone),
    );
}

/// Compares the length of the deleted chunks with what is stated.
///
/// # Errors
/// [`crate::Error::Damaged`] when a length cannot be read.
pub(super) fn check_lengths(
    context: &Context<'_>,
    words: &keyword::Reader<'_>,
    problems: &mut Problems,
) -> Result<()> {
    let Some(deleted) = &context.segment.deleted else {
        return Ok(());
    };
    let mut sum = 0u64;
    for row in &deleted.rows {
        sum = sum.saturating_add(u64::from(words.length(row)?));
    }
    if deleted.documents == 0 || sum != deleted.total_length {
        problems.add(format!(
            "deleted chunks of {}: of {} documents with {} terms, the rows have {sum}",
            context.location(),
            deleted.documents,
            deleted.total_length
        ));
    }
    Ok(())
}
