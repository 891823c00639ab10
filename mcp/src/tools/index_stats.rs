//! `index_stats`: how much is in a knowledge base.

use kb_engine::Info;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::context::Context;
use super::call::tool::Tool;
use crate::indexes::{Index, each};
use crate::limits::NAME_LIMIT;
use crate::response::{Text, ToolError, ToolResponse, Warnings, time};

pub(super) struct IndexStats;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IndexStatsParams {
    /// Omit for all.
    #[schemars(length(max = NAME_LIMIT))]
    index_name: Option<String>,
}

// The fields of one index, or `indexes` of several.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Stats {
    index_name: Option<String>,
    file_count: Option<u64>,
    chunk_count: Option<u64>,
    languages: Option<Vec<String>>,
    total_size_bytes: Option<u64>,
    embedding_model: Option<String>,
    dimensions: Option<u32>,
    created: Option<String>,
    updated: Option<String>,
    format_version: Option<String>,
    /// Present when index_name was omitted.
    indexes: Option<Vec<Counts>>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct Counts {
    index_name: String,
    file_count: u64,
    chunk_count: u64,
    languages: Vec<String>,
    total_size_bytes: u64,
}

impl Tool for IndexStats {
    const NAME: &'static str = "index_stats";
    const TITLE: &'static str = "Index statistics";
    const DESCRIPTION: &'static str =
        "Files, chunks, languages and size of one knowledge base, or of all.";

    type Params = IndexStatsParams;
    type Output = Stats;

    fn run(cx: &Context<'_>, params: &IndexStatsParams) -> Result<ToolResponse, ToolError> {
        let indexes = match &params.index_name {
            Some(name) => vec![cx.indexes.named(name)?],
            None => cx.indexes.list(),
        };
        let mut warnings = cx.warnings.clone();
        let infos = each(&indexes, &mut warnings, |index| index.kb().info())?;
        let mut text = Text::new();
        text.warnings(&warnings);
        let mut stats = match infos.as_slice() {
            [(index, info)] if indexes.len() == 1 => {
                show(&mut text, index, info);
                text.facts(&[
                    ("model", Some(&info.model)),
                    ("dimensions", Some(&info.dim)),
                    ("created", Some(&time::rfc3339(info.created_ms))),
                    ("updated", Some(&time::rfc3339(info.updated_ms))),
                    ("format", Some(&info.format)),
                ]);
                of_one(index, info)
            }
            several => {
                let mut all = Vec::new();
                for (index, info) in several {
                    show(&mut text, index, info);
                    all.push(counts(index, info));
                }
                Stats {
                    indexes: Some(all),
                    ..Stats::default()
                }
            }
        };
        stats.warnings = Warnings::of(warnings);
        Ok(ToolResponse::new(&stats, text.end()))
    }
}

fn of_one(index: &Index, info: &Info) -> Stats {
    let counts = counts(index, info);
    Stats {
        index_name: Some(counts.index_name),
        file_count: Some(counts.file_count),
        chunk_count: Some(counts.chunk_count),
        languages: Some(counts.languages),
        total_size_bytes: Some(counts.total_size_bytes),
        embedding_model: Some(info.model.clone()),
        dimensions: Some(info.dim),
        created: Some(time::rfc3339(info.created_ms)),
        updated: Some(time::rfc3339(info.updated_ms)),
        format_version: Some(info.format.clone()),
        indexes: None,
        warnings: None,
    }
}

fn counts(index: &Index, info: &Info) -> Counts {
    Counts {
        index_name: index.name().to_owned(),
        file_count: info.documents,
        chunk_count: info.chunks,
        languages: languages(info),
        total_size_bytes: info.file_bytes,
    }
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
fn languages(info: &Info) -> Vec<String> {
    let named = info.languages.iter().filter(|(name, _)| !name.is_empty());
    named.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn several_indexes_are_in_a_list() {
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
