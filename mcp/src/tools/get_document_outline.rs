//! `get_document_outline`: the headings of a document, without its content.

use kb_engine::{Cursor, DocumentSections, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{
    ContinuationToken, DocumentName, IndexName, MaxTokens, SECTION_PATH, SectionName,
};
use super::call::stale;
use super::call::tool::Tool;
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, time};

pub(super) struct GetDocumentOutline;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetDocumentOutlineParams {
    document_id: DocumentName,
    section: Option<SectionName>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Outline<'a> {
    #[schemars(default)]
    document_id: &'a str,
    title: Option<&'a str>,
    /// File type: markdown, html, text, rust.
    r#type: &'a str,
    /// Human readable, e.g. 2.4MB.
    file_size: String,
    #[schemars(default)]
    file_size_bytes: u64,
    #[schemars(default)]
    total_lines: u32,
    #[schemars(default)]
    headings: Vec<Heading<'a>>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct Heading<'a> {
    title: &'a str,
    level: u32,
    /// Pass as section to get_document_data.
    section: &'a str,
    #[schemars(default)]
    start_line: u32,
    #[schemars(default)]
    end_line: u32,
}

impl Tool for GetDocumentOutline {
    const NAME: &'static str = "get_document_outline";
    const TITLE: &'static str = "Outline of a document";
    const DESCRIPTION: &'static str = "Structure of a document without its content: its headings, \
        with the numbers and lines to fetch parts. Use before reading a long document. section limits \
        it to one and those below.";
    const JOINED_LISTS: &'static [JoinedList] = SECTION_PATH;

    type Params = GetDocumentOutlineParams;
    type Output = Outline<'static>;

    fn run(cx: &Context<'_>, params: &GetDocumentOutlineParams) -> Result<ToolResponse, ToolError> {
        let index_name = params.index_name.as_deref();
        let located = cx.indexes.document(index_name, &params.document_id)?;
        let cx = &cx.with_warnings(stale::of_document(&located.index, &located.document));
        let (kb, path) = (located.index.kb(), &located.document.path);
        budget::fit(params.max_tokens.get(), |budget| {
            let page = cx.page(budget, params.continuation_token.as_deref());
            let found = match params.section.as_deref() {
                None => kb.sections(path, &page),
                Some(section) => kb.subsections(path, section, &page),
            };
            let found = found.map_err(|error| located.index.failure(error))?;
            Ok(Attempt {
                can_shrink: found.sections.len() > 1,
                tokens: found.sections.tokens,
                response: respond(cx, &found),
            })
        })
    }
}

fn respond(cx: &Context<'_>, outline: &DocumentSections) -> ToolResponse {
    let document = &outline.document;
    let size = time::size(document.size_bytes);
    let token = outline.sections.next.as_ref().map(Cursor::as_str);
    let mut text = Text::new();
    text.warnings(&cx.warnings);
    text.line(format!("{}  {}", document.path, document.title));
    text.facts(&[
        ("type", Some(&document.file_type)),
        ("size", Some(&size)),
        ("bytes", Some(&document.size_bytes)),
        ("lines", Some(&document.lines)),
    ]);
    for section in outline.sections.iter() {
        text.line(format!(
            "{} {}  level {}, lines {}-{}",
            section.number, section.title, section.level, section.lines.first, section.lines.last
        ));
    }
    if outline.sections.is_empty() {
        text.line("No headings.");
    }
    let result = Outline {
        document_id: &document.path,
        title: non_empty(&document.title),
        r#type: &document.file_type,
        file_size: size,
        file_size_bytes: document.size_bytes,
        total_lines: document.lines,
        headings: outline.sections.iter().map(heading).collect(),
        continuation: Some(Continuation::of(token)),
        warnings: Warnings::of(cx.warnings.clone()),
    };
    ToolResponse::new(&result, text.continued("There is more", token))
}

fn heading(section: &Section) -> Heading<'_> {
    Heading {
        title: &section.title,
        level: section.level.into(),
        section: &section.number,
        start_line: section.lines.first,
        end_line: section.lines.last,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn headings_have_numbers_that_fetch_them() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("get_document_outline", json!({"document_id": "sails.md"}));
        let outline = &answer.structured;
        assert_eq!(
            (&outline["type"], &outline["total_lines"]),
            (&json!("markdown"), &json!(11))
        );
        let mending = &outline["headings"][1];
        assert_eq!(
            (&mending["title"], &mending["section"]),
            (&json!("Mending"), &json!("1.1"))
        );
        let given = json!({"document_id": "sails.md", "section": mending["section"]});
        let text = fixture.answer("get_document_data", given);
        let content = text.structured["data"]["content"].as_str().unwrap();
        assert!(content.starts_with("## Mending\n"), "{content}");
        let given = json!({"document_id": "sails.md:3", "section": "Sails > Storing"});
        let one = fixture.answer("get_document_outline", given);
        assert_eq!(one.structured["headings"], json!([outline["headings"][2]]));
        let code = fixture.answer("get_document_outline", json!({"document_id": "src/rig.rs"}));
        assert_eq!(code.structured["type"], "rust");
        assert_eq!(code.structured["continuation"], json!({"has_more": false}));
    }

    #[test]
    fn a_long_outline_has_several_pages() {
        let text: String = (1..=300)
            .map(|n| format!("## Heading number {n}\n\ntext\n\n"))
            .collect();
        let fixture = Fixture::new("long", &[("long.md", &text)]);
        let (mut titles, mut parts) = (Vec::new(), 0);
        let mut given = json!({"document_id": "long.md", "max_tokens": 1000});
        loop {
            let answer = fixture.answer("get_document_outline", given);
            let headings = answer.structured["headings"].as_array().unwrap();
            titles.extend(
                headings
                    .iter()
                    .map(|one| one["title"].as_str().unwrap().to_owned()),
            );
            parts += 1;
            let Some(token) = answer.structured["continuation"].get("token") else {
                break;
            };
            given = json!({"document_id": "long.md", "continuation_token": token});
        }
        let all: Vec<String> = (1..=300).map(|n| format!("Heading number {n}")).collect();
        assert_eq!(titles, all);
        assert!(parts > 3, "{parts}");
    }
}
