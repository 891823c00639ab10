//! The `kb` command, run as people and scripts run it.

mod bad_input;
mod bringing_up_to_date;
mod changing;
mod dashes;
mod embedding;
mod finding_the_file;
mod hostile_sources;
#[cfg(target_os = "linux")]
mod hostile_text;
mod measuring;
mod merging;
mod models;
#[cfg(unix)]
mod outputs;
mod reading;
mod roots;
mod searching;
mod shipping;
mod streams;
mod watching;

use crate::support::{CORPUS, Folder, documents};

/// The text of a file of the corpus.
fn corpus_text(name: &str) -> &'static str {
    CORPUS
        .iter()
        .find(|(file, _)| *file == name)
        .expect("a file of the corpus")
        .1
}

#[test]
fn index_names_the_file_after_the_folder() {
    let folder = Folder::with_corpus();
    let told = folder.kb("index harbour").expect(0);
    assert_eq!(folder.names(), ["harbour", "harbour.kb"]);
    assert!(
        told.stdout.starts_with("harbour.kb  7 documents, "),
        "{told:#?}"
    );
    told.stdout_has("skipped 1 file:");
    told.stdout_has("logo.png");
    assert_eq!(told.stderr, "");
}

#[test]
fn index_in_the_folder_itself_does_not_read_its_own_file() {
    let folder = Folder::with_corpus();
    let inside = folder.join("harbour");
    for _ in 0..2 {
        let told = crate::support::run(folder.command().current_dir(&inside).args(["index", "."]));
        assert!(
            told.expect(0)
                .stdout
                .starts_with("harbour.kb  7 documents, ")
        );
    }
    let listed = crate::support::run(folder.command().current_dir(&inside).args(["ls", "-r"]));
    assert!(!listed.expect(0).stdout.contains(".kb"));
}

#[test]
fn index_reports_as_json_and_is_silent_when_asked() {
    let folder = Folder::with_corpus();
    let told = folder
        .kb("index harbour -o a.kb --json")
        .expect(0)
        .json_lines();
    let [report] = told.as_slice() else {
        panic!("{told:#?}")
    };
    assert_eq!(report["file"], "a.kb");
    assert_eq!(report["documents"], 7);
    assert!(report["chunks"].as_u64().unwrap() >= 7);
    let source: usize = CORPUS.iter().map(|(_, text)| text.len()).sum();
    assert!(
        report["source_bytes"].as_u64().unwrap() >= source as u64,
        "{report:#?}"
    );
    assert_eq!(
        report["file_bytes"],
        std::fs::metadata(folder.join("a.kb")).unwrap().len()
    );
    let skipped = report["skipped"].as_array().unwrap();
    assert!(
        skipped
            .iter()
            .any(|file| file["path"].as_str().unwrap().ends_with("logo.png"))
    );
    assert!(
        skipped
            .iter()
            .all(|file| !file["reason"].as_str().unwrap().is_empty())
    );

    let silent = folder.kb("index harbour -o a.kb --quiet").expect(0);
    assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("", ""));
}

#[test]
fn files_over_the_size_limit_are_left_out_with_a_reason() {
    let folder = Folder::with_corpus();
    folder.write("harbour/long.txt", "storm warning\n".repeat(1000));
    let told = folder.kb("index harbour --max-file-size 10K -v").expect(0);
    told.stdout_has("harbour.kb  7 documents, ");
    told.stdout_has("long.txt");
}

#[test]
fn each_question_finds_its_document_first() {
    let folder = Folder::indexed();
    for (query, document) in [
        ("polish the lens", "docs/guide.md"),
        ("solar panel wiring", "docs/install.rst"),
        ("museum opening hours", "site/index.html"),
        ("predict_high_water", "src/tide.rs"),
        ("drift distance of a buoy", "src/buoy.py"),
        ("order paraffin", "notes.txt"),
        ("Skagen", "data/stations.csv"),
    ] {
        let answers = folder
            .kb(["search", query, "--json"])
            .expect(0)
            .json_lines();
        assert_eq!(
            documents(&answers).first(),
            Some(&document),
            "{query}: {answers:#?}"
        );
    }
}

#[test]
fn text_results_show_path_title_score_and_numbered_lines() {
    let folder = Folder::indexed();
    let told = folder.kb("search polish the lens --mode keyword").expect(0);
    let mut lines = told.stdout.lines();
    let header = lines.next().unwrap();
    let (place, rest) = header.split_once("  ").unwrap();
    assert!(place.starts_with("docs/guide.md:"), "{header}");
    assert!(rest.starts_with("Keeper's guide"), "{header}");
    let score: f64 = rest.rsplit("  ").next().unwrap().parse().unwrap();
    assert!((0.0..=1.0).contains(&score), "{header}");
    let number = corpus_text("docs/guide.md")
        .lines()
        .position(|line| line.contains("polish"));
    let shown = format!(
        "{}  Trim the wick every evening and polish",
        number.unwrap() + 1
    );
    told.stdout_has(&shown);
}

#[test]
fn json_answers_carry_every_field_and_point_at_the_stored_text() {
    let folder = Folder::indexed();
    let answers = folder.kb("search 'fog horn' --json").expect(0);
    let keys = "{\"document\":,\"title\":,\"section\":,\"score\":,\"keyword_score\":,\
                \"vector_score\":,\"start_line\":,\"end_line\":,\"start_byte\":,\"end_byte\":,\
                \"file_type\":,\"language\":,\"class\":,\"text\":";
    let line = answers.stdout.lines().next().unwrap();
    let mut rest = line;
    for key in keys.trim_start_matches('{').split(',') {
        let at = rest
            .find(key)
            .unwrap_or_else(|| panic!("{key} is missing or too early: {line}"));
        rest = &rest[at..];
    }
    for answer in answers.json_lines() {
        let name = answer["document"].as_str().unwrap();
        let stored = folder.kb(["get", name]).expect(0).stdout;
        let byte = |key: &str| answer[key].as_u64().unwrap() as usize;
        assert_eq!(
            &stored[byte("start_byte")..byte("end_byte")],
            answer["text"].as_str().unwrap()
        );
        assert!(1 <= byte("start_line") && byte("start_line") <= byte("end_line"));
        for score in ["score", "keyword_score", "vector_score"] {
            assert!(
                (0.0..=1.0).contains(&answer[score].as_f64().unwrap()),
                "{score}: {answer:#}"
            );
        }
        assert!(answer["section"].is_array());
    }
}

#[test]
fn a_part_that_the_mode_has_not_is_null() {
    let folder = Folder::indexed();
    let keyword = folder.kb("search horn --mode keyword --json").expect(0);
    assert!(
        keyword
            .json_lines()
            .iter()
            .all(|answer| answer["vector_score"].is_null())
    );
    let semantic = folder.kb("search horn --mode semantic --json").expect(0);
    assert!(
        semantic
            .json_lines()
            .iter()
            .all(|answer| answer["keyword_score"].is_null())
    );
    assert!(
        semantic
            .json_lines()
            .iter()
            .all(|answer| answer["vector_score"].is_f64())
    );
}

#[test]
fn filters_let_only_their_documents_through() {
    let folder = Folder::indexed();
    // A question that every document may answer by meaning.
    let answers = |filters: &[&str]| {
        let mut command = folder.command();
        command
            .args([
                "search",
                "harbour lights, stations and winter storms",
                "--json",
                "-k",
                "100",
            ])
            .args(filters);
        let told = crate::support::run(&mut command).expect(0);
        let mut found: Vec<String> = documents(&told.json_lines())
            .into_iter()
            .map(str::to_owned)
            .collect();
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(answers(&[]).len(), 7);
    assert_eq!(answers(&["--type", "markdown"]), ["docs/guide.md"]);
    assert_eq!(answers(&["--type", "md"]), ["docs/guide.md"]);
    assert_eq!(answers(&["--lang", "rust"]), ["src/tide.rs"]);
    assert_eq!(
        answers(&["--lang", "rust", "--lang", "py"]),
        ["src/buoy.py", "src/tide.rs"]
    );
    assert_eq!(answers(&["--class", "data"]), ["data/stations.csv"]);
    assert_eq!(
        answers(&["--class", "code"]),
        ["src/buoy.py", "src/tide.rs"]
    );
    assert_eq!(
        answers(&["--path", "docs/**"]),
        ["docs/guide.md", "docs/install.rst"]
    );
    assert_eq!(
        answers(&["--path", "*.py", "--path", "notes.txt"]),
        ["notes.txt", "src/buoy.py"]
    );
    assert_eq!(
        answers(&["--path", "src/*", "--lang", "rust"]),
        ["src/tide.rs"]
    );
}

#[test]
fn k_limits_the_answers() {
    let folder = Folder::indexed();
    let told = folder.kb("search 'the harbour' -k 2 --json").expect(0);
    assert_eq!(told.json_lines().len(), 2);
}

#[test]
fn full_shows_the_whole_chunk() {
    let folder = Folder::indexed();
    let hit = &folder
        .kb("search Nautical --json -k 1")
        .expect(0)
        .json_lines()[0];
    let told = folder.kb("search Nautical --full -k 1").expect(0);
    for line in hit["text"].as_str().unwrap().lines() {
        assert!(
            told.stdout.contains(line),
            "{line:?} is missing:\n{}",
            told.stdout
        );
    }
}

#[test]
fn explain_prints_to_stderr_or_the_last_json_object() {
    let folder = Folder::indexed();
    let told = folder.kb("search 'solar panel' --explain").expect(0);
    told.stderr_has("x keyword + ");
    told.stderr_has("term solar: in 1 chunk, idf ");
    told.stdout_has("  keyword 0.");

    let lines = folder
        .kb("search 'solar panel' --explain --json")
        .expect(0)
        .json_lines();
    let (last, hits) = lines.split_last().unwrap();
    assert!(
        hits.iter()
            .all(|hit| hit["terms"].is_array() && hit["explanation"].is_null())
    );
    assert_eq!(hits[0]["terms"][0]["frequency"], 1, "{:#?}", hits[0]);
    let terms = last["explanation"]["terms"].as_array().unwrap();
    assert!(
        terms
            .iter()
            .any(|term| term["term"] == "solar" && term["chunks"] == 1),
        "{last:#}"
    );
}

#[test]
fn the_question_may_come_from_standard_input() {
    let folder = Folder::indexed();
    let told = folder
        .kb_with_input(["search", "-", "--json"], b"solar panel\n")
        .expect(0);
    assert_eq!(documents(&told.json_lines())[0], "docs/install.rst");
}

#[test]
fn nothing_found_says_so_and_ends_with_one() {
    let folder = Folder::indexed();
    let told = folder.kb("search xyzzyplugh --mode keyword").expect(1);
    assert_eq!(told.stdout, "");
    told.stderr_has("nothing found for \"xyzzyplugh\"");
    assert!(told.hint().contains("--mode hybrid"), "{told:#?}");
    let filtered = folder.kb("search lamp --path nowhere/**").expect(1);
    filtered.stderr_has("no chunk passes these filters");
    let json = folder
        .kb("search xyzzyplugh --mode keyword --json")
        .expect(1);
    // Nothing but what is said of the answer.
    let lines = json.json_lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0]["summary"]["verdict"].is_string(), "{lines:?}");
}

#[test]
fn ls_lists_folders_and_documents() {
    let folder = Folder::indexed();
    let mut top: Vec<String> = folder
        .kb("ls")
        .expect(0)
        .stdout
        .lines()
        .map(str::to_owned)
        .collect();
    top.sort();
    assert_eq!(top, ["data/", "docs/", "notes.txt", "site/", "src/"]);
    for spelling in ["docs", "docs/", "./docs"] {
        let told = folder.kb(["ls", spelling]).expect(0);
        assert_eq!(
            told.stdout, "docs/guide.md\ndocs/install.rst\n",
            "{spelling}"
        );
    }
    let mut all: Vec<String> = folder
        .kb("ls -r")
        .expect(0)
        .stdout
        .lines()
        .map(str::to_owned)
        .collect();
    all.sort();
    let mut names: Vec<&str> = CORPUS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(all, names);

    let entries = folder.kb("ls --json").expect(0).json_lines();
    let docs = entries
        .iter()
        .find(|entry| entry["folder"] == "docs")
        .unwrap();
    assert_eq!(docs["documents"], 2);
    let notes = entries
        .iter()
        .find(|entry| entry["document"] == "notes.txt")
        .unwrap();
    assert_eq!(notes["size_bytes"], corpus_text("notes.txt").len());
    assert_eq!(notes["hash"].as_str().unwrap().len(), 64);
    let long = folder.kb("ls -l docs").expect(0);
    long.stdout_has("markdown");
}

#[test]
fn info_counts_and_accounts_for_every_byte() {
    let folder = Folder::indexed();
    let info = &folder
        .kb("info harbour.kb --sizes --json")
        .expect(0)
        .json_lines()[0];
    let file_bytes = std::fs::metadata(folder.join("harbour.kb")).unwrap().len();
    assert_eq!(info["documents"], 7);
    assert_eq!(info["file_bytes"], file_bytes);
    assert_eq!(info["types"]["markdown"], 1);
    assert_eq!(info["languages"]["rust"], 1);
    assert_eq!(info["classes"]["data"], 1);
    assert_eq!(info["uuid"].as_str().unwrap().len(), 32);
    assert_eq!(info["model_available"], true);
    let sections = info["sizes"]["sections"].as_array().unwrap();
    let sum: u64 = sections
        .iter()
        .map(|section| section["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, file_bytes);

    let told = folder.kb("info --sizes").expect(0).stdout;
    assert!(told.starts_with("harbour.kb  "), "{told}");
    assert!(told.contains("documents   7\n"), "{told}");
    assert!(told.lines().last().unwrap().contains("100.0 %"), "{told}");
}

#[test]
fn indexing_again_gives_the_same_answers_and_follows_changes() {
    let folder = Folder::indexed();
    let ask = || {
        folder
            .kb("search 'fog horn lamp' --json -k 50")
            .expect(0)
            .stdout
    };
    let before = ask();
    folder.kb("index harbour").expect(0);
    assert_eq!(ask(), before);

    folder.write(
        "harbour/docs/rescue.md",
        "# Rescue\n\nLaunch the breeches buoy apparatus.\n",
    );
    std::fs::remove_file(folder.join("harbour/notes.txt")).unwrap();
    folder.kb("index harbour").expect(0);
    let found = folder
        .kb("search 'breeches apparatus' --json")
        .expect(0)
        .json_lines();
    assert_eq!(documents(&found)[0], "docs/rescue.md");
    folder.kb("get notes.txt").expect(2);
}

#[test]
fn several_folders_go_into_one_file_under_their_names() {
    let folder = Folder::with_corpus();
    folder.write(
        "tales/ghost.md",
        "# The ghost\n\nA spectre walks the gallery.\n",
    );
    folder.kb("index harbour tales -o all.kb").expect(0);
    let found = folder
        .kb("search 'spectre gallery' --json")
        .expect(0)
        .json_lines();
    assert!(documents(&found)[0].ends_with("ghost.md"), "{found:#?}");
    assert_eq!(
        folder.kb("get ghost.md:1").expect(0).stdout,
        "# The ghost\n"
    );
}
