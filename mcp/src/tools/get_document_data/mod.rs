//! `get_document_data`: the text of a document, its chunks, or its metadata.

use kb_engine::{ChunkText, DocumentInfo, Lines, PageOptions, PartKind, file_types};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::hits;
use super::call::lines::{EndLine, StartLine, first_number, line, selected, source};
use super::call::params::{
    ContinuationToken, DocumentName, IndexName, MaxTokens, SECTION_PATH, SectionName,
};
use super::call::part_location::PartLocation;
use super::call::stale;
use super::call::tool::Tool;
use crate::indexes::{Index, Selection, updated_ms};
use crate::response::envelope::{Envelope, ResultPage};
use crate::response::{Text, ToolError, ToolResponse, object, time, wording};

pub(super) struct GetDocumentData;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentDataParams {
    document_id: DocumentName,
    /// What to return.
    #[serde(default)]
    format: Format,
    section: Option<SectionName>,
    start_line: Option<StartLine>,
    end_line: Option<EndLine>,
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
    /// Line of the original that content begins with; of HTML approximate.
    start_line: Option<u32>,
    end_line: Option<u32>,
    total_lines: Option<u32>,
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
    page: Option<u32>,
    sheet: Option<String>,
    slide: Option<u32>,
    section: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Metadata<'a> {
    title: Option<&'a str>,
    author: Option<&'a str>,
    created: Option<&'a str>,
    /// As the document states it; updated is that of its file.
    modified: Option<&'a str>,
    #[schemars(default)]
    updated: String,
    pages: Option<u32>,
    sheets: Option<u32>,
    slides: Option<u32>,
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
        (instant): the whole, a section, or lines. For pages, rows or slides use their tools.";
    const JOINED_LISTS: &'static [JoinedList] = SECTION_PATH;

    type Params = GetDocumentDataParams;
    type Output = Envelope<DocumentData<'static>>;

    fn run(cx: &Context<'_>, params: &GetDocumentDataParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let selected = selected(params.start_line, params.end_line);
        if params.section.is_some() && selected.is_some() {
            let sentence = "section and lines are both given; a call reads only one of them";
            return Err(ToolError::new("INVALID_ARGUMENT", sentence)
                .with_fact("argument", "section")
                .with_hint("Omit section, or omit start_line and end_line"));
        }
        let part = Part {
            text: match selected {
                Some(_) => Selection::new(&located.document.path, selected, 0),
                None => located.selection(),
            },
            section: params.section.as_deref(),
            // A section has precedence over lines behind the name.
            lines: selected.or(located.lines.filter(|_| params.section.is_none())),
        };
        let (index, document) = (&located.index, &located.document);
        match params.format {
            Format::Metadata => Ok(metadata(cx, &part, document)),
            Format::Chunks => budget::fit(params.max_tokens.get(), |budget| {
                let page = cx.page(budget, params.continuation_token.as_deref());
                chunks(cx, params, index, document, &part, &page)
            }),
            Format::Raw => budget::fit(params.max_tokens.get(), |budget| {
                raw(
                    cx,
                    params,
                    index,
                    document,
                    &part,
                    &cx.page(budget, params.continuation_token.as_deref()),
                )
            }),
        }
    }
}

/// The part of the document that a call reads.
struct Part<'p> {
    /// The lines, or the document.
    text: Selection,
    section: Option<&'p str>,
    lines: Option<Lines>,
}

impl Part<'_> {
    /// Whether it is the whole document, whose length is known.
    fn is_whole(&self) -> bool {
        self.section.is_none() && self.lines.is_none()
    }
}

fn result_page<'p>(
    params: &GetDocumentDataParams,
    tokens: u64,
    token: Option<&'p str>,
    items: &'static str,
    tokens_left: Option<u64>,
) -> ResultPage<'p> {
    ResultPage {
        tokens,
        max_tokens: params.max_tokens.get().into(),
        token,
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
    part: &Part<'_>,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let found = match part.section {
        None => index
            .kb()
            .text_paged(&part.text.name, part.text.lines, page),
        Some(section) => index.kb().section_text(&document.path, section, page),
    };
    let found = found.map_err(|error| index.failure(error))?;
    let next = found.next.as_ref();
    let next_offset = next
        .filter(|_| part.is_whole())
        .and_then(|cursor| cursor.offset().ok());
    let left = next_offset.map(|next| found.document.text_bytes.saturating_sub(next).div_ceil(4));
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    let source = source(&document.path, found.lines);
    text.line(format!(
        "{source} of {}",
        wording::count(document.lines.into(), "line")
    ));
    text.lines(&found.text, first_number(document, found.lines));
    let token = cx.token(next);
    let page = result_page(params, found.tokens, token.as_deref(), "text", left);
    let data = DocumentData {
        content: Some(&found.text),
        start_line: line(found.lines.first),
        end_line: line(found.lines.last),
        total_lines: Some(document.lines),
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
    part: &Part<'_>,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let found = match (part.section, part.lines) {
        (None, Some(lines)) => index.kb().chunks_of_lines(&document.path, lines, page),
        (section, _) => index.kb().chunks(&document.path, section, page),
    };
    let found = found.map_err(|error| index.failure(error))?;
    let last = found.last().filter(|_| part.is_whole());
    let left = last.map(|last| {
        let end = u64::from(last.at.span.end);
        document.text_bytes.saturating_sub(end).div_ceil(4)
    });
    // Smaller budgets have room for text or for the titles above it.
    let has_facts = hits::has_facts(params.max_tokens.get());
    let section = |chunk: &ChunkText| {
        let section = chunk.section.join(" > ");
        (has_facts && !section.is_empty()).then_some(section)
    };
    let id = |chunk: &ChunkText| format!("{}#{}", document.path, chunk.index);
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    for chunk in found.iter() {
        let source = source(&document.path, chunk.at.lines);
        let part = chunk.part.as_ref().filter(|_| has_facts);
        let part = part.map_or_else(String::new, |part| format!("  {part}"));
        text.line(format!("{}  {source}{part}", id(chunk)));
        text.facts(&[("section", Some(&section(chunk).unwrap_or_default()))]);
        text.lines(&chunk.text, first_number(document, chunk.at.lines));
    }
    if found.is_empty() {
        text.line("No chunks.");
    }
    let next = found.last().map_or(0, |last| u64::from(last.index) + 1);
    let token = cx.token_at(found.next.as_ref(), ("offset", next));
    let mut page = result_page(params, found.tokens, token.as_deref(), "chunks", left);
    page.is_cut = found.is_divided;
    let chunks = found.iter().map(|chunk| {
        let location = PartLocation::of(chunk.part.as_ref().filter(|_| has_facts));
        Chunk {
            chunk_id: id(chunk),
            content: &chunk.text,
            metadata: ChunkMetadata {
                start_line: chunk.at.lines.first,
                end_line: chunk.at.lines.last,
                page: location.page,
                sheet: location.sheet.map(str::to_owned),
                slide: location.slide,
                section: section(chunk),
            },
        }
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
fn metadata(cx: &Context<'_>, part: &Part<'_>, document: &DocumentInfo) -> ToolResponse {
    let stated = |key: &str| {
        let mut all = document.metadata.iter();
        all.find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    };
    let count = |kind: PartKind| (document.part_kind == Some(kind)).then_some(document.parts);
    let metadata = Metadata {
        title: non_empty(&document.title),
        author: stated("author"),
        created: stated("created").or_else(|| stated("date")),
        modified: stated("modified"),
        pages: count(PartKind::Page),
        sheets: count(PartKind::Sheet),
        slides: count(PartKind::Slide),
        updated: time::rfc3339(updated_ms(document)),
        document_type: &document.file_type,
        size: document.size_bytes,
        tags: (!document.tags.is_empty()).then_some(&document.tags),
        mime_type: file_types::mime(&document.file_type),
        chunks: document.chunks,
        language: non_empty(&document.language),
    };
    let mut warnings = cx.warnings.clone();
    if !part.is_whole() {
        let what = part.section.map_or("lines", |_| "section");
        warnings.push(format!(
            "{what} ignored: format=metadata is about the whole document"
        ));
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

#[cfg(test)]
mod tests;
