//! Tables of numbers in the format of numpy, version 1.0: magic, a header padded to 64 bytes, the
//! numbers row by row. Written and read in pieces: a table may be larger than memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::export;

/// Bytes before the header text: magic, version, length.
const FIXED: usize = 10;

/// Writes rows of f32; how many is known at the end.
pub(crate) struct Writer {
    output: BufWriter<File>,
    dim: usize,
    rows: usize,
}

impl Writer {
    /// A new table of rows of `dim` numbers.
    pub(crate) fn create(path: &Path, dim: usize) -> Result<Writer> {
        let mut output = export::create(path)?;
        output.write_all(&header(0, dim))?;
        Ok(Writer {
            output,
            dim,
            rows: 0,
        })
    }

    /// Appends one row.
    pub(crate) fn push(&mut self, row: &[f32]) -> Result<()> {
        ensure!(row.len() == self.dim, "a row of {} numbers", row.len());
        for number in row {
            self.output.write_all(&number.to_le_bytes())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Writes the header again, now with the number of rows, which is returned.
    pub(crate) fn finish(mut self) -> Result<usize> {
        let header = header(self.rows, self.dim);
        ensure!(
            header.len() == self::header(0, self.dim).len(),
            "a header of another length"
        );
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(&header)?;
        self.output.flush()?;
        Ok(self.rows)
    }
}

fn header(rows: usize, dim: usize) -> Vec<u8> {
    let mut text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
    let padding = (FIXED + text.len() + 1).next_multiple_of(64) - (FIXED + text.len() + 1);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// A table that is read by rows, of f32 or i32.
pub(crate) struct Table {
    file: File,
    /// Where the numbers begin.
    start: u64,
    pub(crate) rows: usize,
    pub(crate) dim: usize,
    bytes: Vec<u8>,
}

impl Table {
    /// Opens a table of f32.
    pub(crate) fn of_floats(path: &Path) -> Result<Table> {
        Table::open(path, "<f4")
    }

    /// Opens a table of i32.
    pub(crate) fn of_integers(path: &Path) -> Result<Table> {
        Table::open(path, "<i4")
    }

    fn open(path: &Path, kind: &str) -> Result<Table> {
        let opened = || {
            let mut file = File::open(path)?;
            let mut fixed = [0; FIXED];
            file.read_exact(&mut fixed)?;
            ensure!(
                fixed.starts_with(b"\x93NUMPY\x01"),
                "no table of version 1.0"
            );
            let mut text = vec![0; usize::from(u16::from_le_bytes([fixed[8], fixed[9]]))];
            file.read_exact(&mut text)?;
            let text = String::from_utf8(text)?;
            ensure!(
                text.contains(kind) && text.contains("'fortran_order': False"),
                "no {kind} row by row: {text}"
            );
            let (rows, dim) = shape(&text).with_context(|| format!("no two sizes: {text}"))?;
            Ok(Table {
                file,
                start: (FIXED + text.len()) as u64,
                rows,
                dim,
                bytes: Vec::new(),
            })
        };
        opened().with_context(|| path.display().to_string())
    }

    /// Some rows, one after the other.
    pub(crate) fn floats(&mut self, first: usize, rows: usize) -> Result<Vec<f32>> {
        Ok(self.read(first, rows)?.map(f32::from_le_bytes).collect())
    }

    /// One row.
    pub(crate) fn integers(&mut self, row: usize) -> Result<Vec<i32>> {
        Ok(self.read(row, 1)?.map(i32::from_le_bytes).collect())
    }

    /// The four bytes of each number.
    fn read(&mut self, first: usize, rows: usize) -> Result<impl Iterator<Item = [u8; 4]>> {
        ensure!(
            first + rows <= self.rows,
            "row {first} and {rows} more of {}",
            self.rows
        );
        let width = self.dim * 4;
        let place = self.start + (first * width) as u64;
        self.file.seek(SeekFrom::Start(place))?;
        self.bytes.resize(rows * width, 0);
        self.file.read_exact(&mut self.bytes)?;
        let (numbers, _) = self.bytes.as_chunks::<4>();
        Ok(numbers.iter().copied())
    }
}

fn shape(header: &str) -> Option<(usize, usize)> {
    let (_, rest) = header.split_once("'shape': (")?;
    let (rows, rest) = rest.split_once(',')?;
    let (dim, _) = rest.split_once(')')?;
    Some((rows.trim().parse().ok()?, dim.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_numbers_begins_at_a_multiple_of_64() {
        for (rows, dim) in [(0, 192), (3, 4), (114_641, 192), (usize::MAX, 8192)] {
            let header = header(rows, dim);
            assert_eq!(header.len(), 128);
            assert_eq!(
                usize::from(u16::from_le_bytes([header[8], header[9]])),
                header.len() - 10
            );
            assert!(header.ends_with(b"\n"));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.npy");
        let mut writer = Writer::create(&path, 3).unwrap();
        for row in 0..5 {
            writer.push(&[row as f32, 0.5, -1.0]).unwrap();
        }
        assert!(writer.push(&[1.0]).is_err());
        assert_eq!(writer.finish().unwrap(), 5);
        let mut table = Table::of_floats(&path).unwrap();
        assert_eq!((table.rows, table.dim), (5, 3));
        assert_eq!(
            table.floats(3, 2).unwrap(),
            [3.0, 0.5, -1.0, 4.0, 0.5, -1.0]
        );
        assert!(table.floats(4, 2).is_err());
        assert!(Table::of_integers(&path).is_err());
    }
}
