//! `index_stats`: how much is in a knowledge base.

use std::sync::Arc;

use kb_engine::{Cursor, FieldInfo, Info, ListScope};
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
use crate::response::{Text, ToolError, ToolResponse, Warnings, cut, time};

/// Frequent values of a field that are shown, and most characters of each.
const EXAMPLES: usize = 3;
const EXAMPLE_LIMIT: usize = 40;

/// Tokens of a field beside its name and examples.
const FIELD_TOKENS: usize = 20;

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
    /// For where, sort, group_by and facets of search; of one index.
    fields: Option<Vec<FieldFacts>>,
    /// Fields that did not fit.
    more_fields: Option<u64>,
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

#[derive(Clone, Serialize, JsonSchema)]
struct FieldFacts {
    name: String,
    /// text, integer, float, boolean or time.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Documents with such a value.
    documents: u64,
    /// Frequent values.
    examples: Vec<String>,
    /// Least value of numbers and times.
    min: Option<String>,
    /// Greatest value of numbers and times.
    max: Option<String>,
}

impl FieldFacts {
    fn of(field: &FieldInfo) -> FieldFacts {
        let examples = field.values.iter().take(EXAMPLES);
        FieldFacts {
            name: field.name.clone(),
            kind: field.kind,
            documents: field.documents,
            examples: examples
                .map(|(value, _)| cut(value, EXAMPLE_LIMIT).into_owned())
                .collect(),
            min: field.least.as_ref().map(ToString::to_string),
            max: field.greatest.as_ref().map(ToString::to_string),
        }
    }

    fn tokens(&self) -> u64 {
        let examples = self.examples.iter().map(|it| it.len() + 3);
        let range = self.min.iter().chain(&self.max).map(|it| it.len() + 8);
        let bytes = self.name.len() + examples.sum::<usize>() + range.sum::<usize>();
        (FIELD_TOKENS + bytes.div_ceil(4)) as u64
    }

    /// `field year: integer, documents 12, such as 2016, 2010, from 1999 to 2024`.
    fn show(&self, text: &mut Text) {
        let mut line = format!(
            "field {}: {}, documents {}",
            self.name, self.kind, self.documents
        );
        if !self.examples.is_empty() {
            line.push_str(&format!(", such as {}", self.examples.join(", ")));
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            line.push_str(&format!(", from {min} to {max}"));
        }
        text.line(line);
    }
}

impl Tool for IndexStats {
    const NAME: &'static str = "index_stats";
    const TITLE: &'static str = "Index statistics";
    const DESCRIPTION: &'static str =
        "Files, chunks, languages, size and fields of one knowledge base, or the counts of all.";

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
            let fields = index.kb().fields();
            let fields = fields.map_err(|error| index.failure(error))?;
            let fields: Vec<FieldFacts> = fields.iter().map(FieldFacts::of).collect();
            return budget::fit(params.max_tokens.get(), |budget| {
                let left = budget.saturating_sub(2 * FACTS_TOKENS as u32);
                let tokens = fields.iter().map(FieldFacts::tokens);
                let count = budget::count_that_fits(tokens, left);
                let shown = fields.get(..count).unwrap_or_default();
                let tokens = shown.iter().map(FieldFacts::tokens).sum::<u64>();
                Ok(Attempt {
                    can_shrink: count > 1,
                    tokens: tokens + 2 * FACTS_TOKENS as u64,
                    response: respond_one(cx, index, info, shown, fields.len() - count),
                })
            });
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
fn respond_one(
    cx: &Context<'_>,
    index: &Index,
    info: &Info,
    fields: &[FieldFacts],
    more_fields: usize,
) -> ToolResponse {
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
    for field in fields {
        field.show(&mut text);
    }
    if more_fields > 0 {
        text.line(format!(
            "{more_fields} more fields: a larger max_tokens shows them"
        ));
    }
    let stats = Stats {
        fields: (!fields.is_empty()).then(|| fields.to_vec()),
        more_fields: (more_fields > 0).then_some(more_fields as u64),
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
    fn the_fields_of_one_index_are_told() {
        let note = "---\nyear: 2016\nauthor: Kim\n---\nThe sea.\n";
        let other = "---\nyear: 2010\n---\nThe moon.\n";
        let fixture = Fixture::new("notes", &[("a.md", note), ("b.md", other)]);
        let answer = fixture.answer("index_stats", json!({}));
        let expected = json!([
            {"name": "author", "type": "text", "documents": 1, "examples": ["kim"]},
            {"name": "year", "type": "integer", "documents": 2, "examples": ["2010", "2016"],
                "min": "2010", "max": "2016"},
        ]);
        assert_eq!(answer.structured["fields"], expected);
        let line = "field year: integer, documents 2, such as 2010, 2016, from 2010 to 2016";
        assert!(answer.text.contains(line), "{}", answer.text);
    }

    #[test]
    fn as_many_fields_as_fit_are_told() {
        let notes = (0..10).map(|note| {
            let names = (0..30).map(|n| format!("field{note}{n:02}: x{n}\n"));
            let front: String = names.collect();
            (format!("{note}.md"), format!("---\n{front}---\nThe sea.\n"))
        });
        let notes: Vec<(String, String)> = notes.collect();
        let files = notes.iter().map(|(name, text)| (&**name, &**text));
        let fixture = Fixture::new("notes", &files.collect::<Vec<_>>());
        let answer = fixture.answer("index_stats", json!({"max_tokens": 1000}));
        let shown = answer.structured["fields"].as_array().unwrap().len();
        let more = answer.structured["more_fields"].as_u64().unwrap() as usize;
        assert!((10..100).contains(&shown), "{shown}");
        assert_eq!(shown + more, 300);
        assert!(answer.text.contains("more fields"), "{}", answer.text);
        let bytes = serde_json::Value::Object(answer.structured)
            .to_string()
            .len();
        assert!(answer.text.len() < 4000 && bytes < 4000, "{bytes}");
    }

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
