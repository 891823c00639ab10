//! Vectors of another model -> a column of the file.

use kb_types::VECTOR_DIM_LIMIT;
use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::Segment;
use crate::index::vector::Codec;
use crate::ingest::clock::now_ms;
use crate::ingest::run::session::{LockedFile, Session};
use crate::ingest::run::vector_index::lists::{self, Columns};
use crate::ingest::run::vectors::change::{Change, take_out};
use crate::ingest::run::vectors::loss::LossSample;
use crate::ingest::run::vectors::options::{ImportReport, NewVectors, VectorTarget};
use crate::ingest::run::vectors::rows::WaitingRows;
use crate::ingest::run::vectors::targets::{RowAddress, Targets};
use crate::ingest::segment::more_vectors::MoreVectorsWriter;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::meta::column_model::ColumnModel;
use crate::store::vector_columns::{
    MODEL_LIMIT_BYTES, NUMBER_LIMIT, NumberedColumn, QuantisedRecord, VectorColumnRecord,
    VectorColumns, name_fault,
};

/// The vectors that a caller gives, one after the other.
type Given<'g> = dyn Iterator<Item = Result<(VectorTarget, Vec<f32>)>> + 'g;

/// Rows between two looks at the clock.
// A row is resolved, checked and written to a temporary file; a clock for each would be noticed.
const ROWS_PER_REPORT: u64 = 64;

/// A vector that waits to be written.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct WaitingRow {
    at: RowAddress,
    /// Its number among those that wait.
    number: u32,
    /// Squared length.
    norm: f32,
}

impl Session {
    /// See [`crate::KbWriter::import_vectors`].
    pub(crate) fn import_vectors(
        &mut self,
        options: &NewVectors,
        rows: &mut Given<'_>,
        reporter: &Reporter<'_>,
    ) -> Result<ImportReport> {
        if let Some(fault) = name_fault(&options.name) {
            return Err(invalid("name", format!("{:?}: {fault}", options.name)));
        }
        if options.model.len() > MODEL_LIMIT_BYTES {
            let given = options.model.len();
            let reason = format!("{given} bytes given; at most {MODEL_LIMIT_BYTES}");
            return Err(invalid("model", reason));
        }
        reporter.start(Stage::Import)?;
        let report = self.change_vectors(reporter, |change| {
            let report = import(change, options, None, rows, reporter)?;
            Ok((report, true))
        })?;
        // Lists of the built-in column are left to the next index run, which measures what searches find then.
        self.build_lists(Columns::Imported, reporter);
        Ok(report)
    }

    /// Makes inverted lists for columns that have none. Where that fails or is stopped they are left to the next index
    /// run.
    pub(super) fn build_lists(&mut self, columns: Columns, reporter: &Reporter<'_>) {
        let columns = (self.list_limits, columns);
        if let Some(LockedFile {
            writer,
            base: Some(base),
            catalogs,
        }) = &mut self.open
        {
            // The vectors are in the file; lists that fail or are stopped are left to the next index run, and
            // to a writer that opens the file again.
            if lists::build(writer, base, catalogs, columns, reporter).is_err() {
                self.open = None;
            }
        }
    }
}

/// What was read, and where it goes.
struct Read {
    rows: WaitingRows,
    order: Vec<WaitingRow>,
    loss: LossSample,
    /// How many take the place of another vector.
    replaced: u64,
}

/// Imports into a column; a new one is of that model.
pub(super) fn import(
    mut change: Change<'_, '_>,
    options: &NewVectors,
    model: Option<&ColumnModel>,
    rows: &mut Given<'_>,
    reporter: &Reporter<'_>,
) -> Result<ImportReport> {
    let mut columns = change.catalog.vector_columns.clone();
    let (mut column, is_new) = match columns.named(&options.name) {
        Some(column) => (continued(column, options)?, false),
        None => (begun(&columns, options, model)?, true),
    };
    let mut read = read(&change, (&mut column, is_new), options, rows, reporter)?;
    // Known only after the last vector, as it depends on all of them: this is why vectors wait in a
    // file.
    column.record.range = read.rows.finish_range(&mut || reporter.tick())?;
    let codec = Codec::of(column.record.codec)?;
    let range = column.record.range;
    let measured = read.loss.recall(codec, range, &mut || reporter.tick())?;
    let recall = measured.as_ref().map(|measured| measured.recall);
    column.quantised = joined(column.quantised.take(), measured);
    // Segments are rewritten column by column, in the order of rows; callers give rows in any
    // order.
    read.order.sort_unstable_by_key(|row| row.at);
    write(&mut change, &column, &mut read, reporter)?;
    let report = ImportReport {
        rows: u64::from(read.rows.count()),
        chunks: change.catalog.meta.chunks,
        dim: column.record.dim,
        replaced: read.replaced,
        cut_numbers: read.rows.cut_numbers(),
        recall,
    };
    if options.make_default {
        columns.default = column.number;
    }
    if is_new {
        columns.next = column.number.saturating_add(1);
        columns.list.push(column);
    } else if let Some(known) = columns
        .list
        .iter_mut()
        .find(|it| it.number == column.number)
    {
        known.quantised = column.quantised;
        if let (Some(known), Some(model)) = (&mut known.model, model) {
            // The same model may have been found elsewhere.
            known.card.location.clone_from(&model.card.location);
        }
    }
    columns.write(change.transaction)?;
    Ok(report)
}

/// What quantising leaves of a column after an import, by the rows of each.
fn joined(
    before: Option<QuantisedRecord>,
    now: Option<QuantisedRecord>,
) -> Option<QuantisedRecord> {
    let (before, now) = match (before, now) {
        (Some(before), Some(now)) => (before, now),
        (before, now) => return now.or(before),
    };
    let rows = before.rows.saturating_add(now.rows);
    let share = now.rows as f32 / rows.max(1) as f32;
    let recall = before.recall + (now.recall - before.recall) * share;
    Some(QuantisedRecord {
        rows,
        recall: recall.clamp(0.0, 1.0),
        ..now
    })
}

/// The column that gets more vectors.
fn continued(column: &NumberedColumn, options: &NewVectors) -> Result<NumberedColumn> {
    let (name, record) = (&options.name, &column.record);
    if column.metric != options.metric {
        let reason = format!(
            "{} given; {name:?} is compared by {}: import into another column, or remove this one first",
            options.metric.name(),
            column.metric.name()
        );
        return Err(invalid("metric", reason));
    }
    let (given, model) = (&options.model, &record.model);
    if !given.is_empty() && given != model {
        let has = match model.as_str() {
            "" => "has no name of a model: leave it out".to_owned(),
            model => format!("has vectors by {model:?}"),
        };
        let reason = format!(
            "{given:?} given; {name:?} {has}, import into another column, or remove this one first"
        );
        return Err(invalid("model", reason));
    }
    Ok(column.clone())
}

/// A new column; its dimensions and range follow from its vectors.
fn begun(
    columns: &VectorColumns,
    options: &NewVectors,
    model: Option<&ColumnModel>,
) -> Result<NumberedColumn> {
    if columns.next > NUMBER_LIMIT {
        return Err(Error::TooMany {
            what: "columns of vectors that were ever imported",
            count: u64::from(columns.next),
            limit: u64::from(NUMBER_LIMIT),
        });
    }
    Ok(NumberedColumn {
        number: columns.next,
        metric: options.metric,
        record: VectorColumnRecord {
            name: options.name.clone(),
            model: options.model.clone(),
            dim: 0,
            metric: options.metric.number(),
            codec: options.codec.number(),
            range: 0.0,
            added_ms: now_ms(),
        },
        effort: None,
        quantised: None,
        model: model.cloned(),
    })
}

/// Reads all vectors and finds their chunks. The first one of a new column decides its dimensions.
fn read(
    change: &Change<'_, '_>,
    (column, is_new): (&mut NumberedColumn, bool),
    options: &NewVectors,
    given: &mut Given<'_>,
    reporter: &Reporter<'_>,
) -> Result<Read> {
    let catalog = change.catalog;
    let mut targets = Targets::new(change.snapshot, catalog, Some(change.path));
    // Chunks by segment that had a vector in this import, and before it.
    let mut seen = vec![RoaringBitmap::new(); catalog.segments.len()];
    let before: Vec<Option<&RoaringBitmap>> = catalog
        .segments
        .iter()
        .map(|segment| present_rows(segment, column.number))
        .collect();
    let (mut waiting, mut order, mut replaced, mut in_order) = (None, Vec::new(), 0, 0u64);
    let mut loss = None;
    let mut progress = Progress::new(Stage::Import);
    for (number, row) in (0u64..).zip(given) {
        let wrong = |argument: &'static str, reason: String| {
            invalid(argument, format!("row {number}: {reason}"))
        };
        let fault = |reason: String| wrong("vectors", reason);
        let misnamed = |reason: String| wrong("chunks", reason);
        let (target, mut vector) = row?;
        in_order += u64::from(matches!(target, VectorTarget::Position(_)));
        if is_new && number == 0 {
            column.record.dim = dim_of(&vector).map_err(fault)?;
        }
        let dim = column.record.dim;
        let norm = column.metric.check(&vector, dim).map_err(fault)?;
        column.metric.scale(&mut vector, norm);
        let at = targets.find(&target).map_err(|error| match error {
            Error::InvalidArgument { reason, .. } => misnamed(reason),
            Error::DocumentNotFound { .. } | Error::AmbiguousDocument { .. } => {
                misnamed(error.to_string())
            }
            other => other,
        })?;
        let position = at.segment as usize;
        if !seen
            .get_mut(position)
            .is_some_and(|seen| seen.insert(at.row))
        {
            return Err(misnamed(
                "its chunk had an earlier row; a chunk has one vector in a column".to_owned(),
            ));
        }
        let had_one = before.get(position).copied().flatten();
        if had_one.is_some_and(|before| before.contains(at.row)) {
            if !options.replace {
                let name = &options.name;
                let reason = format!(
                    "its chunk has a vector in {name:?} already; ask to replace it, or leave it out"
                );
                return Err(wrong("replace", reason));
            }
            replaced += 1;
        }
        let range = (!is_new).then_some(column.record.range);
        let rows = waiting.get_or_insert_with(|| WaitingRows::new(change.path, dim, range));
        order.push(WaitingRow {
            at,
            number: rows.count(),
            norm: norm as f32,
        });
        loss.get_or_insert_with(|| LossSample::new(dim, column.metric))
            .add(&vector);
        rows.push(&vector)?;
        progress.files_done += 1;
        if number % ROWS_PER_REPORT == 0 {
            reporter.report(progress)?;
        } else {
            reporter.tick()?;
        }
    }
    let (Some(rows), Some(loss)) = (waiting, loss) else {
        return Err(invalid("vectors", "there is no row to import".to_owned()));
    };
    if in_order > 0 {
        check_in_order(u64::from(rows.count()), catalog.meta.chunks)?;
    }
    Ok(Read {
        rows,
        order,
        loss,
        replaced,
    })
}

/// Positions mean nothing unless the caller counted the chunks that the file has now, and told it by a row for each.
fn check_in_order(rows: u64, chunks: u64) -> Result<()> {
    if rows == chunks {
        return Ok(());
    }
    Err(invalid(
        "chunks",
        format!(
            "there are {rows} rows for the chunks in order, and the file has {chunks} chunks: give one row for each chunk, or name the chunk of each row"
        ),
    ))
}

/// Rows of a segment with a vector in a column.
fn present_rows(segment: &Segment, number: u16) -> Option<&RoaringBitmap> {
    let mut more = segment.records.more_vectors.iter();
    let index = more.find(|index| index.number == number);
    index.map(|index| &index.present)
}

/// The dimensions of a new column whose first vector this is.
fn dim_of(vector: &[f32]) -> std::result::Result<u32, String> {
    let dim = u32::try_from(vector.len()).unwrap_or(u32::MAX);
    if (1..=VECTOR_DIM_LIMIT).contains(&dim) {
        Ok(dim)
    } else {
        Err(format!(
            "it has {} numbers; a column has 1 to {VECTOR_DIM_LIMIT}",
            vector.len()
        ))
    }
}

/// Writes the column anew into each segment that gets a vector; the vectors that it had there are taken along.
fn write(
    change: &mut Change<'_, '_>,
    column: &NumberedColumn,
    read: &mut Read,
    reporter: &Reporter<'_>,
) -> Result<()> {
    let segment_at = |row: &WaitingRow| {
        let segment = change.catalog.segments.get(row.at.segment as usize);
        segment.ok_or_else(|| Error::damaged("a chunk of no segment"))
    };
    let by_segment = || {
        let order = read.order.as_slice();
        order.chunk_by(|a, b| a.at.segment == b.at.segment)
    };
    let mut progress = Progress::new(Stage::Import);
    progress.files_done = read.order.len() as u64;
    progress.files_total = progress.files_done;
    for first in by_segment().filter_map(<[WaitingRow]>::first) {
        progress.files_total += u64::from(segment_at(first)?.rows());
    }
    for of_segment in by_segment() {
        let Some(first) = of_segment.first() else {
            continue;
        };
        let segment = segment_at(first)?;
        let bound = segment.bind(change.snapshot)?;
        let old = bound.more_vectors(column.number);
        let old = match old {
            Some(old) => Some((&old.index.present, old.reader()?)),
            None => None,
        };
        let deleted = segment.deleted_rows();
        let is_left = |row| deleted.is_none_or(|deleted| !deleted.contains(row));
        let transaction = &mut *change.transaction;
        let mut record = segment.records.segment.clone();
        take_out(transaction, segment.id, &mut record, column.number)?;
        let mut writer = MoreVectorsWriter::new(segment.id, column);
        let mut new = of_segment.iter().peekable();
        for row in 0..segment.rows() {
            match (new.next_if(|new| new.at.row == row), &old) {
                (Some(new), _) => {
                    writer.push(transaction, read.rows.get(new.number)?, new.norm)?;
                }
                (None, Some((present, old))) if present.contains(row) && is_left(row) => {
                    writer.copy(transaction, old, row)?;
                }
                (None, _) => writer.push_absent(transaction)?,
            }
            progress.files_done += 1;
            if u64::from(row) % ROWS_PER_REPORT == 0 {
                reporter.report(progress)?;
            } else {
                reporter.tick()?;
            }
        }
        let (more, columns) = writer.finish(transaction)?;
        record.more_vectors.push(more);
        record.more_vectors.sort_by_key(|more| more.number);
        record.columns.extend(columns);
        record.columns.sort_by_key(|column| column.column);
        record.write(transaction, segment.id)?;
    }
    Ok(())
}

fn invalid(argument: &'static str, reason: String) -> Error {
    Error::InvalidArgument { argument, reason }
}

#[cfg(test)]
mod tests;
