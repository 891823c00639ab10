//! `kb search`: queries, output in parts, and several files.

mod answers;
mod regex;
mod reranking;
mod symbols;
mod vector_recall;
mod vectors;

use serde_json::Value;

use crate::support::{Folder, Outcome, documents, run};

#[test]
fn signs_in_a_query_say_which_chunks_may_answer() {
    let folder = Folder::indexed();
    let ask = |query: &str| {
        let told = folder.kb(["search", "--json", "--", query]);
        let lines = told.json_lines();
        documents(&lines)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(ask("\"polish the lens\""), ["docs/guide.md"]);
    assert!(ask("+\"lens the polish\"").is_empty());
    assert_eq!(ask("harbour path:site"), ["site/index.html"]);
    assert_eq!(ask("+paraffin storms"), ["notes.txt"]);
    let without = ask("lamp harbour buoy -paraffin -lens");
    assert!(!without.is_empty());
    assert!(!without.iter().any(|document| document == "notes.txt"));
    // Only signs: the documents that pass, by path.
    assert_eq!(ask("path:src"), ["src/buoy.py", "src/tide.rs"]);
    assert_eq!(ask("title:visitors"), ["site/index.html"]);
}

#[test]
fn a_file_as_first_word_of_a_query_is_pointed_out() {
    let folder = Folder::indexed();
    let name = "harbour.kb";
    let told = folder.kb(["search", name, "polish the lens"]).expect(0);
    assert!(told.stderr.contains("is treated as a word of the query"));
    let hint = format!("kb search -f {name} 'polish the lens'");
    told.stderr_has(&hint);
    let told = folder.kb("search missing.kb 'polish the lens'");
    assert!(!told.stderr.contains("is treated as a word of the query"));
}

#[test]
fn titles_find_documents_with_every_word() {
    let folder = Folder::indexed();
    let told = folder
        .kb("search --mode title 'harbour visit' --json")
        .expect(0);
    let lines = told.json_lines();
    assert_eq!(documents(&lines), ["site/index.html"]);
    assert!(lines[0]["keyword_score"].is_null() && lines[0]["score"].as_f64() > Some(0.6));
    folder.kb("search --mode title 'harbour walrus'").expect(1);
}

#[test]
fn filters_scopes_and_orders_are_flags() {
    let folder = Folder::indexed();
    let told = folder
        .kb("search 'water hours drift' --folder src --scope documents --sort path --json")
        .expect(0);
    assert_eq!(
        documents(&told.json_lines()),
        ["src/buoy.py", "src/tide.rs"]
    );
    let told = folder.kb("search water --folder sry").expect(2);
    assert!(
        told.stderr.contains("no folder \"sry\"") && told.stderr.contains("src"),
        "{told:#?}"
    );
    folder.kb("search water --since 1h").expect(0);
    let told = folder.kb("search water --since 2999-01-01").expect(1);
    told.stderr_has("no chunk passes");
    let told = folder.kb("search water --since yesterday").expect(2);
    told.stderr_has("2026-11-30");
    let told = folder.kb("search water --min-score 1").expect(1);
    told.stderr_has("no passage scores 1 or more; the best scores 0.");
    assert!(
        told.stderr.contains("pass a lower --min-score\n") && !told.stderr.contains("min_score"),
        "{told:#?}"
    );
    assert!(told.hint().contains("--min-score"), "{told:#?}");
    let told = folder.kb("search water --min-score 1.5").expect(2);
    let message = "error: --min-score: 1.5 given; allowed are 0 to 1\n";
    assert_eq!(told.stderr, message);
}

#[test]
fn errors_name_the_flag_that_was_given() {
    let folder = Folder::indexed();
    for (flag, value) in [
        ("-k", "0"),
        ("--max-tokens", "0"),
        ("--min-score", "2"),
        ("--tag", "none"),
        ("--type", "none"),
        ("--lang", "none"),
        ("--vector", "[1]"),
        ("--vector-column", "none"),
    ] {
        let words = match flag {
            "--vector-column" => vec!["search", "--vector", "[1]", flag, value],
            "--vector" => vec!["search", flag, value],
            _ => vec!["search", "water", flag, value],
        };
        let told = run(folder.command().args(words)).expect(2);
        let start = format!("error: {flag}: ");
        assert!(told.stderr.starts_with(&start), "{told:#?}");
    }
    let told = folder.kb("search water -B 9999").expect(2);
    assert!(
        told.stderr.starts_with("error: --before or --after: "),
        "{told:#?}"
    );
    // A tag of `kb tag` is the value of several flags.
    let told = folder.kb("tag notes.txt --add a,b").expect(2);
    assert!(told.stderr.starts_with("error: tag: "), "{told:#?}");
}

#[test]
fn every_filter_flag_keeps_what_it_names() {
    let folder = Folder::indexed();
    folder.kb("tag notes.txt --add late").expect(0);
    let ask = |flags: &[&str]| {
        let words = ["search", "water hours lamp station", "--json"];
        let told = run(folder.command().args(words).args(flags)).expect(0);
        let lines = told.json_lines();
        let documents = documents(&lines).into_iter().map(str::to_owned);
        documents.collect::<Vec<_>>()
    };
    assert_eq!(ask(&[]).len(), 7);
    for (flags, kept) in [
        (["--path", "*.py"], "src/buoy.py"),
        (["--folder", "site"], "site/index.html"),
        (["--type", "rust"], "src/tide.rs"),
        (["--lang", "py"], "src/buoy.py"),
        (["--class", "data"], "data/stations.csv"),
        (["--tag", "late"], "notes.txt"),
    ] {
        assert_eq!(ask(&flags), [kept], "{flags:?}");
    }
    assert_eq!(ask(&["-k", "2"]).len(), 2);
    assert!(!ask(&[]).is_sorted() && ask(&["--sort", "path"]).is_sorted());
    let told = folder.kb("search water --type go").expect(1);
    told.stderr_has("no document has type");
    let told = folder.kb("search water --lang go").expect(1);
    told.stderr_has("no document has language \"go\"; there are: ");
    assert!(
        told.stderr.contains("rust") && !told.stderr.contains("relevant"),
        "{told:#?}"
    );
}

#[test]
fn operators_that_leave_nothing_are_named() {
    let folder = Folder::indexed();
    let told = folder.kb(["search", "\"lens the polish\""]).expect(0);
    told.stderr_has("passes \"lens the polish\", so");
    let told = folder.kb(["search", "+\"lens the polish\""]).expect(1);
    told.stderr_has("has +\"lens the polish\"");
    assert!(told.hint().contains("--plain"), "{told:#?}");
    folder
        .kb(["search", "+\"lens the polish\"", "--plain"])
        .expect(0);
    let told = folder.kb("search -- -lens").expect(1);
    told.stderr_has("only says what to leave out");
}

#[test]
fn passages_of_a_long_document_are_joined_and_cut() {
    let folder = Folder::empty();
    let line = |number| match number {
        150 => "The walrus sleeps on the ice.\n".to_owned(),
        _ => format!("The harbour lamp number {number} burns all night long.\n"),
    };
    let text: String = (1..=300).map(line).collect();
    folder.write("long/sea.txt", &text);
    folder.kb("index long").expect(0);
    let ask = |words: &[&str]| {
        let told = run(folder.command().args(["search", "--json"]).args(words)).expect(0);
        told.json_lines()
    };
    let is_joined = |hits: &[Value]| hits.iter().any(|hit| hit["chunks"].as_u64() > Some(1));
    assert!(is_joined(&ask(&["harbour lamp"])));
    let apart = ask(&["harbour lamp", "--no-join"]);
    assert!(apart.len() > 1 && !is_joined(&apart));
    assert_eq!(ask(&["harbour lamp", "--scope", "documents"]).len(), 1);

    let hits = ask(&["walrus", "--no-join", "-k", "1", "-B", "2", "-A", "3"]);
    let number = |name: &str| hits[0][name].as_u64().expect("a line") as usize;
    let (first, last) = (number("start_line"), number("end_line"));
    assert!(first <= 150 && 150 <= last && first > 2 && last < 297);
    let lines = |first, last| (first..=last).map(line).collect::<String>();
    assert_eq!(hits[0]["text"], lines(first, last));
    assert_eq!(hits[0]["before"], lines(first - 2, first - 1));
    assert_eq!(hits[0]["after"], lines(last + 1, last + 3));

    let shown = |flags: &[&str]| {
        let words = ["search", "walrus", "--no-join", "-k", "1"];
        let told = run(folder.command().args(words).args(flags)).expect(0);
        told.stdout.lines().count()
    };
    let whole = shown(&["--full"]);
    assert!(shown(&[]) < whole);
    assert_eq!(shown(&["-A", "3"]), whole + 3);
}

#[test]
fn several_files_answer_as_one_and_each_hit_names_its_file() {
    let folder = Folder::indexed();
    folder.write(
        "other/fog.md",
        b"# Fog\n\nSound the horn while the fog lasts.\n",
    );
    folder.kb("index other").expect(0);
    let told = folder
        .kb("search 'fog horn' -f harbour.kb -f other.kb --json")
        .expect(0);
    let lines = told.json_lines();
    let files: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["file"].as_str())
        .collect();
    assert_eq!(files.len(), lines.len());
    assert!(
        files.contains(&"harbour.kb") && files.contains(&"other.kb"),
        "{files:?}"
    );
    let told = folder
        .kb("search 'fog horn' -f harbour.kb -f other.kb -k 2")
        .expect(0);
    told.stdout_has("other.kb fog.md:");
    let told = folder
        .kb("search fog -f harbour.kb -f missing.kb")
        .expect(2);
    told.stderr_has("missing.kb");
}

#[test]
fn lines_around_an_answer_are_numbered_on() {
    let folder = Folder::indexed();
    let told = folder
        .kb("search drift_distance --lang python -k 1 -B 2 -A 2")
        .expect(0);
    told.stdout_has("  4  def drift_distance");
    let told = folder
        .kb("search drift_distance --lang python -k 1 -A 2 --json")
        .expect(0);
    let lines = told.json_lines();
    assert!(lines[0]["after"].is_string() && lines[0]["before"].is_null());
}

#[test]
fn pages_of_a_document_are_given_by_number() {
    let folder = Folder::indexed();
    let whole = folder.kb("get docs/guide.md").expect(0).stdout;
    let page = folder.kb("get docs/guide.md --pages 1");
    assert_eq!(page.expect(0).stdout, whole);
    let told = folder.kb("get docs/guide.md --pages 1,1 --json");
    let lines = told.expect(0).json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["page"], &lines[0]["total_pages"]),
        (&1.into(), &1.into())
    );
    assert_eq!(lines[0]["text"].as_str(), Some(whole.as_str()));
}

#[test]
fn an_answer_in_parts_goes_on_where_it_stopped() {
    let folder = Folder::indexed();
    let commands: [&[&str]; 5] = [
        &["search", "harbour lamp water", "--json"],
        &["ls", "--json"],
        &["ls", "-r", "--json"],
        &["get", "docs/guide.md", "--json"],
        &["outline", "docs/guide.md", "--json"],
    ];
    for command in commands {
        let ask = |words: &[&str]| -> Outcome { run(folder.command().args(words)) };
        let whole = ask(command).expect(0).json_lines();
        let mut parts: Vec<Value> = Vec::new();
        let mut token: Option<String> = None;
        let mut rounds = 0;
        loop {
            let mut words: Vec<&str> = command.to_vec();
            words.extend(["--max-tokens", "30"]);
            if let Some(token) = &token {
                words.extend(["--continue", token]);
            }
            let mut lines = ask(&words).expect(0).json_lines();
            let paging = lines.pop().expect("a last line")["paging"].clone();
            assert!(paging["tokens"].as_u64() > Some(0), "{paging}");
            parts.extend(lines);
            rounds += 1;
            token = paging["continuation"].as_str().map(str::to_owned);
            assert_eq!(paging["has_more"], token.is_some());
            if token.is_none() {
                break;
            }
        }
        assert!(rounds > 1, "{command:?}");
        if command[0] == "get" {
            let text: String = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            assert_eq!(Some(text.as_str()), whole[0]["text"].as_str());
        } else {
            assert_eq!(parts, whole, "{command:?}");
        }
    }
    let told = folder.kb("ls --max-tokens 1").expect(0);
    told.stderr_has("--continue ");
    let wrong = ["search", "harbour", "--continue", "bm90IG91cnM", "--json"];
    let told = folder.kb(wrong).expect(2);
    told.stderr_has("INVALID_CONTINUATION_TOKEN");
    let told = folder.kb("ls --max-tokens 0").expect(2);
    assert!(
        told.stderr.starts_with("error: --max-tokens: "),
        "{told:#?}"
    );
}

#[test]
fn the_explanation_says_how_and_whether_anything_is_relevant() {
    let folder = Folder::indexed();
    let told = folder
        .kb("search 'polish the lens' --explain --json")
        .expect(0);
    let lines = told.json_lines();
    let explanation = &lines.last().expect("an explanation")["explanation"];
    assert_eq!(explanation["verdict"], "relevant");
    assert!(
        explanation["vector_rows"].as_u64() > Some(0),
        "{explanation}"
    );
    let steps = explanation["steps"].as_array().expect("steps");
    let names: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["step"].as_str())
        .collect();
    let expected = ["plan", "keyword", "vector", "fuse", "rank", "fuse", "text"];
    assert_eq!(names, expected);
    let told = folder.kb("search 'quarterly dividend of shareholders'");
    told.stderr_has("nothing");
}

#[test]
fn filters_list_documents_without_a_query() {
    let folder = Folder::indexed();
    folder.write(
        "harbour/notes/plan.md",
        "---\nstatus: draft\ndate: 2024-05-06\n---\nOn #work/pier see [[guide]].\n",
    );
    folder.write(
        "harbour/notes/!read.md",
        "---\nstatus: final\ndate: 2023-01-01\n---\nThe [plan](plan.md#x).\n",
    );
    folder.kb("index harbour").expect(0);
    let list = |arguments: &[&str]| {
        let told = run(folder.command().args(["search", "--json"]).args(arguments)).expect(0);
        let lines = told.json_lines();
        let found = documents(&lines).into_iter();
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    for arguments in [
        &["--field", "status=draft"][..],
        &["--field", "date>=2024"],
        &["--where", "status = \"draft\" and date > 2024-05-01"],
        &["--tag", "work"],
        &["--links-to", "guide.md"],
        &["--path", "notes/**", "--path", "!notes/!read.md"],
        &["pier", "--path", "notes/**"],
    ] {
        assert_eq!(list(arguments)[0], "notes/plan.md", "{arguments:?}");
    }
    assert_eq!(list(&["--links-to", "plan.md"]), ["notes/!read.md"]);
    assert_eq!(list(&["--path", "\\!read.md"]), ["notes/!read.md"]);
    let told = folder.kb("search pier --mode regex --path !notes/**");
    assert!(!told.stdout.contains("plan.md"), "{told:#?}");
    for (arguments, said) in [
        (["--field", "state=draft"], "unknown field"),
        (
            ["--where", "missing(x) and state = 1"],
            "unknown field \"state\" at character 16",
        ),
        (["--where", "(status"], "at character 8"),
        (["--path", "!"], "excludes nothing"),
        (["--links-to", "nowhere.md"], "nowhere.md"),
    ] {
        let told = run(folder.command().args(["search", "pier"]).args(arguments)).expect(2);
        told.stderr_has(said);
    }
    folder.kb("search").expect(2);
}
