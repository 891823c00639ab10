//! `index_stats`: how much is in a knowledge base.

use std::sync::Arc;

use kb_engine::{Cursor, Info, ListScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::budget::{self, Attempt};
use super::call::context::Context;
use super::call::hits;
use super::call::params::{ContinuationToken, MaxTokens};
use super::call::tool::Tool;
use crate::indexes::{Index, each};
use crate::limits::NAME_LIMIT;
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, time};

/// Tokens of an index beside its names.
const FACTS_TOKENS: usize = 30;

pub(super) struct IndexStats;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IndexStatsParams {
    /// Omit for all.
    #[schemars(length(max = NAME_LIMIT))]
    index_name: Option<String>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
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
    continuation: Option<Continuation>,
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
        let mut warnings = Vec::new();
        let infos = each(&indexes, &mut warnings, |index| index.kb().info())?;
        let cx = &cx.with_warnings(warnings);
        if let ([(index, info)], 1) = (infos.as_slice(), indexes.len()) {
            return Ok(respond_one(cx, index, info));
        }
        let files: Vec<(&str, u64)> = infos.iter().map(|(_, info)| (&*info.uuid, 0)).collect();
        let scope = ListScope::new("stats", &files);
        let token = params.continuation_token.as_deref();
        let start = cx.list_start(&scope, infos.len(), token)?;
        let left = infos.get(start..).unwrap_or_default();
        budget::fit(params.max_tokens.get(), |budget| {
            let tokens = |(index, info): &(Arc<Index>, Info)| {
                let languages = languages(info).iter().map(|it| it.len() + 3).sum::<usize>();
                (FACTS_TOKENS + (index.name().len() + languages).div_ceil(4)) as u64
            };
            let count = budget::count_that_fits(left.iter().map(tokens), budget);
            let shown = left.get(..count).unwrap_or_default();
            let next = cx.list_next(&scope, infos.len(), start + count);
            Ok(Attempt {
                can_shrink: count > 1,
                tokens: shown.iter().map(tokens).sum(),
                response: respond(cx, shown, next.as_ref().map(Cursor::as_str)),
            })
        })
    }
}

/// The statistics of the only index that was asked for.
fn respond_one(cx: &Context<'_>, index: &Index, info: &Info) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    show(&mut text, index, info);
    text.facts(&[
        ("model", Some(&info.model)),
        ("dimensions", Some(&info.dim)),
        ("created", Some(&time::rfc3339(info.created_ms))),
        ("updated", Some(&time::rfc3339(info.updated_ms))),
        ("format", Some(&info.format)),
    ]);
    let stats = Stats {
        warnings: Warnings::of(cx.warnings.clone()),
        ..of_one(index, info)
    };
    ToolResponse::new(&stats, text.end())
}

/// The counts of several.
fn respond(cx: &Context<'_>, infos: &[(Arc<Index>, Info)], token: Option<&str>) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for (index, info) in infos {
        show(&mut text, index, info);
    }
    let all = infos.iter().map(|(index, info)| counts(index, info));
    let stats = Stats {
        indexes: Some(all.collect()),
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(cx.warnings.clone()),
        ..Stats::default()
    };
    ToolResponse::new(&stats, text.continued(hits::lead(true), token))
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
        ..Stats::default()
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
