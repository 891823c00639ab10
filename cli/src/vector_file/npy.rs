//! NumPy arrays, `.npy`: the rows of a matrix.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kb_engine::VectorTarget;

use super::error::VectorFileError;
use super::jsonl::JsonLines;
use super::npy_header::{Header, Numbers, header_place, parse};
use super::row::{MAX_DIM, Row};

/// Bytes per read.
const BUFFER: usize = 1 << 18;

/// The rows of an array of two axes.
pub(super) struct NpyRows {
    path: PathBuf,
    file: BufReader<File>,
    numbers: Numbers,
    is_big_endian: bool,
    rows: u64,
    /// Rows that were read.
    read: u64,
    /// The bytes of one row.
    bytes: Vec<u8>,
}

impl NpyRows {
    /// Of a file with [rows, dim] numbers.
    pub(super) fn new(path: &Path, file: File) -> Result<NpyRows, VectorFileError> {
        NpyRows::open(path, file, false)
    }

    /// Of a file that may also have one vector alone, `(dim,)`.
    pub(super) fn of_one(path: &Path, file: File) -> Result<NpyRows, VectorFileError> {
        NpyRows::open(path, file, true)
    }

    fn open(path: &Path, file: File, may_be_flat: bool) -> Result<NpyRows, VectorFileError> {
        let io = |error| VectorFileError::io(path, &error);
        let wrong = |(reason, hint): (String, &str)| VectorFileError::new(path, reason, hint);
        let file_bytes = file.metadata().map_err(io)?.len();
        let mut file = BufReader::with_capacity(BUFFER, file);
        let mut start = Vec::new();
        file.by_ref().take(12).read_to_end(&mut start).map_err(io)?;
        let (place, length) = header_place(&start).map_err(wrong)?;
        file.seek(SeekFrom::Start(place)).map_err(io)?;
        let mut text = vec![0; length];
        file.read_exact(&mut text).map_err(|_| {
            VectorFileError::new(path, "it ends within its header", "write the file again")
        })?;
        let header = parse(&text).map_err(wrong)?;
        let (rows, dim) = shape(&header, may_be_flat).map_err(wrong)?;
        let row_bytes = dim * header.numbers.bytes();
        let data = file_bytes
            .saturating_sub(place)
            .saturating_sub(length as u64);
        let expected = rows.checked_mul(row_bytes as u64);
        if expected != Some(data) {
            let claimed = expected.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
            return Err(VectorFileError::new(
                path,
                format!(
                    "{rows} rows of {dim} numbers need {claimed} bytes, but {data} bytes follow its header"
                ),
                "the file may be incomplete; write it again",
            ));
        }
        Ok(NpyRows {
            path: path.to_owned(),
            file,
            numbers: header.numbers,
            is_big_endian: header.is_big_endian,
            rows,
            read: 0,
            bytes: vec![0; row_bytes],
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    fn vector(&self) -> Vec<f32> {
        let (bytes, is_big) = (self.bytes.as_slice(), self.is_big_endian);
        match self.numbers {
            Numbers::I8 => {
                let numbers = bytes.iter().map(|byte| i8::from_ne_bytes([*byte]));
                numbers.map(f32::from).collect()
            }
            Numbers::F16 => numbers(bytes, is_big, |bytes| {
                half_to_single(u16::from_le_bytes(bytes))
            }),
            Numbers::F32 => numbers(bytes, is_big, f32::from_le_bytes),
            // Out of range becomes infinite, which no vector may have.
            Numbers::F64 => numbers(bytes, is_big, |bytes| f64::from_le_bytes(bytes) as f32),
        }
    }
}

impl Iterator for NpyRows {
    type Item = Result<Vec<f32>, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read == self.rows {
            return None;
        }
        if let Err(error) = self.file.read_exact(&mut self.bytes) {
            // Its length was right when it was opened.
            self.rows = self.read;
            return Some(Err(VectorFileError::row(
                &self.path,
                self.read,
                format!("cannot read it: {error}"),
                "run the command again once no other program writes the file",
            )));
        }
        self.read += 1;
        Some(Ok(self.vector()))
    }
}

/// Numbers of `N` bytes each.
fn numbers<const N: usize>(
    bytes: &[u8],
    is_big_endian: bool,
    read: impl Fn([u8; N]) -> f32,
) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<N>();
    let numbers = numbers.iter().map(|number| {
        let mut number = *number;
        if is_big_endian {
            number.reverse();
        }
        read(number)
    });
    numbers.collect()
}

/// A number of half precision: a sign, 5 bits of exponent, 10 bits of fraction.
fn half_to_single(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1F;
    let fraction = u32::from(bits) & 0x3FF;
    match exponent {
        // Multiples of 2^-24, which a single has exactly.
        0 => {
            let magnitude = f32::from(bits & 0x3FF) * f32::from_bits(0x3380_0000);
            f32::from_bits(sign | magnitude.to_bits())
        }
        0x1F => f32::from_bits(sign | 0x7F80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

/// Rows, and numbers in each.
fn shape(header: &Header, may_be_flat: bool) -> Result<(u64, usize), (String, &'static str)> {
    let (rows, dim) = match *header.shape.as_slice() {
        [rows, dim] => (rows, dim),
        [dim] if may_be_flat => (1, dim),
        [numbers] => {
            return Err((
                format!("it has one axis with {numbers} numbers; it needs two axes, [rows, dim]"),
                "save `array.reshape(rows, dim)`, or `numpy.stack(vectors)` if it is a list",
            ));
        }
        ref axes => {
            return Err((
                format!("it has {} axes; it needs two, [rows, dim]", axes.len()),
                "save `array.reshape(rows, dim)`",
            ));
        }
    };
    match usize::try_from(dim) {
        Ok(dim) if (1..=MAX_DIM).contains(&dim) => Ok((rows, dim)),
        _ => Err((
            format!("its rows have {dim} numbers; 1 to {MAX_DIM} are allowed"),
            "if the axes are in the wrong order, `array.T` swaps them",
        )),
    }
}

/// Rows of an array with the chunks that they belong to.
pub(super) struct NamedRows {
    vectors: NpyRows,
    /// Where each chunk is named; without it they are the chunks of the file in order.
    names: Option<JsonLines>,
    number: u64,
    has_ended: bool,
}

impl NamedRows {
    pub(super) fn new(vectors: NpyRows, names: Option<JsonLines>) -> NamedRows {
        NamedRows {
            vectors,
            names,
            number: 0,
            has_ended: false,
        }
    }

    fn named(&mut self) -> Result<Option<Row>, VectorFileError> {
        let vector = self.vectors.next().transpose()?;
        let number = self.number;
        self.number += 1;
        let Some(names) = &mut self.names else {
            return Ok(vector.map(|vector| (VectorTarget::Position(number), vector)));
        };
        let rows = self.vectors.rows();
        match (vector, names.next_target()?) {
            (Some(vector), Some(target)) => Ok(Some((target, vector))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(VectorFileError::new(
                names.path(),
                format!("it names {number} rows, but the array has {rows}"),
                "give one line for each row",
            )),
            (None, Some(_)) => Err(VectorFileError::new(
                names.path(),
                format!("it names more rows than the {rows} of the array"),
                "give one line for each row",
            )),
        }
    }
}

impl Iterator for NamedRows {
    type Item = Result<Row, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let row = self.named().transpose();
        self.has_ended = !matches!(row, Some(Ok(_)));
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7BFF, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83FF, -6.097_555e-5),
            (0x7C00, f32::INFINITY),
            (0xFC00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half_to_single(bits), expected, "{bits:#x}");
        }
        assert!(half_to_single(0x7E00).is_nan());
        assert!(half_to_single(0x8000).is_sign_negative());
    }
}
