//! `list_documents`: the documents in a folder.

use kb_engine::{DocumentInfo, Entry, PageOptions, Paged, SkippedFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::indexes::{Index, updated_ms};
use crate::limits::DOCUMENT_LIMIT;
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, time};
use crate::tools::call::budget::{self, Attempt};
use crate::tools::call::context::{Context, non_empty};
use crate::tools::call::params::{ContinuationToken, IndexName, MaxTokens};
use crate::tools::call::tool::Tool;
use crate::tools::call::{resolve, stale};

/// The engine counts the names of a document once. An answer has them in two forms, its file name thrice, and the
/// names of its fields.
const TOKENS_A_TOKEN: u32 = 3;

/// For the names of subfolders: about ten.
const SUBFOLDERS_TOKENS: u32 = 400;

pub(crate) struct ListDocuments;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListDocumentsParams {
    /// Such as Finance/2024/Q4.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    folder: Option<String>,
    /// Include subfolders.
    #[serde(default)]
    recursive: bool,
    /// List files that were not read, and why, instead.
    #[serde(default)]
    skipped: bool,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Documents<'a> {
    documents: Vec<Document<'a>>,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    name: &'a str,
    document_id: &'a str,
    /// ISO 8601.
    modified: String,
    #[schemars(default)]
    doc_handle: &'a str,
    title: Option<&'a str>,
    #[schemars(default)]
    size: u64,
    #[schemars(default)]
    r#type: &'a str,
    /// Why it was not read.
    reason: Option<&'a str>,
}

impl Tool for ListDocuments {
    const NAME: &'static str = "list_documents";
    const TITLE: &'static str = "List documents";
    const DESCRIPTION: &'static str = "Documents in a folder with id, handle, size and modification \
        date.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("path", "folder")];

    type Params = ListDocumentsParams;
    type Output = Envelope<Documents<'static>>;

    fn run(cx: &Context<'_>, params: &ListDocumentsParams) -> Result<ToolResponse, ToolError> {
        let index = resolve::one(cx, params.index_name.as_deref())?;
        let folder = params.folder.as_deref();
        if params.skipped {
            return budget::fit(params.max_tokens.get(), |budget| {
                let page = cx.page(budget, params.continuation_token.as_deref());
                let files = index.kb().skipped(folder, &page)?;
                let of_sources = stale::of_indexes(std::slice::from_ref(&index), files.is_empty());
                let cx = &cx.with_warnings(of_sources);
                Ok(Attempt {
                    can_shrink: files.len() > 1,
                    tokens: files.tokens,
                    response: respond_skipped(cx, params, &files),
                })
            });
        }
        budget::fit(params.max_tokens.get(), |budget| {
            let tokens = (budget / TOKENS_A_TOKEN).max(1);
            let page = cx.page(tokens, params.continuation_token.as_deref());
            let documents = index.kb().documents(folder, params.recursive, &page);
            let documents = documents.map_err(|error| index.failure(error))?;
            let is_none = documents.is_empty() && params.continuation_token.is_none();
            let below = if is_none && !params.recursive {
                subfolders(&index, folder)?
            } else {
                None
            };
            let of_sources = stale::of_indexes(std::slice::from_ref(&index), documents.is_empty());
            let cx = &cx.with_warnings(below.into_iter().chain(of_sources));
            Ok(Attempt {
                can_shrink: documents.len() > 1,
                tokens: tokens_of(&documents),
                response: respond(cx, params, &documents),
            })
        })
    }
}

fn tokens_of(documents: &Paged<DocumentInfo>) -> u64 {
    documents.tokens.saturating_mul(TOKENS_A_TOKEN.into())
}

/// Where the documents of a folder are that has none itself: `there are documents in its subfolders: docs (4), src (9)`.
fn subfolders(index: &Index, folder: Option<&str>) -> Result<Option<String>, ToolError> {
    let page = PageOptions::default().max_tokens(SUBFOLDERS_TOKENS);
    let entries = index.kb().list(folder, &page);
    let entries = entries.map_err(|error| index.failure(error))?;
    let mut shown = Vec::new();
    for entry in entries.iter() {
        if let Entry::Folder {
            path, documents, ..
        } = entry
        {
            shown.push(format!("{path} ({documents})"));
        }
    }
    let more = if entries.next.is_some() { ", ..." } else { "" };
    Ok((!shown.is_empty()).then(|| {
        format!(
            "there are documents in subfolders: {}{more}; pass one as folder, or recursive=true",
            shown.join(", ")
        )
    }))
}

fn respond(
    cx: &Context<'_>,
    params: &ListDocumentsParams,
    documents: &Paged<DocumentInfo>,
) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for document in documents.iter() {
        text.line(format!("{}  {}", document.path, document.title));
        text.facts(&[
            ("modified", Some(&day(document))),
            ("handle", Some(&document.handle)),
            ("bytes", Some(&document.size_bytes)),
            ("type", Some(&document.file_type)),
        ]);
    }
    if documents.is_empty() {
        text.line(if params.recursive {
            "No documents in this folder or below it."
        } else {
            "No documents directly in this folder."
        });
    }
    let token = cx.token(documents.next.as_ref());
    let page = ResultPage {
        tokens: tokens_of(documents),
        max_tokens: params.max_tokens.get().into(),
        token: token.as_deref(),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "documents",
        ..ResultPage::default()
    };
    let data = Documents {
        documents: documents.iter().map(entry).collect(),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

/// The same for files that were not read.
fn respond_skipped(
    cx: &Context<'_>,
    params: &ListDocumentsParams,
    files: &Paged<SkippedFile>,
) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for file in files.iter() {
        text.line(format!("{}  {}", file.path, file.reason));
        text.facts(&[
            ("modified", Some(&time::day(file.modified_ms))),
            ("bytes", Some(&file.size_bytes)),
        ]);
    }
    if files.is_empty() {
        text.line("No skipped files. Files that an ignore rule excludes are not recorded.");
    }
    let token = cx.token(files.next.as_ref());
    let page = ResultPage {
        tokens: files.tokens,
        max_tokens: params.max_tokens.get().into(),
        token: token.as_deref(),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items: "files",
        ..ResultPage::default()
    };
    let data = Documents {
        documents: files.iter().map(skipped_entry).collect(),
        token_count: page.tokens,
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

fn skipped_entry(file: &SkippedFile) -> Document<'_> {
    Document {
        name: file_name(&file.path),
        document_id: &file.path,
        modified: time::day(file.modified_ms),
        doc_handle: "",
        title: None,
        size: file.size_bytes,
        r#type: "",
        reason: Some(&file.reason),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn entry(document: &DocumentInfo) -> Document<'_> {
    Document {
        name: file_name(&document.path),
        document_id: &document.path,
        modified: day(document),
        doc_handle: &document.handle,
        title: non_empty(&document.title),
        size: document.size_bytes,
        r#type: &document.file_type,
        reason: None,
    }
}

fn day(document: &DocumentInfo) -> String {
    time::day(updated_ms(document))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tools::testing::Fixture;

    fn ids(answer: &crate::response::ToolResponse) -> Vec<String> {
        let documents = answer.structured["data"]["documents"].as_array().unwrap();
        let ids = documents
            .iter()
            .map(|one| one["document_id"].as_str().unwrap().to_owned());
        ids.collect()
    }

    #[test]
    fn recursive_lists_subfolders_too() {
        let fixture = Fixture::guides();
        let list = |given| ids(&fixture.answer("list_documents", given));
        assert_eq!(list(json!({})), ["notes.md"]);
        let fixture = Fixture::new("deep", &[("a/b/c.md", "x"), ("a/d/e.md", "y")]);
        let top = fixture.answer("list_documents", json!({}));
        let said =
            "there are documents in subfolders: a (2); pass one as folder, or recursive=true";
        assert_eq!(top.structured["warnings"], json!([said]));
        let a = fixture.answer("list_documents", json!({"folder": "a"}));
        assert!(a.text.contains("a/b (1), a/d (1)"), "{}", a.text);
        let fixture = Fixture::guides();
        assert_eq!(list(json!({"path": "logs"})), ["logs/voyage.txt"]);
        assert_eq!(list(json!({"folder": "guides"})).len(), 4);
        let all = list(json!({"folder": "guides/", "recursive": true}));
        assert_eq!(all.len(), 5);
        assert!(all.is_sorted());
        let error = fixture.error("list_documents", json!({"folder": "guide"}));
        assert_eq!(
            error.text(),
            "FOLDER_NOT_FOUND: no folder \"guide\". Did you mean \"guides\"?"
        );
    }

    #[test]
    fn files_that_were_not_read_have_reasons() {
        let fixture = Fixture::new("first", &[]);
        let folder = fixture.path().join("one");
        std::fs::create_dir_all(folder.join("docs")).unwrap();
        std::fs::write(folder.join("a.md"), "# A\n").unwrap();
        // Fewer control bytes are in texts too.
        let picture = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 40]].concat();
        std::fs::write(folder.join("docs/figure.png"), picture).unwrap();
        std::fs::write(folder.join("id_rsa"), "x\n").unwrap();
        fixture.answer(
            "index_codebase",
            json!({"path": folder.to_str().unwrap(), "index_name": "first"}),
        );
        let list = |given| fixture.answer("list_documents", given);
        let all = list(json!({"skipped": true}));
        assert_eq!(ids(&all), ["docs/figure.png", "id_rsa"]);
        let first = &all.structured["data"]["documents"][0];
        assert_eq!(first["reason"], "binary file (PNG image)");
        assert_eq!(
            ids(&list(json!({"skipped": true, "folder": "docs"}))),
            ["docs/figure.png"]
        );
        let page = list(json!({"skipped": true, "max_tokens": 20}));
        assert_eq!(ids(&page), ["docs/figure.png"]);
        let token = page.structured["continuation"]["token"].clone();
        let next = list(json!({"skipped": true, "max_tokens": 20, "continuation_token": token}));
        assert_eq!(ids(&next), ["id_rsa"]);
        assert_eq!(ids(&list(json!({}))), ["a.md"]);
        let error = fixture.error("get_document", json!({"doc_handle": "figure.png"}));
        assert_eq!(
            error.text(),
            "DOCUMENT_NOT_FOUND: no document \"figure.png\"; docs/figure.png is in the indexed folder but was \
             not read: binary file (PNG image). list_documents with skipped=true lists all files that were not read."
        );
        let status = fixture.answer("get_status", json!({}));
        assert_eq!(status.structured["indexes"][0]["skipped"], 2);
    }

    #[test]
    fn an_empty_list_says_so() {
        let fixture = Fixture::new("empty", &[]);
        let said = |given| fixture.answer("list_documents", given).text;
        assert!(said(json!({})).starts_with("No documents directly in this folder"));
        let below = said(json!({"recursive": true}));
        assert!(
            below.starts_with("No documents in this folder or below it."),
            "{below}"
        );
    }

    #[test]
    fn a_long_list_has_several_pages() {
        let names: Vec<String> = (0..150).map(|n| format!("many/{n:03}.md")).collect();
        let mut documents: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "x")).collect();
        documents.push(("other.md", "y"));
        let fixture = Fixture::new("many", &documents);
        let mut listed = Vec::new();
        let mut given = json!({"folder": "many", "max_tokens": 1500});
        loop {
            let answer = fixture.answer("list_documents", given);
            assert!(answer.structured["data"]["token_count"].as_u64().unwrap() <= 1500);
            listed.extend(ids(&answer));
            let Some(Value::String(token)) = answer.structured["continuation"].get("token") else {
                break;
            };
            given = json!({"continuation_token": token});
        }
        assert_eq!(listed, names);
    }
}
