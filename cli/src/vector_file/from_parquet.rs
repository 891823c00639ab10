//! Parquet files, read some rows at a time.
//!
//! A small file can expand to a huge one: a page of a few bytes may stand for 2^31 equal numbers in one row. So all pages
//! are checked before any is decoded.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};

use super::columns::{Batch, locate};
use super::error::VectorFileError;
use super::parquet_pages::check_group;
use super::row::Row;
use super::unwinding::{damaged, guarded};

/// Bytes of what a file says of its columns.
const MAX_METADATA: u32 = 64 << 20;

/// Numbers that are decoded at once.
const BATCH_NUMBERS: u64 = 1 << 20;

/// Rows that are decoded at once.
const BATCH_ROWS: u64 = 4096;

/// The rows of a file.
pub(super) struct ParquetRows {
    path: PathBuf,
    /// `None` once it has failed.
    batches: Option<ParquetRecordBatchReader>,
    batch: Option<Batch>,
    rows: u64,
    read: u64,
}

impl ParquetRows {
    /// Of a file with no more than `most` rows.
    pub(super) fn new(
        path: &Path,
        mut file: File,
        most: u64,
    ) -> Result<ParquetRows, VectorFileError> {
        check_ends(path, &mut file)?;
        guarded(path, || open(path, file, most))
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }
}

impl Iterator for ParquetRows {
    type Item = Result<Row, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batches = self.batches.take()?;
        let (path, batch, number) = (&self.path, &mut self.batch, self.read);
        let row = guarded(path, || {
            loop {
                let row = batch
                    .as_mut()
                    .and_then(|batch| batch.next_row(path, number));
                if row.is_some() {
                    return row.transpose();
                }
                match batches.next() {
                    Some(Ok(columns)) => *batch = Some(Batch::new(columns)),
                    Some(Err(error)) => return Err(damaged(path, error)),
                    None => return Ok(None),
                }
            }
        });
        self.read = self.read.saturating_add(1);
        if let Ok(Some(_)) = row {
            self.batches = Some(batches);
        }
        row.transpose()
    }
}

/// Looks at both ends of the file: what stands there, and how long the metadata is.
fn check_ends(path: &Path, file: &mut File) -> Result<(), VectorFileError> {
    let io = |error| VectorFileError::io(path, &error);
    let mut end = [0; 8];
    let length = file.metadata().map_err(io)?.len();
    if length >= 12 {
        file.seek(SeekFrom::End(-8)).map_err(io)?;
        file.read_exact(&mut end).map_err(io)?;
    }
    let [a, b, c, d, magic @ ..] = end;
    if &magic == b"PARE" {
        let hint = "write it without encryption";
        return Err(VectorFileError::new(path, "it is encrypted", hint));
    }
    if &magic != b"PAR1" {
        return Err(damaged(path, "it does not end as a Parquet file does"));
    }
    let metadata = u32::from_le_bytes([a, b, c, d]);
    if metadata > MAX_METADATA || u64::from(metadata) > length - 12 {
        return Err(damaged(
            path,
            format!("it claims {metadata} bytes of metadata"),
        ));
    }
    Ok(())
}

fn open(path: &Path, file: File, most: u64) -> Result<ParquetRows, VectorFileError> {
    let wrong = |error| damaged(path, error);
    // The types are those of Parquet, whatever Arrow schema a writer has put beside them.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(wrong)?;
    let places = locate(path, metadata.schema())?;
    // Texts stay where they were decoded: a dictionary of one long text must not be copied for each row.
    let viewed = Schema::new(viewed(metadata.schema()));
    let options = ArrowReaderOptions::new().with_schema(Arc::new(viewed));
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options);
    let metadata = metadata.map_err(wrong)?;

    let groups = metadata.metadata().row_groups();
    let mut rows = 0u64;
    for group in groups {
        let count = u64::try_from(group.num_rows()).ok();
        rows = count
            .and_then(|count| rows.checked_add(count))
            .ok_or_else(|| damaged(path, "it claims a negative number of rows"))?;
    }
    let columns = ProjectionMask::roots(metadata.metadata().file_metadata().schema_descr(), places);
    let file = Arc::new(file);
    let mut longest = 1;
    // More rows than there may be are refused by their number; nothing is looked at then.
    if rows <= most {
        for group in groups {
            longest = longest.max(check_group(path, &file, group, &columns)?);
        }
    }
    let batch = (BATCH_NUMBERS / longest).clamp(1, BATCH_ROWS);
    let file = file
        .try_clone()
        .map_err(|error| VectorFileError::io(path, &error))?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let batches = builder
        .with_projection(columns)
        .with_batch_size(usize::try_from(batch).unwrap_or(1))
        .build()
        .map_err(wrong)?;
    Ok(ParquetRows {
        path: path.to_owned(),
        batches: Some(batches),
        batch: None,
        rows,
        read: 0,
    })
}

/// The same columns, texts as views.
fn viewed(schema: &Schema) -> Vec<Field> {
    let fields = schema.fields().iter().map(|field| {
        let field = Field::clone(field);
        match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => field.with_data_type(DataType::Utf8View),
            _ => field,
        }
    });
    fields.collect()
}
