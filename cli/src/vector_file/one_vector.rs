//! The query vector, from the command line or from a file.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::error::VectorFileError;
use super::jsonl::vector;
use super::npy::NpyRows;
use super::row::open_regular;

/// Maximum bytes of a list of numbers as text.
const MAX_TEXT: u64 = 1 << 20;

/// Parses `[0.1, 0.2]`, or reads a file: `.npy` with one row, or `.json` with such a list.
pub(crate) fn one_vector(given: &str) -> Result<Vec<f32>, VectorFileError> {
    let shape = "give a list of numbers, `[0.1, 0.2]`, or an .npy or .json file with one vector";
    let wrong = |name: &str, reason: &str| VectorFileError::named(name, None, reason, shape);
    if given.trim_start().starts_with('[') {
        return of_text(given.as_bytes()).map_err(|reason| wrong("--vector", &reason));
    }
    let path = Path::new(given);
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    match ending.to_ascii_lowercase().as_str() {
        "npy" => {
            let mut rows = NpyRows::of_one(path, open_regular(path)?)?;
            let count = rows.rows();
            match (rows.next(), count) {
                (Some(row), 1) => row,
                _ => Err(VectorFileError::new(
                    path,
                    format!("it has {count} rows; a search takes one vector"),
                    "save one of its rows: `numpy.save(\"query.npy\", array[0])`",
                )),
            }
        }
        "json" => {
            let mut text = Vec::new();
            let file = open_regular(path)?
                .take(MAX_TEXT + 1)
                .read_to_end(&mut text);
            file.map_err(|error| VectorFileError::io(path, &error))?;
            if text.len() as u64 > MAX_TEXT {
                let reason = format!("it has more than {MAX_TEXT} bytes");
                return Err(wrong(given, &reason));
            }
            of_text(&text).map_err(|reason| wrong(given, &reason))
        }
        _ => Err(wrong(
            "--vector",
            &format!("{given:?} is neither a list of numbers nor an .npy or .json file"),
        )),
    }
}

fn of_text(text: &[u8]) -> Result<Vec<f32>, String> {
    match serde_json::from_slice::<Value>(text) {
        Ok(value @ Value::Array(_)) => vector(&value),
        Ok(_) => Err("it is not a list of numbers".to_owned()),
        Err(error) => Err(format!("it is not valid JSON: {error}")),
    }
}
