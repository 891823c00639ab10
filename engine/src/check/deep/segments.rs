//! A segment as its records tell it: columns, sums, what is deleted.

use kb_types::error::Result;

use crate::catalog::columns::{COLUMNS, Column, ColumnGroup, Facts};
use crate::check::deep::context::{CheckedRows, Context};
use crate::check::problems::Problems;
use crate::container::column::{ColumnId, ColumnRecord};
use crate::index::keyword;
use crate::store::tables;
use crate::store::vector_columns::BUILT_IN;

/// Compares the record of a segment with those of its indexes, of its columns and of the file.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check_record(context: &Context<'_>, problems: &mut Problems) -> Result<()> {
    let records = &context.segment.records;
    let columns = &records.segment.columns;
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
    check_columns(context, columns, &mut wrong);
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

/// Compares the columns of a segment with those that its records call for.
fn check_columns(context: &Context<'_>, columns: &[ColumnRecord], wrong: &mut Vec<String>) {
    let records = &context.segment.records;
    let of_segment = context.segment.facts();
    let mut expected: Vec<Expected> = Vec::new();
    expected.extend(
        COLUMNS
            .iter()
            .filter_map(|column| Expected::of(column, &of_segment)),
    );
    for index in &records.more_vectors {
        let facts = index.facts(&of_segment);
        let of_vectors = COLUMNS
            .iter()
            .filter(|column| column.group == ColumnGroup::Vectors);
        let of_index = of_vectors.filter_map(|column| Expected::of(column, &facts));
        expected.extend(of_index.map(|expected| Expected {
            id: index.column(expected.id),
            ..expected
        }));
    }
    for column in columns {
        let id = ColumnId(column.column);
        if expected.iter().any(|expected| expected.id == id) {
            continue;
        }
        match tables::vector_column_of(id) {
            // A reader ignores columns that it does not know.
            (BUILT_IN, id) if Column::of(id).is_none() => {}
            (BUILT_IN, id) => wrong.push(format!("its records call for no column {}", id.0)),
            _ => wrong.push(format!("column {} is of no column of vectors", id.0)),
        }
    }
    for expected in expected {
        let mut columns = columns.iter();
        match columns.find(|column| column.column == expected.id.0) {
            None => wrong.push(format!(
                "it has no column {} ({})",
                expected.id.0, expected.name
            )),
            Some(column) if !expected.has_shape_of(column) => wrong.push(format!(
                "column {} has {} bytes in rows of {}",
                column.column,
                column.len_bytes(),
                column.width
            )),
            Some(_) => {}
        }
    }
}

/// A column that the records of a segment call for.
struct Expected {
    id: ColumnId,
    name: &'static str,
    width: u32,
    rows: Option<u32>,
}

impl Expected {
    /// `None` where segments with these facts have no such column.
    fn of(column: &Column, facts: &Facts<'_>) -> Option<Expected> {
        (column.is_in)(facts).then(|| Expected {
            id: column.id,
            name: column.name,
            width: column.width_in(facts),
            rows: column.rows.map(|rows| rows(facts)),
        })
    }

    fn has_shape_of(&self, column: &ColumnRecord) -> bool {
        let (width, len_bytes) = (u64::from(self.width), column.len_bytes());
        column.width == self.width
            && self
                .rows
                .is_none_or(|rows| u64::from(rows) * width == len_bytes)
            && len_bytes.checked_rem(width).unwrap_or(0) == 0
    }
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
