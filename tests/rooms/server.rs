//! The rooms of the MCP server, from the door down.

use super::crate_paths;

/// A room and those that it may import beside itself.
const ROOMS: [(&str, &[&str]); 12] = [
    ("options", &[]),
    ("faults", &[]),
    ("hosts", &["options"]),
    ("tokens", &["options"]),
    ("limits", &["options"]),
    ("response", &[]),
    ("indexes", &["options", "response"]),
    // `options` for its tests, which open files as the server does.
    (
        "tools",
        &["options", "faults", "limits", "response", "indexes"],
    ),
    ("definitions", &["response", "tools"]),
    ("content", &["limits", "response", "indexes"]),
    (
        "transport",
        &[
            "options",
            "limits",
            "response",
            "definitions",
            "indexes",
            "tools",
            "content",
            "tokens",
            "conformance",
        ],
    ),
    ("conformance", &["response"]),
];

/// What is wrong with the imports of one file of the server.
pub(super) fn complaints(file: &str, module: &[&str], words: &[&str]) -> Vec<String> {
    let Some((room, may_use)) = ROOMS.iter().find(|(room, _)| module.first() == Some(room)) else {
        return vec![format!(
            "{file}: lies in no room; LAYOUT and this test name them all"
        )];
    };
    let mut complaints = Vec::new();
    for path in crate_paths(words, module) {
        let Some(other) = path.first().map(String::as_str) else {
            continue;
        };
        if other != *room && !may_use.contains(&other) {
            complaints.push(format!(
                "{file}: {room} may not use {other}: crate::{}",
                path.join("::")
            ));
        }
    }
    complaints
}

#[test]
fn an_upward_or_sideways_use_in_the_server_is_found() {
    let told = |file: &str, source: &str| super::complaints(&format!("mcp/src/{file}"), source);
    for (file, source) in [
        ("response/text.rs", "use crate::tools::call;"),
        ("response/text.rs", "use super::super::indexes::Index;"),
        ("indexes/mod.rs", "use crate::definitions::definitions;"),
        ("tools/search.rs", "use crate::transport::executor;"),
        ("tools/search.rs", "use tokio::sync::watch;"),
        ("content/mod.rs", "use crate::tools::call;"),
        ("tokens/store.rs", "use hyper::Request;"),
        ("conformance/mod.rs", "use crate::tools::call;"),
        ("other/mod.rs", ""),
    ] {
        assert_eq!(told(file, source).len(), 1, "{file}: {source}");
    }
    for (file, source) in [
        (
            "tools/search.rs",
            "use crate::response::ToolResponse; use super::call;",
        ),
        (
            "transport/http/middleware.rs",
            "use hyper::Request; use crate::tokens::Tokens;",
        ),
        ("lib.rs", "pub use transport::serve_stdio;"),
    ] {
        assert!(told(file, source).is_empty(), "{file}: {source}");
    }
}
