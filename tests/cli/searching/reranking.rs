//! `--rerank`: a cross-encoder orders the first results anew. That of `corpus/models` counts the word "yes".

use std::path::Path;

use serde_json::Value;

use crate::mcp::client::Client;
use crate::support::{Folder, Outcome, run};

/// `harbour.kb` with a document that says yes to a query that it is not the best for; and the flag.
fn with_model() -> (Folder, String) {
    let folder = Folder::with_corpus();
    folder.write(
        "harbour/z.md",
        "Somebody asked about the wick of the lamp. The keeper said yes, yes.\n",
    );
    folder.kb("index harbour -o harbour.kb").expect(0);
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/models/cross-encoder");
    let model = model.canonicalize().unwrap();
    (folder, format!("onnx:{}", model.display()))
}

fn kb(folder: &Folder, words: &[&str]) -> Outcome {
    run(folder.command().args(words))
}

fn lines(folder: &Folder, flags: &[&str]) -> Vec<Value> {
    let mut words = vec!["search", "trim the wick", "--json", "-k", "2"];
    words.extend(flags);
    let found = kb(folder, &words).expect(0).json_lines();
    let is_hit = |line: &Value| line["document"].is_string();
    found.into_iter().filter(is_hit).collect()
}

#[test]
fn a_cross_encoder_orders_the_first_results() {
    let (folder, model) = with_model();
    let plain = lines(&folder, &[]);
    assert_eq!(plain[0]["document"], "docs/guide.md");
    let reranked = lines(&folder, &["--rerank", &model]);
    assert_eq!(reranked[0]["document"], "z.md");
    assert_eq!(reranked[1]["document"], "docs/guide.md");
    assert_eq!(reranked[1]["score"], plain[0]["score"]);
    let one = lines(&folder, &["--rerank", &model, "--rerank-top", "1"]);
    assert_eq!(one[0]["document"], "docs/guide.md");
    let query = ["search", "trim the wick", "--explain", "--rerank", &model];
    let told = folder.kb(query).expect(0);
    told.stdout_has("reranker +2.0000");
    told.stderr_has(", rerank ");
}

#[test]
fn what_is_no_cross_encoder_is_refused() {
    let (folder, model) = with_model();
    let refused = |flags: &[&str], code: &str, part: &str| {
        let mut words = vec!["search", "wick"];
        words.extend(flags);
        let told = kb(&folder, &words).expect(2);
        assert_eq!(told.error_code(), code);
        told.stderr_has(part);
    };
    for name in ["builtin", "nobody", "openai:m@http://localhost:1"] {
        refused(
            &["--rerank", name, "--json"],
            "INVALID_ARGUMENT",
            "--rerank: ",
        );
    }
    let missing = ["--rerank", "onnx:harbour", "--json"];
    refused(&missing, "EMBEDDING_MODEL_UNAVAILABLE", "model.onnx");
    let sorted = ["--rerank", &model, "--sort", "path", "--json"];
    refused(&sorted, "INVALID_ARGUMENT", "rerank");
    folder
        .kb(["search", "wick", "--rerank", &model, "--rerank-top", "101"])
        .expect(2)
        .stderr_has("1 to 100");
}

#[test]
fn a_server_orders_what_its_clients_find() {
    let (folder, model) = with_model();
    let best = |arguments: &[&str]| {
        let mut client = Client::stdio(&folder, arguments);
        let found = client.tool("search", serde_json::json!({"query": "trim the wick"}));
        found["data"]["results"][0]["document_id"].clone()
    };
    assert_eq!(best(&["harbour.kb"]), "docs/guide.md");
    assert_eq!(best(&["harbour.kb", "--rerank", &model]), "z.md");
    let top = ["harbour.kb", "--rerank", &model, "--rerank-top", "1"];
    assert_eq!(best(&top), "docs/guide.md");
    // The entry of a client starts the server so.
    let told = folder.kb([
        "mcp",
        "harbour.kb",
        "--rerank",
        &model,
        "--print-config",
        "claude",
    ]);
    let told = told.expect(0);
    told.stdout_has("--rerank-top");
    told.stdout_has("cross-encoder");
    let missing = folder.kb(["mcp", "harbour.kb", "--rerank", "onnx:none"]);
    missing.expect(2).stderr_has("--rerank: ");
}
