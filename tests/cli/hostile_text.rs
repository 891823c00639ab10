//! Control and invisible characters in every untrusted text: names of files and folders, contents, records of a forged
//! file, arguments, the environment. All must be escaped in output, except for text of documents in a pipe.
//!
//! Once `kb ls -l` printed the file type as it stood in the file, JSON let C1 controls through, and
//! messages in a pipe everything.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use kb_engine::KbWriter;
use kb_engine::escape::is_hidden;

use crate::corruption::forgery::Stored;
use crate::support::terminal::run_on_terminal;
use crate::support::{Folder, Outcome, run};

/// One character of every kind, each after a letter: C0, DEL, C1, line ends, bidi controls and
/// isolates, of no width, fillers, selectors, tags. Escape sequences that a terminal answers or
/// obeys, without a slash, so that a file can be called so.
const EVIL: &str = "e\u{1b}]0;title\u{7}f\u{1b}[6ng\u{9b}6nh\ni\rj\tk\u{8}l\u{7f}m\u{85}n\u{2028}o\
                    \u{2029}p\u{202e}q\u{2066}r\u{61c}s\u{200b}t\u{200d}u\u{feff}v\u{ad}w\u{115f}x\
                    \u{fe0f}y\u{e0041}z\u{fff9}";

/// What the program itself sends to a terminal: its colours, and how the progress bar draws.
const OURS: [&str; 15] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[32m",
    "\u{1b}[35m",
    "\u{1b}[1;31m",
    "\u{1b}[1;33m",
    "\u{1b}[1;36m",
    "\u{1b}[2K",
    "\u{1b}[1A",
    "\u{1b}[1B",
    "\u{1b}[4m",
    "\u{1b}[1m\u{1b}[4m",
    "\r",
    "\n",
];

/// The verbs that print no JSON.
const WITHOUT_JSON: [&str; 3] = ["mcp", "man", "completions"];

fn evil(name: &str) -> String {
    format!("{name}-{EVIL}")
}

fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Runs one command line in a pipe, in a pipe with `--json` where the verb has it, and on a terminal
/// with colour and without; `prepare` before each.
fn check(folder: &Folder, line: &[OsString], prepare: &dyn Fn()) {
    let verb = line.first().and_then(|verb| verb.to_str()).unwrap_or("");
    let command = |more: &[&str]| {
        prepare();
        let mut command = folder.command();
        command.args(line).args(more);
        command
    };
    let is_text = matches!(verb, "get" | "search");
    let told = run(&mut command(&[]));
    seen(line, "stderr", &told, &told.stderr, is_hidden);
    if !is_text {
        let steers = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        seen(line, "stdout", &told, &told.stdout, steers);
    }
    if !WITHOUT_JSON.contains(&verb) {
        let told = run(&mut command(&["--json"]));
        seen(line, "stdout of --json", &told, &told.stdout, is_hidden);
        seen(line, "stderr of --json", &told, &told.stderr, is_hidden);
        told.json_lines();
    }
    for color in ["always", "never"] {
        let mut on_terminal = command(&[]);
        on_terminal.args(["--color", color]).env("TERM", "xterm");
        let told = run_on_terminal(on_terminal);
        let mut text = told.stdout.clone();
        for ours in OURS {
            text = text.replace(ours, "\n");
        }
        seen(line, "a terminal", &told, &text, is_hidden);
    }
}

#[track_caller]
fn seen(line: &[OsString], to: &str, told: &Outcome, text: &str, is_bad: impl Fn(char) -> bool) {
    // What a document says on several lines is indented by tabs in its text only.
    let bad = text
        .chars()
        .find(|c| *c != '\n' && *c != '\t' && is_bad(*c));
    assert!(
        bad.is_none(),
        "{bad:?} of kb {line:?} reaches {to}: {told:#?}"
    );
    assert!(!text.contains("panicked"), "kb {line:?}: {told:#?}");
}

/// A folder whose names and contents are hostile, indexed as `evil.kb`.
fn hostile_folder() -> Folder {
    let folder = Folder::empty();
    let sources = evil("src");
    // A file of control characters alone would pass for a binary one.
    let plain = "Many words that are no more than that.\n".repeat(100);
    let text = format!(
        "---\nauthor: {EVIL}\n---\n\n# Heading {EVIL}\n\nlens {EVIL}\n\n## Second {EVIL}\n\n{plain}"
    );
    folder.write(format!("{sources}/{}.md", evil("doc")), &text);
    folder.write(format!("{sources}/{}/inner.md", evil("dir")), &text);
    folder.write(format!("{sources}/type.{}", evil("t")), "lens of no type\n");
    let page = format!("<title>Page {EVIL}</title><h1>Lens {EVIL}</h1><p>lens {EVIL}</p>{plain}");
    folder.write(format!("{sources}/page.html"), page);
    folder.write(
        format!("{sources}/{}.png", evil("left")),
        b"\x89PNG\r\n\0\0\0",
    );
    let mut index = folder.command();
    index.args(["index", "-q", "-o", "evil.kb"]).arg(&sources);
    run(&mut index).expect(0);
    folder
}

#[test]
fn names_and_contents_of_sources_do_not_steer_a_terminal() {
    let folder = hostile_folder();
    let sources = evil("src");
    let listed = folder.kb("ls -r --json -f evil.kb").expect(0);
    let path = |end: &str| {
        let lines = listed.json_lines();
        let mut paths = lines
            .iter()
            .map(|line| line["document"].as_str().unwrap().to_owned());
        paths.find(|path| path.ends_with(end)).unwrap()
    };
    let (document, inner) = (path("z\u{fff9}.md"), path("inner.md"));
    let mut lines = vec![
        words(["ls", "-f", "evil.kb"]),
        words(["ls", "-l", "-r", "-f", "evil.kb"]),
        words(["ls", &evil("dir"), "-f", "evil.kb"]),
        words(["search", "lens", "-f", "evil.kb", "--explain"]),
        words(["search", "lens", EVIL, "-f", "evil.kb", "--full"]),
        words(["search", "lens", "-f", "evil.kb", "--mode", "title"]),
        words(["search", "lens", "-f", "evil.kb", "--max-tokens", "1"]),
        words(["search", "lens", "-f", "evil.kb", "-f", "evil.kb"]),
        words(["get", &document, "-f", "evil.kb"]),
        words(["get", &document, "-f", "evil.kb", "--lines", "900-901"]),
        words(["get", &document, "-f", "evil.kb", "--pages", "77"]),
        words(["get", &document, "-f", "evil.kb", "--section", "Heading"]),
        words(["get", "inner", "-f", "evil.kb"]),
        words(["get", ".md", "-f", "evil.kb"]),
        words(["outline", &document, "-f", "evil.kb"]),
        words(["outline", &inner, "-f", "evil.kb"]),
        words(["tag", &document, "-f", "evil.kb"]),
        words(["tag", &document, "-f", "evil.kb", "--add", "a\u{202e}b"]),
        words(["search", "lens", "-f", "evil.kb", "--tag", "a\u{202e}b"]),
        words(["info", "evil.kb", "--sizes"]),
        words(["verify", "evil.kb", "--source", &sources]),
        words(["index", &sources, "-o", "evil.kb", "--force-hash", "-v"]),
        words(["index", &sources, "-o", "evil.kb", "--check", "-v"]),
        words(["index", &sources, "-o", "new.kb", "--rebuild"]),
        words(["index", &sources]),
        words([
            "add",
            &format!("{sources}/page.html"),
            "-f",
            "evil.kb",
            "--path",
            "p/x",
        ]),
        words(["mcp", "evil.kb"]),
        words(["mcp", &format!("{sources}.kb")]),
        words(["seal", "evil.kb", "-o", &format!("{sources}.kb")]),
        words(["info", &format!("{sources}.kb")]),
        words(["bench", &format!("{sources}.kb"), "-n", "1"]),
        words(["rm", "evil.kb", &document]),
    ];
    for host in ["claude", "codex", "vscode", "opencode"] {
        let file = format!("{sources}.kb");
        lines.push(words(["mcp", &format!("x={file}"), "--print-config", host]));
    }
    for line in lines {
        check(&folder, &line, &|| ());
    }
}

#[test]
fn records_of_a_forged_file_do_not_steer_a_terminal() {
    let mut content = Stored::of_golden();
    for (id, record) in content.documents.values_mut() {
        let number = id.0.to_string();
        record.path = format!("{}/{}", evil(&number), evil("doc"));
        record.title = evil("title");
        record.suffix = evil(&number);
        record.file_type = evil("type");
        record.language = evil("language");
        record.metadata = vec![(evil("key"), evil("value")), (evil("key"), String::new())];
        record.tags = vec![evil("tag")];
    }
    content.meta.writer = evil("writer");
    content.meta.analyser = evil("analyser");
    content.meta.embedder.id = evil("model");
    for root in &mut content.meta.roots {
        root.source = format!("/nowhere/{}", evil("root"));
        root.prefix = evil("prefix");
        root.git_commit = Some(evil("commit"));
        root.git_branch = Some(evil("branch"));
    }
    let forged = content.into_bytes();
    let folder = Folder::empty();
    folder.write("page.html", "<p>lens</p>");
    let document = format!("{}/{}", evil("1"), evil("doc"));
    let fresh = || drop(folder.write("forged.kb", &forged));
    for line in [
        words(["ls", "-f", "forged.kb"]),
        words(["ls", "-l", "-r", "-f", "forged.kb"]),
        words(["search", "lens", "-f", "forged.kb"]),
        words([
            "search",
            "lens",
            "-f",
            "forged.kb",
            "--mode",
            "keyword",
            "--explain",
        ]),
        words(["search", "doc", "-f", "forged.kb", "--mode", "title"]),
        words([
            "search",
            "x",
            "-f",
            "forged.kb",
            "--mode",
            "keyword",
            "--type",
            "no",
        ]),
        words(["get", &document, "-f", "forged.kb"]),
        words(["get", &document, "-f", "forged.kb", "--section", "no"]),
        words(["get", "doc", "-f", "forged.kb"]),
        words(["outline", &document, "-f", "forged.kb"]),
        words(["tag", &document, "-f", "forged.kb"]),
        words(["tag", &document, "-f", "forged.kb", "--add", "x"]),
        words(["info", "forged.kb", "--sizes"]),
        words(["verify", "forged.kb"]),
        words(["verify", "forged.kb", "--deep"]),
        words(["verify", "forged.kb", "--source", "."]),
        words(["bench", "forged.kb", "-n", "1"]),
        words(["index", "page.html", "-o", "forged.kb"]),
        words(["index", "page.html", "-o", "forged.kb", "--check"]),
        words(["index", ".", "-o", "forged.kb", "--prune", "-v"]),
        words(["add", "page.html", "-f", "forged.kb"]),
        words(["seal", "forged.kb", "-o", "sealed.kb"]),
        words(["rm", "forged.kb", &document]),
        words(["watch", "gone", "-o", "forged.kb"]),
        words(["mcp", "forged.kb", "--allow-write", "--watch"]),
    ] {
        check(&folder, &line, &fresh);
    }
}

#[test]
fn arguments_and_the_environment_do_not_steer_a_terminal() {
    let folder = Folder::indexed();
    folder.write("plain.md", "# Plain\n\nA lens.\n");
    let e = EVIL;
    let flag = format!("--{e}");
    let mistyped = format!("--mod{e}");
    let mut lines = vec![
        words([e]),
        words([&flag]),
        words(["--color", e, "ls"]),
        words(["search", e]),
        words(["search", "x", &mistyped, "a"]),
        words(["search", "x", &flag]),
        words(["search", "x", &format!("--mode={e}")]),
        words(["search", "x", "-f", e]),
        words(["search", "x", "-k", e]),
        words(["search", "x", "--path", &format!("[{e}")]),
        words(["search", "x", "--folder", e]),
        words(["search", "x", "--type", e]),
        words(["search", "x", "--lang", e]),
        words(["search", "x", "--class", e]),
        words(["search", "x", "--tag", e]),
        words(["search", "x", "--since", e]),
        words(["search", "x", "--continue", e]),
        words(["search", "x", "--min-score", e]),
        words(["get", e]),
        words(["get", &format!("kb://{e}/doc/x")]),
        words(["get", "notes.txt", "--section", e]),
        words(["get", "notes.txt", "--lines", e]),
        words(["get", "notes.txt", "--pages", e]),
        words(["get", &format!("notes.txt:{e}")]),
        words(["outline", e]),
        words(["ls", e]),
        words(["add", e]),
        words(["add", "-", "--path", e]),
        words(["add", "plain.md", "--path", e]),
        words(["add", "plain.md", "--tag", e]),
        words(["add", "plain.md", "--title", e, "--replace"]),
        words(["ls", "-l", "-r"]),
        words(["rm", e, "x"]),
        words(["rm", "harbour.kb", e]),
        words(["tag", e]),
        words(["tag", "notes.txt", "--add", e]),
        words(["watch", e]),
        words(["watch", "harbour", "-o", &format!("{e}/x.kb")]),
        words(["index", e]),
        words(["index", "harbour", "-o", &format!("{e}/x.kb")]),
        words(["index", "harbour", "plain.md", &format!("-o{e}.kb")]),
        words(["index", "harbour", "--max-file-size", e]),
        words(["seal", e]),
        words(["seal", "harbour.kb", "-o", &format!("{e}/x.kb")]),
        words(["verify", e]),
        words(["verify", "harbour.kb", "--source", e]),
        words(["info", e]),
        words(["bench", e]),
        words(["bench", "harbour.kb", "--queries", e]),
        words(["mcp", e]),
        words(["mcp", &format!("{e}=harbour.kb")]),
        words(["mcp", "harbour.kb", "--print-config", e]),
        words(["mcp", "harbour.kb", "--http", e]),
        words(["mcp", "harbour.kb", "--http", "127.0.0.1:0", "--tokens", e]),
        words([
            "mcp",
            "harbour.kb",
            "--http",
            "127.0.0.1:0",
            "--allow-host",
            e,
        ]),
        words(["mcp", "harbour.kb", "--allow-write", "--allow-root", e]),
        words(["token", "create", e, "--tokens", "tokens.json"]),
        words(["token", "revoke", e, "--tokens", "tokens.json"]),
        words(["token", "list", "--tokens", e]),
        words(["token", e]),
        words(["completions", e]),
        words(["man", e]),
    ];
    // Bytes that are no text.
    let bytes = OsString::from_vec(b"a\xff\x1b]0;t\x07\xc2".to_vec());
    for verb in [
        "search", "get", "add", "index", "info", "seal", "verify", "mcp",
    ] {
        lines.push(vec![verb.into(), bytes.clone()]);
    }
    for line in lines {
        check(&folder, &line, &|| ());
    }
    for value in [OsString::from(e), bytes] {
        for color in ["always", "never"] {
            let mut command = folder.command();
            command
                .env("KB_FILE", &value)
                .args(["ls", "--color", color]);
            let told = run(&mut command).expect(2);
            assert!(told.stdout.is_empty());
            let mut text = told.stderr.clone();
            for ours in OURS {
                text = text.replace(ours, "\n");
            }
            seen(&words(["ls"]), "stderr", &told, &text, is_hidden);
        }
    }
}

#[test]
fn a_lock_record_does_not_steer_a_terminal() {
    let folder = Folder::indexed();
    folder.write("plain.md", "# Plain\n");
    let file = folder.join("harbour.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer.add_bytes("held.txt", b"held").unwrap();
    // The name of the program stands at the beginning of the file, whoever wrote it there.
    let bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(5).position(|part| part == b"kb 0.").unwrap();
    assert!(at < 4096, "{at}");
    let forged = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    let name = "\u{1b}\u{202e}\u{7f}";
    std::os::unix::fs::FileExt::write_all_at(&forged, name.as_bytes(), at as u64).unwrap();
    for line in [
        words(["add", "harbour/notes.txt", "--path", "x.txt"]),
        words(["tag", "notes.txt", "--add", "x"]),
        words(["rm", "harbour.kb", "notes.txt"]),
        words(["index", "harbour", "plain.md", "-o", "harbour.kb"]),
        words(["seal", "harbour.kb"]),
    ] {
        let line = [line, words(["--wait", "0.1"])].concat();
        check(&folder, &line, &|| ());
        let told = run(folder.command().args(&line)).expect(2);
        told.stderr_has("\\u{202e}");
    }
    drop(writer);
}

#[test]
fn a_hint_can_be_typed_as_it_stands() {
    let folder = hostile_folder();
    // The nearest document is offered in a command; the shell makes its name of that.
    let told = folder.kb("get inne.md -f evil.kb").expect(2);
    let hint = told.hint().to_owned();
    let offered = hint.trim_matches('`');
    assert!(offered.starts_with("kb get -f evil.kb $'"), "{hint}");
    let Ok(bash) = folder
        .sealed(Command::new("bash"))
        .args(["-c", &format!("kb() {{ \"$KB\" \"$@\"; }}; {offered}")])
        .env("KB", crate::support::kb_binary())
        .output()
    else {
        println!("skipped: no bash here");
        return;
    };
    let said = String::from_utf8_lossy(&bash.stdout);
    assert!(said.contains("lens e\u{1b}]0;title"), "{bash:?}");
}
