//! `--embedder`: a second model in the run that indexes, and what may leave the machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kb_engine::Kb;
use serde_json::{Value, json};

use super::models::write_model;
use crate::support::terminal::answer_on_terminal;
use crate::support::{Folder, run, wait_until};

/// Answers a request for vectors; `None` if it is none.
fn answer(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let texts = asked["input"].as_array()?.len();
    let rows = (0..texts).map(|index| json!({"index": index, "embedding": [1.0, 2.0]}));
    let body = json!({"data": rows.collect::<Vec<Value>>()}).to_string();
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

/// A service on this machine: its address, and how often something connected to it.
fn service() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || answer(stream));
        }
    });
    (address, connections)
}

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("docs/one.md", "a word");
    folder.write("docs/two.md", "the reader");
    folder
}

/// Vectors of the second column; `None` if there is none.
fn vectors(folder: &Folder) -> Option<u64> {
    let columns = Kb::open(folder.join("docs.kb"))
        .ok()?
        .vector_columns()
        .ok()?;
    columns.get(1).map(|column| column.rows)
}

#[test]
fn the_run_that_indexes_embeds_by_a_second_model_and_later_runs_follow() {
    let folder = folder();
    write_model(&folder.join("tiny"));
    let index = |more: &[&str]| {
        let mut command = folder.command();
        command.args(["index", "docs", "-o", "docs.kb"]).args(more);
        run(&mut command)
    };
    let wrong = index(&["--embedder", "model2vec:none"]);
    wrong.expect(2).stderr_has("none is missing");
    // A wrong name costs no run.
    assert!(!folder.join("docs.kb").exists());
    let first = index(&["--embedder", "model2vec:tiny", "--json"]).expect(0);
    first.stderr_has("docs.kb can be searched; model2vec:tiny embeds its chunks");
    let report = &first.json_lines()[0];
    assert_eq!(report["documents"], 2);
    assert_eq!(report["embedding"]["column"], "tiny");
    assert_eq!(report["embedding"]["embedded"], 2);
    folder.write("docs/three.md", "another word");
    index(&[]).expect(0);
    assert_eq!(vectors(&folder), Some(3));
    let again = index(&["--embedder", "model2vec:tiny"]).expect(0);
    again.stdout_has("tiny  0 of 3 chunks embedded by model2vec:tiny");
    // The model is gone: the text is indexed all the same, and what is missing has a name.
    std::fs::rename(folder.join("tiny"), folder.join("elsewhere")).unwrap();
    folder.write("docs/four.md", "one more word");
    let without = index(&[]).expect(0);
    without.stderr_has("new chunks got no vectors in tiny: the model model2vec:tiny is missing");
    assert!(without.hint().contains("kb reembed"), "{without:#?}");
    index(&["--embedder", "model2vec:elsewhere"]).expect(0);
    assert_eq!(vectors(&folder), Some(4));
    let check = index(&["--check", "--embedder", "model2vec:tiny"]);
    check.expect(2).stderr_has("--check");
    folder.kb(["verify", "docs.kb", "--deep"]).expect(0);
}

#[test]
fn a_question_on_the_terminal_decides_what_is_sent() {
    let folder = folder();
    folder.kb(["index", "docs", "-o", "docs.kb"]).expect(0);
    let (proxy, connections) = service();
    let asked = |typed: &str| {
        let mut command = folder.command();
        command.env("http_proxy", format!("http://{proxy}"));
        let embedder = "openai:any@http://192.0.2.1/v1";
        command.args(["reembed", "docs.kb", "--embedder", embedder]);
        let outcome = answer_on_terminal(command, typed);
        let question = "Send 2 texts (about 8 tokens, ";
        assert!(outcome.stdout.contains(question), "{outcome:#?}");
        assert!(
            outcome.stdout.contains(" to 192.0.2.1? [y/N] "),
            "{outcome:#?}"
        );
        outcome
    };
    // Enter alone, a no, and words that are neither.
    for typed in ["\n", "n\n", "yup\n"] {
        let refused = asked(typed);
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(refused.stdout.contains("nothing was sent"), "{refused:#?}");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 0);
    asked("Yes\n");
    assert!(connections.load(Ordering::Relaxed) > 0);
}

#[test]
fn nothing_leaves_the_machine_before_it_is_allowed() {
    let folder = folder();
    let (proxy, connections) = service();
    // An address that nobody has: what is sent there goes through the proxy.
    let embedder = "openai:any@http://192.0.2.1/v1";
    let sending = |words: &[&str]| {
        let mut command = folder.command();
        command.env("http_proxy", format!("http://{proxy}"));
        run(command.args(words).args(["--embedder", embedder]))
    };
    let refused = sending(&["index", "docs", "-o", "docs.kb"]).expect(2);
    refused.stderr_has("2 texts (about 8 tokens, ");
    refused.stderr_has(" would be sent to 192.0.2.1; nothing was sent");
    assert_eq!(refused.hint(), "--yes sends them");
    // The text is in the file and can be searched.
    folder.kb(["search", "reader", "-f", "docs.kb"]).expect(0);
    let refused = sending(&["reembed", "docs.kb"]).expect(2);
    refused.stderr_has("would be sent to 192.0.2.1; nothing was sent");
    let refused = sending(&["watch", "docs", "-o", "docs.kb"]).expect(2);
    refused.stderr_has("nothing was sent");
    assert_eq!(connections.load(Ordering::Relaxed), 0);
    let sent = sending(&["reembed", "docs.kb", "--yes"]);
    sent.stderr_has("sending 2 texts (about 8 tokens, ");
    assert!(connections.load(Ordering::Relaxed) > 0, "{sent:#?}");
}

#[test]
fn a_service_of_this_machine_needs_no_consent_and_no_proxy() {
    let folder = folder();
    let (address, connections) = service();
    let (proxy, through) = service();
    let embedder = format!("openai:any@http://{address}/v1");
    let mut command = folder.command();
    command.env("http_proxy", format!("http://{proxy}"));
    command.args(["index", "docs", "-o", "docs.kb", "--embedder", &embedder]);
    run(&mut command).expect(0);
    assert_eq!(vectors(&folder), Some(2));
    assert!(connections.load(Ordering::Relaxed) > 0);
    assert_eq!(through.load(Ordering::Relaxed), 0);
}

#[test]
fn a_watch_makes_the_column_of_the_model_that_it_is_given() {
    let folder = folder();
    write_model(&folder.join("tiny"));
    let mut command = folder.command();
    command.args([
        "watch",
        "docs",
        "-o",
        "docs.kb",
        "--embedder",
        "model2vec:tiny",
    ]);
    let mut watching = command.spawn().unwrap();
    wait_until("both chunks have vectors", || vectors(&folder) == Some(2));
    folder.write("docs/three.md", "another word");
    wait_until("the new chunk has one", || vectors(&folder) == Some(3));
    watching.kill().unwrap();
    watching.wait().unwrap();
}
