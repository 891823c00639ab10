//! `index_stats`: how much is in a knowledge base.

use kb_engine::Info;
use serde_json::{Value, json};

use super::call::Call;
use super::call::arguments::Arguments;
use crate::indexes::{Index, each};
use crate::response::{Text, ToolError, ToolResponse, insert_warnings, object, time};

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let indexes = match arguments.index_name() {
        Some(name) => vec![call.indexes.named(name)?],
        None => call.indexes.list(),
    };
    let mut warnings = arguments.warnings();
    let infos = each(&indexes, &mut warnings, |index| index.kb().info())?;
    let mut text = Text::new();
    text.warnings(&warnings);
    let mut structured = match infos.as_slice() {
        [(index, info)] if indexes.len() == 1 => {
            show(&mut text, index, info);
            text.facts(&[
                ("model", Some(&info.model)),
                ("dimensions", Some(&info.dim)),
                ("created", Some(&time::rfc3339(info.created_ms))),
                ("updated", Some(&time::rfc3339(info.updated_ms))),
                ("format", Some(&info.format)),
            ]);
            let mut counts = object(counts(index, info));
            counts.extend(object(json!({
                "embedding_model": info.model,
                "dimensions": info.dim,
                "created": time::rfc3339(info.created_ms),
                "updated": time::rfc3339(info.updated_ms),
                "format_version": info.format,
            })));
            counts
        }
        several => {
            let mut all: Vec<Value> = Vec::new();
            for (index, info) in several {
                show(&mut text, index, info);
                all.push(counts(index, info));
            }
            object(json!({"indexes": all}))
        }
    };
    insert_warnings(&mut structured, &warnings);
    let text = text.end();
    Ok(ToolResponse { structured, text })
}

fn counts(index: &Index, info: &Info) -> Value {
    json!({
        "index_name": index.name(),
        "file_count": info.documents,
        "chunk_count": info.chunks,
        "languages": languages(info),
        "total_size_bytes": info.file_bytes,
    })
}

fn show(text: &mut Text, index: &Index, info: &Info) {
    text.line(index.name());
    text.facts(&[
        ("documents", Some(&info.documents)),
        ("chunks", Some(&info.chunks)),
        ("bytes", Some(&info.file_bytes)),
        ("languages", Some(&languages(info).join(" "))),
    ]);
}

/// Most documents first.
fn languages(info: &Info) -> Vec<&str> {
    let named = info.languages.iter().filter(|(name, _)| !name.is_empty());
    named.map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn one_index_is_told_flat_and_several_in_a_list() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("index_stats", json!({}));
        let stats = &answer.structured;
        assert_eq!(
            (&stats["index_name"], &stats["file_count"]),
            (&json!("guides"), &json!(9))
        );
        let languages = stats["languages"].as_array().unwrap();
        assert!(languages.contains(&json!("rust")) && languages.contains(&json!("python")));
        let size = std::fs::metadata(fixture.path().join("guides.kb"))
            .unwrap()
            .len();
        assert_eq!(stats["total_size_bytes"], size);
        let fixture = Fixture::of(&[("first", &[]), ("second", &[])], false);
        let answer = fixture.answer("index_stats", json!({}));
        assert_eq!(answer.structured["indexes"][1]["index_name"], "second");
        let error = fixture.error("index_stats", json!({"index_name": "third"}));
        assert_eq!(error.code, "INDEX_NOT_FOUND");
    }
}
