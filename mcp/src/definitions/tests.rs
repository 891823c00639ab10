use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::tools::testing::schema::unportable;

fn name(tool: &Object) -> &str {
    tool["name"].as_str().unwrap()
}

#[test]
fn write_tools_need_allow_write() {
    let names = |allow_write| -> Vec<String> {
        let tools = definitions(allow_write);
        tools.iter().map(|tool| name(tool).to_owned()).collect()
    };
    let (read, all) = (names(false), names(true));
    assert_eq!((read.len(), all.len()), (18, 21));
    assert!(all.is_sorted());
    let write: Vec<_> = all.iter().filter(|name| !read.contains(name)).collect();
    assert_eq!(write, ["clear_index", "index_codebase", "upload_document"]);
}

/// The contract with clients: a tool, field, limit or required argument that appears, changes or disappears fails
/// here, until `cargo xtask docs --write` rewrites the file and its diff shows the change.
#[test]
fn committed_tools_are_those_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools.json");
    let derived = format!("{:#}\n", json!({"tools": definitions(true)}));
    if std::env::var_os("KB_WRITE_DOCS").is_some() {
        std::fs::write(&path, &derived).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == derived,
        "mcp/data/tools.json is stale: run cargo xtask docs --write"
    );
}

#[test]
fn schemas_are_portable() {
    for tool in definitions(true) {
        for (schema, is_input) in [("inputSchema", true), ("outputSchema", false)] {
            let wrong = unportable(&tool[schema], name(&tool), is_input);
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    }
}

/// A text without a limit is work without a limit.
#[test]
fn every_text_of_a_client_has_a_limit() {
    for tool in definitions(true) {
        assert_limited(&tool["inputSchema"], name(&tool));
    }
}

fn assert_limited(schema: &Value, place: &str) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place} {name}");
        let text = match property["type"].as_str() {
            Some("array") => {
                assert!(property["maxItems"].is_u64(), "{place}");
                Some(&property["items"]).filter(|items| items["type"] != "number")
            }
            Some("string") if property.get("enum").is_none() => Some(property),
            _ => None,
        };
        // The bytes of an upload are limited instead.
        if let Some(text) = text.filter(|_| name != "content") {
            assert!(text["maxLength"].is_u64(), "{place}");
        }
        assert_limited(property, &place);
    }
}
