//! `list_folders`: the folders of a knowledge base.

use kb_engine::{Cursor, Folders, ListScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::response::envelope::{Envelope, ResultPage};
use crate::response::wording::count;
use crate::response::{Text, ToolError, ToolResponse};
use crate::tools::call::budget::{self, Attempt};
use crate::tools::call::context::Context;
use crate::tools::call::params::{ContinuationToken, IndexName, MaxTokens};
use crate::tools::call::tool::Tool;
use crate::tools::call::{resolve, stale};

/// Bytes that a name in a list takes besides its letters, and a path with its count.
const NAME_OVERHEAD_BYTES: usize = 4;
const PATH_OVERHEAD_BYTES: usize = 24;

pub(crate) struct ListFolders;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListFoldersParams {
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FolderList<'a> {
    /// Top-level folder names.
    folders: &'a [String],
    /// Every folder.
    #[schemars(default)]
    paths: Vec<Folder<'a>>,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Folder<'a> {
    path: &'a str,
    documents: u64,
}

impl Tool for ListFolders {
    const NAME: &'static str = "list_folders";
    const TITLE: &'static str = "List folders";
    const DESCRIPTION: &'static str = "Top-level names, and every \
        folder path with its number of documents.";

    type Params = ListFoldersParams;
    type Output = Envelope<FolderList<'static>>;

    fn run(cx: &Context<'_>, params: &ListFoldersParams) -> Result<ToolResponse, ToolError> {
        let index = resolve::one(cx, params.index_name.as_deref())?;
        let failed = |error| index.failure(error);
        let state = index.kb().state().map_err(failed)?;
        let Folders { top, mut paths, .. } = index.kb().folders(u64::MAX).map_err(failed)?;
        // The deepest on the last page.
        paths.sort_by_key(|(path, _)| path.matches('/').count());
        let of_sources = stale::of_indexes(std::slice::from_ref(&index), top.is_empty());
        let cx = &cx.with_warnings(of_sources);
        let scope = ListScope::new("folders", &[(&state.uuid, state.generation)]);
        let token = params.continuation_token.as_deref();
        let start = cx.list_start(&scope, paths.len(), token)?;
        let top = if start == 0 { &*top } else { &[] };
        let left = paths.get(start..).unwrap_or_default();
        budget::fit(params.max_tokens.get(), |budget| {
            // Names at the top come first; a half is for paths, which have them too.
            let for_top = if start == 0 { budget / 2 } else { 0 };
            let count =
                budget::count_that_fits(top.iter().map(|name| tokens_of_name(name)), for_top);
            let top = top.get(..count).unwrap_or_default();
            let tokens = |(path, _): &(String, u64)| tokens(path, PATH_OVERHEAD_BYTES);
            let count = budget::count_that_fits(left.iter().map(tokens), budget - for_top);
            let mut shown: Vec<&(String, u64)> = left.iter().take(count).collect();
            shown.sort();
            let next = cx.list_next(&scope, paths.len(), start + count);
            let used: u64 = shown.iter().map(|path| tokens(path)).sum();
            let used = used + top.iter().map(|name| tokens_of_name(name)).sum::<u64>();
            let page = ResultPage {
                tokens: used,
                max_tokens: params.max_tokens.get().into(),
                token: next.as_ref().map(Cursor::as_str),
                is_continued: params.continuation_token.is_some(),
                complete: "SUCCESS",
                items: "folders",
                ..ResultPage::default()
            };
            Ok(Attempt {
                can_shrink: count > 1,
                tokens: used,
                response: respond(cx, top, &shown, &page),
            })
        })
    }
}

fn tokens(name: &str, overhead_bytes: usize) -> u64 {
    (name.len() + overhead_bytes).div_ceil(4) as u64
}

fn tokens_of_name(name: &str) -> u64 {
    tokens(name, NAME_OVERHEAD_BYTES)
}

fn respond(
    cx: &Context<'_>,
    top: &[String],
    paths: &[&(String, u64)],
    page: &ResultPage<'_>,
) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    if !top.is_empty() {
        text.line(format!("Top level: {}", top.join(", ")));
    } else if paths.is_empty() {
        text.line("No folders.");
    }
    for (path, documents) in paths {
        text.line(format!("{path}  {}", count(*documents, "document")));
    }
    let data = FolderList {
        folders: top,
        paths: paths
            .iter()
            .map(|(path, documents)| Folder {
                path,
                documents: *documents,
            })
            .collect(),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::call::budget::larger_form;
    use crate::tools::testing::Fixture;

    #[test]
    fn folders_have_counts_of_documents() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("list_folders", json!({}));
        let data = &answer.structured["data"];
        assert_eq!(data["folders"], json!(["guides", "logs", "src"]));
        let paths = data["paths"].as_array().unwrap();
        assert_eq!(paths[0], json!({"path": "guides", "documents": 5}));
        assert_eq!(paths[1], json!({"path": "guides/food", "documents": 1}));
        assert_eq!(answer.structured["status"]["message"], "SUCCESS");
    }

    #[test]
    fn many_folders_come_in_pages() {
        let names: Vec<String> = (0..600)
            .map(|n| format!("folder-of-the-year-{n:04}/deep/a.txt"))
            .collect();
        let documents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        let fixture = Fixture::new("many", &documents);
        let mut given = json!({});
        let mut paths = Vec::new();
        loop {
            let answer = fixture.answer("list_folders", given.clone());
            assert!(larger_form(&answer) <= 10_000, "{}", larger_form(&answer));
            let whole = &answer.structured;
            let is_first = paths.is_empty();
            assert_eq!(whole["data"]["folders"] == json!([]), !is_first);
            for folder in whole["data"]["paths"].as_array().unwrap() {
                paths.push(folder["path"].as_str().unwrap().to_owned());
            }
            if whole["continuation"]["has_more"] == false {
                break;
            }
            assert_eq!(whole["status"]["message"], "TOKEN_LIMIT_REACHED");
            given = json!({"continuation_token": whole["continuation"]["token"]});
        }
        assert!(paths[..400].iter().all(|path| !path.contains('/')));
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 1200);
        fixture.add("another/b.txt", "x");
        let error = fixture.error("list_folders", given);
        assert_eq!(error.code, "CONTINUATION_STALE");
    }
}
