use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::tools::testing::schema::unportable;

/// The whole surface that was decided, also of what is not served yet.
const PLANNED: &str = include_str!("../../data/planned.json");

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

/// `cargo xtask docs --write` writes the file anew.
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

/// Nothing is served that was not decided: every tool and every field is in the plan with the same
/// type, and no more of it is required.
#[test]
fn served_tools_are_part_of_the_plan() {
    let planned: Value = serde_json::from_str(PLANNED).unwrap();
    let planned = planned["tools"].as_array().unwrap();
    for tool in definitions(true) {
        let plan = planned.iter().find(|plan| plan["name"] == tool["name"]);
        let plan = plan.unwrap_or_else(|| panic!("{} was not planned", tool["name"]));
        for schema in ["inputSchema", "outputSchema"] {
            let place = format!("{} {schema}", name(&tool));
            assert_part_of(&tool[schema], &plan[schema], &place);
        }
        assert_eq!(tool["annotations"], plan["annotations"]);
        assert_eq!(tool.get("_meta"), plan.get("_meta"));
    }
}

fn assert_part_of(served: &Value, planned: &Value, place: &str) {
    for key in ["type", "default", "minimum", "maximum"] {
        assert_eq!(served.get(key), planned.get(key), "{place}: {key}");
    }
    for key in ["required", "enum"] {
        let of = |schema: &Value| schema[key].as_array().cloned().unwrap_or_default();
        let planned = of(planned);
        assert!(
            of(served).iter().all(|value| planned.contains(value)),
            "{place}: {key}"
        );
    }
    for (name, field) in served["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        let planned = planned["properties"].get(name);
        assert_part_of(field, planned.unwrap_or_else(|| panic!("{place}")), &place);
    }
    if let Some(items) = served.get("items") {
        assert_part_of(items, &planned["items"], &format!("{place}[]"));
    }
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
