//! Imported vectors until they are written, in a temporary file.

use std::path::{Path, PathBuf};

use kb_types::error::Result;

use crate::container::Spool;
use crate::container::codec::array_at;
use crate::index::vector::quantise::quantise;
use crate::index::vector::stride;
use crate::ingest::run::vectors::range::RangeSample;

/// Vectors in the order in which they came: those of a new column as they are, because all of them decide its range;
/// those of a column that has one quantised at once.
pub(super) struct WaitingRows {
    /// The .kb.
    beside: PathBuf,
    dim: u32,
    /// The range of the column that gets them; `None` for a new one.
    known: Option<f32>,
    /// The range that [`WaitingRows::finish_range`] found.
    found: Option<f32>,
    sample: RangeSample,
    /// The vectors: numbers of 4 bytes, or signed bytes where the range was known.
    spool: Option<Spool>,
    count: u32,
    /// Numbers beyond the range.
    cut_numbers: u64,
    /// The row that was asked for last.
    row: Vec<i8>,
    numbers: Vec<f32>,
}

impl WaitingRows {
    /// None yet, of a column with that range, or of a new one.
    pub(super) fn new(beside: &Path, dim: u32, range: Option<f32>) -> WaitingRows {
        WaitingRows {
            beside: beside.to_path_buf(),
            dim,
            known: range,
            found: None,
            sample: RangeSample::new(),
            spool: None,
            count: 0,
            cut_numbers: 0,
            row: vec![0; stride(dim) as usize],
            numbers: Vec::new(),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// How many of their numbers lie beyond the range, and are stored as its ends. Of a new column after
    /// [`WaitingRows::finish_range`].
    pub(super) fn cut_numbers(&self) -> u64 {
        self.cut_numbers
    }

    /// Appends a vector of `dim` finite numbers.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub(super) fn push(&mut self, vector: &[f32]) -> Result<()> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool::beside(&self.beside)?),
        };
        match self.known {
            None => {
                self.sample.add(vector);
                for x in vector {
                    spool.append(&x.to_le_bytes())?;
                }
            }
            Some(range) => {
                let cut = vector.iter().filter(|x| x.abs() > range).count();
                self.cut_numbers += cut as u64;
                quantise(vector, range, &mut self.row);
                let bytes: Vec<u8> = self.row.iter().map(|byte| byte.cast_unsigned()).collect();
                spool.append(&bytes)?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// The range of the column, once all vectors are here; those of a new one are read again. Asks `check` whether to
    /// go on.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; what `check` says.
    pub(super) fn finish_range(&mut self, check: &mut dyn FnMut() -> Result<()>) -> Result<f32> {
        if let Some(range) = self.known.or(self.found) {
            return Ok(range);
        }
        let (count, dim) = (self.count, self.dim as usize);
        let (sample, spool, numbers) = (&self.sample, &mut self.spool, &mut self.numbers);
        let (range, cut_numbers) = sample.range(|each| {
            for number in 0..count {
                check()?;
                if let Some(spool) = spool {
                    read_whole(spool, number, dim, numbers)?;
                    each(numbers);
                }
            }
            Ok(())
        })?;
        (self.found, self.cut_numbers) = (Some(range), cut_numbers);
        Ok(range)
    }

    /// A vector as signed bytes, padded with zeros to a multiple of 64, after [`WaitingRows::finish_range`].
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub(super) fn get(&mut self, number: u32) -> Result<&[i8]> {
        match (&mut self.spool, self.known) {
            (Some(spool), None) => {
                read_whole(spool, number, self.dim as usize, &mut self.numbers)?;
                quantise(&self.numbers, self.found.unwrap_or(1.0), &mut self.row);
            }
            (Some(spool), Some(_)) => {
                let len = self.row.len();
                let bytes = spool.read(u64::from(number) * len as u64, len)?;
                for (to, from) in self.row.iter_mut().zip(bytes) {
                    *to = from.cast_signed();
                }
            }
            (None, _) => self.row.fill(0),
        }
        Ok(&self.row)
    }
}

/// Reads a vector that waits as numbers.
fn read_whole(spool: &mut Spool, number: u32, dim: usize, numbers: &mut Vec<f32>) -> Result<()> {
    let len = dim * 4;
    let bytes = spool.read(u64::from(number) * len as u64, len)?;
    numbers.clear();
    for at in (0..len).step_by(4) {
        numbers.push(f32::from_le_bytes(array_at(bytes, at)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_vectors_of_a_new_column_decide_its_range() {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("a.kb");
        // As many as once decided alone, and larger ones behind them.
        let (first, count) = (1 << 16, (1 << 16) + 1000);
        let vector = |number: u32| {
            let scale = if number < first { 1.0 } else { 3.0 };
            let number = number as f32;
            [number.sin() * scale, number.cos() * scale, -scale]
        };
        let mut rows = WaitingRows::new(&beside, 3, None);
        for number in 0..count {
            rows.push(&vector(number)).unwrap();
        }
        let range = rows.finish_range(&mut || Ok(())).unwrap();
        assert_eq!((rows.count(), range, rows.cut_numbers()), (count, 3.0, 0));
        let order = (0..count).step_by(97).chain((0..count).rev().step_by(89));
        for number in order.chain([first - 1, first]) {
            let mut expected = [0; 64];
            quantise(&vector(number), range, &mut expected);
            assert_eq!(rows.get(number).unwrap(), expected, "{number}");
        }
    }

    #[test]
    fn numbers_beyond_a_known_range_are_cut_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut later = WaitingRows::new(&folder.path().join("a.kb"), 3, Some(0.25));
        later.push(&[0.25, -0.3, 7.0]).unwrap();
        later.push(&[0.1, 0.2, -0.25]).unwrap();
        assert_eq!(later.finish_range(&mut || Ok(())).unwrap(), 0.25);
        assert_eq!((later.count(), later.cut_numbers()), (2, 2));
        let mut expected = [0; 64];
        quantise(&[0.25, -0.25, 0.25], 0.25, &mut expected);
        assert_eq!(later.get(0).unwrap(), expected);
    }

    #[test]
    fn finding_the_range_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = WaitingRows::new(&folder.path().join("a.kb"), 2, None);
        rows.push(&[1.0, 2.0]).unwrap();
        let mut stop = || Err(crate::Error::Cancelled);
        let stopped = rows.finish_range(&mut stop).unwrap_err();
        assert_eq!(stopped.code(), "CANCELLED");
    }
}
