//! Searching code.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::support::Folder;

const LOGIN: &str = "\
from .models import User

LIMIT = 5


class Session:
    \"\"\"What a user has open.\"\"\"

    def open(self, user):
        \"\"\"Open a session after the login.\"\"\"
        return self.store(user)

    def close(self):
        return None


def validate_login(username: str, password: str) -> User:
    \"\"\"Authenticate a user and validate the login.\"\"\"
    if not username:
        raise ValueError(\"no user\")
    return User(username, password)


def get_user(name):
    return name


def get_login_time(user):
    return user.login
";

/// Programs with small functions, a long one and a class, and more of them.
fn programs() -> (Folder, Client) {
    let folder = Folder::empty();
    folder.write("app/auth/login.py", LOGIN);
    let mut long = "def reconcile_accounts(ledger):\n".to_owned();
    for n in 0..120 {
        writeln!(long, "    ledger.balance(account_{n}, rounding=True)").unwrap();
    }
    long.push_str("    return ledger\n");
    folder.write("app/ledger.py", long);
    for n in 0..60 {
        let text = format!(
            "def parse_invoice_{n}(text):\n    \"\"\"Parse an invoice.\"\"\"\n    return text\n\n\nclass Invoice{n}:\n    def total(self):\n        return {n}\n"
        );
        folder.write(format!("app/billing/invoice_{n}.py"), text);
    }
    folder.kb("index app").expect(0);
    let client = Client::stdio(&folder, &["app.kb"]);
    (folder, client)
}

fn rows(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap()
}

/// The text that a row should have: its lines of the file.
fn lines_of(folder: &Folder, row: &Value) -> String {
    let path = folder
        .path()
        .join("app")
        .join(row["file_path"].as_str().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    let (first, last) = (
        row["start_line"].as_u64().unwrap(),
        row["end_line"].as_u64().unwrap(),
    );
    let lines = text.split_inclusive('\n').skip(first as usize - 1);
    lines.take((last - first + 1) as usize).collect()
}

#[test]
fn filtered_hits_are_the_symbols_themselves() {
    // S2-08, S2-09, S2-14
    let (folder, mut client) = programs();
    for kind in ["function", "class", "method"] {
        for query in [
            "login of a user",
            "parse an invoice",
            "total",
            "ledger balance",
        ] {
            let given = json!({"query": query, "symbol_type": kind, "limit": 20});
            let found = client.tool("search_code", given);
            assert!(!rows(&found).is_empty());
            for row in rows(&found) {
                assert_eq!(row["symbol_type"], kind, "{row}");
                assert_eq!(row["block_type"], kind);
                let name = row["symbol_name"].as_str().unwrap();
                assert!(
                    row["symbol_signature"].as_str().unwrap().contains(name),
                    "{row}"
                );
                assert!(row["hierarchy"].as_str().unwrap().contains(name), "{row}");
                assert_eq!(row["content"], lines_of(&folder, row));
                let given = json!({"name": name, "kind": kind, "path": row["file_path"]});
                let defined = client.tool("find_symbols", given);
                let is_it = |one: &Value| {
                    one["start_line"] == row["start_line"] && one["end_line"] == row["end_line"]
                };
                let defined = defined["results"].as_array().unwrap();
                assert!(defined.iter().any(is_it), "{row} {defined:?}");
            }
        }
    }
    let given = json!({"query": "user", "symbol_name": "GET_*"});
    let found = client.tool("search_code", given);
    let mut names: Vec<&str> = rows(&found)
        .iter()
        .map(|row| row["symbol_name"].as_str().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["get_login_time", "get_user"]);
    let either = json!({"query": "total", "symbol_type": ["class", "method"], "limit": 50});
    let found = client.tool("search_code", either);
    let kinds: Vec<&Value> = rows(&found).iter().map(|row| &row["symbol_type"]).collect();
    let is_either = |kind: &&Value| **kind == "class" || **kind == "method";
    assert!(!kinds.is_empty() && kinds.iter().all(is_either));
    // Each symbol once, over all pages.
    let mut seen: Vec<String> = Vec::new();
    let mut given = json!({"query": "parse an invoice", "symbol_type": "function", "limit": 7});
    loop {
        let found = client.tool("search_code", given);
        seen.extend(
            rows(&found)
                .iter()
                .map(|row| row["symbol_name"].as_str().unwrap().to_owned()),
        );
        match found["continuation"]["token"].as_str() {
            Some(token) => given = json!({"continuation_token": token}),
            None => break,
        }
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
    assert!(
        (0..60).all(|n| seen.contains(&format!("parse_invoice_{n}"))),
        "{seen:?}"
    );
}

#[test]
fn smart_context_gives_the_whole_function() {
    // S2-12, S2-17
    let (folder, mut client) = programs();
    let given = json!({"query": "user authentication and login validation", "language": "python",
        "symbol_type": "function", "limit": 5});
    let found = client.tool("search_code", given);
    let first = &rows(&found)[0];
    assert_eq!(first["symbol_name"], "validate_login");
    assert_eq!(
        (&first["start_line"], &first["end_line"]),
        (&json!(17), &json!(21))
    );
    for (query, name) in [
        (
            "authenticate a user and validate the login",
            "validate_login",
        ),
        ("balance account_77 rounding", "reconcile_accounts"),
    ] {
        let smart = client.tool("search_code", json!({"query": query}));
        let row = &rows(&smart)[0];
        assert_eq!(row["symbol_name"], name);
        let content = row["content"].as_str().unwrap();
        assert_eq!(content, lines_of(&folder, row));
        assert!(content.starts_with(&format!("def {name}(")), "{content}");
        assert!(
            content
                .trim_end()
                .lines()
                .last()
                .unwrap()
                .starts_with("    return"),
            "{content}"
        );
        let exact = client.tool(
            "search_code",
            json!({"query": query, "smart_context": false}),
        );
        assert_ne!(rows(&exact)[0]["content"], row["content"]);
    }
    let given =
        json!({"query": "balance account_77 rounding", "context_before": 2, "context_after": 3});
    let lines = client.tool("search_code", given);
    let row = &rows(&lines)[0];
    assert_eq!(row["context_before"].as_str().unwrap().lines().count(), 2);
    assert_eq!(row["context_after"].as_str().unwrap().lines().count(), 3);
}

#[test]
fn ten_hits_come_by_default_and_fifty_when_asked() {
    // S2-05
    let (_folder, mut client) = programs();
    let found = client.tool("search_code", json!({"query": "parse an invoice"}));
    assert_eq!(rows(&found).len(), 10);
    let found = client.tool(
        "search_code",
        json!({"query": "parse an invoice", "limit": 50}),
    );
    assert_eq!(rows(&found).len(), 50);
    assert!(found.get("truncated").is_none());
}

#[test]
fn the_index_of_the_working_directory_is_searched() {
    // S2-04, S2-13
    let folder = Folder::empty();
    folder.write("one/a.py", "def cast_off(rope):\n    return rope\n");
    folder.write("two/b.py", "def cast_off(line):\n    return line\n");
    folder.kb("index one").expect(0);
    folder.kb("index two").expect(0);
    let there = |place: &str| {
        let mut command = folder.command();
        command.current_dir(folder.path().join(place));
        let files = [folder.path().join("one.kb"), folder.path().join("two.kb")];
        let files: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let carrier = crate::mcp::stdio::Stdio::start_command(command, &files);
        let mut client = Client::over(carrier, crate::mcp::client::MODERN);
        let found = client.tool("search_code", json!({"query": "cast off"}));
        let listed = client.call("list_folders", json!({}));
        (found, listed["isError"] == true)
    };
    for place in ["one", "two"] {
        let (found, is_ambiguous) = there(place);
        assert_eq!(found["search_context"]["index_name"], place);
        assert_eq!(rows(&found).len(), 1, "{found}");
        assert!(!is_ambiguous);
    }
    let (found, is_ambiguous) = there(".");
    assert_eq!(found["search_context"]["index_name"], "one, two");
    assert!(rows(&found).len() == 2 && is_ambiguous);
}
