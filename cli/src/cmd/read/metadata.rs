//! `kb get --format metadata`: what the file records about a document, without its text.

use kb_engine::{DocumentInfo, PartKind, file_types};

use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, count, time};
use crate::output::json::Object;

/// Prints one object, or a line a fact.
pub(super) fn print(
    document: &DocumentInfo,
    is_json: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if is_json {
        return output.json(object(document));
    }
    let path = output.name(&document.path).into_owned();
    output.line(&output.stdout_style().path(&path))?;
    for (name, value) in facts(document) {
        if !value.is_empty() {
            output.line(&format!("  {name:<10}  {}", output.name(&value)))?;
        }
    }
    Ok(())
}

/// What the document states about itself under that key.
fn stated<'d>(document: &'d DocumentInfo, key: &str) -> Option<&'d str> {
    let found = document.metadata.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

/// When it was made, as it states.
fn created(document: &DocumentInfo) -> Option<&str> {
    stated(document, "created").or_else(|| stated(document, "date"))
}

/// Facts that have a name of their own, by their keys.
const NAMED: [&str; 5] = ["author", "created", "date", "modified", "pages"];

fn facts(document: &DocumentInfo) -> Vec<(&str, String)> {
    let of_document = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let parts = document.part_kind.map(PartKind::plural);
    let mut facts = vec![
        ("title", document.title.clone()),
        ("author", of_document(stated(document, "author"))),
        ("created", of_document(created(document))),
        ("modified", of_document(stated(document, "modified"))),
        ("type", document.file_type.clone()),
        (
            "MIME type",
            file_types::mime(&document.file_type).to_owned(),
        ),
        ("language", document.language.clone()),
        ("class", document.class.name().to_owned()),
        (
            parts.unwrap_or_default(),
            parts.map_or_else(String::new, |_| count(document.parts.into())),
        ),
        ("size", bytes(document.size_bytes)),
        ("lines", count(document.lines.into())),
        ("chunks", count(document.chunks.into())),
        ("tags", document.tags.join(" ")),
        ("handle", document.handle.clone()),
        (
            "file time",
            if document.modified_ms == 0 {
                String::new()
            } else {
                time(document.modified_ms)
            },
        ),
        ("added", time(document.added_ms)),
    ];
    let others = document.metadata.iter();
    let others = others.filter(|(name, _)| !NAMED.contains(&name.as_str()));
    facts.extend(others.map(|(name, value)| (name.as_str(), value.clone())));
    facts
}

fn object(document: &DocumentInfo) -> Object {
    let mut object = Object::new()
        .field("document", &*document.path)
        .field("handle", &*document.handle)
        .field("title", &*document.title)
        .field("author", stated(document, "author"))
        .field("created", created(document))
        .field("modified", stated(document, "modified"))
        .field("file_type", &*document.file_type)
        .field("mime_type", file_types::mime(&document.file_type))
        .field("language", &*document.language)
        .field("class", document.class.name())
        .field("tags", document.tags.clone());
    if let Some(kind) = document.part_kind {
        object = object.field(kind.plural(), document.parts);
    }
    let stated = document.metadata.iter();
    let stated = stated.fold(Object::new(), |object, (name, value)| {
        object.field(name, &**value)
    });
    object
        .field("size_bytes", document.size_bytes)
        .field("file_size", bytes(document.size_bytes))
        .field("text_bytes", document.text_bytes)
        .field("lines", document.lines)
        .field("chunks", document.chunks)
        .field("modified_ms", document.modified_ms)
        .field("added_ms", document.added_ms)
        .object("metadata", stated)
}
