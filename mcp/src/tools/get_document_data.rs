//! `get_document_data`: the text of a document, its chunks, or what is known of it.

use kb_engine::{ChunkText, Cursor, DocumentInfo, DocumentText, Lines, PageOptions, file_types};
use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::budget::{self, Attempt};
use super::call::{Call, resolve};
use crate::indexes::{Index, updated_ms};
use crate::response::envelope::Part;
use crate::response::{Text, ToolError, ToolResponse, object, time};

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let name = arguments.required_text("document_id");
    let (index, document) = resolve::document(call, arguments, name)?;
    let section = arguments.text("section");
    match arguments.text("format") {
        Some("metadata") => Ok(metadata(arguments, &document, section)),
        Some("chunks") => budget::fit(arguments.max_tokens(), |budget| {
            chunks(
                arguments,
                &index,
                &document,
                section,
                &arguments.page(budget),
            )
        }),
        _ => budget::fit(arguments.max_tokens(), |budget| {
            raw(
                arguments,
                &index,
                &document,
                section,
                &arguments.page(budget),
            )
        }),
    }
}

fn part<'p>(
    arguments: &Arguments,
    tokens: u64,
    next: Option<&'p Cursor>,
    items: &'static str,
) -> Part<'p> {
    Part {
        tokens,
        max_tokens: arguments.max_tokens().into(),
        token: next.map(Cursor::as_str),
        is_continued: arguments.is_continued(),
        whole: "SUCCESS",
        items,
        ..Part::default()
    }
}

/// Text, up to the end of a line where one fits.
fn raw(
    arguments: &Arguments,
    index: &Index,
    document: &DocumentInfo,
    section: Option<&str>,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let found: DocumentText = match section {
        None => index.kb().text_paged(&document.path, None, page)?,
        Some(section) => index.kb().section_text(&document.path, section, page)?,
    };
    let next = found.next.as_ref();
    let given = next.and_then(|cursor| cursor.offset().ok());
    // How long a section is, is not known here.
    let given = given.filter(|_| section.is_none());
    let left = given.map(|given| found.document.text_bytes.saturating_sub(given).div_ceil(4));
    let part = Part {
        left,
        ..part(arguments, found.tokens, next, "text")
    };
    let warnings = arguments.warnings();
    let structured = part.around(object(json!({"content": found.text})), &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(source(&document.path, found.lines));
    text.passage(&found.text);
    let text = text.envelope(&structured);
    Ok(Attempt {
        can_shrink: found.text.len() > 1,
        tokens: found.tokens,
        answer: ToolResponse { structured, text },
    })
}

fn chunks(
    arguments: &Arguments,
    index: &Index,
    document: &DocumentInfo,
    section: Option<&str>,
    page: &PageOptions,
) -> Result<Attempt, ToolError> {
    let found = index.kb().chunks(&document.path, section, page)?;
    let last = found.last().filter(|_| section.is_none());
    let left = last.map(|last| {
        document
            .text_bytes
            .saturating_sub(last.at.span.end.into())
            .div_ceil(4)
    });
    let part = Part {
        left,
        ..part(arguments, found.tokens, found.next.as_ref(), "chunks")
    };
    let id = |chunk: &ChunkText| format!("{}#{}", document.path, chunk.index);
    let named =
        |chunk: &ChunkText| super::call::non_empty(&chunk.section.join(" > ")).map(str::to_owned);
    let shown: Vec<Value> = found
        .iter()
        .map(|chunk| {
            json!({
                "chunk_id": id(chunk),
                "content": chunk.text,
                "metadata": {
                    "start_line": chunk.at.lines.first,
                    "end_line": chunk.at.lines.last,
                    "section": named(chunk),
                },
            })
        })
        .collect();
    let warnings = arguments.warnings();
    let structured = part.around(object(json!({"chunks": shown})), &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    for chunk in &found {
        text.line(format!(
            "{}  {}",
            id(chunk),
            source(&document.path, chunk.at.lines)
        ));
        text.facts(&[("section", Some(&named(chunk).unwrap_or_default()))]);
        text.passage(&chunk.text);
    }
    if found.is_empty() {
        text.line("No chunks.");
    }
    let text = text.envelope(&structured);
    Ok(Attempt {
        can_shrink: found.len() > 1,
        tokens: found.tokens,
        answer: ToolResponse { structured, text },
    })
}

/// What is known of it; small, so no budget cuts it.
fn metadata(arguments: &Arguments, document: &DocumentInfo, section: Option<&str>) -> ToolResponse {
    let stated = |key: &str| {
        let mut all = document.metadata.iter();
        all.find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    };
    let updated = time::rfc3339(updated_ms(document));
    let mime = file_types::mime(&document.file_type);
    let known = object(json!({
        "title": super::call::non_empty(&document.title),
        "author": stated("author"),
        "created": stated("date"),
        "updated": updated,
        "document_type": file_types::short(&document.file_type),
        "size": document.size_bytes,
        "tags": (!document.tags.is_empty()).then_some(&document.tags),
        "mime_type": mime,
        "chunks": document.chunks,
        "language": super::call::non_empty(&document.language),
    }));
    let mut warnings = arguments.warnings();
    if section.is_some() {
        warnings.push("section ignored: format=metadata is about the whole document".to_owned());
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(&document.path);
    for (name, value) in &known {
        let value = match value {
            Value::String(word) => word.clone(),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                words.join(", ")
            }
            other => other.to_string(),
        };
        text.line(format!("{name}: {value}"));
    }
    let part = Part {
        tokens: Value::Object(known.clone()).to_string().len().div_ceil(4) as u64,
        max_tokens: u64::MAX,
        whole: "SUCCESS",
        ..Part::default()
    };
    let structured = part.around(object(json!({"metadata": known})), &warnings);
    let text = text.envelope(&structured);
    ToolResponse { structured, text }
}

/// The line that says where a passage stands; an empty document has no lines.
fn source(path: &str, lines: Lines) -> String {
    match lines.first {
        0 => path.to_owned(),
        first => format!("{path}:{first}-{}", lines.last),
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::testing::Fixture;
    use serde_json::json;

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
    fn chunks_have_ids_and_places() {
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
    fn what_is_known_comes_without_the_text() {
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
    fn the_rest_of_a_text_can_be_asked_for_at_once() {
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
