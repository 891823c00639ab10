//! How long the arguments of tools may be: one table, published with the schemas and enforced before
//! anything is looked up.
//!
//! A look-up costs the length of what is looked for, some of them for each of many thousand names, and
//! none can be cancelled; so what is longer than anything it could name is refused first.

use serde_json::Value;

use crate::options::NAME_LIMIT;
use crate::response::Object;

/// Characters of the name of a document, or of a folder: as many as the longest path has bytes that a
/// .kb can hold.
pub(crate) const DOCUMENT_LIMIT: usize = 16 << 10;

/// Bytes of an address, and of what is typed of one: addresses are looked up, repeated, and kept by
/// who subscribes. A document with a longer one is read by its handle.
pub(crate) const ADDRESS_LIMIT_BYTES: usize = 4096;

/// Characters of a question: four times of what is searched, which a warning says of longer ones.
const QUERY_LIMIT: usize = 32 << 10;

/// Characters of a list in one text: of languages, or of pages.
const LIST_LIMIT: usize = 1024;

/// Characters of a tag; the engine takes no longer ones.
const TAG_LIMIT: usize = 64;

/// Tags of a document; the engine keeps no more.
const TAGS_LIMIT: usize = 1000;

/// Characters of each argument that is a text and has no list of values. `content` of an upload is not
/// here: its bytes count, and FILE_TOO_LARGE says how many there may be.
const LENGTHS: &[(&str, usize)] = &[
    // The longest that the engine looks at.
    ("continuation_token", 20_000),
    ("doc_handle", DOCUMENT_LIMIT),
    ("document_id", DOCUMENT_LIMIT),
    // Its bytes are counted too.
    ("fileName", 1024),
    // Names of types are short words.
    ("filters.fileType", 64),
    ("filters.folder", DOCUMENT_LIMIT),
    ("filters.tag", TAG_LIMIT),
    ("folder", DOCUMENT_LIMIT),
    ("index_name", NAME_LIMIT),
    ("language", LIST_LIMIT),
    // Two names of at most 127 characters (RFC 6838).
    ("mimeType", 255),
    ("page_range", LIST_LIMIT),
    // The longest that Linux and macOS take.
    ("path", 4096),
    ("query", QUERY_LIMIT),
    // A number, or a heading; one with a longer title has a number.
    ("section", 1024),
    ("tags", TAG_LIMIT),
    ("text", 8000),
];

/// Most values of each argument that is a list.
const COUNTS: &[(&str, usize)] = &[("tags", TAGS_LIMIT)];

/// The tools with the limits in the schemas of their arguments.
pub(super) fn stated(mut tools: Vec<Object>) -> Vec<Object> {
    for tool in &mut tools {
        if let Some(schema) = tool.get_mut("inputSchema") {
            state(schema, "");
        }
    }
    tools
}

fn state(schema: &mut Value, above: &str) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let name = format!("{above}{name}");
        let of = |table: &[(&str, usize)]| {
            let found = table.iter().find(|(argument, _)| *argument == name);
            found.map(|(_, limit)| Value::from(*limit))
        };
        if let (Some(property), Some(most)) = (property.as_object_mut(), of(COUNTS)) {
            property.insert("maxItems".to_owned(), most);
        }
        let text = match property.get("type").and_then(Value::as_str) {
            Some("array") => property.get_mut("items"),
            Some("string") if property.get("enum").is_none() => Some(&mut *property),
            _ => None,
        };
        let text = text.and_then(Value::as_object_mut);
        if let (Some(text), Some(most)) = (text, of(LENGTHS)) {
            text.insert("maxLength".to_owned(), most);
        }
        state(property, &format!("{name}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text without a limit is work without a limit.
    #[test]
    fn every_text_that_a_client_gives_has_a_limit() {
        fn check(tool: &str, schema: &Value, above: &str, used: &mut Vec<String>) {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let name = format!("{above}{name}");
                let text = match property["type"].as_str() {
                    Some("array") => {
                        assert!(property["maxItems"].is_u64(), "{tool} {name}");
                        Some(&property["items"])
                    }
                    Some("string") if property.get("enum").is_none() => Some(property),
                    _ => None,
                };
                if let Some(text) = text.filter(|_| name != "content") {
                    assert!(text["maxLength"].is_u64(), "{tool} {name}");
                    used.push(name.clone());
                }
                check(tool, property, &format!("{name}."), used);
            }
        }
        let mut used = Vec::new();
        for tool in super::super::all() {
            let name = super::super::name(tool);
            check(name, &tool["inputSchema"], "", &mut used);
        }
        for (name, _) in LENGTHS.iter().chain(COUNTS) {
            assert!(used.iter().any(|used| used == name), "{name}");
        }
    }
}
