//! Checks how much memory the pages of a Parquet file need, before any value is decoded.
//!
//! A run of levels or equal values takes a few bytes, whatever its length, and the decoder keeps a whole row in memory.
//! So the lengths of rows are computed from their repetition levels, run by run. The decoder also allocates the values of
//! a dictionary and the lengths of texts at once; both are checked against the bytes of their page.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::error::VectorFileError;
use super::row::MAX_DIM;
use super::unwinding::damaged;

/// What to do about a column that is not read.
const WRITE_PLAINLY: &str =
    "write it with compression='zstd', 'snappy' or none, as `pyarrow.parquet.write_table` does";

/// How long the longest vector of a group of rows is, whose other columns have a value a row.
pub(super) fn check_group(
    path: &Path,
    file: &Arc<File>,
    group: &RowGroupMetaData,
    read: &ProjectionMask,
) -> Result<u64, VectorFileError> {
    let rows = u64::try_from(group.num_rows()).unwrap_or(0);
    let columns = group.columns().iter().enumerate();
    let mut longest = 0;
    for (_, column) in columns.filter(|(leaf, _)| read.leaf_included(*leaf)) {
        let told = check_compression(path, column).and_then(|()| {
            let pages = SerializedPageReader::new(Arc::clone(file), column, 0, None);
            read_pages(
                path,
                &mut pages.map_err(|error| damaged(path, error))?,
                column,
            )
        })?;
        if told.rows != rows {
            let name = column.column_path();
            let reason = format!(
                "it claims {rows} rows, but its column {name} has {}",
                told.rows
            );
            return Err(damaged(path, reason));
        }
        longest = longest.max(told.longest);
    }
    Ok(longest)
}

/// Refuses what is not read, and LZ4 in the frames of Hadoop: its decoder unpacks more than a page says it has.
fn check_compression(path: &Path, column: &ColumnChunkMetaData) -> Result<(), VectorFileError> {
    let name = match column.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::ZSTD(_)
        | Compression::LZ4_RAW => return Ok(()),
        Compression::LZ4 => "LZ4 in frames of Hadoop",
        Compression::GZIP(_) => "gzip",
        Compression::BROTLI(_) => "brotli",
        Compression::LZO => "LZO",
    };
    let column = column.column_path();
    let reason = format!(
        "its column {column} is compressed with {name}; only snappy, zstd, LZ4_RAW and no compression are supported"
    );
    Err(VectorFileError::new(path, reason, WRITE_PLAINLY))
}

/// The pages in the order in which the decoder asks for them, with the same calls: a reader that looks ahead takes
/// some files apart in another way.
fn read_pages(
    path: &Path,
    pages: &mut SerializedPageReader<File>,
    column: &ColumnChunkMetaData,
) -> Result<RowLengths, VectorFileError> {
    let wrong = |error| damaged(path, error);
    let is_list = column.column_descr().max_rep_level() > 0;
    let mut lengths = RowLengths::default();
    while let Some(page) = pages.get_next_page().map_err(wrong)? {
        let (bytes, values) = (page.buffer().as_ref(), u64::from(page.num_values()));
        if !page.is_data_page() {
            // Memory is taken for all of them at once, and each has a byte at least.
            if values > bytes.len() as u64 {
                let have = bytes.len();
                let reason = format!("a dictionary of {have} bytes claims {values} values");
                return Err(damaged(path, reason));
            }
            continue;
        }
        if column.column_type() == Type::BYTE_ARRAY {
            check_texts(path, &page, column)?;
        }
        if !is_list {
            lengths.rows = lengths.rows.saturating_add(values);
            lengths.longest = 1;
            continue;
        }
        let levels = levels(&page).ok_or_else(|| damaged(path, "a page has no levels"))?;
        let added = lengths.add(levels, values);
        added.map_err(|reason| damaged(path, reason))?;
        if lengths.longest > MAX_DIM as u64 {
            let row = lengths.rows.saturating_sub(1);
            return Err(VectorFileError::new(
                path,
                format!("the vector of row {row} of a group has more than {MAX_DIM} numbers"),
                "a vector has 1 to 4096 numbers",
            ));
        }
        pages.at_record_boundary().map_err(wrong)?;
    }
    Ok(lengths)
}

/// Refuses texts whose lengths are packed so that some bytes stand for any number of them.
fn check_texts(
    path: &Path,
    page: &Page,
    column: &ColumnChunkMetaData,
) -> Result<(), VectorFileError> {
    match page.encoding() {
        Encoding::DELTA_BYTE_ARRAY | Encoding::DELTA_LENGTH_BYTE_ARRAY => {
            let name = column.column_path();
            let encoding = page.encoding();
            Err(VectorFileError::new(
                path,
                format!(
                    "its column {name} is encoded as {encoding}; only plain and dictionary encoding are supported"
                ),
                "write it with dictionaries, the default of `pyarrow.parquet.write_table`",
            ))
        }
        _ => Ok(()),
    }
}

/// The repetition levels of a page, as runs.
fn levels(page: &Page) -> Option<&[u8]> {
    match page {
        Page::DataPage {
            buf,
            rep_level_encoding: Encoding::RLE,
            ..
        } => {
            let (length, levels) = buf.split_first_chunk::<4>()?;
            levels.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)
        }
        Page::DataPageV2 {
            buf,
            rep_levels_byte_len,
            ..
        } => buf.get(..usize::try_from(*rep_levels_byte_len).ok()?),
        _ => None,
    }
}

/// How long the rows of a column are.
#[derive(Debug, Default, PartialEq)]
struct RowLengths {
    rows: u64,
    longest: u64,
    /// Of the row that the last level belongs to.
    last: u64,
}

impl RowLengths {
    /// Adds the first `count` levels of a page, of one bit each: 0 begins a row, 1 goes on with it. They stand in
    /// runs, of one level or of eight times as many as bytes follow.
    fn add(&mut self, mut levels: &[u8], count: u64) -> Result<(), &'static str> {
        const SHORT: &str = "a page has fewer levels than it claims";
        let mut left = count;
        while left > 0 {
            let head = number(&mut levels).filter(|head| *head > 0).ok_or(SHORT)?;
            if head & 1 == 0 {
                let (level, rest) = levels.split_first().ok_or(SHORT)?;
                let run = (head >> 1).min(left);
                self.run(*level, run);
                (left, levels) = (left - run, rest);
                continue;
            }
            let wanted = (head >> 1).min(left.div_ceil(8));
            let (packed, rest) = usize::try_from(wanted)
                .ok()
                .and_then(|wanted| levels.split_at_checked(wanted))
                .ok_or(SHORT)?;
            for byte in packed {
                let run = left.min(8);
                if *byte == 0xFF {
                    self.run(1, run);
                } else {
                    (0..run).for_each(|bit| self.run(byte >> bit & 1, 1));
                }
                left -= run;
            }
            levels = rest;
        }
        Ok(())
    }

    /// Adds so many equal levels, one at least.
    fn run(&mut self, level: u8, count: u64) {
        if level == 0 {
            self.rows = self.rows.saturating_add(count);
            self.last = 1;
        } else {
            self.last = self.last.saturating_add(count);
        }
        self.longest = self.longest.max(self.last);
    }
}

/// Takes a number of 7 bits a byte, lowest first, off the front.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(levels: &[u8], count: u64) -> Result<(u64, u64), &'static str> {
        let mut lengths = RowLengths::default();
        lengths.add(levels, count)?;
        Ok((lengths.rows, lengths.longest))
    }

    #[test]
    fn rows_are_measured_by_runs_of_levels() {
        // One 0, then 799 999 999 times 1.
        let long = [2, 0, 0xFE, 0x9F, 0xF8, 0xFA, 0x05, 1];
        assert_eq!(lengths(&long, 800_000_000), Ok((1, 800_000_000)));
        assert_eq!(lengths(&long, 5), Ok((1, 5)));
        // Rows of three, two and four, packed into bits; the rest of the last byte is not counted.
        assert_eq!(lengths(&[5, 0b1101_0110, 0b0000_0001], 9), Ok((3, 4)));
        assert_eq!(lengths(&[8, 0], 4), Ok((4, 1)));
        // A row goes on over pages.
        let mut over = RowLengths::default();
        over.add(&[3, 0xFE], 8).unwrap();
        over.add(&[3, 0xFF], 8).unwrap();
        assert_eq!((over.rows, over.longest), (1, 16));
    }

    #[test]
    fn levels_that_are_not_there_are_missed() {
        for (levels, count) in [
            (&b""[..], 1),
            (&[0], 1),
            (&[2], 1),
            (&[2, 0], 2),
            (&[5, 0], 9),
            (&[0x80], 1),
            (&[0xFF; 20], 1),
        ] {
            assert!(lengths(levels, count).is_err(), "{levels:?}");
        }
    }
}
