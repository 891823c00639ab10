//! `kb get --format metadata`: prints the stored facts about a document, without its text.

use kb_engine::{DocumentInfo, PartKind, file_types};
use kb_json::{created, stated};

use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{bytes, count, time};

/// Prints one JSON object, or one line per fact.
pub(super) fn print(
    document: &DocumentInfo,
    is_json: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if is_json {
        return output.json(kb_json::metadata(document));
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

/// Metadata keys that are printed under a label of their own.
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
