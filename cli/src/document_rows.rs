//! Rows of a JSON Lines or CSV file as documents.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use kb_engine::FieldValue;
use serde_json::Value;

/// Longest line of a JSON Lines file, in bytes: the largest text, every character of it escaped.
const LINE_LIMIT_BYTES: u64 = 128 << 20;

/// A document of a row.
#[derive(Debug, PartialEq)]
pub(crate) struct DocumentRow {
    pub(crate) text: String,
    pub(crate) path: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) fields: Vec<(String, Vec<FieldValue>)>,
}

/// What is wrong with a row.
type Wrong = String;

/// Reads the rows of a file, one after the other, each with its line.
pub(crate) enum DocumentRows {
    JsonLines(BufReader<File>, u64),
    Csv(csv::Reader<BufReader<File>>, csv::StringRecord),
}

impl DocumentRows {
    /// Opens a file: CSV by its extension, else JSON Lines.
    ///
    /// # Errors
    /// Those of reading the file; a CSV file without a column `text`.
    pub(crate) fn open(path: &Path) -> std::io::Result<DocumentRows> {
        let file = BufReader::new(File::open(path)?);
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            return Ok(DocumentRows::JsonLines(file, 0));
        }
        let mut reader = csv::Reader::from_reader(file);
        let names = reader.headers()?.clone();
        Ok(DocumentRows::Csv(reader, names))
    }
}

impl Iterator for DocumentRows {
    type Item = (u64, Result<DocumentRow, Wrong>);

    fn next(&mut self) -> Option<(u64, Result<DocumentRow, Wrong>)> {
        match self {
            DocumentRows::JsonLines(file, number) => loop {
                *number += 1;
                let mut line = Vec::new();
                match file
                    .by_ref()
                    .take(LINE_LIMIT_BYTES)
                    .read_until(b'\n', &mut line)
                {
                    Ok(0) => return None,
                    Ok(_) if line.len() as u64 == LINE_LIMIT_BYTES => {
                        let wrong = format!("a line of more than {LINE_LIMIT_BYTES} bytes");
                        return Some((*number, Err(wrong)));
                    }
                    Ok(_) if line.trim_ascii().is_empty() => {}
                    Ok(_) => return Some((*number, json_row(&line))),
                    Err(error) => return Some((*number, Err(error.to_string()))),
                }
            },
            DocumentRows::Csv(reader, names) => {
                let mut record = csv::StringRecord::new();
                match reader.read_record(&mut record) {
                    Ok(false) => None,
                    Ok(true) => {
                        let line = record.position().map_or(0, csv::Position::line);
                        Some((line, csv_row(names, &record)))
                    }
                    Err(error) => {
                        let line = error.position().map_or(0, csv::Position::line);
                        Some((line, Err(error.to_string())))
                    }
                }
            }
        }
    }
}

fn json_row(line: &[u8]) -> Result<DocumentRow, Wrong> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let Value::Object(mut columns) = value else {
        return Err("an object is needed: {\"text\": \"...\", \"year\": 2024}".to_owned());
    };
    let mut text = |name: &str| match columns.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name:?} is not a text")),
    };
    let (body, path, title) = (text("text")?, text("path")?, text("title")?);
    let text = body.ok_or("\"text\" is missing")?;
    let tags = match columns.remove("tags") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(tag)) => vec![tag],
        Some(Value::Array(items)) => {
            let tags = items.into_iter().map(|item| match item {
                Value::String(tag) => Ok(tag),
                _ => Err("\"tags\" is not a list of texts".to_owned()),
            });
            tags.collect::<Result<_, _>>()?
        }
        Some(_) => return Err("\"tags\" is not a list of texts".to_owned()),
    };
    let metadata = match columns.remove("metadata") {
        None | Some(Value::Null) => serde_json::Map::new(),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("\"metadata\" is not an object".to_owned()),
    };
    let mut fields = Vec::new();
    for (name, value) in columns.into_iter().chain(metadata) {
        let values = kb_json::field_values(&value).map_err(|wrong| format!("{name:?}: {wrong}"))?;
        if !values.is_empty() {
            fields.push((name, values));
        }
    }
    Ok(DocumentRow {
        text,
        path,
        title,
        tags,
        fields,
    })
}

fn csv_row(names: &csv::StringRecord, record: &csv::StringRecord) -> Result<DocumentRow, Wrong> {
    let mut row = DocumentRow {
        text: String::new(),
        path: None,
        title: None,
        tags: Vec::new(),
        fields: Vec::new(),
    };
    let mut has_text = false;
    for (name, cell) in names.iter().zip(record) {
        let name = name.trim();
        // An empty cell is no value.
        let given = (!cell.trim().is_empty()).then(|| cell.to_owned());
        match name {
            "text" => {
                has_text = true;
                cell.clone_into(&mut row.text);
            }
            "path" => row.path = given,
            "title" => row.title = given,
            "tags" => row.tags = tags(cell),
            _ if given.is_some() => {
                let value = FieldValue::of_text(cell.trim());
                row.fields.push((name.to_owned(), vec![value]));
            }
            _ => {}
        }
    }
    match has_text {
        true => Ok(row),
        false => Err("no column is called text".to_owned()),
    }
}

fn tags(cell: &str) -> Vec<String> {
    let tags = cell.split([',', ';']).map(str::trim);
    tags.filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &str) -> Vec<(u64, Result<DocumentRow, Wrong>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        DocumentRows::open(&path).unwrap().collect()
    }

    fn row(text: &str, fields: Vec<(&str, Vec<FieldValue>)>) -> DocumentRow {
        let fields = fields
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values));
        DocumentRow {
            text: text.to_owned(),
            path: None,
            title: None,
            tags: Vec::new(),
            fields: fields.collect(),
        }
    }

    #[test]
    fn lines_of_json_are_documents() {
        let content = concat!(
            "{\"text\": \"a\", \"year\": 2016, \"metadata\": {\"x\": [true, \"2016\"]}, \"none\": null}\n\n",
            "{\"text\": \"b\", \"path\": \"p.md\", \"title\": \"T\", \"tags\": [\"one\"]}",
        );
        let text = |text: &str| FieldValue::Text(text.to_owned());
        let fields = vec![
            ("year", vec![FieldValue::Integer(2016)]),
            ("x", vec![FieldValue::Boolean(true), text("2016")]),
        ];
        let second = DocumentRow {
            path: Some("p.md".to_owned()),
            title: Some("T".to_owned()),
            tags: vec!["one".to_owned()],
            ..row("b", Vec::new())
        };
        assert_eq!(
            read("a.jsonl", content),
            [(1, Ok(row("a", fields))), (3, Ok(second))]
        );
    }

    #[test]
    fn rows_of_csv_are_documents() {
        let content = "text,year,tags,note\n\"a, b\",2016,x;y,\nc,,,2024-05-06\n";
        let first = DocumentRow {
            tags: vec!["x".to_owned(), "y".to_owned()],
            ..row("a, b", vec![("year", vec![FieldValue::Integer(2016)])])
        };
        let date = FieldValue::of_text("2024-05-06");
        let expected = [
            (2, Ok(first)),
            (3, Ok(row("c", vec![("note", vec![date])]))),
        ];
        assert_eq!(read("a.CSV", content), expected);
    }

    #[test]
    fn wrong_rows_are_named() {
        for (name, content, line, said) in [
            (
                "a.jsonl",
                "{\"text\": \"a\"}\n[1]\n",
                2,
                "an object is needed",
            ),
            ("a.jsonl", "{\"text\": 3}", 1, "\"text\" is not a text"),
            ("a.jsonl", "{\"path\": \"x\"}", 1, "\"text\" is missing"),
            ("a.jsonl", "{\"text\": \"a\", \"x\": {}}", 1, "\"x\""),
            (
                "a.jsonl",
                "{\"text\": \"a\", \"x\": 18446744073709551615}",
                1,
                "64 bits",
            ),
            (
                "a.jsonl",
                "{\"text\": \"a\", \"tags\": [1]}",
                1,
                "list of texts",
            ),
            (
                "a.jsonl",
                "{\"text\": \"a\", \"metadata\": 1}",
                1,
                "not an object",
            ),
            ("a.jsonl", "{\"text\"", 1, "EOF"),
            ("a.csv", "text,n\na,1,2\n", 2, "fields"),
            ("a.csv", "body\na\n", 2, "no column is called text"),
        ] {
            let rows = read(name, content);
            let (at, last) = rows.last().unwrap();
            let wrong = last.as_ref().unwrap_err();
            assert!(*at == line && wrong.contains(said), "{at}: {wrong}");
        }
    }
}
