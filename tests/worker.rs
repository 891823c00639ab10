//! Files of untrusted formats are read in child processes: a file that kills one costs itself alone, and no
//! child outlives its parent. `%KB-TRIAL ...` are files that misbehave as they say, in builds for tests.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kb_engine::{Extraction, IndexOptions, KbWriter, Progress, WorkerOptions, document_of};
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::support::{Folder, Outcome, run, wait_until};

/// A document of a format that needs a worker.
const LETTER: &str = r"{\rtf1\ansi A letter about the lighthouse.\par}";

/// `tree/NAME` for each file of trials.
fn folder_of<const N: usize>(trials: [(&str, &str); N]) -> Folder {
    let folder = Folder::empty();
    for (name, trial) in trials {
        folder.write(format!("tree/{name}"), format!("%KB-TRIAL {trial}"));
    }
    folder
}

/// `kb` with so much time for a document.
fn command(folder: &Folder, limit_ms: u32) -> Command {
    let mut command = folder.command();
    command.env("KB_FAULT_WORKER_MS", limit_ms.to_string());
    command
}

fn index(folder: &Folder) -> Value {
    let arguments = ["index", "tree", "-o", "a.kb", "--threads", "1", "--json"];
    let told = run(command(folder, 20_000).args(arguments)).expect(0);
    told.json_lines().remove(0)
}

fn text(folder: &Folder, name: &str) -> String {
    folder.kb(["get", "-f", "a.kb", name]).expect(0).stdout
}

/// Why each file was left out.
fn reasons(report: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let skipped = report["skipped"].as_array().expect("a list").iter();
    skipped
        .map(|file| (word(&file["path"]), word(&file["reason"])))
        .collect()
}

/// The workers of a process.
fn workers_of(parent: u32) -> Vec<u32> {
    let mut workers = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("proc") {
        let entry = entry.expect("an entry");
        let Ok(process) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // Behind the name, which is in brackets: state and parent.
        let mut after = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let state = after.next().unwrap_or_default();
        let is_child = after.next().and_then(|id| id.parse().ok()) == Some(parent);
        let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if is_child && state != "Z" && line.contains("extract-worker") {
            workers.push(process);
        }
    }
    workers
}

fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A child of a killed parent waits for whoever inherits it.
    !stat.is_empty() && !stat.contains(") Z ")
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

/// Whether a worker has entered its sandbox.
fn is_ready(worker: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{worker}/status")).unwrap_or_default();
    status.contains("Seccomp:\t2")
}

/// An indexer that is busy with one file, and its worker, which is not `other`.
fn wait_for_worker(parent: &Child, other: Option<u32>) -> u32 {
    let mut found = None;
    wait_until("a worker", || {
        found = workers_of(parent.id())
            .into_iter()
            .find(|id| Some(*id) != other && is_ready(*id));
        found.is_some()
    });
    found.expect("a worker")
}

fn start(folder: &Folder) -> Child {
    let mut command = command(folder, 100_000);
    command.args(["index", "tree", "-o", "a.kb", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("kb starts")
}

fn ended(child: Child) -> Outcome {
    crate::support::outcome(child.wait_with_output().expect("kb ends"))
}

/// Its text is no more at fault than that of any other file: only its structure is not known.
#[test]
fn a_program_that_kills_its_parser_is_cut_by_lines() {
    let behind = "\n\ndef lighthouse():\n    return 1\n";
    let trials = ["abort", "spin", "hang", "overflow", "lie"];
    let folder = Folder::empty();
    for trial in trials {
        folder.write(
            format!("tree/{trial}.py"),
            format!("%KB-TRIAL {trial}{behind}"),
        );
    }
    folder.write("tree/whole.py", "def harbour():\n    return 1\n");
    let mut command = command(&folder, 6_000);
    command.env("KB_FAULT_WORKER_CPU_MS", "1000");
    let arguments = ["index", "tree", "-o", "a.kb", "--threads", "1", "--json"];
    let report = run(command.args(arguments))
        .expect(0)
        .json_lines()
        .remove(0);
    assert_eq!(report["documents"], 6, "{report}");
    assert_eq!(report["skipped"], json!([]));
    let (ended, slow) = (
        "the worker process that parsed it ended",
        "parsing it takes too long",
    );
    let row = |path: &str, reason: &str| json!({"path": path, "reason": reason});
    let rows = [
        row("abort.py", ended),
        row("hang.py", slow),
        row("lie.py", ended),
        row("overflow.py", ended),
        row("spin.py", slow),
    ];
    assert_eq!(report["unparsed"], json!(rows));
    assert_eq!(text(&folder, "hang.py"), format!("%KB-TRIAL hang{behind}"));
    let outline = |name: &str| folder.kb(["outline", "-f", "a.kb", name, "--json"]).stdout;
    assert!(outline("whole.py").contains("def harbour"));
    assert!(!outline("hang.py").contains("def lighthouse"));
    let again = index(&folder);
    assert_eq!(
        (&again["unparsed"], &again["unchanged"]),
        (&json!([]), &json!(6))
    );
}

#[test]
fn one_worker_reads_all_files_of_a_thread() {
    let folder = folder_of([("a.x", "process"), ("b.x", "process"), ("c.x", "process")]);
    folder.write("tree/letter.rtf", LETTER);
    let report = index(&folder);
    assert_eq!(report["documents"], 4, "{report}");
    let processes: Vec<String> = ["a.x", "b.x", "c.x"].map(|name| text(&folder, name)).into();
    assert!(
        processes.iter().all(|id| *id == processes[0]),
        "{processes:?}"
    );
    assert!(text(&folder, "letter.rtf").contains("A letter about the lighthouse."));
}

#[test]
fn a_file_that_misbehaves_costs_itself_alone() {
    let trials = [
        "abort", "allocate", "exit", "lie", "overflow", "panic", "spin",
    ];
    let folder = Folder::empty();
    for trial in trials {
        folder.write(format!("tree/{trial}.x"), format!("%KB-TRIAL {trial}"));
        folder.write(format!("tree/{trial}-after.x"), "%KB-TRIAL process");
    }
    folder.write("tree/notes.txt", "plain text");
    let arguments = ["index", "tree", "-o", "a.kb", "--threads", "2", "--json"];
    let told = run(command(&folder, 8_000).args(arguments)).expect(0);
    let report = told.json_lines().remove(0);
    assert_eq!(report["documents"], trials.len() + 1, "{report}");
    let expected = [
        (
            "abort.x",
            "the worker process that read it ended (signal: 6 (SIGABRT)",
        ),
        (
            "allocate.x",
            "reading it took more memory than a worker may have",
        ),
        (
            "exit.x",
            "the worker process that read it ended (exit status: 3)",
        ),
        (
            "lie.x",
            "the worker process that read it gave a wrong answer: ",
        ),
        (
            "overflow.x",
            "the worker process that read it ended (signal: 6 (SIGABRT)",
        ),
        (
            "panic.x",
            "extraction failed inside; please report this file",
        ),
        ("spin.x", "reading it took more than 8 s"),
    ];
    let reasons = reasons(&report);
    assert_eq!(reasons.len(), expected.len(), "{reasons:?}");
    for ((path, reason), (name, told)) in reasons.iter().zip(expected) {
        assert!(path == name && reason.starts_with(told), "{path}: {reason}");
    }
    // Remembered, and not tried at each run.
    let again = Instant::now();
    let arguments = ["index", "tree", "-o", "a.kb"];
    run(command(&folder, 60_000).args(arguments)).expect(0);
    assert!(
        again.elapsed() < Duration::from_secs(25),
        "{:?}",
        again.elapsed()
    );
}

/// A loaded machine, one that slept, a worker that somebody stopped: the file is not at fault.
#[test]
fn a_worker_without_cpu_time_tells_nothing_of_its_file() {
    let folder = folder_of([("a.x", "process")]);
    index(&folder);
    let known = text(&folder, "a.x");
    folder.write("tree/a.x", "%KB-TRIAL spin");
    let mut command = command(&folder, 6_000);
    command.args(["index", "tree", "-o", "a.kb", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let indexer = command.spawn().expect("kb starts");
    send("-STOP", wait_for_worker(&indexer, None));
    let report = ended(indexer).expect(0).json_lines().remove(0);
    let reasons = reasons(&report);
    assert!(
        matches!(&reasons[..], [(path, reason)] if path == "a.x"
            && reason.starts_with("reading it took more than 6 s, of which its worker process had ")),
        "{reasons:?}"
    );
    assert_eq!(text(&folder, "a.x"), known);
    // It is read at the next run, though nobody touched it.
    let mut command = self::command(&folder, 60_000);
    command.env("KB_FAULT_WORKER_CPU_MS", "1000");
    let told = run(command.args(["index", "tree", "-o", "a.kb", "--json"])).expect(0);
    let reason = "reading it took more than 1 s of CPU time".to_owned();
    let report = told.json_lines().remove(0);
    assert_eq!(self::reasons(&report), [("a.x".to_owned(), reason)]);
}

#[test]
fn a_file_has_only_so_much_cpu_time() {
    let folder = folder_of([("a.x", "process"), ("b.x", "spin"), ("c.x", "process")]);
    let mut command = command(&folder, 100_000);
    command.env("KB_FAULT_WORKER_CPU_MS", "1000");
    let told = run(command.args(["index", "tree", "-o", "a.kb", "--json"])).expect(0);
    let reason = "reading it took more than 1 s of CPU time".to_owned();
    let report = told.json_lines().remove(0);
    assert_eq!(reasons(&report), [("b.x".to_owned(), reason)]);
    assert_eq!(report["documents"], 2, "{report}");
}

#[test]
fn a_worker_can_compute_and_nothing_else() {
    let folder = folder_of([("a.x", "escape")]);
    index(&folder);
    assert_eq!(text(&folder, "a.x"), "escapes:\nvariables: 0\n");
}

/// More panics than a pipe holds words of: nobody reads them while the worker works.
#[test]
fn panics_that_are_caught_hold_up_no_worker() {
    let folder = folder_of([("a.x", "panics")]);
    let report = index(&folder);
    assert_eq!(reasons(&report), []);
    assert_eq!(text(&folder, "a.x"), "caught all");
}

#[test]
fn memory_that_a_file_leaves_behind_is_not_kept() {
    let folder = folder_of([
        ("a.x", "process"),
        ("b.x", "leak 600"),
        ("c.x", "process"),
        ("d.x", "allocate 300"),
    ]);
    let report = index(&folder);
    assert_eq!(report["documents"], 4, "{report}");
    assert_ne!(text(&folder, "a.x"), text(&folder, "c.x"));
    assert_eq!(text(&folder, "d.x"), "300 MiB");
}

/// It is tried again in a new worker, because it may be the memory of those before it that ended the first one.
#[test]
fn a_file_is_tried_once_more_after_others() {
    let folder = folder_of([("a.x", "leak 300"), ("b.x", "allocate 800")]);
    let report = index(&folder);
    assert_eq!(reasons(&report), []);
    assert_eq!(text(&folder, "b.x"), "800 MiB");
}

#[test]
fn a_worker_that_is_killed_is_replaced_once() {
    let folder = folder_of([("a.x", "pause 3")]);
    let indexer = start(&folder);
    let first = wait_for_worker(&indexer, None);
    send("-KILL", first);
    wait_for_worker(&indexer, Some(first));
    let report = ended(indexer).expect(0).json_lines().remove(0);
    assert_eq!(report["documents"], 1, "{report}");

    let folder = folder_of([("a.x", "hang")]);
    folder.write("tree/b.txt", "plain");
    let indexer = start(&folder);
    let first = wait_for_worker(&indexer, None);
    send("-KILL", first);
    let second = wait_for_worker(&indexer, Some(first));
    send("-KILL", second);
    let report = ended(indexer).expect(0).json_lines().remove(0);
    assert_eq!(report["documents"], 1, "{report}");
    let reason = "the worker process that read it was killed, twice".to_owned();
    assert_eq!(reasons(&report), [("a.x".to_owned(), reason)]);
    // Nothing is known of the file, so it is read the next time.
    folder.write("tree/a.x", "%KB-TRIAL pause");
    let report = index(&folder);
    assert_eq!(report["documents"], 2, "{report}");
}

#[test]
fn a_killed_indexer_leaves_no_worker() {
    let folder = folder_of([("a.x", "hang"), ("b.x", "spin")]);
    let indexer = start(&folder);
    wait_until("two workers", || {
        workers_of(indexer.id()).len()
            == 2.min(std::thread::available_parallelism().map_or(1, usize::from))
    });
    let workers = workers_of(indexer.id());
    send("-KILL", indexer.id());
    ended(indexer);
    wait_until("the end of its workers", || {
        !workers.iter().any(|worker| is_running(*worker))
    });
}

#[test]
fn an_interrupted_indexer_ends_at_once_with_its_workers() {
    let folder = folder_of([("a.x", "hang")]);
    let indexer = start(&folder);
    let worker = wait_for_worker(&indexer, None);
    let since = Instant::now();
    send("-INT", indexer.id());
    assert_eq!(ended(indexer).code, Some(130));
    assert!(
        since.elapsed() < Duration::from_secs(30),
        "{:?}",
        since.elapsed()
    );
    assert!(!is_running(worker));
    assert!(!folder.join("a.kb").exists());
}

#[test]
fn without_an_executable_only_such_files_are_left_out() {
    // Not there, ends at once, says something else.
    for executable in ["/nonexistent/kb", "/bin/true", "/bin/echo"] {
        let folder = Folder::empty();
        folder.write("tree/letter.rtf", LETTER);
        folder.write("tree/notes.txt", "plain text");
        let arguments = ["index", "tree", "-o", "a.kb", "--json"];
        let mut command = command(&folder, 20_000);
        let told = run(command.env("KB_FAULT_WORKER", executable).args(arguments)).expect(0);
        let report = told.json_lines().remove(0);
        assert_eq!(report["documents"], 1, "{report}");
        let reasons = reasons(&report);
        assert!(
            matches!(&reasons[..], [(path, reason)] if path == "letter.rtf"
                && reason.starts_with("its worker process ") && reason.contains(executable)),
            "{reasons:?}"
        );
        // The next run has one.
        assert_eq!(index(&folder)["documents"], 2);
    }
    let folder = Folder::empty();
    folder.write("letter.rtf", LETTER);
    let mut command = command(&folder, 20_000);
    let arguments = ["add", "letter.rtf", "-f", "a.kb", "--json"];
    let told = run(command
        .env("KB_FAULT_WORKER", "/nonexistent/kb")
        .args(arguments))
    .expect(2);
    assert_eq!(told.error_code(), "NO_EXTRACTION_WORKER");
}

/// An executable that notes each start, then is a worker.
fn noting(folder: &Folder, note: &Path) -> std::path::PathBuf {
    let kb = crate::support::kb_binary().display();
    let script = format!(
        "#!/bin/sh\necho started >> {}\nexec {kb} \"$@\"\n",
        note.display()
    );
    let path = folder.write("noting.sh", script);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("mode");
    path
}

#[test]
fn a_tree_of_text_starts_no_worker() {
    let folder = Folder::empty();
    // Text with markup and programs have one.
    folder.write(
        "harbour/notes.txt",
        "Order paraffin before the winter storms.\n",
    );
    folder.write("harbour/stations.csv", "station,latitude\nSkagen,57.72\n");
    folder.write("harbour/lamp.json", "{\"lens\": \"fresnel\"}\n");
    let note = folder.join("starts");
    let script = noting(&folder, &note);
    let index = || {
        let mut command = command(&folder, 60_000);
        command.env("KB_FAULT_WORKER", &script);
        run(command.args(["index", "harbour", "--threads", "1"])).expect(0)
    };
    index();
    assert!(!note.exists(), "a worker was started");
    folder.write("harbour/letter.rtf", LETTER);
    folder.write("harbour/other.rtf", LETTER);
    index();
    assert_eq!(
        std::fs::read_to_string(&note).expect("a start"),
        "started\n"
    );
}

#[test]
fn uploads_are_read_by_a_worker() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write"]);
    let upload = |trial: &str| json!({"fileName": format!("{trial}.x"), "content": format!("%KB-TRIAL {trial}"), "encoding": "text"});
    let told = client.tool("upload_document", upload("process"));
    assert_eq!(told["status"], "complete", "{told}");
    let text = client.error("upload_document", upload("abort"));
    assert!(text.starts_with("EXTRACTION_FAILED: "), "{text}");
    let text = client.error("upload_document", upload("allocate"));
    assert!(text.starts_with("EXTRACTION_LIMIT: "), "{text}");
    folder.write("tree/letter.rtf", LETTER);
    folder.write("tree/abort.x", "%KB-TRIAL abort");
    let told = client.tool("index_codebase", json!({"path": "tree"}));
    assert_eq!(told["stats"]["files_skipped"], 1, "{told}");
}

#[test]
fn a_slow_upload_goes_on_after_its_answer() {
    let folder = Folder::indexed();
    let mut client = Client::stdio(&folder, &["harbour.kb", "--allow-write"]);
    let upload =
        |content: &str| json!({"fileName": "slow.x", "content": content, "encoding": "text"});
    let since = Instant::now();
    let told = client.tool("upload_document", upload("%KB-TRIAL pause 12"));
    assert_eq!(told["status"], "processing", "{told}");
    assert!(since.elapsed() < Duration::from_secs(10));
    let told = client.tool("get_status", json!({"document_id": "slow.x"}));
    assert_eq!(told["status"], "processing", "{told}");
    // What was sent later stays, though it is read sooner.
    let told = client.tool("upload_document", upload("the later words"));
    assert_eq!(told["status"], "processing", "{told}");
    wait_until("both uploads", || {
        let told = client.tool("get_status", json!({"document_id": "slow.x"}));
        told["status"] != "processing"
    });
    let told = client.tool("get_document", json!({"doc_handle": "slow.x"}));
    assert_eq!(told["body"], "the later words");
}

#[test]
fn a_library_reads_such_files_where_it_is_told_to() {
    let letter = LETTER.as_bytes();
    // Nobody said anything in this process.
    let refused = document_of("letter.rtf", letter).unwrap_err();
    assert_eq!(refused.code(), "NO_EXTRACTION_WORKER");
    let worker = || Extraction::Worker(WorkerOptions::new(crate::support::kb_binary()));
    let document = Extraction::InProcess
        .extract("letter.rtf", letter)
        .expect("a letter");
    assert_eq!(
        worker().extract("letter.rtf", letter).expect("a letter"),
        document
    );
    let cut = &LETTER.as_bytes()[..20];
    assert_eq!(
        worker()
            .extract("letter.rtf", cut)
            .map_err(|error| error.to_string()),
        Extraction::InProcess
            .extract("letter.rtf", cut)
            .map_err(|error| error.to_string()),
    );

    let folder = Folder::empty();
    folder.write("tree/letter.rtf", LETTER);
    let paths = [folder.join("tree")];
    let mut writer = KbWriter::open_or_create(folder.join("a.kb")).expect("a writer");
    let mut index = |options: &IndexOptions| {
        let report = writer.index(&paths, options, &mut Progress::ignore);
        report.expect("a report")
    };
    let report = index(&IndexOptions::new());
    assert_eq!((report.documents, report.skipped.len()), (0, 1));
    let report = index(&IndexOptions::new().extraction(worker()));
    assert_eq!((report.documents, report.skipped.len()), (1, 0));
    assert!(writer.add_bytes("b.rtf", letter).is_err());
    let mut writer = writer.extraction(worker());
    writer.add_bytes("b.rtf", letter).expect("a letter");
    writer.replace_bytes("b.rtf", letter).expect("a letter");
}
