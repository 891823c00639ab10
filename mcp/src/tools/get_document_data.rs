//! `get_document_data`: the text of a document, its chunks, or its metadata.

use kb_engine::{ChunkText, Cursor, DocumentInfo, Lines, PageOptions, file_types};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens};
use super::call::stale;
use super::call::tool::Tool;
use crate::indexes::{Index, updated_ms};
use crate::limits::SECTION_LIMIT;
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, object, time};

pub(super) struct GetDocumentData;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentDataParams {
    document_id: DocumentName,
    /// What to return.
    #[serde(default)]
    format: Format,
    /// Section id from get_document_outline.
    #[schemars(length(max = SECTION_LIMIT))]
    section: Option<String>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Raw,
    Chunks,
    Metadata,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct DocumentData<'a> {
    /// format=raw.
    content: Option<&'a str>,
    /// format=chunks.
    chunks: Option<Vec<Chunk<'a>>>,
    metadata: Option<Metadata<'a>>,
    token_count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Chunk<'a> {
    chunk_id: String,
    content: &'a str,
    #[schemars(default)]
    metadata: ChunkMetadata,
}

#[derive(Default, Serialize, JsonSchema)]
struct ChunkMetadata {
    #[schemars(default)]
    start_line: u32,
    #[schemars(default)]
    end_line: u32,
    section: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Metadata<'a> {
    title: Option<&'a str>,
    author: Option<&'a str>,
    created: Option<&'a str>,
    #[schemars(default)]
    updated: String,
    #[schemars(default)]
    document_type: &'a str,
    #[schemars(default)]
    size: u64,
    tags: Option<&'a [String]>,
    #[schemars(default)]
    mime_type: &'a str,
    #[schemars(default)]
    chunks: u32,
    language: Option<&'a str>,
}

impl Tool for GetDocumentData {
    const NAME: &'static str = "get_document_data";
    const TITLE: &'static str = "Read document data";
    const DESCRIPTION: &'static str = "Read a document as raw text, as chunks, or as metadata only \
        (instant). section limits it to one heading of the outline.";

    type Params = GetDocumentDataParams;
    type Output = Envelope<DocumentData<'static>>;

    fn run(cx: &Context<'_>, params: &GetDocumentDataParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let (index, document) = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&index, &document));
        let token = params.continuation_token.as_deref();
        match params.format {
            Format::Metadata => Ok(metadata(cx, params, &document)),
            Format::Chunks => budget::fit(params.max_tokens.get(), |budget| {
                chunks(cx, params, &index, &document, &cx.page(budget, token))
            }),
            Format::Raw => budget::fit(params.max_tokens.get(), |budget| {
                raw(cx, params, &index, &document, &cx.page(budget, token))
            }),
        }
    }
}

fn result_page<'p>(
    params: &GetDocumentDataParams,
    tokens: u64,
    next: Option<&'p Cursor>,
    items: &'static str,
    tokens_left: Option<u64>,
) -> ResultPage<'p> {
    ResultPage {
        tokens,
        max_tokens: params.max_tokens.get().into(),
        token: next.map(Cursor::as_str),
        is_continued: params.continuation_token.is_some(),
        complete: "SUCCESS",
        items,
        tokens_left,
        ..ResultPage::default()
    }
}

/// Text, up to the end of a line where one fits.
fn raw(
    cx: &Context<'_>,
    params: &GetDocumentDataParams,
    index: &Index,
    document: &DocumentInfo,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let section = params.section.as_deref();
    let found = match section {
        None => index.kb().text_paged(&document.path, None, page)?,
        Some(section) => index.kb().section_text(&document.path, section, page)?,
    };
    let next = found.next.as_ref();
    // The length of a section is not known here.
    let next_offset = next
        .filter(|_| section.is_none())
        .and_then(|cursor| cursor.offset().ok());
    let left = next_offset.map(|next| found.document.text_bytes.saturating_sub(next).div_ceil(4));
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    text.line(source(&document.path, found.lines));
    text.passage(&found.text);
    let page = result_page(params, found.tokens, next, "text", left);
    let data = DocumentData {
        content: Some(&found.text),
        token_count: page.tokens,
        ..DocumentData::default()
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    Ok(Attempt {
        can_shrink: found.text.len() > 1,
        tokens: found.tokens,
        response: ToolResponse::new(&envelope, text.envelope(&envelope)),
    })
}

fn chunks(
    cx: &Context<'_>,
    params: &GetDocumentDataParams,
    index: &Index,
    document: &DocumentInfo,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let section = params.section.as_deref();
    let found = index.kb().chunks(&document.path, section, page)?;
    let last = found.last().filter(|_| section.is_none());
    let left = last.map(|last| {
        let end = u64::from(last.at.span.end);
        document.text_bytes.saturating_sub(end).div_ceil(4)
    });
    let id = |chunk: &ChunkText| format!("{}#{}", document.path, chunk.index);
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for chunk in found.iter() {
        let source = source(&document.path, chunk.at.lines);
        text.line(format!("{}  {source}", id(chunk)));
        text.facts(&[("section", Some(&chunk.section.join(" > ")))]);
        text.passage(&chunk.text);
    }
    if found.is_empty() {
        text.line("No chunks.");
    }
    let page = result_page(params, found.tokens, found.next.as_ref(), "chunks", left);
    let chunks = found.iter().map(|chunk| Chunk {
        chunk_id: id(chunk),
        content: &chunk.text,
        metadata: ChunkMetadata {
            start_line: chunk.at.lines.first,
            end_line: chunk.at.lines.last,
            section: Some(chunk.section.join(" > ")).filter(|section| !section.is_empty()),
        },
    });
    let data = DocumentData {
        chunks: Some(chunks.collect()),
        token_count: page.tokens,
        ..DocumentData::default()
    };
    let envelope = page.envelope(data, cx.warnings.clone());
    Ok(Attempt {
        can_shrink: found.len() > 1,
        tokens: found.tokens,
        response: ToolResponse::new(&envelope, text.envelope(&envelope)),
    })
}

/// The metadata of a document; small, so no budget cuts it.
fn metadata(
    cx: &Context<'_>,
    params: &GetDocumentDataParams,
    document: &DocumentInfo,
) -> ToolResponse {
    let stated = |key: &str| {
        let mut all = document.metadata.iter();
        all.find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    };
    let metadata = Metadata {
        title: non_empty(&document.title),
        author: stated("author"),
        created: stated("date"),
        updated: time::rfc3339(updated_ms(document)),
        document_type: &document.file_type,
        size: document.size_bytes,
        tags: (!document.tags.is_empty()).then_some(&document.tags),
        mime_type: file_types::mime(&document.file_type),
        chunks: document.chunks,
        language: non_empty(&document.language),
    };
    let mut warnings = cx.warnings.clone();
    if params.section.is_some() {
        warnings.push("section ignored: format=metadata is about the whole document".to_owned());
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(&document.path);
    let fields = object(serde_json::to_value(&metadata).unwrap_or_default());
    for (name, value) in &fields {
        text.field(name, value);
    }
    let page = ResultPage {
        tokens: Value::Object(fields).to_string().len().div_ceil(4) as u64,
        max_tokens: u64::MAX,
        complete: "SUCCESS",
        ..ResultPage::default()
    };
    let data = DocumentData {
        metadata: Some(metadata),
        token_count: page.tokens,
        ..DocumentData::default()
    };
    let envelope = page.envelope(data, warnings);
    ToolResponse::new(&envelope, text.envelope(&envelope))
}

/// The line that says where a passage is from; an empty document has no lines.
fn source(path: &str, lines: Lines) -> String {
    match lines.first {
        0 => path.to_owned(),
        first => format!("{path}:{first}-{}", lines.last),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn an_empty_file_is_an_empty_text() {
        let fixture = Fixture::new("empty", &[("empty.txt", "")]);
        let answer = fixture.answer("get_document_data", json!({"document_id": "empty.txt"}));
        let expected = json!({
            "data": {"content": "", "token_count": 0},
            "status": {"code": "success", "message": "SUCCESS"},
            "continuation": {"has_more": false},
        });
        assert_eq!(serde_json::Value::Object(answer.structured), expected);
        let given = json!({"document_id": "empty.txt", "format": "chunks"});
        assert_eq!(
            fixture.answer("get_document_data", given).structured["data"]["chunks"],
            json!([])
        );
    }

    #[test]
    fn chunks_have_ids_and_lines() {
        let fixture = Fixture::guides();
        let given = json!({"document_id": "guides/sails.md", "format": "chunks"});
        let answer = fixture.answer("get_document_data", given);
        let chunk = &answer.structured["data"]["chunks"][0];
        assert_eq!(chunk["chunk_id"], "guides/sails.md#0");
        assert_eq!(chunk["metadata"]["start_line"], 1);
        let text = long();
        let fixture = Fixture::new("long", &[("long.md", &text)]);
        let sections = |section: &str| {
            let given = json!({"document_id": "long.md", "format": "chunks", "section": section,
                "max_tokens": 20000});
            let answer = fixture.answer("get_document_data", given);
            let chunks = answer.structured["data"]["chunks"]
                .as_array()
                .unwrap()
                .clone();
            let texts = chunks
                .iter()
                .map(|one| one["content"].as_str().unwrap().to_owned());
            texts.collect::<String>()
        };
        let second = sections("2");
        assert!(
            second.contains("# Part 2\n")
                && !second.contains("# Part 3\n")
                && !second.contains("# Part 1\n")
        );
        let given = json!({"document_id": "long.md", "section": "9"});
        let error = fixture.error("get_document_data", given);
        assert_eq!(error.code, "SECTION_NOT_FOUND");
    }

    fn long() -> String {
        let line = "The mate counts every rope on the deck and writes it down. ";
        (1..=4)
            .map(|n| format!("# Part {n}\n\n{}\n\n", line.repeat(120)))
            .collect()
    }

    #[test]
    fn metadata_comes_without_the_text() {
        let text = "---\nauthor: Ada\ndate: 2024-05-02\n---\n# Title\n\ntext\n";
        let fixture = Fixture::new("a", &[("a.md", text)]);
        let given = json!({"document_id": "a.md", "format": "metadata", "max_tokens": 1});
        let answer = fixture.answer("get_document_data", given);
        let known = &answer.structured["data"]["metadata"];
        assert_eq!(
            (&known["author"], &known["created"]),
            (&json!("Ada"), &json!("2024-05-02"))
        );
        assert_eq!(
            (&known["mime_type"], &known["chunks"]),
            (&json!("text/markdown"), &json!(1))
        );
        assert_eq!(answer.structured["status"]["message"], "SUCCESS");
    }

    #[test]
    fn get_all_returns_the_rest_of_a_text() {
        let text = long();
        let fixture = Fixture::new("long", &[("long.md", &text)]);
        let first = fixture.answer(
            "get_document_data",
            json!({"document_id": "long.md", "max_tokens": 600}),
        );
        let actions = first.structured["actions"].as_array().unwrap();
        let all = actions
            .iter()
            .find(|action| action["id"] == "GET_ALL")
            .unwrap();
        // How long a section is, is not known.
        let given = json!({"document_id": "long.md", "section": "1", "max_tokens": 600});
        let section = fixture.answer("get_document_data", given);
        assert!(!section.text.contains("GET_ALL") && section.text.contains("CONTINUE"));
        let mut given = all["params"].clone();
        given["document_id"] = "long.md".into();
        given["continuation_token"] = first.structured["continuation"]["token"].clone();
        let second = fixture.answer("get_document_data", given);
        assert_eq!(second.structured["status"]["message"], "NO_MORE_DATA");
        let content = |answer: &crate::response::ToolResponse| {
            answer.structured["data"]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(content(&first) + &content(&second), text);
    }
}
