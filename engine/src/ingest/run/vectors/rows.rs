//! Imported vectors until they are written: quantised at once, in temporary files.

use std::path::{Path, PathBuf};

use crate::container::Spool;
use crate::container::codec::array_at;
use crate::error::Result;
use crate::index::vector::quantise::quantise;
use crate::index::vector::stride;
use crate::ingest::run::vectors::range::{RangeSample, SAMPLE_ROWS};

/// Vectors in the order in which they came.
///
/// Those that decide the range of a new column wait as they are: it is known when the last of them came.
pub(super) struct WaitingRows {
    /// The .kb.
    beside: PathBuf,
    dim: u32,
    /// The quantiser; `None` until it is known.
    range: Option<f32>,
    sample: RangeSample,
    /// The first `whole_count` vectors, as numbers of 4 bytes.
    whole: Option<Spool>,
    whole_count: u32,
    /// The others, as signed bytes.
    quantised: Option<Spool>,
    count: u32,
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
            range,
            sample: RangeSample::new(),
            whole: None,
            whole_count: 0,
            quantised: None,
            count: 0,
            row: vec![0; stride(dim) as usize],
            numbers: Vec::new(),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Appends a vector of `dim` finite numbers. Asks `check` whether to go on where that takes long.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; what `check` says.
    pub(super) fn push(
        &mut self,
        vector: &[f32],
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        match self.range {
            None => {
                self.sample.add(vector);
                let whole = opened(&mut self.whole, &self.beside)?;
                for x in vector {
                    whole.append(&x.to_le_bytes())?;
                }
                self.whole_count += 1;
                if self.whole_count == SAMPLE_ROWS {
                    self.finish_range(check)?;
                }
            }
            Some(range) => {
                quantise(vector, range, &mut self.row);
                let quantised = opened(&mut self.quantised, &self.beside)?;
                let bytes: Vec<u8> = self.row.iter().map(|byte| byte.cast_unsigned()).collect();
                quantised.append(&bytes)?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// The range of the column, once all vectors that decide it are here: they are read again.
    ///
    /// # Errors
    /// As [`WaitingRows::push`].
    pub(super) fn finish_range(&mut self, check: &mut dyn FnMut() -> Result<()>) -> Result<f32> {
        if let Some(range) = self.range {
            return Ok(range);
        }
        let (count, dim) = (self.whole_count, self.dim as usize);
        let (sample, whole, numbers) = (&self.sample, &mut self.whole, &mut self.numbers);
        let range = sample.range(|each| {
            for number in 0..count {
                check()?;
                if let Some(whole) = whole {
                    read_whole(whole, number, dim, numbers)?;
                    each(numbers);
                }
            }
            Ok(())
        })?;
        self.range = Some(range);
        Ok(range)
    }

    /// A vector as signed bytes, padded with zeros to a multiple of 64, after [`WaitingRows::finish_range`].
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub(super) fn get(&mut self, number: u32) -> Result<&[i8]> {
        let range = self.range.unwrap_or(1.0);
        match (
            number.checked_sub(self.whole_count),
            &mut self.whole,
            &mut self.quantised,
        ) {
            (None, Some(whole), _) => {
                read_whole(whole, number, self.dim as usize, &mut self.numbers)?;
                quantise(&self.numbers, range, &mut self.row);
            }
            (Some(number), _, Some(quantised)) => {
                let len = self.row.len();
                let bytes = quantised.read(u64::from(number) * len as u64, len)?;
                for (to, from) in self.row.iter_mut().zip(bytes) {
                    *to = from.cast_signed();
                }
            }
            _ => self.row.fill(0),
        }
        Ok(&self.row)
    }
}

fn opened<'s>(spool: &'s mut Option<Spool>, beside: &Path) -> Result<&'s mut Spool> {
    Ok(match spool {
        Some(spool) => spool,
        None => spool.insert(Spool::beside(beside)?),
    })
}

/// Reads a vector that waits as numbers.
fn read_whole(whole: &mut Spool, number: u32, dim: usize, numbers: &mut Vec<f32>) -> Result<()> {
    let len = dim * 4;
    let bytes = whole.read(u64::from(number) * len as u64, len)?;
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
    fn vectors_come_back_quantised_by_the_first_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("a.kb");
        let count = SAMPLE_ROWS + 1000;
        // Those behind the sample are larger than all in it.
        let vector = |number: u32| {
            let scale = if number < SAMPLE_ROWS { 1.0 } else { 3.0 };
            let number = number as f32;
            [number.sin() * scale, number.cos() * scale, -scale]
        };
        let mut rows = WaitingRows::new(&beside, 3, None);
        for number in 0..count {
            rows.push(&vector(number), &mut || Ok(())).unwrap();
        }
        let range = rows.finish_range(&mut || Ok(())).unwrap();
        assert_eq!((rows.count(), range), (count, 1.0));
        let order = (0..count).step_by(97).chain((0..count).rev().step_by(89));
        for number in order.chain([SAMPLE_ROWS - 1, SAMPLE_ROWS]) {
            let mut expected = [0; 64];
            quantise(&vector(number), range, &mut expected);
            assert_eq!(rows.get(number).unwrap(), expected, "{number}");
        }
        let mut later = WaitingRows::new(&beside, 3, Some(0.25));
        later.push(&vector(7), &mut || Ok(())).unwrap();
        assert_eq!(later.finish_range(&mut || Ok(())).unwrap(), 0.25);
        let mut expected = [0; 64];
        quantise(&vector(7), 0.25, &mut expected);
        assert_eq!(later.get(0).unwrap(), expected);
    }

    #[test]
    fn finding_the_range_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = WaitingRows::new(&folder.path().join("a.kb"), 2, None);
        rows.push(&[1.0, 2.0], &mut || Ok(())).unwrap();
        let mut stop = || Err(crate::Error::Cancelled);
        let stopped = rows.finish_range(&mut stop).unwrap_err();
        assert_eq!(stopped.code(), "CANCELLED");
    }
}
