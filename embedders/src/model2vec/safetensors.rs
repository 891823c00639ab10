//! Reads files of tensors in the format safetensors: the length of a header, the header in JSON, the numbers.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// Most bytes of a header. A table of token vectors has one of 100.
const HEADER_LIMIT_BYTES: usize = 4 << 20;

/// A file of tensors.
#[derive(Debug)]
pub(super) struct Tensors<'a> {
    entries: HashMap<String, Entry>,
    numbers: &'a [u8],
}

/// What the header says of a tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// A tensor whose bytes are as many as its shape needs.
#[derive(Debug)]
pub(super) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    kind: String,
    bytes: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Reads the header of a file; an error says what is wrong.
    pub(super) fn new(file: &'a [u8]) -> Result<Tensors<'a>, String> {
        let cut_off = "the file is cut off, or is not in the format safetensors";
        let (length, rest) = file.split_first_chunk().ok_or(cut_off)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > HEADER_LIMIT_BYTES {
            return Err(format!(
                "a header of {length} bytes, not {HEADER_LIMIT_BYTES}"
            ));
        }
        let (header, numbers) = rest.split_at_checked(length).ok_or(cut_off)?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|error| format!("the header: {error}"))?;
        let mut entries = HashMap::with_capacity(header.len());
        for (name, value) in header {
            if name != "__metadata__" {
                let entry = Entry::deserialize(value);
                let entry = entry.map_err(|error| format!("the tensor {name:?}: {error}"))?;
                entries.insert(name, entry);
            }
        }
        Ok(Tensors { entries, numbers })
    }

    /// The tensor of a name; `None` if there is none.
    pub(super) fn get(&self, name: &str) -> Result<Option<Tensor<'a>>, String> {
        let Some(entry) = self.entries.get(name) else {
            return Ok(None);
        };
        let wrong = || format!("the tensor {name:?} has not the bytes that its shape needs");
        let [start, end] = entry.data_offsets;
        let bytes = self.numbers.get(start..end).ok_or_else(wrong)?;
        let width = width(&entry.dtype).ok_or_else(|| {
            format!(
                "the tensor {name:?} has numbers of the kind {:?}",
                entry.dtype
            )
        })?;
        let numbers = entry
            .shape
            .iter()
            .try_fold(width, |product, dim| product.checked_mul(*dim));
        if numbers != Some(bytes.len()) {
            return Err(wrong());
        }
        Ok(Some(Tensor {
            shape: entry.shape.clone(),
            kind: entry.dtype.clone(),
            bytes,
        }))
    }

    /// Names of all tensors.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

/// Bytes of a number.
fn width(kind: &str) -> Option<usize> {
    match kind {
        "I8" => Some(1),
        "F16" => Some(2),
        "F32" | "I32" => Some(4),
        "F64" | "I64" => Some(8),
        _ => None,
    }
}

impl Tensor<'_> {
    /// The numbers in 32-bit floating point.
    pub(super) fn floats(&self) -> Vec<f32> {
        match self.kind.as_str() {
            "F16" => self.map(|bytes| half(u16::from_le_bytes(bytes))),
            "F32" => self.map(f32::from_le_bytes),
            "F64" => self.map(|bytes| f64::from_le_bytes(bytes) as f32),
            "I8" => self.map(|[byte]| f32::from(byte.cast_signed())),
            "I32" => self.map(|bytes| i32::from_le_bytes(bytes) as f32),
            _ => self.map(|bytes| i64::from_le_bytes(bytes) as f32),
        }
    }

    /// The numbers as places; `None` if one is none.
    pub(super) fn places(&self) -> Option<Vec<u32>> {
        let places: Vec<i64> = match self.kind.as_str() {
            "I32" => self.map(|bytes| i32::from_le_bytes(bytes).into()),
            "I64" => self.map(i64::from_le_bytes),
            _ => return None,
        };
        places
            .into_iter()
            .map(|place| u32::try_from(place).ok())
            .collect()
    }

    fn map<const N: usize, T>(&self, number: impl Fn([u8; N]) -> T) -> Vec<T> {
        let (chunks, _) = self.bytes.as_chunks();
        chunks.iter().map(|chunk| number(*chunk)).collect()
    }
}

/// A number in 16 bits (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        0 => {
            // Without a leading one: a multiple of 2^-24.
            let size = fraction as f32 * (1.0 / 16_777_216.0);
            if sign == 0 { size } else { -size }
        }
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_exactly() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), number, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    fn file(header: &str, numbers: &[u8]) -> Vec<u8> {
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], header.as_bytes(), numbers].concat()
    }

    #[test]
    fn tensors_are_where_the_header_says() {
        let header = r#"{"__metadata__": {"format": "pt"}, "a": {"dtype": "I8", "shape": [2, 1], "data_offsets": [1, 3]}}"#;
        let bytes = file(header, &[9, 1, 0xff]);
        let tensors = Tensors::new(&bytes).unwrap();
        let tensor = tensors.get("a").unwrap().unwrap();
        assert_eq!(tensor.floats(), [1.0, -1.0]);
        assert_eq!(tensor.shape, [2, 1]);
        assert!(tensors.get("b").unwrap().is_none());
    }

    #[test]
    fn headers_that_lie_are_errors() {
        let huge = u64::MAX.to_le_bytes();
        for bytes in [&[][..], &[1, 2, 3], &huge, &[9, 0, 0, 0, 0, 0, 0, 0, b'{']] {
            assert!(Tensors::new(bytes).is_err(), "{bytes:?}");
        }
        for entry in [
            r#"{"dtype": "F32", "shape": [4], "data_offsets": [0, 12]}"#,
            r#"{"dtype": "F32", "shape": [3], "data_offsets": [4, 16]}"#,
            r#"{"dtype": "F32", "shape": [0], "data_offsets": [2, 1]}"#,
            r#"{"dtype": "F32", "shape": [4294967296, 4294967296, 4], "data_offsets": [0, 0]}"#,
            r#"{"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}"#,
        ] {
            let bytes = file(&format!("{{\"a\": {entry}}}"), &[0; 12]);
            let tensors = Tensors::new(&bytes).unwrap();
            assert!(tensors.get("a").is_err(), "{entry}");
        }
        let negative = file(
            r#"{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}"#,
            &[0; 4],
        );
        assert!(Tensors::new(&negative).is_err());
    }
}
