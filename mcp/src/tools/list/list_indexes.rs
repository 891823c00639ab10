//! `list_indexes`: the open knowledge bases.

use std::borrow::Cow;

use kb_engine::{Cursor, ListScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::indexes::{Index, each};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings};
use crate::tools::call::budget::{self, Attempt};
use crate::tools::call::context::Context;
use crate::tools::call::params::{ContinuationToken, MaxTokens};
use crate::tools::call::tool::Tool;
use crate::tools::call::{hits, resolve};

pub(crate) struct ListIndexes;

/// Tokens of an index beside its names.
const FACTS_TOKENS: usize = 35;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListIndexesParams {
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct IndexList<'a> {
    indexes: &'a [OpenIndex],
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct OpenIndex {
    name: String,
    /// File name of the .kb file.
    table_name: String,
    /// UUID of the knowledge base.
    #[schemars(default)]
    id: String,
    #[schemars(default)]
    documents: u64,
    #[schemars(default)]
    writable: bool,
}

impl Tool for ListIndexes {
    const NAME: &'static str = "list_indexes";
    const TITLE: &'static str = "List knowledge bases";
    const DESCRIPTION: &'static str =
        "Knowledge bases (.kb files) that are open, with the name to pass as index_name.";

    type Params = ListIndexesParams;
    type Output = IndexList<'static>;

    fn run(cx: &Context<'_>, params: &ListIndexesParams) -> Result<ToolResponse, ToolError> {
        let mut warnings = Vec::new();
        let states = each(&cx.indexes.list(), &mut warnings, |index| {
            index.kb().state()
        })?;
        let cx = &cx.with_warnings(warnings);
        let may_write = resolve::may_write(cx.indexes, cx.may_write).is_ok();
        let open: Vec<OpenIndex> = states
            .iter()
            .map(|(index, state)| OpenIndex {
                name: index.name().to_owned(),
                table_name: file_name(index).into_owned(),
                id: dashed(&state.uuid),
                documents: state.documents,
                writable: may_write && is_writable(index),
            })
            .collect();
        let files: Vec<(&str, u64)> = states.iter().map(|(_, state)| (&*state.uuid, 0)).collect();
        let scope = ListScope::new("indexes", &files);
        let token = params.continuation_token.as_deref();
        let start = cx.list_start(&scope, open.len(), token)?;
        let left = open.get(start..).unwrap_or_default();
        budget::fit(params.max_tokens.get(), |budget| {
            let tokens = |one: &OpenIndex| {
                (FACTS_TOKENS + (one.name.len() + one.table_name.len()).div_ceil(4)) as u64
            };
            let count = budget::count_that_fits(left.iter().map(tokens), budget);
            let shown = left.get(..count).unwrap_or_default();
            let next = cx.list_next(&scope, open.len(), start + count);
            Ok(Attempt {
                can_shrink: count > 1,
                tokens: shown.iter().map(tokens).sum(),
                response: respond(cx, shown, next.as_ref().map(Cursor::as_str)),
            })
        })
    }
}

fn respond(cx: &Context<'_>, indexes: &[OpenIndex], token: Option<&str>) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for open in indexes {
        let access = if open.writable {
            "writable"
        } else {
            "read-only"
        };
        text.line(&open.name);
        text.facts(&[
            ("file", Some(&open.table_name)),
            ("documents", Some(&open.documents)),
            ("id", Some(&open.id)),
            ("", Some(&access)),
        ]);
    }
    let result = IndexList {
        indexes,
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(cx.warnings.clone()),
    };
    ToolResponse::new(&result, text.continued(hits::lead(true), token))
}

fn file_name(index: &Index) -> Cow<'_, str> {
    let name = index.path().file_name().unwrap_or_default();
    name.to_string_lossy()
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
    use serde_json::{Value, json};

    use crate::tools::testing::Fixture;

    #[test]
    fn listed_names_and_ids_select_an_index() {
        let docs: &[(&str, &str)] = &[("a.md", "one")];
        let fixture = Fixture::of(&[("first", docs), ("second", &[])], false);
        let answer = fixture.answer("list_indexes", json!({}));
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
            let stats = fixture.answer("index_stats", json!({"index_name": name}));
            assert_eq!(stats.structured["file_count"], 1);
        }
    }

    #[test]
    fn an_unreadable_file_is_left_out_with_a_warning() {
        let docs: &[(&str, &str)] = &[("a.md", "the walrus sleeps")];
        let fixture = Fixture::of(&[("first", docs), ("second", docs)], false);
        let (bad, path) = (fixture.path().join("bad"), fixture.path().join("second.kb"));
        std::fs::write(&bad, "this is no knowledge base").unwrap();
        std::fs::rename(bad, path).unwrap();
        for (tool, given, place) in [
            ("list_indexes", json!({}), "/indexes/0/name"),
            ("index_stats", json!({}), "/indexes/0/index_name"),
            ("get_status", json!({}), "/completed/0"),
            (
                "search",
                json!({"query": "walrus"}),
                "/data/results/0/index_name",
            ),
            (
                "search_docs",
                json!({"query": "walrus"}),
                "/results/0/index_name",
            ),
        ] {
            let answer = fixture.answer(tool, given);
            let whole = Value::Object(answer.structured);
            assert!(whole.pointer(place).is_some(), "{tool}: {whole}");
            let warning = whole["warnings"][0].as_str().unwrap();
            assert!(
                warning.contains("second") && warning.contains("INDEX_CORRUPT"),
                "{warning}"
            );
        }
        fixture.answer("get_document", json!({"doc_handle": "a.md"}));
        for (tool, given) in [
            ("search", json!({"query": "a", "index_name": "second"})),
            ("index_stats", json!({"index_name": "second"})),
            ("get_document", json!({"doc_handle": "none.md"})),
            ("list_documents", json!({"index_name": "second"})),
        ] {
            let error = fixture.error(tool, given);
            assert_eq!(error.code, "INDEX_CORRUPT");
            assert!(
                error.sentence.starts_with("index \"second\": "),
                "{}",
                error.text()
            );
        }
    }

    #[test]
    fn writable_depends_on_the_client() {
        let fixture = Fixture::guides();
        let writable = |may_write| {
            let answer = crate::tools::dispatch(crate::tools::Call {
                indexes: &fixture.indexes,
                name: "list_indexes",
                arguments: crate::response::Object::new(),
                may_write,
                cancel: &std::sync::Arc::default(),
                progress: &|_, _| {},
            });
            answer.unwrap().structured["indexes"][0]["writable"].clone()
        };
        assert_eq!(
            (writable(true), writable(false)),
            (json!(true), json!(false))
        );
    }

    #[test]
    fn names_and_files_must_differ() {
        let fixture = Fixture::new("a", &[]);
        let (known, new) = (fixture.path().join("a.kb"), fixture.path().join("new.kb"));
        let twice = fixture.path().join(".").join("a.kb");
        for files in [
            [("new", new.clone()), ("new", known.clone())],
            [("a", known.clone()), ("b", twice)],
            [("n", new.clone()), ("m", fixture.path().join("./new.kb"))],
        ] {
            let error = fixture.over(&files).err();
            assert!(
                matches!(error, Some(crate::options::StartError::Usage { .. })),
                "{files:?}"
            );
            assert!(!new.exists());
        }
    }

    #[test]
    fn a_read_only_server_ignores_allowed_roots() {
        let fixture = Fixture::new("a", &[]);
        let options = |allow_write| crate::options::Options {
            command: "kb mcp",
            files: vec![("a".to_owned(), fixture.path().join("a.kb"))],
            allow_write,
            allow_roots: vec![fixture.path().join("gone")],
            threads: 1,
            tools: None,
            tool_prefix: None,
            note: std::sync::Arc::new(|_| {}),
            opened: None,
        };
        assert!(crate::indexes::Indexes::open(&options(false)).is_ok());
        assert!(crate::indexes::Indexes::open(&options(true)).is_err());
    }
}
