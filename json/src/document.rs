//! Documents, the folders and skipped files that are listed with them, and the fields that they are given.

use kb_engine::{DocumentInfo, Entry, FieldInfo, FieldValue, SkippedFile, file_types};
use serde_json::{Value, json};

use crate::numbers::bytes;
use crate::object::Object;

/// Most values of a field in its object.
const TOP_VALUES: usize = 100;

/// The fields that most objects about a document begin with; by themselves, a document with its tags.
#[must_use]
pub fn document_head(document: &DocumentInfo) -> Object {
    Object::new()
        .field("document", &*document.path)
        .field("handle", &*document.handle)
        .field("title", &*document.title)
        .field("file_type", &*document.file_type)
        .field("language", &*document.language)
        .field("class", document.class.name())
        .field("tags", document.tags.clone())
}

/// A document of a listing. Of keys that its metadata repeats, `metadata` has the first.
#[must_use]
pub fn document(document: &DocumentInfo) -> Object {
    document_head(document)
        .field("size_bytes", document.size_bytes)
        .field("text_bytes", document.text_bytes)
        .field("lines", document.lines)
        .field("chunks", document.chunks)
        .field("modified_ms", document.modified_ms)
        .field("added_ms", document.added_ms)
        .field("hash", hexadecimal(&document.hash))
        .object("metadata", first_of_each_key(document))
}

/// A folder of a listing: its path, the documents below it and the size of their originals.
#[must_use]
pub fn folder(path: &str, documents: u64, size_bytes: u64) -> Object {
    Object::new()
        .field("folder", path)
        .field("documents", documents)
        .field("size_bytes", size_bytes)
}

/// A line of a listing: a [`folder`] or a [`document`].
#[must_use]
pub fn entry(entry: &Entry) -> Object {
    match entry {
        Entry::Folder {
            path,
            documents,
            size_bytes,
            ..
        } => folder(path, *documents, *size_bytes),
        Entry::Document(found) => document(found),
    }
}

/// A file of an indexed folder that is no document, with the reason.
#[must_use]
pub fn skipped_file(file: &SkippedFile) -> Object {
    Object::new()
        .field("skipped", &*file.path)
        .field("reason", &*file.reason)
        .field("size_bytes", file.size_bytes)
        .field("modified_ms", file.modified_ms)
}

/// What the file records about a document, without its text. A document of parts has their number as
/// `pages`, `sheets` or `slides`; `metadata` has all that the document states.
#[must_use]
pub fn metadata(document: &DocumentInfo) -> Object {
    let mut object = Object::new()
        .field("document", &*document.path)
        .field("handle", &*document.handle)
        .field("title", &*document.title)
        .field("author", stated(document, "author"))
        .field("created", created(document))
        .field("modified", stated(document, "modified"))
        .field("file_type", &*document.file_type)
        .field("mime_type", file_types::mime(&document.file_type))
        .field("language", &*document.language)
        .field("class", document.class.name())
        .field("tags", document.tags.clone());
    if let Some(kind) = document.part_kind {
        object = object.field(kind.plural(), document.parts);
    }
    object
        .field("size_bytes", document.size_bytes)
        .field("file_size", bytes(document.size_bytes))
        .field("text_bytes", document.text_bytes)
        .field("lines", document.lines)
        .field("chunks", document.chunks)
        .field("modified_ms", document.modified_ms)
        .field("added_ms", document.added_ms)
        .object("metadata", pairs(&document.metadata))
}

/// What the document states about itself under that key.
#[must_use]
pub fn stated<'d>(document: &'d DocumentInfo, key: &str) -> Option<&'d str> {
    let found = document.metadata.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

/// When the document was made, as it states.
#[must_use]
pub fn created(document: &DocumentInfo) -> Option<&str> {
    stated(document, "created").or_else(|| stated(document, "date"))
}

/// Keys with their values, each as often as it comes.
pub(crate) fn pairs(pairs: &[(String, String)]) -> Object {
    let pairs = pairs.iter();
    pairs.fold(Object::new(), |object, (key, value)| {
        object.field(key, &**value)
    })
}

/// Keys may repeat in a document; JSON keeps the first of each.
fn first_of_each_key(document: &DocumentInfo) -> Object {
    let mut object = Object::new();
    for (position, (key, value)) in document.metadata.iter().enumerate() {
        let before = document.metadata.iter().take(position);
        if before.into_iter().all(|(earlier, _)| earlier != key) {
            object = object.field(key, &**value);
        }
    }
    object
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the values of a field: of one value, of a list of them, or of null, which has none. A text that is a date is a
/// time.
///
/// # Errors
/// What is wrong with an object, with a list or null in a list, and with a number that 64 bits do not hold.
pub fn field_values(value: &Value) -> Result<Vec<FieldValue>, &'static str> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(one).collect(),
        other => Ok(vec![one(other)?]),
    }
}

fn one(value: &Value) -> Result<FieldValue, &'static str> {
    // The first number beyond all integers: a larger one may be an integer that was rounded.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::String(text) => Ok(FieldValue::of_json_text(text)),
        Value::Bool(is) => Ok(FieldValue::Boolean(*is)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(FieldValue::Integer(integer)),
            (None, Some(float)) if number.is_f64() && float.abs() < BEYOND => {
                Ok(FieldValue::Float(float))
            }
            _ => Err("a number that 64 bits do not hold; give it as a text"),
        },
        _ => Err("a text, a number, true, false, or a list of them is needed"),
    }
}

/// `name`, `type`, `documents` with such a value, `values`: how many there are, `has_more_values`: whether these are not
/// all, of numbers and times `min` and `max`, and `top`: the most frequent values, each with `value` and `documents`.
pub fn field(field: &FieldInfo) -> Object {
    field_head(field).field("top", field_values_of(field, TOP_VALUES))
}

/// As [`field`], with all counted values as `all` in the place of `top`.
pub fn field_with_values(field: &FieldInfo) -> Object {
    field_head(field).field("all", field_values_of(field, usize::MAX))
}

fn field_values_of(field: &FieldInfo, most: usize) -> Value {
    let values = field.values.iter().take(most);
    let values = values.map(|(value, documents)| json!({"value": value, "documents": documents}));
    Value::Array(values.collect())
}

fn field_head(field: &FieldInfo) -> Object {
    let range = [("min", &field.least), ("max", &field.greatest)];
    let head = Object::new()
        .field("name", &*field.name)
        .field("type", field.kind)
        .field("documents", field.documents)
        .field("values", field.values.len())
        .field("has_more_values", field.has_more_values);
    range
        .into_iter()
        .fold(head, |head, (name, value)| match value {
            Some(FieldValue::Integer(number)) => head.field(name, *number),
            Some(FieldValue::Float(number)) => head.field(name, *number),
            Some(other) => head.field(name, other.to_string()),
            None => head,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_the_types_of_json() {
        let text = |text: &str| FieldValue::Text(text.to_owned());
        assert_eq!(field_values(&json!(null)).unwrap(), []);
        assert_eq!(field_values(&json!("2016")).unwrap(), [text("2016")]);
        let list = json!([1, -2.5, true, "x", "2024-05-06"]);
        let expected = [
            FieldValue::Integer(1),
            FieldValue::Float(-2.5),
            FieldValue::Boolean(true),
            text("x"),
            FieldValue::of_text("2024-05-06"),
        ];
        assert_eq!(field_values(&list).unwrap(), expected);
        for wrong in [
            json!({"a": 1}),
            json!([[1]]),
            json!([null]),
            json!(u64::MAX),
            serde_json::from_str("99999999999999999999").unwrap(),
        ] {
            assert!(field_values(&wrong).is_err(), "{wrong}");
        }
    }
}
