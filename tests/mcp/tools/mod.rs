//! What the tools promise: the criteria of the systems that this server takes the place of, one test
//! for each row that applies now.

mod patterns;
mod vectors;

use serde_json::{Value, json};

use super::client::Client;
use super::office::{office, paths, served};
use super::schema::unportable;
use crate::support::Folder;

fn is_sorted_by_score(results: &Value) -> bool {
    let scores = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["score"].as_f64().unwrap());
    scores.rev().is_sorted_by(|a, b| a <= b)
}

#[test]
fn the_definitions_are_small_portable_and_say_what_the_tools_do() {
    let folder = office();
    for (arguments, count) in [
        (&["office.kb"][..], 18),
        (&["office.kb", "--allow-write"][..], 21),
    ] {
        let mut client = Client::stdio(&folder, arguments);
        let mut characters = 0;
        let tools = client.definitions();
        assert_eq!(tools.len(), count);
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            let description = tool["description"].as_str().unwrap();
            assert!(
                name.len() <= 20 && (20..1024).contains(&description.len()),
                "{name}"
            );
            let sent = json!({"name": name, "description": description,
                "inputSchema": tool["inputSchema"]});
            characters += sent.to_string().chars().count();
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{name}");
                let wrong = unportable(&tool[schema], name, schema == "inputSchema");
                assert!(wrong.is_empty(), "{wrong:?}");
            }
            for hint in [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ] {
                assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
            }
        }
        // 3 000 tokens as before spreadsheets and presentations had tools, 380 of the two, and some words of others
        // about them; 420 of search_regex, 320 of find_symbols, 100 of the symbols of search_code,
        // 75 of the vectors of search, 270 of the budgets and tokens of the five tools that had none.
        assert!(characters / 4 <= 4605, "{} tokens", characters / 4);
    }
}

#[test]
fn documents_are_searched_with_the_names_of_either_source() {
    let folder = office();
    let mut client = served(&folder);
    let id = client.tool("list_indexes", json!({}))["indexes"][0]["id"].take();
    let found = client.tool(
        "search_docs",
        json!({"query": "financial results of the first quarter"}),
    );
    assert!(found["searchTimeMs"].as_f64().unwrap() >= 0.0);
    let results = &found["results"];
    assert_eq!(results[0]["path"], "Finance/2024/Q1/Q1_Report.md");
    assert!(is_sorted_by_score(results));
    assert!(found["totalResults"].as_u64().unwrap() >= results.as_array().unwrap().len() as u64);
    assert!(
        paths(results, "path")
            .iter()
            .all(|path| !path.starts_with("src/")),
        "{results}"
    );
    for key in [
        "text",
        "documentTitle",
        "chunkIndex",
        "score",
        "startLine",
        "endLine",
    ] {
        assert!(!results[0][key].is_null(), "{key}: {results}");
    }
    // The spellings of the other source bring its defaults: five results, a score of a half.
    let other = client.tool(
        "search_docs",
        json!({"query": "Q1 Report quarterly financial results", "projectId": id, "topK": 2}),
    );
    assert_eq!(other["results"][0]["documentTitle"], "Q1 Report", "{other}");
    assert!(
        other["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|result| result["score"].as_f64().unwrap() >= 0.5)
    );
    let text = client.error(
        "search_docs",
        json!({"query": "x", "projectId": "00000000-0000-0000-0000-000000000000"}),
    );
    assert!(text.contains("project not found"), "{text}");
    for (top_k, is_fine) in [(1, true), (50, true), (0, false), (51, false)] {
        let arguments = json!({"query": "results", "top_k": top_k});
        if is_fine {
            assert!(
                client.tool("search_docs", arguments)["results"]
                    .as_array()
                    .unwrap()
                    .len()
                    <= top_k
            );
        } else {
            let text = client.error("search_docs", arguments);
            assert!(
                text.contains("top_k") && text.contains("1") && text.contains("50"),
                "{text}"
            );
        }
    }
}

#[test]
fn an_index_without_documents_or_without_code_says_so() {
    let folder = Folder::empty();
    folder.write("code/a.rs", "fn main() {}\n");
    folder.write("docs/a.md", "# A\n\nText.\n");
    folder.kb("index code").expect(0);
    folder.kb("index docs").expect(0);
    let mut client = Client::stdio(&folder, &["code.kb"]);
    let text = client.error("search_docs", json!({"query": "main"}));
    // What nobody can do here is no advice.
    assert!(
        text.starts_with("DOCS_INDEX_NOT_FOUND: code contains no documentation.")
            && text.contains("search_code")
            && !text.contains("index_codebase"),
        "{text}"
    );
    client.tool("search_code", json!({"query": "main"}));
    let writable = ["code.kb", "--allow-write"];
    let mut client = Client::stdio(&folder, &writable);
    let text = client.error("search_docs", json!({"query": "main"}));
    assert!(text.contains("index_codebase"), "{text}");
    let mut client = Client::stdio(&folder, &["docs.kb"]);
    let text = client.error("search_code", json!({"query": "main"}));
    assert!(text.starts_with("CODE_INDEX_NOT_FOUND: "), "{text}");
}

#[test]
fn code_is_searched_with_its_language_and_lines_around() {
    let folder = office();
    let mut client = served(&folder);
    let asked = json!({"query": "user authentication and login validation", "language": "python", "limit": 5});
    let found = client.tool("search_code", asked);
    assert_eq!(found["search_context"]["type"], "search_context");
    assert_eq!(found["search_context"]["index_name"], "office");
    let searching = folder.join("office").canonicalize().unwrap();
    assert_eq!(
        found["search_context"]["searching"],
        searching.display().to_string()
    );
    let row = &found["results"][0];
    assert_eq!(
        (&row["file_path"], &row["language_id"]),
        (&json!("src/auth/login.py"), &json!("python"))
    );
    assert!(
        row["content"]
            .as_str()
            .unwrap()
            .contains("def validate_login")
    );
    assert!(["semantic", "keyword", "both"].contains(&row["match_type"].as_str().unwrap()));
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    let named = client.tool("search_code", json!({"query": "invoiceTotal", "index_name": "office", "language": ["typescript", "python"]}));
    assert!(named.get("search_context").is_none());
    assert_eq!(named["results"][0]["file_path"], "src/billing.ts");
    // Signs of the language that is searched are no signs of the query.
    client.tool("search_code", json!({"query": "-> User: \"+x\" std::y"}));
    let given = json!({"query": "user authentication and login validation", "language": "python",
        "symbol_type": "function", "limit": 5});
    let found = client.tool("search_code", given);
    let row = &found["results"][0];
    assert_eq!(row["symbol_name"], "validate_login", "{found}");
    assert_eq!(row["symbol_type"], "function");
    let other = json!({"query": "login", "symbol_name": "VALIDATE_*", "symbol_type": "class"});
    let none = client.tool("search_code", other);
    assert_eq!(none["results"], json!([]));
    let warning = none["warnings"][0].as_str().unwrap();
    assert!(warning.contains("defines a symbol"), "{warning}");
}

#[test]
fn title_mode_needs_every_word_and_sorts_ties_by_age() {
    let folder = office();
    let mut client = served(&folder);
    let found = client.tool("search", json!({"query": "q1 report", "mode": "title"}));
    assert_eq!(
        paths(&found["data"]["results"], "document_id"),
        ["Finance/2024/Q1/Q1_Report.md"]
    );
    let found = client.tool(
        "search",
        json!({"query": "q1", "mode": "title", "sort": "recency"}),
    );
    assert_eq!(found["data"]["results"].as_array().unwrap().len(), 2);
    let none = client.tool("search", json!({"query": "q1 nothing", "mode": "title"}));
    assert_eq!(none["data"]["results"], json!([]));
    assert_eq!(none["continuation"], json!({"has_more": false}));
}

#[test]
fn a_search_returns_located_documents_or_passages() {
    let folder = office();
    let mut client = served(&folder);
    let asked = json!({"query": "financial results", "mode": "semantic", "scope": "documents", "filters": {"folder": "Finance", "fileType": "md"}});
    let found = client.tool("search", asked);
    let mut documents = paths(&found["data"]["results"], "document_id");
    documents.sort();
    assert!(
        documents.contains(&"Finance/2024/Q1/Q1_Report.md")
            && documents.contains(&"Finance/2024/Q1/Q1_Budget.md")
    );
    assert!(documents.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(
        found["status"],
        json!({"code": "success", "message": "SEARCH_COMPLETED"})
    );
    let flat = client.tool(
        "search",
        json!({"query": "revenue grew", "folder": "Finance", "file_type": "md", "scope": "chunks"}),
    );
    let first = &flat["data"]["results"][0];
    assert_eq!(first["document_id"], "Finance/2024/Q1/Q1_Report.md");
    assert!(
        first["preview"]
            .as_str()
            .unwrap()
            .contains("Revenue grew by 15%")
    );
    assert_eq!(first["metadata"]["document_type"], "markdown");
    assert!(first["location"]["start_line"].is_u64(), "{first}");
    assert!(
        first["doc_handle"]
            .as_str()
            .unwrap()
            .starts_with("q1-report-"),
        "{first}"
    );
    assert!(first["updated"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn irrelevant_queries_and_stale_files_are_flagged() {
    let folder = office();
    let mut client = served(&folder);
    let warned = |client: &mut Client, tool: &str, query: &str, word: &str| {
        let (found, text) = client.both(tool, json!({"query": query}));
        let warnings = found["warnings"].as_array().cloned().unwrap_or_default();
        let warned = warnings
            .iter()
            .any(|warning| warning.as_str().unwrap().starts_with(word));
        assert_eq!(warned, text.contains(word), "{text}");
        warned
    };
    for tool in ["search", "search_docs", "search_code"] {
        assert!(
            warned(
                &mut client,
                tool,
                "zygomorphic xylophone quasars",
                "NOTHING_RELEVANT: "
            ),
            "{tool}"
        );
    }
    assert!(!warned(
        &mut client,
        "search",
        "quarterly financial results",
        "NOTHING_RELEVANT: "
    ));
    folder.write("office/new.md", "# New\n\nA late note.\n");
    // The first answer of a server knows it.
    let mut client = served(&folder);
    assert!(warned(
        &mut client,
        "search",
        "quarterly financial results",
        "STALE: ",
    ));
    folder.kb("index office").expect(0);
    assert!(!warned(
        &mut client,
        "search",
        "quarterly financial results",
        "STALE: "
    ));
}

// S1-21, S1-22
#[test]
fn a_document_is_cut_at_800_kb_and_nowhere_else() {
    let folder = Folder::empty();
    let small = "x".repeat(99_999) + "\n";
    let large = "wörter und wörter\n".repeat(60_000);
    folder.write("texts/small.txt", &small);
    folder.write("texts/large.txt", &large);
    folder.kb("index texts").expect(0);
    let mut client = Client::stdio(&folder, &["texts.kb"]);
    let given = json!({"doc_handle": "small.txt", "max_tokens": 204_800});
    let found = client.tool("get_document", given);
    assert_eq!(
        (&found["body"], &found["is_truncated"]),
        (&json!(small), &json!(false))
    );
    let given = json!({"document_id": "large.txt", "max_tokens": 1_000_000});
    let found = client.tool("get_document", given);
    assert_eq!(
        (&found["is_truncated"], &found["full_size"]),
        (&json!(true), &json!(large.len()))
    );
    let body = found["body"].as_str().unwrap();
    assert!((819_181..=819_200).contains(&body.len()) && large.starts_with(body));
    assert!(body.ends_with('\n'), "cut within a line");
    // The handle leads to it, also with other words before the suffix.
    let handle = found["doc_handle"].as_str().unwrap();
    let suffix = handle.rsplit('-').next().unwrap();
    let renamed = client.tool(
        "get_document",
        json!({"doc_handle": format!("another-title-{suffix}")}),
    );
    assert_eq!(renamed["document_id"], "large.txt");
    let text = client.error("get_document", json!({"doc_handle": "lage.txt"}));
    assert!(
        text.starts_with("DOCUMENT_NOT_FOUND: ") && text.contains("large.txt"),
        "{text}"
    );
}

#[test]
fn outline_sections_chunks_and_metadata_of_a_document_are_given() {
    let folder = office();
    let mut client = served(&folder);
    let document = json!({"document_id": "Q1_Report.md"});
    let outline = client.tool("get_document_outline", document.clone());
    assert_eq!(
        (&outline["type"], &outline["total_lines"]),
        (&json!("markdown"), &json!(11))
    );
    let headings = outline["headings"].as_array().unwrap();
    let sections: Vec<&str> = headings
        .iter()
        .map(|one| one["section"].as_str().unwrap())
        .collect();
    assert_eq!(sections, ["1", "1.1", "1.2"]);
    assert_eq!(headings[1]["title"], "Financial Results");
    assert!(outline["file_size"].as_str().unwrap().ends_with('B'));
    for section in ["1.1", "Financial Results"] {
        let read = client.tool(
            "get_document_data",
            json!({"document_id": "Q1_Report.md", "section": section}),
        );
        assert_eq!(
            read["data"]["content"],
            "## Financial Results\n\nRevenue grew by 15% to 4.2 million.\n\n"
        );
    }
    let text = client.error(
        "get_document_data",
        json!({"document_id": "Q1_Report.md", "section": "9"}),
    );
    assert!(text.starts_with("SECTION_NOT_FOUND: "), "{text}");
    let chunks = client.tool(
        "get_document_data",
        json!({"document_id": "Q1_Report.md", "format": "chunks"}),
    );
    let first = &chunks["data"]["chunks"][0];
    assert_eq!(first["chunk_id"], "Finance/2024/Q1/Q1_Report.md#0");
    assert_eq!(first["metadata"]["start_line"], 1);
    let metadata = client.tool(
        "get_document_data",
        json!({"document_id": "Q1_Report.md", "format": "metadata"}),
    );
    let metadata = &metadata["data"]["metadata"];
    assert_eq!(
        (&metadata["title"], &metadata["mime_type"]),
        (&json!("Q1 Report"), &json!("text/markdown"))
    );
    let empty = client.tool("get_document_data", json!({"document_id": "empty.txt"}));
    assert_eq!(
        (&empty["data"]["content"], &empty["status"]["message"]),
        (&json!(""), &json!("SUCCESS"))
    );
    let read = client.tool("get_document_data", json!({"document_id": "日本語.md"}));
    assert!(read["data"]["content"].as_str().unwrap().contains("売上"));
}

#[test]
fn folders_documents_and_numbers_of_an_index_are_listed() {
    let folder = office();
    let mut client = served(&folder);
    let folders = client.tool("list_folders", json!({}));
    assert_eq!(
        folders["data"]["folders"],
        json!(["Finance", "Legal", "Sales", "src"])
    );
    let q1 = folders["data"]["paths"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["path"] == "Finance/2024/Q1");
    assert_eq!(q1.unwrap()["documents"], 2);
    let documents = client.tool("list_documents", json!({"folder": "Finance/2024/Q1"}));
    let listed = documents["data"]["documents"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["type"]),
        (&json!("Q1_Budget.md"), &json!("markdown"))
    );
    assert_eq!(
        listed[0]["modified"].as_str().unwrap().len(),
        "2024-05-02".len()
    );
    let root = client.tool("list_documents", json!({}));
    assert_eq!(
        paths(&root["data"]["documents"], "document_id"),
        ["huge_text.txt"]
    );
    let all = client.tool("list_documents", json!({"recursive": "true"}));
    assert_eq!(all["data"]["documents"].as_array().unwrap().len(), 10);
    let text = client.error("list_documents", json!({"folder": "Finanse"}));
    assert!(
        text.starts_with("FOLDER_NOT_FOUND: ") && text.contains("Finance"),
        "{text}"
    );
    let stats = client.tool("index_stats", json!({"index_name": "office"}));
    assert_eq!(
        (&stats["file_count"], &stats["index_name"]),
        (&json!(10), &json!("office"))
    );
    assert!(
        stats["languages"]
            .as_array()
            .unwrap()
            .contains(&json!("python"))
    );
    let status = client.tool("get_status", json!({}));
    assert_eq!(
        (&status["status"], &status["completed_count"]),
        (&json!("ready"), &json!(10))
    );
    let one = client.tool("get_status", json!({"document_id": "Q1_Report.md"}));
    assert_eq!(
        (&one["progress"], &one["message"]),
        (&json!(100), &json!("DOCUMENT_READY"))
    );
    let vector = client.tool("get_embedding", json!({"text": "Quarterly revenue is up"}));
    assert_eq!(
        vector["embedding"].as_array().unwrap().len() as u64,
        vector["dimensions"].as_u64().unwrap()
    );
    let text = client.error("get_embedding", json!({"text": " "}));
    assert!(text.starts_with("INVALID_ARGUMENT: text"), "{text}");
}

#[test]
fn lenient_arguments_are_taken_and_bad_ones_refused() {
    let folder = office();
    let mut client = served(&folder);
    let found = client.tool(
        "search",
        json!({"query": "revenue", "limit": "2", "mode": null, "max_tokens": 99_999}),
    );
    assert!(found["data"]["results"].as_array().unwrap().len() <= 2);
    let found = client.tool("search", json!({"query": "revenue", "max_tokens": 0}));
    assert_eq!(found["data"]["results"].as_array().unwrap().len(), 1);
    let (found, text) = client.both("search", json!({"query": "revenue", "session": "x"}));
    assert!(
        found["warnings"][0].as_str().unwrap().contains("session") && text.contains("session"),
        "{text}"
    );
    for (tool, arguments, words) in [
        ("search", json!({}), &["query"][..]),
        ("search", json!({"query": "  "}), &["query"]),
        ("search", json!({"query": [5]}), &["query"]),
        (
            "search",
            json!({"query": "x", "limit": 0}),
            &["limit", "1", "50"],
        ),
        ("search", json!({"query": "x", "limit": 1.5}), &["limit"]),
        (
            "search",
            json!({"query": "x", "mode": "fuzzy"}),
            &["mode", "hybrid", "title"],
        ),
        (
            "search",
            json!({"query": "x", "filters": "Finance"}),
            &["filters"],
        ),
        (
            "search",
            json!({"query": "x", "filters": {"fileType": "klingon"}}),
            &["fileType"],
        ),
        (
            "search_code",
            json!({"query": "x", "context_before": 201}),
            &["context_before", "0", "200"],
        ),
        (
            "search_code",
            json!({"query": "x", "language": "klingon"}),
            &["language"],
        ),
        (
            "search_docs",
            json!({"query": "x", "min_score": 2}),
            &["min_score", "0", "1"],
        ),
        (
            "list_documents",
            json!({"recursive": "perhaps"}),
            &["recursive"],
        ),
    ] {
        let text = client.error(tool, arguments.clone());
        assert!(
            text.starts_with("INVALID_ARGUMENT: "),
            "{arguments}: {text}"
        );
        assert!(
            words.iter().all(|word| text.contains(word)),
            "{arguments}: {text}"
        );
        assert!(!text.contains("--") && !text.contains("`kb "), "{text}");
    }
}
