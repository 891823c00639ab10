//! JSON Lines: one object per line, with a chunk and its vector.
//!
//! A chunk is named as `kb get --format chunks --json` prints it. These lines become a file of vectors if a `vector` is
//! added to each: `{"document": "a.md", "chunk": 3, "vector": [...]}`. Instead of `chunk`, a line may have `span` (bytes)
//! or `lines`. A document of one chunk needs none of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use kb_engine::VectorTarget;
use serde_json::{Map, Value};

use super::error::VectorFileError;
use super::row::{MAX_DIM, Row};

/// Maximum bytes of a line: 4,096 numbers of 20 digits, the name of the chunk, and its text, which may be there too.
const MAX_LINE: usize = 1 << 20;

/// The lines of a file.
pub(super) struct JsonLines {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
    /// Number of the line that was read last, from 1.
    number: u64,
    /// Lines that were not empty.
    rows: u64,
}

impl JsonLines {
    pub(super) fn new(path: &Path, file: File) -> JsonLines {
        JsonLines {
            path: path.to_owned(),
            file: BufReader::with_capacity(1 << 18, file),
            line: Vec::new(),
            number: 0,
            rows: 0,
        }
    }

    /// The chunks with their vectors.
    pub(super) fn with_vectors(self) -> JsonRows {
        JsonRows {
            lines: self,
            has_ended: false,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The chunk that the next line names.
    pub(super) fn next_target(&mut self) -> Result<Option<VectorTarget>, VectorFileError> {
        match self.next_object()? {
            Some(object) => Ok(Some(self.explain(target(&object))?)),
            None => Ok(None),
        }
    }

    fn next_row(&mut self) -> Result<Option<Row>, VectorFileError> {
        let Some(object) = self.next_object()? else {
            return Ok(None);
        };
        let target = self.explain(target(&object))?;
        let found = match object.get("vector") {
            Some(value) => vector(value),
            None => Err("it has no `vector`".to_owned()),
        };
        Ok(Some((target, self.explain(found)?)))
    }

    fn next_object(&mut self) -> Result<Option<Map<String, Value>>, VectorFileError> {
        loop {
            self.line.clear();
            let most = MAX_LINE as u64 + 1;
            let mut part = self.file.by_ref().take(most);
            let read = part.read_until(b'\n', &mut self.line);
            read.map_err(|error| VectorFileError::io(&self.path, &error))?;
            if self.line.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() > MAX_LINE {
                let reason = format!("the line has more than {MAX_LINE} bytes");
                return Err(self.wrong(reason));
            }
            // Written by programs that mark UTF-8 so.
            let text = self.line.as_slice();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            if text.trim_ascii().is_empty() {
                continue;
            }
            self.rows += 1;
            return match serde_json::from_slice::<Value>(text) {
                Ok(Value::Object(object)) => Ok(Some(object)),
                Ok(_) => Err(self.wrong("the line is not a JSON object".to_owned())),
                Err(error) => Err(self.wrong(format!("the line is not valid JSON: {error}"))),
            };
        }
    }

    fn explain<T>(&self, found: Result<T, String>) -> Result<T, VectorFileError> {
        found.map_err(|reason| self.wrong(reason))
    }

    fn wrong(&self, reason: String) -> VectorFileError {
        let row = self.rows.saturating_sub(1);
        let file = self.path.display();
        let place = format!("{file}, line {} (row {row})", self.number);
        VectorFileError::named(
            &place,
            None,
            reason,
            r#"a line is {"document": "a.md", "chunk": 0, "vector": [0.1, 0.2]}; `kb get --format chunks --json` prints the names"#,
        )
    }
}

/// The lines of a file with a vector in each.
pub(super) struct JsonRows {
    lines: JsonLines,
    has_ended: bool,
}

impl Iterator for JsonRows {
    type Item = Result<Row, VectorFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let row = self.lines.next_row().transpose();
        self.has_ended = !matches!(row, Some(Ok(_)));
        row
    }
}

/// Which chunk an object names.
fn target(object: &Map<String, Value>) -> Result<VectorTarget, String> {
    let document = match object.get("document") {
        Some(Value::String(document)) => document.clone(),
        Some(_) => return Err("`document` is not a text".to_owned()),
        None => return Err("it has no `document`".to_owned()),
    };
    let given = |name: &str| object.get(name).filter(|value| !value.is_null());
    let ways = ["chunk", "span", "lines"];
    if ways.into_iter().filter_map(given).count() > 1 {
        return Err("only one of `chunk`, `span` and `lines` is allowed".to_owned());
    }
    if let Some(chunk) = given("chunk") {
        let index = match chunk {
            Value::String(name) => chunk_number(name, &document)?,
            number => whole(number).ok_or("`chunk` is not a chunk number")?,
        };
        return Ok(VectorTarget::Chunk { document, index });
    }
    if let Some(span) = given("span") {
        let (start, end) = pair(span).ok_or("`span` is not [start, end] in bytes")?;
        return Ok(VectorTarget::Span {
            document,
            start,
            end,
        });
    }
    if let Some(lines) = given("lines") {
        let (first, last) = pair(lines).ok_or("`lines` is not [first, last]")?;
        return Ok(VectorTarget::Lines {
            document,
            first,
            last,
        });
    }
    Ok(VectorTarget::Document(document))
}

/// `3` of `docs/a.md#3`, a chunk of the document `docs/a.md`.
pub(super) fn chunk_number(name: &str, document: &str) -> Result<u32, String> {
    let parts = name.rsplit_once('#');
    let number = parts.and_then(|(of, number)| Some((of, number.parse().ok()?)));
    match number {
        Some((of, number)) if of == document => Ok(number),
        Some((of, _)) => Err(format!(
            "`chunk` belongs to {of:?}, but `document` is {document:?}"
        )),
        None => Err("`chunk` is not a chunk number, such as 3 or \"a.md#3\"".to_owned()),
    }
}

fn whole(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn pair(value: &Value) -> Option<(u32, u32)> {
    match value.as_array()?.as_slice() {
        [first, second] => Some((whole(first)?, whole(second)?)),
        _ => None,
    }
}

/// A list of numbers.
pub(super) fn vector(value: &Value) -> Result<Vec<f32>, String> {
    let Value::Array(values) = value else {
        return Err("`vector` is not a list of numbers".to_owned());
    };
    if values.is_empty() || values.len() > MAX_DIM {
        let count = values.len();
        return Err(format!(
            "`vector` has {count} numbers; 1 to {MAX_DIM} are allowed"
        ));
    }
    let numbers = values.iter().enumerate().map(|(at, value)| {
        // Out of range becomes infinite, which no vector may have.
        let number = value.as_f64().map(|number| number as f32);
        number
            .ok_or_else(|| format!("`vector` has {value} at position {at}, which is not a number"))
    });
    numbers.collect()
}
