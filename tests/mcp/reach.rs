//! What a client, a folder or a file must not make the server do: read outside of its folders, serve what
//! it was not given, work without end. Each was possible once.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use kb_engine::KbWriter;
use kb_engine::escape::is_hidden;
use serde_json::{Value, json};

use super::client::{Client, text_of};
use super::stdio::Stdio;
use crate::support::{Folder, wait_until};

/// A link in the place of whatever is there.
fn link(target: impl AsRef<Path>, name: PathBuf) {
    let _ = std::fs::remove_file(&name);
    symlink(target, name).unwrap();
}

/// Documents of a file, by the command line.
fn listed(folder: &Folder, file: &str) -> String {
    folder.kb(["ls", "-f", file, "-r"]).expect(0).stdout
}

/// Most memory that a process has had, in KB.
#[cfg(target_os = "linux")]
fn peak_kb(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1);
    number.unwrap().parse().unwrap()
}

/// A server that only reads looks at the sources to say what changed; it read a link to `/dev/zero` as an
/// ignore file until it had no memory left.
#[cfg(target_os = "linux")]
#[test]
fn a_search_reads_no_linked_ignore_file() {
    let folder = Folder::indexed();
    let harbour = folder.join("harbour");
    link("/dev/zero", harbour.join("src/.gitignore"));
    link("/dev/zero", harbour.join(".kbignore"));
    let made = std::process::Command::new("mkfifo")
        .arg(harbour.join("docs/.gitignore"))
        .status();
    assert!(made.unwrap().success());
    folder.write("harbour/src/later.py", "def later():\n    return 1\n");
    let server = Stdio::start(&folder, &["harbour.kb"]);
    let id = server.id();
    let mut client = Client::over(server, super::client::MODERN);
    // The look has come to its end when it tells of the file that is new.
    wait_until("the sources were looked at", || {
        let (_, text) = client.both("search_code", json!({"query": "drift distance"}));
        text.contains("STALE")
    });
    assert!(peak_kb(id) < 300_000, "{} KB", peak_kb(id));
}

/// Lines of whatever an ignore file led to stood in the warnings.
#[test]
fn warnings_of_ignore_files_hold_line_numbers_and_no_text() {
    let folder = Folder::with_corpus();
    folder.write("secret.json", "{{{{{{ hunter2 [\n[hunter2-\n");
    folder.write("harbour/docs/.gitignore", "fine\n[hunter2-\n{a,hunter2\n");
    link("../secret.json", folder.join("harbour/.kbignore"));
    link(
        folder.join("secret.json"),
        folder.join("harbour/src/.gitignore"),
    );
    let mut client = Client::stdio(
        &folder,
        &["new.kb", "--allow-write", "--allow-root", "harbour"],
    );
    let path = folder.join("harbour").display().to_string();
    let answer = client.call("index_codebase", json!({"path": path}));
    let whole = answer.to_string();
    assert!(!whole.contains("hunter2"), "{whole}");
    assert!(
        whole.contains(".kbignore: ignore file not applied: symbolic link"),
        "{whole}"
    );
    assert!(
        whole.contains("src/.gitignore: ignore file not applied: symbolic link"),
        "{whole}"
    );
}

/// `--watch` indexed whatever folder the file named.
#[test]
fn a_watching_server_keeps_to_the_folders_that_may_be_indexed() {
    let folder = Folder::empty();
    folder.write("elsewhere/a.md", "# A\n\nFirst.\n");
    folder.write("here/b.md", "# B\n\nSecond.\n");
    folder.kb("index elsewhere here -o n.kb").expect(0);
    let arguments = ["n.kb", "--allow-write", "--watch", "--allow-root", "here"];
    let server = Stdio::start(&folder, &arguments);
    wait_until("the folders were looked at", || {
        server.said().contains("--allow-root")
    });
    folder.write("elsewhere/key.md", "# Key\n\nNot for everybody.\n");
    folder.write("here/later.md", "# Later\n\nFor everybody.\n");
    // A run that followed the one folder would have followed the other.
    wait_until("the allowed folder is followed", || {
        listed(&folder, "n.kb").contains("later.md")
    });
    let documents = listed(&folder, "n.kb");
    assert!(
        !documents.contains("key.md") && documents.contains("a.md"),
        "{documents}"
    );
    let said = server.end().stderr;
    assert!(
        said.contains("elsewhere is not watched: it is outside"),
        "{said}"
    );
}

/// A folder that was swapped for a link was followed to wherever it led.
#[test]
fn a_watched_folder_that_becomes_a_link_is_not_followed() {
    let folder = Folder::empty();
    folder.write("one/a.md", "# A\n\nFirst.\n");
    folder.write("two/b.md", "# B\n\nSecond.\n");
    folder.write("secret/key.md", "# Key\n\nNot for everybody.\n");
    folder.kb("index one two -o n.kb").expect(0);
    let server = Stdio::start(&folder, &["n.kb", "--allow-write", "--watch"]);
    folder.write("one/c.md", "# C\n\nThird.\n");
    wait_until("the folders are followed", || {
        listed(&folder, "n.kb").contains("c.md")
    });
    std::fs::rename(folder.join("one"), folder.join("moved")).unwrap();
    // Where it leads may be indexed, but is no folder of this file.
    symlink("secret", folder.join("one")).unwrap();
    let mut number = 0;
    wait_until("the link was seen", || {
        number += 1;
        folder.write(format!("two/{number}.md"), "# N\n\nMore.\n");
        server.said().contains("a link to another folder")
    });
    folder.write("two/last.md", "# Last\n\nThe end.\n");
    wait_until("the other folder is followed", || {
        listed(&folder, "n.kb").contains("last.md")
    });
    let documents = listed(&folder, "n.kb");
    assert!(!documents.contains("key.md"), "{documents}");
    assert!(
        documents.contains("one/a.md") && documents.contains("one/c.md"),
        "{documents}"
    );
    // It is followed again when it is what it was.
    std::fs::remove_file(folder.join("one")).unwrap();
    std::fs::rename(folder.join("moved"), folder.join("one")).unwrap();
    folder.write("one/again.md", "# Again\n\nBack.\n");
    wait_until("it is followed again", || {
        listed(&folder, "n.kb").contains("again.md")
    });
}

/// A name of a file beside the served one made that one served, and cleared.
#[test]
fn an_unserved_file_is_opened_only_for_its_only_folder() {
    let folder = Folder::empty();
    folder.write("project/a.md", "# A\n\nOf the project.\n");
    folder.write("private/p.md", "# P\n\nNot for everybody.\n");
    folder.write("note.md", "# Note\n\nNot for everybody.\n");
    folder.kb("index project -o added.kb").expect(0);
    folder.kb("add -f added.kb note.md").expect(0);
    folder.kb("index project private -o both.kb").expect(0);
    folder.kb("index project -o sealed.kb").expect(0);
    folder.kb("add -f sealed.kb note.md").expect(0);
    folder.kb("seal sealed.kb").expect(0);
    folder.kb("index private -o other.kb").expect(0);
    folder.kb("index project -o alone.kb").expect(0);
    let arguments = ["served.kb", "--allow-write", "--allow-root", "project"];
    let mut client = Client::stdio(&folder, &arguments);
    let path = folder.join("project").display().to_string();
    for name in ["added", "both", "sealed", "other"] {
        let given = json!({"path": path, "index_name": name});
        let told = client.error("index_codebase", given);
        assert!(told.starts_with("INDEX_NAME_TAKEN: "), "{name}: {told}");
        let told = client.error("clear_index", json!({"index_name": name}));
        assert!(told.starts_with("INDEX_NOT_FOUND: "), "{name}: {told}");
    }
    assert_eq!(listed(&folder, "added.kb").lines().count(), 2);
    // What an earlier server could have left.
    let given = json!({"path": path, "index_name": "alone"});
    assert_eq!(client.tool("index_codebase", given)["success"], true);
}

/// Each text and list of a client, and one more than there may be. A name of 4 MB took five seconds in
/// 20 000 paths, a million languages eight.
#[test]
fn overlong_arguments_are_refused_first() {
    fn fields(schema: &Value, above: &[String], found: &mut Vec<(Vec<String>, Value)>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let place = [above, std::slice::from_ref(name)].concat();
            fields(property, &place, found);
            found.push((place, property.clone()));
        }
    }
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write"]);
    let mut tried = 0;
    for tool in client.definitions().to_vec() {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        let mut found = Vec::new();
        fields(schema, &[], &mut found);
        for (place, property) in found {
            let items = &property["items"];
            let text =
                |length: &Value| Value::from("x".repeat(length.as_u64().unwrap() as usize + 1));
            let mut values = Vec::new();
            for (length, is_list) in [(&property["maxLength"], false), (&items["maxLength"], true)]
            {
                if length.is_u64() {
                    let value = text(length);
                    values.push((length.clone(), if is_list { json!([value]) } else { value }));
                }
            }
            if let Some(most) = property["maxItems"].as_u64() {
                values.push((most.into(), vec!["x"; most as usize + 1].into()));
            }
            let is_text = property["type"] == "string" && property["enum"].is_null();
            let argument = place.join(".");
            assert!(
                !is_text || !values.is_empty() || argument == "content",
                "{name} {argument}"
            );
            for (most, value) in values {
                let mut given = json!({});
                for required in schema["required"].as_array().into_iter().flatten() {
                    given[required.as_str().unwrap()] = json!("a");
                }
                match place.as_slice() {
                    [one] => given[one] = value,
                    [one, two] => given[one] = json!({two.as_str(): value}),
                    _ => panic!("{place:?}"),
                }
                let told = client.error(name, given);
                if argument == "continuation_token" {
                    assert!(told.starts_with("INVALID_CONTINUATION_TOKEN: "), "{told}");
                } else {
                    let begin = format!("INVALID_ARGUMENT: {argument}: ");
                    let end = format!("given; at most {most} are allowed.");
                    assert!(
                        told.starts_with(&begin) && told.ends_with(&end),
                        "{name}: {told}"
                    );
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "{tried}");
    let languages = json!({"query": "a", "language": vec!["x"; 9000]});
    let told = client.error("search_code", languages);
    assert!(
        told.contains("language: 9000 values given; at most "),
        "{told}"
    );
    // Alone in a text, as a number and as a truth.
    for given in [
        json!({"query": "a", "limit": "1".repeat(900 << 10)}),
        json!({"query": "a", "limit": vec![1; 9000]}),
    ] {
        let told = client.error("search", given);
        assert!(
            told.len() < 300 && told.contains("an integer from 1 to 50 is expected"),
            "{told}"
        );
    }
}

#[test]
fn addresses_prompts_and_completions_have_limits_too() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb"]);
    // Less than a whole message may have.
    let long = "x".repeat(900 << 10);
    let template = json!({"type": "ref/resource", "uri": "kb://{index_name}/doc/{+path}"});
    for (method, given) in [
        (
            "resources/read",
            json!({"uri": format!("kb://harbour/doc/{long}")}),
        ),
        (
            "resources/read",
            json!({"uri": format!("kb://{long}/doc/a")}),
        ),
        ("resources/list", json!({"cursor": long})),
        (
            "prompts/get",
            json!({"name": "explain_code", "arguments": {"target": long}}),
        ),
        (
            "prompts/get",
            json!({"name": "explain_code", "arguments": {"target": "a", "index_name": long}}),
        ),
        ("prompts/get", json!({"name": long})),
        (
            "completion/complete",
            json!({"ref": template, "argument": {"name": "path", "value": long}}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": long}, "argument": {"name": "a", "value": ""}}),
        ),
    ] {
        let (code, told) = client.refused(method, given);
        assert_eq!(code, -32602, "{method}: {told}");
        assert!(told.len() < 500, "{method}: {} bytes", told.len());
    }
    // Still what it was: the longest name that could be one.
    let told = client.error("get_document", json!({"doc_handle": "x".repeat(16 << 10)}));
    assert!(
        told.starts_with("DOCUMENT_NOT_FOUND: ") && told.len() < 500,
        "{told}"
    );
}

/// Where the server runs, and as which process, was told to whoever met a lock.
#[test]
fn a_client_is_not_told_which_process_holds_a_file() {
    let folder = Folder::indexed();
    let mut writer = KbWriter::open_or_create(folder.join("harbour.kb")).unwrap();
    writer.add_bytes("held.md", b"# Held\n").unwrap();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write"]);
    let told = client.error("clear_index", json!({"index_name": "harbour"}));
    assert!(told.starts_with("INDEX_LOCKED: "), "{told}");
    assert!(!told.contains(&std::process::id().to_string()), "{told}");
    assert!(told.contains("another program is writing"), "{told}");
}

/// A folder got a prefix when it was indexed into a file that had been cleared, so that every id that a
/// client had kept led nowhere.
#[test]
fn a_folder_keeps_its_ids_after_a_clear() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb", "new.kb", "--allow-write"]);
    let path = folder.join("harbour").display().to_string();
    let ids = |client: &mut Client, name: &str| {
        let given = json!({"index_name": name, "recursive": true, "max_tokens": 20_000});
        let listed = client.tool("list_documents", given);
        let documents = listed["data"]["documents"].as_array();
        let documents = documents.unwrap_or_else(|| panic!("{listed}")).iter();
        let ids = documents.map(|one| (one["document_id"].clone(), one["doc_handle"].clone()));
        ids.collect::<Vec<_>>()
    };
    let before = ids(&mut client, "harbour");
    assert_eq!(before.len(), 7);
    client.tool("clear_index", json!({"index_name": "harbour"}));
    for name in ["harbour", "new"] {
        let given = json!({"path": path, "index_name": name});
        client.tool("index_codebase", given);
        assert_eq!(ids(&mut client, name), before);
    }
}

/// Characters that nobody sees, in headings and names.
#[test]
fn resources_show_what_nobody_would_see() {
    let evil = "a\u{200b}\u{200d}\u{2060}\u{2064}\u{206a}\u{206f}\u{feff}\u{ad}\u{180e}\u{fff9}\u{fffb}\
                \u{3164}\u{ffa0}\u{115f}\u{2800}\u{fe0f}\u{e0100}b";
    let folder = Folder::empty();
    let mut writer = KbWriter::open_or_create(folder.join("evil.kb")).unwrap();
    let text = format!("# Lens {evil}\n\nWords.\n\n## Sub {evil}\n\nMore words.\n");
    writer
        .add_bytes(&format!("x{evil}/a.md"), text.as_bytes())
        .unwrap();
    writer.add_bytes("b.md", text.as_bytes()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut client = Client::stdio(&folder, &["evil.kb"]);
    for uri in ["kb://evil/outline/b.md", "kb://evil"] {
        let read = client.result("resources/read", json!({"uri": uri}));
        let text = read["contents"][0]["text"].as_str().unwrap();
        let hidden = text.chars().find(|c| *c != '\n' && is_hidden(*c));
        assert!(hidden.is_none(), "{uri}: {hidden:?} in {text:?}");
        assert!(text.contains("2800") && text.contains("feff"), "{text}");
    }
    // The text itself is for whoever wants every byte of it.
    let read = client.result("resources/read", json!({"uri": "kb://evil/doc/b.md"}));
    assert_eq!(read["contents"][0]["text"], text);
    for (tool, given) in [
        ("search", json!({"query": "lens"})),
        ("list_documents", json!({"recursive": true})),
        ("list_folders", json!({})),
        ("get_document_outline", json!({"document_id": "b.md"})),
        ("get_document_data", json!({"document_id": "b.md"})),
    ] {
        let shown = text_of(&client.call(tool, given));
        let hidden = shown
            .chars()
            .find(|c| !matches!(c, '\n' | '\t') && is_hidden(*c));
        assert!(hidden.is_none(), "{tool}: {hidden:?} in {shown:?}");
    }
}
