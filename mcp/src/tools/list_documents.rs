//! `list_documents`: the documents in a folder.

use kb_engine::{Cursor, DocumentInfo, Paged, file_types};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, resolve};
use crate::indexes::updated_ms;
use crate::response::envelope::Part;
use crate::response::{Text, ToolError, ToolResponse, object, time};

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let index = resolve::one(call, arguments)?;
    let folder = arguments.text("folder");
    let recursive = arguments.flag("recursive").unwrap_or(false);
    budget::fit(arguments.max_tokens(), |budget| {
        let page = arguments.page(budget);
        let documents = index.kb().documents(folder, recursive, &page)?;
        Ok(Attempt {
            can_shrink: documents.len() > 1,
            tokens: documents.tokens,
            answer: answer(arguments, &documents),
        })
    })
}

fn answer(arguments: &Arguments, documents: &Paged<DocumentInfo>) -> ToolResponse {
    let part = Part {
        tokens: documents.tokens,
        max_tokens: arguments.max_tokens().into(),
        token: documents.next.as_ref().map(Cursor::as_str),
        is_continued: arguments.is_continued(),
        whole: "SUCCESS",
        items: "documents",
        ..Part::default()
    };
    let shown: Vec<Value> = documents.iter().map(entry).collect();
    let warnings = arguments.warnings();
    let structured = part.around(object(json!({"documents": shown})), &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    for document in documents {
        text.line(format!("{}  {}", document.path, document.title));
        text.facts(&[
            ("modified", Some(&day(document))),
            ("handle", Some(&document.handle)),
            ("bytes", Some(&document.size_bytes)),
            ("type", Some(&file_types::short(&document.file_type))),
        ]);
    }
    if documents.is_empty() {
        text.line(match arguments.flag("recursive") {
            Some(true) => "No documents in this folder or below it.",
            _ => "No documents directly in this folder; recursive=true lists those below it.",
        });
    }
    let text = text.envelope(&structured);
    ToolResponse { structured, text }
}

fn entry(document: &DocumentInfo) -> Value {
    let name = document.path.rsplit('/').next().unwrap_or(&document.path);
    json!({
        "name": name,
        "document_id": document.path,
        "modified": day(document),
        "doc_handle": document.handle,
        "title": super::call::non_empty(&document.title),
        "size": document.size_bytes,
        "type": file_types::short(&document.file_type),
    })
}

fn day(document: &DocumentInfo) -> String {
    time::day(updated_ms(document))
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use serde_json::{Value, json};

    fn ids(answer: &crate::response::ToolResponse) -> Vec<String> {
        let documents = answer.structured["data"]["documents"].as_array().unwrap();
        let ids = documents
            .iter()
            .map(|one| one["document_id"].as_str().unwrap().to_owned());
        ids.collect()
    }

    #[test]
    fn a_folder_lists_what_is_directly_in_it_or_all_below() {
        let fixture = Fixture::guides();
        let list = |given| ids(&fixture.answer("list_documents", given));
        assert_eq!(list(json!({})), ["notes.md"]);
        assert_eq!(list(json!({"path": "logs"})), ["logs/voyage.txt"]);
        assert_eq!(list(json!({"folder": "guides"})).len(), 4);
        let all = list(json!({"folder": "guides/", "recursive": true}));
        assert_eq!(all.len(), 5);
        assert!(all.is_sorted());
        let error = fixture.error("list_documents", json!({"folder": "guide"}));
        assert_eq!(
            error.text(),
            "FOLDER_NOT_FOUND: no folder \"guide\". The nearest are guides."
        );
    }

    #[test]
    fn where_nothing_is_that_is_said() {
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
    fn a_long_list_comes_in_parts_of_the_same_folder() {
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
