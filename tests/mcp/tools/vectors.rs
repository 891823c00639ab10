//! Searches by a vector of another model.

use serde_json::json;

use crate::mcp::client::Client;
use crate::support::Folder;

/// `harbour.kb` with the column `own`, in which each document has a direction of its own.
fn with_vectors() -> Folder {
    let folder = Folder::indexed();
    let rows = [
        ("notes.txt", [1.0, 0.0, 0.0]),
        ("src/buoy.py", [0.0, 1.0, 0.0]),
        ("src/tide.rs", [0.0, 0.0, 1.0]),
    ];
    let line = |(document, vector)| json!({"document": document, "chunk": 0, "vector": vector});
    let lines: Vec<String> = rows.map(line).iter().map(ToString::to_string).collect();
    folder.write("own.jsonl", lines.join("\n"));
    folder.kb("import vectors harbour.kb own.jsonl").expect(0);
    folder
}

#[test]
fn search_takes_a_vector_with_words_and_without() {
    let folder = with_vectors();
    let mut client = Client::stdio(&folder, &["harbour.kb"]);
    let mut best = |arguments: serde_json::Value| {
        let found = client.tool("search", arguments);
        let id = found["data"]["results"][0]["document_id"].as_str();
        id.unwrap_or_else(|| panic!("{found:#}")).to_owned()
    };
    let column = "own";
    let given = json!({"query": "", "vector": [0.1, 1, 0], "vector_column": column});
    assert_eq!(best(given), "src/buoy.py");
    // Models write lists as texts, and numbers too.
    let given = json!({"query": "", "vector": "[0, \"0.2\", 1]", "vector_column": column});
    assert_eq!(best(given), "src/tide.rs");
    let given = json!({"query": "paraffin storms", "vector": [1, 0, 0], "vector_column": column});
    assert_eq!(best(given), "notes.txt");
    folder.kb("vectors harbour.kb --default own").expect(0);
    assert_eq!(
        best(json!({"query": "", "vector": [0, 1, 0]})),
        "src/buoy.py"
    );
}

#[test]
fn a_vector_that_does_not_fit_is_refused() {
    let folder = with_vectors();
    let mut client = Client::stdio(&folder, &["harbour.kb"]);
    for (arguments, part) in [
        (
            json!({"query": "", "vector": [1, 0], "vector_column": "own"}),
            "3",
        ),
        (
            json!({"query": "", "vector": [0, 0, 0], "vector_column": "own"}),
            "are 0",
        ),
        (
            json!({"query": "", "vector": [1, 0, "x"], "vector_column": "own"}),
            "a number",
        ),
        (
            json!({"query": "", "vector": "x", "vector_column": "own"}),
            "a list of numbers",
        ),
        (
            json!({"query": "", "vector": vec![0.5; 4097]}),
            "at most 4096",
        ),
        (
            json!({"query": "", "vector": [1, 0, 0], "vector_column": "owl"}),
            "owl",
        ),
        (
            json!({"query": "", "vector": [1e300, 0, 0], "vector_column": "own"}),
            "finite",
        ),
        (
            json!({"query": "lamp", "vector": [1, 0, 0], "vector_column": "own", "mode": "keyword"}),
            "vector",
        ),
        (json!({"query": "lamp", "vector_column": "own"}), "vector"),
        (json!({"query": ""}), "empty"),
    ] {
        let text = client.error("search", arguments.clone());
        assert!(
            text.contains("INVALID_ARGUMENT") && text.contains(part),
            "{arguments}: {text}"
        );
    }
}
