//! Reads the columns of Arrow tables as rows of vectors. Parquet files are read as Arrow tables too.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use kb_engine::VectorTarget;

use super::error::VectorFileError;
use super::jsonl::chunk_number;
use super::row::{MAX_DIM, Row};

/// The columns that a table must have.
const WANTED: &str = "the table needs the columns `document` (text), `chunk` (number) or `start` and `end` (bytes), and `vector` (list of floats)";

/// Names of columns that an error repeats.
const SHOWN_COLUMNS: usize = 12;

/// Looks for the columns that are read. Gives their places in the table, ascending.
pub(super) fn locate(path: &Path, schema: &Schema) -> Result<Vec<usize>, VectorFileError> {
    let found = |name: &str| {
        let (place, field) = schema.column_with_name(name)?;
        Some((place, field.data_type()))
    };
    let missing = |name: &str| {
        let names = schema.fields().iter().take(SHOWN_COLUMNS);
        let names: Vec<&str> = names.map(|field| field.name().as_str()).collect();
        let names = names.join(", ");
        let reason = format!("it has no column `{name}`; it has {names}");
        VectorFileError::new(path, reason, WANTED)
    };
    let of_type = |name: &str, fits: fn(&DataType) -> bool| match found(name) {
        None => Err(missing(name)),
        Some((place, kind)) if fits(kind) => Ok(place),
        Some((_, kind)) => {
            let kind: String = kind.to_string().chars().take(80).collect();
            let reason = format!("its column `{name}` is {kind}");
            Err(VectorFileError::new(path, reason, WANTED))
        }
    };
    let mut places = vec![
        of_type("document", is_text)?,
        of_type("vector", is_vectors)?,
    ];
    let has_span = found("start").is_some() || found("end").is_some();
    if found("chunk").is_some() && has_span {
        let reason =
            "it has both `chunk` and `start` or `end`; only one way to name chunks is allowed";
        return Err(VectorFileError::new(path, reason, WANTED));
    }
    if found("chunk").is_some() {
        places.push(of_type("chunk", |kind| kind.is_integer() || is_text(kind))?);
    } else if has_span {
        places.push(of_type("start", DataType::is_integer)?);
        places.push(of_type("end", DataType::is_integer)?);
    }
    places.sort_unstable();
    Ok(places)
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => {
            matches!(**value, DataType::Utf8 | DataType::LargeUtf8)
        }
        _ => false,
    }
}

fn is_vectors(kind: &DataType) -> bool {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            field.data_type().is_floating()
        }
        _ => false,
    }
}

/// Some rows of a table.
pub(super) struct Batch {
    columns: RecordBatch,
    next: usize,
}

impl Batch {
    pub(super) fn new(columns: RecordBatch) -> Batch {
        Batch { columns, next: 0 }
    }

    /// The next row. `number` is its number in the file.
    pub(super) fn next_row(
        &mut self,
        path: &Path,
        number: u64,
    ) -> Option<Result<Row, VectorFileError>> {
        if self.next >= self.columns.num_rows() {
            return None;
        }
        let row = self.row(self.next);
        self.next += 1;
        Some(row.map_err(|reason| VectorFileError::row(path, number, reason, WANTED)))
    }

    fn row(&self, at: usize) -> Result<Row, String> {
        let column = |name: &str| self.columns.column_by_name(name).map(AsRef::as_ref);
        let document = column("document").and_then(|texts| text_at(texts, at));
        let document = document.ok_or("its document is null")?.to_owned();
        let number = |name: &str| {
            let number = column(name).and_then(|numbers| whole_at(numbers, at));
            number.ok_or_else(|| format!("its `{name}` is null, negative, or more than 32 bits"))
        };
        let target = if let Some(chunks) = column("chunk") {
            let index = match text_at(chunks, at) {
                Some(name) => chunk_number(name, &document)?,
                None => number("chunk")?,
            };
            VectorTarget::Chunk { document, index }
        } else if column("start").is_some() {
            let (start, end) = (number("start")?, number("end")?);
            VectorTarget::Span {
                document,
                start,
                end,
            }
        } else {
            VectorTarget::Document(document)
        };
        let vectors = column("vector").ok_or("it has no vector")?;
        Ok((target, vector_at(vectors, at)?))
    }
}

/// The text in a row; `None` for null and for a column of another type.
fn text_at(texts: &dyn Array, at: usize) -> Option<&str> {
    if texts.is_null(at) {
        return None;
    }
    if let Some(texts) = texts.as_string_opt::<i32>() {
        return Some(texts.value(at));
    }
    if let Some(texts) = texts.as_string_opt::<i64>() {
        return Some(texts.value(at));
    }
    if let Some(texts) = texts.as_string_view_opt() {
        return Some(texts.value(at));
    }
    let dictionary = texts.as_any_dictionary_opt()?;
    let key = usize::try_from(whole_at(dictionary.keys(), at)?).ok()?;
    let values = dictionary.values();
    // One level only: a dictionary of a dictionary is no text.
    match values.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 if key < values.len() => text_at(values.as_ref(), key),
        _ => None,
    }
}

/// The number in a row; `None` for null and where it does not fit.
fn whole_at(numbers: &dyn Array, at: usize) -> Option<u32> {
    if numbers.is_null(at) {
        return None;
    }
    macro_rules! value {
        ($kind:ty) => {
            numbers.as_primitive_opt::<$kind>()?.values().get(at)?
        };
    }
    match numbers.data_type() {
        DataType::Int8 => u32::try_from(*value!(Int8Type)).ok(),
        DataType::Int16 => u32::try_from(*value!(Int16Type)).ok(),
        DataType::Int32 => u32::try_from(*value!(Int32Type)).ok(),
        DataType::Int64 => u32::try_from(*value!(Int64Type)).ok(),
        DataType::UInt8 => Some(u32::from(*value!(UInt8Type))),
        DataType::UInt16 => Some(u32::from(*value!(UInt16Type))),
        DataType::UInt32 => Some(*value!(UInt32Type)),
        DataType::UInt64 => u32::try_from(*value!(UInt64Type)).ok(),
        _ => None,
    }
}

fn vector_at(vectors: &dyn Array, at: usize) -> Result<Vec<f32>, String> {
    if vectors.is_null(at) {
        return Err("its vector is null".to_owned());
    }
    let numbers = if let Some(lists) = vectors.as_list_opt::<i32>() {
        lists.value(at)
    } else if let Some(lists) = vectors.as_list_opt::<i64>() {
        lists.value(at)
    } else if let Some(lists) = vectors.as_fixed_size_list_opt() {
        lists.value(at)
    } else {
        return Err("its vector is not a list".to_owned());
    };
    let count = numbers.len();
    if count == 0 || count > MAX_DIM {
        return Err(format!(
            "its vector has {count} numbers; 1 to {MAX_DIM} are allowed"
        ));
    }
    if numbers.null_count() > 0 {
        return Err("its vector contains a null".to_owned());
    }
    if let Some(numbers) = numbers.as_primitive_opt::<Float32Type>() {
        Ok(numbers.values().to_vec())
    } else if let Some(numbers) = numbers.as_primitive_opt::<Float64Type>() {
        // Out of range becomes infinite, which no vector may have.
        Ok(numbers
            .values()
            .iter()
            .map(|number| *number as f32)
            .collect())
    } else if let Some(numbers) = numbers.as_primitive_opt::<Float16Type>() {
        Ok(numbers
            .values()
            .iter()
            .map(|number| number.to_f32())
            .collect())
    } else {
        Err("its vector is not a list of floats".to_owned())
    }
}
