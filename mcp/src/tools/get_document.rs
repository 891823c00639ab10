//! `get_document`: one whole document.

use serde_json::json;

use super::call::arguments::Arguments;
use super::call::{Call, resolve};
use crate::indexes::updated_ms;
use crate::response::{Text, ToolError, ToolResponse, insert_warnings, object, time, uri};

/// Bytes of a body at most.
const BODY_BYTES: usize = 819_200;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let name = arguments.required_text("doc_handle");
    let (index, document) = resolve::document(call, arguments, name)?;
    let (document, body) = index.kb().head(&document.path, BODY_BYTES)?;
    let is_truncated = (body.len() as u64) < document.text_bytes;
    let uri = uri::of_document(index.name(), &document.path);
    let updated = time::rfc3339(updated_ms(&document));
    let warnings = arguments.warnings();
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(format!("{}  {}", document.path, document.title));
    text.facts(&[
        ("handle", Some(&document.handle)),
        ("updated", Some(&updated)),
        ("bytes", Some(&document.text_bytes)),
        ("revision", Some(&document.revision)),
        ("", Some(&uri)),
    ]);
    text.passage(&body);
    if is_truncated {
        text.line(format!(
            "Cut after {} bytes: read the rest with get_pages or get_document_data.",
            body.len()
        ));
    }
    let mut structured = object(json!({
        "updated": updated,
        "full_size": document.text_bytes,
        "is_truncated": is_truncated,
        "revisionToken": document.revision,
        "doc_handle": document.handle,
        "document_id": document.path,
        "title": super::call::non_empty(&document.title),
        "uri": uri,
    }));
    structured.insert("body".to_owned(), body.into());
    insert_warnings(&mut structured, &warnings);
    let text = text.end();
    Ok(ToolResponse { structured, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn a_document_is_read_by_any_of_its_names() {
        let fixture = Fixture::guides();
        let path = "guides/ropes.md";
        let by_path = fixture.answer("get_document", json!({"doc_handle": path}));
        assert_eq!(by_path.structured["document_id"], path);
        assert_eq!(by_path.structured["is_truncated"], false);
        let body = by_path.structured["body"].as_str().unwrap();
        assert!(body.starts_with("# Ropes\n\nEvery rope"));
        assert_eq!(by_path.structured["full_size"], body.len());
        let handle = &by_path.structured["doc_handle"];
        let uri = &by_path.structured["uri"];
        for given in [
            json!({"doc_handle": handle}),
            json!({"doc_handle": uri}),
            json!({"doc_handle": "ropes.md"}),
            json!({"document_id": path, "index_name": "guides"}),
        ] {
            assert_eq!(fixture.answer("get_document", given), by_path);
        }
        let error = fixture.error("get_document", json!({"doc_handle": "guides/rope.md"}));
        assert_eq!(error.code, "DOCUMENT_NOT_FOUND");
        assert!(error.text().contains(path), "{}", error.text());
    }

    #[test]
    fn a_long_body_is_cut_at_a_character() {
        let long = "\u{4e2d}".repeat(300_000);
        let fixture = Fixture::new("long", &[("long.txt", &long)]);
        let answer = fixture.answer("get_document", json!({"doc_handle": "long.txt"}));
        let body = answer.structured["body"].as_str().unwrap();
        assert!((BODY_BYTES - 3..=BODY_BYTES).contains(&body.len()) && long.starts_with(body));
        assert_eq!(answer.structured["is_truncated"], true);
        assert_eq!(answer.structured["full_size"], 900_000);
        assert!(
            answer
                .text
                .ends_with("read the rest with get_pages or get_document_data.")
        );
    }

    #[test]
    fn another_content_has_another_revision() {
        let fixture = Fixture::new("a", &[("a.md", "one")]);
        let revision = || {
            let answer = fixture.answer("get_document", json!({"doc_handle": "a.md"}));
            answer.structured["revisionToken"].clone()
        };
        let first = revision();
        assert_eq!(revision(), first);
        let given = json!({"fileName": "a.md", "content": "two"});
        fixture.answer("upload_document", given);
        assert_ne!(revision(), first);
    }
}
