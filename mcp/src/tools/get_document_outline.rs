//! `get_document_outline`: the headings of a document, without its content.

use kb_engine::{Class, Cursor, DocumentSections, Section, file_types};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, resolve};
use crate::response::envelope::continuation;
use crate::response::{Text, ToolError, ToolResponse, insert_warnings, object, time};

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let name = arguments.required_text("document_id");
    let (index, document) = resolve::document(call, arguments, name)?;
    budget::fit(arguments.max_tokens(), |budget| {
        let page = arguments.page(budget);
        let found = index.kb().sections(&document.path, &page)?;
        Ok(Attempt {
            can_shrink: found.sections.len() > 1,
            tokens: found.sections.tokens,
            answer: answer(arguments, &found),
        })
    })
}

fn answer(arguments: &Arguments, outline: &DocumentSections) -> ToolResponse {
    let document = &outline.document;
    let kind = match document.class {
        Class::Code => "code",
        _ => file_types::short(&document.file_type),
    };
    let size = time::size(document.size_bytes);
    let token = outline.sections.next.as_ref().map(Cursor::as_str);
    let headings: Vec<Value> = outline.sections.iter().map(heading).collect();
    let warnings = arguments.warnings();
    let mut structured = object(json!({
        "document_id": document.path,
        "title": super::call::non_empty(&document.title),
        "type": kind,
        "file_size": size,
        "file_size_bytes": document.size_bytes,
        "total_lines": document.lines,
        "headings": headings,
        "continuation": continuation(token),
    }));
    insert_warnings(&mut structured, &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(format!("{}  {}", document.path, document.title));
    text.facts(&[
        ("type", Some(&kind)),
        ("size", Some(&size)),
        ("bytes", Some(&document.size_bytes)),
        ("lines", Some(&document.lines)),
    ]);
    for section in &outline.sections {
        text.line(format!(
            "{} {}  level {}, lines {}-{}",
            section.number, section.title, section.level, section.lines.first, section.lines.last
        ));
    }
    if outline.sections.is_empty() {
        text.line("No headings.");
    }
    let text = text.going_on("There is more", token);
    ToolResponse { structured, text }
}

fn heading(section: &Section) -> Value {
    json!({
        "title": section.title,
        "level": section.level,
        "section": section.number,
        "start_line": section.lines.first,
        "end_line": section.lines.last,
    })
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use serde_json::json;

    #[test]
    fn headings_come_with_what_to_fetch_them_by() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("get_document_outline", json!({"document_id": "sails.md"}));
        let outline = &answer.structured;
        assert_eq!(
            (&outline["type"], &outline["total_lines"]),
            (&json!("md"), &json!(11))
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
        let code = fixture.answer("get_document_outline", json!({"document_id": "src/rig.rs"}));
        assert_eq!(code.structured["type"], "code");
        assert_eq!(code.structured["continuation"], json!({"has_more": false}));
    }

    #[test]
    fn a_long_outline_comes_in_parts() {
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
