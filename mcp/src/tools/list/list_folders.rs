//! `list_folders`: the folders of a knowledge base.

use kb_engine::Folders;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::response::envelope::{Envelope, ResultPage};
use crate::response::wording::count;
use crate::response::{Text, ToolError, ToolResponse};
use crate::tools::call::budget::{self, Attempt};
use crate::tools::call::context::Context;
use crate::tools::call::params::IndexName;
use crate::tools::call::resolve;
use crate::tools::call::tool::Tool;

/// Tokens of a result.
const TOKENS: u32 = 2000;

/// Bytes that a name in a list takes besides its letters.
const NAME_OVERHEAD_BYTES: usize = 4;

pub(crate) struct ListFolders;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListFoldersParams {
    index_name: Option<IndexName>,
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
    const DESCRIPTION: &'static str = "Folders of the knowledge base: top-level names, and every \
        folder path with its number of documents.";

    type Params = ListFoldersParams;
    type Output = Envelope<FolderList<'static>>;

    fn run(cx: &Context<'_>, params: &ListFoldersParams) -> Result<ToolResponse, ToolError> {
        let index = resolve::one(cx, params.index_name.as_deref())?;
        budget::fit(TOKENS, |budget| {
            let bytes = usize::try_from(budget)
                .unwrap_or(usize::MAX)
                .saturating_mul(4);
            // Names at the top come first; a half is for paths, which have them too.
            let mut folders = index.kb().folders(bytes as u64 / 2)?;
            let mut left = bytes / 2;
            let fits = |name: &String| {
                left = left.checked_sub(name.len() + NAME_OVERHEAD_BYTES)?;
                Some(())
            };
            let kept = folders.top.iter().map_while(fits).count();
            folders.truncated |= kept < folders.top.len();
            folders.top.truncate(kept.max(1));
            Ok(Attempt {
                can_shrink: folders.paths.len() > 1,
                tokens: budget.into(),
                response: respond(cx, &folders),
            })
        })
    }
}

fn respond(cx: &Context<'_>, folders: &Folders) -> ToolResponse {
    let mut warnings = cx.warnings.clone();
    if folders.truncated {
        warnings.push(
            "not all folders are listed, the deepest are left out: list_documents shows what is in \
             one"
            .to_owned(),
        );
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    if folders.top.is_empty() {
        text.line("No folders.");
    } else {
        text.line(format!("Top level: {}", folders.top.join(", ")));
    }
    for (path, documents) in &folders.paths {
        text.line(format!("{path}  {}", count(*documents, "document")));
    }
    let names = folders
        .top
        .iter()
        .chain(folders.paths.iter().map(|(path, _)| path));
    let bytes: usize = names.map(|name| name.len() + NAME_OVERHEAD_BYTES).sum();
    let page = ResultPage {
        tokens: bytes.div_ceil(4) as u64,
        max_tokens: TOKENS.into(),
        complete: if folders.truncated {
            "TOKEN_LIMIT_REACHED"
        } else {
            "SUCCESS"
        },
        ..ResultPage::default()
    };
    let paths = folders.paths.iter().map(|(path, documents)| Folder {
        path,
        documents: *documents,
    });
    let data = FolderList {
        folders: &folders.top,
        paths: paths.collect(),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, warnings);
    let mut text = text.envelope(&envelope);
    if folders.truncated {
        text.push_str("\nTo see more: list_documents with folder and recursive=true.");
    }
    ToolResponse::new(&envelope, text)
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
    fn many_folders_are_truncated_with_a_warning() {
        let names: Vec<String> = (0..600)
            .map(|n| format!("folder-of-the-year-{n:04}/deep/a.txt"))
            .collect();
        let documents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        let fixture = Fixture::new("many", &documents);
        let answer = fixture.answer("list_folders", json!({}));
        assert_eq!(
            answer.structured["status"]["message"],
            "TOKEN_LIMIT_REACHED"
        );
        assert!(answer.text.contains("not all folders are listed"));
        let last = answer.text.lines().last().unwrap();
        assert!(last.contains("list_documents"), "{last}");
        assert!(larger_form(&answer) <= 10_000, "{}", larger_form(&answer));
    }
}
