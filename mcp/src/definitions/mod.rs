//! What is advertised: the definitions of the tools, what a host tells a model of the server, and the
//! reference page made from both. Data; no file is asked.

mod instructions;
pub(crate) mod limits;
mod not_yet;
mod reference;

use std::sync::OnceLock;

use serde_json::Value;

pub(crate) use instructions::instructions;
pub use reference::reference;

use crate::response::Object;

/// The decided surface, also of what is not served yet.
const TOOLS: &str = include_str!("../../data/tools.json");

/// All tools that are served, sorted by name.
fn all() -> &'static [Object] {
    static ALL: OnceLock<Vec<Object>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut tools = limits::stated(not_yet::without(parsed(TOOLS, "tools")));
        tools.sort_by(|a, b| name(a).cmp(name(b)));
        tools
    })
}

/// The objects of a list in data of ours; none of what is no object.
fn parsed(data: &str, key: &str) -> Vec<Object> {
    let mut data: Value = serde_json::from_str(data).unwrap_or_default();
    let list = data.get_mut(key).map(Value::take).unwrap_or_default();
    let list = match list {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    let objects = list.into_iter().filter_map(|one| match one {
        Value::Object(object) => Some(object),
        _ => None,
    });
    objects.collect()
}

fn name(tool: &Object) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// The definitions as published, sorted by name; those that write only where writing is allowed.
pub(crate) fn definitions(allow_write: bool) -> Vec<Object> {
    let shown = all().iter().filter(|tool| allow_write || !writes(tool));
    shown.cloned().collect()
}

/// The definition of one tool, whether writing is allowed or not.
pub(crate) fn definition(name: &str) -> Option<&'static Object> {
    let all = all();
    let place = all.binary_search_by(|tool| self::name(tool).cmp(name));
    all.get(place.ok()?)
}

/// Whether a tool changes a file.
pub(crate) fn writes(tool: &Object) -> bool {
    let hint = tool
        .get("annotations")
        .and_then(|hints| hints.get("readOnlyHint"));
    hint.and_then(Value::as_bool) == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_tools_are_shown_only_where_writing_is_allowed() {
        let names = |allow_write| -> Vec<String> {
            let tools = definitions(allow_write);
            tools.iter().map(|tool| name(tool).to_owned()).collect()
        };
        let (read, all) = (names(false), names(true));
        assert_eq!((read.len(), all.len()), (13, 16));
        assert!(all.is_sorted());
        let write: Vec<_> = all.iter().filter(|name| !read.contains(name)).collect();
        assert_eq!(write, ["clear_index", "index_codebase", "upload_document"]);
        for name in all {
            assert_eq!(definition(&name).unwrap()["name"], name);
        }
        assert_eq!(definition("get_slides"), None);
    }

    #[test]
    fn nothing_is_promised_that_is_not_there() {
        let told = Value::Array(definitions(true).into_iter().map(Value::Object).collect());
        let told = told.to_string().to_lowercase();
        for absent in [
            "regex",
            "sheet",
            "slide",
            "pdf",
            "office",
            "symbol",
            "bookmark",
            "smart_context",
        ] {
            assert!(!told.contains(absent), "{absent}");
        }
    }

    #[test]
    fn the_definitions_are_those_that_were_decided() {
        let decided = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/mcp");
        for (name, ours) in [
            ("tools.json", TOOLS),
            ("examples.json", include_str!("../../data/examples.json")),
        ] {
            match std::fs::read_to_string(decided.join(name)) {
                Ok(decided) => assert!(decided == ours, "{name} differs"),
                Err(_) => println!("skipped: {name} is not there to be compared with"),
            }
        }
    }
}
