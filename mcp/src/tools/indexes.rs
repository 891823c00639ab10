//! `list_indexes`: the open knowledge bases.

use serde_json::{Value, json};

use super::Call;
use super::arguments::Arguments;
use crate::answer::{Answer, Text, ToolError, insert_warnings, object};
use crate::indexes::Index;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let warnings = arguments.warnings();
    let mut text = Text::new();
    text.warnings(&warnings);
    let mut shown: Vec<Value> = Vec::new();
    for index in call.indexes.list() {
        let state = index.kb().state()?;
        let file = index
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let id = dashed(&state.uuid);
        let is_writable = call.indexes.allow_write() && is_writable(&index);
        text.line(index.name());
        text.facts(&[
            ("file", Some(&file)),
            ("documents", Some(&state.documents)),
            ("id", Some(&id)),
            (
                "",
                Some(&if is_writable { "writable" } else { "read-only" }),
            ),
        ]);
        shown.push(json!({
            "name": index.name(),
            "table_name": file,
            "id": id,
            "documents": state.documents,
            "writable": is_writable,
        }));
    }
    let mut structured = object(json!({"indexes": shown}));
    insert_warnings(&mut structured, &warnings);
    let text = text.end();
    Ok(Answer { structured, text })
}

fn is_writable(index: &Index) -> bool {
    let metadata = std::fs::metadata(index.path());
    metadata.is_ok_and(|metadata| !metadata.permissions().readonly())
}

/// A UUID as it is usually written.
fn dashed(digits: &str) -> String {
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts: Option<Vec<&str>> = parts.into_iter().map(|range| digits.get(range)).collect();
    parts.map_or_else(|| digits.to_owned(), |parts| parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn every_open_file_is_listed_with_a_name_that_works() {
        let docs: &[(&str, &str)] = &[("a.md", "one")];
        let bench = Bench::of(&[("first", docs), ("second", &[])], false);
        let answer = bench.answer("list_indexes", json!({}));
        let indexes = answer.structured["indexes"].as_array().unwrap();
        let first = &indexes[0];
        assert_eq!(first["name"], "first");
        assert_eq!(first["table_name"], "first.kb");
        assert_eq!(
            (&first["documents"], &first["writable"]),
            (&json!(1), &json!(false))
        );
        assert_eq!(indexes[1]["documents"], 0);
        for name in [&first["id"], &first["name"]] {
            let stats = bench.answer("index_stats", json!({"index_name": name}));
            assert_eq!(stats.structured["file_count"], 1);
        }
    }
}
